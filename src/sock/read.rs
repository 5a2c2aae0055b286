//! Reading: replies out of the buffer, bodies of values, and the timer of each read.

use std::borrow::Cow;
use std::io;
use std::time::Duration;

use super::{INPUT_ROOM, RESERVED_AT_ONCE, RESTED, SockIo, near, out_of_step};
use crate::error::{Error, Result};
use crate::protocol::{Decoded, Desync, Expect, Reply, ValueHead, text};

impl SockIo {
    /// Reads one reply, or one part of a reply, and hands it to `take`.
    ///
    /// The last part of a reply must be followed by [`settle`](Self::settle).
    pub(crate) fn receive<R>(
        &mut self,
        expect: Expect,
        take: impl FnOnce(Reply<'_>) -> R,
    ) -> Result<R> {
        self.wait()?;
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

    /// Reads once if nothing is there yet.
    #[inline]
    pub(crate) fn wait(&mut self) -> Result<()> {
        if self.start == self.end {
            self.fill(1)?;
        }
        Ok(())
    }

    /// Takes `line`, a whole reply, if it is what comes next; reads once if nothing is there yet. What else comes is left
    /// to [`receive`](Self::receive).
    #[inline]
    pub(crate) fn take_line<const N: usize>(&mut self, line: &[u8; N]) -> Result<bool> {
        self.wait()?;
        let is_next = self.input[self.start..self.end].first_chunk() == Some(line);
        if is_next {
            self.start += N;
            self.settle();
        }
        Ok(is_next)
    }

    /// Hands the value of `key` to `take` if its whole reply is what has come, and nothing else; the connection owes
    /// nothing more then. Reads once if nothing is there yet. `None` where more is to come: the reply is read part by part
    /// then, by the other methods.
    #[inline]
    pub(crate) fn whole_hit<R>(
        &mut self,
        key: &[u8],
        cas: bool,
        take: impl FnOnce(ValueHead, &[u8]) -> R,
    ) -> Result<Option<R>> {
        self.wait()?;
        let Some((head, body)) = text::whole_hit(&self.input[self.start..self.end], key, cas)
        else {
            return Ok(None);
        };
        if head.len > self.limits.max_value_len {
            return Ok(None);
        }
        // The reply is consumed before `take` runs, which may panic.
        (self.start, self.end) = (0, 0);
        self.owed = self.owed.saturating_sub(1);
        Ok(Some(take(head, body)))
    }

    /// Hands the next value of a reply to `take` if it is that of `key` and has come whole. `None` where it is not, or not
    /// yet: the reply is read part by part then, by the other methods.
    #[inline]
    pub(crate) fn whole_value<R>(
        &mut self,
        key: &[u8],
        cas: bool,
        take: impl FnOnce(ValueHead, &[u8]) -> R,
    ) -> Option<R> {
        let unread = &self.input[self.start..self.end];
        let (head, body, rest) = text::whole_value(unread, key, cas)?;
        if head.len > self.limits.max_value_len {
            return None;
        }
        self.start = self.end - rest.len();
        Some(take(head, body))
    }

    /// Reads the body of a value and its line end, and hands the body to `take`: borrowed if it fits the buffer, else owned.
    pub(crate) fn body<R>(
        &mut self,
        len: usize,
        take: impl FnOnce(Cow<'_, [u8]>) -> R,
    ) -> Result<R> {
        self.check_len(len)?;
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

    /// Reads bytes until `end` finds where the reply ends; it sees all of it that has come so far, each time.
    /// At most the longest value's length is read. The connection stays unsettled: nobody knows what it still owes.
    pub(crate) fn receive_raw(
        &mut self,
        mut end: impl FnMut(&[u8]) -> std::result::Result<Option<usize>, Desync>,
    ) -> Result<Vec<u8>> {
        let mut reply = Vec::new();
        loop {
            reply.extend_from_slice(&self.input[self.start..self.end]);
            self.start = self.end;
            match end(&reply) {
                Ok(Some(len)) => {
                    reply.truncate(len);
                    return Ok(reply);
                }
                Ok(None) if reply.len() > self.limits.max_value_len => {
                    let limit = self.limits.max_value_len;
                    return Err(Error::protocol(format!(
                        "a reply of more than {limit} bytes"
                    )));
                }
                Ok(None) => self.fill(1)?,
                Err(desync) => return Err(self.out_of_step(desync)),
            }
        }
    }

    pub(super) fn check_len(&mut self, len: usize) -> Result<()> {
        let limit = self.limits.max_value_len;
        if len > limit {
            self.spoiled = true;
            return Err(Error::protocol(format!(
                "a value of {len} bytes was announced; at most {limit} are taken"
            )));
        }
        Ok(())
    }

    /// Reads until `count` bytes are there.
    fn gather(&mut self, count: usize) -> Result<()> {
        while self.end - self.start < count {
            self.fill(count - (self.end - self.start))?;
        }
        Ok(())
    }

    pub(super) fn check_body_end(&mut self, len: usize) -> Result<()> {
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
        self.check_len(len)?;
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
                // In its place, an error line breaks off the reply: the connection stays unsettled.
                Ok(Decoded::Reply {
                    reply: Reply::Refused(refusal),
                    ..
                }) => return Err(refusal.to_error()),
                _ => return Err(self.out_of_step(BROKEN_OFF)),
            }
        }
    }

    /// Like [`body`](Self::body), into a vector of the caller's, which is emptied first.
    pub(crate) fn body_into(&mut self, len: usize, value: &mut Vec<u8>) -> Result<()> {
        value.clear();
        if len.saturating_add(2) > INPUT_ROOM && len <= self.limits.max_value_len {
            return self.large_body(len, value);
        }
        self.body(len, |body| value.extend_from_slice(&body))
    }

    fn large_body(&mut self, len: usize, value: &mut Vec<u8>) -> Result<()> {
        find_value_room(len, value);
        self.take_unread(len, value);
        if value.len() < len {
            self.arm_read()?;
            // The timer is for each read: a peer that drips would outlive it, so the maintenance thread keeps the deadline.
            self.line.begin_untimed_read(self.call.read_deadline);
            let is_watched = self.watch.expect(self.call.read_deadline);
            let read = match is_watched {
                true => self.read_whole(len, value),
                false => Ok(()),
            };
            self.line.end_untimed_read();
            self.look_at_clock();
            if let Err(error) = read {
                return Err(self.read_error(error));
            }
        }
        // The pool has ended, and its thread: each read has a timer of its own.
        while value.len() < len {
            self.fill(1)?;
            self.take_unread(len, value);
        }
        self.gather(2)?;
        self.check_body_end(0)?;
        self.start += 2;
        Ok(())
    }

    /// Moves what has come of a body of `len` bytes to the rest of it.
    pub(super) fn take_unread(&mut self, len: usize, value: &mut Vec<u8>) {
        let here = (len - value.len()).min(self.end - self.start);
        value.extend_from_slice(&self.input[self.start..self.start + here]);
        self.start += here;
    }

    /// Reads until `value` has `len` bytes.
    fn read_whole(&self, len: usize, value: &mut Vec<u8>) -> io::Result<()> {
        while value.len() < len {
            find_value_room(len, value);
            let piece = (value.capacity() - value.len()).min(len - value.len());
            if self.line.stream.read_many(piece, value)? < piece {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(())
    }

    /// Reads once, at least a byte. `needed` is how many more will come for sure.
    fn fill(&mut self, needed: usize) -> Result<()> {
        self.find_room(needed)?;
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

    /// Sees to it that there is room for `needed` more bytes behind those that are there.
    #[inline]
    pub(super) fn find_room(&mut self, needed: usize) -> Result<()> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
        if self.input.len() - self.end < needed {
            self.make_room(needed)?;
        }
        Ok(())
    }

    /// Makes room behind the unread bytes, of which there are few.
    #[cold]
    fn make_room(&mut self, needed: usize) -> Result<()> {
        if self.input.is_empty() {
            self.input = vec![0; self.room];
            self.watch.expect(self.call.now + 2 * RESTED);
        } else if self.room < INPUT_ROOM {
            // The next reply may be as long: the room stays.
            self.room = INPUT_ROOM;
            self.input.resize(INPUT_ROOM, 0);
        }
        self.input.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        if self.input.len() - self.end < needed {
            self.spoiled = true;
            return Err(Error::protocol("a line of the reply is too long"));
        }
        Ok(())
    }

    /// Sets the socket's read timer to what is left of the operation, if it is not near that already.
    #[inline]
    fn arm_read(&mut self) -> Result<()> {
        if self.call.heard {
            self.look_at_clock();
        }
        let limit = self.time_left("reading the reply", self.call.read_deadline)?;
        self.set_read_timer(limit)
    }

    /// Sets the socket's read timer to `limit`, in nanoseconds, if it is not near that already.
    #[inline]
    pub(super) fn set_read_timer(&mut self, limit: u64) -> Result<()> {
        if near(self.read_timer, limit) {
            return Ok(());
        }
        self.change_read_timer(limit)
    }

    #[cold]
    fn change_read_timer(&mut self, limit: u64) -> Result<()> {
        self.line
            .stream
            .set_read_timeout(Duration::from_nanos(limit))
            .map_err(|error| self.read_error(error))?;
        self.read_timer = limit;
        Ok(())
    }

    pub(super) fn read_error(&mut self, error: io::Error) -> Error {
        self.failure("reading the reply", error)
    }
}

/// Sees to it that there is room in `value`, which is to have `len` bytes: for as many more as have come, and never for
/// more than those announced. A small lie costs little, and a true length no more than itself.
pub(super) fn find_value_room(len: usize, value: &mut Vec<u8>) {
    if value.len() == value.capacity() || value.is_empty() {
        let more = value.len().max(RESERVED_AT_ONCE);
        value.reserve_exact(more.min(len - value.len()));
    }
}
