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

#[cfg(test)]
mod tests {
    use super::*;

    /// The answers to a stream that comes in these pieces, and whether the connection goes on.
    fn answers<'p>(pieces: impl IntoIterator<Item = &'p [u8]>) -> (String, bool) {
        let state = State::new(0);
        let mut out = Vec::new();
        let mut session = Session::new(&mut out);
        let open = pieces
            .into_iter()
            .all(|piece| session.feed(piece, &state, SystemTime::now()).unwrap());
        (String::from_utf8(out).unwrap(), open)
    }

    #[test]
    fn pieces_do_not_matter() {
        let key = "k".repeat(251);
        let stream = format!(
            "set a 1 0 3\r\nabc\r\nget a\r\nset {key} 0 0 9\r\nflush_all\r\nget a b\r\n\
             set a 0 0 2000000 noreply\r\n{}\r\nmn\r\nset b 0 0 2\r\nabcd\r\ndecr a 1\r\nquit\r\nmn\r\n",
            "mn\r\n".repeat(500_000)
        );
        let right = "STORED\r\nVALUE a 1 3\r\nabc\r\nEND\r\nCLIENT_ERROR bad command line format\r\nOK\r\nEND\r\n\
                     MN\r\nCLIENT_ERROR bad data chunk\r\nERROR\r\nNOT_FOUND\r\n";
        let stream = stream.as_bytes();
        assert_eq!(answers([stream]), (right.to_owned(), false));
        assert_eq!(answers(stream.chunks(7)), (right.to_owned(), false));
        for split in (0..400).chain(stream.len() - 100..stream.len() - 4) {
            let (head, tail) = stream.split_at(split);
            assert_eq!(
                answers([head, tail]),
                (right.to_owned(), false),
                "at {split}"
            );
        }
    }

    #[test]
    fn a_line_without_end_is_bounded() {
        let long = |start: &str, len| [start.as_bytes(), &vec![b'x'; len][..]].concat();
        assert!(answers([&long("", 2048)[..]]).1);
        assert!(!answers([&long("", 2049)[..]]).1);
        assert!(!answers([&long("gat 0 ", 2049)[..]]).1);
        assert!(answers([&long("  gets ", 1 << 20)[..]]).1);
        assert!(!answers([&long(&(" ".repeat(101) + "get "), 2049)[..]]).1);
        assert!(!answers([&long("get ", MAX_MULTI_GET)[..]]).1);
    }

    #[test]
    fn answers_not_yet_sent_are_lost_with_a_key_too_long() {
        let lost = format!("set a 0 0 1\r\nx\r\nget {}\r\nget a\r\n", "k".repeat(251));
        let right = "CLIENT_ERROR bad command line format\r\nVALUE a 0 1\r\nx\r\nEND\r\n";
        assert_eq!(answers([lost.as_bytes()]), (right.to_owned(), true));
    }
}
