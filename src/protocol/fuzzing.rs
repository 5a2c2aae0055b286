//! The decoder as the fuzz targets see it. Only `--cfg fuzzing`, which cargo-fuzz sets, builds it: no feature does, and no promise is made of it.

use crate::protocol::{Decoded, Expect, Reply, StoreVerb, text};

/// What the decoder makes of the bytes so far.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// So many bytes more will come at least.
    Need(usize),
    /// A reply, or a part of one.
    Part {
        /// What it says.
        part: Part,
        /// How many bytes it is made of.
        used: usize,
    },
    /// No reply to this command.
    Desync,
}

/// A reply or a part of one.
#[derive(Debug, PartialEq, Eq)]
pub enum Part {
    /// The head of a value.
    Value {
        /// Its key.
        key: Vec<u8>,
        /// What stands beside the key.
        head: Head,
    },
    /// Text that may be shown to people: of an error, a version or a statistic.
    Shown(String),
    /// Any other, as `Debug` shows it.
    Other(String),
}

/// The numbers beside the key of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// As the server keeps them.
    pub flags: u32,
    /// Of the body, in bytes.
    pub len: usize,
    /// The token, where one was asked for.
    pub cas: Option<u64>,
}

const EXPECTS: [Expect; 12] = [
    Expect::Values { cas: false },
    Expect::Values { cas: true },
    Expect::Store(StoreVerb::Set),
    Expect::Store(StoreVerb::Add),
    Expect::Store(StoreVerb::Cas(1)),
    Expect::Delete,
    Expect::Touch,
    Expect::Arith,
    Expect::Exists,
    Expect::FlushAll,
    Expect::Version,
    Expect::Stats,
];

/// Whether a command of this kind is answered by values, and if so, whether they have cas tokens.
pub fn values(kind: u8) -> Option<bool> {
    match expect(kind) {
        Expect::Values { cas } => Some(cas),
        _ => None,
    }
}

/// One step of the decoder; `kind` stands for the command.
pub fn decode(kind: u8, bytes: &[u8]) -> Step {
    match text::decode(expect(kind), bytes) {
        Ok(Decoded::Need(needed)) => Step::Need(needed),
        Ok(Decoded::Reply { reply, used }) => Step::Part {
            part: part(reply),
            used,
        },
        Err(_) => Step::Desync,
    }
}

/// The value of `key` at the head of the bytes, its body and what follows it, if the short cut for whole values takes it.
pub fn whole_value<'b>(
    bytes: &'b [u8],
    key: &[u8],
    cas: bool,
) -> Option<(Head, &'b [u8], &'b [u8])> {
    let (head, body, rest) = text::whole_value(bytes, key, cas)?;
    let head = Head {
        flags: head.flags,
        len: head.len,
        cas: head.cas,
    };
    Some((head, body, rest))
}

fn expect(kind: u8) -> Expect {
    EXPECTS[usize::from(kind) % EXPECTS.len()]
}

fn part(reply: Reply<'_>) -> Part {
    match reply {
        Reply::Value {
            key,
            flags,
            len,
            cas,
        } => Part::Value {
            key: key.to_vec(),
            head: Head { flags, len, cas },
        },
        Reply::Refused(refusal) => Part::Shown(refusal.line.to_owned()),
        Reply::Version(version) => Part::Shown(version.to_owned()),
        Reply::Stat { name, value } => Part::Shown(format!("{name} {value}")),
        other => Part::Other(format!("{other:?}")),
    }
}
