//! Shared requests against a real memcached: the right values under load, and when it stops, dies and comes again.
#![cfg(unix)]

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use sockio::{ErrorKind, Expiry, MemcachedClient, SockIoPool};

use crate::support::RealServer;
use crate::support::wait::{eventually, in_time, lost, ms, timed};

fn client(server: &RealServer, connections: usize) -> MemcachedClient {
    let pool = SockIoPool::builder()
        .servers([server.addr()])
        .max_conn(connections)
        .combine(true);
    MemcachedClient::new(pool.build().unwrap())
}

/// A value that names its key, and goes on for `len` bytes.
fn value(key: &str, len: usize) -> Vec<u8> {
    let mut value = format!("{key}:").into_bytes();
    value.resize(len.max(value.len()), b'x');
    value
}

#[test]
fn everybody_has_his_own_values_on_one_connection() {
    const THREADS: usize = 64;
    const ROUNDS: usize = 60;
    let server = RealServer::start(&["-m", "256"]);
    let client = client(&server, 1);
    // Small, larger than the buffer of a connection, and one that is large.
    let sizes = [20, 100, 1000, 10 * 1024, 20 * 1024];
    let keys: Vec<(String, usize)> = (0..40)
        .map(|number| (format!("k{number}"), sizes[number % sizes.len()]))
        .chain([("huge".to_owned(), 900 * 1024)])
        .collect();
    for (key, len) in &keys {
        assert!(
            client
                .set(&**key, value(key, *len), Expiry::never())
                .unwrap()
        );
    }
    let start = Barrier::new(THREADS);
    let checked = AtomicUsize::new(0);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (client, keys, start, checked) = (&client, &keys, &start, &checked);
            scope.spawn(move || {
                let own = format!("own{thread}");
                start.wait();
                for round in 0..ROUNDS {
                    let huge = thread == 0 && round % 10 == 0;
                    let number = if huge { 40 } else { (thread + round * 7) % 40 };
                    let (key, len) = &keys[number];
                    let found = client.get::<Vec<u8>>(&**key).unwrap();
                    assert!(found.as_ref() == Some(&value(key, *len)), "{key}");
                    let missing = format!("no{thread}-{round}");
                    assert_eq!(client.get::<String>(&*missing).unwrap(), None);
                    let text = format!("{thread}-{round}");
                    assert!(client.set(&*own, &*text, Expiry::never()).unwrap());
                    let item = client.gets::<String>(&*own).unwrap().unwrap();
                    assert!(item.value == text && item.cas > 0);
                    let once = client.add(&*own, "other", Expiry::never()).unwrap();
                    assert!(!once);
                    checked.fetch_add(5, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(checked.into_inner(), THREADS * ROUNDS * 5);
    let stats = &client.pool().stats()[0];
    assert_eq!((stats.connects, stats.timeouts, stats.idle), (1, 0, 1));
}

#[test]
fn a_server_that_stops_costs_each_its_own_time_only() {
    let server = RealServer::start(&[]);
    let client = client(&server, 1);
    client.set("k", "v", Expiry::never()).unwrap();
    server.stop_signal();
    let begun = Instant::now();
    thread::scope(|scope| {
        let short = (0..8).map(|number| {
            let limit = ms(50 + 100 * number / 7);
            let client = client.clone().with_timeout(limit);
            scope.spawn(move || {
                let (answer, took) = timed(|| client.get::<String>("k"));
                let error = answer.unwrap_err();
                assert!(error.is_timeout(), "{error}");
                let over = took.saturating_sub(lost(took)).as_secs_f64() / limit.as_secs_f64();
                println!("{limit:?}: {over:.2}");
                in_time(took, limit + limit / 5);
            })
        });
        let short: Vec<_> = short.collect();
        let long = (0..8).map(|_| {
            let client = client.clone().with_timeout(ms(4000));
            scope.spawn(move || {
                assert_eq!(client.get::<String>("k").unwrap().as_deref(), Some("v"));
                begun.elapsed()
            })
        });
        let long: Vec<_> = long.collect();
        for call in short {
            call.join().unwrap();
        }
        thread::sleep(ms(600).saturating_sub(begun.elapsed()));
        server.cont_signal();
        for call in long {
            let took = call.join().unwrap();
            assert!(took >= ms(600), "{took:?}");
            in_time(took, ms(700));
        }
    });
    let stats = &client.pool().stats()[0];
    assert_eq!(stats.timeouts, 8);
    assert!(stats.dead_until.is_none());
    // The first, and another one if a caller with little time had that for itself.
    assert!(stats.connects <= 2, "{}", stats.connects);
}

#[test]
fn a_server_that_hangs_is_marked_dead_all_the_same() {
    let server = RealServer::start(&[]);
    let client = client(&server, 1).with_timeout(ms(200));
    client.set("k", "v", Expiry::never()).unwrap();
    server.stop_signal();
    let end = Instant::now() + ms(1500);
    let stalled: usize = thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|thread| {
                let client = &client;
                scope.spawn(move || {
                    // They come one after the other, so that there is always one with time left.
                    thread::sleep(ms(25) * thread);
                    let mut stalled = 0;
                    while Instant::now() < end {
                        let (answer, took) = timed(|| client.get::<String>("k"));
                        in_time(took, ms(200));
                        match answer.unwrap_err().kind() {
                            ErrorKind::Timeout => stalled += 1,
                            kind => assert_eq!(kind, ErrorKind::NoServer),
                        }
                        thread::sleep(ms(1));
                    }
                    stalled
                })
            })
            .collect();
        threads.into_iter().map(|call| call.join().unwrap()).sum()
    });
    // Every caller once or twice, instead of eight times.
    println!("{stalled} calls stalled");
    assert!(stalled <= 24, "{stalled}");
    assert!(client.pool().stats()[0].dead_until.is_some());
    server.cont_signal();
}

#[test]
fn a_server_that_dies_fails_one_batch_and_is_not_dialled_again_and_again() {
    const THREADS: usize = 32;
    let mut server = RealServer::start(&[]);
    let client = client(&server, 2);
    client.set("k", "v", Expiry::never()).unwrap();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|_| {
                scope.spawn(|| {
                    let (mut broken, mut refused) = (0, 0);
                    while !stop.load(Ordering::Relaxed) {
                        let (answer, took) = timed(|| client.get::<String>("k"));
                        in_time(took, ms(300));
                        match answer.map_err(|error| error.kind()) {
                            Ok(_) => {}
                            Err(ErrorKind::NoServer) => {
                                refused += 1;
                                thread::sleep(ms(2));
                            }
                            Err(kind) => {
                                assert!(
                                    matches!(kind, ErrorKind::Connection | ErrorKind::Connect),
                                    "{kind:?}"
                                );
                                broken += 1;
                            }
                        }
                    }
                    (broken, refused)
                })
            })
            .collect();
        thread::sleep(ms(150));
        let dials = client.pool().stats()[0].connect_failures;
        server.kill();
        thread::sleep(ms(400));
        let dials = client.pool().stats()[0].connect_failures - dials;
        // At 0, 100 and 300 ms, and what was under way on the connections.
        assert!(dials <= 6, "{dials} dials");
        server.restart();
        let back = eventually("it serves again", || client.get::<String>("k").is_ok());
        in_time(back, ms(1700));
        stop.store(true, Ordering::Relaxed);
        let counts: Vec<(usize, usize)> = threads
            .into_iter()
            .map(|call| call.join().unwrap())
            .collect();
        let broken: usize = counts.iter().map(|count| count.0).sum();
        assert!(broken <= 2 * THREADS, "{broken} calls");
        assert!(counts.iter().all(|count| count.1 > 0));
    });
}

#[test]
fn sixty_four_threads_are_served_evenly() {
    const THREADS: usize = 64;
    let server = RealServer::start(&[]);
    let client = client(&server, 1);
    client.set("k", "v", Expiry::never()).unwrap();
    let start = Barrier::new(THREADS + 1);
    let stop = AtomicBool::new(false);
    let counts: Vec<usize> = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|_| {
                scope.spawn(|| {
                    start.wait();
                    let mut count = 0;
                    while !stop.load(Ordering::Relaxed) {
                        assert_eq!(client.get::<String>("k").unwrap().as_deref(), Some("v"));
                        count += 1;
                    }
                    count
                })
            })
            .collect();
        start.wait();
        thread::sleep(Duration::from_millis(700));
        stop.store(true, Ordering::Relaxed);
        threads
            .into_iter()
            .map(|call| call.join().unwrap())
            .collect()
    });
    let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
    println!(
        "{} operations: {least} to {most} a thread",
        counts.iter().sum::<usize>()
    );
    assert!(*least >= 2 && most <= &(2 * least), "{counts:?}");
    assert_eq!(client.pool().stats()[0].connects, 1);
}
