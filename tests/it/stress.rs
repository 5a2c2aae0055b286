//! Many threads, and all that may go wrong at once: callbacks, transcoders and loggers that panic, pools that end while they are
//! used, clones that go anywhere. Afterwards nothing is left, and whoever had a value had the right one.
#![cfg(target_os = "linux")]

use std::any::Any;
use std::borrow::Cow;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use log::{LevelFilter, Log, Metadata, Record};
use sockio::codec::{Encoded, Raw};
use sockio::{
    Error, ErrorKind, Expiry, MemcachedClient, Result, SockIoPool, SockIoPoolBuilder, Transcoder,
    Value,
};

use crate::support::RealServer;
use crate::support::child;
use crate::support::wait::{eventually, ms};

const THREADS: usize = 64;
const KEYS: usize = 50;

/// What a panic says that belongs to the test.
const ON_PURPOSE: &str = "on purpose";

/// Raw values, but for those that contain this.
#[derive(Debug)]
struct Fragile(Raw);

fn is_on_purpose(panic: &dyn Any) -> bool {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref::<&str>().copied()) == Some(ON_PURPOSE)
}

const BOMB: &[u8] = b"bomb";

fn trip(bytes: &[u8]) {
    if bytes.windows(BOMB.len()).any(|window| window == BOMB) {
        panic!("{ON_PURPOSE}");
    }
}

impl Transcoder for Fragile {
    fn encode<'a>(&self, value: Value<'a>) -> Result<Encoded<'a>> {
        let encoded = self.0.encode(value)?;
        trip(&encoded.data);
        Ok(encoded)
    }

    fn decode<'a>(&self, flags: u32, data: Cow<'a, [u8]>) -> Result<Value<'a>> {
        trip(&data);
        self.0.decode(flags, data)
    }
}

/// Panics at every other record.
struct BrokenLogger;

static RECORDS: AtomicUsize = AtomicUsize::new(0);

impl Log for BrokenLogger {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        let _text = record.args().to_string();
        if RECORDS.fetch_add(1, Ordering::Relaxed) % 2 == 0 {
            panic!("{ON_PURPOSE}");
        }
    }

    fn flush(&self) {}
}

/// What the process had before: its descriptors and threads.
struct Before {
    descriptors: usize,
    threads: usize,
}

fn entries(what: &str) -> usize {
    std::fs::read_dir(format!("/proc/self/{what}"))
        .unwrap()
        .count()
}

impl Before {
    /// Notes it, and ends the process if it hangs from now on. Panics on purpose are not told.
    fn all() -> Self {
        let tell = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !is_on_purpose(info.payload()) {
                tell(info);
            }
        }));
        thread::spawn(|| {
            thread::sleep(Duration::from_secs(120));
            eprintln!("it hangs");
            std::process::abort();
        });
        Self {
            descriptors: entries("fd"),
            threads: entries("task"),
        }
    }

    /// It is as it was.
    #[track_caller]
    fn is_back(&self) {
        eventually("the threads are gone", || entries("task") == self.threads);
        assert_eq!(entries("fd"), self.descriptors);
    }
}

fn builder(server: &RealServer, combine: bool) -> SockIoPoolBuilder {
    SockIoPool::builder()
        .servers([server.addr()])
        .max_conn(4)
        .combine(combine)
        .dead_backoff(ms(10), ms(20))
        .operation_timeout(ms(20_000))
        .transcoder(Fragile(Raw::new()))
}

fn key(number: usize) -> String {
    format!("k{}", number % KEYS)
}

/// It names its key; some are longer than the buffer of a connection.
fn value(key: &str) -> String {
    let number: usize = key[1..].parse().unwrap();
    let len = [10, 100, 1000, 20_000][number % 4];
    format!("{key}:{}", "x".repeat(len))
}

/// Stores all values; whether each was stored. Where a server died the logger may panic.
fn fill(client: &MemcachedClient) -> bool {
    let plain = client.clone().with_transcoder(Raw::new());
    let set = |key: &str, value: &str| {
        survive(|| plain.set(key, value, Expiry::never()).is_ok_and(|set| set)) == Some(true)
    };
    let mut keys = (0..KEYS).map(key);
    keys.all(|key| set(&key, &value(&key))) && set("bomb", "a bomb")
}

/// A value that came is the right one. An error is one of those that the end of a server or of a pool explains.
#[track_caller]
fn check(key: &str, answer: Result<Option<String>>) -> bool {
    match answer {
        Ok(Some(found)) => {
            assert!(found == value(key), "{key}: {found:.40}");
            true
        }
        Ok(None) => false,
        Err(error) => {
            explained(&error);
            false
        }
    }
}

#[track_caller]
fn explained(error: &Error) {
    use ErrorKind::{Ambiguous, Connect, Connection, NoServer, Shutdown};
    let known = [Ambiguous, Connect, Connection, NoServer, Shutdown];
    assert!(known.contains(&error.kind()), "{error:?}");
}

/// Does it; it may panic on purpose.
fn survive<R>(call: impl FnOnce() -> R) -> Option<R> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(answer) => Some(answer),
        Err(panic) => {
            if !is_on_purpose(&*panic) {
                resume_unwind(panic);
            }
            None
        }
    }
}

/// One call of many kinds; how many right values it had.
fn some_call(client: &MemcachedClient, number: usize) -> usize {
    let key = key(number);
    let get = |client: &MemcachedClient| check(&key, client.get::<String>(&*key));
    let had = survive(|| match number % 9 {
        0 => client
            .get_with(&*key, |_, _| -> bool { panic!("{ON_PURPOSE}") })
            .map_or_else(
                |error| {
                    explained(&error);
                    false
                },
                |had| had.is_some(),
            ),
        1 => client.set("spoiled", "a bomb", Expiry::never()).is_ok(),
        2 => client.get::<String>("bomb").is_ok_and(|had| had.is_some()),
        3 => {
            let keys = [&*key, "bomb", "k1", "k2"];
            client.get_multi::<String, _>(keys).is_ok()
        }
        4 => {
            // Drops a clone, and calls again, while it holds a connection.
            let mut clone = Some(client.clone());
            let nested = client.clone().with_timeout(ms(1));
            let had = client.get_with(&*key, |found, _| {
                drop(clone.take());
                let _any = nested.get::<String>("k3");
                found == value(&key).as_bytes()
            });
            had.inspect_err(explained)
                .is_ok_and(|had| had.inspect(|right| assert!(right)).is_some())
        }
        5 => {
            let touchy = client.clone().on_error(|_| panic!("{ON_PURPOSE}"));
            get(&touchy)
        }
        6 => {
            let item = client.gets::<String>(&*key);
            check(&key, item.map(|item| item.map(|item| item.value)))
        }
        _ => get(client),
    });
    usize::from(had == Some(true))
}

fn panics(test: &str, combine: bool) {
    if !child::runs_alone(test) {
        return;
    }
    let mut server = RealServer::start(&[]);
    log::set_logger(&BrokenLogger).unwrap();
    log::set_max_level(LevelFilter::Trace);
    let before = Before::all();
    let client = MemcachedClient::new(builder(&server, combine).build().unwrap());
    assert!(fill(&client));
    let had = AtomicUsize::new(0);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (client, had) = (&client, &had);
            scope.spawn(move || {
                for round in 0..150 {
                    had.fetch_add(some_call(client, thread + 7 * round), Ordering::Relaxed);
                }
            });
        }
        // It dies, so that there is something to log.
        for _ in 0..3 {
            thread::sleep(ms(100));
            server.restart();
            eventually("it has all values again", || fill(&client));
        }
    });
    println!(
        "{} values, {} records",
        had.load(Ordering::Relaxed),
        RECORDS.load(Ordering::Relaxed)
    );
    assert!(had.load(Ordering::Relaxed) > THREADS && RECORDS.load(Ordering::Relaxed) > 0);
    let stats = || client.pool().stats().swap_remove(0);
    eventually("nothing is lent", || {
        stats().busy == 0 && stats().waiting == 0
    });
    // It is as good as new, whatever the logger says.
    eventually("it lives", || fill(&client));
    assert!(check("k7", client.get::<String>("k7")));
    drop(client);
    before.is_back();
}

#[test]
fn whatever_panics_costs_nobody_else_anything() {
    panics("stress::whatever_panics_costs_nobody_else_anything", false);
}

#[test]
fn whatever_panics_among_those_who_share_requests() {
    panics(
        "stress::whatever_panics_among_those_who_share_requests",
        true,
    );
}

/// Calls once more when its thread ends, and is perhaps the last clone.
struct Farewell(MemcachedClient);

static FAREWELLS: AtomicUsize = AtomicUsize::new(0);

impl Drop for Farewell {
    fn drop(&mut self) {
        let value = self.0.get::<String>("k9");
        FAREWELLS.fetch_add(usize::from(check("k9", value)), Ordering::Relaxed);
    }
}

thread_local! {
    static KEPT: RefCell<Option<Farewell>> = const { RefCell::new(None) };
}

/// Drops a client somewhere.
fn let_go(client: MemcachedClient, number: usize, elsewhere: &Sender<MemcachedClient>) {
    match number % 4 {
        0 => drop(client),
        1 => elsewhere.send(client).unwrap(),
        2 => KEPT.with_borrow_mut(|kept| drop(kept.replace(Farewell(client)))),
        _ => {
            let last = Mutex::new(Some(client.clone()));
            let _any = client.get_with("k1", |_, _| drop(last.lock().unwrap().take()));
        }
    }
}

fn ends(test: &str, combine: bool) {
    if !child::runs_alone(test) {
        return;
    }
    const NAME: &str = "stress";
    let server = RealServer::start(&["-c", "2048"]);
    let before = Before::all();
    let build = || builder(&server, combine).build_named(NAME).unwrap();
    assert!(fill(&MemcachedClient::new(build())));
    let (stop, had) = (AtomicBool::new(false), AtomicUsize::new(0));
    let (elsewhere, dropped) = channel::<MemcachedClient>();
    let mut replaced = Vec::new();
    thread::scope(|scope| {
        let dropper = scope.spawn(move || dropped.into_iter().map(drop).count());
        let callers: Vec<_> = (0..THREADS)
            .map(|thread| {
                let (server, stop, had, elsewhere) = (&server, &stop, &had, elsewhere.clone());
                scope.spawn(move || {
                    let mut round = 0;
                    while !stop.load(Ordering::Relaxed) {
                        round += 1;
                        let Some(pool) = SockIoPool::named(NAME) else {
                            thread::yield_now();
                            continue;
                        };
                        let client = MemcachedClient::new(pool);
                        for call in 0..5 {
                            let number = thread + round * 5 + call;
                            had.fetch_add(some_call(&client, number), Ordering::Relaxed);
                        }
                        let_go(client, thread + round, &elsewhere);
                    }
                    // One of its own, whose last clone goes when the thread does.
                    let own = builder(server, combine).build().unwrap();
                    let_go(MemcachedClient::new(own), 2, &elsewhere);
                })
            })
            .collect();
        for _ in 0..12 {
            thread::sleep(ms(20));
            let pool = SockIoPool::named(NAME).unwrap();
            let other = pool.clone();
            let twice = scope.spawn(move || other.shutdown());
            pool.shutdown();
            twice.join().unwrap();
            replaced.push(pool);
            build();
        }
        stop.store(true, Ordering::Relaxed);
        callers.into_iter().for_each(|call| call.join().unwrap());
        drop(elsewhere);
        assert!(dropper.join().unwrap() > 0);
    });
    println!("{} values", had.load(Ordering::Relaxed));
    assert!(had.load(Ordering::Relaxed) > 0);
    assert!(FAREWELLS.load(Ordering::Relaxed) >= THREADS);
    for pool in &replaced {
        let stats = &pool.stats()[0];
        let left = (stats.idle, stats.busy, stats.waiting);
        assert_eq!(left, (0, 0, 0), "{stats:?}");
    }
    SockIoPool::named(NAME).unwrap().shutdown();
    before.is_back();
}

#[test]
fn pools_end_and_are_replaced_while_all_call() {
    ends("stress::pools_end_and_are_replaced_while_all_call", false);
}

#[test]
fn pools_end_and_are_replaced_while_all_share_requests() {
    ends(
        "stress::pools_end_and_are_replaced_while_all_share_requests",
        true,
    );
}
