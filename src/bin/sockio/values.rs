//! The names of the types of values, and values as text. It knows no client's form.

use std::borrow::Cow;

use clap::ValueEnum;
use sockio::Value;

use crate::escape;

/// A type of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// No value
    Null,
    /// true or false
    Bool,
    /// Java Byte, .NET sbyte
    I8,
    /// Java Short
    I16,
    /// Java Integer
    I32,
    /// Java Long, PHP int
    I64,
    /// .NET byte
    U8,
    /// .NET ushort
    U16,
    /// .NET uint
    U32,
    /// .NET ulong
    U64,
    /// Java Float
    F32,
    /// Java Double, PHP float
    F64,
    /// One UTF-16 unit: a character, or \u{..} for half of a pair
    Char,
    /// Text
    #[value(alias = "text")]
    String,
    /// Java StringBuffer
    StringBuffer,
    /// Java or .NET StringBuilder
    StringBuilder,
    /// Bytes
    Bytes,
    /// Java Date: milliseconds since 1970
    Date,
    /// .NET DateTime: as the client stores it, in 100 ns
    Ticks,
}

impl Kind {
    /// The value of this type that the bytes say; text and bytes are taken as they are, blanks around all else left out.
    pub(crate) fn read(self, bytes: &[u8]) -> Result<Value<'_>, String> {
        let parsed = match self {
            Kind::Null => Some(Value::Null),
            Kind::Bytes => Some(Value::Bytes(Cow::Borrowed(bytes))),
            Kind::String => text(bytes).map(Value::Text),
            Kind::StringBuffer => text(bytes).map(Value::StringBuffer),
            Kind::StringBuilder => text(bytes).map(Value::StringBuilder),
            Kind::Char => text(bytes).and_then(|text| unit(&text)).map(Value::Char),
            Kind::Bool => number(bytes).map(Value::Bool),
            Kind::I8 => number(bytes).map(Value::I8),
            Kind::I16 => number(bytes).map(Value::I16),
            Kind::I32 => number(bytes).map(Value::I32),
            Kind::I64 => number(bytes).map(Value::I64),
            Kind::U8 => number(bytes).map(Value::U8),
            Kind::U16 => number(bytes).map(Value::U16),
            Kind::U32 => number(bytes).map(Value::U32),
            Kind::U64 => number(bytes).map(Value::U64),
            Kind::F32 => number(bytes).map(Value::F32),
            Kind::F64 => number(bytes).map(Value::F64),
            Kind::Date => number(bytes).map(Value::Date),
            Kind::Ticks => number(bytes).map(Value::Ticks),
        };
        parsed.ok_or_else(|| {
            let name = self.to_possible_value();
            let name = name.as_ref().map_or("type", |name| name.get_name());
            format!("the {} bytes given are no {name}", bytes.len())
        })
    }
}

/// The name of a value's type: that of its [`Kind`], or `foreign/…` for an object that only its own language can read.
pub(crate) fn type_name(value: &Value<'_>) -> String {
    let name = match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::I8(_) => "i8",
        Value::I16(_) => "i16",
        Value::I32(_) => "i32",
        Value::I64(_) => "i64",
        Value::U8(_) => "u8",
        Value::U16(_) => "u16",
        Value::U32(_) => "u32",
        Value::U64(_) => "u64",
        Value::F32(_) => "f32",
        Value::F64(_) => "f64",
        Value::Char(_) => "char",
        Value::Text(_) => "string",
        Value::StringBuffer(_) => "string-buffer",
        Value::StringBuilder(_) => "string-builder",
        Value::Bytes(_) => "bytes",
        Value::Date(_) => "date",
        Value::Ticks(_) => "ticks",
        Value::Foreign { kind, .. } => return format!("foreign/{kind:?}").to_lowercase(),
        other => return format!("{other:?}"),
    };
    name.to_owned()
}

/// The value itself, in the bytes that [`Kind::read`] reads back.
pub(crate) fn content<'a>(value: &'a Value<'_>) -> Cow<'a, [u8]> {
    let text = match value {
        Value::Text(text) | Value::StringBuffer(text) | Value::StringBuilder(text) => {
            return Cow::Borrowed(text.as_bytes());
        }
        Value::Bytes(bytes) | Value::Foreign { bytes, .. } => return Cow::Borrowed(bytes),
        Value::Bool(value) => value.to_string(),
        Value::I8(value) => value.to_string(),
        Value::I16(value) => value.to_string(),
        Value::I32(value) => value.to_string(),
        Value::I64(value) | Value::Date(value) | Value::Ticks(value) => value.to_string(),
        Value::U8(value) => value.to_string(),
        Value::U16(value) => value.to_string(),
        Value::U32(value) => value.to_string(),
        Value::U64(value) => value.to_string(),
        // `Debug` has an exponent where `Display` writes up to 300 zeros.
        Value::F32(value) => format!("{value:?}"),
        Value::F64(value) => format!("{value:?}"),
        Value::Char(unit) => char::from_u32(u32::from(*unit))
            .map_or_else(|| format!("\\u{{{unit:x}}}"), |c| c.to_string()),
        _ => String::new(),
    };
    Cow::Owned(text.into_bytes())
}

/// The value on one line.
pub(crate) fn line(value: &Value<'_>) -> String {
    match value {
        // Its own escape is not escaped.
        Value::Char(unit) if char::from_u32(u32::from(*unit)).is_none() => {
            String::from_utf8_lossy(&content(value)).into_owned()
        }
        value => escape::line(&content(value)),
    }
}

fn text(bytes: &[u8]) -> Option<Cow<'_, str>> {
    std::str::from_utf8(bytes).ok().map(Cow::Borrowed)
}

fn number<T: std::str::FromStr>(bytes: &[u8]) -> Option<T> {
    std::str::from_utf8(bytes.trim_ascii()).ok()?.parse().ok()
}

fn unit(text: &str) -> Option<u16> {
    let escaped = text
        .trim()
        .strip_prefix(r"\u{")
        .and_then(|rest| rest.strip_suffix('}'));
    if let Some(digits) = escaped {
        return u16::from_str_radix(digits, 16).ok();
    }
    let mut units = text.strip_suffix('\n').unwrap_or(text).encode_utf16();
    units.next().filter(|_| units.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_reads_what_it_shows() {
        for kind in Kind::value_variants() {
            let text = match kind {
                Kind::Null => "",
                Kind::Bool => "true",
                Kind::F32 | Kind::F64 => "-1.5",
                Kind::I8 | Kind::I16 | Kind::I32 | Kind::I64 | Kind::Date | Kind::Ticks => "-7",
                Kind::Char => "é",
                _ => "7",
            };
            let value = kind.read(text.as_bytes()).unwrap();
            let name = kind.to_possible_value().unwrap();
            assert_eq!(
                (type_name(&value).as_str(), &*content(&value)),
                (name.get_name(), text.as_bytes())
            );
        }
    }

    #[test]
    fn numbers_have_to_fit_and_text_stays_as_it_is() {
        assert!(Kind::I8.read(b"128").is_err());
        assert!(Kind::U8.read(b"-1").is_err());
        assert!(Kind::Bool.read(b"yes").is_err());
        assert!(Kind::String.read(b"\xff").is_err());
        assert_eq!(Kind::I32.read(b" 42\n").unwrap(), Value::I32(42));
        let text = Kind::String.read(b" a\n").unwrap();
        assert_eq!((&*content(&text), &*line(&text)), (&b" a\n"[..], r" a\n"));
        assert_eq!(line(&Value::F64(1e300)), "1e300");
    }

    #[test]
    fn half_of_a_pair_is_a_char() {
        let half = Kind::Char.read(br"\u{d83d}").unwrap();
        assert_eq!(half, Value::Char(0xd83d));
        assert_eq!(line(&half), r"\u{d83d}");
        assert!(Kind::Char.read("😀".as_bytes()).is_err());
        assert!(Kind::Char.read(b"ab").is_err());
        assert!(Kind::Char.read(b"\n").is_err());
    }
}
