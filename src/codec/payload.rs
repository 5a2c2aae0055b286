//! Payloads: text to bytes and back, a marker in front, a number of fixed length. It knows no peer's form.

use std::borrow::Cow;

use super::value::Value;
use crate::error::{Error, Result};

/// The text of a number, a truth value or a character, as [`Raw`](super::Raw) writes it. `None` for all else.
pub(super) fn of_scalar(value: &Value<'_>) -> Option<String> {
    Some(match value {
        Value::Bool(v) => u8::from(*v).to_string(),
        Value::I8(v) => v.to_string(),
        Value::I16(v) => v.to_string(),
        Value::I32(v) => v.to_string(),
        Value::I64(v) => v.to_string(),
        Value::U8(v) => v.to_string(),
        Value::U16(v) => v.to_string(),
        Value::U32(v) => v.to_string(),
        Value::U64(v) => v.to_string(),
        // `Debug` has an exponent where `Display` writes up to 300 zeros.
        Value::F32(v) => format!("{v:?}"),
        Value::F64(v) => format!("{v:?}"),
        Value::Char(unit) => char::from_u32(u32::from(*unit))?.to_string(),
        _ => return None,
    })
}

/// The text's own buffer.
pub(super) fn into_bytes(text: Cow<'_, str>) -> Cow<'_, [u8]> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

/// The bytes as text; as they were if they are not UTF-8.
pub(super) fn utf8(bytes: Cow<'_, [u8]>) -> std::result::Result<Cow<'_, str>, Cow<'_, [u8]>> {
    match bytes {
        Cow::Borrowed(bytes) => std::str::from_utf8(bytes)
            .map(Cow::Borrowed)
            .map_err(|_| Cow::Borrowed(bytes)),
        Cow::Owned(bytes) => String::from_utf8(bytes)
            .map(Cow::Owned)
            .map_err(|error| Cow::Owned(error.into_bytes())),
    }
}

/// The bytes of something that the flags or a marker say is text.
pub(super) fn text(bytes: Cow<'_, [u8]>) -> Result<Cow<'_, str>> {
    utf8(bytes).map_err(|_| Error::decode("the stored text is not UTF-8"))
}

/// Bytes of which nothing says what they are, where text is what is to be expected.
pub(super) fn text_or_bytes(bytes: Cow<'_, [u8]>) -> Value<'_> {
    utf8(bytes).map_or_else(Value::Bytes, Value::Text)
}

/// A marker byte and the body behind it.
pub(super) fn marked(marker: u8, body: &[u8]) -> Vec<u8> {
    let mut marked = Vec::with_capacity(1 + body.len());
    marked.push(marker);
    marked.extend_from_slice(body);
    marked
}

/// What stands behind the first `len` bytes; nothing if there are fewer.
pub(super) fn behind(bytes: Cow<'_, [u8]>, len: usize) -> Cow<'_, [u8]> {
    match bytes {
        Cow::Borrowed(bytes) => Cow::Borrowed(bytes.get(len..).unwrap_or_default()),
        Cow::Owned(mut bytes) => {
            bytes.drain(..len.min(bytes.len()));
            Cow::Owned(bytes)
        }
    }
}

/// Exactly as many bytes as a number has.
pub(super) fn fixed<const N: usize>(bytes: &[u8]) -> Result<[u8; N]> {
    bytes.try_into().map_err(|_| wrong_length(bytes.len(), N))
}

/// As many bytes as a number has, whatever follows.
pub(super) fn leading<const N: usize>(bytes: &[u8]) -> Result<[u8; N]> {
    bytes
        .first_chunk()
        .copied()
        .ok_or_else(|| wrong_length(bytes.len(), N))
}

#[cold]
fn wrong_length(len: usize, needed: usize) -> Error {
    Error::decode(format!("{len} bytes are stored for a value of {needed}"))
}
