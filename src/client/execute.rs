//! The one road of every command to one server: find a connection, send, read, and decide about a second try.

use crate::clock::Moment;

use super::MemcachedClient;
use crate::error::{Error, ErrorKind, Result};
use crate::key::WireKey;
use crate::pool::{Host, Lease, Refusal};
use crate::protocol::{Desync, Reply};
use crate::sock::SockIo;

/// Whether a command may be sent a second time when its answer did not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repeat {
    /// It changes nothing.
    Reads,
    /// Twice is the same as once, but it could undo what another client wrote in between: only if the pool says so.
    Overwrites,
    /// Twice is not once.
    Never,
}

/// The time of an operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    /// A look at the clock not long before.
    pub(super) now: Moment,
    pub(super) deadline: Moment,
}

/// What is called once per try with a connection: sends the command and reads the answer.
pub(super) trait Exchange<R>: FnMut(&mut SockIo) -> Result<R> {}
impl<R, F: FnMut(&mut SockIo) -> Result<R>> Exchange<R> for F {}

impl MemcachedClient {
    /// Runs a command on the server of `key`, or where failover leads when that fails before anything was sent.
    #[inline]
    pub(super) fn execute<R>(
        &self,
        key: &WireKey<'_>,
        repeat: Repeat,
        mut exchange: impl Exchange<R>,
    ) -> Result<R> {
        self.find_server(key, |server, call| {
            self.attempt(server, call, repeat, &mut exchange)
        })
    }

    /// Tries the server of `key`, then one after the other where failover leads from those that could not be reached.
    #[inline]
    pub(super) fn find_server<R>(
        &self,
        key: &WireKey<'_>,
        mut attempt: impl FnMut(usize, Call) -> std::result::Result<R, Refusal>,
    ) -> Result<R> {
        let mut call = self.begin();
        let mut server = self.pool.first(key);
        let mut search = None;
        loop {
            match attempt(server, call) {
                Ok(answer) => return Ok(answer),
                Err(Refusal::Final(error)) => return Err(error),
                Err(Refusal::Unavailable(error)) => {
                    let search = search
                        .get_or_insert_with(|| Box::new(self.pool.search(key, call.deadline)));
                    server = search.after(server, error)?;
                    call.now = Moment::now();
                }
            }
        }
    }

    /// Runs a command on a given server.
    pub(super) fn execute_on<R>(
        &self,
        host: &Host,
        repeat: Repeat,
        mut exchange: impl Exchange<R>,
    ) -> Result<R> {
        self.attempt(host.index(), self.begin(), repeat, &mut exchange)
            .map_err(|(Refusal::Final(error) | Refusal::Unavailable(error))| error)
    }

    /// Borrows a connection of a server, and runs a command on it.
    #[inline]
    pub(super) fn attempt<R>(
        &self,
        server: usize,
        call: Call,
        repeat: Repeat,
        exchange: &mut impl Exchange<R>,
    ) -> std::result::Result<R, Refusal> {
        let mut lease = self.pool.hosts()[server].lend(call.deadline, call.now)?;
        let mut open = false;
        loop {
            match exchange(lease.io()) {
                Ok(answer) => return Ok(answer),
                Err(error) => lease = self.second_try(lease, error, repeat, &mut open)?,
            }
        }
    }

    /// An operation begins now.
    #[inline]
    pub(super) fn begin(&self) -> Call {
        self.pool.notice_fork();
        let now = Moment::now();
        Call {
            now,
            deadline: now + self.timeout,
        }
    }

    /// An exchange failed. A connection that had rested in the pool may have been closed by the server in the meantime: if not a
    /// byte of an answer came and the command allows it, it may be sent once more, on the new connection that this returns.
    /// `open` says whether a try has left open what became of the command.
    #[cold]
    pub(super) fn second_try<'p>(
        &self,
        mut lease: Lease<'p>,
        error: Error,
        repeat: Repeat,
        open: &mut bool,
    ) -> std::result::Result<Lease<'p>, Refusal> {
        lease.failed(&error);
        let error = error.at(lease.host().addr().name());
        *open |= leaves_open(&mut lease, repeat);
        // Never a third time: a connection that was opened just now is none that had rested.
        if !self.may_repeat(&mut lease, &error, repeat) {
            return Err(Refusal::Final(outcome(error, *open)));
        }
        match lease.reconnect() {
            // What was sent may have been carried out, whatever becomes of the second try.
            Err(_) if *open => Err(Refusal::Final(error.into_ambiguous())),
            renewed => renewed,
        }
    }

    fn may_repeat(&self, lease: &mut Lease<'_>, error: &Error, repeat: Repeat) -> bool {
        let allowed = match repeat {
            Repeat::Reads => true,
            Repeat::Overwrites => self.pool.retries_writes() || !lease.io().has_written(),
            Repeat::Never => !lease.io().has_written(),
        };
        allowed
            && error.kind() == ErrorKind::Connection
            && lease.is_reused()
            && !lease.io().has_heard()
    }

    /// Tells the handler of an error, and turns it into `instead` where the client degrades.
    #[inline]
    pub(super) fn report<R>(&self, answer: Result<R>, instead: R) -> Result<R> {
        match answer {
            Err(error) if self.tell(&error) && self.degrade => Ok(instead),
            answer => answer,
        }
    }

    /// Tells the handler of an error, unless it is of the caller's own making; returns whether it is not.
    #[cold]
    pub(super) fn tell(&self, error: &Error) -> bool {
        let own_fault = matches!(
            error.kind(),
            ErrorKind::Key | ErrorKind::Config | ErrorKind::Encode | ErrorKind::Shutdown
        );
        if let (false, Some(on_error)) = (own_fault, &self.on_error) {
            on_error(error);
        }
        !own_fault
    }
}

/// Whether the loss of the answer leaves open what became of the command: it changes something, and was sent.
fn leaves_open(lease: &mut Lease<'_>, repeat: Repeat) -> bool {
    repeat != Repeat::Reads && lease.io().has_written()
}

/// The error as the caller sees it.
fn outcome(error: Error, open: bool) -> Error {
    if open { error.into_ambiguous() } else { error }
}

/// What an exchange makes of a reply that its command cannot have: an error line, or bytes out of step.
pub(super) fn unexpected(reply: Reply<'_>) -> Unexpected {
    match reply {
        Reply::Refused(refusal) => Unexpected::Refused(refusal.to_error()),
        _ => Unexpected::Foreign,
    }
}

/// See [`unexpected`].
pub(super) enum Unexpected {
    Refused(Error),
    Foreign,
}

impl Unexpected {
    /// The error; a refusal is a whole reply, a foreign reply leaves the connection out of step.
    pub(super) fn into_error(self, io: &mut SockIo) -> Error {
        match self {
            Unexpected::Refused(error) => {
                io.settle();
                error
            }
            Unexpected::Foreign => {
                io.out_of_step(Desync("the reply does not belong to the command"))
            }
        }
    }

    /// The error where a refusal breaks off a reply that had begun: the connection stays unsettled, so that it is closed.
    pub(super) fn into_break(self, io: &mut SockIo) -> Error {
        match self {
            Unexpected::Refused(error) => error,
            Unexpected::Foreign => self.into_error(io),
        }
    }
}
