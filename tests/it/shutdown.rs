//! The end of a pool: who is told, what is closed, what is left behind (nothing).

use std::sync::{Arc, Barrier, OnceLock};
use std::thread;

use sockio::{ErrorKind, Expiry, MemcachedClient, SockIoPool, SockIoPoolBuilder};

use crate::support::RealServer;
use crate::support::child;
use crate::support::fake::{Act, Fake, Flag};
use crate::support::wait::{eventually, in_time, ms, timed, within};

fn builder(fake: &Fake) -> SockIoPoolBuilder {
    SockIoPool::builder().servers([fake.addr()])
}

fn kind_of_get(client: &MemcachedClient) -> ErrorKind {
    client.get::<String>("k").unwrap_err().kind()
}

/// Nothing idle, lent, or waiting.
#[track_caller]
fn is_empty(pool: &SockIoPool) {
    let stats = &pool.stats()[0];
    assert_eq!(
        (stats.idle, stats.busy, stats.waiting),
        (0, 0, 0),
        "{stats:?}"
    );
}

#[test]
fn later_calls_are_told_and_all_is_closed() {
    let fake = Fake::serving();
    let pool = builder(&fake).initial_conn(3).build().unwrap();
    let client = MemcachedClient::new(pool.clone());
    assert!(client.get::<String>("k").unwrap().is_some());
    within(ms(0), || pool.shutdown());
    is_empty(&pool);
    assert_eq!(kind_of_get(&client), ErrorKind::Shutdown);
    let error = client.set("k", "v", Expiry::never()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Shutdown);
    let degraded = client.clone().degrade(true);
    assert_eq!(kind_of_get(&degraded), ErrorKind::Shutdown);
    eventually("all is closed", || fake.open() == 0);
    within(ms(0), || pool.shutdown());
    assert_eq!(fake.connections(), 3);
}

#[test]
fn those_who_wait_are_woken_and_lent_connections_close_when_they_come_back() {
    let fake = Fake::serving();
    let pool = builder(&fake).max_conn(1).build().unwrap();
    let client = MemcachedClient::new(pool.clone());
    thread::scope(|scope| {
        let held = client.get_with("held", |value, _| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let (kind, took) = timed(|| kind_of_get(&client));
                    assert_eq!(kind, ErrorKind::Shutdown);
                    assert!(took < ms(2000), "{took:?}");
                });
            }
            eventually("four wait", || pool.stats()[0].waiting == 4);
            within(ms(0), || pool.shutdown());
            assert_eq!((fake.open(), pool.stats()[0].busy), (1, 1));
            value.to_vec()
        });
        // What was under way still has its answer.
        assert_eq!(held.unwrap().as_deref(), Some(&b"held"[..]));
    });
    is_empty(&pool);
    eventually("it is closed", || fake.open() == 0);
}

#[test]
fn an_operation_under_way_gets_its_answer() {
    let fake = Fake::slow(ms(150));
    let pool = builder(&fake).build().unwrap();
    let client = MemcachedClient::new(pool.clone());
    thread::scope(|scope| {
        let call = scope.spawn(|| client.get::<String>("k").unwrap());
        eventually("it was asked", || fake.count("get ") == 1);
        within(ms(0), || pool.shutdown());
        assert_eq!(call.join().unwrap().as_deref(), Some("k"));
    });
    is_empty(&pool);
}

#[cfg(target_os = "linux")]
#[test]
fn connects_under_way_do_not_hold_it_up() {
    let hole = Fake::never_accepting();
    let pool = SockIoPool::builder()
        .servers([hole.addr()])
        .initial_conn(0)
        .min_conn(3)
        .maint_sleep(ms(20))
        .connect_timeout(ms(4000));
    let pool = pool.build().unwrap();
    eventually("three are being opened", || pool.stats()[0].busy == 3);
    let (_, took) = timed(|| pool.shutdown());
    in_time(took, ms(0));
    is_empty(&pool);
}

#[test]
fn many_may_end_it_at_once() {
    let fake = Fake::serving();
    let pool = builder(&fake).initial_conn(4).build().unwrap();
    let barrier = Barrier::new(8);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                barrier.wait();
                within(ms(0), || pool.shutdown());
            });
        }
    });
    is_empty(&pool);
    eventually("all is closed", || fake.open() == 0);
}

#[test]
fn the_last_clone_ends_it() {
    let fake = Fake::serving();
    let pool = builder(&fake).initial_conn(2).build().unwrap();
    let client = MemcachedClient::new(pool.clone());
    drop(pool);
    assert!(client.get::<String>("k").unwrap().is_some());
    let clone = client.clone();
    drop(client);
    assert!(clone.get::<String>("k").unwrap().is_some());
    assert_eq!(fake.open(), 2);
    within(ms(0), || drop(clone));
    eventually("all is closed", || fake.open() == 0);
}

#[test]
fn clones_that_go_on_many_threads_end_it_once() {
    for _ in 0..20 {
        let fake = Fake::serving();
        let client = MemcachedClient::new(builder(&fake).build().unwrap());
        let barrier = Arc::new(Barrier::new(8));
        let threads: Vec<_> = (0..8)
            .map(|_| {
                let (client, barrier) = (client.clone(), Arc::clone(&barrier));
                thread::spawn(move || {
                    assert!(client.get::<String>("k").unwrap().is_some());
                    barrier.wait();
                    drop(client);
                })
            })
            .collect();
        drop(client);
        for thread in threads {
            thread.join().unwrap();
        }
        eventually("all is closed", || fake.open() == 0);
    }
}

#[test]
fn a_name_leads_to_one_pool_until_it_is_shut_down() {
    const NAME: &str = "shutdown::a_name";
    assert!(SockIoPool::named(NAME).is_none());
    let fake = Fake::serving();
    let pool = builder(&fake).build_named(NAME).unwrap();
    let other = builder(&fake).build_named(NAME).unwrap_err();
    assert_eq!(other.kind(), ErrorKind::Config);
    assert!(other.to_string().contains(NAME), "{other}");
    // The name holds it.
    drop(pool);
    let found = SockIoPool::named(NAME).expect("the pool");
    let client = MemcachedClient::new(found.clone());
    assert!(client.get::<String>("k").unwrap().is_some());
    found.shutdown();
    assert!(SockIoPool::named(NAME).is_none());
    assert_eq!(kind_of_get(&client), ErrorKind::Shutdown);
    let again = builder(&fake).build_named(NAME).unwrap();
    assert!(SockIoPool::named(NAME).is_some());
    again.shutdown();
    eventually("all is closed", || fake.open() == 0);
}

#[cfg(target_os = "linux")]
#[test]
fn nothing_is_left_in_the_process() {
    if !child::runs_alone("shutdown::nothing_is_left_in_the_process") {
        return;
    }
    fn count(what: &str) -> usize {
        std::fs::read_dir(format!("/proc/self/{what}"))
            .unwrap()
            .count()
    }
    let server = RealServer::start(&[]);
    let before = (count("fd"), count("task"));
    // A thread that was joined leaves the list a little later.
    let threads = |expected| eventually("so many threads", || count("task") == expected);
    for round in 0..10 {
        let pool = SockIoPool::builder()
            .servers([server.addr()])
            .initial_conn(5)
            .build()
            .unwrap();
        let client = MemcachedClient::new(pool.clone());
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| client.set("k", "v", Expiry::never()).unwrap());
            }
        });
        assert!(count("fd") >= before.0 + 5);
        threads(before.1 + 1);
        if round % 2 == 0 {
            pool.shutdown();
            assert_eq!(count("fd"), before.0);
            threads(before.1);
        }
        drop((pool, client));
        assert_eq!(count("fd"), before.0);
        threads(before.1);
    }
}

#[test]
fn a_large_value_that_drips_still_ends_in_time() {
    const LIMIT: std::time::Duration = ms(500);
    for begins_before in [true, false] {
        let (begin, begun) = (Flag::default(), Flag::default());
        let fake = Fake::new(vec![vec![
            Act::Request,
            Act::Await(begin.clone()),
            Act::Send(b"VALUE k 0 1000000\r\nxxx".to_vec()),
            Act::Raise(begun.clone()),
            Act::SendEach(vec![b'x'; 300], ms(10)),
        ]]);
        let pool = builder(&fake).build().unwrap();
        let client = MemcachedClient::new(pool.clone()).with_timeout(LIMIT);
        thread::scope(|scope| {
            let call = scope.spawn(|| timed(|| client.get::<Vec<u8>>("k")));
            eventually("it was asked", || fake.count("get ") == 1);
            if begins_before {
                begin.raise();
                eventually("the value begins", || begun.is_raised());
                thread::sleep(ms(100));
            }
            within(ms(0), || pool.shutdown());
            begin.raise();
            let (answer, took) = call.join().unwrap();
            let error = answer.unwrap_err();
            assert!(error.is_timeout(), "{error}");
            in_time(took, LIMIT);
        });
        is_empty(&pool);
    }
}

/// A logger that ends a pool when a server is marked dead.
struct Ends(OnceLock<SockIoPool>);

impl log::Log for Ends {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        if record.level() == log::Level::Warn {
            self.0.get().expect("the pool").shutdown();
        }
    }

    fn flush(&self) {}
}

#[cfg(target_os = "linux")]
#[test]
fn a_logger_on_the_maintenance_thread_may_end_it() {
    if !child::runs_alone("shutdown::a_logger_on_the_maintenance_thread_may_end_it") {
        return;
    }
    static ENDS: Ends = Ends(OnceLock::new());
    fn threads() -> usize {
        let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
        let names = tasks.map(|task| std::fs::read_to_string(task.path().join("comm")));
        names
            .flatten()
            .filter(|name| name.trim() == "sockio-maint")
            .count()
    }
    let fake = Fake::refusing();
    // Its first pass tries to open a connection.
    let builder = builder(&fake).initial_conn(0).maint_sleep(ms(300));
    ENDS.0.set(builder.build().unwrap()).unwrap();
    log::set_logger(&ENDS).unwrap();
    log::set_max_level(log::LevelFilter::Warn);
    eventually("it runs", || threads() == 1);
    eventually("it has ended", || threads() == 0);
    let client = MemcachedClient::new(ENDS.0.get().unwrap().clone());
    assert_eq!(kind_of_get(&client), ErrorKind::Shutdown);
}
