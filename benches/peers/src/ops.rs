//! The operations: what each stores first, and what it then does with a client. It knows no client's inside.

use std::fmt;
use std::str::FromStr;

use crate::clients::{Peer, Result};

/// One operation; the numbers are bytes of the value, or keys in a call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Op {
    Get(usize),
    Miss,
    Set(usize),
    Incr,
    /// A get with the cas number, and a store that depends on it.
    Cas,
    GetMulti(usize),
    SetMulti(usize),
}

const KIB: usize = 1024;

/// The values of operations on many keys, and of `cas`.
const LEN: usize = 100;

impl Op {
    pub(crate) const ALL: &[Self] = &[
        Self::Get(100),
        Self::Get(10 * KIB),
        Self::Get(100 * KIB),
        Self::Get(900 * KIB),
        Self::Miss,
        Self::Set(100),
        Self::Set(10 * KIB),
        Self::Set(100 * KIB),
        Self::Set(900 * KIB),
        Self::Incr,
        Self::Cas,
        Self::GetMulti(10),
        Self::GetMulti(100),
        Self::GetMulti(1000),
        Self::SetMulti(100),
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Get(100) => "get100",
            Self::Get(10_240) => "get10k",
            Self::Get(102_400) => "get100k",
            Self::Get(_) => "get900k",
            Self::Miss => "miss",
            Self::Set(100) => "set100",
            Self::Set(10_240) => "set10k",
            Self::Set(102_400) => "set100k",
            Self::Set(_) => "set900k",
            Self::Incr => "incr",
            Self::Cas => "cas",
            Self::GetMulti(10) => "multi10",
            Self::GetMulti(100) => "multi100",
            Self::GetMulti(_) => "multi1000",
            Self::SetMulti(_) => "set_multi100",
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Op {
    type Err = String;

    fn from_str(name: &str) -> std::result::Result<Self, String> {
        let found = Self::ALL.iter().find(|op| op.name() == name);
        found
            .copied()
            .ok_or_else(|| format!("{name:?} is no operation"))
    }
}

/// Keys of 16 bytes, in both forms that clients take.
#[derive(Debug)]
pub(crate) struct Keys {
    pub(crate) text: Vec<&'static str>,
    pub(crate) bytes: Vec<&'static [u8]>,
}

/// An operation with its keys and its value.
#[derive(Debug)]
pub(crate) struct Work {
    op: Op,
    keys: Keys,
    value: Vec<u8>,
}

impl Work {
    /// For the thread with this number: no two of them have a key in common.
    pub(crate) fn new(op: Op, thread: usize) -> Self {
        let (count, len) = match op {
            Op::Get(len) | Op::Set(len) => (1, len),
            Op::GetMulti(count) | Op::SetMulti(count) => (count, LEN),
            Op::Miss | Op::Incr | Op::Cas => (1, LEN),
        };
        // Operations that meet on one server at different times must not find each other's keys.
        let kind = match op {
            Op::Get(_) => 'g',
            Op::Miss => 'n',
            Op::Set(_) | Op::SetMulti(_) => 's',
            Op::Incr => 'i',
            Op::Cas => 'c',
            Op::GetMulti(_) => 'm',
        };
        let key = |number| -> &'static str {
            // The program ends soon, and a list of slices of its own strings would need a type of its own.
            format!("peers_{kind}_{thread:03}_{number:04}").leak()
        };
        let text: Vec<&'static str> = (0..count).map(key).collect();
        let bytes = text.iter().map(|key| key.as_bytes()).collect();
        Self {
            op,
            keys: Keys { text, bytes },
            value: vec![b'v'; len],
        }
    }

    /// Stores what the operation asks for, and does it once: all connections are open then, and all buffers have grown.
    pub(crate) fn prepare(&self, peer: &mut dyn Peer) -> Result<()> {
        let key = self.keys.text[0];
        match self.op {
            Op::Get(_) | Op::Cas => peer.set(key, &self.value)?,
            Op::Incr => peer.set(key, b"0")?,
            Op::GetMulti(_) => {
                for key in &self.keys.text {
                    peer.set(key, &self.value)?;
                }
            }
            Op::Miss | Op::Set(_) | Op::SetMulti(_) => {}
        }
        self.run(peer)
    }

    /// Does the operation once; an answer that is not the one due is an error.
    pub(crate) fn run(&self, peer: &mut dyn Peer) -> Result<()> {
        let key = self.keys.text[0];
        let right = match self.op {
            Op::Get(len) => peer.get(key)?.is_some_and(|value| value.len() == len),
            Op::Miss => peer.get(key)?.is_none(),
            Op::Set(_) => {
                peer.set(key, &self.value)?;
                true
            }
            Op::Incr => peer.incr(key)? > 0,
            Op::Cas => peer.cas(key, &self.value)?,
            Op::GetMulti(count) => peer.get_multi(&self.keys)? == count,
            Op::SetMulti(_) => {
                peer.set_multi(&self.keys, &self.value)?;
                true
            }
        };
        if right {
            Ok(())
        } else {
            Err(format!("not the answer to {}", self.op).into())
        }
    }
}
