//! The one road of every command to one server: find a connection, send, read, and decide about a second try.

use std::time::Duration;

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
    /// Runs a command on the server of `key`, or on the next one where the key goes when that fails before anything was sent.
    pub(super) fn execute<R>(
        &self,
        key: &WireKey<'_>,
        repeat: Repeat,
        mut exchange: impl Exchange<R>,
    ) -> Result<R> {
        let call = self.begin();
        let first = self.pool.first(key);
        match self.attempt(first, call, repeat, &mut exchange) {
            Ok(answer) => Ok(answer),
            Err(Refusal::Final(error)) => Err(error),
            Err(Refusal::Unavailable(error)) => {
                self.elsewhere(key, (first, error), call, repeat, &mut exchange)
            }
        }
    }

    /// Goes on where failover leads.
    #[cold]
    fn elsewhere<R>(
        &self,
        key: &WireKey<'_>,
        (mut server, mut error): (usize, Error),
        call: Call,
        repeat: Repeat,
        exchange: &mut impl Exchange<R>,
    ) -> Result<R> {
        let mut search = self.pool.search(key, call.deadline);
        loop {
            server = search.after(server, error)?;
            let now = Moment::now();
            match self.attempt(server, Call { now, ..call }, repeat, exchange) {
                Ok(answer) => return Ok(answer),
                Err(Refusal::Final(error)) => return Err(error),
                Err(Refusal::Unavailable(refused)) => error = refused,
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
    pub(super) fn attempt<R>(
        &self,
        server: usize,
        call: Call,
        repeat: Repeat,
        exchange: &mut impl Exchange<R>,
    ) -> std::result::Result<R, Refusal> {
        let mut lease = self.pool.hosts()[server].lend(call.deadline, call.now)?;
        match exchange(lease.io()) {
            Ok(answer) => Ok(answer),
            Err(error) => {
                let again = self.second_try(lease, error, repeat, exchange);
                again.map(|(answer, _)| answer)
            }
        }
    }

    /// An operation begins now.
    pub(super) fn begin(&self) -> Call {
        /// A timeout too long for the clock is cut.
        const A_YEAR: Duration = Duration::from_secs(365 * 24 * 3600);
        let now = Moment::now();
        Call {
            now,
            deadline: now + self.timeout.min(A_YEAR),
        }
    }

    /// A connection that had rested in the pool may have been closed by the server in the meantime. If not a byte of an answer
    /// came and the command allows it, it is sent once more, on a new connection.
    #[cold]
    pub(super) fn second_try<'p, R>(
        &self,
        mut lease: Lease<'p>,
        error: Error,
        repeat: Repeat,
        exchange: &mut impl Exchange<R>,
    ) -> std::result::Result<(R, Lease<'p>), Refusal> {
        lease.failed(&error);
        let error = error.at(lease.host().addr().name());
        let open = leaves_open(&mut lease, repeat);
        if !self.may_repeat(&mut lease, &error, repeat) {
            return Err(Refusal::Final(outcome(error, open)));
        }
        let mut lease = match lease.reconnect() {
            Ok(lease) => lease,
            // What was sent may have been carried out, whatever becomes of the second try.
            Err(_) if open => return Err(Refusal::Final(error.into_ambiguous())),
            Err(refusal) => return Err(refusal),
        };
        match exchange(lease.io()) {
            Ok(answer) => Ok((answer, lease)),
            Err(error) => {
                lease.failed(&error);
                let error = error.at(lease.host().addr().name());
                let open = open || leaves_open(&mut lease, repeat);
                Err(Refusal::Final(outcome(error, open)))
            }
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
    pub(super) fn report<R>(&self, answer: Result<R>, instead: R) -> Result<R> {
        answer.or_else(|error| match self.tell(&error) && self.degrade {
            true => Ok(instead),
            false => Err(error),
        })
    }

    /// Tells the handler of an error, unless it is of the caller's own making; returns whether it is not.
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
        Reply::Refused(refusal) => {
            let kind = if refusal.server {
                ErrorKind::Server
            } else {
                ErrorKind::Client
            };
            Unexpected::Refused(Error::new(kind, refusal.line.to_owned()))
        }
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

    /// The error where even a refusal is out of place: inside a reply that had begun.
    pub(super) fn into_foreign(self, io: &mut SockIo) -> Error {
        Unexpected::Foreign.into_error(io)
    }
}
