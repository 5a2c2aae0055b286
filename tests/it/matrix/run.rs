//! One case: its server, its pool, its callers, and what was seen of them.

use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use sockio::{Error, ErrorKind, MemcachedClient, ServerStats, SockIoPool};

use super::commands::{Call, Calls, Command, Told, show};
use super::faults::{Fault, Plan};
use super::modes::{self, Mode, Signals};
use super::oracle::Expected;
use super::reading::MAX_VALUE;
use crate::support::allocations;
use crate::support::fake::{Fake, Seen};
use crate::support::wait::{ms, timed};

/// The deadline of a call that ends by it.
const SHORT: Duration = ms(150);

/// That of a call which leaves a server no time.
const HASTY: Duration = ms(30);

/// That of all others: no machine is so busy that it is reached.
pub(super) const LONG: Duration = ms(10_000);

/// A connection that rested for longer than this is looked at before it is used.
const RESTED: Duration = ms(1050);

pub(super) struct Case<'c> {
    pub(super) command: &'c Command,
    pub(super) fault: &'c Fault,
    pub(super) mode: Mode,
    pub(super) expected: Expected,
}

impl Case<'_> {
    pub(super) fn limit(&self) -> Duration {
        match self.fault.plan {
            Plan::Hasty(_) => HASTY,
            _ if self.expected.times_out => SHORT,
            _ => LONG,
        }
    }
}

/// What was seen.
#[derive(Debug)]
pub(super) struct Observed {
    pub(super) told: Vec<Told>,
    pub(super) took: Duration,
    /// Whether the server had come to the fault by then.
    pub(super) reached: bool,
    /// The bytes that the calling thread asked of the heap.
    pub(super) asked: usize,
    pub(super) waiter: Option<Told>,
    /// How long the second caller took.
    pub(super) waited: Duration,
    /// How long the connection had rested before the call, at the most.
    pub(super) rested: Duration,
    /// Calls on a connection to which bytes came that nobody asked for.
    pub(super) poisoned: Vec<Told>,
    pub(super) died: bool,
    pub(super) next: Option<Told>,
    /// Busy and waiting when all calls are over; idle, busy and waiting after the end of the pool.
    pub(super) left: (usize, usize),
    pub(super) ended: (usize, usize, usize),
    pub(super) open: usize,
    pub(super) seen: Vec<Seen>,
}

struct Ran {
    told: Vec<Told>,
    took: Duration,
    reached: bool,
    asked: usize,
}

/// Runs a case. Panics of callers come out of it.
pub(super) fn run(case: &Case<'_>) -> Observed {
    let signals = Signals::default();
    let Case {
        command,
        fault,
        mode,
        ..
    } = case;
    let plan = &fault.plan;
    let mut fake = modes::server(command, plan, *mode, &signals);
    let pool = SockIoPool::builder()
        .servers([fake.addr()])
        .initial_conn(0)
        .min_conn(0)
        .max_conn(1)
        .max_open(1)
        .max_value_len(MAX_VALUE as usize)
        .socket_timeout(LONG)
        .dead_backoff(ms(20), ms(20))
        .combine(command.combine)
        .build()
        .expect("a pool");
    let client = MemcachedClient::new(pool.clone()).with_timeout(LONG);
    let begin = Instant::now();
    if modes::is_warmed(command, plan, *mode) {
        assert_eq!(get(&client, "warm"), right("warm"));
    }
    match plan {
        Plan::Before(_) if *mode != Mode::Fresh => {
            until("the connection has ended", || fake.open() == 0);
        }
        Plan::Gone => fake.down(),
        _ => {}
    }
    let rested = begin.elapsed();
    let (ran, second) = call(case, &client, &fake, &signals);
    let (waiter, waited) = second.unzip();
    let died = stats(&pool).dead_until.is_some();
    if matches!(plan, Plan::Refused | Plan::Gone) {
        fake.up();
    }
    let poisoned = poisoned(case, &client, &signals);
    signals.over.raise();
    let next = (!matches!(plan, Plan::Hang)).then(|| next(&client));
    let quiet = || {
        let stats = stats(&pool);
        (stats.busy, stats.waiting)
    };
    let _ = holds_soon(|| quiet() == (0, 0));
    let left = quiet();
    pool.shutdown();
    let stats = stats(&pool);
    let ended = (stats.idle, stats.busy, stats.waiting);
    let _ = holds_soon(|| fake.open() == 0);
    Observed {
        told: ran.told,
        took: ran.took,
        reached: ran.reached || matches!(plan, Plan::Hang | Plan::NeverReads),
        asked: ran.asked,
        waiter,
        waited: waited.unwrap_or_default(),
        rested,
        poisoned,
        died,
        next,
        left,
        ended,
        open: fake.open(),
        seen: fake.seen(),
    }
}

fn call(
    case: &Case<'_>,
    client: &MemcachedClient,
    fake: &Fake,
    signals: &Signals,
) -> (Ran, Option<(Told, Duration)>) {
    let hasty = client.clone().with_timeout(case.limit());
    let waiting = || stats(client.pool()).waiting;
    thread::scope(|scope| match &case.command.calls {
        Calls::One(call) => {
            let first = scope.spawn(|| ran(*call, &hasty, signals));
            if case.mode != Mode::Contended {
                return (join(first), None);
            }
            let warmed = modes::is_warmed(case.command, &case.fault.plan, case.mode);
            let asked = usize::from(warmed) + case.command.requests;
            let holds = || match &case.fault.plan {
                Plan::Reply(..) | Plan::Hasty(_) | Plan::Tail(_) => {
                    fake.seen()[0].requests.len() >= asked
                }
                Plan::NeverReads => stats(client.pool()).busy == 1,
                _ => true,
            };
            until("it is asked", || first.is_finished() || holds());
            let second = scope.spawn(|| timed(|| get(client, "waiter")));
            until("both have come", || {
                first.is_finished() || second.is_finished() || waiting() == 1
            });
            signals.waits.raise();
            (join(first), Some(second.join().expect("the second caller")))
        }
        Calls::Shared(calls) => {
            scope.spawn(|| assert_eq!(get(client, "held"), right("held")));
            until("the connection is in use", || fake.count("get held") == 1);
            let hasty = &hasty;
            let members = calls.iter().enumerate().map(|(number, call)| {
                let member = scope.spawn(move || ran(*call, hasty, signals));
                until("it waits", || member.is_finished() || waiting() > number);
                member
            });
            let members: Vec<_> = members.collect();
            signals.waits.raise();
            let all = members.into_iter().map(join);
            let both = all.reduce(|one, other| Ran {
                told: [one.told, other.told].concat(),
                took: one.took.max(other.took),
                reached: one.reached && other.reached,
                asked: one.asked.max(other.asked),
            });
            (both.expect("two members"), None)
        }
    })
}

fn join<R>(thread: ScopedJoinHandle<'_, R>) -> R {
    match thread.join() {
        Ok(returned) => returned,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

fn ran(call: Call, client: &MemcachedClient, signals: &Signals) -> Ran {
    allocations::begin();
    let start = Instant::now();
    let told = call(client);
    let took = start.elapsed();
    Ran {
        told,
        took,
        reached: signals.sent.is_raised(),
        asked: allocations::asked().bytes,
    }
}

/// What comes of a connection that nobody has looked at since bytes came to it, and then of one that rested.
fn poisoned(case: &Case<'_>, client: &MemcachedClient, signals: &Signals) -> Vec<Told> {
    if !matches!(case.fault.plan, Plan::Tail(_)) {
        return Vec::new();
    }
    signals.over.raise();
    until("the bytes were sent", || signals.sent.is_raised());
    let mut told = Vec::new();
    if case.mode == Mode::Pooled {
        told.push(get(client, "next"));
    }
    if case.mode != Mode::Fresh {
        told.push(get(client, "again"));
    }
    thread::sleep(RESTED);
    told
}

/// The next command: it may find the server dead, for a while.
fn next(client: &MemcachedClient) -> Told {
    let mut told = get(client, "next");
    let _ = holds_soon(|| {
        let lives = told != Told::Fault(ErrorKind::NoServer, None);
        if !lives {
            told = get(client, "next");
        }
        lives
    });
    told
}

pub(super) fn get(client: &MemcachedClient, key: &str) -> Told {
    match client.get::<String>(key) {
        Ok(value) => Told::Answer(show(value)),
        Err(error) => Told::Fault(error.kind(), cause(&error)),
    }
}

fn cause(error: &Error) -> Option<ErrorKind> {
    let cause = std::error::Error::source(error)?;
    cause.downcast_ref::<Error>().map(Error::kind)
}

/// A connection without a fault gives each key itself as its value.
pub(super) fn right(key: &str) -> Told {
    Told::Answer(show(Some(key)))
}

fn stats(pool: &SockIoPool) -> ServerStats {
    pool.stats().remove(0)
}

fn holds_soon(mut holds: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while !holds() {
        if start.elapsed() > LONG {
            return false;
        }
        thread::sleep(ms(2));
    }
    true
}

#[track_caller]
fn until(what: &str, holds: impl FnMut() -> bool) {
    assert!(holds_soon(holds), "never came true: {what}");
}
