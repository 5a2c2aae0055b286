//! One connection: its bytes to lines and bodies. It knows nothing of sockets; bytes come in pieces of any size.

use std::io::{self, Write};
use std::time::SystemTime;

use super::commands::{self, Call, Next};
use super::replies::Replies;
use super::state::State;
use super::storage;

/// Without a line end in so many bytes the connection is closed, unless they begin with `get ` or `gets `.
const MAX_LINE: usize = 2048;

/// Blanks that may stand before such a `get`.
const MAX_BLANKS: usize = 100;

/// The line of a `get` may have 8 MiB; memcached has no bound here.
const MAX_MULTI_GET: usize = 8 << 20;

#[derive(Debug)]
pub(super) struct Session<W> {
    input: Vec<u8>,
    /// So many bytes of the line at the head of `input` are known to have no line end.
    searched: usize,
    next: Next,
    replies: Replies<W>,
}

impl<W: Write> Session<W> {
    pub(super) fn new(to: W) -> Self {
        Self {
            input: Vec::new(),
            searched: 0,
            next: Next::Line,
            replies: Replies::new(to),
        }
    }

    /// Takes what was received and answers it. Whether the connection goes on.
    pub(super) fn feed(
        &mut self,
        piece: &[u8],
        state: &State,
        now: SystemTime,
    ) -> io::Result<bool> {
        self.input.extend_from_slice(piece);
        let mut at = 0;
        let mut open = true;
        while open {
            let rest = self.input.get(at..).unwrap_or_default();
            let mut call = Call {
                state,
                replies: &mut self.replies,
                now,
                quiet: false,
            };
            match &mut self.next {
                Next::Close => open = false,
                Next::Line => {
                    let unseen = rest.get(self.searched..).unwrap_or_default();
                    let Some(end) = unseen.iter().position(|byte| *byte == b'\n') else {
                        self.searched = rest.len();
                        open = may_go_on(rest);
                        break;
                    };
                    let line = &rest[..self.searched + end];
                    at += line.len() + 1;
                    self.searched = 0;
                    let line = line.strip_suffix(b"\r").unwrap_or(line);
                    self.next = commands::line(line, call)?;
                }
                Next::Body(body) => {
                    let Some(bytes) = rest.get(..body.len) else {
                        break;
                    };
                    storage::complete(body, bytes, &mut call);
                    at += body.len;
                    self.next = Next::Line;
                }
                Next::Swallow { left, reply } => {
                    let swallowed = rest.len().min(*left);
                    at += swallowed;
                    *left -= swallowed;
                    if *left > 0 {
                        break;
                    }
                    if let Some(reply) = *reply {
                        call.say(reply);
                    }
                    self.next = Next::Line;
                }
            }
        }
        self.input.drain(..at);
        self.replies.flush()?;
        Ok(open)
    }
}

/// Whether a line without an end, yet, may become one.
fn may_go_on(line: &[u8]) -> bool {
    let blanks = line.iter().take_while(|byte| **byte == b' ').count();
    let text = line.get(blanks..).unwrap_or_default();
    let is_get = text.starts_with(b"get ") || text.starts_with(b"gets ");
    line.len() <= MAX_LINE || (is_get && blanks <= MAX_BLANKS && line.len() <= MAX_MULTI_GET)
}
