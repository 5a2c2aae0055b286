//! Connections that leaked, and pools that were full though nobody used them.

use std::fs;
use std::thread;

use sockio::{ErrorKind, MemcachedClient, SockIoPool};

use super::{NEVER, client, single, text};
use crate::support::fake::Fake;
use crate::support::wait::{eventually, ms, within};
use crate::support::{RealServer, child};

/// pool-02 (gwhalin/Memcached-Java-Client#52): each connect that failed left its socket open.
#[cfg(target_os = "linux")]
#[test]
fn a_connect_that_fails_leaves_nothing_open() {
    if !child::runs_alone("known_bugs::pool::a_connect_that_fails_leaves_nothing_open") {
        return;
    }
    let count = || fs::read_dir("/proc/self/fd").unwrap().count();
    let fake = Fake::refusing();
    let pool = single(&fake).initial_conn(0).min_conn(0);
    let client = client(pool.dead_backoff(ms(1), ms(1)));
    let before = count();
    let failures = || client.pool().stats()[0].connect_failures;
    let mut gets = 0;
    while gets < 2000 || failures() < 50 {
        assert!(client.get::<String>("k").unwrap_err().is_connect());
        gets += 1;
        // Dead for a millisecond, it refuses a connect again.
        if gets % 20 == 0 {
            thread::sleep(ms(2));
        }
    }
    eventually("all is closed", || count() <= before);
}

/// pool-03 (gwhalin/Memcached-Java-Client#84): a value that could not be read gave its socket back and not its place in the pool.
#[test]
fn values_that_cannot_be_read_fill_no_pool() {
    let server = RealServer::start(&[]);
    let pool = SockIoPool::builder().servers([server.addr()]).max_conn(4);
    let client = client(pool);
    client.set("word", "word", NEVER).unwrap();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..2500 {
                    let error = client.get::<u64>("word").unwrap_err();
                    assert_eq!(error.kind(), ErrorKind::Decode);
                }
            });
        }
    });
    let stats = &client.pool().stats()[0];
    assert_eq!((stats.busy, stats.waiting), (0, 0));
    assert!(stats.idle <= 4 && stats.connects <= 4, "{stats:?}");
    assert_eq!(text(&client, "word").as_deref(), Some("word"));
}

/// pool-05 (3rd-Eden/memcached#95, #188): a pool of one connection was full after a few calls.
#[test]
fn a_thousand_callers_queue_for_one_connection() {
    let server = RealServer::start(&[]);
    let pool = SockIoPool::builder().servers([server.addr()]);
    let client = client(pool.max_conn(1).operation_timeout(ms(30_000)));
    client.set("k", "v", NEVER).unwrap();
    thread::scope(|scope| {
        for _ in 0..1000 {
            scope.spawn(|| assert_eq!(text(&client, "k").as_deref(), Some("v")));
        }
    });
    assert_eq!(super::connects(&client), 1);
    // One that waits in vain is told for how long, and what the limit is.
    let hasty = client.clone().with_timeout(ms(100));
    let held = client.get_with("k", |_, _| {
        let error = within(ms(100), || hasty.get::<String>("k").unwrap_err());
        assert_eq!(error.kind(), ErrorKind::Timeout);
        let message = error.to_string();
        assert!(
            message.contains("all 1 connections (max_open)"),
            "{message}"
        );
        assert!(message.contains("ms"), "{message}");
    });
    held.unwrap().unwrap();
}

/// Holds so many connections at the same time, and then does this.
fn hold(client: &MemcachedClient, count: usize, then: &dyn Fn()) {
    if count == 0 {
        return then();
    }
    let held = client.get_with("k", |_, _| hold(client, count - 1, then));
    held.unwrap().expect("a value");
}

/// pool-06 (cnblogs/EnyimMemcachedCore#154, enyim/EnyimMemcached#181): of a pool of 10 to 20 only 10 could be had, and errors
/// lost the right to more.
#[test]
fn all_of_a_pool_can_be_had_also_after_errors() {
    let (_server, other) = super::real(&[]);
    other.set("k", "word", NEVER).unwrap();
    let pool = SockIoPool::builder().servers(other.pool().servers().iter().cloned());
    let pool = pool.initial_conn(10).min_conn(10).max_conn(20).max_open(20);
    let client = client(pool.operation_timeout(ms(2000)));
    for _ in 0..3 {
        hold(&client, 20, &|| {
            assert_eq!(client.pool().stats()[0].busy, 20);
            let hasty = client.clone().with_timeout(ms(20));
            for _ in 0..30 {
                assert!(hasty.get::<String>("k").unwrap_err().is_timeout());
            }
        });
        for _ in 0..30 {
            assert_eq!(
                client.get::<u64>("k").unwrap_err().kind(),
                ErrorKind::Decode
            );
            assert!(client.incr("k", 1).is_err());
        }
        assert_eq!(client.pool().stats()[0].busy, 0);
    }
}
