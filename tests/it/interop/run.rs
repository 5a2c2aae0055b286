//! The one test that every peer takes: round trips, counters, and what happens when a server stops.

use sockio::Value;

use super::fleet::Fleet;
use super::gaps::can;
use super::pair::{BothWays, Pair};
use super::peer::{Ability, Datum, Peer};
use super::script::Language;

/// Round trips in each direction, at least.
const ENOUGH: usize = 200;

/// Counters of a run.
const COUNTERS: usize = 40;

/// What a run has shown.
#[derive(Debug, Default)]
struct Tally {
    to_own: usize,
    from_own: usize,
    counters: usize,
    compressed: usize,
    /// Keys of the stopped server that both put elsewhere, and those that neither could store.
    moved: usize,
    refused: usize,
}

/// Round trips between a peer and this crate in both directions, over three servers of equal weights and, where the
/// peer has them, of others; then one of the servers stops.
pub(crate) fn run(language: Language, name: &str) {
    let mut fleet = Fleet::start(&[1, 1, 1]);
    let mut tally = Tally::default();
    let mut pair = Pair::new(language, name, &fleet);
    tally.add(pair.both_ways(&mut fleet, "all run"));
    if can(name, Ability::Weights) {
        fleet.set_weights(&[1, 3, 2]);
        pair = Pair::new(language, name, &fleet);
        tally.add(pair.both_ways(&mut fleet, "weighted"));
    }
    counters(&mut pair, &mut fleet, &mut tally);
    failover(&mut pair, &mut fleet, &mut tally);
    println!("{name}: {tally:?}");
    assert!(tally.to_own >= ENOUGH && tally.from_own >= ENOUGH);
    assert!(!can(name, Ability::Compress) || tally.compressed > 0);
}

/// Round trips over servers that run, to prove where the keys go.
pub(crate) fn run_placement(language: Language, name: &str, fleet: &mut Fleet) {
    let trips = Pair::new(language, name, fleet).both_ways(fleet, "all run");
    println!("{name}: {trips:?}");
    assert!(trips.to_own >= ENOUGH && trips.from_own >= ENOUGH);
}

impl Tally {
    fn add(&mut self, trips: BothWays) {
        self.to_own += trips.to_own;
        self.from_own += trips.from_own;
        self.compressed += trips.compressed;
    }
}

/// Counters of each, counted by both.
fn counters(pair: &mut Pair, fleet: &mut Fleet, tally: &mut Tally) {
    fleet.flush();
    let Pair { places, peer, own } = pair;
    let keys = places.keys.iter().filter(|key| key.is_ascii());
    for (number, key) in (1_u64..).zip(keys.take(COUNTERS)) {
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

/// One server stops. Where the walk leads elsewhere both go there; where it ends both say that they cannot store.
fn failover(pair: &mut Pair, fleet: &mut Fleet, tally: &mut Tally) {
    fleet.flush();
    pair.places.dead = Some(1);
    fleet.kill(1);
    pair.notice();
    let trips = pair.both_ways(fleet, "one server less");
    tally.add(trips);

    let Pair { places, peer, own } = pair;
    // A call for many keys finds its servers by itself: it must find those of the calls for one.
    let many = own.client.get_multi::<Value<'static>, _>(&places.keys);
    assert_eq!(many.unwrap().hits().count(), trips.from_own);
    let value = Datum::sample(1, "homeless");
    for key in places.lost() {
        if places.place(key).is_some() {
            tally.moved += 1;
            continue;
        }
        assert!(!peer.set(key, &value) && !own.set(key, &value));
        assert!(fleet.held(key).is_empty());
        tally.refused += 1;
    }
    assert!(tally.moved + tally.refused > COUNTERS, "{tally:?}");
}
