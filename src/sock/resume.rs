//! Reading in turns: a holder whose time is over leaves the connection as it is, and another one goes on with its replies.
//! It does not know who they are.

use std::io;
use std::time::Duration;

use super::read::find_value_room;
use super::{INPUT_ROOM, SockIo};
use crate::clock::Moment;
use crate::error::Result;
use crate::protocol::{Decoded, Expect, Reply, text};

/// How much later than its holder a large body is cut off: by then he has noticed, if the bytes come in pieces at all.
const GRACE: Duration = Duration::from_millis(100);

/// A large body is read in pieces of this size; in between it is seen whether there is time for more.
const PIECE: usize = 256 * 1024;

impl SockIo {
    /// Another holder goes on with what the connection owes, until `deadline`.
    pub(crate) fn go_on(&mut self, deadline: Moment, now: Moment) {
        (self.call.deadline, self.call.now) = (deadline, now);
        self.call.read_deadline = deadline;
    }

    /// Whether the holder's time is over.
    pub(crate) fn is_late(&self) -> bool {
        self.call.deadline <= self.call.now
    }

    /// The commands are out: from now on the server has the socket timeout for each part of its answers.
    pub(crate) fn expect_answers(&mut self) {
        self.quiet_since = self.call.now;
    }

    /// Like [`receive`](Self::receive), but `None`, and nothing lost, when the holder's time is over.
    pub(crate) fn receive_in_time<R>(
        &mut self,
        expect: Expect,
        take: impl FnOnce(Reply<'_>) -> R,
    ) -> Result<Option<R>> {
        loop {
            let needed = match text::decode(expect, &self.input[self.start..self.end]) {
                Ok(Decoded::Reply { reply, used }) => {
                    self.spoiled |= matches!(&reply, Reply::Refused(refusal) if !refusal.keep);
                    let taken = take(reply);
                    self.start += used;
                    return Ok(Some(taken));
                }
                Ok(Decoded::Need(needed)) => needed,
                Err(desync) => return Err(self.out_of_step(desync)),
            };
            if !self.fill_in_time(needed)? {
                return Ok(None);
            }
        }
    }

    /// Reads the body of a value and its line end into `value`, which holds what came of it before. False, and nothing lost,
    /// when the holder's time is over.
    pub(crate) fn body_in_time(&mut self, len: usize, value: &mut Vec<u8>) -> Result<bool> {
        self.check_len(len)?;
        if len.saturating_add(2) <= INPUT_ROOM {
            if !self.gather_in_time(len + 2)? {
                return Ok(false);
            }
            self.check_body_end(len)?;
            value.reserve_exact(len);
            value.extend_from_slice(&self.input[self.start..self.start + len]);
            self.start += len + 2;
            return Ok(true);
        }
        if value.is_empty() {
            find_value_room(len, value);
        }
        self.take_unread(len, value);
        if !self.pieces_in_time(len, value)? || !self.gather_in_time(2)? {
            return Ok(false);
        }
        self.check_body_end(0)?;
        self.start += 2;
        Ok(true)
    }

    fn pieces_in_time(&mut self, len: usize, value: &mut Vec<u8>) -> Result<bool> {
        while value.len() < len {
            let Some(limit) = self.wait_limit()? else {
                return Ok(false);
            };
            self.set_read_timer(limit)?;
            find_value_room(len, value);
            let had = value.len();
            let piece = (value.capacity() - had).min(len - had).min(PIECE);
            // The timer is for each read: see `large_body`.
            let end = self.call.deadline + GRACE;
            self.line.begin_untimed_read(end);
            if !self.watch.expect(end) {
                self.line.end_untimed_read();
                if !self.fill_in_time(1)? {
                    return Ok(false);
                }
                self.take_unread(len, value);
                continue;
            }
            let read = self.line.stream.read_many(piece, value);
            self.line.end_untimed_read();
            self.look_at_clock();
            if value.len() > had {
                self.call.heard = true;
                self.quiet_since = self.call.now;
            }
            match read {
                Ok(read) if read == piece => {}
                Ok(_) => return Err(self.read_error(io::ErrorKind::UnexpectedEof.into())),
                Err(error) if may_go_on(&error) => {}
                Err(error) => return Err(self.read_error(error)),
            }
        }
        Ok(true)
    }

    fn gather_in_time(&mut self, count: usize) -> Result<bool> {
        while self.end - self.start < count {
            if !self.fill_in_time(count - (self.end - self.start))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn fill_in_time(&mut self, needed: usize) -> Result<bool> {
        self.find_room(needed)?;
        while let Some(limit) = self.wait_limit()? {
            self.set_read_timer(limit)?;
            let read = self.line.stream.read(&mut self.input[self.end..]);
            self.look_at_clock();
            match read {
                Ok(0) => return Err(self.read_error(io::ErrorKind::UnexpectedEof.into())),
                Ok(read) => {
                    self.call.heard = true;
                    self.quiet_since = self.call.now;
                    self.end += read;
                    return Ok(true);
                }
                Err(error) if may_go_on(&error) => {}
                Err(error) => return Err(self.read_error(error)),
            }
        }
        Ok(false)
    }

    /// In nanoseconds; `None` when the holder's time is over. A server that is quiet for the socket timeout has failed,
    /// however many holders it took.
    fn wait_limit(&mut self) -> Result<Option<u64>> {
        let now = self.call.now;
        let patience = self.limits.socket_timeout;
        let patience = patience.saturating_sub(now.nanos_since(self.quiet_since));
        if patience == 0 {
            return Err(self.read_error(io::ErrorKind::TimedOut.into()));
        }
        let left = self.call.deadline.nanos_since(now);
        Ok((left > 0).then_some(left.min(patience)))
    }
}

/// The timer ended the read, or a signal: whether there is time for another one is seen by the clock.
fn may_go_on(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}
