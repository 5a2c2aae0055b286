//! One bad server among four, which drips, hangs, is killed or cannot be reached: what it costs those who need it, and the others.

use std::io::{Read, Write};
use std::iter;
use std::net::TcpStream;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use sockio::{ErrorKind, Expiry, MemcachedClient, SockIoPool, SockIoPoolBuilder};

use crate::support::RealServer;
#[cfg(target_os = "linux")]
use crate::support::fake::Fake;
use crate::support::proxy::{Due, Fault, Plan, Proxy};
use crate::support::wait::{MARGIN, eventually, in_time, lost, ms, stays, timed, turn};

/// The time of a call.
const LIMIT: Duration = ms(300);

/// The number of the bad one.
const BAD: usize = 3;

fn keys() -> Vec<String> {
    (0..40).map(|number| format!("key_{number}")).collect()
}

/// The number of the server that a key lives on.
fn home(client: &MemcachedClient, key: &str) -> usize {
    let pool = client.pool();
    let server = pool.server_of(key).unwrap();
    let mut servers = pool.servers().iter();
    servers.position(|other| other == server).unwrap()
}

fn is_dead(client: &MemcachedClient) -> bool {
    client.pool().stats()[BAD].dead_until.is_some()
}

fn build(builder: SockIoPoolBuilder) -> MemcachedClient {
    let pool = builder.operation_timeout(LIMIT).build().unwrap();
    let client = MemcachedClient::new(pool);
    let at_bad = keys()
        .iter()
        .filter(|key| home(&client, key) == BAD)
        .count();
    assert!((4..=20).contains(&at_bad), "{at_bad}");
    client
}

/// What calls one after the other came to, a get or a set every two milliseconds.
#[derive(Debug, Default)]
struct Figures {
    calls: usize,
    /// The kinds of failed calls and the homes of their keys.
    failed: Vec<(usize, ErrorKind)>,
    /// Those that took too long: the home of their key, and how long, without what the machine lost.
    stalls: Vec<(usize, Duration)>,
    longest: Duration,
    /// The longest of those for keys of the good servers.
    longest_of_others: Duration,
}

impl Figures {
    /// Calls until `end` says so, and adds what they come to.
    fn go_on(&mut self, client: &MemcachedClient, mut ended: impl FnMut() -> bool) {
        let keys = keys();
        while !ended() {
            let key = &keys[self.calls / 2 % keys.len()];
            let (answer, took) = timed(|| match self.calls % 2 {
                0 => client.set(&**key, &**key, Expiry::never()).map(|_| None),
                _ => client.get::<String>(&**key),
            });
            self.calls += 1;
            let home = home(client, key);
            match answer {
                Ok(found) => assert!(found.is_none_or(|found| found == *key)),
                Err(error) => self.failed.push((home, error.kind())),
            }
            // One of the bad server takes all its time, one of another no more than a busy machine adds.
            let without_losses = took.saturating_sub(lost(took));
            if home == BAD && took > LIMIT - ms(25) || without_losses > MARGIN {
                self.stalls.push((home, without_losses));
            }
            self.longest = self.longest.max(without_losses);
            if home != BAD {
                self.longest_of_others = self.longest_of_others.max(without_losses);
            }
            thread::sleep(ms(2));
        }
    }

    fn run(&mut self, client: &MemcachedClient, time: Duration) {
        let start = Instant::now();
        self.go_on(client, || start.elapsed() >= time);
    }

    fn stalled(&self) -> Duration {
        self.stalls.iter().map(|(_, took)| *took).sum()
    }

    /// Prints them; nobody who did not need the bad server has had any of it.
    fn check(&self, name: &str) {
        println!(
            "{name}: {} calls, {} failed, {} stalled for {:.0?} in all; the longest {:.1?}, for the other servers {:.1?}",
            self.calls,
            self.failed.len(),
            self.stalls.len(),
            self.stalled(),
            self.longest,
            self.longest_of_others
        );
        let of_others = |(home, _): &&(usize, ErrorKind)| *home != BAD;
        assert!(
            !self.failed.iter().any(|failed| of_others(&failed)),
            "{self:?}"
        );
        assert!(self.stalls.iter().all(|(home, _)| *home == BAD), "{self:?}");
        assert!(self.calls > 50, "{self:?}");
    }
}

/// Runs a case, and another time where it failed while the machine let servers that have nothing to do answer late.
fn on_a_machine_that_keeps_up(case: impl Fn()) {
    const TRIES: usize = 4;
    let _turn = turn();
    for left in (0..TRIES).rev() {
        let stop = AtomicBool::new(false);
        let (outcome, late) = thread::scope(|scope| {
            let control = scope.spawn(|| longest_round_trip(&stop));
            let outcome = catch_unwind(AssertUnwindSafe(&case));
            stop.store(true, Ordering::Relaxed);
            (outcome, control.join().unwrap())
        });
        match outcome {
            Ok(()) => return,
            Err(_) if left > 0 && late > ms(80) => {
                println!("a bare socket waited for {late:.0?}: once more");
                thread::sleep(ms(500));
            }
            Err(panic) => resume_unwind(panic),
        }
    }
}

/// How long a server of its own took for an answer to a bare socket, at the worst.
fn longest_round_trip(stop: &AtomicBool) -> Duration {
    let server = RealServer::start(&[]);
    let mut stream = TcpStream::connect(server.addr()).unwrap();
    let mut longest = Duration::ZERO;
    while !stop.load(Ordering::Relaxed) {
        let start = Instant::now();
        stream.write_all(b"mn\r\n").unwrap();
        stream.read_exact(&mut [0; 4]).unwrap();
        longest = longest.max(start.elapsed());
        thread::sleep(ms(3));
    }
    longest
}

#[test]
fn one_that_drips_holds_nobody_longer_than_a_deadline() {
    on_a_machine_that_keeps_up(|| {
        let servers = [0; 4].map(|_| RealServer::start(&[]));
        let dripping = Proxy::start(&servers[BAD].addr(), |_| Plan {
            at_accept: None,
            requests: Box::new(iter::empty()),
            replies: Box::new(iter::repeat(Due {
                after: 0,
                before_piece: true,
                fault: Fault::Split(usize::MAX, ms(50)),
            })),
        });
        // The answer to `version` takes 800 ms: it lives again each time, and drips again.
        let addrs = servers[..BAD].iter().map(RealServer::addr);
        let addrs = addrs.chain([dripping.addr()]);
        let builder = SockIoPool::builder().servers(addrs).initial_conn(0);
        let client = build(builder.connect_timeout(ms(3000)));
        let mut figures = Figures::default();
        figures.run(&client, ms(4000));
        figures.check("drips");
        assert!(!figures.stalls.is_empty());
        assert!(figures.longest <= LIMIT + ms(100), "{figures:?}");
        let late = |kind| matches!(kind, ErrorKind::Timeout | ErrorKind::Ambiguous);
        assert!(figures.failed.iter().all(|(_, kind)| late(*kind)));
        assert!(figures.failed.len() <= figures.stalls.len(), "{figures:?}");
    });
}

#[cfg(unix)]
#[test]
fn one_that_hangs_for_four_seconds_stalls_four_calls_at_the_most() {
    on_a_machine_that_keeps_up(|| {
        const BACK_OFF: Duration = ms(1000);
        const CONNECT: Duration = ms(200);
        let servers = [0; 4].map(|_| RealServer::start(&[]));
        let client = build(
            SockIoPool::builder()
                .servers(servers.iter().map(RealServer::addr))
                .connect_timeout(CONNECT)
                .dead_backoff(ms(100), BACK_OFF),
        );
        let mut figures = Figures::default();
        figures.run(&client, ms(200));
        assert_eq!(figures.failed, []);
        servers[BAD].stop_signal();
        figures.run(&client, ms(4000));
        assert!(is_dead(&client));
        servers[BAD].cont_signal();
        let start = Instant::now();
        figures.go_on(&client, || !is_dead(&client) || start.elapsed() > ms(5000));
        let back = start.elapsed();
        println!("hangs: good again {back:.1?} after its end");
        in_time(back, BACK_OFF + CONNECT);
        figures.run(&client, ms(200));
        figures.check("hangs");
        let count = figures.stalls.len();
        assert!((1..=4).contains(&count), "{figures:?}");
        assert!(
            figures.stalled() <= LIMIT * 6 / 5 * count as u32,
            "{figures:?}"
        );
        assert!(figures.failed.len() <= count, "{figures:?}");
    });
}

#[test]
fn one_that_is_killed_costs_a_call_for_each_connection_and_no_dial() {
    on_a_machine_that_keeps_up(|| {
        for failover in [true, false] {
            const CONNECTIONS: usize = 2;
            const BACK_OFF: Duration = ms(400);
            let mut servers = [0; 4].map(|_| RealServer::start(&[]));
            let client = build(
                SockIoPool::builder()
                    .servers(servers.iter().map(RealServer::addr))
                    .initial_conn(CONNECTIONS)
                    .failover(failover)
                    .dead_backoff(ms(100), BACK_OFF),
            );
            let mut figures = Figures::default();
            figures.run(&client, ms(200));
            assert_eq!(figures.failed, []);
            servers[BAD].kill();
            figures.run(&client, ms(1500));
            let dials = client.pool().stats()[BAD].connect_failures;
            servers[BAD].restart();
            let start = Instant::now();
            figures.go_on(&client, || !is_dead(&client) || start.elapsed() > ms(5000));
            let back = start.elapsed();
            in_time(back, BACK_OFF);
            let failed = figures.failed.len();
            figures.run(&client, ms(300));
            assert_eq!(
                figures.failed.len(),
                failed,
                "it is good again: {figures:?}"
            );
            figures.check(&format!("killed, failover {failover}"));
            println!("killed: {dials} dials in vain, good again {back:.1?} after the restart");
            // At 0, 100 and 300 ms, and every 400 ms from there on.
            assert!((2..=8).contains(&dials), "{dials} dials");
            let told = |(_, kind): &&(usize, ErrorKind)| {
                !matches!(kind, ErrorKind::Connect | ErrorKind::NoServer)
            };
            let broken = figures.failed.iter().filter(told).count();
            assert!(broken <= CONNECTIONS, "{figures:?}");
            assert_eq!(figures.stalls, []);
            match failover {
                true => assert_eq!(broken, failed, "{figures:?}"),
                false => assert!(failed > 10 * CONNECTIONS, "{figures:?}"),
            }
        }
    });
}

#[cfg(target_os = "linux")]
#[test]
fn one_that_cannot_be_reached_at_the_start_costs_no_call_anything() {
    on_a_machine_that_keeps_up(|| {
        const CONNECT: Duration = ms(400);
        let fakes = [
            Fake::serving(),
            Fake::serving(),
            Fake::serving(),
            Fake::never_accepting(),
        ];
        let builder = SockIoPool::builder()
            .servers(fakes.iter().map(Fake::addr))
            .connect_timeout(CONNECT);
        let (client, took) = timed(|| build(builder));
        in_time(took, CONNECT);
        let mut figures = Figures::default();
        figures.run(&client, ms(2000));
        figures.check("cannot be reached");
        println!("cannot be reached: built in {took:.1?}");
        assert_eq!(figures.stalls, []);
        assert_eq!(figures.failed, []);
        stays("it is dead", ms(50), || is_dead(&client));
        eventually("it was tried again", || {
            client.pool().stats()[BAD].connect_failures > 1
        });
    });
}
