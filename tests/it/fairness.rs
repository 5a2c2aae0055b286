//! Waiting for the only connection: first come, first served.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use sockio::{MemcachedClient, SockIoPool};

use crate::support::fake::{Act, Fake, answer};
use crate::support::wait::{eventually, ms};

fn client(fake: &Fake) -> MemcachedClient {
    let pool = SockIoPool::builder()
        .servers([fake.addr()])
        .max_conn(1)
        .max_open(1);
    MemcachedClient::new(pool.build().unwrap())
}

/// Holds the connection until as many as there are keys wait for it, one behind the other; then this happens.
fn queue(client: &MemcachedClient, keys: &[String], then: impl FnOnce()) {
    thread::scope(|scope| {
        let mut then = Some(then);
        let held = client.get_with("held", |_, _| {
            for (before, key) in keys.iter().enumerate() {
                scope.spawn(move || {
                    let value = client.get::<String>(&**key).unwrap();
                    assert_eq!(value.as_ref(), Some(key));
                });
                eventually("it waits", || {
                    client.pool().stats()[0].waiting == before + 1
                });
            }
            if let Some(then) = then.take() {
                then();
            }
        });
        held.unwrap().unwrap();
    });
}

/// The commands of all connections, in their order.
fn requests(fake: &Fake) -> Vec<String> {
    let seen = fake.seen().into_iter();
    seen.flat_map(|seen| seen.requests).collect()
}

fn in_order() -> (Vec<String>, Vec<String>) {
    let keys: Vec<_> = (0..8).map(|number| format!("k{number}")).collect();
    let requests = keys.iter().map(|key| format!("get {key}"));
    let requests = ["get held".to_owned()]
        .into_iter()
        .chain(requests)
        .collect();
    (keys, requests)
}

#[test]
fn those_who_wait_are_served_in_their_order() {
    let fake = Fake::serving();
    let (keys, expected) = in_order();
    queue(&client(&fake), &keys, || ());
    assert_eq!(requests(&fake), expected);
}

#[test]
fn a_broken_connection_does_not_cost_the_first_his_place() {
    let first = vec![Act::Request, Act::Send(answer("get held")), Act::Fin];
    let fake = Fake::new(vec![first, vec![Act::Serve(ms(0))]]);
    let (keys, expected) = in_order();
    // After more than a second the connection is looked at before it is used again.
    queue(&client(&fake), &keys, || thread::sleep(ms(1050)));
    assert_eq!(requests(&fake), expected);
    assert_eq!(fake.connections(), 2);
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

#[test]
fn callers_of_many_keys_do_not_wait_for_each_other_in_a_circle() {
    let fakes = [0; 3].map(|_| Fake::serving());
    let pool = SockIoPool::builder()
        .servers(fakes.iter().map(Fake::addr))
        .max_conn(1);
    let client = MemcachedClient::new(pool.build().unwrap());
    thread::scope(|scope| {
        for thread in 0..8 {
            let client = &client;
            scope.spawn(move || {
                for round in 0..10 {
                    // The keys of each call begin with another server's.
                    let keys: Vec<_> = (0..20)
                        .map(|number| format!("k{}", number * 7 + thread + round))
                        .collect();
                    let many = client.get_multi::<String, _>(&keys).unwrap();
                    assert_eq!(many.hits().count(), 20);
                }
            });
        }
    });
    assert_eq!(fakes.each_ref().map(Fake::connections), [1; 3]);
}
