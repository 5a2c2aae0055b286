//! Threads that call all servers of a pool without a pause, and what became of each call. It knows no fault.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use sockio::{Error, ErrorKind, Expiry, MemcachedClient, SockIoPool, SockIoPoolBuilder};

use crate::support::RealServer;
use crate::support::wait::{eventually, in_time, lost, ms, timed};

/// The deadline of a call.
pub(crate) const LIMIT: Duration = ms(500);

/// A call that takes this long waits for something else than a server in good health.
const STALL: Duration = ms(250);

/// The keys that live on each server.
const KEYS: usize = 6;

/// A counter of key number `n` stands between `n` and `n + 1` times this.
const COUNTERS: u64 = 1_000_000_000;

/// Calls on all servers of a pool. Whatever a key brings carries the key's name or number: what is meant for another
/// call is told at once.
pub(crate) struct Load<'c> {
    client: &'c MemcachedClient,
    /// By server.
    keys: Vec<Keys>,
    tallies: Vec<Tally>,
    stop: AtomicBool,
    /// The longest round trip of a bare socket to a server that nobody else asks, in microseconds: the machine's own doing.
    bare: AtomicU64,
}

/// The keys that live on one server.
#[derive(Clone, Default)]
struct Keys {
    values: Vec<String>,
    counters: Vec<String>,
}

/// What became of the calls on one server.
#[derive(Default)]
struct Tally {
    /// With an answer, a miss included.
    good: AtomicU64,
    misses: AtomicU64,
    stalled: AtomicU64,
    /// In microseconds.
    longest: AtomicU64,
    errors: Mutex<Vec<ErrorKind>>,
}

/// The figures of one server, or of several.
#[derive(Clone, Debug, Default)]
pub(crate) struct Figures {
    pub(crate) good: u64,
    pub(crate) misses: u64,
    pub(crate) stalled: u64,
    pub(crate) longest: Duration,
    pub(crate) errors: Vec<ErrorKind>,
}

/// A pool of these servers for [`Load`]: one connection for each of its threads, no failover, so that each call
/// belongs to one server, and back-off times that a test can wait for.
pub(crate) fn builder(servers: impl IntoIterator<Item = String>) -> SockIoPoolBuilder {
    SockIoPool::builder()
        .servers(servers)
        .failover(false)
        .connect_timeout(ms(200))
        .operation_timeout(LIMIT)
        .dead_backoff(BACK_OFF, BACK_OFF)
}

/// How long a dead server is left alone.
pub(crate) const BACK_OFF: Duration = ms(50);

/// Ends the threads when the test is over, also by a panic.
struct Stop<'s>(&'s AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Calls all servers from `threads` threads while `during` runs.
pub(crate) fn under_load<R>(
    client: &MemcachedClient,
    threads: usize,
    during: impl FnOnce(&Load<'_>) -> R,
) -> R {
    let servers = client.pool().servers();
    let mut keys = vec![Keys::default(); servers.len()];
    let names = (0..servers.len() * 1000).map(|number| format!("key_{number}"));
    for key in names {
        let home = client.pool().server_of(&key).unwrap();
        let home = servers.iter().position(|server| server == home).unwrap();
        let Keys { values, counters } = &mut keys[home];
        if values.len() < KEYS {
            values.push(key);
        } else if counters.len() < KEYS {
            counters.push(key);
        }
    }
    assert!(keys.iter().all(|keys| keys.counters.len() == KEYS));
    let load = Load {
        client,
        keys,
        tallies: servers.iter().map(|_| Tally::default()).collect(),
        stop: AtomicBool::new(false),
        bare: AtomicU64::new(0),
    };
    thread::scope(|scope| {
        let _stop = Stop(&load.stop);
        let load = &load;
        scope.spawn(|| load.watch_the_machine());
        for number in 0..threads {
            scope.spawn(move || {
                // The others need not wait for a thread that found a fault.
                let _stop = Stop(&load.stop);
                load.call_on_and_on(number);
            });
        }
        during(load)
    })
}

impl Load<'_> {
    /// The figures of one server so far.
    pub(crate) fn of(&self, server: usize) -> Figures {
        self.tallies[server].figures()
    }

    /// The figures of all servers but one.
    pub(crate) fn of_others(&self, server: usize) -> Figures {
        let others = self.tallies.iter().enumerate();
        let others = others.filter(|(other, _)| *other != server);
        others.fold(Figures::default(), |sum, (_, tally)| {
            sum.and(tally.figures())
        })
    }

    /// Waits until a server answers calls, not only one that has waited for it; how long that took.
    #[track_caller]
    pub(crate) fn good_again(&self, server: usize) -> Duration {
        let had = self.of(server).good;
        eventually("the server answers calls", || {
            self.of(server).good >= had + 8
        })
    }

    /// Waits until calls on all servers were answered.
    #[track_caller]
    pub(crate) fn warm(&self) {
        eventually("all servers answer", || {
            self.tallies.iter().all(|tally| tally.figures().good >= 50)
        });
    }

    /// The calls on other servers went on as if nothing had happened.
    #[track_caller]
    pub(crate) fn others_are_unaffected(&self, server: usize) -> Figures {
        let others = self.of_others(server);
        assert!(others.good >= 50, "{others}");
        // Where a bare socket stalls as well, it is not the client.
        let machine = self.machine();
        if machine < STALL {
            let unaffected = others.errors.is_empty() && others.stalled == 0;
            assert!(unaffected, "the other servers: {others}");
        } else {
            println!("a bare socket waited {machine:.1?} for an answer");
        }
        others
    }

    fn machine(&self) -> Duration {
        Duration::from_micros(self.bare.load(Ordering::Relaxed))
    }

    fn watch_the_machine(&self) {
        let server = RealServer::start(&[]);
        let mut stream = TcpStream::connect(server.addr()).unwrap();
        stream.set_nodelay(true).unwrap();
        while !self.stop.load(Ordering::Relaxed) {
            let ((), took) = timed(|| {
                stream.write_all(b"mn\r\n").unwrap();
                stream.read_exact(&mut [0; 4]).unwrap();
            });
            self.bare.fetch_max(micros(took), Ordering::Relaxed);
            thread::sleep(ms(2));
        }
    }

    fn call_on_and_on(&self, thread: usize) {
        for round in thread.. {
            for (server, keys) in self.keys.iter().enumerate() {
                if self.stop.load(Ordering::Relaxed) {
                    return;
                }
                let number = (round / 5) % KEYS;
                let key = &keys.values[number];
                self.call(server, || match round % 5 {
                    0 => self.get(key),
                    1 => self.set(key, round),
                    2 => self.count(&keys.counters[number], server * KEYS + number),
                    3 => self.get_several(&keys.values),
                    _ => self.client.exists(key),
                });
            }
            // Many a round on a loaded machine: the tests run beside others.
            thread::sleep(ms(1));
        }
    }

    fn get(&self, key: &str) -> Result<bool, Error> {
        let value = self.client.get::<String>(key)?;
        Ok(value.is_some_and(|value| belongs(&value, key)))
    }

    fn set(&self, key: &str, round: usize) -> Result<bool, Error> {
        // Short and long ones, so that an answer may be cut anywhere.
        let value = format!("{key}={}", "x".repeat(round % 3 * 9000));
        let stored = self.client.set(key, value, Expiry::never())?;
        assert!(stored, "a set of {key} was not stored");
        Ok(true)
    }

    fn get_several(&self, keys: &[String]) -> Result<bool, Error> {
        let several = self.client.get_multi::<String, _>(keys)?;
        for (key, value) in several.hits() {
            belongs(value, key);
        }
        let all = several.hits().count() == keys.len();
        several.into_complete().map(|_| all)
    }

    fn count(&self, key: &str, number: usize) -> Result<bool, Error> {
        let from = number as u64 * COUNTERS;
        if let Some(count) = self.client.incr(key, 1)? {
            let own = (from..from + COUNTERS).contains(&count);
            assert!(own, "{key} stands at {count}");
            return Ok(true);
        }
        self.client.add(key, from, Expiry::never())?;
        Ok(false)
    }

    /// One call on a server, entered in the books.
    fn call(&self, server: usize, call: impl FnOnce() -> Result<bool, Error>) {
        let (answer, took) = timed(call);
        // Two commands at the most: see `count`.
        in_time(took, 2 * LIMIT + self.machine());
        let tally = &self.tallies[server];
        tally.longest.fetch_max(micros(took), Ordering::Relaxed);
        if took >= STALL && took >= STALL + lost(took) {
            tally.stalled.fetch_add(1, Ordering::Relaxed);
        }
        match answer {
            Ok(found) => {
                tally.good.fetch_add(1, Ordering::Relaxed);
                tally.misses.fetch_add(u64::from(!found), Ordering::Relaxed);
            }
            Err(error) => {
                let name = self.client.pool().servers()[server].name();
                assert_eq!(error.server(), Some(name), "{error}");
                tally.errors().push(error.kind());
            }
        }
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// A value that a key brought must be the key's own, and whole.
#[track_caller]
fn belongs(value: &str, key: &str) -> bool {
    let rest = value
        .strip_prefix(key)
        .and_then(|rest| rest.strip_prefix('='));
    let rest = rest.unwrap_or_else(|| panic!("{key} brought {:.40}", value));
    assert!(
        rest.len() % 9000 == 0 && rest.bytes().all(|byte| byte == b'x'),
        "{key} brought {} bytes",
        value.len()
    );
    true
}

impl Tally {
    fn errors(&self) -> std::sync::MutexGuard<'_, Vec<ErrorKind>> {
        self.errors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn figures(&self) -> Figures {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Figures {
            good: read(&self.good),
            misses: read(&self.misses),
            stalled: read(&self.stalled),
            longest: Duration::from_micros(read(&self.longest)),
            errors: self.errors().clone(),
        }
    }
}

impl Figures {
    fn and(mut self, other: Self) -> Self {
        self.good += other.good;
        self.misses += other.misses;
        self.stalled += other.stalled;
        self.longest = self.longest.max(other.longest);
        self.errors.extend(other.errors);
        self
    }

    /// The errors that are not of these kinds.
    pub(crate) fn errors_beside(&self, kinds: &[ErrorKind]) -> Vec<ErrorKind> {
        let errors = self.errors.iter().copied();
        errors.filter(|kind| !kinds.contains(kind)).collect()
    }
}

/// `812 calls good (3 misses), 4 stalled, longest 301 ms, errors {Timeout: 4}`.
impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut kinds = BTreeMap::new();
        for kind in &self.errors {
            *kinds.entry(format!("{kind:?}")).or_insert(0) += 1;
        }
        write!(
            f,
            "{} calls good ({} misses), {} stalled, longest {:.1?}, errors {kinds:?}",
            self.good, self.misses, self.stalled, self.longest
        )
    }
}
