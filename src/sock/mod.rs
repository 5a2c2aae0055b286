//! One connection: its socket, its buffers, and what it still owes. It knows no pool and no value.

mod connect;
mod raw;
mod stream;
mod watch;

pub(crate) use connect::{Dial, Progress, SocketSettings, connect};
pub(crate) use stream::{Rest, Stream};
pub(crate) use watch::Watch;

use std::borrow::Cow;
use std::io::{self, IoSlice};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::protocol::{Decoded, Desync, Expect, Reply, Request, text};

/// Room for the head of a reply and a small value: a reply of 10 KiB comes in one read.
const INPUT_ROOM: usize = 16 * 1024;

/// What an output buffer keeps from one command to the next.
const OUTPUT_ROOM: usize = 16 * 1024;

/// A body up to this length is copied behind its command line; a longer one goes out from where it lies.
const COPIED_BODY: usize = 8 * 1024;

/// An announced length is believed at once up to this; above it, memory grows as bytes arrive.
const RESERVED_AT_ONCE: usize = 1024 * 1024;

/// A connection that has not been used for this long gives its buffers back, and is looked at before it is used again.
pub(crate) const RESTED: Duration = Duration::from_secs(1);

/// How much later than asked a read may end, so that a timer already set can stay: it costs a system call to change.
const SLACK: Duration = Duration::from_millis(20);

/// One connection to one server, held by one caller at a time.
///
/// It is *clean* when every reply was wholly consumed and nothing is left over. It becomes dirty at the first byte
/// written, and any failure leaves it dirty: whoever holds it then can only close it.
pub(crate) struct SockIo {
    line: Arc<Line>,
    watch: Arc<Watch>,
    limits: Limits,
    input: Vec<u8>,
    /// The unread bytes are `input[start..end]`.
    start: usize,
    end: usize,
    output: Vec<u8>,
    owed: usize,
    spoiled: bool,
    read_timer: Duration,
    write_timer: Duration,
    call: Call,
}

/// What a connection never exceeds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) socket_timeout: Duration,
    pub(crate) max_value_len: usize,
}

/// The operation that a connection is lent for.
#[derive(Clone, Copy, Debug)]
struct Call {
    deadline: Instant,
    /// A time not long before: spares a look at the clock.
    now: Instant,
    /// Whether any byte was written, and any read, since the connection was lent.
    written: bool,
    heard: bool,
}

/// The part of a connection that the maintenance thread sees: it ends what a blocking call cannot.
#[derive(Debug)]
pub(crate) struct Line {
    stream: Stream,
    /// When the connection was lent, in the pool's milliseconds plus one; 0 while it rests.
    lent_at: AtomicU64,
    /// When a read that no timer can end must end, likewise; 0 if none is under way.
    must_end: AtomicU64,
    cut: AtomicBool,
}

/// The `lent_at` of a connection that was shut down under its holder.
const CUT: u64 = u64::MAX;

impl Line {
    /// Shuts the connection down under the holder to whom it was lent at `lent_at`, who gets `Timeout`.
    /// False if it has come back by now: whoever has it next must not notice.
    pub(crate) fn cut(&self, lent_at: u64) -> bool {
        let cut = self
            .lent_at
            .compare_exchange(lent_at, CUT, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok();
        if cut {
            self.cut.store(true, Ordering::Relaxed);
            self.stream.shutdown();
        }
        cut
    }

    /// The loan begins, at the pool's time `now`.
    pub(crate) fn lend(&self, now: u64) {
        self.lent_at.store(now, Ordering::Relaxed);
    }

    /// The loan ends. False if the connection was shut down under its holder.
    pub(crate) fn give_back(&self) -> bool {
        self.lent_at.swap(0, Ordering::Relaxed) != CUT
    }

    /// When the connection was lent and when its read must end, if it is lent.
    pub(crate) fn loan(&self) -> Option<(u64, Option<u64>)> {
        let lent_at = self.lent_at.load(Ordering::Relaxed);
        let must_end = self.must_end.load(Ordering::Relaxed);
        (lent_at != 0 && lent_at != CUT).then_some((lent_at, (must_end != 0).then_some(must_end)))
    }

    pub(crate) fn was_cut(&self) -> bool {
        self.cut.load(Ordering::Relaxed)
    }
}

impl SockIo {
    pub(crate) fn new(stream: Stream, limits: Limits, watch: Arc<Watch>) -> Self {
        let now = Instant::now();
        Self {
            line: Arc::new(Line {
                stream,
                lent_at: AtomicU64::new(0),
                must_end: AtomicU64::new(0),
                cut: AtomicBool::new(false),
            }),
            watch,
            limits,
            input: Vec::new(),
            start: 0,
            end: 0,
            output: Vec::new(),
            owed: 0,
            spoiled: false,
            // `connect` set both.
            read_timer: limits.socket_timeout,
            write_timer: limits.socket_timeout,
            call: Call {
                deadline: now,
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
    pub(crate) fn begin(&mut self, deadline: Instant, now: Instant) {
        self.call = Call {
            deadline,
            now,
            written: false,
            heard: false,
        };
    }

    pub(crate) fn deadline(&self) -> Instant {
        self.call.deadline
    }

    /// Whether the connection is as it was when it was opened: nothing owed, nothing unread, nothing failed.
    pub(crate) fn is_clean(&self) -> bool {
        self.owed == 0 && !self.spoiled && self.start == self.end && !self.line.was_cut()
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

    /// Sends one or several commands which `encode` writes, and `body` with its line end behind them, in one write.
    /// `replies` is how many answers they will have.
    pub(crate) fn send(
        &mut self,
        replies: usize,
        body: Option<&[u8]>,
        encode: impl FnOnce(&mut Vec<u8>),
    ) -> Result<()> {
        self.output.clear();
        encode(&mut self.output);
        self.owed += replies;
        self.spoiled = true;
        match body {
            Some(body) if body.len() > COPIED_BODY => self.write_parts(body)?,
            body => {
                if let Some(body) = body {
                    self.output.extend_from_slice(body);
                    self.output.extend_from_slice(b"\r\n");
                }
                self.write_output()?;
            }
        }
        self.spoiled = false;
        if self.output.capacity() > OUTPUT_ROOM {
            self.output = Vec::with_capacity(OUTPUT_ROOM);
        }
        Ok(())
    }

    /// Reads one reply, or one part of a reply, and hands it to `take`.
    ///
    /// The last part of a reply must be followed by [`settle`](Self::settle).
    pub(crate) fn receive<R>(
        &mut self,
        expect: Expect,
        take: impl FnOnce(Reply<'_>) -> R,
    ) -> Result<R> {
        loop {
            let needed = match text::decode(expect, &self.input[self.start..self.end]) {
                Ok(Decoded::Reply { reply, used }) => {
                    self.spoiled |= matches!(&reply, Reply::Refused(refusal) if !refusal.keep);
                    let taken = take(reply);
                    self.start += used;
                    return Ok(taken);
                }
                Ok(Decoded::Need(needed)) => needed,
                Err(desync) => return Err(self.out_of_step(desync)),
            };
            self.fill(needed)?;
        }
    }

    /// Reads the body of a value and its line end, and hands the body to `take`: borrowed if it fits the buffer, else owned.
    pub(crate) fn body<R>(
        &mut self,
        len: usize,
        take: impl FnOnce(Cow<'_, [u8]>) -> R,
    ) -> Result<R> {
        if len > self.limits.max_value_len {
            self.spoiled = true;
            let limit = self.limits.max_value_len;
            return Err(Error::protocol(format!(
                "a value of {len} bytes was announced; at most {limit} are taken"
            )));
        }
        if len.saturating_add(2) > INPUT_ROOM {
            let mut value = Vec::new();
            self.large_body(len, &mut value)?;
            return Ok(take(Cow::Owned(value)));
        }
        self.gather(len + 2)?;
        self.check_body_end(len)?;
        let body = &self.input[self.start..self.start + len];
        self.start += len + 2;
        Ok(take(Cow::Borrowed(body)))
    }

    /// Reads until `count` bytes are there.
    fn gather(&mut self, count: usize) -> Result<()> {
        while self.end - self.start < count {
            self.fill(count - (self.end - self.start))?;
        }
        Ok(())
    }

    fn check_body_end(&mut self, len: usize) -> Result<()> {
        let end = &self.input[self.start + len..self.start + len + 2];
        text::body_end(end).map_err(|desync| out_of_step(&mut self.spoiled, desync))
    }

    /// Reads the body of a value that is the only one, and the end of the reply; hands the body to `take` when the
    /// connection owes nothing more.
    pub(crate) fn only_body<R>(
        &mut self,
        len: usize,
        take: impl FnOnce(Cow<'_, [u8]>) -> R,
    ) -> Result<R> {
        const END: usize = b"\r\nEND\r\n".len();
        if len.saturating_add(END) > INPUT_ROOM {
            let body = self.body(len, |body| body.into_owned())?;
            self.end_of_values(0)?;
            return Ok(take(Cow::Owned(body)));
        }
        self.gather(len + 2)?;
        self.check_body_end(len)?;
        let from = self.end_of_values(len + 2)?;
        Ok(take(Cow::Borrowed(&self.input[from..from + len])))
    }

    /// Reads the end of the reply, `after` bytes from here, and consumes all up to it; returns where those bytes began.
    pub(crate) fn end_of_values(&mut self, after: usize) -> Result<usize> {
        const BROKEN_OFF: Desync = Desync("a value is not followed by the end of the reply");
        loop {
            let rest = &self.input[self.start + after..self.end];
            match text::decode(Expect::Values { cas: false }, rest) {
                Ok(Decoded::Reply {
                    reply: Reply::End,
                    used,
                }) => {
                    let from = self.start;
                    self.start += after + used;
                    self.settle();
                    return Ok(from);
                }
                Ok(Decoded::Need(needed)) => self.fill(needed)?,
                // An error line in its place breaks off a reply that has begun.
                _ => return Err(self.out_of_step(BROKEN_OFF)),
            }
        }
    }

    /// Like [`body`](Self::body), into a vector of the caller's, which is emptied first.
    pub(crate) fn body_into(&mut self, len: usize, value: &mut Vec<u8>) -> Result<()> {
        value.clear();
        if len + 2 > INPUT_ROOM && len <= self.limits.max_value_len {
            return self.large_body(len, value);
        }
        self.body(len, |body| value.extend_from_slice(&body))
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
    pub(crate) fn settle(&mut self) {
        self.owed = self.owed.saturating_sub(1);
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
    }

    /// Marks the connection as unusable: a reply did not belong to its command.
    pub(crate) fn out_of_step(&mut self, desync: Desync) -> Error {
        out_of_step(&mut self.spoiled, desync)
    }

    fn large_body(&mut self, len: usize, value: &mut Vec<u8>) -> Result<()> {
        value.reserve_exact(len.min(RESERVED_AT_ONCE));
        let here = len.min(self.end - self.start);
        value.extend_from_slice(&self.input[self.start..self.start + here]);
        self.start += here;
        let missing = len - here;
        if missing > 0 {
            self.arm_read()?;
            self.spoiled = true;
            // The timer is for each read: a peer that drips would outlive it, so the maintenance thread keeps the deadline.
            self.line
                .must_end
                .store(self.watch.millis(self.call.deadline), Ordering::Relaxed);
            self.watch.expect(self.call.deadline);
            let read = self.line.stream.read_many(missing, value);
            self.line.must_end.store(0, Ordering::Relaxed);
            self.look_at_clock();
            match read {
                Ok(read) if read == missing => self.spoiled = false,
                Ok(_) => return Err(self.read_error(io::ErrorKind::UnexpectedEof.into())),
                Err(error) => return Err(self.read_error(error)),
            }
        }
        self.gather(2)?;
        self.check_body_end(0)?;
        self.start += 2;
        Ok(())
    }

    /// Reads once, or more often until `needed` more bytes are there.
    fn fill(&mut self, needed: usize) -> Result<()> {
        if self.input.is_empty() {
            self.input.resize(INPUT_ROOM, 0);
            self.watch.expect(self.call.now + 2 * RESTED);
        }
        if self.start > 0 && (self.start == self.end || self.input.len() - self.end < needed) {
            self.input.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.input.len() - self.end < needed {
            self.spoiled = true;
            return Err(Error::protocol("a line of the reply is too long"));
        }
        self.arm_read()?;
        loop {
            match self.line.stream.read(&mut self.input[self.end..]) {
                Ok(0) => return Err(self.read_error(io::ErrorKind::UnexpectedEof.into())),
                Ok(read) => {
                    self.call.heard = true;
                    self.end += read;
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                    self.look_at_clock();
                    self.arm_read()?;
                }
                Err(error) => return Err(self.read_error(error)),
            }
        }
    }

    /// Sets the socket's read timer to what is left of the operation, if it is not near that already.
    fn arm_read(&mut self) -> Result<()> {
        if self.call.heard {
            self.look_at_clock();
        }
        let limit = self.time_left("reading the reply")?;
        if !near(self.read_timer, limit) {
            self.line
                .stream
                .set_read_timeout(limit)
                .map_err(|error| self.read_error(error))?;
            self.read_timer = limit;
        }
        Ok(())
    }

    fn arm_write(&mut self) -> Result<()> {
        let limit = self.time_left("sending the command")?;
        if !near(self.write_timer, limit) {
            self.line
                .stream
                .set_write_timeout(limit)
                .map_err(|error| Error::io("sending the command", error))?;
            self.write_timer = limit;
        }
        Ok(())
    }

    fn look_at_clock(&mut self) {
        self.call.now = Instant::now();
    }

    fn time_left(&mut self, doing: &'static str) -> Result<Duration> {
        let left = self
            .call
            .deadline
            .saturating_duration_since(self.call.now)
            .min(self.limits.socket_timeout);
        if left.is_zero() {
            self.spoiled |= self.owed > 0;
            return Err(Error::io(doing, io::ErrorKind::TimedOut.into()));
        }
        Ok(left)
    }

    fn write_output(&mut self) -> Result<()> {
        let mut sent = 0;
        while sent < self.output.len() {
            self.arm_write()?;
            match self.line.stream.write(&self.output[sent..]) {
                Ok(written) => self.wrote(written, &mut sent, self.output.len())?,
                Err(error) => self.write_failed(error)?,
            }
        }
        Ok(())
    }

    /// The command line, the body and its line end in one vectored write: the body is never copied.
    fn write_parts(&mut self, body: &[u8]) -> Result<()> {
        let total = self.output.len() + body.len() + 2;
        let mut sent = 0;
        while sent < total {
            self.arm_write()?;
            let mut parts = [
                IoSlice::new(&self.output),
                IoSlice::new(body),
                IoSlice::new(b"\r\n"),
            ];
            let mut rest = &mut parts[..];
            IoSlice::advance_slices(&mut rest, sent);
            match self.line.stream.write_vectored(rest) {
                Ok(written) => self.wrote(written, &mut sent, total)?,
                Err(error) => self.write_failed(error)?,
            }
        }
        Ok(())
    }

    fn wrote(&mut self, written: usize, sent: &mut usize, total: usize) -> Result<()> {
        if written == 0 {
            return Err(self.write_error(io::ErrorKind::WriteZero.into()));
        }
        self.call.written = true;
        *sent += written;
        if *sent < total {
            self.look_at_clock();
        }
        Ok(())
    }

    /// A signal only interrupts; all else ends the operation.
    fn write_failed(&mut self, error: io::Error) -> Result<()> {
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(self.write_error(error));
        }
        self.look_at_clock();
        Ok(())
    }

    fn write_error(&mut self, error: io::Error) -> Error {
        self.failure("sending the command", error)
    }

    fn read_error(&mut self, error: io::Error) -> Error {
        self.failure("reading the reply", error)
    }

    fn failure(&mut self, doing: &'static str, error: io::Error) -> Error {
        self.spoiled = true;
        if self.line.was_cut() {
            return Error::timeout(
                "the connection was held for longer than allowed and has been shut down",
            );
        }
        Error::io(doing, error)
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
fn near(timer: Duration, wanted: Duration) -> bool {
    timer >= wanted && timer - wanted <= SLACK.min(wanted / 5)
}

fn out_of_step(spoiled: &mut bool, desync: Desync) -> Error {
    *spoiled = true;
    Error::protocol(desync.0)
}
