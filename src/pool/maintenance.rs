//! The maintenance thread: opens batches, closes what is too much, ends what hangs, revives the dead. It never blocks on a server.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use crate::clock::Moment;

use crossbeam_channel::{Receiver, RecvTimeoutError};

use super::Inner;
use super::growth::{Growth, closing_step};
use super::host::{Host, Permit};
use crate::error::{Error, Result};
use crate::sock::{Dial, Progress, RESTED, Stream};

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
    let mut dials = Dials::default();
    for host in &inner.hosts {
        dials.open(host, host.gate().reserve(inner.settings.initial_conn));
    }
    let mut pause = FIRST_ASK;
    while dials.go_on(inner) {
        std::thread::sleep(pause);
        pause = (pause * 2).min(LAST_ASK);
    }
}

/// The body of the thread.
pub(crate) fn run(inner: Arc<Inner>, calls: Receiver<Call>) {
    let mut work = Maintenance::new(&inner);
    loop {
        inner.watch.begin_look();
        // A logger of the program's may panic: that must not be the end of all maintenance. The panic hook has told of it.
        let next = catch_unwind(AssertUnwindSafe(|| work.look(&inner)))
            .unwrap_or_else(|_| Moment::now() + AFTER_PANIC);
        inner.watch.will_look(next);
        let pause = next.since(Moment::now());
        match calls.recv_timeout(pause) {
            Ok(Call::Look) | Err(RecvTimeoutError::Timeout) => {}
            Ok(Call::Stop) | Err(RecvTimeoutError::Disconnected) => {
                return work.dials.give_up(&inner);
            }
        }
    }
}

struct Maintenance {
    dials: Dials,
    growth: Vec<Growth>,
    next_pass: Moment,
    ask_again: Duration,
}

/// The connects under way, and those that have ended and are to be dealt with.
#[derive(Default)]
struct Dials {
    under_way: Vec<(usize, Purpose, Dial)>,
    ended: Vec<(usize, Purpose, Result<Stream>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// A further connection of a live server; it has a permit.
    More,
    /// The one try to revive a dead server.
    Revive,
}

impl Maintenance {
    fn new(inner: &Inner) -> Self {
        let settings = &inner.settings;
        Self {
            dials: Dials::default(),
            growth: vec![Growth::new(settings.max_create); inner.hosts.len()],
            next_pass: Moment::now() + settings.maint_sleep,
            ask_again: FIRST_ASK,
        }
    }

    /// Does what is due, and says when to look next.
    fn look(&mut self, inner: &Inner) -> Moment {
        let now = Moment::now();
        if now >= self.next_pass {
            self.next_pass = now + inner.settings.maint_sleep;
            self.pass(inner, now);
        }
        for (index, host) in inner.hosts.iter().enumerate() {
            if host.takes_more() {
                self.dials
                    .open(host, host.gate().reserve(self.growth[index].next_batch()));
            }
            if self.next_try(inner, host).is_some_and(|due| due <= now) {
                self.dials.begin(host, Purpose::Revive);
            }
        }
        let under_way = self.dials.go_on(inner);
        // Asked for at the end: a connect that failed just now has put off the next try.
        let mut next = self.next_pass;
        for host in &inner.hosts {
            next = next.min(self.next_try(inner, host).unwrap_or(next));
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

    /// What happens once per `maint_sleep`: the pool goes back towards its sizes.
    fn pass(&mut self, inner: &Inner, now: Moment) {
        for (index, host) in inner.hosts.iter().enumerate() {
            self.growth[index].reset();
            shrink(inner, host, now);
            let missing = inner
                .settings
                .min_conn
                .saturating_sub(host.gate().occupancy().idle);
            let under_way = self.dials.count(host);
            let missing = missing.saturating_sub(under_way);
            self.dials.open(host, host.gate().reserve(missing));
        }
    }

    /// When a dead server is to be tried again, if no try is under way.
    fn next_try(&self, inner: &Inner, host: &Host) -> Option<Moment> {
        let until = host.gate().dead()?.until;
        (inner.settings.failback && !self.dials.reviving(host)).then_some(until)
    }
}

impl Dials {
    /// Starts one connect for each of `permits`.
    fn open(&mut self, host: &Host, permits: usize) {
        for _ in 0..permits {
            self.begin(host, Purpose::More);
        }
    }

    fn begin(&mut self, host: &Host, purpose: Purpose) {
        let (index, verify) = (host.index(), purpose == Purpose::Revive);
        match Dial::begin(host.addr(), host.socket_settings(), verify) {
            Ok(dial) => self.under_way.push((index, purpose, dial)),
            Err(error) => self.ended.push((index, purpose, Err(error))),
        }
    }

    fn count(&self, host: &Host) -> usize {
        let is_its = |(index, ..): &&(usize, Purpose, Dial)| *index == host.index();
        self.under_way.iter().filter(is_its).count()
    }

    fn reviving(&self, host: &Host) -> bool {
        let mut all = self.under_way.iter();
        all.any(|(index, purpose, _)| *index == host.index() && *purpose == Purpose::Revive)
    }

    /// Goes on with all; whether any is left.
    fn go_on(&mut self, inner: &Inner) -> bool {
        let now = Moment::now();
        let ended = &mut self.ended;
        self.under_way.retain_mut(|(index, purpose, dial)| {
            let end = match dial.poll(now) {
                Progress::Pending => return true,
                Progress::Connected(stream) => Ok(stream),
                Progress::Failed(error) => Err(error),
            };
            ended.push((*index, *purpose, end));
            false
        });
        // One by one off the list: a panic in between leaves the others where they are.
        while let Some((index, purpose, end)) = self.ended.pop() {
            let host = &inner.hosts[index];
            match end {
                Ok(stream) => connected(host, purpose, stream),
                Err(error) => failed(host, purpose, error),
            }
        }
        !self.under_way.is_empty()
    }

    /// The end of the pool: what is under way is closed, and its permits come back.
    fn give_up(&mut self, inner: &Inner) {
        let under_way = self.under_way.drain(..);
        let all = under_way.map(|(index, purpose, _)| (index, purpose));
        let all = all.chain(
            self.ended
                .drain(..)
                .map(|(index, purpose, _)| (index, purpose)),
        );
        for (index, _) in all.filter(|(_, purpose)| *purpose == Purpose::More) {
            inner.hosts[index].gate().forfeit();
        }
    }
}

fn connected(host: &Host, purpose: Purpose, stream: Stream) {
    let connection = host.adopt(stream);
    if purpose == Purpose::More {
        return drop(host.gate().put(connection));
    }
    host.gate().revive();
    if host.gate().reserve(1) == 1 {
        drop(host.gate().put(connection));
    }
    log::info!("{}: the server lives again", host.addr().name());
}

fn failed(host: &Host, purpose: Purpose, error: Error) {
    match purpose {
        Purpose::More => {
            let _permit = Permit::of(host);
            host.connect_failed(error);
        }
        Purpose::Revive => {
            let error = host.connect_failed(error);
            let delay = host.gate().kill_again(Moment::now());
            log::debug!("{error}; the server is tried again in {delay:?}");
        }
    }
}

/// Closes, in decreasing steps, idle connections above `max_conn`, and old ones above `min_conn`.
fn shrink(inner: &Inner, host: &Host, now: Moment) {
    let settings = &inner.settings;
    let idle = host.gate().occupancy().idle;
    let above_max = closing_step(
        idle.saturating_sub(settings.max_conn),
        settings.closing_divisor,
    );
    let mut old = 0;
    let mut picked_for_number = 0;
    let overdue = host.gate().pick_idle(|left, connection| {
        if connection.is_due_to_retire(now) {
            return true;
        }
        if picked_for_number < above_max {
            picked_for_number += 1;
            return true;
        }
        old += usize::from(connection.rested(now) > settings.max_idle && left > settings.min_conn);
        false
    });
    let mut step = closing_step(
        old.min(idle.saturating_sub(overdue.len() + settings.min_conn)),
        settings.closing_divisor,
    );
    let rested = host.gate().pick_idle(|left, connection| {
        let close =
            step > 0 && left > settings.min_conn && connection.rested(now) > settings.max_idle;
        step -= usize::from(close);
        close
    });
    let closed = overdue.len() + rested.len();
    host.count_evicted(closed);
    if closed > 0 {
        log::debug!("{}: {closed} idle connections closed", host.addr().name());
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
