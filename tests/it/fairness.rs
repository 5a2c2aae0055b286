//! Waiting for the only connection: first come, first served.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use sockio::{MemcachedClient, SockIoPool};

use crate::support::fake::Fake;
use crate::support::wait::{eventually, ms};

fn client(fake: &Fake) -> MemcachedClient {
    let pool = SockIoPool::builder()
        .servers([fake.addr()])
        .max_conn(1)
        .max_open(1);
    MemcachedClient::new(pool.build().unwrap())
}

#[test]
fn those_who_wait_are_served_in_their_order() {
    let fake = Fake::serving();
    let client = client(&fake);
    let keys: Vec<_> = (0..8).map(|number| format!("k{number}")).collect();
    thread::scope(|scope| {
        let held = client.get_with("held", |_, _| {
            for (before, key) in keys.iter().enumerate() {
                let client = &client;
                scope.spawn(move || {
                    let value = client.get::<String>(&**key).unwrap();
                    assert_eq!(value.as_ref(), Some(key));
                });
                eventually("it waits", || {
                    client.pool().stats()[0].waiting == before + 1
                });
            }
        });
        held.unwrap().unwrap();
    });
    let order: Vec<_> = keys.iter().map(|key| format!("get {key}")).collect();
    assert_eq!(fake.seen()[0].requests[1..], order);
}

#[test]
fn sixty_four_threads_share_one_connection_evenly() {
    const THREADS: usize = 64;
    let fake = Fake::serving();
    let client = client(&fake);
    let (start, stop) = (AtomicBool::new(false), AtomicBool::new(false));
    let counts: Vec<usize> = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|_| {
                scope.spawn(|| {
                    eventually("the start", || start.load(Ordering::Relaxed));
                    let mut count = 0;
                    while !stop.load(Ordering::Relaxed) {
                        let value = client.get::<String>("k").unwrap();
                        assert_eq!(value.as_deref(), Some("k"));
                        count += 1;
                    }
                    count
                })
            })
            .collect();
        // All of them stand in the queue before it moves: from there on each has its turn.
        let held = client.get_with("held", |_, _| {
            start.store(true, Ordering::Relaxed);
            eventually("all wait", || client.pool().stats()[0].waiting == THREADS);
        });
        held.unwrap().unwrap();
        thread::sleep(ms(700));
        stop.store(true, Ordering::Relaxed);
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
    println!(
        "{} operations: {least} to {most} a thread",
        counts.iter().sum::<usize>()
    );
    assert!(*least >= 2 && most <= &(2 * least), "{counts:?}");
    assert_eq!(fake.connections(), 1);
}
