//! The maintenance thread: looks after all servers, ends what hangs, sleeps until the next thing is due. It never blocks on a server.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use crate::clock::Moment;

use crossbeam_channel::Receiver;

use super::Inner;
use super::gate::Gate;
use super::host::{Host, Pooled};
use super::upkeep::{Aging, Tended, Upkeep};
use crate::error::{Error, Result};
use crate::sock::{Dial, Progress, RESTED, Stream, Watch};

/// What the maintenance thread is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// Something is to do: look at everything.
    Look,
    Stop,
}

/// While connects are under way: std offers no way to wait for a socket, so they are asked, soon at first.
const FIRST_ASK: Duration = Duration::from_micros(200);
const LAST_ASK: Duration = Duration::from_millis(10);

/// When the thread looks again after a panic.
const AFTER_PANIC: Duration = Duration::from_millis(100);

/// Opens the initial connections of all servers at the same time and waits until each is open or has failed.
pub(crate) fn open_initial(inner: &Inner) {
    let mut upkeeps = upkeeps(inner);
    for (host, upkeep) in inner.hosts.iter().zip(&mut upkeeps) {
        upkeep.open(host, inner.settings.initial_conn);
    }
    let mut pause = FIRST_ASK;
    while go_on(inner, &mut upkeeps) {
        thread::sleep(pause);
        pause = (pause * 2).min(LAST_ASK);
    }
}

/// The body of the thread.
pub(crate) fn run(inner: Arc<Inner>, calls: Receiver<Call>) {
    let mut work = Maintenance::new(&inner);
    let look = || {
        // A logger of the program's may panic: that must not be the end of all maintenance. The panic hook has told of it.
        catch_unwind(AssertUnwindSafe(|| work.look(&inner)))
            .unwrap_or_else(|_| Moment::now() + AFTER_PANIC)
    };
    // A time that is up is a call to look; where nobody is left to call, the pool is gone.
    keep_looking(&inner.watch, look, |next| {
        match calls.recv_timeout(next.since(Moment::now())) {
            Ok(_) if inner.ended.load(Relaxed) => Call::Stop,
            Ok(call) => call,
            Err(error) if error.is_timeout() => Call::Look,
            Err(_) => Call::Stop,
        }
    });
    for (host, upkeep) in inner.hosts.iter().zip(&mut work.upkeeps) {
        upkeep.give_up(host);
    }
    inner.watch.close();
    if is_needed(&inner) {
        let rest = Arc::clone(&inner);
        let last = thread::Builder::new().name("sockio-last".into());
        if last.spawn(move || see_out(&rest)).is_err() {
            see_out(&inner);
        }
    }
}

/// After the end of the pool: ends in time what is under way and no timer can end. Nobody waits for it.
fn see_out(inner: &Inner) {
    while is_needed(inner) {
        let look = || {
            for host in &inner.hosts {
                end_overdue(inner, host, Moment::now());
            }
        };
        let _ = catch_unwind(AssertUnwindSafe(look));
        thread::sleep(LAST_ASK);
    }
}

/// Whether a read is under way that no timer can end.
fn is_needed(inner: &Inner) -> bool {
    let mut needed = false;
    for host in &inner.hosts {
        host.for_each_line(|line| {
            needed |= line.loan().is_some_and(|(_, must_end)| must_end.is_some());
        });
    }
    needed
}

/// Looks, and again at the moment that `look` names, or when `hear`, which waits until then, is called sooner.
pub(super) fn keep_looking(
    watch: &Watch,
    mut look: impl FnMut() -> Moment,
    mut hear: impl FnMut(Moment) -> Call,
) {
    loop {
        watch.begin_look();
        let next = look();
        watch.will_look(next);
        if hear(next) == Call::Stop {
            return;
        }
    }
}

struct Maintenance {
    upkeeps: Vec<Upkeep<Host>>,
    next_pass: Moment,
    ask_again: Duration,
}

impl Maintenance {
    fn new(inner: &Inner) -> Self {
        Self {
            upkeeps: upkeeps(inner),
            next_pass: Moment::now() + inner.settings.maint_sleep,
            ask_again: FIRST_ASK,
        }
    }

    /// Does what is due, and says when to look next.
    fn look(&mut self, inner: &Inner) -> Moment {
        let now = Moment::now();
        let passes = now >= self.next_pass;
        if passes {
            self.next_pass = now + inner.settings.maint_sleep;
        }
        for (host, upkeep) in inner.hosts.iter().zip(&mut self.upkeeps) {
            if passes {
                upkeep.pass(host, now);
            }
            upkeep.begin_due(host, now);
        }
        let under_way = go_on(inner, &mut self.upkeeps);
        // Asked for at the end: a connect that failed just now has put off the next try.
        let mut next = self.next_pass;
        for (host, upkeep) in inner.hosts.iter().zip(&self.upkeeps) {
            next = next.min(upkeep.next_try(host).unwrap_or(next));
            next = next.min(end_overdue(inner, host, now));
            next = next.min(release_buffers(host, now).unwrap_or(next));
        }
        if under_way {
            next = next.min(now + self.ask_again);
            self.ask_again = (self.ask_again * 2).min(LAST_ASK);
        } else {
            self.ask_again = FIRST_ASK;
        }
        next
    }
}

fn upkeeps(inner: &Inner) -> Vec<Upkeep<Host>> {
    let new = |_| Upkeep::new(Arc::clone(&inner.settings));
    inner.hosts.iter().map(new).collect()
}

/// Goes on with the connects of all servers; whether any is left.
fn go_on(inner: &Inner, upkeeps: &mut [Upkeep<Host>]) -> bool {
    let now = Moment::now();
    let each = inner.hosts.iter().zip(upkeeps);
    each.fold(false, |left, (host, upkeep)| {
        upkeep.go_on(host, now) || left
    })
}

impl Tended for Host {
    type Connection = Box<Pooled>;
    type Dial = Dial;
    type Socket = Stream;

    fn name(&self) -> &str {
        self.addr().name()
    }

    fn gate(&self) -> &Gate<Box<Pooled>> {
        self.gate()
    }

    fn takes_more(&self) -> bool {
        self.takes_more()
    }

    fn dial(&self, verify: bool) -> Result<Dial> {
        Dial::begin(self.addr(), self.socket_settings(), verify)
    }

    fn go_on(&self, dial: &mut Dial, now: Moment) -> Option<Result<Stream>> {
        match dial.poll(now) {
            Progress::Pending => None,
            Progress::Connected(stream) => Some(Ok(stream)),
            Progress::Failed(error) => Some(Err(error)),
        }
    }

    fn adopt(&self, stream: Stream) -> Box<Pooled> {
        self.adopt(stream)
    }

    fn connect_failed(&self, error: Error) -> Error {
        self.connect_failed(error)
    }

    fn count_evicted(&self, count: usize) {
        self.count_evicted(count);
    }
}

impl Aging for Box<Pooled> {
    fn rested(&self, now: Moment) -> Duration {
        (**self).rested(now)
    }

    fn is_due_to_retire(&self, now: Moment) -> bool {
        (**self).is_due_to_retire(now)
    }
}

/// Shuts down connections that are held for longer than `max_busy`, and reads that no timer can end. Says when to look next.
fn end_overdue(inner: &Inner, host: &Host, now: Moment) -> Moment {
    let mut next = now + inner.settings.max_busy;
    host.for_each_line(|line| {
        let Some((lent_at, must_end)) = line.loan() else {
            return;
        };
        let mut end = lent_at + inner.settings.max_busy;
        if let Some(must_end) = must_end {
            end = end.min(must_end);
        }
        if end <= now {
            if line.cut(lent_at) {
                log::warn!(
                    "{}: a connection was held for too long and has been shut down",
                    host.addr().name()
                );
            }
        } else {
            next = next.min(end);
        }
    });
    next
}

/// Takes the buffers of connections that rest; says when the next one will have rested.
fn release_buffers(host: &Host, now: Moment) -> Option<Moment> {
    let mut next = None;
    let picked = host.gate().pick_idle(|_, connection| {
        if connection.io.has_buffers() {
            if connection.rested(now) > RESTED {
                connection.io.release_buffers();
            } else {
                next = Some(now + RESTED);
            }
        }
        false
    });
    debug_assert!(picked.is_empty());
    if next.is_none() && host.gate().occupancy().open > host.gate().occupancy().idle {
        Some(now + 2 * RESTED)
    } else {
        next
    }
}
