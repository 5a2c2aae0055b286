//! Servers that are stopped and go on, again and again: their late answers reach nobody.

use std::time::Duration;

use sockio::{ErrorKind, MemcachedClient};

use super::load::{BACK_OFF, LIMIT, builder, under_load};
use crate::support::RealServer;
use crate::support::wait::{MARGIN, alone, eventually, lost, ms};

const THREADS: usize = 4;
const CYCLES: usize = 12;

/// A server is stopped for less than a deadline, so that late answers come while their callers wait, and for longer.
#[test]
fn a_late_answer_reaches_no_other_call() {
    alone(|| {
        for combine in [false, true] {
            let servers = [0; 3].map(|_| RealServer::start(&[]));
            // Callers share requests only where there are fewer connections.
            let connections = if combine { 2 } else { THREADS };
            let pool = builder(servers.iter().map(RealServer::addr))
                .initial_conn(connections)
                .max_open(connections)
                .combine(combine)
                .build();
            let client = MemcachedClient::new(pool.unwrap());
            let mut back = Vec::new();
            under_load(&client, THREADS, |load| {
                load.warm();
                for cycle in 0..CYCLES {
                    servers[1].stop_signal();
                    let pause = [ms(20), ms(120), LIMIT, LIMIT + ms(150)][cycle % 4];
                    std::thread::sleep(pause);
                    servers[1].cont_signal();
                    back.push(load.good_again(1));
                }
                let (stopped, others) = (load.of(1), load.others_are_unaffected(1));
                let longest = back.iter().max().unwrap();
                println!(
                    "stopped {CYCLES} times (combine: {combine}): {stopped}; good again after {longest:.1?} at most; \
                 the other servers: {others}"
                );
                // Each thread waits for it once per cycle; after that it is dead.
                assert!(stopped.stalled <= (THREADS * CYCLES) as u64, "{stopped}");
                let unexpected = stopped.errors_beside(&[
                    ErrorKind::Timeout,
                    ErrorKind::Ambiguous,
                    ErrorKind::NoServer,
                ]);
                assert!(unexpected.is_empty(), "{unexpected:?}");
                let connect: Duration = ms(200);
                assert!(*longest <= BACK_OFF + connect + MARGIN + lost(ms(10_000)));
            });
            eventually("nothing is stuck", || {
                client.pool().stats().iter().all(|stats| stats.busy == 0)
            });
        }
    });
}
