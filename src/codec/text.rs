//! Text and bytes of values, without copies where one buffer can become the other. It knows no peer's form.

use std::borrow::Cow;

use super::value::Value;

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
