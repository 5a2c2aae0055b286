//! Writing: commands out of the buffer, large bodies from where they lie, and the timer of each write.

use std::io::{self, IoSlice};
use std::time::Duration;

use super::{COPIED_BODY, OUTPUT_ROOM, SockIo, near};
use crate::error::{Error, ErrorKind, Result};
use crate::protocol::{Decoded, Expect, Reply, text};

const SENDING: &str = "sending the command";

impl SockIo {
    /// Sends one or several commands which `encode` writes, and `body` with its line end behind them, in one write.
    /// `replies` is how many answers they will have.
    #[inline]
    pub(crate) fn send(
        &mut self,
        replies: usize,
        body: Option<&[u8]>,
        encode: impl FnOnce(&mut Vec<u8>),
    ) -> Result<()> {
        if self.call.heard {
            // A further command: the answer to the one before took its time.
            self.look_at_clock();
        }
        // A call that comes too late leaves the connection as it is.
        let limit = self.time_left(SENDING, self.call.deadline)?;
        self.output.clear();
        encode(&mut self.output);
        self.owed += replies;
        self.call.sent_at = self.call.now;
        self.write_all(body, limit)
    }

    fn write_all(&mut self, body: Option<&[u8]>, limit: u64) -> Result<()> {
        self.spoiled = true;
        match body {
            Some(body) if body.len() > COPIED_BODY => self.write_parts(body, limit)?,
            body => {
                if let Some(body) = body {
                    self.output.extend_from_slice(body);
                    self.output.extend_from_slice(b"\r\n");
                }
                self.write_output(limit)?;
            }
        }
        self.spoiled = false;
        if self.output.capacity() > OUTPUT_ROOM {
            self.output = Vec::with_capacity(OUTPUT_ROOM);
        }
        Ok(())
    }

    /// Sets the socket's write timer to `limit`, if it is not near that already.
    #[inline]
    fn arm_write(&mut self, limit: u64) -> Result<()> {
        if near(self.write_timer, limit) {
            return Ok(());
        }
        self.set_write_timer(limit)
    }

    #[cold]
    fn set_write_timer(&mut self, limit: u64) -> Result<()> {
        self.line
            .stream
            .set_write_timeout(Duration::from_nanos(limit))
            .map_err(|error| Error::io(SENDING, error))?;
        self.write_timer = limit;
        Ok(())
    }

    #[inline]
    fn write_output(&mut self, mut limit: u64) -> Result<()> {
        let mut sent = 0;
        loop {
            self.arm_write(limit)?;
            match self.line.stream.write(&self.output[sent..]) {
                Ok(written) => self.wrote(written, &mut sent, self.output.len())?,
                Err(error) => self.write_failed(error)?,
            }
            if sent == self.output.len() {
                return Ok(());
            }
            limit = self.time_left(SENDING, self.call.deadline)?;
        }
    }

    /// The command line, the body and its line end in one vectored write: the body is never copied.
    fn write_parts(&mut self, body: &[u8], mut limit: u64) -> Result<()> {
        let total = self.output.len() + body.len() + 2;
        let mut sent = 0;
        loop {
            self.arm_write(limit)?;
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
            if sent == total {
                return Ok(());
            }
            limit = self.time_left(SENDING, self.call.deadline)?;
        }
    }

    #[inline]
    fn wrote(&mut self, written: usize, sent: &mut usize, total: usize) -> Result<()> {
        if written == 0 {
            return Err(self.write_error(io::ErrorKind::WriteZero.into()));
        }
        self.call.written = true;
        *sent += written;
        // A large write may have waited for the peer, also where it came to its end at once.
        if *sent < total || total > COPIED_BODY {
            self.look_at_clock();
        }
        Ok(())
    }

    /// A signal only interrupts; all else ends the operation.
    #[cold]
    fn write_failed(&mut self, error: io::Error) -> Result<()> {
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(self.write_error(error));
        }
        self.look_at_clock();
        Ok(())
    }

    fn write_error(&mut self, error: io::Error) -> Error {
        let error = self.failure(SENDING, error);
        // Part of the only command went out, and the connection broke: not all of it can have been carried out.
        if error.kind() == ErrorKind::Connection && self.call.written && self.owed == 1 {
            return self.last_words().unwrap_or(error);
        }
        error
    }

    /// The error line that a server sent before it closed: one that is full does so without reading the command.
    fn last_words(&mut self) -> Option<Error> {
        let mut words = [0; 256];
        self.line.stream.set_nonblocking(true).ok()?;
        let len = self.line.stream.read(&mut words).ok()?;
        match text::decode(Expect::Version, &words[..len]) {
            Ok(Decoded::Reply {
                reply: Reply::Refused(refusal),
                ..
            }) => Some(refusal.to_error()),
            _ => None,
        }
    }
}
