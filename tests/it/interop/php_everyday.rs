//! The everyday case: PHP's Memcached and this crate share two servers on libketama's ring; one stops and comes back.

use super::fleet::Fleet;
use super::pair::Pair;
use super::php::PHP;
use crate::support::RealServer;

/// The ports of many a PHP program's two servers on one machine.
const PORTS: [u16; 2] = [1122, 1123];

#[test]
fn on_free_ports() {
    share(Fleet::start(&[1, 1]));
}

#[test]
fn on_ports_1122_and_1123() {
    let servers = PORTS.map(|port| RealServer::start_at(port, &[]));
    let [Some(first), Some(second)] = servers else {
        println!(
            "not run: another program has a port of {PORTS:?}; `on_free_ports` shows the same"
        );
        return;
    };
    share(Fleet::of(vec![first, second], &[1, 1]));
}

fn share(mut fleet: Fleet) {
    // With the options' defaults libmemcached 1.1.4 comes back to a failed server never: DEAD_TIMEOUT is what makes it look.
    let options = [
        ("FAILURE_LIMIT", "1"),
        ("RETRY_TIMEOUT", "1"),
        ("DEAD_TIMEOUT", "1"),
    ];
    let mut pair = Pair::with_env(PHP, "libmemcached/ketama-weighted+php", &fleet, &options);
    let mut trips = vec![pair.both_ways(&mut fleet, "both run")];

    pair.places.dead = Some(1);
    fleet.kill(1);
    pair.notice();
    // Each second PHP tries the stopped server with a call, which fails, and one more says that it is marked dead.
    pair.places.tries = 4;
    trips.push(pair.both_ways(&mut fleet, "one stopped"));

    fleet.restart(1);
    pair.places.notice_return(&mut fleet, &mut pair.peer);
    pair.places.notice_return(&mut fleet, &mut pair.own);
    (pair.places.dead, pair.places.tries) = (None, 1);
    trips.push(pair.both_ways(&mut fleet, "both run again"));
    println!("{trips:?}");
    let keys = pair.places.keys.len();
    assert!(
        trips
            .iter()
            .all(|trips| trips.to_own == keys && trips.from_own == keys)
    );
}
