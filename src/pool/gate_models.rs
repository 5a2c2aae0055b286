//! Models of the gate, every interleaving of a few callers: nobody waits for ever, no permit is lost, nothing outlives the end.
//! Run under `cfg(loom)`.

use std::sync::atomic::{AtomicUsize, Ordering};
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

/// A gate, and how many connections are open: no part of the model, only counted.
pub(super) struct Counted {
    pub(super) gate: Gate<Connection>,
    open: std::sync::Arc<AtomicUsize>,
}

/// A connection that counts until it is closed.
pub(super) struct Connection(std::sync::Arc<AtomicUsize>);

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Counted {
    pub(super) fn new(max_open: usize, dead: Dead) -> Self {
        Self {
            gate: Gate::new(max_open, dead),
            open: std::sync::Arc::default(),
        }
    }

    pub(super) fn connect(&self) -> Connection {
        self.open.fetch_add(1, Ordering::Relaxed);
        Connection(std::sync::Arc::clone(&self.open))
    }

    /// When all callers are gone each connection rests, and has the only permits; after the end there is none.
    pub(super) fn is_at_rest(&self, ended: bool) {
        let occupancy = self.gate.occupancy();
        assert_eq!(occupancy.open, occupancy.idle, "a permit is lost");
        let open = self.open.load(Ordering::Relaxed);
        assert_eq!(open, occupancy.idle, "a connection is open, and not here");
        assert_eq!(occupancy.waiting, 0);
        assert!(!ended || open == 0, "{open} idle after the end");
    }

    /// One call; whether it had a connection.
    fn call(&self, patience: Duration, ends: Ends) -> bool {
        let gate = &self.gate;
        let mut entry = gate.enter();
        if let Entry::Wait(waiter) = &entry {
            match gate.wait(waiter, patience) {
                Some(offer) => entry = offer,
                None => return false,
            }
        }
        if let (Entry::Idle(_), Ends::Exchanges) = (&entry, ends) {
            // The broken one is closed first.
            drop(entry);
            entry = gate.exchange();
        }
        // Exchanged in vain, it may have a place in the queue.
        if let Entry::Wait(waiter) = &entry {
            match gate.wait(waiter, patience) {
                Some(offer) => entry = offer,
                None => return false,
            }
        }
        let connection = match entry {
            Entry::Idle(connection) => connection,
            Entry::Permit => self.connect(),
            Entry::Dead(_) | Entry::Closed => return false,
            Entry::Wait(_) => panic!("it waited already"),
        };
        match ends {
            Ends::Forfeits => {
                drop(connection);
                gate.forfeit();
            }
            Ends::Kills => {
                drop(gate.kill(Moment::from_number(1)));
                drop(gate.put(connection));
            }
            Ends::Puts | Ends::Exchanges => drop(gate.put(connection)),
        }
        true
    }
}

fn dead() -> Dead {
    Dead::new(Duration::from_secs(1), Duration::from_secs(1), 1)
}

fn check(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}

/// All interleavings of callers of one server, and what `beside` does meanwhile, which may be its end.
fn callers<const N: usize>(
    max_open: usize,
    ends: [(Duration, Ends); N],
    beside: fn(&Counted),
    ended: bool,
    told: fn([bool; N]),
) {
    check(move || {
        let server = Arc::new(Counted::new(max_open, dead()));
        let calls = ends.map(|(patience, ends)| {
            let server = Arc::clone(&server);
            thread::spawn(move || server.call(patience, ends))
        });
        beside(&server);
        told(calls.map(|call| call.join().unwrap()));
        server.is_at_rest(ended);
    });
}

fn end(server: &Counted) {
    drop(server.gate.close());
}

#[test]
fn everybody_has_a_turn() {
    let ends = [Ends::Puts, Ends::Forfeits, Ends::Exchanges];
    let ends = ends.map(|ends| (FOREVER, ends));
    callers(1, ends, |_| (), false, |had| assert_eq!(had, [true; 3]));
}

#[test]
fn an_offer_to_one_who_leaves_is_not_lost() {
    callers(
        1,
        [
            (FOREVER, Ends::Puts),
            (Duration::ZERO, Ends::Puts),
            (FOREVER, Ends::Forfeits),
        ],
        |_| (),
        false,
        |[first, _, third]| assert!(first && third),
    );
}

#[test]
fn a_death_wakes_all() {
    callers(
        1,
        [(FOREVER, Ends::Kills), (FOREVER, Ends::Puts)],
        |_| (),
        false,
        |had| assert!(had.contains(&true)),
    );
}

#[test]
fn the_end_wakes_all_and_keeps_nothing() {
    let ends = [Ends::Puts, Ends::Forfeits, Ends::Exchanges];
    callers(1, ends.map(|ends| (FOREVER, ends)), end, true, |_| ());
}

#[test]
fn the_end_beside_a_death_and_one_who_leaves() {
    let calls = [
        (FOREVER, Ends::Kills),
        (Duration::ZERO, Ends::Puts),
        (FOREVER, Ends::Puts),
    ];
    callers(1, calls, end, true, |_| ());
}

#[test]
fn two_ends_at_once_and_what_comes_back_after_them() {
    check(|| {
        let server = Arc::new(Counted::new(2, dead()));
        assert_eq!(server.gate.reserve(1), 1);
        drop(server.gate.put(server.connect()));
        let caller = {
            let server = Arc::clone(&server);
            thread::spawn(move || server.call(FOREVER, Ends::Puts))
        };
        let other = {
            let server = Arc::clone(&server);
            thread::spawn(move || end(&server))
        };
        end(&server);
        other.join().unwrap();
        caller.join().unwrap();
        server.is_at_rest(true);
        assert!(matches!(server.gate.enter(), Entry::Closed));
    });
}
