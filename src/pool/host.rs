//! One server of a pool: lends its connections, takes them back, and marks the server dead when it fails.

use std::sync::Arc;
use std::sync::Weak;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::clock::Moment;

use super::combine::Combiner;
use super::dead::{Dead, DeadUntil};
use super::doubt::Doubt;
use super::gate::{Entry, Gate};
use super::lease::Lease;
use super::origin::Origin;
use super::settings::Settings;
use super::stats::ServerStats;
use crate::error::{Error, ErrorKind};
use crate::server::ServerAddr;
use crate::sock::{self, Line, RESTED, Rest, SockIo, SocketSettings, Stream, Watch};
use crate::sync::{self, Mutex};

/// [`RESTED`] in nanoseconds.
const RESTED_NANOS: u64 = RESTED.as_nanos() as u64;

/// A connect or an answer that had less time than this and timed out does not count against the server.
pub(super) const FAIR_TRY: Duration = Duration::from_millis(50);

/// One server.
#[derive(Debug)]
pub(crate) struct Host {
    index: usize,
    addr: ServerAddr,
    pub(super) settings: Arc<Settings>,
    watch: Arc<Watch>,
    origin: Arc<Origin>,
    gate: Gate<Box<Pooled>>,
    /// All open connections, for the maintenance thread.
    lines: Mutex<Vec<Weak<Line>>>,
    /// Whether a caller had to open a connection since the last batch.
    wants_more: AtomicBool,
    pub(super) doubt: Doubt,
    counts: Counts,
    /// Why the server was marked dead, for the errors of those who come while it is.
    cause_of_death: Mutex<Option<String>>,
    /// Where callers may share a request.
    pub(super) combiner: Option<Combiner>,
}

/// A connection and its age.
#[derive(Debug)]
pub(crate) struct Pooled {
    pub(crate) io: SockIo,
    /// When the last operation on it began.
    used_at: Moment,
    retire_at: Option<Moment>,
}

#[derive(Debug, Default)]
pub(super) struct Counts {
    connects: AtomicU64,
    connect_failures: AtomicU64,
    evicted: AtomicU64,
    pub(super) timeouts: AtomicU64,
}

/// Why a server lent no connection.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// It is dead, or could not be reached: nothing was sent, another server may be tried.
    Unavailable(Error),
    /// The operation is over: its time is up, or the pool is shut down.
    Final(Error),
}

/// A permit to open a connection, which comes back if it is not [kept](Self::keep): also when a logger panics.
struct Permit<'h>(&'h Host);

impl Permit<'_> {
    /// The permit goes on with the connection.
    fn keep(self) {
        std::mem::forget(self);
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        if !self.0.is_left() {
            self.0.gate.forfeit();
        }
    }
}

impl Host {
    pub(crate) fn new(
        index: usize,
        addr: ServerAddr,
        settings: Arc<Settings>,
        watch: Arc<Watch>,
        origin: Arc<Origin>,
    ) -> Self {
        let dead = Dead::new(
            settings.dead_start,
            settings.dead_limit,
            settings.failure_limit,
        );
        Self {
            index,
            combiner: settings.combine.then(|| Combiner::new(settings.max_open)),
            gate: Gate::new(settings.max_open, dead),
            addr,
            settings,
            watch,
            origin,
            lines: Mutex::new(Vec::new()),
            wants_more: AtomicBool::new(false),
            doubt: Doubt::default(),
            counts: Counts::default(),
            cause_of_death: Mutex::new(None),
        }
    }

    /// The number of the server, in the order of configuration.
    pub(crate) fn index(&self) -> usize {
        self.index
    }

    pub(crate) fn socket_settings(&self) -> &SocketSettings {
        &self.settings.socket
    }

    pub(crate) fn addr(&self) -> &ServerAddr {
        &self.addr
    }

    pub(crate) fn gate(&self) -> &Gate<Box<Pooled>> {
        &self.gate
    }

    /// Ends it: see [`Gate::close`].
    pub(crate) fn close(&self) {
        drop(self.gate.close());
        if let Some(combiner) = &self.combiner {
            combiner.shut_down();
        }
    }

    /// Closes what this process inherited and rests; what another thread held a lock for at the fork stays open, unused.
    /// Nothing is sent: a socket that another process has as well is only let go of.
    pub(super) fn abandon(&self) {
        drop(self.gate.abandon());
    }

    /// Whether this was found to be another process than the one that its connections belong to.
    pub(super) fn is_left(&self) -> bool {
        self.origin.is_left()
    }

    /// Somebody waited in vain: that may be because this process was forked off, and those he waited for were not.
    pub(super) fn check_process(&self) {
        self.origin.check();
    }

    /// Lends a connection: an idle one, or a new one which the caller opens, or the next one that is free.
    #[inline]
    pub(crate) fn lend(
        &self,
        deadline: Moment,
        now: Moment,
    ) -> std::result::Result<Lease<'_>, Refusal> {
        match self.gate.enter() {
            Entry::Idle(connection) if self.is_usable(&connection, now) => {
                self.lend_idle(connection, deadline, now)
            }
            Entry::Idle(connection) => match self.discard(connection) {
                Some(entry) => self.lend_another(entry, deadline, now),
                None => self.open(deadline),
            },
            entry => self.lend_another(entry, deadline, now),
        }
    }

    #[inline]
    fn lend_idle(
        &self,
        mut connection: Box<Pooled>,
        deadline: Moment,
        now: Moment,
    ) -> std::result::Result<Lease<'_>, Refusal> {
        connection.lend(deadline, now);
        let lease = Lease {
            host: self,
            connection: Some(connection),
            reused: true,
        };
        if self.settings.alive_check {
            return self.check_alive(lease, deadline);
        }
        Ok(lease)
    }

    /// Lends a connection where none rested that is as good as new.
    #[cold]
    fn lend_another(
        &self,
        mut entry: Entry<Box<Pooled>>,
        deadline: Moment,
        mut now: Moment,
    ) -> std::result::Result<Lease<'_>, Refusal> {
        loop {
            match entry {
                Entry::Idle(connection) if self.is_usable(&connection, now) => {
                    return self.lend_idle(connection, deadline, now);
                }
                Entry::Idle(connection) => match self.discard(connection) {
                    Some(next) => entry = next,
                    None => return self.open(deadline),
                },
                Entry::Closed => return Err(Refusal::Final(Error::shutdown())),
                // Asked where it costs next to nothing, and where a child that was forked off would fail or wait in vain.
                _ if self.origin.check() => return self.open(deadline),
                Entry::Permit => {
                    self.ask_for_more();
                    return self.open(deadline);
                }
                Entry::Wait(waiter) => {
                    self.ask_for_more();
                    let limit = deadline.since(now).min(self.settings.wait_timeout);
                    let Some(offer) = self.gate.wait(&waiter, limit) else {
                        Counts::add(&self.counts.timeouts);
                        let max_open = self.settings.max_open;
                        let message = format!(
                            "all {max_open} connections (max_open) were in use for {limit:?}, until the time for waiting was up"
                        );
                        return Err(Refusal::Final(Error::timeout(message).at(self.addr.name())));
                    };
                    entry = offer;
                    now = Moment::now();
                }
                Entry::Dead(dead) => return Err(self.refusal_of_dead(dead, now)),
            }
        }
    }

    /// Closes a connection that broke while it rested, for what may be had in its place; `None` if it was of another process.
    fn discard(&self, connection: Box<Pooled>) -> Option<Entry<Box<Pooled>>> {
        drop(connection);
        if self.is_left() {
            return None;
        }
        Counts::add(&self.counts.evicted);
        Some(self.gate.exchange())
    }

    fn refusal_of_dead(&self, dead: DeadUntil, now: Moment) -> Refusal {
        let cause = sync::lock(&self.cause_of_death).clone().unwrap_or_default();
        let message = if self.settings.failback {
            let left = dead.until.since(now).as_millis();
            format!("the server is marked dead ({cause}); it is tried again in {left} ms")
        } else {
            format!("the server is marked dead ({cause}) and stays out (failback is off)")
        };
        let error = Error::new(ErrorKind::NoServer, message).at(self.addr.name());
        if dead.ejected {
            Refusal::Unavailable(error)
        } else {
            Refusal::Final(error)
        }
    }

    /// After a failure in which nothing was sent: others may be tried, unless the server keeps its keys for now.
    fn refusal_of_failed(&self, error: Error) -> Refusal {
        match self.gate.dead() {
            Some(dead) if !dead.ejected => Refusal::Final(error),
            _ => Refusal::Unavailable(error),
        }
    }

    /// Whether an idle connection is as good as new.
    #[inline]
    fn is_usable(&self, connection: &Pooled, now: Moment) -> bool {
        if connection
            .retire_at
            .is_some_and(|retire_at| retire_at <= now)
            || connection.io.line().was_cut()
        {
            return false;
        }
        let rested = now.nanos_since(connection.used_at) > RESTED_NANOS
            || self.doubt.is_suspect(connection.used_at);
        !rested || (!self.origin.check() && connection.io.look() == Rest::Quiet)
    }

    /// The old clients' `aliveCheck`: a `version` round trip before each use. A connection that fails is replaced.
    #[cold]
    fn check_alive<'h>(
        &'h self,
        mut lease: Lease<'h>,
        deadline: Moment,
    ) -> std::result::Result<Lease<'h>, Refusal> {
        if let Err(error) = lease.io().ping() {
            Counts::add(&self.counts.evicted);
            lease.failed(&error);
            // A server that hangs would let the next connection hang as well.
            if error.is_timeout() {
                return Err(self.refusal_of_failed(error.at(self.addr.name())));
            }
            return lease.reconnect();
        }
        lease.io().begin(deadline, Moment::now());
        Ok(lease)
    }

    /// Opens a connection for a caller who holds a permit. In a process that was forked off he needs none, and the books are
    /// not touched: the connection is closed when it has been used, and the next caller finds a pool of this process.
    fn open(&self, deadline: Moment) -> std::result::Result<Lease<'_>, Refusal> {
        let permit = Permit(self);
        let connection = self.connect(deadline)?;
        permit.keep();
        Ok(Lease {
            host: self,
            connection: Some(connection),
            reused: false,
        })
    }

    pub(super) fn connect(&self, deadline: Moment) -> std::result::Result<Box<Pooled>, Refusal> {
        let time = deadline.since(Moment::now());
        if time.is_zero() {
            let error = Error::timeout("the deadline passed before a connection could be opened");
            return Err(Refusal::Final(error.at(self.addr.name())));
        }
        match sock::connect(&self.addr, &self.settings.socket, deadline) {
            Ok(stream) => {
                let mut connection = self.adopt(stream);
                connection.lend(deadline, Moment::now());
                Ok(connection)
            }
            // An operation with hardly any time left says nothing about the server.
            Err(error)
                if error.is_timeout()
                    && time < FAIR_TRY.min(self.settings.socket.connect_timeout) =>
            {
                Err(Refusal::Final(error.at(self.addr.name())))
            }
            Err(error) => {
                let error = self.connect_failed(error);
                Err(self.refusal_of_failed(error))
            }
        }
    }

    /// Makes a connection of a socket and enters it in the books.
    pub(crate) fn adopt(&self, stream: Stream) -> Box<Pooled> {
        Counts::add(&self.counts.connects);
        let now = Moment::now();
        let io = SockIo::new(stream, self.settings.limits(), Arc::clone(&self.watch));
        if !self.is_left() {
            let mut lines = sync::lock(&self.lines);
            if lines.len() == lines.capacity() {
                lines.retain(|line| line.strong_count() > 0);
            }
            lines.push(Arc::downgrade(io.line()));
        }
        Box::new(Pooled {
            io,
            used_at: now,
            retire_at: self.settings.retire_at(now),
        })
    }

    /// Counts a connect that failed and marks the server dead.
    pub(crate) fn connect_failed(&self, error: Error) -> Error {
        Counts::add(&self.counts.connect_failures);
        let error = error.at(self.addr.name());
        self.mark_dead(&error);
        error
    }

    pub(super) fn mark_dead(&self, error: &Error) {
        if self.is_left() {
            return;
        }
        if let Some((idle, delay)) = self.gate.kill(Moment::now()) {
            drop(idle);
            let now = Moment::now();
            let causes = error.causes();
            *sync::lock(&self.cause_of_death) = Some(causes.clone());
            self.watch.expect(now + delay);
            if let (Some(combiner), Some(dead)) = (&self.combiner, self.gate.dead()) {
                combiner.server_died(&self.refusal_of_dead(dead, now));
            }
            // The logger is the user's: by now nobody depends on what it does.
            let name = self.addr.name();
            log::warn!("{name}: {causes}; the server is marked dead for {delay:?}");
        }
    }

    /// Asks the maintenance thread for the next batch.
    fn ask_for_more(&self) {
        if !self.doubt.refuses_more() && !self.wants_more.swap(true, Ordering::Relaxed) {
            self.watch.expect(Moment::now());
        }
    }

    pub(crate) fn takes_more(&self) -> bool {
        self.wants_more.swap(false, Ordering::Relaxed)
    }

    /// Calls `see` with each open connection.
    pub(crate) fn for_each_line(&self, mut see: impl FnMut(&Line)) {
        let lines = sync::lock(&self.lines).clone();
        lines
            .iter()
            .filter_map(Weak::upgrade)
            .for_each(|line| see(&line));
    }

    /// An operation that waited for another caller's connection ended by its deadline.
    pub(crate) fn count_timeout(&self) {
        Counts::add(&self.counts.timeouts);
    }

    pub(crate) fn count_evicted(&self, count: usize) {
        self.counts
            .evicted
            .fetch_add(count as u64, Ordering::Relaxed);
    }

    pub(crate) fn stats(&self) -> ServerStats {
        let occupancy = self.gate.occupancy();
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        ServerStats {
            server: self.addr.clone(),
            idle: occupancy.idle,
            busy: occupancy.open - occupancy.idle,
            waiting: occupancy.waiting + self.combiner.as_ref().map_or(0, Combiner::waiting),
            dead_until: occupancy.dead.map(|dead| dead.until.instant()),
            connects: read(&self.counts.connects),
            connect_failures: read(&self.counts.connect_failures),
            evicted: read(&self.counts.evicted),
            timeouts: read(&self.counts.timeouts),
        }
    }
}

impl Pooled {
    fn lend(&mut self, deadline: Moment, now: Moment) {
        self.used_at = now;
        self.io.begin(deadline, now);
        self.io.line().lend(now);
    }

    pub(crate) fn rested(&self, now: Moment) -> Duration {
        now.since(self.used_at)
    }

    pub(crate) fn is_due_to_retire(&self, now: Moment) -> bool {
        self.retire_at.is_some_and(|retire_at| retire_at <= now)
    }
}

impl Counts {
    pub(super) fn add(count: &AtomicU64) {
        count.fetch_add(1, Ordering::Relaxed);
    }
}
