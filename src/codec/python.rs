//! What the three Python clients have in common: the flags, which python-memcached gave, and the forms. It knows no compression.

use std::borrow::Cow;

use super::value::{ForeignKind, Value};
use super::{payload, pickle};
use crate::error::{Error, Result};

// python-memcached 1.58 `memcache.py`, `Client._FLAG_…`; pylibmc 1.6.3 `_pylibmcmodule.h`, `PYLIBMC_FLAG_…`;
// pymemcache 3.5.2 `serde.py`, `FLAG_…`.
pub(super) const BYTES: u32 = 0;
pub(super) const PICKLE: u32 = 1;
pub(super) const INTEGER: u32 = 1 << 1;
pub(super) const LONG: u32 = 1 << 2;
pub(super) const ZLIB: u32 = 1 << 3;
pub(super) const TEXT: u32 = 1 << 4;

/// The flags and the payload before compression; `integer` is the mark of Python's `int`.
pub(super) fn write(value: Value<'_>, integer: u32, protocol: u8) -> Result<(u32, Cow<'_, [u8]>)> {
    Ok(match value {
        Value::Bytes(bytes) => (BYTES, bytes),
        Value::Text(text) | Value::StringBuffer(text) | Value::StringBuilder(text) => {
            (TEXT, payload::into_bytes(text))
        }
        Value::Null => (PICKLE, Cow::Owned(pickle::none(protocol))),
        Value::Bool(truth) => (PICKLE, Cow::Owned(pickle::bool(protocol, truth))),
        Value::F32(float) => (PICKLE, Cow::Owned(pickle::float(protocol, float.into()))),
        Value::F64(float) => (PICKLE, Cow::Owned(pickle::float(protocol, float))),
        Value::Foreign {
            kind: ForeignKind::Pickle,
            bytes,
        } => (PICKLE, bytes),
        Value::Char(_) => (TEXT, Cow::Owned(scalar(&value)?)),
        value => (integer, Cow::Owned(scalar(&value)?)),
    })
}

fn scalar(value: &Value<'_>) -> Result<Vec<u8>> {
    let text = payload::of_scalar(value).ok_or_else(|| no_form(value))?;
    Ok(text.into_bytes())
}

/// The mark that counts if there are several, in python-memcached's and pymemcache's order; `None` if there is none.
pub(super) fn first_mark(flags: u32) -> Option<u32> {
    [TEXT, INTEGER, LONG, PICKLE]
        .into_iter()
        .find(|mark| flags & mark != 0)
}

/// The value of an inflated payload with one mark or [`BYTES`].
pub(super) fn read(mark: u32, data: Cow<'_, [u8]>) -> Result<Value<'_>> {
    match mark {
        BYTES => Ok(Value::Bytes(data)),
        TEXT => payload::text(data).map(Value::Text),
        INTEGER | LONG => read_int(&data),
        PICKLE => read_pickle(data),
        _ => Err(unknown_flags(mark)),
    }
}

fn read_pickle(data: Cow<'_, [u8]>) -> Result<Value<'_>> {
    if let Some(value) = pickle::scalar(&data) {
        return Ok(value);
    }
    if !pickle::is_pickle(&data) {
        return Err(Error::decode("the value is marked as a pickle and is none"));
    }
    Ok(Value::Foreign {
        kind: ForeignKind::Pickle,
        bytes: data,
    })
}

/// `int(bytes)`: blanks around it, a sign, digits, and single underscores between digits.
fn read_int(data: &[u8]) -> Result<Value<'static>> {
    let not_a_number = || Error::decode("the value is marked as an integer and is none");
    let text = std::str::from_utf8(data).map_err(|_| not_a_number())?;
    let text = text.trim_matches([' ', '\t', '\n', '\r', '\x0b', '\x0c']);
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let numeric = |part: &str| !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit());
    if !digits.split('_').all(numeric) {
        return Err(not_a_number());
    }
    let text = text.replace('_', "");
    Ok(if let Ok(number) = text.parse() {
        Value::I64(number)
    } else if let Ok(number) = text.parse() {
        Value::U64(number)
    } else {
        Value::Text(Cow::Owned(text))
    })
}

#[cold]
pub(super) fn no_form(value: &Value<'_>) -> Error {
    Error::encode(format!(
        "the Python clients have no form for this {}",
        value.type_name()
    ))
}

#[cold]
pub(super) fn unknown_flags(flags: u32) -> Error {
    Error::decode(format!("flags {flags:#x} are not those of a Python client"))
}
