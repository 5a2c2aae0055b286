//! A server that closes connections which rest (`idle_timeout`).

use std::thread;
use std::time::Instant;

use sockio::{Expiry, MemcachedClient};

use super::guest::Guest;
use super::load::builder;
use crate::support::RealServer;
use crate::support::wait::{eventually, ms, timed};

#[test]
fn the_call_after_the_rest_does_not_notice() {
    const THREADS: usize = 4;
    let server = RealServer::start(&["-o", "idle_timeout=1"]);
    let pool = builder([server.addr()]).initial_conn(THREADS);
    let client = MemcachedClient::new(pool.build().unwrap());
    let kicks = || Guest::connect(&server).unwrap().stat("idle_kicks");
    let begun = Instant::now();
    client.store_counter("count", 0, Expiry::never()).unwrap();
    let mut longest = ms(0);
    for round in 1..=2 {
        let all = kicks() + client.pool().stats()[0].idle as u64;
        eventually("the server has closed all that rest", || {
            thread::sleep(ms(100));
            kicks() >= all
        });
        // All threads at a time, so that each finds a connection that the server has closed; none may be sent twice.
        let took = thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS)
                .map(|number| {
                    let client = &client;
                    scope.spawn(move || {
                        timed(|| match number % 4 {
                            0 => client.append(format!("k{number}"), "x").map(drop),
                            1 => client.get::<String>("k").map(drop),
                            2 => client
                                .set(format!("k{number}"), "v", Expiry::never())
                                .map(drop),
                            _ => client.incr("count", 1).map(drop),
                        })
                    })
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| {
                    let (answer, took) = thread.join().unwrap();
                    answer.unwrap();
                    took
                })
                .max()
        });
        longest = longest.max(took.unwrap());
        assert_eq!(client.get_counter("count").unwrap(), Some(round));
        let stats = &client.pool().stats()[0];
        assert!(
            stats.evicted >= round && stats.dead_until.is_none(),
            "{stats:?}"
        );
    }
    println!(
        "idle_timeout: {} connections closed by the server in {:.1?}, no failed call, longest {longest:.1?}",
        kicks(),
        begun.elapsed()
    );
}
