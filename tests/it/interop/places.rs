//! Where the keys of a test belong, and round trips from one client to the other that are held to it.

use std::thread::sleep;
use std::time::{Duration, Instant};

use sockio::Compat;
use sockio::router::Router;

use super::fleet::Fleet;
use super::gaps::can;
use super::peer::{Ability, Datum, Peer};
use crate::golden;

/// How long a client may take to see that a server is gone, or is there again.
const PATIENCE: Duration = Duration::from_secs(15);

/// Bytes below which the compressed form of a long text stays.
const SHORT: usize = 5000;

/// The keys of a test and their servers.
pub(crate) struct Places {
    pub(crate) name: String,
    pub(crate) keys: Vec<String>,
    router: Router,
    /// The server that was stopped.
    pub(crate) dead: Option<usize>,
    /// How often a client is asked: one that looks after a server again and again may fail now and then.
    pub(crate) tries: usize,
}

/// What has been shown.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Trips {
    pub(crate) count: usize,
    pub(crate) compressed: usize,
}

impl Places {
    /// The captured keys, as far as the client takes them.
    pub(crate) fn new(compat: Compat, fleet: &Fleet) -> Self {
        let servers = fleet.addrs().into_iter().map(|addr| addr.parse().unwrap());
        let utf8 = can(compat.name(), Ability::Utf8Keys);
        let mut keys = golden::keys();
        keys.retain(|key| utf8 || key.is_ascii());
        Self {
            name: compat.name().to_owned(),
            keys,
            router: compat.router(servers.collect()).unwrap(),
            dead: None,
            tries: 1,
        }
    }

    /// The server that a key lives on while all run.
    pub(crate) fn home(&self, key: &str) -> usize {
        self.router.first(key.as_bytes(), None)
    }

    /// The server that a key lives on now, if there is one.
    pub(crate) fn place(&self, key: &str) -> Option<usize> {
        let is_dead = |server| Some(server) == self.dead;
        self.router.walk(key.as_bytes(), None, is_dead).server
    }

    /// The keys of the stopped server.
    pub(crate) fn lost(&self) -> impl Iterator<Item = &String> + Clone {
        self.keys
            .iter()
            .filter(|key| Some(self.home(key)) == self.dead)
    }

    /// Writes every key that has a place with the one client, looks which servers hold it, and reads it with the other.
    pub(crate) fn trips(
        &self,
        fleet: &mut Fleet,
        writer: &mut dyn Peer,
        reader: &mut dyn Peer,
        salt: &str,
    ) -> Trips {
        fleet.flush();
        let mut trips = Trips::default();
        for (number, key) in self.keys.iter().enumerate() {
            let what = format!("{}, {salt}, key {number}", self.name);
            let Some(place) = self.place(key) else {
                continue;
            };
            let mut value = Datum::sample(number, salt);
            if value.needs().is_some_and(|need| !can(&self.name, need)) {
                value = Datum::sample(1, &what);
            }
            let stored = (0..self.tries).any(|_| writer.set(key, &value));
            assert!(stored, "{what}: not stored");
            let held = fleet.held(key);
            let [held] = held[..] else {
                panic!("{what}: {held:?}")
            };
            assert_eq!(held.server, place, "{what}");
            if value.is_long() && can(&self.name, Ability::Compress) {
                assert!(held.len < SHORT, "{what}: {} bytes", held.len);
                trips.compressed += 1;
            }
            let read = (0..self.tries).find_map(|_| reader.get(key, &value));
            assert!(read.as_ref() == Some(&value), "{what}: {read:?}");
            trips.count += 1;
        }
        trips
    }

    /// Asks until the client puts a key of the stopped server elsewhere, or has failed for good where it never does.
    pub(crate) fn notice(&self, client: &mut dyn Peer) {
        let value = Datum::sample(1, "anybody?");
        let mut moved = self.lost().filter(|key| self.place(key).is_some()).cycle();
        if moved.clone().next().is_none() {
            self.lost()
                .for_each(|key| assert!(!client.set(key, &value)));
            return;
        }
        self.until("sees that a server is gone", || {
            moved.next().is_some_and(|key| client.set(key, &value))
        });
    }

    /// Asks until the client puts a key on the server that was started again.
    pub(crate) fn notice_return(&self, fleet: &mut Fleet, client: &mut dyn Peer) {
        let value = Datum::sample(1, "again");
        let mut lost = self.lost().cycle();
        self.until("uses a server again", || {
            let key = lost.next().unwrap();
            fleet.flush();
            client.set(key, &value);
            fleet
                .held(key)
                .iter()
                .any(|held| Some(held.server) == self.dead)
        });
    }

    fn until(&self, what: &str, mut done: impl FnMut() -> bool) {
        let until = Instant::now() + PATIENCE;
        while !done() {
            assert!(Instant::now() < until, "{} never {what}", self.name);
            sleep(Duration::from_millis(20));
        }
    }
}
