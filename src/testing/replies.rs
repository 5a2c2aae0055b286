//! The replies of one connection on their way out. It knows nothing of what they say.

use std::io::{self, Write};

/// So much may wait until it is sent.
const HIGH: usize = 64 << 10;

/// Collects replies, so that the answers to commands that came together leave together.
#[derive(Debug)]
pub(super) struct Replies<W> {
    waiting: Vec<u8>,
    to: W,
}

impl<W: Write> Replies<W> {
    pub(super) fn new(to: W) -> Self {
        Self {
            waiting: Vec::new(),
            to,
        }
    }

    pub(super) fn line(&mut self, text: &str) {
        self.bytes(text.as_bytes());
        self.bytes(b"\r\n");
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.waiting.extend_from_slice(bytes);
    }

    /// Forgets what was not sent.
    pub(super) fn lose(&mut self) {
        self.waiting.clear();
    }

    /// Sends what waits, if it has become much.
    pub(super) fn relieve(&mut self) -> io::Result<()> {
        if self.waiting.len() < HIGH {
            return Ok(());
        }
        self.flush()
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.to.write_all(&self.waiting)?;
        self.waiting.clear();
        Ok(())
    }
}
