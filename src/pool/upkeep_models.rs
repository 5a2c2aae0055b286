//! Models of upkeep beside callers: one try at a time revives a server, growth, shrinking and the end lose nothing, and no
//! wake-up is missed. Run under `cfg(loom)`.

use std::sync::Mutex as Notes;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use loom::thread;

use super::dead::Dead;
use super::gate::{Entry, Gate};
use super::gate_models::{Connection, Counted};
use super::maintenance::{Call, keep_looking};
use super::settings::Settings;
use super::upkeep::{Aging, Tended, Upkeep};
use crate::clock::Moment;
use crate::error::{Error, Result};
use crate::sock::Watch;
use crate::sync::{Arc, AtomicBool, Condvar, Mutex, lock};

const FOREVER: Duration = Duration::MAX;

/// The back-off's first delay and its limit, in the ticks of a model's clock.
const START: u64 = 10;
const LIMIT: u64 = 40;

/// When upkeep looks if nothing is due.
const FAR: u64 = 1 << 60;

/// A server with one upkeep. What is of std is no part of the model: it counts and takes notes.
struct Server {
    counted: Counted,
    wants_more: AtomicBool,
    mailbox: Arc<Mailbox>,
    watch: Watch,
    settings: std::sync::Arc<Settings>,
    clock: AtomicU64,
    /// Connects to revive it that will fail before one succeeds.
    refusals: AtomicUsize,
    /// Such connects under way.
    reviving: std::sync::Arc<AtomicUsize>,
    /// When it failed last, and its delays since it lived.
    failed_at: AtomicU64,
    delays: Notes<Vec<u64>>,
    evicted: AtomicUsize,
    made: AtomicUsize,
}

/// Where upkeep hears of callers, as by the channel of a pool: one call in it is enough.
#[derive(Default)]
struct Mailbox {
    mail: Mutex<Mail>,
    changed: Condvar,
}

#[derive(Default)]
struct Mail {
    look: bool,
    /// Callers that are gone.
    gone: usize,
    stop: bool,
}

/// A connect under way; it takes one look more.
struct Dial {
    verify: bool,
    begun: bool,
    reviving: Option<std::sync::Arc<AtomicUsize>>,
}

impl Drop for Dial {
    fn drop(&mut self) {
        if let Some(reviving) = &self.reviving {
            reviving.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Aging for Connection {
    fn rested(&self, _: Moment) -> Duration {
        FOREVER
    }

    fn is_due_to_retire(&self, _: Moment) -> bool {
        false
    }
}

impl Tended for Server {
    type Connection = Connection;
    type Dial = Dial;
    type Socket = Dial;

    fn name(&self) -> &str {
        "a model"
    }

    fn gate(&self) -> &Gate<Connection> {
        &self.counted.gate
    }

    fn takes_more(&self) -> bool {
        self.wants_more.swap(false, Ordering::Relaxed)
    }

    fn dial(&self, verify: bool) -> Result<Dial> {
        if verify {
            let until = self.gate().dead().expect("it is dead").until.number();
            assert!(until <= self.now().number(), "tried too early");
            let under_way = self.reviving.fetch_add(1, Ordering::Relaxed);
            assert_eq!(under_way, 0, "two tries to revive it");
            let mut delays = self.delays.lock().unwrap();
            delays.push(until - self.failed_at.load(Ordering::Relaxed));
        }
        Ok(Dial {
            verify,
            begun: false,
            reviving: verify.then(|| std::sync::Arc::clone(&self.reviving)),
        })
    }

    fn go_on(&self, dial: &mut Dial, now: Moment) -> Option<Result<Dial>> {
        if !std::mem::replace(&mut dial.begun, true) {
            return None;
        }
        let refused = dial.verify
            && self
                .refusals
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                    left.checked_sub(1)
                })
                .is_ok();
        if refused {
            self.failed_at.store(now.number(), Ordering::Relaxed);
            return Some(Err(Error::timeout("refused")));
        }
        if dial.verify {
            // It lives from here on: the delays begin again.
            self.check_delays();
        }
        Some(Ok(Dial {
            verify: dial.verify,
            begun: true,
            reviving: None,
        }))
    }

    fn adopt(&self, _: Dial) -> Connection {
        self.connect()
    }

    fn connect_failed(&self, error: Error) -> Error {
        self.mark_dead();
        error
    }

    fn count_evicted(&self, count: usize) {
        self.evicted.fetch_add(count, Ordering::Relaxed);
    }
}

impl Server {
    fn new(max_open: usize, set: fn(&mut Settings), refusals: usize) -> Self {
        let mailbox: Arc<Mailbox> = Arc::default();
        let waker = Arc::clone(&mailbox);
        let ticks = Duration::from_nanos;
        let mut settings = Settings {
            max_open,
            max_create: 2,
            min_conn: 0,
            ..Settings::default()
        };
        set(&mut settings);
        Self {
            counted: Counted::new(max_open, Dead::new(ticks(START), ticks(LIMIT), 1)),
            wants_more: AtomicBool::new(false),
            watch: Watch::new(move || waker.put(|mail| mail.look = true)),
            mailbox,
            settings: std::sync::Arc::new(settings),
            clock: AtomicU64::new(1),
            refusals: AtomicUsize::new(refusals),
            reviving: std::sync::Arc::default(),
            failed_at: AtomicU64::new(0),
            delays: Notes::default(),
            evicted: AtomicUsize::new(0),
            made: AtomicUsize::new(0),
        }
    }

    fn now(&self) -> Moment {
        Moment::from_number(self.clock.load(Ordering::Relaxed))
    }

    fn connect(&self) -> Connection {
        self.made.fetch_add(1, Ordering::Relaxed);
        self.counted.connect()
    }

    /// As `Host` does it.
    fn mark_dead(&self) {
        let now = self.now();
        if let Some((idle, delay)) = self.gate().kill(now) {
            drop(idle);
            self.failed_at.store(now.number(), Ordering::Relaxed);
            self.watch.expect(now + delay);
        }
    }

    /// As `Host` does it.
    fn ask_for_more(&self) {
        if !self.wants_more.swap(true, Ordering::Relaxed) {
            self.watch.expect(self.now());
        }
    }

    /// One call, which may mark the server dead; whether it had a connection.
    fn call(&self, fails: bool) -> bool {
        let mut entry = self.gate().enter();
        if let Entry::Wait(waiter) = &entry {
            self.ask_for_more();
            entry = self.gate().wait(waiter, FOREVER).expect("an offer");
        }
        let connection = match entry {
            Entry::Idle(connection) => connection,
            Entry::Permit => {
                self.ask_for_more();
                self.connect()
            }
            Entry::Dead(_) | Entry::Closed => return false,
            Entry::Wait(_) => panic!("it waited already"),
        };
        if fails {
            self.mark_dead();
        }
        drop(self.gate().put(connection));
        true
    }

    /// Twice as long each time, up to the limit.
    fn check_delays(&self) {
        let delays = std::mem::take(&mut *self.delays.lock().unwrap());
        let mut expected = START;
        for delay in &delays {
            assert_eq!(*delay, expected, "{delays:?}");
            expected = (expected * 2).min(LIMIT);
        }
    }

    /// The maintenance thread: `passes` times its pass is due at once. Until it is told to stop, or nothing is left to do
    /// and all callers are gone.
    fn tend(&self, mut passes: usize, callers: usize) {
        let mut upkeep = Upkeep::new(std::sync::Arc::clone(&self.settings));
        let look = || {
            let now = self.now();
            if passes > 0 {
                passes -= 1;
                upkeep.pass(self, now);
            }
            upkeep.begin_due(self, now);
            let under_way = upkeep.go_on(self, now);
            match upkeep.next_try(self) {
                _ if under_way || passes > 0 => now,
                Some(due) => due,
                None => Moment::from_number(FAR),
            }
        };
        keep_looking(&self.watch, look, |next| {
            self.mailbox.hear(next.number(), callers, &self.clock)
        });
        upkeep.give_up(self);
    }
}

impl Mailbox {
    fn put(&self, change: impl FnOnce(&mut Mail)) {
        change(&mut lock(&self.mail));
        self.changed.notify_one();
    }

    fn hear(&self, next: u64, callers: usize, clock: &AtomicU64) -> Call {
        let mut mail = lock(&self.mail);
        loop {
            if mail.stop {
                return Call::Stop;
            }
            if std::mem::take(&mut mail.look) {
                return Call::Look;
            }
            if next < FAR {
                clock.fetch_max(next, Ordering::Relaxed);
                return Call::Look;
            }
            if mail.gone == callers {
                return Call::Stop;
            }
            mail = self.changed.wait(mail).unwrap();
        }
    }
}

/// The interleavings of one upkeep and callers, each of whom fails or not, with up to so many preemptions.
fn beside<const N: usize>(
    preemptions: usize,
    passes: usize,
    calls: [bool; N],
    new: fn() -> Server,
    ended: fn(&Server, [bool; N]),
) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.check(move || {
        let server = Arc::new(new());
        let calls = calls.map(|fails| {
            let server = Arc::clone(&server);
            thread::spawn(move || {
                let had = server.call(fails);
                server.mailbox.put(|mail| mail.gone += 1);
                had
            })
        });
        server.tend(passes, N);
        let had = calls.map(|call| call.join().unwrap());
        server.counted.is_at_rest(false);
        ended(&server, had);
    });
}

fn lives(server: &Server) {
    assert!(server.gate().dead().is_none(), "nobody revived it");
    assert!(!server.gate().ejected());
    assert_eq!(server.refusals.load(Ordering::Relaxed), 0);
    server.check_delays();
}

#[test]
fn a_dead_server_is_tried_until_it_lives() {
    beside(
        3,
        0,
        [true],
        || Server::new(1, |_| (), 4),
        |server, had| {
            assert_eq!(had, [true]);
            lives(server);
        },
    );
}

#[test]
fn two_who_find_it_dead_are_one_try_and_one_delay() {
    beside(
        2,
        0,
        [true, true],
        || Server::new(2, |_| (), 0),
        |server, had| {
            assert!(had.contains(&true));
            lives(server);
        },
    );
}

#[test]
fn a_death_beside_one_who_waits() {
    beside(
        2,
        0,
        [true, false],
        || Server::new(1, |_| (), 1),
        |server, had| {
            assert!(had.contains(&true));
            if had[0] {
                lives(server);
            }
        },
    );
}

#[test]
fn growth_beside_callers_keeps_to_the_limit_and_loses_nothing() {
    beside(
        3,
        0,
        [false, false],
        || Server::new(2, |_| (), 0),
        |server, had| {
            assert_eq!(had, [true; 2]);
            let made = server.made.load(Ordering::Relaxed);
            assert!((1..=2).contains(&made), "{made}");
            assert!(!server.wants_more.load(Ordering::Relaxed), "not heard");
        },
    );
}

#[test]
fn shrinking_beside_callers_closes_each_once_and_leaves_enough() {
    beside(
        3,
        2,
        [false, false],
        || {
            let set = |settings: &mut Settings| (settings.min_conn, settings.max_conn) = (1, 1);
            let server = Server::new(3, set, 0);
            for _ in 0..server.gate().reserve(2) {
                drop(server.gate().put(server.connect()));
            }
            server
        },
        |server, had| {
            assert_eq!(had, [true; 2]);
            let count = |count: &AtomicUsize| count.load(Ordering::Relaxed);
            let idle = server.gate().occupancy().idle;
            assert_eq!(idle + count(&server.evicted), count(&server.made));
            assert!(idle >= 1, "fewer than min_conn");
        },
    );
}

/// The end comes from another thread, in whatever upkeep and a caller do.
fn the_end(fails: bool, passes: usize) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let set = |settings: &mut Settings| settings.min_conn = 1;
        let server = Arc::new(Server::new(2, set, 1));
        let upkeep = {
            let server = Arc::clone(&server);
            thread::spawn(move || server.tend(passes, usize::MAX))
        };
        let caller = {
            let server = Arc::clone(&server);
            thread::spawn(move || server.call(fails))
        };
        // As `Handle` does it.
        drop(server.gate().close());
        server.mailbox.put(|mail| mail.stop = true);
        upkeep.join().unwrap();
        caller.join().unwrap();
        server.counted.is_at_rest(true);
        assert_eq!(server.reviving.load(Ordering::Relaxed), 0);
    });
}

#[test]
fn the_end_of_growth_leaves_nothing() {
    the_end(false, 1);
}

#[test]
fn the_end_of_a_dead_server_leaves_nothing() {
    the_end(true, 0);
}
