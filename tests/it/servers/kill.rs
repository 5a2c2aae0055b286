//! A server that is killed and started again under load, again and again.

use sockio::{ErrorKind, MemcachedClient};

use super::load::{BACK_OFF, builder, under_load};
use crate::support::RealServer;
use crate::support::wait::{MARGIN, alone, eventually, lost, ms, timed};

const THREADS: usize = 4;
const CYCLES: usize = 20;

#[test]
fn a_server_killed_again_and_again_costs_failed_calls_only() {
    alone(|| {
        let mut servers = [0; 3].map(|_| RealServer::start(&[]));
        let pool = builder(servers.iter().map(RealServer::addr)).initial_conn(THREADS);
        let client = MemcachedClient::new(pool.build().unwrap());
        let mut back = Vec::new();
        let (figures, took) = timed(|| {
            under_load(&client, THREADS, |load| {
                load.warm();
                for cycle in 0..CYCLES {
                    let before = load.of(0);
                    if cycle % 2 == 0 {
                        // It is back before anybody has found it dead, or soon after.
                        servers[0].restart();
                    } else {
                        servers[0].kill();
                        std::thread::sleep(ms(60));
                        servers[0].restart();
                    }
                    back.push(load.good_again(0));
                    // A restarted server is empty.
                    let after = load.of(0);
                    assert!(after.misses > before.misses, "{before}, then {after}");
                }
                (load.of(0), load.others_are_unaffected(0))
            })
        });
        let longest = *back.iter().max().unwrap();
        let (killed, others) = figures;
        println!(
            "killed {CYCLES} times in {took:.1?}: {killed}; good again {longest:.1?} after the restart at most; \
         the other servers: {others}"
        );
        assert_eq!(killed.stalled, 0, "{killed}");
        let unexpected = killed.errors_beside(&[
            ErrorKind::Connect,
            ErrorKind::Connection,
            ErrorKind::Ambiguous,
            ErrorKind::NoServer,
        ]);
        assert!(unexpected.is_empty(), "{unexpected:?}");
        assert!(longest <= BACK_OFF + MARGIN + lost(took), "{back:?}");
        // A connection that broke is one failed call at the most; calls for a dead server are refused.
        let broken = killed.errors_beside(&[ErrorKind::NoServer, ErrorKind::Connect]);
        assert!(broken.len() <= THREADS * CYCLES, "{}", broken.len());
        eventually("nothing is stuck", || {
            let stats = &client.pool().stats()[0];
            (stats.busy, stats.waiting) == (0, 0)
        });
    });
}
