//! What a process that was forked off does with its parent's pool: it has connections of its own, and touches no other.
//! The faults of `fork-01` (php-memcached-dev/php-memcached#195 and #128, arthurnn/memcached#170, petergoldstein/dalli#440): parent
//! and child mixed up their replies, and the child's end closed the parent's connection.
#![cfg(target_os = "linux")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use sockio::{ErrorKind, Expiry, MemcachedClient, SockIoPool, SockIoPoolBuilder};

use crate::support::RealServer;
use crate::support::child;
use crate::support::fake::Fake;
use crate::support::wait::{eventually, ms};

unsafe extern "C" {
    safe fn fork() -> i32;
    safe fn _exit(code: i32) -> !;
    safe fn kill(process: i32, signal: i32) -> i32;
    fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
}

const WITHOUT_WAITING: i32 = 1;
const SIGKILL: i32 = 9;

/// A process that was forked off and has to end well.
#[must_use]
struct Forked(i32);

/// Forks; the child does this, and ends without anything being dropped that belongs to its parent.
fn forked(body: impl FnOnce()) -> Forked {
    match fork() {
        0 => {
            let ended = catch_unwind(AssertUnwindSafe(body));
            _exit(if ended.is_ok() { 7 } else { 1 })
        }
        process => {
            assert!(process > 0, "no fork");
            Forked(process)
        }
    }
}

impl Forked {
    #[track_caller]
    fn ends_well(self) {
        let start = Instant::now();
        let mut status = 0;
        // SAFETY: `status` outlives the call.
        while unsafe { waitpid(self.0, &mut status, WITHOUT_WAITING) } == 0 {
            if start.elapsed() > Duration::from_secs(30) {
                kill(self.0, SIGKILL);
                panic!("the child hangs");
            }
            thread::sleep(ms(2));
        }
        assert_eq!(status, 7 << 8, "the child failed: see above");
    }
}

fn builder(server: &str, check: bool) -> SockIoPoolBuilder {
    SockIoPool::builder().servers([server]).fork_check(check)
}

fn client(builder: SockIoPoolBuilder) -> MemcachedClient {
    MemcachedClient::new(builder.build().unwrap())
}

/// The value of a key is the key, on a [`Fake`].
#[track_caller]
fn works(client: &MemcachedClient, key: &str) {
    assert_eq!(client.get::<String>(key).unwrap().as_deref(), Some(key));
}

/// Far from any time limit. Without `support::wait::within`, which starts a thread.
#[track_caller]
fn quickly<R>(call: impl FnOnce() -> R) -> R {
    let start = Instant::now();
    let answer = call();
    let took = start.elapsed();
    assert!(took < ms(3000), "{took:?}");
    answer
}

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

/// The sockets of this process: the descriptor, and the number of the socket.
fn sockets() -> Vec<(String, String)> {
    let all = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    all.filter_map(|entry| {
        let to = std::fs::read_link(entry.path()).ok()?;
        let to = to.to_str()?.to_owned();
        let descriptor = entry.file_name().into_string().ok()?;
        to.starts_with("socket:").then_some((descriptor, to))
    })
    .collect()
}

/// How many of these this process still has.
fn left_of(inherited: &[(String, String)]) -> usize {
    let is_left = |(_, socket): &&(String, String)| {
        let now = sockets();
        now.iter().any(|(_, other)| other == socket)
    };
    inherited.iter().filter(is_left).count()
}

/// What the server counts under this name, asked over a connection that is closed again.
fn count(client: &MemcachedClient, name: &str) -> usize {
    let (_, stats) = client.stats(None).unwrap().into_iter().next().unwrap();
    let stats = stats.unwrap();
    let (_, value) = stats.iter().find(|(found, _)| found == name).unwrap();
    value.parse().unwrap()
}

#[test]
fn parent_and_children_use_one_pool_at_the_same_time() {
    if !child::runs_alone("fork::parent_and_children_use_one_pool_at_the_same_time") {
        return;
    }
    at_the_same_time(false);
}

#[test]
fn parent_and_children_share_requests_each_for_itself() {
    if !child::runs_alone("fork::parent_and_children_share_requests_each_for_itself") {
        return;
    }
    at_the_same_time(true);
}

/// While threads of the parent call, it forks: whatever they hold at that moment is held in the child for ever.
fn at_the_same_time(combine: bool) {
    const THREADS: usize = 4;
    const GETS: usize = 1000;
    const KEYS: usize = 200;
    let server = RealServer::start(&[]);
    let pool = builder(&server.addr(), true)
        .max_conn(if combine { 1 } else { THREADS })
        .combine(combine)
        .operation_timeout(ms(20_000));
    let client = client(pool);
    for number in 0..KEYS {
        let key = format!("k{number}");
        assert!(client.set(&*key, &*key, Expiry::never()).unwrap());
    }
    let gets = |client: &MemcachedClient, from: usize, stop: &dyn Fn(usize) -> bool| {
        let mut done = 0;
        while !stop(done) {
            let key = format!("k{}", (from + done * 7) % KEYS);
            let value = client.get::<String>(&*key).unwrap();
            assert_eq!(value.as_deref(), Some(&*key));
            done += 1;
        }
        done
    };
    let stop = AtomicBool::new(false);
    let total = AtomicUsize::new(0);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (client, stop, total) = (&client, &stop, &total);
            scope.spawn(move || {
                let enough = |_| {
                    total.fetch_add(1, Ordering::Relaxed);
                    stop.load(Ordering::Relaxed)
                };
                gets(client, thread, &enough)
            });
        }
        let children: Vec<_> = (0..6)
            .map(|number| {
                thread::sleep(ms(5));
                forked(|| {
                    assert_eq!(threads(), 1);
                    thread::scope(|scope| {
                        for thread in 0..THREADS {
                            let client = &client;
                            scope.spawn(move || {
                                gets(client, 50 * number + thread, &|done| done == GETS);
                                let own = format!("own{number}-{thread}");
                                client.store_counter(&*own, 0, Expiry::never()).unwrap();
                                for count in 1..=100 {
                                    assert_eq!(client.incr(&*own, 1).unwrap(), Some(count));
                                }
                            });
                        }
                    });
                    let stats = &client.pool().stats()[0];
                    assert_eq!((stats.busy, stats.waiting), (0, 0), "{stats:?}");
                    let own = stats.connects;
                    assert!(own >= 1 && stats.idle as u64 <= own, "{stats:?}");
                    quickly(|| client.pool().shutdown());
                    let error = client.get::<String>("k1").unwrap_err();
                    assert_eq!(error.kind(), ErrorKind::Shutdown);
                })
            })
            .collect();
        children.into_iter().for_each(Forked::ends_well);
        stop.store(true, Ordering::Relaxed);
    });
    println!("{} gets of the parent", total.load(Ordering::Relaxed));
    let stats = &client.pool().stats()[0];
    assert_eq!((stats.busy, stats.timeouts), (0, 0), "{stats:?}");
    assert!(stats.connects <= THREADS as u64, "{stats:?}");
    // No connection of the parent's was harmed, and none of a child's is left.
    let open = stats.idle;
    eventually("the children's are closed", || {
        // One is the listening socket's, as the server counts.
        let all = count(&client, "curr_connections");
        (open..=open + 2).contains(&all)
    });
}

#[test]
fn nothing_is_sent_on_what_was_inherited() {
    const NAME: &str = "fork::nothing_is_sent_on_what_was_inherited";
    if !child::runs_alone(NAME) {
        return;
    }
    let fake = Fake::serving();
    let mut client = Some(client(builder(&fake.addr(), true).initial_conn(3)));
    let parent = client.clone().unwrap();
    works(&parent, "before");
    drop(parent);
    let closes_on_exec = |(descriptor, _): &(String, String)| {
        let text = std::fs::read_to_string(format!("/proc/self/fdinfo/{descriptor}")).unwrap();
        let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
        i32::from_str_radix(flags.unwrap().trim(), 8).unwrap() & 0o2_000_000 != 0
    };
    assert!(sockets().iter().all(closes_on_exec));
    let inherited = sockets();
    forked(|| {
        let pool = client.as_ref().unwrap().pool().clone();
        works(client.as_ref().unwrap(), "child");
        // The parent's three are closed here, and there are others.
        assert_eq!(left_of(&inherited), inherited.len() - 3);
        assert!(pool.stats()[0].connects >= 1);
        // It and its maintenance thread.
        assert_eq!(threads(), 2);
        // The last clone ends what is this process's own; nobody waits for a thread that is not there.
        drop(pool);
        quickly(|| drop(client.take()));
        assert_eq!(sockets().len(), inherited.len() - 3);
        eventually("the thread is gone", || threads() == 1);
    })
    .ends_well();
    let client = client.unwrap();
    for _ in 0..10 {
        works(&client, "after");
    }
    let seen = fake.seen();
    for seen in &seen[..3] {
        assert!(!seen.closed && seen.trailing.is_empty(), "{seen:?}");
        assert!(seen.requests.iter().all(|request| request != "get child"));
    }
    let of_child: Vec<_> = seen[3..].iter().flat_map(|seen| &seen.requests).collect();
    assert_eq!(of_child, ["get child"]);
    eventually("the child's are closed", || fake.open() == 3);
    assert_eq!(client.pool().stats()[0].connects, 3);
}

#[test]
fn a_pool_that_nobody_uses_in_the_child_is_dropped_there() {
    if !child::runs_alone("fork::a_pool_that_nobody_uses_in_the_child_is_dropped_there") {
        return;
    }
    for check in [false, true] {
        let fake = Fake::serving();
        let mut client = Some(client(builder(&fake.addr(), check).initial_conn(2)));
        forked(|| {
            quickly(|| drop(client.take()));
            // A thread of its own has nothing to do with the one that is not here.
            thread::spawn(|| ()).join().unwrap();
        })
        .ends_well();
        works(client.as_ref().unwrap(), "k");
        assert_eq!((fake.connections(), fake.open()), (2, 2));
    }
}

#[test]
fn without_the_check_a_rested_connection_is_not_used() {
    if !child::runs_alone("fork::without_the_check_a_rested_connection_is_not_used") {
        return;
    }
    let fake = Fake::serving();
    let client = client(builder(&fake.addr(), false));
    works(&client, "before");
    thread::sleep(ms(1050));
    forked(|| {
        for _ in 0..20 {
            works(&client, "child");
        }
        let own = client.pool().stats()[0].connects;
        assert!((1..=3).contains(&own), "{own}");
        assert_eq!(threads(), 2);
    })
    .ends_well();
    works(&client, "after");
    let seen = fake.seen();
    assert_eq!(seen[0].requests, ["get before", "get after"]);
    assert!(!seen[0].closed);
    // The first call of the child closed its own: the pool was not yet its own.
    assert_eq!(seen[1].requests, ["get child"]);
    assert_eq!(client.pool().stats()[0].connects, 1);
}

#[test]
fn a_child_does_not_wait_for_those_who_are_not_there() {
    if !child::runs_alone("fork::a_child_does_not_wait_for_those_who_are_not_there") {
        return;
    }
    for check in [false, true] {
        let fake = Fake::serving();
        let client = client(builder(&fake.addr(), check).max_conn(1));
        let (held, over) = (AtomicBool::new(false), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                let value = client.get_with("held", |value, _| {
                    held.store(true, Ordering::Release);
                    eventually("the child has ended", || over.load(Ordering::Acquire));
                    value.to_vec()
                });
                assert_eq!(value.unwrap().as_deref(), Some(&b"held"[..]));
            });
            eventually("it is held", || held.load(Ordering::Acquire));
            forked(|| {
                for _ in 0..3 {
                    quickly(|| works(&client, "child"));
                }
                assert_eq!(client.pool().stats()[0].busy, 0);
            })
            .ends_well();
            over.store(true, Ordering::Release);
        });
        works(&client, "after");
        assert_eq!(fake.seen()[0].requests, ["get held", "get after"]);
    }
}

#[test]
fn a_child_finds_out_for_itself_who_is_dead() {
    if !child::runs_alone("fork::a_child_finds_out_for_itself_who_is_dead") {
        return;
    }
    for check in [false, true] {
        let mut fake = Fake::refusing();
        let pool = builder(&fake.addr(), check).dead_backoff(ms(60_000), ms(60_000));
        let client = client(pool);
        assert!(client.pool().stats()[0].dead_until.is_some());
        fake.up();
        assert!(client.get::<String>("k").is_err());
        forked(|| {
            works(&client, "child");
            works(&client, "child");
            assert!(client.pool().stats()[0].dead_until.is_none());
        })
        .ends_well();
        assert!(client.pool().stats()[0].dead_until.is_some());
    }
}

#[test]
fn a_child_s_pool_is_maintained_and_its_children_have_their_own() {
    if !child::runs_alone("fork::a_child_s_pool_is_maintained_and_its_children_have_their_own") {
        return;
    }
    let fake = Fake::serving();
    let pool = builder(&fake.addr(), true)
        .initial_conn(2)
        .min_conn(2)
        .maint_sleep(ms(50));
    let client = client(pool);
    forked(|| {
        works(&client, "child");
        eventually("it is filled up", || client.pool().stats()[0].idle >= 2);
        let inherited = sockets();
        forked(|| {
            works(&client, "grandchild");
            eventually("it is filled up", || client.pool().stats()[0].idle >= 2);
            assert!(left_of(&inherited) <= inherited.len() - 2);
            client.pool().shutdown();
            assert!(sockets().len() <= inherited.len() - 2);
        })
        .ends_well();
        works(&client, "child");
        assert!(client.pool().stats()[0].idle >= 2);
    })
    .ends_well();
    works(&client, "parent");
    assert_eq!(client.pool().stats()[0].evicted, 0);
    assert!(fake.seen()[..2].iter().all(|seen| !seen.closed));
}

#[test]
fn a_pool_that_was_ended_before_stays_ended() {
    if !child::runs_alone("fork::a_pool_that_was_ended_before_stays_ended") {
        return;
    }
    for check in [false, true] {
        let fake = Fake::serving();
        let client = client(builder(&fake.addr(), check));
        client.pool().shutdown();
        forked(|| {
            for _ in 0..2 {
                let error = client.get::<String>("k").unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Shutdown);
            }
            client.pool().shutdown();
            assert_eq!(threads(), 1);
        })
        .ends_well();
        assert_eq!(fake.connections(), 1);
    }
}
