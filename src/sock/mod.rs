//! One connection: its socket, its buffers, and what it still owes. It knows no pool and no value.

mod connect;
mod line;
mod read;
mod resolve;
mod resume;
mod stream;
mod watch;
mod write;

pub(crate) use connect::{Dial, Progress, SocketSettings, connect};
pub(crate) use line::Line;
pub(crate) use stream::{Rest, Stream};
pub(crate) use watch::Watch;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::clock::Moment;

use crate::error::{Error, Result};
use crate::protocol::{Desync, Expect, Reply, Request, text};

/// Room for the head of a reply and a small value: a reply of 10 KiB comes in one read.
const INPUT_ROOM: usize = 16 * 1024;

/// The room that a connection has until a reply needs more: there may be a thousand, and most values are short.
const FIRST_ROOM: usize = 2 * 1024;

/// What an output buffer keeps from one command to the next.
const OUTPUT_ROOM: usize = 16 * 1024;

/// A body up to this length is copied behind its command line; a longer one goes out from where it lies.
const COPIED_BODY: usize = 8 * 1024;

/// An announced length is believed at once up to this; above it, memory grows as bytes arrive.
const RESERVED_AT_ONCE: usize = 1024 * 1024;

/// A connection that has not been used for this long gives its buffers back, and is looked at before it is used again.
pub(crate) const RESTED: Duration = Duration::from_secs(1);

/// How long a read waits for what should be there already.
const LAST_LOOK: Duration = Duration::from_millis(5);

/// How much later than asked a read may end, so that a timer already set can stay: it costs a system call to change.
/// In nanoseconds.
pub(crate) const SLACK: u64 = 20_000_000;

/// One connection to one server, held by one caller at a time.
///
/// It is *clean* when every reply was wholly consumed and nothing is left over. It becomes dirty at the first byte
/// written, and any failure leaves it dirty: whoever holds it then can only close it.
pub(crate) struct SockIo {
    line: Arc<Line>,
    watch: Arc<Watch>,
    limits: Limits,
    input: Vec<u8>,
    /// The length of `input` when it is there: [`FIRST_ROOM`] or [`INPUT_ROOM`].
    room: usize,
    /// The unread bytes are `input[start..end]`.
    start: usize,
    end: usize,
    output: Vec<u8>,
    owed: usize,
    spoiled: bool,
    /// What the socket's timers are set to, in nanoseconds.
    read_timer: u64,
    write_timer: u64,
    /// Since when an answer is awaited and nothing has come; see `resume.rs`.
    quiet_since: Moment,
    call: Call,
}

/// What a connection never exceeds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// In nanoseconds.
    pub(crate) socket_timeout: u64,
    pub(crate) max_value_len: usize,
}

/// The operation that a connection is lent for.
#[derive(Clone, Copy, Debug)]
struct Call {
    deadline: Moment,
    /// The end of reading: [`LAST_LOOK`] may put it behind the deadline.
    read_deadline: Moment,
    /// When the last command began to go out.
    sent_at: Moment,
    /// A time not long before: spares a look at the clock.
    now: Moment,
    /// Whether any byte was written, and any read, since the connection was lent.
    written: bool,
    heard: bool,
}

impl SockIo {
    pub(crate) fn new(stream: Stream, limits: Limits, watch: Arc<Watch>) -> Self {
        let now = Moment::now();
        Self {
            line: Arc::new(Line::new(stream)),
            watch,
            limits,
            input: Vec::new(),
            room: FIRST_ROOM,
            start: 0,
            end: 0,
            output: Vec::new(),
            owed: 0,
            spoiled: false,
            // `connect` set both.
            read_timer: limits.socket_timeout,
            write_timer: limits.socket_timeout,
            quiet_since: now,
            call: Call {
                deadline: now,
                read_deadline: now,
                sent_at: now,
                now,
                written: false,
                heard: false,
            },
        }
    }

    pub(crate) fn line(&self) -> &Arc<Line> {
        &self.line
    }

    /// Begins an operation that must end at `deadline`; `now` is a fresh look at the clock.
    #[inline]
    pub(crate) fn begin(&mut self, deadline: Moment, now: Moment) {
        self.call = Call {
            deadline,
            read_deadline: deadline,
            sent_at: now,
            now,
            written: false,
            heard: false,
        };
    }

    /// Time went by with other connections of the same operation.
    pub(crate) fn catch_up(&mut self) {
        self.look_at_clock();
        self.call.read_deadline = self.call.deadline;
    }

    /// The same before the answer to a command that was sent in time is read. What has come by now is still taken, also where
    /// the deadline is over: a server that answered in time does not pay for another one that did not.
    pub(crate) fn catch_up_reading(&mut self) {
        self.look_at_clock();
        let Call { deadline, now, .. } = self.call;
        // Where nothing has come there is nothing to wait for: many servers that hang must not take a last look each.
        let waits = now < deadline || self.start < self.end || self.look() != Rest::Quiet;
        self.call.read_deadline = if waits {
            deadline.max(now + LAST_LOOK)
        } else {
            deadline
        };
    }

    /// How long the server has had for its answer.
    pub(crate) fn waited(&self) -> Duration {
        Moment::now().since(self.call.sent_at)
    }

    pub(crate) fn deadline(&self) -> Moment {
        self.call.deadline
    }

    /// Whether the connection is as it was when it was opened: nothing owed, nothing unread, nothing failed.
    #[inline]
    pub(crate) fn is_clean(&self) -> bool {
        self.owed == 0 && !self.spoiled && self.start == self.end && !self.line.was_cut()
    }

    /// Whether the next reply can be read: all so far belonged to their commands.
    pub(crate) fn is_in_step(&self) -> bool {
        !self.spoiled && !self.line.was_cut()
    }

    /// Whether the operation has sent nothing, or has heard nothing in answer.
    pub(crate) fn has_written(&self) -> bool {
        self.call.written
    }

    pub(crate) fn has_heard(&self) -> bool {
        self.call.heard
    }

    pub(crate) fn look(&self) -> Rest {
        self.line.stream.look()
    }

    /// Whether the buffers take room.
    pub(crate) fn has_buffers(&self) -> bool {
        !self.input.is_empty() || self.output.capacity() > 0
    }

    /// Gives the buffers back; they come again with the next command.
    pub(crate) fn release_buffers(&mut self) {
        self.input = Vec::new();
        self.output = Vec::new();
        (self.start, self.end) = (0, 0);
    }

    /// A `version` round trip.
    pub(crate) fn ping(&mut self) -> Result<()> {
        self.send(1, None, |out| text::encode(&Request::Version, out))?;
        let alive = self.receive(Expect::Version, |reply| matches!(reply, Reply::Version(_)))?;
        self.settle();
        if alive {
            Ok(())
        } else {
            Err(Error::protocol("the answer to version was none"))
        }
    }

    /// One reply has been consumed to its end.
    #[inline]
    pub(crate) fn settle(&mut self) {
        self.owed = self.owed.saturating_sub(1);
    }

    /// Marks the connection as unusable: a reply did not belong to its command.
    pub(crate) fn out_of_step(&mut self, desync: Desync) -> Error {
        out_of_step(&mut self.spoiled, desync)
    }

    fn look_at_clock(&mut self) {
        self.call.now = Moment::now();
    }

    /// Nanoseconds until `end`, and no more than one read or write may take.
    #[inline]
    fn time_left(&mut self, doing: &'static str, end: Moment) -> Result<u64> {
        let left = end.nanos_since(self.call.now);
        if left == 0 {
            return Err(self.too_late(doing));
        }
        Ok(left.min(self.limits.socket_timeout))
    }

    #[cold]
    fn too_late(&mut self, doing: &'static str) -> Error {
        self.spoiled |= self.owed > 0;
        Error::io(doing, io::ErrorKind::TimedOut.into())
    }

    #[cold]
    fn failure(&mut self, doing: &'static str, error: io::Error) -> Error {
        self.spoiled = true;
        if !self.line.was_cut() {
            return Error::io(doing, error);
        }
        // Cut off because the operation is over, where no timer could end it, or because it took longer than any may.
        if Moment::now() >= self.call.deadline {
            return Error::io(doing, io::ErrorKind::TimedOut.into());
        }
        Error::timeout("the connection was held for longer than allowed and has been shut down")
    }
}

impl std::fmt::Debug for SockIo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SockIo")
            .field("owed", &self.owed)
            .field("clean", &self.is_clean())
            .finish_non_exhaustive()
    }
}

/// A timer is near if it ends no earlier than wanted and at most [`SLACK`] (or a fifth, if that is less) later.
#[inline]
fn near(timer: u64, wanted: u64) -> bool {
    timer == wanted || (timer > wanted && timer - wanted <= SLACK.min(wanted / 5))
}

fn out_of_step(spoiled: &mut bool, desync: Desync) -> Error {
    *spoiled = true;
    Error::protocol(desync.0)
}
