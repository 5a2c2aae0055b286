//! Values as Rust types, without loss; the table is in the module's documentation.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;
use std::time::SystemTime;

use super::value::{FromValue, Value};
use super::{dates, payload};
use crate::error::{Error, Result};

impl FromValue for Value<'static> {
    fn from_value(value: Value<'_>) -> Result<Self> {
        Ok(value.into_owned())
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: Value<'_>) -> Result<Self> {
        match value {
            Value::Null => Ok(None),
            value => T::from_value(value).map(Some),
        }
    }
}

impl FromValue for Vec<u8> {
    #[inline]
    fn from_value(value: Value<'_>) -> Result<Self> {
        bytes(value).map(Cow::into_owned)
    }
}

impl<const N: usize> FromValue for [u8; N] {
    fn from_value(value: Value<'_>) -> Result<Self> {
        let bytes = bytes(value)?;
        <[u8; N]>::try_from(&*bytes).map_err(|_| {
            Error::decode(format!(
                "{} bytes are stored, not the {N} of the array",
                bytes.len()
            ))
        })
    }
}

impl FromValue for String {
    #[inline]
    fn from_value(value: Value<'_>) -> Result<Self> {
        text_of(value).map(Cow::into_owned)
    }
}

/// Owners of unsized bytes and text.
macro_rules! owners {
    ($($rust:ty => $sized:ty),* $(,)?) => {$(
        impl FromValue for $rust {
            fn from_value(value: Value<'_>) -> Result<Self> {
                <$sized>::from_value(value).map(Self::from)
            }
        }
    )*};
}

owners! {
    Box<[u8]> => Vec<u8>,
    Rc<[u8]> => Vec<u8>,
    Arc<[u8]> => Vec<u8>,
    Cow<'static, [u8]> => Vec<u8>,
    Box<str> => String,
    Rc<str> => String,
    Arc<str> => String,
    Cow<'static, str> => String,
}

macro_rules! integers {
    ($($rust:ty),* $(,)?) => {$(
        impl FromValue for $rust {
            fn from_value(value: Value<'_>) -> Result<Self> {
                let wide = integer(&value).ok_or_else(|| unreadable(&value, stringify!($rust)))?;
                Self::try_from(wide).map_err(|_| {
                    Error::decode(concat!("the stored number does not fit into ", stringify!($rust)))
                })
            }
        }
    )*};
}

integers!(i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);

macro_rules! floats {
    ($($rust:ident),*) => {$(
        impl FromValue for $rust {
            fn from_value(value: Value<'_>) -> Result<Self> {
                let exact = match &value {
                    Value::F32(v) => Some(*v as $rust),
                    Value::F64(v) => {
                        let near = *v as $rust;
                        (f64::from(near) == *v || v.is_nan()).then_some(near)
                    }
                    Value::Text(_) | Value::StringBuffer(_) | Value::StringBuilder(_) | Value::Bytes(_) => {
                        number_text(&value).and_then(|text| {
                            // "1e999" is not infinity: only a word says that.
                            let number = text.parse::<$rust>().ok()?;
                            let digits = text.bytes().any(|byte| byte.is_ascii_digit());
                            (number.is_finite() || !digits).then_some(number)
                        })
                    }
                    _ => integer(&value).and_then(|wide| {
                        let near = wide as $rust;
                        (near as i128 == wide).then_some(near)
                    }),
                };
                exact.ok_or_else(|| unreadable(&value, stringify!($rust)))
            }
        }
    )*};
}

floats!(f32, f64);

impl FromValue for bool {
    fn from_value(value: Value<'_>) -> Result<Self> {
        if let Value::Bool(v) = value {
            return Ok(v);
        }
        let word = |word: &str| match word {
            "1" => Some(true),
            "0" => Some(false),
            word if word.eq_ignore_ascii_case("true") => Some(true),
            word if word.eq_ignore_ascii_case("false") => Some(false),
            _ => None,
        };
        let truth = match (number_text(&value), integer(&value)) {
            (Some(text), _) => word(text),
            // pylibmc keeps truth values so.
            (None, Some(0)) => Some(false),
            (None, Some(1)) => Some(true),
            _ => None,
        };
        truth.ok_or_else(|| unreadable(&value, "bool"))
    }
}

impl FromValue for char {
    fn from_value(value: Value<'_>) -> Result<Self> {
        let one = match &value {
            Value::Char(unit) => char::from_u32(u32::from(*unit)),
            value => text_in(value).and_then(|text| {
                let mut chars = text.chars();
                chars.next().filter(|_| chars.next().is_none())
            }),
        };
        one.ok_or_else(|| unreadable(&value, "char"))
    }
}

impl FromValue for SystemTime {
    fn from_value(value: Value<'_>) -> Result<Self> {
        let time = match value {
            Value::Date(millis) => dates::from_unix_millis(millis),
            Value::Ticks(binary) => dates::from_binary(binary),
            _ => None,
        };
        time.ok_or_else(|| unreadable(&value, "SystemTime"))
    }
}

#[inline]
fn bytes(value: Value<'_>) -> Result<Cow<'_, [u8]>> {
    match value {
        Value::Bytes(bytes) | Value::Foreign { bytes, .. } => Ok(bytes),
        Value::Text(text) | Value::StringBuffer(text) | Value::StringBuilder(text) => {
            Ok(payload::into_bytes(text))
        }
        other => Err(unreadable(&other, "bytes")),
    }
}

#[inline]
fn text_of(value: Value<'_>) -> Result<Cow<'_, str>> {
    match value {
        Value::Text(text) | Value::StringBuffer(text) | Value::StringBuilder(text) => Ok(text),
        Value::Bytes(bytes) => {
            payload::utf8(bytes).map_err(|_| Error::decode("the stored bytes are not UTF-8"))
        }
        other => payload::of_scalar(&other)
            .map(Cow::Owned)
            .ok_or_else(|| unreadable(&other, "text")),
    }
}

/// Any of Rust's integer types in one that holds them all.
fn integer(value: &Value<'_>) -> Option<i128> {
    match value {
        Value::I8(v) => Some(i128::from(*v)),
        Value::I16(v) => Some(i128::from(*v)),
        Value::I32(v) => Some(i128::from(*v)),
        Value::I64(v) => Some(i128::from(*v)),
        Value::U8(v) => Some(i128::from(*v)),
        Value::U16(v) => Some(i128::from(*v)),
        Value::U32(v) => Some(i128::from(*v)),
        Value::U64(v) => Some(i128::from(*v)),
        value => {
            // `parse` would take a leading `+`, which no peer writes.
            let text = number_text(value)?;
            let digits = text.strip_prefix('-').unwrap_or(text);
            let decimal = digits.starts_with(|first: char| first.is_ascii_digit());
            decimal.then(|| text.parse().ok()).flatten()
        }
    }
}

/// Text without the blanks that `decr` leaves behind a number that became shorter
/// (memcached `doc/protocol.txt`, "Increment/Decrement").
fn number_text<'v>(value: &'v Value<'_>) -> Option<&'v str> {
    text_in(value).map(|text| text.trim_end_matches(' '))
}

fn text_in<'v>(value: &'v Value<'_>) -> Option<&'v str> {
    match value {
        Value::Text(text) | Value::StringBuffer(text) | Value::StringBuilder(text) => Some(text),
        Value::Bytes(bytes) => std::str::from_utf8(bytes).ok(),
        _ => None,
    }
}

#[cold]
fn unreadable(value: &Value<'_>, rust: &str) -> Error {
    Error::decode(format!(
        "the stored {} cannot be read as {rust}",
        value.type_name()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::ForeignKind;
    use crate::error::ErrorKind;
    use std::time::Duration;

    fn read<T: FromValue>(value: impl Into<Value<'static>>) -> Option<T> {
        match T::from_value(value.into()) {
            Ok(read) => Some(read),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Decode);
                None
            }
        }
    }

    #[test]
    fn owned_buffers_are_taken_over() {
        let body = vec![b'a', b'b', b'c'];
        let at = body.as_ptr();
        let body = read::<Vec<u8>>(body).unwrap();
        assert_eq!(body.as_ptr(), at);
        let text = read::<String>(body).unwrap();
        assert_eq!(text.as_ptr(), at);
        let body = read::<Vec<u8>>(text).unwrap();
        assert_eq!(body.as_ptr(), at);
    }

    #[test]
    fn bytes_and_text() {
        assert_eq!(read::<String>(b"\xff"), None);
        assert_eq!(read::<String>("a").as_deref(), Some("a"));
        assert_eq!(read::<[u8; 2]>(b"ab"), Some(*b"ab"));
        assert_eq!(read::<[u8; 3]>(b"ab"), None);
        assert_eq!(read::<Arc<str>>(b"ab").as_deref(), Some("ab"));
        assert_eq!(read::<Box<[u8]>>("ab").as_deref(), Some(&b"ab"[..]));
        let object = || Value::Foreign {
            kind: ForeignKind::Java,
            bytes: Cow::Borrowed(b"\xac\xed"),
        };
        assert_eq!(read::<Vec<u8>>(object()), Some(vec![0xac, 0xed]));
        assert_eq!(read::<String>(object()), None);
        assert_eq!(read::<Vec<u8>>(5_i32), None);
        assert_eq!(read::<Value<'static>>(object()), Some(object()));
    }

    #[test]
    fn scalars_have_the_text_that_raw_writes() {
        assert_eq!(read::<String>(-5_i8).as_deref(), Some("-5"));
        assert_eq!(
            read::<String>(u64::MAX).as_deref(),
            Some("18446744073709551615")
        );
        assert_eq!(read::<String>(1.5_f64).as_deref(), Some("1.5"));
        assert_eq!(read::<String>(true).as_deref(), Some("1"));
        assert_eq!(read::<String>('\u{e9}').as_deref(), Some("\u{e9}"));
        assert_eq!(read::<String>(Value::Char(0xd800)), None);
        assert_eq!(read::<String>(Value::Date(0)), None);
    }

    #[test]
    fn integers_fit_or_fail() {
        assert_eq!(read::<u8>(255_i64), Some(255));
        assert_eq!(read::<u8>(256_i64), None);
        assert_eq!(read::<u64>(-1_i8), None);
        assert_eq!(read::<i64>(u64::MAX), None);
        assert_eq!(read::<i64>(true), None);
        assert_eq!(read::<i64>(1.0_f64), None);
        assert_eq!(read::<u64>("18446744073709551615"), Some(u64::MAX));
        assert_eq!(read::<u64>(b"9 "), Some(9));
        assert_eq!(read::<i32>("-5"), Some(-5));
        for text in [
            "",
            " ",
            "+5",
            " 5",
            "5x",
            "-",
            "--5",
            "1.0",
            "5\n",
            "340282366920938463463374607431768211456",
        ] {
            assert_eq!(read::<i64>(text), None, "{text:?}");
        }
    }

    #[test]
    fn floats_are_exact_but_for_decimal_text() {
        assert_eq!(read::<f64>(1.5_f32), Some(1.5));
        assert_eq!(read::<f32>(1.5_f64), Some(1.5));
        assert_eq!(read::<f32>(1.1_f64), None);
        assert!(read::<f32>(f64::NAN).unwrap().is_nan());
        assert_eq!(read::<f32>(f64::INFINITY), Some(f32::INFINITY));
        assert_eq!(read::<f64>(1_i64 << 53), Some(9_007_199_254_740_992.0));
        assert_eq!(read::<f64>((1_i64 << 53) + 1), None);
        assert_eq!(read::<f32>(u64::MAX), None);
        assert_eq!(read::<f64>("1.0E10"), Some(1e10));
        assert_eq!(read::<f64>("-Infinity"), Some(f64::NEG_INFINITY));
        assert_eq!(read::<f64>("1e999"), None);
        assert_eq!(read::<f32>("1e39"), None);
        assert_eq!(read::<f64>("9 "), Some(9.0));
        assert_eq!(read::<f64>(""), None);
    }

    #[test]
    fn truth_characters_and_nothing() {
        for (text, truth) in [("1", true), ("0", false), ("True", true), ("false", false)] {
            assert_eq!(read::<bool>(text), Some(truth));
        }
        for (number, truth) in [(1, Some(true)), (0, Some(false)), (2, None), (-1, None)] {
            assert_eq!(read::<bool>(number), truth);
        }
        assert_eq!(read::<bool>(""), None);
        assert_eq!(read::<char>("\u{1f600}"), Some('\u{1f600}'));
        assert_eq!(read::<char>("ab"), None);
        assert_eq!(read::<char>(Value::Char(0xdc00)), None);
        assert_eq!(read::<Option<i32>>(Value::Null), Some(None));
        assert_eq!(read::<Option<i32>>(5_i32), Some(Some(5)));
        assert_eq!(read::<i32>(Value::Null), None);
        let time = SystemTime::UNIX_EPOCH + Duration::from_millis(5);
        assert_eq!(read::<SystemTime>(time), Some(time));
        assert_eq!(read::<SystemTime>(Value::Ticks(0)), None);
        assert_eq!(read::<SystemTime>(5_i64), None);
    }
}
