//! Very many threads at a time.

use std::sync::Barrier;
use std::thread;

use sockio::SockIoPool;

use super::{builder, client, text};
use crate::support::RealServer;
use crate::support::fake::{Act, Fake};
use crate::support::wait::{eventually, in_time, ms, timed};

/// pool-14 (gwhalin/Memcached-Java-Client#12): threads found a pool that was not built to its end.
#[test]
fn a_thousand_threads_begin_at_once() {
    let server = RealServer::start(&[]);
    let barrier = Barrier::new(1000);
    let pool = SockIoPool::builder().servers([server.addr()]);
    let client = client(pool.operation_timeout(ms(30_000)));
    thread::scope(|scope| {
        for _ in 0..1000 {
            scope.spawn(|| {
                barrier.wait();
                assert_eq!(text(&client, "k"), None);
            });
        }
    });
    let stats = &client.pool().stats()[0];
    assert_eq!((stats.busy, stats.waiting), (0, 0));
    assert!(stats.connects <= 32, "{stats:?}");
}

/// pool-15 (gwhalin/Memcached-Java-Client#60): threads hung in reads for ever, and their sockets stayed open.
#[test]
fn a_hundred_threads_leave_a_server_that_only_accepts() {
    const LIMIT: std::time::Duration = ms(400);
    let fake = Fake::new(vec![vec![Act::Stall]]);
    let pool = builder(&[&fake]).max_conn(100).min_conn(0);
    let client = client(pool.operation_timeout(LIMIT));
    thread::scope(|scope| {
        for _ in 0..100 {
            scope.spawn(|| {
                let (answer, took) = timed(|| client.get::<String>("k"));
                let error = answer.unwrap_err();
                // Those who come after the first has timed out find the server dead.
                assert!(error.is_timeout() || error.is_connect(), "{error}");
                in_time(took, LIMIT);
            });
        }
    });
    // One at the most may be the pool's own, which looks whether the server lives again.
    eventually("all is closed", || fake.open() <= 1);
}
