//! Many callers, real servers, and a network that breaks: each key's history must be that of one copy of it.
//!
//! The network is a proxy in front of each server; what befalls a connection and what a caller asks for come from a seed. Each
//! epoch has keys of its own, so that a history is short enough to be searched. Failover is off: with it a key has one home
//! while its server lives and another while it is dead, and an old value may come back with the first. That is documented
//! (README, "When a server fails") and is no register.
//!
//! `SOCKIO_CHAOS_SECONDS` sets how long it runs, `SOCKIO_CHAOS_SEED` repeats a run.

mod by_hand;
mod faults;
mod history;
mod report;
mod values;
mod workload;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use sockio::{MemcachedClient, SockIoPool, SockIoPoolBuilder};

use crate::support::proxy::Proxy;
use crate::support::random::Random;
use crate::support::wait::{eventually, ms, timed};
use crate::support::{RealServer, child};
use history::check;
use report::Report;
use workload::{Caller, KEYS};

const THREADS: usize = 8;
const SERVERS: usize = 3;

/// Without all features the run is a short one: nothing that it looks at depends on them.
const SECONDS: u64 = if cfg!(feature = "compress") { 60 } else { 6 };

/// An epoch takes a second or two; one that takes so long never ends.
const STUCK: Duration = Duration::from_secs(60);

/// The epochs begun in all phases.
static EPOCHS: AtomicU64 = AtomicU64::new(0);

/// Ends the process when callers do not come back: nobody would be left to say so.
fn watch() {
    thread::spawn(|| {
        let mut last = 0;
        loop {
            thread::sleep(STUCK);
            let now = EPOCHS.load(Ordering::Relaxed);
            if now == last {
                println!("VIOLATION: an epoch does not end");
                std::process::exit(1);
            }
            last = now;
        }
    });
}

#[test]
fn every_key_has_the_history_of_one_copy() {
    if !child::runs_alone("chaos::every_key_has_the_history_of_one_copy") {
        return;
    }
    let number = |name| std::env::var(name).ok().map(|text| text.parse().unwrap());
    let seconds: u64 = number("SOCKIO_CHAOS_SECONDS").unwrap_or(SECONDS);
    let seed = number("SOCKIO_CHAOS_SEED").unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        now.as_nanos() as u64 % 1_000_000_000
    });
    println!("chaos: SOCKIO_CHAOS_SEED={seed} SOCKIO_CHAOS_SECONDS={seconds}");
    let phases: [(&str, fn(SockIoPoolBuilder) -> SockIoPoolBuilder); 5] = [
        ("a connection for each caller", |builder| builder),
        ("two connections for all", |builder| builder.max_conn(2)),
        ("a look at each before it is used", |builder| {
            builder.max_conn(4).alive_check(true)
        }),
        ("shared requests", |builder| {
            builder.max_conn(2).combine(true)
        }),
        ("shared requests on one connection", |builder| {
            builder.max_conn(1).combine(true)
        }),
    ];
    let servers = [0; SERVERS].map(|_| RealServer::start(&["-m", "256"]));
    let mut report = Report::default();
    // The threads and descriptors that stay come before the count: those of the watch over time, here.
    timed(|| ());
    watch();
    for (place, (name, set)) in phases.into_iter().enumerate() {
        let time = Duration::from_secs(seconds) / phases.len() as u32;
        let phase = Phase {
            seed,
            place: place as u64,
            until: Instant::now() + time,
        };
        phase.run(name, set, &servers, &mut report);
    }
    report.print();
    assert!(report.is_good(), "SOCKIO_CHAOS_SEED={seed}");
}

/// One pool and its proxies.
struct Phase {
    seed: u64,
    place: u64,
    until: Instant,
}

impl Phase {
    fn run(
        &self,
        name: &str,
        set: impl FnOnce(SockIoPoolBuilder) -> SockIoPoolBuilder,
        servers: &[RealServer],
        report: &mut Report,
    ) {
        let before = (open_files(), threads());
        let proxies = (0..).zip(servers).map(|(number, server)| {
            let random = Random::of(self.seed, &[self.place, number]);
            Proxy::start(&server.addr(), move |connection| {
                faults::plan(&random, connection)
            })
        });
        let proxies: Vec<_> = proxies.collect();
        let with_proxies = (open_files(), threads());
        let builder = SockIoPool::builder()
            .servers(proxies.iter().map(Proxy::addr))
            .failover(false)
            .retry_writes(false)
            .connect_timeout(ms(200))
            .dead_backoff(ms(2), ms(10));
        let client = MemcachedClient::new(set(builder).build().unwrap());
        let clock = AtomicU64::new(0);
        let mut epoch = 0;
        let start = Instant::now();
        while Instant::now() < self.until {
            EPOCHS.fetch_add(1, Ordering::Relaxed);
            self.epoch(epoch, &client, &clock, report);
            epoch += 1;
        }
        report.phase(
            name,
            epoch,
            start.elapsed(),
            &client.pool().stats(),
            &proxies,
        );
        proxies.iter().for_each(Proxy::calm);
        leaves_nothing(client, &proxies, with_proxies);
        drop(proxies);
        eventually("the proxies leave nothing", || {
            (open_files(), threads()) == before
        });
    }

    /// All callers with a set of keys of its own, and the check of each key.
    fn epoch(&self, epoch: u64, client: &MemcachedClient, clock: &AtomicU64, report: &mut Report) {
        let keys: Vec<_> = (0..KEYS)
            .map(|key| format!("chaos:{}:{epoch}:{key}", self.place))
            .collect();
        let logs = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for number in 0..THREADS {
                let place = [self.place, 1000, epoch, number as u64];
                let random = Random::of(self.seed, &place);
                let caller = Caller::new(number, client, &keys, clock, random);
                let logs = &logs;
                scope.spawn(move || {
                    let log = caller.run();
                    logs.lock().unwrap().push(log);
                });
            }
        });
        let mut histories = vec![Vec::new(); KEYS];
        for log in logs.into_inner().unwrap() {
            for (key, event) in report.take(log) {
                histories[key].push(event);
            }
        }
        for (key, history) in keys.iter().zip(histories) {
            let count = history.len();
            let (verdict, took) = timed(|| check(history));
            report.key(key, count, verdict, took);
        }
    }
}

/// When the calls are over, every connection rests (some of them broken by then); when the pool is shut down, nothing of it is left.
fn leaves_nothing(client: MemcachedClient, proxies: &[Proxy], before: (usize, usize)) {
    let pool = client.pool().clone();
    eventually("nobody holds or awaits a connection", || {
        let stats = pool.stats();
        let resting: usize = stats.iter().map(|stats| stats.idle).sum();
        let open: usize = proxies.iter().map(Proxy::open).sum();
        stats
            .iter()
            .all(|stats| (stats.busy, stats.waiting) == (0, 0) && stats.dead_until.is_none())
            && open <= resting
    });
    pool.shutdown();
    drop((pool, client));
    eventually("no connection is left", || {
        proxies.iter().all(|proxy| proxy.open() == 0)
    });
    eventually("no thread and no descriptor is left", || {
        (open_files(), threads()) == before
    });
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}
