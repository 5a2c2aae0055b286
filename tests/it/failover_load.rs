//! Three real servers of different weights, one of which is killed and started again, twenty times, under load.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use sockio::{ErrorKind, Expiry, MemcachedClient, SockIoPool, SockIoPoolBuilder};

use crate::support::RealServer;
use crate::support::random::Random;
use crate::support::wait::{MARGIN, eventually, in_time, lost, ms, timed};

const CYCLES: usize = 20;
const THREADS: usize = 16;
const LIMIT: Duration = ms(1000);
const BACK_OFF: Duration = ms(60);

/// The number of the server that a key lives on while all are up.
fn home(pool: &SockIoPool, key: &str) -> usize {
    let server = pool.server_of(key).unwrap();
    let mut servers = pool.servers().iter();
    servers.position(|other| other == server).unwrap()
}

fn is_dead(pool: &SockIoPool, server: usize) -> bool {
    pool.stats()[server].dead_until.is_some()
}

/// A value that names its key.
fn value(key: &str, number: u64) -> String {
    format!("{key}={number}")
}

/// Three servers, the client of all, and one of each alone to look there.
struct Fleet {
    servers: [RealServer; 3],
    client: MemcachedClient,
    alone: [MemcachedClient; 3],
}

/// What the callers saw.
#[derive(Default)]
struct Seen {
    stop: AtomicBool,
    calls: AtomicUsize,
    failed: Mutex<Vec<Failed>>,
    longest: Mutex<Duration>,
    wrong: Mutex<Vec<String>>,
}

/// A call that failed.
#[derive(Clone, Debug)]
struct Failed {
    home: usize,
    kind: ErrorKind,
    begin: Instant,
    end: Instant,
}

/// A server that was down.
#[derive(Debug)]
struct Outage {
    server: usize,
    begin: Instant,
    /// When it was seen to be good again.
    end: Instant,
}

impl Outage {
    /// Whether a call may have failed because of it.
    fn explains(&self, failed: &Failed) -> bool {
        failed.home == self.server && failed.end >= self.begin && failed.begin <= self.end
    }
}

impl Fleet {
    fn start(set: impl FnOnce(SockIoPoolBuilder) -> SockIoPoolBuilder) -> Self {
        let servers = [0; 3].map(|_| RealServer::start(&[]));
        let builder = SockIoPool::builder()
            .servers(servers.iter().map(RealServer::addr))
            .weights([1, 2, 3])
            .max_conn(THREADS)
            .initial_conn(THREADS / 2)
            .operation_timeout(LIMIT)
            .dead_backoff(BACK_OFF, BACK_OFF);
        let client = MemcachedClient::new(set(builder).build().unwrap());
        let alone = servers.each_ref().map(|server| {
            let pool = SockIoPool::builder().servers([server.addr()]);
            MemcachedClient::new(pool.initial_conn(0).build().unwrap())
        });
        Self {
            servers,
            client,
            alone,
        }
    }

    /// So many keys that live on one of these servers, of which the callers know nothing.
    fn probes(&self, cycle: usize, homes: &[usize]) -> Vec<String> {
        let keys = (0..).map(|number| format!("probe:{cycle}:{number}"));
        let pool = self.client.pool();
        let keys = keys.filter(|key| homes.contains(&home(pool, key)));
        keys.take(10).collect()
    }

    /// Each key is stored where it is said to be, and nowhere else.
    fn stores_at(&self, server: usize, keys: &[String]) {
        for key in keys {
            let text = value(key, 0);
            self.client.set(&**key, &*text, Expiry::never()).unwrap();
            assert_eq!(self.client.get(&**key).unwrap().as_ref(), Some(&text));
            let there = |alone: &MemcachedClient| alone.get::<String>(&**key).unwrap().is_some();
            let mut expected = [false; 3];
            expected[server] = true;
            assert_eq!(self.alone.each_ref().map(there), expected, "{key}");
        }
    }
}

impl Seen {
    /// One caller reads and writes until all is over.
    fn load(&self, client: &MemcachedClient, mut random: Random) {
        while !self.stop.load(Ordering::Relaxed) {
            let key = format!("key:{}", random.below(300));
            let number = random.number();
            let begin = Instant::now();
            let (answer, took) = timed(|| match number % 2 {
                0 => client.get::<String>(&*key),
                _ => client
                    .set(&*key, value(&key, number), Expiry::never())
                    .map(|_| None),
            });
            self.calls.fetch_add(1, Ordering::Relaxed);
            let mut longest = self.longest.lock().unwrap();
            *longest = longest.max(took);
            drop(longest);
            let mut wrong = self.wrong.lock().unwrap();
            if took > LIMIT + MARGIN && took > LIMIT + MARGIN + lost(took) {
                wrong.push(format!("a call of {took:?}"));
            }
            match answer {
                Ok(Some(found)) if !found.starts_with(&value(&key, 0)[..=key.len()]) => {
                    wrong.push(format!("{key} is {found}"));
                }
                Ok(_) => {}
                Err(error) => {
                    self.failed.lock().unwrap().push(Failed {
                        home: home(client.pool(), &key),
                        kind: error.kind(),
                        begin,
                        end: begin + took,
                    });
                }
            }
            drop(wrong);
            thread::sleep(ms(8));
        }
    }

    fn failed(&self) -> usize {
        self.failed.lock().unwrap().len()
    }
}

/// Runs `cycles` while the callers load the fleet, and returns what they saw; no call was too long and no value wrong.
fn under_load(
    name: &str,
    fleet: &mut Fleet,
    seed: u64,
    cycles: impl FnOnce(&mut Fleet, &Seen),
) -> Seen {
    let seen = Seen::default();
    let client = fleet.client.clone();
    thread::scope(|scope| {
        for number in 0..THREADS as u64 {
            let (seen, client) = (&seen, &client);
            scope.spawn(move || seen.load(client, Random::of(seed, &[number])));
        }
        // A cycle that fails must not leave the callers running.
        let stop = StopOnDrop(&seen.stop);
        thread::sleep(ms(100));
        cycles(fleet, &seen);
        drop(stop);
    });
    let calls = seen.calls.load(Ordering::Relaxed);
    println!(
        "{name}: {CYCLES} cycles, {calls} calls of {THREADS} threads, {} failed, the longest {:.1?}",
        seen.failed(),
        seen.longest.lock().unwrap(),
    );
    let wrong = seen.wrong.lock().unwrap();
    assert!(wrong.is_empty(), "{:?}", &wrong[..wrong.len().min(5)]);
    drop(wrong);
    assert!(calls > 1000, "{calls}");
    let stats = client.pool().stats();
    assert!(
        stats.iter().all(|stats| stats.busy + stats.waiting == 0),
        "{stats:?}"
    );
    seen
}

struct StopOnDrop<'s>(&'s AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    now.as_nanos() as u64
}

#[test]
fn a_server_that_comes_back_has_its_keys_within_one_back_off() {
    let seed = seed();
    println!("seed {seed}");
    let mut random = Random::of(seed, &[1000]);
    let mut fleet = Fleet::start(|builder| builder);
    let mut outages = Vec::new();
    let mut longest_back = Duration::ZERO;
    let seen = under_load("failback", &mut fleet, seed, |fleet, _| {
        for cycle in 0..CYCLES {
            let server = random.below(3) as usize;
            let begin = Instant::now();
            fleet.servers[server].kill();
            let pool = fleet.client.pool().clone();
            eventually("it is dead", || is_dead(&pool, server));
            thread::sleep(ms(random.between(0, 150)));
            fleet.servers[server].restart();
            let back = eventually("it is good again", || !is_dead(&pool, server));
            in_time(back, BACK_OFF);
            longest_back = longest_back.max(back);
            let end = Instant::now();
            outages.push(Outage { server, begin, end });
            fleet.stores_at(server, &fleet.probes(cycle, &[server]));
            thread::sleep(ms(random.between(0, 100)));
        }
    });
    println!("failback: good again {longest_back:.1?} after a restart at the latest");
    let failed = seen.failed.into_inner().unwrap();
    // No key of another server has had any of it.
    for failed in &failed {
        let broken = matches!(failed.kind, ErrorKind::Ambiguous | ErrorKind::Connection);
        let explained = outages.iter().any(|outage| outage.explains(failed));
        assert!(broken && explained, "{failed:?} {outages:?}");
    }
    // A call for each connection that broke: no thread holds two.
    for outage in &outages {
        let count = failed.iter().filter(|failed| outage.explains(failed));
        assert!(count.count() <= THREADS, "{outage:?} {failed:?}");
    }
}

#[test]
fn without_failback_keys_stay_where_they_went() {
    /// The only one that is never killed.
    const SURVIVOR: usize = 2;
    let seed = seed();
    println!("seed {seed}");
    let mut random = Random::of(seed, &[1000]);
    let mut fleet = Fleet::start(|builder| builder.failback(false));
    let mut probes = Vec::new();
    let mut out = [false; 3];
    under_load("no failback", &mut fleet, seed, |fleet, seen| {
        for cycle in 0..CYCLES {
            // The first two are one of each.
            let server = match cycle {
                0 | 1 => cycle,
                _ => random.below(2) as usize,
            };
            let (before, connects) = (seen.failed(), fleet.client.pool().stats());
            fleet.servers[server].kill();
            let pool = fleet.client.pool().clone();
            eventually("it is dead", || is_dead(&pool, server));
            thread::sleep(ms(random.between(0, 100)));
            fleet.servers[server].restart();
            thread::sleep(2 * BACK_OFF);
            assert!(is_dead(&pool, server), "it came back");
            let failed = seen.failed() - before;
            if out[server] {
                // Nobody had anything to do with it.
                let now = &fleet.client.pool().stats()[server];
                assert_eq!(
                    (failed, now.connects, now.connect_failures),
                    (
                        0,
                        connects[server].connects,
                        connects[server].connect_failures
                    )
                );
            } else {
                assert!(failed <= THREADS, "{failed}");
            }
            out[server] = true;
            if cycle >= 1 {
                let keys = fleet.probes(cycle, &[0, 1]);
                fleet.stores_at(SURVIVOR, &keys);
                probes.extend(keys);
            }
        }
    });
    assert_eq!(out, [true, true, false]);
    for key in &probes {
        let found = fleet.client.get::<String>(&**key).unwrap();
        assert_eq!(found, Some(value(key, 0)));
    }
    assert!(probes.len() >= 100);
}
