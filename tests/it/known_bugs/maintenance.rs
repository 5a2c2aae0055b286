//! The thread that keeps the pool: its end, how it fills up, and what it must leave alone.

use std::fs;
use std::thread;

use sockio::{MemcachedClient, SockIoPool};

use super::{NEVER, client, real, single, text};
use crate::support::fake::Fake;
use crate::support::wait::{eventually, in_time, ms, stays, timed};
use crate::support::{RealServer, child};

/// pool-08 (killme2008/xmemcached#28, #1): the maintenance thread outlived its pool, and kept the process from ending.
#[cfg(target_os = "linux")]
#[test]
fn the_thread_goes_with_its_pool_and_keeps_no_process() {
    const NAME: &str =
        "known_bugs::maintenance::the_thread_goes_with_its_pool_and_keeps_no_process";
    if !child::is_child() {
        let (_, took) = timed(|| child::runs_alone(NAME));
        assert!(took < ms(55_000), "{took:?}");
        return;
    }
    let threads = || fs::read_dir("/proc/self/task").unwrap().count();
    let server = RealServer::start(&[]);
    let build = |connections: usize| {
        let pool = SockIoPool::builder().servers([server.addr()]);
        let pool = pool.initial_conn(connections).min_conn(connections);
        client(pool.maint_sleep(ms(60_000)))
    };
    let before = threads();
    for _ in 0..1000 {
        drop(build(0));
    }
    let clients: Vec<MemcachedClient> = (0..20).map(|_| build(1)).collect();
    assert_eq!(threads(), before + 20);
    drop(clients);
    let took = eventually("all threads have ended", || threads() == before);
    in_time(took, ms(1000));
    // Nobody ends this one.
    std::mem::forget(build(1));
}

/// pool-09 (gwhalin/Memcached-Java-Client 1.0): the steps in which a pool grew were divided down to none, or added up to too many.
#[test]
fn a_pool_fills_up_to_its_least_size_exactly() {
    for (initial, min, step) in [(1, 1, 1), (0, 10, 3), (1, 10, 1), (3, 4, 3)] {
        let fake = Fake::serving();
        let pool = single(&fake)
            .max_conn(12)
            .initial_conn(initial)
            .min_conn(min);
        let client = client(pool.max_create(step).maint_sleep(ms(30)));
        eventually("it is full", || client.pool().stats()[0].idle == min);
        stays("no more come", ms(150), || {
            fake.connections() <= min && client.pool().stats()[0].idle == min
        });
    }
}

/// pool-11 (gwhalin/Memcached-Java-Client, 9 September 2005): a connection that its caller had lost was busy for ever.
#[test]
fn a_connection_held_too_long_is_lent_to_nobody_else() {
    let fake = Fake::serving();
    let client = client(single(&fake).max_open(1).max_busy(ms(150)));
    thread::scope(|scope| {
        let held = client.get_with("held", |value, _| {
            let other = scope.spawn(|| text(&client, "other"));
            eventually("it waits", || client.pool().stats()[0].waiting == 1);
            thread::sleep(ms(600));
            assert_eq!(fake.count("get other"), 0);
            (value.to_vec(), other)
        });
        let (value, other) = held.unwrap().unwrap();
        assert_eq!(value, b"held");
        assert_eq!(other.join().unwrap().as_deref(), Some("other"));
    });
    assert_eq!(fake.seen()[0].requests, ["get held"]);
    assert_eq!(fake.connections(), 2);
}

/// Writes once more when it goes.
struct LastWord(MemcachedClient);

impl Drop for LastWord {
    fn drop(&mut self) {
        assert!(self.0.set("last", "word", NEVER).unwrap());
    }
}

thread_local! {
    static AT_THE_END: std::cell::RefCell<Option<LastWord>> = const { std::cell::RefCell::new(None) };
}

/// pool-12 (killme2008/xmemcached#44): a hook closed the client before the program had written its last.
#[test]
fn a_client_works_until_it_is_dropped_itself() {
    let (server, reader) = real(&[]);
    let pool = SockIoPool::builder()
        .servers([server.addr()])
        .build()
        .unwrap();
    let client = MemcachedClient::new(pool.clone());
    let thread = thread::spawn(move || {
        // Dropped when the thread has ended, after everything else in it.
        AT_THE_END.with(|last| last.replace(Some(LastWord(client))));
    });
    drop(pool);
    thread.join().unwrap();
    assert_eq!(text(&reader, "last").as_deref(), Some("word"));
}
