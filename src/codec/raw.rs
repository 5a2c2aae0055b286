//! Bytes as they are: the default transcoder. It knows no other client's types.

use std::borrow::Cow;

use super::compress::{Compression, Deflate};
use super::value::Value;
use super::{Encoded, Transcoder, payload};
use crate::error::{Error, Result};

/// The payload is a gzip member: the bit that the Java and .NET clients use too.
const COMPRESSED: u32 = 2;

/// The upper half of the flags, which is the caller's.
const USER_FLAGS: u32 = 0xffff_0000;

/// Bytes and text with flags 0, and so what every client can read; numbers as decimal text, truth values as `1` and `0`.
///
/// A float is the shortest text that reads back to it: `1.5`, `1.0`, `1e300`, `inf`, `NaN`.
/// A payload says nothing of its type: it comes back as bytes, which read as text and as numbers.
/// Null, dates and other languages' objects have no form here.
///
/// Flag 2 marks a gzip member. Values are compressed only if [`compression`](Raw::compression) asks for it; compressed ones are always read.
/// The upper 16 bits of the flags are left to the caller and ignored on reading; any other bit is another transcoder's, hence an error.
#[derive(Debug, Clone)]
pub struct Raw {
    compression: Compression,
}

impl Raw {
    /// Writes everything as it is.
    pub fn new() -> Self {
        Self {
            compression: Compression::never(),
        }
    }

    /// What is compressed on writing. Default: [`Compression::never`].
    pub fn compression(mut self, compression: Compression) -> Self {
        self.compression = compression;
        self
    }
}

impl Default for Raw {
    fn default() -> Self {
        Self::new()
    }
}

impl Transcoder for Raw {
    #[inline]
    fn encode<'a>(&self, value: Value<'a>) -> Result<Encoded<'a>> {
        let data = match value {
            Value::Bytes(bytes) => bytes,
            Value::Text(text) | Value::StringBuffer(text) | Value::StringBuilder(text) => {
                payload::into_bytes(text)
            }
            scalar => match payload::of_scalar(&scalar) {
                Some(text) => Cow::Owned(text.into_bytes()),
                None => return Err(no_form(&scalar)),
            },
        };
        Ok(match self.compression.compress(Deflate::Gzip, &data) {
            Some(smaller) => Encoded {
                flags: COMPRESSED,
                data: Cow::Owned(smaller),
            },
            None => Encoded { flags: 0, data },
        })
    }

    #[inline]
    fn decode<'a>(&self, flags: u32, data: Cow<'a, [u8]>) -> Result<Value<'a>> {
        match flags & !USER_FLAGS {
            0 => Ok(Value::Bytes(data)),
            COMPRESSED => {
                let data = self.compression.inflate(Deflate::Gzip, &data)?;
                Ok(Value::Bytes(Cow::Owned(data)))
            }
            _ => Err(unknown_flags(flags)),
        }
    }
}

#[cold]
fn no_form(value: &Value<'_>) -> Error {
    Error::encode(format!("raw values have no form for {}", value.type_name()))
}

#[cold]
fn unknown_flags(flags: u32) -> Error {
    Error::decode(format!("flags {flags:#x} are not those of a raw value"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::ForeignKind;
    use crate::error::ErrorKind;

    #[test]
    fn bytes_and_text_are_borrowed_both_ways() {
        for value in [Value::from("text"), Value::from(b"bytes")] {
            let encoded = Raw::new().encode(value).unwrap();
            assert!(encoded.flags == 0 && matches!(encoded.data, Cow::Borrowed(_)));
            let decoded = Raw::new().decode(0, encoded.data).unwrap();
            assert!(matches!(decoded, Value::Bytes(Cow::Borrowed(_))));
        }
    }

    #[test]
    fn scalars_are_decimal_text() {
        let cases = [
            (Value::from(true), "1"),
            (Value::from(false), "0"),
            (Value::from(i64::MIN), "-9223372036854775808"),
            (Value::from(u64::MAX), "18446744073709551615"),
            (Value::from(7_u8), "7"),
            (Value::from(1.0_f64), "1.0"),
            (Value::from(0.1_f32), "0.1"),
            (Value::from(1e300_f64), "1e300"),
            (Value::from(f64::NEG_INFINITY), "-inf"),
            (Value::from('\u{d55c}'), "\u{d55c}"),
        ];
        for (value, text) in cases {
            let encoded = Raw::new().encode(value).unwrap();
            assert_eq!((encoded.flags, &*encoded.data), (0, text.as_bytes()));
        }
    }

    #[test]
    fn what_has_no_form_is_refused() {
        let object = Value::Foreign {
            kind: ForeignKind::Java,
            bytes: Cow::Borrowed(b"x"),
        };
        let none = [
            Value::Null,
            Value::Date(0),
            Value::Ticks(0),
            Value::Char(0xd800),
            object,
        ];
        for value in none {
            assert_eq!(
                Raw::new().encode(value).unwrap_err().kind(),
                ErrorKind::Encode
            );
        }
    }

    #[test]
    fn the_callers_flags_are_ignored_and_all_others_refused() {
        let decode = |flags| Raw::new().decode(flags, Cow::Borrowed(b"x"));
        assert_eq!(decode(0xabcd_0000).unwrap(), Value::from(b"x"));
        for bit in (0..16).filter(|bit| *bit != 1) {
            assert_eq!(decode(1 << bit).unwrap_err().kind(), ErrorKind::Decode);
        }
        // Marked as compressed and not: never handed out as it is.
        assert_eq!(decode(COMPRESSED).unwrap_err().kind(), ErrorKind::Decode);
    }

    #[test]
    #[cfg(feature = "compress")]
    fn compressed_only_if_that_helps() {
        let raw = Raw::new().compression(Compression::new().threshold(10));
        let long = vec![b'a'; 1000];
        let encoded = raw.encode(Value::from(&long)).unwrap();
        assert!(encoded.flags == COMPRESSED && encoded.data.len() < 100);
        // Whoever does not compress reads it all the same.
        assert_eq!(
            Raw::new().decode(COMPRESSED, encoded.data).unwrap(),
            Value::from(&long)
        );
        let random: Vec<u8> = (0..12_u8).map(|n| n.wrapping_mul(181)).collect();
        let encoded = raw.encode(Value::from(&random)).unwrap();
        assert_eq!((encoded.flags, &*encoded.data), (0, &*random));
        assert_eq!(raw.encode(Value::from(b"aaaaaaaaaa")).unwrap().flags, 0);
    }
}
