//! What two clients that share servers are asked to do. It knows no client and no server.

use sockio::{ToValue, Value};

/// A client, of whatever language.
pub(crate) trait Peer {
    /// False if it was not stored, for whatever reason.
    fn set(&mut self, key: &str, value: &Datum) -> bool;

    /// The value in the type of `like`; `None` on a miss. Panics if what is read is of another type.
    fn get(&mut self, key: &str, like: &Datum) -> Option<Datum>;

    /// False if it was not there.
    fn delete(&mut self, key: &str) -> bool;

    /// Stores a counter.
    fn count(&mut self, key: &str, number: u64);

    /// Adds to a counter and returns the sum.
    fn incr(&mut self, key: &str, by: u64) -> Option<u64>;
}

/// A value of a type that most languages have.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Datum {
    Text(String),
    Bytes(Vec<u8>),
    Int(i64),
    Float(f64),
    Bool(bool),
}

impl ToValue for Datum {
    fn to_value(&self) -> Value<'_> {
        match self {
            Datum::Text(text) => text.to_value(),
            Datum::Bytes(bytes) => bytes.to_value(),
            Datum::Int(int) => int.to_value(),
            Datum::Float(float) => float.to_value(),
            Datum::Bool(bool) => bool.to_value(),
        }
    }
}

/// What a peer may be unable to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ability {
    /// Keys beyond ASCII.
    Utf8Keys,
    Bytes,
    Ints,
    Floats,
    Bools,
    /// Writes long text compressed.
    Compress,
    /// Sends some servers more keys than others.
    Weights,
}

impl Datum {
    /// How long a text must be for every peer to compress it (spymemcached: over 16,384 characters, pecl-memcache: 20,000).
    const LONG: usize = 30_000;

    /// The `number`th value: each type in turn, and each value another one.
    pub(crate) fn sample(number: usize, salt: &str) -> Self {
        let signed = number as i64 - 100;
        match number % 8 {
            0 => Datum::Text(format!("{salt} {number}: Zoë, 日本語, \u{1f600}")),
            1 => Datum::Text(format!("{salt} {number}")),
            2 => {
                let line = format!("{salt} {number}: over and over; ");
                Datum::Text(line.repeat(Self::LONG / line.len() + 1))
            }
            3 => Datum::Bytes((0..=255).chain([number as u8, b'\r', b'\n']).collect()),
            4 => Datum::Int(signed * 1_000_000_007),
            5 => Datum::Int(signed),
            6 => Datum::Float(number as f64 / 8.0 + 0.1),
            _ => Datum::Bool(number / 8 % 2 == 0),
        }
    }

    /// Whether it is long and compresses well.
    pub(crate) fn is_long(&self) -> bool {
        matches!(self, Datum::Text(text) if text.len() >= Self::LONG)
    }

    /// What a client must be able to do to store it.
    pub(crate) fn needs(&self) -> Option<Ability> {
        match self {
            Datum::Text(_) => None,
            Datum::Bytes(_) => Some(Ability::Bytes),
            Datum::Int(_) => Some(Ability::Ints),
            Datum::Float(_) => Some(Ability::Floats),
            Datum::Bool(_) => Some(Ability::Bools),
        }
    }
}
