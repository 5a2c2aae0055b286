//! Replies to their meaning. It looks at the bytes received so far and knows nothing of how they came.
//!
//! Every decision is made from left to right, on the first byte that allows it, and never taken back. So a reply
//! means the same however its bytes were split, and a stream that cannot become a reply is told as early as can be.

use crate::key::MAX_KEY_LEN;
use crate::protocol::{Decoded, Desync, Expect, Refusal, Reply, StoreVerb, ValueHead};

/// A line of free text without an end after so many bytes is no reply; memcached bears no longer command lines either.
/// Its own lines are short: those of `stats settings` may hold a path.
const MAX_LINE: usize = 2048;

/// The longest number: `u64::MAX`.
const MAX_DIGITS: usize = 20;

const FOREIGN: Desync = Desync("the bytes are no reply to this command");
const BAD_VALUE: Desync = Desync("a VALUE line is malformed");
const BAD_NUMBER: Desync = Desync("the new number is malformed");
const BAD_LINE: Desync = Desync("a reply line is malformed");
const TOO_LONG: Desync = Desync("a reply line does not end");
const BAD_BODY: Desync = Desync("a value is not followed by its line end");

/// Reads one reply, or one part of a reply, off the head of `buffer`.
///
/// Of a value only the head line is read: its body and CRLF follow `used`, and the length is the caller's to limit.
/// An error line whose text is not known for the command is a refusal that closes the connection.
/// `stats sizes_enable` and `stats sizes_disable` are answered without `End`: whoever waits for it waits in vain.
pub(crate) fn decode(expect: Expect, buffer: &[u8]) -> Result<Decoded<'_>, Desync> {
    if let Some(decoded) = usual(expect, buffer) {
        return decoded;
    }
    let mut missing = usize::MAX;
    if let Expect::Values { cas } = expect {
        match starts(buffer, b"VALUE ") {
            Start::Whole => return value(buffer, cas),
            Start::Lacks(count) => missing = count,
            Start::Other => {}
        }
    }
    for (word, reply) in words(expect) {
        match starts(buffer, word) {
            Start::Whole => {
                return Ok(Decoded::Reply {
                    reply: *reply,
                    used: word.len(),
                });
            }
            Start::Lacks(count) => missing = missing.min(count),
            Start::Other => {}
        }
    }
    if expect == Expect::Arith && buffer.first().is_some_and(u8::is_ascii_digit) {
        return number(buffer);
    }
    for (head, read) in lines(expect).iter().chain(ERRORS) {
        match starts(buffer, head) {
            Start::Whole => return line(expect, buffer, *read),
            Start::Lacks(count) => missing = missing.min(count),
            Start::Other => {}
        }
    }
    match missing {
        usize::MAX => Err(FOREIGN),
        // The shortest reply with a number: a digit and the line end.
        _ if expect == Expect::Arith && buffer.is_empty() => Ok(Decoded::Need(3)),
        _ => Ok(Decoded::Need(missing)),
    }
}

/// The replies that come nearly always, told by one comparison; what it leaves open is read in the same way, but slower.
#[inline]
fn usual(expect: Expect, buffer: &[u8]) -> Option<Result<Decoded<'_>, Desync>> {
    let fixed = |reply, used| Some(Ok(Decoded::Reply { reply, used }));
    match expect {
        Expect::Values { cas } if buffer.first_chunk() == Some(b"VALUE ") => {
            Some(value(buffer, cas))
        }
        Expect::Values { .. } if buffer.first_chunk() == Some(b"END\r\n") => fixed(Reply::End, 5),
        Expect::Store(_) if buffer.first_chunk() == Some(b"STORED\r\n") => fixed(Reply::Stored, 8),
        _ => None,
    }
}

/// Checks the two bytes behind the body of a value.
pub(crate) fn body_end(two: &[u8]) -> Result<(), Desync> {
    if two == b"\r\n" {
        Ok(())
    } else {
        Err(BAD_BODY)
    }
}

/// How the bytes stand to a text that they may start with.
enum Start {
    Whole,
    /// They are its beginning, and so many bytes of it are to come.
    Lacks(usize),
    Other,
}

#[inline]
fn starts(buffer: &[u8], text: &[u8]) -> Start {
    if buffer.starts_with(text) {
        Start::Whole
    } else if text.starts_with(buffer) {
        Start::Lacks(text.len() - buffer.len())
    } else {
        Start::Other
    }
}

/// The replies of fixed text, line end included.
fn words(expect: Expect) -> &'static [(&'static [u8], Reply<'static>)] {
    match expect {
        Expect::Values { .. } => &[(b"END\r\n", Reply::End)],
        Expect::Store(StoreVerb::Cas(_)) => &[
            (b"STORED\r\n", Reply::Stored),
            (b"EXISTS\r\n", Reply::Exists),
            (b"NOT_FOUND\r\n", Reply::NotFound),
        ],
        Expect::Store(StoreVerb::Set) => &[(b"STORED\r\n", Reply::Stored)],
        Expect::Store(_) => &[
            (b"STORED\r\n", Reply::Stored),
            (b"NOT_STORED\r\n", Reply::NotStored),
        ],
        Expect::Delete => &[
            (b"DELETED\r\n", Reply::Deleted),
            (b"NOT_FOUND\r\n", Reply::NotFound),
        ],
        Expect::Touch => &[
            (b"TOUCHED\r\n", Reply::Touched),
            (b"NOT_FOUND\r\n", Reply::NotFound),
        ],
        Expect::Arith => &[(b"NOT_FOUND\r\n", Reply::NotFound)],
        Expect::Exists => &[(b"HD\r\n", Reply::Present), (b"EN\r\n", Reply::NotFound)],
        Expect::FlushAll | Expect::Verbosity => &[(b"OK\r\n", Reply::Ok)],
        Expect::Version => &[],
        Expect::Stats => &[
            (b"END\r\n", Reply::End),
            (b"RESET\r\n", Reply::Reset),
            (b"OK\r\n", Reply::Ok),
        ],
    }
}

/// A line of free text: what stands before the text tells how it is read.
type Line = (&'static [u8], Read);

#[derive(Clone, Copy)]
enum Read {
    Version,
    Stat,
    Raw,
    Error { server: bool },
}

fn lines(expect: Expect) -> &'static [Line] {
    match expect {
        Expect::Version => &[(b"VERSION ", Read::Version)],
        Expect::Stats => &[
            (b"STAT ", Read::Stat),
            (b"ITEM ", Read::Raw),
            (b"PREFIX ", Read::Raw),
        ],
        _ => &[],
    }
}

const ERRORS: &[Line] = &[
    (b"ERROR\r\n", Read::Error { server: false }),
    // The server's own trouble, in spite of the word: memcached sends it before it closes.
    (
        b"ERROR Too many open connections",
        Read::Error { server: true },
    ),
    (b"ERROR ", Read::Error { server: false }),
    (b"CLIENT_ERROR ", Read::Error { server: false }),
    (b"SERVER_ERROR ", Read::Error { server: true }),
];

/// `VALUE key flags len` or `VALUE key flags len cas`: the line that most replies are made of, read in one pass.
fn value(buffer: &[u8], cas: bool) -> Result<Decoded<'_>, Desync> {
    let mut cursor = Cursor {
        buffer,
        at: b"VALUE ".len(),
    };
    match value_fields(&mut cursor, cas) {
        Ok(reply) => Ok(Decoded::Reply {
            reply,
            used: cursor.at,
        }),
        Err(Stop::Short) => Ok(Decoded::Need(1)),
        Err(Stop::Bad) => Err(BAD_VALUE),
    }
}

fn value_fields<'b>(cursor: &mut Cursor<'b>, cas: bool) -> Result<Reply<'b>, Stop> {
    let key = cursor.key()?;
    let ValueHead { flags, len, cas } = value_numbers(cursor, cas)?;
    Ok(Reply::Value {
        key,
        flags,
        len,
        cas,
    })
}

#[inline]
fn value_numbers(cursor: &mut Cursor<'_>, cas: bool) -> Result<ValueHead, Stop> {
    let flags = cursor.flags()?;
    cursor.byte(b' ')?;
    let len = usize::try_from(cursor.number(u64::MAX)?).map_err(|_| Stop::Bad)?;
    let cas = if cas {
        cursor.byte(b' ')?;
        Some(cursor.number(u64::MAX)?)
    } else {
        None
    };
    cursor.line_end()?;
    Ok(ValueHead { flags, len, cas })
}

/// The new value of a counter. Blanks behind it are the padding of the stored text: that the reply comes without them is
/// promised by no one (memcached `doc/protocol.txt`, "Increment/Decrement": the returned length need not shrink).
fn number(buffer: &[u8]) -> Result<Decoded<'_>, Desync> {
    let mut cursor = Cursor { buffer, at: 0 };
    let mut read = || {
        let number = cursor.number(u64::MAX)?;
        cursor.blanks()?;
        cursor.line_end()?;
        Ok(number)
    };
    match read() {
        Ok(number) => Ok(Decoded::Reply {
            reply: Reply::Number(number),
            used: cursor.at,
        }),
        Err(Stop::Short) => Ok(Decoded::Need(1)),
        Err(Stop::Bad) => Err(BAD_NUMBER),
    }
}

/// Why a cursor went no further.
enum Stop {
    Short,
    Bad,
}

/// Reads fields from left to right and never looks ahead.
struct Cursor<'b> {
    buffer: &'b [u8],
    at: usize,
}

impl<'b> Cursor<'b> {
    /// A token of 1 to 250 bytes, and the blank behind it.
    #[inline]
    fn key(&mut self) -> Result<&'b [u8], Stop> {
        let rest = self.buffer.get(self.at..).ok_or(Stop::Short)?;
        match rest
            .iter()
            .take(MAX_KEY_LEN + 1)
            .position(|byte| *byte <= b' ')
        {
            Some(len) if len > 0 && rest[len] == b' ' => {
                self.at += len + 1;
                Ok(&rest[..len])
            }
            None if rest.len() <= MAX_KEY_LEN => Err(Stop::Short),
            _ => Err(Stop::Bad),
        }
    }

    /// A `u32`, or the negative `i32` that a server with signed flags makes of one.
    #[inline]
    fn flags(&mut self) -> Result<u32, Stop> {
        if self.peek()? != b'-' {
            return Ok(self.number(u32::MAX.into())? as u32);
        }
        self.at += 1;
        Ok((self.number(1 << 31)? as u32).wrapping_neg())
    }

    /// Digits up to a byte that is none.
    #[inline]
    fn number(&mut self, max: u64) -> Result<u64, Stop> {
        /// So many digits cannot overflow.
        const SAFE_DIGITS: usize = MAX_DIGITS - 1;
        let digits = self.buffer.get(self.at..).ok_or(Stop::Short)?;
        let mut number: u64 = 0;
        let mut len = 0;
        for byte in digits {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            number = if len < SAFE_DIGITS {
                number * 10 + u64::from(digit)
            } else {
                let tens = (len < MAX_DIGITS).then(|| number.checked_mul(10));
                let sum = tens
                    .flatten()
                    .and_then(|tens| tens.checked_add(digit.into()));
                sum.ok_or(Stop::Bad)?
            };
            len += 1;
        }
        self.at += len;
        match digits.get(len) {
            _ if number > max => Err(Stop::Bad),
            None => Err(Stop::Short),
            Some(_) if len == 0 => Err(Stop::Bad),
            Some(_) => Ok(number),
        }
    }

    fn blanks(&mut self) -> Result<(), Stop> {
        while self.peek()? == b' ' {
            self.at += 1;
            if self.at > MAX_LINE {
                return Err(Stop::Bad);
            }
        }
        Ok(())
    }

    #[inline]
    fn line_end(&mut self) -> Result<(), Stop> {
        self.byte(b'\r')?;
        self.byte(b'\n')
    }

    #[inline]
    fn byte(&mut self, byte: u8) -> Result<(), Stop> {
        if self.peek()? != byte {
            return Err(Stop::Bad);
        }
        self.at += 1;
        Ok(())
    }

    #[inline]
    fn peek(&self) -> Result<u8, Stop> {
        self.buffer.get(self.at).copied().ok_or(Stop::Short)
    }
}

fn line(expect: Expect, buffer: &[u8], read: Read) -> Result<Decoded<'_>, Desync> {
    let window = buffer.get(..MAX_LINE).unwrap_or(buffer);
    let Some(end) = window.iter().position(|byte| *byte == b'\n') else {
        return match window.len() {
            MAX_LINE => Err(TOO_LONG),
            _ => Ok(Decoded::Need(1)),
        };
    };
    let bytes = window[..end].strip_suffix(b"\r").ok_or(BAD_LINE)?;
    let reply = match read {
        Read::Raw => Reply::Line(bytes),
        Read::Version => Reply::Version(version(text(bytes)?)?),
        Read::Stat => stat(text(bytes)?)?,
        Read::Error { server } => {
            let line = text(bytes)?;
            Reply::Refused(Refusal {
                server,
                line,
                keep: keeps(expect, line),
            })
        }
    };
    Ok(Decoded::Reply {
        reply,
        used: end + 1,
    })
}

/// What may be shown to people: UTF-8 without control characters.
fn text(bytes: &[u8]) -> Result<&str, Desync> {
    std::str::from_utf8(bytes)
        .ok()
        .filter(|text| !text.contains(char::is_control))
        .ok_or(BAD_LINE)
}

fn version(line: &str) -> Result<&str, Desync> {
    line.strip_prefix("VERSION ")
        .filter(|version| !version.is_empty())
        .ok_or(BAD_LINE)
}

/// The value may be empty and may have blanks in it; without a value the blank before it may be missing.
fn stat(line: &str) -> Result<Reply<'_>, Desync> {
    let rest = line.strip_prefix("STAT ").ok_or(BAD_LINE)?;
    let (name, value) = rest.split_once(' ').unwrap_or((rest, ""));
    if name.is_empty() {
        return Err(BAD_LINE);
    }
    Ok(Reply::Stat { name, value })
}

/// The error lines that are known to leave the connection in step (measured on memcached 1.6.18).
///
/// A store has two only: other servers than the one measured, and other versions, differ in whether they take the body
/// of a rejected store for commands.
fn keeps(expect: Expect, line: &str) -> bool {
    const FORMAT: &str = "CLIENT_ERROR bad command line format";
    const EXPTIME: &str = "CLIENT_ERROR invalid exptime argument";
    let texts: &[&str] = match expect {
        Expect::Store(_) => &[
            "SERVER_ERROR object too large for cache",
            "SERVER_ERROR out of memory storing object",
        ],
        Expect::Values { .. } => &[
            "ERROR",
            FORMAT,
            EXPTIME,
            "SERVER_ERROR out of memory writing get response",
        ],
        Expect::Delete => &[
            "ERROR",
            FORMAT,
            "CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]",
        ],
        Expect::Touch => &["ERROR", FORMAT, EXPTIME],
        Expect::Arith => &[
            "ERROR",
            FORMAT,
            "CLIENT_ERROR cannot increment or decrement non-numeric value",
            "CLIENT_ERROR invalid numeric delta argument",
            "SERVER_ERROR out of memory",
        ],
        // Servers before 1.6 do not know `mg`.
        Expect::Exists | Expect::Verbosity => &["ERROR", FORMAT],
        Expect::FlushAll => &[
            "ERROR",
            FORMAT,
            EXPTIME,
            "CLIENT_ERROR flush_all not allowed",
        ],
        Expect::Version => &["ERROR"],
        // Each subcommand has texts of its own, all of one line.
        Expect::Stats => return line == "ERROR" || line.starts_with("CLIENT_ERROR "),
    };
    texts.contains(&line)
}
