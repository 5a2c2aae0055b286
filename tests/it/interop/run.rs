//! The one test that every peer takes: round trips, counters, and what happens when a server stops.

use std::thread::sleep;
use std::time::{Duration, Instant};

use sockio::Compat;
use sockio::router::Router;

use super::fleet::Fleet;
use super::gaps::can;
use super::own::Own;
use super::peer::{Ability, Datum, Peer};
use super::script::Language;
use crate::golden;

/// Round trips in each direction, at least.
const ENOUGH: usize = 200;

/// How long a client may take to see that a server is gone.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a run has shown.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    to_own: usize,
    from_own: usize,
    counters: usize,
    compressed: usize,
    /// Keys that both stored elsewhere, and keys that both could not store.
    moved: usize,
    refused: usize,
}

/// Round trips between a peer and this crate in both directions, over three servers of equal weights and, where the
/// peer has them, of others; then one of the servers stops.
pub(crate) fn run(language: Language, name: &str) {
    let compat: Compat = temp(name);
    let mut fleet = Fleet::start(&[1, 1, 1]);
    let mut tally = Tally::default();
    let weights: &[&[u32]] = match can(name, Ability::Weights) {
        true => &[&[1, 1, 1], &[1, 3, 2]],
        false => &[&[1, 1, 1]],
    };
    let (last, equal) = weights.split_last().unwrap();
    for weights in equal {
        fleet.set_weights(weights);
        let mut pair = Pair::new(language, compat, &fleet);
        pair.both_ways(&mut fleet, &mut tally);
    }
    fleet.set_weights(last);
    let mut pair = Pair::new(language, compat, &fleet);
    pair.both_ways(&mut fleet, &mut tally);
    pair.counters(&mut fleet, &mut tally);
    pair.failover(&mut fleet, &mut tally);
    println!("{name}: {tally:?}");
    assert!(tally.to_own >= ENOUGH && tally.from_own >= ENOUGH);
    assert!(!can(name, Ability::Compress) || tally.compressed > 0);
}

/// Round trips of text only, to prove where the keys go.
pub(crate) fn run_placement(language: Language, name: &str, fleet: &mut Fleet) {
    let mut pair = Pair::new(language, temp(name), fleet);
    let mut tally = Tally::default();
    pair.both_ways(fleet, &mut tally);
    println!("{name}: {tally:?}");
    assert!(tally.to_own >= ENOUGH && tally.from_own >= ENOUGH);
}

/// A peer and this crate at the same servers.
struct Pair {
    name: &'static str,
    router: Router,
    peer: Box<dyn Peer>,
    own: Own,
    keys: Vec<String>,
}

impl Pair {
    fn new(language: Language, compat: Compat, fleet: &Fleet) -> Self {
        let servers = fleet.addrs().into_iter().map(|addr| addr.parse().unwrap());
        let utf8 = can(compat.name(), Ability::Utf8Keys);
        let mut keys = golden::keys();
        keys.retain(|key| utf8 || key.is_ascii());
        Self {
            name: compat.name(),
            router: compat.router(servers.collect()).unwrap(),
            peer: Box::new(language.start(compat.name(), fleet, &[])),
            own: Own::new(compat, fleet),
            keys,
        }
    }

    /// Every key in both directions.
    fn both_ways(&mut self, fleet: &mut Fleet, tally: &mut Tally) {
        let (peer, own) = (&mut *self.peer, &mut self.own);
        let way = Way {
            name: self.name,
            router: &self.router,
            keys: &self.keys,
            dead: None,
        };
        tally.to_own += way.go(fleet, peer, own, "theirs", &mut tally.compressed);
        tally.from_own += way.go(fleet, own, peer, "ours", &mut tally.compressed);
    }

    /// Counters of each, counted by both.
    fn counters(&mut self, fleet: &mut Fleet, tally: &mut Tally) {
        fleet.flush();
        let (peer, own): (&mut dyn Peer, &mut dyn Peer) = (&mut *self.peer, &mut self.own);
        for (number, key) in (1_u64..).zip(self.keys.iter().filter(|key| key.is_ascii()).take(40)) {
            let (first, second): (&mut dyn Peer, &mut dyn Peer) = match number % 2 {
                0 => (&mut *peer, &mut *own),
                _ => (&mut *own, &mut *peer),
            };
            first.count(key, number * 1000);
            assert_eq!(second.incr(key, 5), Some(number * 1000 + 5));
            assert_eq!(first.incr(key, 7), Some(number * 1000 + 12));
            assert_eq!(fleet.held(key).len(), 1);
            assert!(second.delete(key));
            assert_eq!(first.incr(key, 1), None);
            tally.counters += 1;
        }
    }

    /// One server stops. Where the walk leads elsewhere both go there, where it ends both say that they cannot store.
    fn failover(&mut self, fleet: &mut Fleet, tally: &mut Tally) {
        let dead = 1;
        fleet.flush();
        fleet.kill(dead);
        let (peer, own) = (&mut *self.peer, &mut self.own);
        let way = Way {
            name: self.name,
            router: &self.router,
            keys: &self.keys,
            dead: Some(dead),
        };
        way.notice(peer);
        way.notice(own);
        let (stay, go): (Vec<String>, Vec<String>) = self
            .keys
            .iter()
            .cloned()
            .partition(|key| way.place(key).is_some());
        let homeless = go;
        for key in &homeless {
            let value = Datum::sample(1, "homeless");
            assert!(
                !peer.set(key, &value) && !own.set(key, &value),
                "{}",
                self.name
            );
            assert!(fleet.held(key).is_empty());
        }
        tally.refused += homeless.len();
        let way = Way { keys: &stay, ..way };
        tally.moved += stay.iter().filter(|key| way.home(key) == dead).count();
        tally.to_own += way.go(
            fleet,
            peer,
            own,
            "theirs, one server less",
            &mut tally.compressed,
        );
        tally.from_own += way.go(
            fleet,
            own,
            peer,
            "ours, one server less",
            &mut tally.compressed,
        );
        assert!(tally.moved + tally.refused > 40, "{tally:?}");
    }
}

/// From one client to the other.
#[derive(Clone, Copy)]
struct Way<'a> {
    name: &'a str,
    router: &'a Router,
    keys: &'a [String],
    dead: Option<usize>,
}

impl Way<'_> {
    /// The server that a key lives on while all run.
    fn home(&self, key: &str) -> usize {
        self.router.first(key.as_bytes(), None).unwrap()
    }

    /// The server that a key lives on now.
    fn place(&self, key: &str) -> Option<usize> {
        self.router
            .walk(key.as_bytes(), None, |server| Some(server) == self.dead)
            .server
    }

    /// Writes every key with the one, looks on which server it is, reads it with the other.
    fn go(
        &self,
        fleet: &mut Fleet,
        writer: &mut dyn Peer,
        reader: &mut dyn Peer,
        salt: &str,
        compressed: &mut usize,
    ) -> usize {
        fleet.flush();
        let mut trips = 0;
        for (number, key) in self.keys.iter().enumerate() {
            let what = format!("{}, {salt}, key {number}", self.name);
            let mut value = Datum::sample(number, salt);
            if value.needs().is_some_and(|need| !can(self.name, need)) {
                value = Datum::sample(1, &what);
            }
            assert!(writer.set(key, &value), "{what}: not stored");
            let held = fleet.held(key);
            let [held] = held[..] else {
                panic!("{what}: {held:?}")
            };
            assert_eq!(Some(held.server), self.place(key), "{what}");
            if value.is_long() && can(self.name, Ability::Compress) {
                assert!(held.len < 5000, "{what}: {} bytes", held.len);
                *compressed += 1;
            }
            let read = reader.get(key, &value);
            assert!(read.as_ref() == Some(&value), "{what}: {read:?}");
            trips += 1;
        }
        trips
    }

    /// Until the client knows that a server is gone: some calls may fail.
    fn notice(&self, client: &mut dyn Peer) {
        let until = Instant::now() + PATIENCE;
        let value = Datum::sample(1, "anybody?");
        let mut lost = self
            .keys
            .iter()
            .filter(|key| Some(self.home(key)) == self.dead)
            .cycle();
        let moves = |key: &&String| self.place(key).is_some();
        // A client that goes nowhere else has noticed after its first failure.
        if lost.clone().take(self.keys.len()).all(|key| !moves(&key)) {
            lost.by_ref()
                .take(3)
                .for_each(|key| assert!(!client.set(key, &value)));
            return;
        }
        while !lost
            .by_ref()
            .find(moves)
            .is_some_and(|key| client.set(key, &value))
        {
            assert!(Instant::now() < until, "{}: no failover", self.name);
            sleep(Duration::from_millis(20));
        }
    }
}

fn temp(name: &str) -> Compat {
    name.split('+').next().unwrap().parse().unwrap()
}
