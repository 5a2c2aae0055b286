//! Commands that the crate does not know: bytes out, bytes back. It knows lines and announced bodies, no command.

use super::MemcachedClient;
use super::execute::Repeat;
use crate::error::{Error, Result};
use crate::key::{Room, ToKey};
use crate::protocol::Desync;
use crate::sock::SockIo;

/// Where the reply to a raw request ends. An error line (`ERROR`, `CLIENT_ERROR …`, `SERVER_ERROR …`) ends every reply.
///
/// Lines are counted outside of values: the body that a `VALUE key flags length` or a `VA length` line announces is
/// part of the reply, whatever it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RawEnd<'a> {
    /// With its first line, and that line's body.
    FirstLine,
    /// With a line that is one of these, without the line end: `&["END"]`.
    AnyOf(&'a [&'a str]),
}

/// For commands that this client has no method for. The pool still finds the connection and keeps the deadline.
impl MemcachedClient {
    /// Sends `request` as it is to the server of `key` and returns the reply as it came, with its line ends.
    ///
    /// The request ends in `\r\n` and asks for one reply. The connection is closed afterwards, since only the caller
    /// knows what state it is in. A request is never sent twice.
    ///
    /// ```no_run
    /// # fn main() -> sockio::Result<()> {
    /// use sockio::RawEnd;
    /// # let client = sockio::MemcachedClient::connect("127.0.0.1:11211")?;
    /// let reply = client.raw("session", b"mg session t f\r\n", RawEnd::FirstLine)?;
    /// # let _ = reply; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Config`](crate::ErrorKind::Config) if the request does not end in `\r\n`, or no line is named that ends the reply;
    /// [`ErrorKind::Ambiguous`](crate::ErrorKind::Ambiguous) if the reply was lost. A reply that is an error line is a reply.
    pub fn raw(&self, key: impl ToKey, request: &[u8], end: RawEnd<'_>) -> Result<Vec<u8>> {
        check(request, end)?;
        let mut room = Room::default();
        let key = self.pool.check(&key, &mut room)?;
        let answer = self.execute(&key, Repeat::Never, |io| exchange(io, request, end));
        answer.inspect_err(|error| {
            self.tell(error);
        })
    }

    /// Like [`raw`](Self::raw), with a server that is named as it was configured.
    pub fn raw_on(&self, server: &str, request: &[u8], end: RawEnd<'_>) -> Result<Vec<u8>> {
        check(request, end)?;
        let host = self.pool.host(server)?;
        let answer = self.execute_on(host, Repeat::Never, |io| exchange(io, request, end));
        answer.inspect_err(|error| {
            self.tell(error);
        })
    }
}

fn check(request: &[u8], end: RawEnd<'_>) -> Result<()> {
    if end == RawEnd::AnyOf(&[]) {
        return Err(Error::config("no line would end the raw reply"));
    }
    match request {
        [.., b'\r', b'\n'] => Ok(()),
        _ => Err(Error::config("a raw request must end in CR LF")),
    }
}

fn exchange(io: &mut SockIo, request: &[u8], end: RawEnd<'_>) -> Result<Vec<u8>> {
    io.send(1, None, |out| out.extend_from_slice(request))?;
    let mut scan = Scan::default();
    io.receive_raw(|reply| scan.end(reply, end))
}

/// Looks for the end of a reply that grows; no byte is looked at twice.
#[derive(Default)]
struct Scan {
    /// Where the current line begins; past the bytes received, while a body is awaited.
    line: usize,
    /// Up to where it was searched for its end.
    seen: usize,
    /// The line before, whose body is awaited, was the last.
    last: bool,
}

impl Scan {
    fn end(&mut self, reply: &[u8], end: RawEnd<'_>) -> std::result::Result<Option<usize>, Desync> {
        loop {
            let Some(rest) = reply.get(self.line.max(self.seen)..) else {
                return Ok(None);
            };
            if self.last {
                return Ok(Some(self.line));
            }
            let Some(found) = rest.iter().position(|byte| *byte == b'\n') else {
                self.seen = reply.len();
                return Ok(None);
            };
            let after = self.line.max(self.seen) + found + 1;
            let line = reply[self.line..after].trim_ascii_end();
            self.last = match end {
                RawEnd::FirstLine => true,
                RawEnd::AnyOf(ends) => ends.iter().any(|end| end.as_bytes() == line),
            } || is_error(line);
            self.line = match announced(line)? {
                Some(body) => after.checked_add(body).ok_or(BAD_LENGTH)?,
                None => after,
            };
        }
    }
}

const BAD_LENGTH: Desync = Desync("a line announces a body of no length");

fn is_error(line: &[u8]) -> bool {
    let word = line.split(|byte| *byte == b' ').next();
    matches!(word, Some(b"ERROR" | b"CLIENT_ERROR" | b"SERVER_ERROR"))
}

/// The length of the body behind a line, its line end included, if it has one.
fn announced(line: &[u8]) -> std::result::Result<Option<usize>, Desync> {
    let mut words = line.split(|byte| *byte == b' ');
    let len = match words.next() {
        Some(b"VALUE") => words.nth(2),
        Some(b"VA") => words.next(),
        _ => return Ok(None),
    };
    len.and_then(|digits| std::str::from_utf8(digits).ok())
        .and_then(|digits| digits.parse::<usize>().ok())
        .and_then(|len| len.checked_add(2))
        .map(Some)
        .ok_or(BAD_LENGTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The length of the reply, found while its bytes come one by one.
    fn dripped(bytes: &[u8], end: RawEnd<'_>) -> Option<usize> {
        let mut scan = Scan::default();
        (0..=bytes.len()).find_map(|len| scan.end(&bytes[..len], end).unwrap())
    }

    #[test]
    fn the_end_is_found_however_the_bytes_come() {
        const END: RawEnd<'_> = RawEnd::AnyOf(&["END", "OK"]);
        for (reply, end) in [
            ("OK\r\n", RawEnd::FirstLine),
            ("OK\r\n", END),
            ("ERROR\r\n", END),
            ("SERVER_ERROR out of memory\r\n", END),
            ("VALUE k 0 5\r\nEND\r\n\r\nEND\r\n", END),
            ("VALUE k 0 0 7\r\n\r\nVALUE l 0 3\r\nOK\n\r\nEND\r\n", END),
            ("VA 4 t0\r\n\r\nOK\r\n", RawEnd::FirstLine),
            ("key=a exp=-1\r\nkey=END exp=-1\r\nEND\r\n", END),
        ] {
            let more = format!("{reply}END\r\nOK\r\n");
            let mut scan = Scan::default();
            assert_eq!(
                scan.end(more.as_bytes(), end),
                Ok(Some(reply.len())),
                "{reply:?}"
            );
            assert_eq!(
                dripped(more.as_bytes(), end),
                Some(reply.len()),
                "{reply:?}"
            );
            assert_eq!(dripped(&reply.as_bytes()[..reply.len() - 1], end), None);
        }
    }

    #[test]
    fn what_would_wait_for_ever_is_refused() {
        assert!(check(b"mn\r\n", RawEnd::AnyOf(&["MN"])).is_ok());
        for (request, end) in [
            (&b"mn\r\n"[..], RawEnd::AnyOf(&[])),
            (b"mn", RawEnd::FirstLine),
            (b"mn\n", RawEnd::FirstLine),
            (b"", RawEnd::FirstLine),
        ] {
            let kind = check(request, end).unwrap_err().kind();
            assert_eq!(kind, crate::ErrorKind::Config);
        }
    }

    #[test]
    fn a_body_without_a_length_is_refused() {
        for head in [
            "VALUE k 0\r\n",
            "VALUE k 0 -1\r\n",
            "VA x\r\n",
            "VALUE k 0 18446744073709551615\r\n",
            "VA 18446744073709551613\r\n",
        ] {
            let found = Scan::default().end(head.as_bytes(), RawEnd::FirstLine);
            assert_eq!(found, Err(BAD_LENGTH), "{head:?}");
        }
    }
}
