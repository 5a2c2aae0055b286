//! Values as the Java client spymemcached's `SerializingTranscoder` writes them.

use std::borrow::Cow;

use super::compress::{Compression, Deflate};
use super::value::{ForeignKind, Value};
use super::whalin::{JAVA_STREAM, signed};
use super::{Encoded, Transcoder, payload};
use crate::error::{Error, Result};

// spymemcached 2.12.3 `SerializingTranscoder.java`, `SERIALIZED` and `COMPRESSED`.
const SERIALIZED: u32 = 1;
const COMPRESSED: u32 = 2;

/// All that says the type (`SPECIAL_MASK`).
const TYPE: u32 = 0xff00;

/// spymemcached 2.12.3 `SerializingTranscoder.java`, `SPECIAL_…`.
mod kind {
    pub(super) const STRING: u32 = 0;
    pub(super) const BOOLEAN: u32 = 0x100;
    pub(super) const INTEGER: u32 = 0x200;
    pub(super) const LONG: u32 = 0x300;
    pub(super) const DATE: u32 = 0x400;
    pub(super) const BYTE: u32 = 0x500;
    pub(super) const FLOAT: u32 = 0x600;
    pub(super) const DOUBLE: u32 = 0x700;
    pub(super) const BYTE_ARRAY: u32 = 0x800;
}

/// `DEFAULT_COMPRESSION_THRESHOLD` (spymemcached 2.12.3 `BaseSerializingTranscoder.java`).
const DEFAULT_THRESHOLD: usize = 16_384;

/// Values as spymemcached stores them (2.x): the flags hold the type, numbers are big-endian without their leading zero bytes.
///
/// | Java | flags | [`Value`] |
/// |---|---|---|
/// | `String` | 0 | `Text`, or `Bytes` if it is not UTF-8; text of every kind and a `Char` are written so |
/// | `Boolean` | 0x100 | `Bool` |
/// | `Integer` | 0x200 | `I32`; so are `I16`, `U8` and `U16` |
/// | `Long` | 0x300 | `I64`; so are `U32`, and `U64` as far as it fits |
/// | `Date` | 0x400 | `Date` |
/// | `Byte` | 0x500 | `I8` |
/// | `Float` | 0x600 | `F32` |
/// | `Double` | 0x700 | `F64` |
/// | `byte[]` | 0x800 | `Bytes` |
/// | all else, `Short`, `Character` and `StringBuilder` among it | 1 | `Foreign` of kind `Java`, written back unchanged |
///
/// The client stores no null, and neither does this: [`ErrorKind::Encode`](crate::ErrorKind::Encode). A counter is a decimal `String`.
///
/// Flag 2 marks a gzip member. Payloads of more than 16,384 bytes are compressed if that makes them shorter, but for a `String` that begins
/// with `{` or `[` or that is a whole number: the client takes it for JSON.
///
/// Java returns null for a damaged value and for a type that it does not know, cuts numbers that are too long, and drops what follows the gzip member:
/// all are errors here. Other flags are ignored, as there. A `String` in another charset than UTF-8 has to be read as bytes.
#[derive(Debug, Clone)]
#[doc(alias = "SerializingTranscoder")]
pub struct Spymemcached {
    compression: Compression,
}

impl Spymemcached {
    /// The client's default transcoder.
    pub fn new() -> Self {
        Self {
            compression: Compression::new().threshold(DEFAULT_THRESHOLD),
        }
    }

    /// What is compressed on writing. Default: payloads of more than 16,384 bytes.
    #[doc(alias = "setCompressionThreshold")]
    pub fn compression(mut self, compression: Compression) -> Self {
        self.compression = compression;
        self
    }
}

impl Default for Spymemcached {
    fn default() -> Self {
        Self::new()
    }
}

impl Transcoder for Spymemcached {
    fn encode<'a>(&self, value: Value<'a>) -> Result<Encoded<'a>> {
        let (flags, data) = write(signed(value)?)?;
        if flags == kind::STRING && is_taken_for_json(&data) {
            return Ok(Encoded { flags, data });
        }
        Ok(match self.compression.compress(Deflate::Gzip, &data) {
            Some(packed) => Encoded {
                flags: flags | COMPRESSED,
                data: Cow::Owned(packed),
            },
            None => Encoded { flags, data },
        })
    }

    fn decode<'a>(&self, flags: u32, data: Cow<'a, [u8]>) -> Result<Value<'a>> {
        let data = match flags & COMPRESSED {
            0 => data,
            _ => Cow::Owned(self.compression.inflate(Deflate::Gzip, &data)?),
        };
        if flags & SERIALIZED != 0 {
            if !data.starts_with(&JAVA_STREAM) {
                return Err(Error::decode(
                    "the value is marked as a Java object and is none",
                ));
            }
            return Ok(Value::Foreign {
                kind: ForeignKind::Java,
                bytes: data,
            });
        }
        Ok(match flags & TYPE {
            kind::STRING => payload::text_or_bytes(data),
            kind::BOOLEAN => Value::Bool(payload::fixed(&data)? == *b"1"),
            kind::INTEGER => Value::I32(i32::from_be_bytes(padded(&data)?)),
            kind::LONG => Value::I64(i64::from_be_bytes(padded(&data)?)),
            kind::DATE => Value::Date(i64::from_be_bytes(padded(&data)?)),
            kind::BYTE => Value::I8(i8::from_be_bytes(padded(&data)?)),
            kind::FLOAT => Value::F32(f32::from_be_bytes(padded(&data)?)),
            kind::DOUBLE => Value::F64(f64::from_be_bytes(padded(&data)?)),
            kind::BYTE_ARRAY => Value::Bytes(data),
            _ => {
                return Err(Error::decode(format!(
                    "flags {flags:#x} are not those of spymemcached"
                )));
            }
        })
    }
}

fn write(value: Value<'_>) -> Result<(u32, Cow<'_, [u8]>)> {
    Ok(match value {
        Value::Text(text) | Value::StringBuffer(text) | Value::StringBuilder(text) => {
            (kind::STRING, payload::into_bytes(text))
        }
        Value::Char(unit) => match char::from_u32(unit.into()) {
            Some(character) => (kind::STRING, Cow::Owned(character.to_string().into_bytes())),
            None => return Err(no_form(&value)),
        },
        Value::Bool(truth) => (
            kind::BOOLEAN,
            Cow::Borrowed(if truth { &b"1"[..] } else { b"0" }),
        ),
        // The one number that keeps its zero.
        Value::I8(v) => (kind::BYTE, Cow::Owned(v.to_be_bytes().to_vec())),
        Value::I16(v) => (kind::INTEGER, packed(&i32::from(v).to_be_bytes())),
        Value::I32(v) => (kind::INTEGER, packed(&v.to_be_bytes())),
        Value::I64(v) => (kind::LONG, packed(&v.to_be_bytes())),
        Value::Date(v) => (kind::DATE, packed(&v.to_be_bytes())),
        Value::F32(v) => (kind::FLOAT, packed(&v.to_be_bytes())),
        Value::F64(v) => (kind::DOUBLE, packed(&v.to_be_bytes())),
        Value::Bytes(bytes) => (kind::BYTE_ARRAY, bytes),
        Value::Foreign {
            kind: ForeignKind::Java,
            bytes,
        } => (SERIALIZED, bytes),
        other => return Err(no_form(&other)),
    })
}

/// `TranscoderUtils.encodeNum`: zero has no byte at all.
fn packed(number: &[u8]) -> Cow<'static, [u8]> {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    Cow::Owned(number.iter().skip(zeros).copied().collect())
}

/// `TranscoderUtils.decodeLong`, but nothing that is too long.
fn padded<const N: usize>(bytes: &[u8]) -> Result<[u8; N]> {
    let mut number = [0; N];
    let zeros = N.checked_sub(bytes.len());
    let place = zeros.and_then(|zeros| number.get_mut(zeros..));
    place
        .ok_or_else(|| {
            Error::decode(format!(
                "{} bytes are stored for a number of {N}",
                bytes.len()
            ))
        })?
        .copy_from_slice(bytes);
    Ok(number)
}

/// `StringUtils.isJsonObject`, but for `true`, `false` and `null`, which no compression makes shorter.
fn is_taken_for_json(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    matches!(text, [b'{' | b'[', ..]) || !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

#[cold]
fn no_form(value: &Value<'_>) -> Error {
    Error::encode(format!(
        "spymemcached has no form for this {}",
        value.type_name()
    ))
}
