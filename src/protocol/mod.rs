//! Requests to bytes and bytes to replies. Pure: no socket, no clock; a reply borrows the buffer it was read into.
//!
//! In scope: the form of every command, the meaning of every reply, and which replies leave the connection usable.
//! Out of scope: reading and writing, deadlines, retries, values.

#[cfg(fuzzing)]
pub mod fuzzing;
pub(crate) mod text;

use crate::error::{Error, ErrorKind};

/// One command of the text protocol, without the body of a store.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Request<'a> {
    /// `get`, or with `cas` `gets`, of one key.
    Get { key: &'a [u8], cas: bool },
    /// `gat`, or with `cas` `gats`, of one key.
    GetAndTouch {
        key: &'a [u8],
        exptime: i32,
        cas: bool,
    },
    /// The line before the body of `len` bytes; the sender adds the body and CRLF.
    Store {
        verb: StoreVerb,
        key: &'a [u8],
        flags: u32,
        exptime: i32,
        len: usize,
    },
    /// `delete`.
    Delete { key: &'a [u8] },
    /// `touch`.
    Touch { key: &'a [u8], exptime: i32 },
    /// `incr` or `decr`.
    Arith {
        verb: ArithVerb,
        key: &'a [u8],
        delta: u64,
    },
    /// `mg KEY`: whether the key is there, nothing fetched.
    Exists { key: &'a [u8] },
    /// `flush_all`, now or after this many seconds.
    FlushAll { delay: Option<u32> },
    /// `version`.
    Version,
    /// `stats`, or `stats ARGUMENT…` (checked by the caller: printable ASCII without line ends).
    Stats { argument: Option<&'a str> },
    /// `verbosity`.
    Verbosity { level: u32 },
}

/// How a value is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoreVerb {
    Set,
    Add,
    Replace,
    Append,
    Prepend,
    Cas(u64),
}

/// The direction in which a counter moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArithVerb {
    Incr,
    Decr,
}

/// The command whose reply is awaited: what its reply may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expect {
    /// Values, then `END`; each value with a cas token or without.
    Values {
        cas: bool,
    },
    Store(StoreVerb),
    Delete,
    Touch,
    Arith,
    Exists,
    FlushAll,
    Version,
    Stats,
    Verbosity,
}

/// The outcome of looking at the bytes received so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decoded<'b> {
    /// The reply is not whole: at least this many more bytes will come (1 where that is not known).
    Need(usize),
    /// One reply, made of the first `used` bytes.
    Reply { reply: Reply<'b>, used: usize },
}

/// One reply, or one part of a reply that has several (`Value` … `End`, `Stat` … `End`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reply<'b> {
    /// The head of a value. Its body of `len` bytes and a CRLF follow the `used` bytes.
    Value {
        key: &'b [u8],
        flags: u32,
        len: usize,
        cas: Option<u64>,
    },
    /// The end of values or statistics.
    End,
    Stored,
    NotStored,
    /// The cas token is no longer that of the item.
    Exists,
    NotFound,
    Deleted,
    Touched,
    /// The key is there (`mg` without flags: `HD`).
    Present,
    Number(u64),
    Ok,
    Reset,
    Version(&'b str),
    Stat {
        name: &'b str,
        value: &'b str,
    },
    /// A line of `stats` that is no `STAT` line (`ITEM …` of `stats cachedump`, `PREFIX …` of `stats detail dump`), whole.
    /// It names keys, so it need not be UTF-8.
    Line(&'b [u8]),
    Refused(Refusal<'b>),
}

/// What the head of a value says, besides the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ValueHead {
    pub(crate) flags: u32,
    pub(crate) len: usize,
    pub(crate) cas: Option<u64>,
}

/// An error line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal<'b> {
    /// Whether the server (`SERVER_ERROR`) or the client (`CLIENT_ERROR`, `ERROR`) is blamed.
    pub(crate) server: bool,
    /// The whole line without its end; no control characters.
    pub(crate) line: &'b str,
    /// Whether the connection may be used again, as far as this line and its command tell.
    ///
    /// Only memory of the exchange knows the rest. Close as well
    /// - where a `Value`, `Stat` or `Line` of the same reply was read before: the error took the place of `End`;
    /// - where `get` or `gat` was sent behind commands not yet answered: memcached 1.6.18 loses their replies.
    pub(crate) keep: bool,
}

impl Refusal<'_> {
    /// What the caller of the command gets.
    pub(crate) fn to_error(self) -> Error {
        let kind = if self.server {
            ErrorKind::Server
        } else {
            ErrorKind::Client
        };
        Error::new(kind, self.line.to_owned())
    }

    /// The error of a command that was sent behind one whose refusal closes the connection.
    pub(crate) fn error_behind() -> Error {
        let message = "the server refused a command before it";
        Error::new(ErrorKind::Connection, message)
    }
}

/// The bytes are no reply to the command: the connection is out of step and must be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Desync(pub(crate) &'static str);
