//! Models of the gate, every interleaving of a few callers: nobody waits for ever, no permit is lost. Run under `cfg(loom)`.

use std::time::Duration;

use loom::thread;

use super::dead::Dead;
use super::gate::{Entry, Gate};
use crate::clock::Moment;
use crate::sync::Arc;

const FOREVER: Duration = Duration::MAX;

/// How a caller ends.
#[derive(Clone, Copy)]
enum Ends {
    Puts,
    Forfeits,
    /// Its connection is broken: it exchanges it first.
    Exchanges,
    /// It marks the server dead.
    Kills,
}

fn gate(max_open: usize) -> Arc<Gate<u32>> {
    let dead = Dead::new(Duration::from_secs(1), Duration::from_secs(1), 1);
    Arc::new(Gate::new(max_open, dead))
}

/// One call; whether it had a connection.
fn call(gate: &Gate<u32>, patience: Duration, ends: Ends) -> bool {
    let mut entry = gate.enter();
    if let Entry::Wait(waiter) = &entry {
        match gate.wait(waiter, patience) {
            Some(offer) => entry = offer,
            None => return false,
        }
    }
    if let (Entry::Idle(_), Ends::Exchanges) = (&entry, ends) {
        entry = gate.exchange();
    }
    let connection = match entry {
        Entry::Idle(connection) => connection,
        Entry::Permit => 7,
        Entry::Dead(_) | Entry::Closed => return false,
        Entry::Wait(_) => panic!("it waited already"),
    };
    match ends {
        Ends::Forfeits => gate.forfeit(),
        Ends::Kills => {
            drop(gate.kill(Moment::from_number(1)));
            drop(gate.put(connection));
        }
        Ends::Puts | Ends::Exchanges => drop(gate.put(connection)),
    }
    true
}

/// All interleavings of callers of one connection, and what `beside` does meanwhile.
fn callers<const N: usize>(
    ends: [(Duration, Ends); N],
    beside: fn(&Gate<u32>),
    check: fn([bool; N]),
) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let gate = gate(1);
        let calls = ends.map(|(patience, ends)| {
            let gate = Arc::clone(&gate);
            thread::spawn(move || call(&gate, patience, ends))
        });
        beside(&gate);
        check(calls.map(|call| call.join().unwrap()));
        let occupancy = gate.occupancy();
        assert_eq!(occupancy.open, occupancy.idle, "a permit is lost");
        assert_eq!(occupancy.waiting, 0);
    });
}

#[test]
fn everybody_has_a_turn() {
    let ends = [Ends::Puts, Ends::Forfeits, Ends::Exchanges];
    callers(
        ends.map(|ends| (FOREVER, ends)),
        |_| (),
        |had| assert_eq!(had, [true; 3]),
    );
}

#[test]
fn an_offer_to_one_who_leaves_is_not_lost() {
    callers(
        [
            (FOREVER, Ends::Puts),
            (Duration::ZERO, Ends::Puts),
            (FOREVER, Ends::Forfeits),
        ],
        |_| (),
        |[first, _, third]| assert!(first && third),
    );
}

#[test]
fn the_end_wakes_all() {
    callers(
        [(FOREVER, Ends::Puts), (FOREVER, Ends::Forfeits)],
        |gate| drop(gate.close()),
        |_| (),
    );
}

#[test]
fn a_death_wakes_all() {
    callers(
        [(FOREVER, Ends::Kills), (FOREVER, Ends::Puts)],
        |_| (),
        |had| assert!(had.contains(&true)),
    );
}
