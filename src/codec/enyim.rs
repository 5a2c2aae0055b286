//! Values as the .NET client EnyimMemcached's `DefaultTranscoder` writes them.

use std::borrow::Cow;

use super::value::{ForeignKind, Value};
use super::{Encoded, Transcoder, dates, nrbf, payload};
use crate::error::{Error, Result};

/// In front of the type code (`DefaultTranscoder.cs`, `TypeCodeToFlag`).
const TYPED: u32 = 0x0100;

/// The flags of bytes as they are (`DefaultTranscoder.cs`, `RawDataFlag`).
const RAW: u32 = 0xfa52;

/// All that is looked at in reading, but for [`RAW`].
const CODE: u32 = 0xff;

/// .NET's `System.TypeCode`.
mod code {
    pub(super) const EMPTY: u32 = 0;
    pub(super) const OBJECT: u32 = 1;
    pub(super) const DB_NULL: u32 = 2;
    pub(super) const BOOLEAN: u32 = 3;
    pub(super) const CHAR: u32 = 4;
    pub(super) const SBYTE: u32 = 5;
    pub(super) const BYTE: u32 = 6;
    pub(super) const INT16: u32 = 7;
    pub(super) const UINT16: u32 = 8;
    pub(super) const INT32: u32 = 9;
    pub(super) const UINT32: u32 = 10;
    pub(super) const INT64: u32 = 11;
    pub(super) const UINT64: u32 = 12;
    pub(super) const SINGLE: u32 = 13;
    pub(super) const DOUBLE: u32 = 14;
    pub(super) const DATE_TIME: u32 = 16;
    pub(super) const STRING: u32 = 18;
}

/// Values as Enyim stores them: the flags hold .NET's type code, numbers are little-endian, nothing is ever compressed.
///
/// Every Rust type has its .NET type. A `SystemTime` is a `DateTime` in UTC; a `DateTime` comes back as [`Value::Ticks`], with its kind.
/// A text of Java's `StringBuffer` or a `StringBuilder` is written as a string. An object, which is a `BinaryFormatter` stream,
/// comes back as [`Value::Foreign`] and is written back unchanged.
///
/// A value with flags 0, as other clients store plain strings, is text, or bytes if it is not UTF-8. Mended: an empty one is an empty text, where Enyim returns null.
#[derive(Debug, Clone, Default)]
#[doc(alias = "DefaultTranscoder")]
#[non_exhaustive]
pub struct Enyim;

impl Enyim {
    /// The client's default transcoder.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Transcoder for Enyim {
    fn encode<'a>(&self, value: Value<'a>) -> Result<Encoded<'a>> {
        let number = |bytes: &[u8]| Cow::Owned(bytes.to_vec());
        let (code, data) = match value {
            Value::Bytes(data) => return Ok(Encoded { flags: RAW, data }),
            Value::Null => (code::DB_NULL, Cow::Borrowed(&[][..])),
            Value::Bool(v) => (code::BOOLEAN, number(&[u8::from(v)])),
            Value::Char(v) => (code::CHAR, number(&v.to_le_bytes())),
            Value::I8(v) => (code::SBYTE, number(&v.to_le_bytes())),
            Value::U8(v) => (code::BYTE, number(&[v])),
            Value::I16(v) => (code::INT16, number(&v.to_le_bytes())),
            Value::U16(v) => (code::UINT16, number(&v.to_le_bytes())),
            Value::I32(v) => (code::INT32, number(&v.to_le_bytes())),
            Value::U32(v) => (code::UINT32, number(&v.to_le_bytes())),
            Value::I64(v) => (code::INT64, number(&v.to_le_bytes())),
            Value::U64(v) => (code::UINT64, number(&v.to_le_bytes())),
            Value::F32(v) => (code::SINGLE, number(&v.to_le_bytes())),
            Value::F64(v) => (code::DOUBLE, number(&v.to_le_bytes())),
            Value::Ticks(v) => (code::DATE_TIME, number(&v.to_le_bytes())),
            Value::Date(v) => {
                let binary = dates::to_binary(v)
                    .ok_or_else(|| Error::encode("the date is out of .NET's range"))?;
                (code::DATE_TIME, number(&binary.to_le_bytes()))
            }
            Value::Text(v) | Value::StringBuffer(v) | Value::StringBuilder(v) => {
                (code::STRING, payload::into_bytes(v))
            }
            Value::Foreign {
                kind: ForeignKind::DotNet,
                bytes,
            } => (code::OBJECT, bytes),
            Value::Foreign { kind, .. } => {
                return Err(Error::encode(format!(
                    "Enyim has no form for objects of {kind:?}"
                )));
            }
        };
        let flags = TYPED | code;
        Ok(Encoded { flags, data })
    }

    fn decode<'a>(&self, flags: u32, data: Cow<'a, [u8]>) -> Result<Value<'a>> {
        if flags == RAW {
            return Ok(Value::Bytes(data));
        }
        Ok(match flags & CODE {
            code::EMPTY => payload::text_or_bytes(data),
            code::OBJECT if nrbf::is_stream(&data) => Value::Foreign {
                kind: ForeignKind::DotNet,
                bytes: data,
            },
            code::OBJECT => {
                return Err(Error::decode(
                    "the value is marked as a .NET object and is none",
                ));
            }
            code::DB_NULL => Value::Null,
            // `BitConverter.ToBoolean`: whatever is not zero.
            code::BOOLEAN => Value::Bool(payload::fixed(&data)? != [0]),
            code::CHAR => Value::Char(u16::from_le_bytes(payload::fixed(&data)?)),
            code::SBYTE => Value::I8(i8::from_le_bytes(payload::fixed(&data)?)),
            code::BYTE => Value::U8(u8::from_le_bytes(payload::fixed(&data)?)),
            code::INT16 => Value::I16(i16::from_le_bytes(payload::fixed(&data)?)),
            code::UINT16 => Value::U16(u16::from_le_bytes(payload::fixed(&data)?)),
            code::INT32 => Value::I32(i32::from_le_bytes(payload::fixed(&data)?)),
            code::UINT32 => Value::U32(u32::from_le_bytes(payload::fixed(&data)?)),
            code::INT64 => Value::I64(i64::from_le_bytes(payload::fixed(&data)?)),
            code::UINT64 => Value::U64(u64::from_le_bytes(payload::fixed(&data)?)),
            code::SINGLE => Value::F32(f32::from_le_bytes(payload::fixed(&data)?)),
            code::DOUBLE => Value::F64(f64::from_le_bytes(payload::fixed(&data)?)),
            code::DATE_TIME => Value::Ticks(i64::from_le_bytes(payload::fixed(&data)?)),
            code::STRING => Value::Text(payload::text(data)?),
            _ => {
                return Err(Error::decode(format!(
                    "flags {flags:#x} are not those of Enyim"
                )));
            }
        })
    }
}
