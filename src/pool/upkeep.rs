//! The upkeep of one server: its connects under way, how it grows and shrinks, and the one try at a time to revive it.
//! Time and sockets come in as arguments, so that the same code runs in models.

use std::sync::Arc;
use std::time::Duration;

use super::gate::Gate;
use super::growth::{Growth, closing_step};
use super::settings::Settings;
use crate::clock::Moment;
use crate::error::{Error, Result};

/// What upkeep asks of a server.
pub(super) trait Tended {
    type Connection: Aging;
    /// A connect under way.
    type Dial;
    /// What comes of it.
    type Socket;

    fn name(&self) -> &str;

    fn gate(&self) -> &Gate<Self::Connection>;

    /// Whether a caller had to open a connection since this was asked last.
    fn takes_more(&self) -> bool;

    /// Begins a connect. With `verify` the server must also answer.
    fn dial(&self, verify: bool) -> Result<Self::Dial>;

    /// Goes on with a connect without waiting; `None` while it is under way.
    fn go_on(&self, dial: &mut Self::Dial, now: Moment) -> Option<Result<Self::Socket>>;

    fn adopt(&self, socket: Self::Socket) -> Self::Connection;

    /// Marks the server dead, unless it is.
    fn connect_failed(&self, error: Error) -> Error;

    /// So many idle connections are closed.
    fn count_evicted(&self, count: usize);
}

/// A connection that is closed some day.
pub(super) trait Aging {
    fn rested(&self, now: Moment) -> Duration;

    fn is_due_to_retire(&self, now: Moment) -> bool;
}

/// The connects of one server that are under way, and those that have ended and are to be dealt with.
pub(super) struct Upkeep<S: Tended> {
    settings: Arc<Settings>,
    growth: Growth,
    under_way: Vec<(Purpose, S::Dial)>,
    ended: Vec<(Purpose, Result<S::Socket>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// A further connection of a live server; it has a permit.
    More,
    /// The one try to revive a dead server.
    Revive,
}

/// A permit that comes back when it is dropped: also when a logger panics.
struct Returned<'g, T>(&'g Gate<T>);

impl<T> Drop for Returned<'_, T> {
    fn drop(&mut self) {
        self.0.forfeit();
    }
}

impl<S: Tended> Upkeep<S> {
    pub(super) fn new(settings: Arc<Settings>) -> Self {
        Self {
            growth: Growth::new(settings.max_create),
            settings,
            under_way: Vec::new(),
            ended: Vec::new(),
        }
    }

    /// Begins the connects that are due: the next batch, and the try to revive the server.
    pub(super) fn begin_due(&mut self, server: &S, now: Moment) {
        if server.takes_more() {
            let batch = self.growth.next_batch();
            self.open(server, batch);
        }
        if self.next_try(server).is_some_and(|due| due <= now) {
            self.begin(server, Purpose::Revive);
        }
    }

    /// When a dead server is to be tried again, if no try is under way.
    pub(super) fn next_try(&self, server: &S) -> Option<Moment> {
        let until = server.gate().dead()?.until;
        (self.settings.failback && !self.is_reviving()).then_some(until)
    }

    /// What happens once per `maint_sleep`: the pool goes back towards its sizes.
    pub(super) fn pass(&mut self, server: &S, now: Moment) {
        self.growth.reset();
        shrink(&self.settings, server, now);
        let idle = server.gate().occupancy().idle;
        let missing = self.settings.min_conn.saturating_sub(idle);
        self.open(server, missing.saturating_sub(self.under_way.len()));
    }

    /// Starts connects, as many as are wanted and the gate permits.
    pub(super) fn open(&mut self, server: &S, wanted: usize) {
        for _ in 0..server.gate().reserve(wanted) {
            self.begin(server, Purpose::More);
        }
    }

    /// Goes on with all; whether any is left.
    pub(super) fn go_on(&mut self, server: &S, now: Moment) -> bool {
        let ended = &mut self.ended;
        self.under_way.retain_mut(|(purpose, dial)| {
            let Some(end) = server.go_on(dial, now) else {
                return true;
            };
            ended.push((*purpose, end));
            false
        });
        // One by one off the list: a panic in between leaves the others where they are.
        while let Some((purpose, end)) = self.ended.pop() {
            match end {
                Ok(socket) => connected(server, purpose, socket),
                Err(error) => failed(server, purpose, error, now),
            }
        }
        !self.under_way.is_empty()
    }

    /// The end of the pool: what is under way is closed, and its permits come back.
    pub(super) fn give_up(&mut self, server: &S) {
        let under_way = self.under_way.drain(..).map(|(purpose, _)| purpose);
        let ended = self.ended.drain(..).map(|(purpose, _)| purpose);
        let permits = under_way.chain(ended).filter(|p| *p == Purpose::More);
        permits.for_each(|_| server.gate().forfeit());
    }

    fn begin(&mut self, server: &S, purpose: Purpose) {
        match server.dial(purpose == Purpose::Revive) {
            Ok(dial) => self.under_way.push((purpose, dial)),
            Err(error) => self.ended.push((purpose, Err(error))),
        }
    }

    fn is_reviving(&self) -> bool {
        let mut all = self.under_way.iter();
        all.any(|(purpose, _)| *purpose == Purpose::Revive)
    }
}

fn connected<S: Tended>(server: &S, purpose: Purpose, socket: S::Socket) {
    let connection = server.adopt(socket);
    if purpose == Purpose::More {
        return drop(server.gate().put(connection));
    }
    server.gate().revive();
    if server.gate().reserve(1) == 1 {
        drop(server.gate().put(connection));
    }
    log::info!("{}: the server lives again", server.name());
}

fn failed<S: Tended>(server: &S, purpose: Purpose, error: Error, now: Moment) {
    match purpose {
        Purpose::More => {
            let _permit = Returned(server.gate());
            server.connect_failed(error);
        }
        Purpose::Revive => {
            let error = server.connect_failed(error);
            let delay = server.gate().kill_again(now);
            log::debug!("{error}; the server is tried again in {delay:?}");
        }
    }
}

/// Closes, in decreasing steps, idle connections above `max_conn`, and old ones above `min_conn`.
fn shrink<S: Tended>(settings: &Settings, server: &S, now: Moment) {
    let idle = server.gate().occupancy().idle;
    let above_max = closing_step(
        idle.saturating_sub(settings.max_conn),
        settings.closing_divisor,
    );
    let mut old = 0;
    let mut picked_for_number = 0;
    let overdue = server.gate().pick_idle(|left, connection| {
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
    let rested = server.gate().pick_idle(|left, connection| {
        let close =
            step > 0 && left > settings.min_conn && connection.rested(now) > settings.max_idle;
        step -= usize::from(close);
        close
    });
    let closed = overdue.len() + rested.len();
    server.count_evicted(closed);
    if closed > 0 {
        log::debug!("{}: {closed} idle connections closed", server.name());
    }
}
