//! Values as the .NET client memcacheddotnet (`Memcached.ClientLibrary`) writes them.

use std::borrow::Cow;

use super::compress::{Compression, Deflate};
use super::value::{ForeignKind, Value};
use super::{Encoded, Transcoder, dates, dotnet_text, nrbf, payload};
use crate::error::{Error, Result};

/// The payload is a gzip member (`MemcachedClient.cs`, `F_COMPRESSED`).
const COMPRESSED: u32 = 2;

/// The payload is a `BinaryFormatter` stream (`MemcachedClient.cs`, `F_SERIALIZED`).
const SERIALIZED: u32 = 8;

/// The bits of .NET's own `NaN`, which is negative.
const SINGLE_NAN: u32 = 0xffc0_0000;
const DOUBLE_NAN: u64 = 0xfff8 << 48;

/// The byte in front of a payload that says its type (`NativeHandler.cs`).
mod marker {
    pub(super) const BYTE: u8 = 1;
    pub(super) const BOOL: u8 = 2;
    pub(super) const INT32: u8 = 3;
    pub(super) const INT64: u8 = 4;
    pub(super) const CHAR: u8 = 5;
    pub(super) const STRING: u8 = 6;
    pub(super) const STRING_BUILDER: u8 = 7;
    pub(super) const SINGLE: u8 = 8;
    pub(super) const INT16: u8 = 9;
    pub(super) const DOUBLE: u8 = 10;
    pub(super) const DATE_TIME: u8 = 11;
}

/// Values as memcacheddotnet stores them: a byte in front of the payload says the type, the flags only whether it is compressed or an object.
///
/// Rust's types become .NET's. Bytes, `i8`, `u16`, `u32` and `u64` go as `BinaryFormatter` streams, as from the .NET client, and come back as what they are;
/// any other stream is a [`Value::Foreign`], which is written back unchanged. A `SystemTime` is stored as the ticks of its UTC time;
/// a `DateTime` comes back as [`Value::Ticks`] without a zone, since the client drops it. Null is an empty payload, and an empty payload is null.
///
/// Mended, since the .NET client loses values here:
/// * A payload without a known marker, as PHP and others store plain strings, comes back as bytes, which read as text; .NET returns null.
///   Text that begins with one of the bytes 1 to 11 is misread, as it is there; `\t` and `\n` are among them.
/// * A payload that is too short, a date out of range and a broken object are errors; .NET returns null.
/// * A second gzip member behind the first is an error; .NET drops it.
#[derive(Debug, Clone)]
#[doc(alias = "NativeHandler")]
#[doc(alias = "DefaultEncoding")]
pub struct MemcachedDotNet {
    primitive_as_string: bool,
    compression: Compression,
}

impl MemcachedDotNet {
    /// The client's defaults.
    pub fn new() -> Self {
        Self {
            primitive_as_string: false,
            // The client stores the gzip member even if it is longer.
            compression: Compression::new().only_if_smaller(false),
        }
    }

    /// What is compressed on writing. Default: payloads of more than 30,720 bytes, the marker included.
    #[doc(alias = "EnableCompression")]
    #[doc(alias = "CompressionThreshold")]
    pub fn compression(mut self, compression: Compression) -> Self {
        self.compression = compression;
        self
    }

    /// Writes the types that have a marker as the text of .NET's `ToString()`, and reads what is no object as text, an empty payload too. Default: off.
    ///
    /// The culture is the invariant one, where .NET takes that of the thread. As with .NET Framework, a `double` has
    /// 15 digits and a `float` 7, so that some do not read back to the same number.
    #[doc(alias = "PrimitiveAsString")]
    pub fn primitive_as_string(mut self, yes: bool) -> Self {
        self.primitive_as_string = yes;
        self
    }

    /// The flags and the payload before compression.
    fn plain<'a>(&self, value: Value<'a>) -> Result<(u32, Cow<'a, [u8]>)> {
        let value = match value {
            Value::Null => return Ok((0, Cow::Borrowed(&[]))),
            Value::Foreign {
                kind: ForeignKind::DotNet,
                bytes,
            } => return Ok((SERIALIZED, bytes)),
            value => value,
        };
        if let Some(stream) = nrbf::write(&value) {
            return Ok((SERIALIZED, Cow::Owned(stream)));
        }
        if !self.primitive_as_string {
            return Ok((0, Cow::Owned(write(&value)?)));
        }
        Ok(match value {
            Value::Text(text) | Value::StringBuffer(text) | Value::StringBuilder(text) => {
                (0, payload::into_bytes(text))
            }
            scalar => {
                let text = dotnet_text::of_scalar(&scalar).ok_or_else(|| no_form(&scalar))?;
                (0, Cow::Owned(text.into_bytes()))
            }
        })
    }
}

impl Default for MemcachedDotNet {
    fn default() -> Self {
        Self::new()
    }
}

impl Transcoder for MemcachedDotNet {
    fn encode<'a>(&self, value: Value<'a>) -> Result<Encoded<'a>> {
        let (flags, data) = self.plain(value)?;
        Ok(match self.compression.compress(Deflate::Gzip, &data) {
            Some(packed) => Encoded {
                flags: flags | COMPRESSED,
                data: Cow::Owned(packed),
            },
            None => Encoded { flags, data },
        })
    }

    /// All other bits of the flags are ignored, as by the .NET client.
    fn decode<'a>(&self, flags: u32, data: Cow<'a, [u8]>) -> Result<Value<'a>> {
        let data = match flags & COMPRESSED {
            0 => data,
            _ => Cow::Owned(self.compression.inflate(Deflate::Gzip, &data)?),
        };
        if flags & SERIALIZED != 0 {
            return nrbf::read(data)
                .ok_or_else(|| Error::decode("the value is marked as a .NET object and is none"));
        }
        if self.primitive_as_string {
            return Ok(payload::text_or_bytes(data));
        }
        read(data)
    }
}

/// The marker and the body. Integers are big-endian, in four bytes at least; floats little-endian.
fn write(value: &Value<'_>) -> Result<Vec<u8>> {
    Ok(match value {
        Value::U8(v) => payload::marked(marker::BYTE, &[*v]),
        Value::Bool(v) => payload::marked(marker::BOOL, &[u8::from(*v)]),
        Value::I16(v) => payload::marked(marker::INT16, &i32::from(*v).to_be_bytes()),
        // The client casts to `short` first: the sign goes along.
        Value::Char(v) => payload::marked(marker::CHAR, &i32::from(*v as i16).to_be_bytes()),
        Value::I32(v) => payload::marked(marker::INT32, &v.to_be_bytes()),
        Value::I64(v) => payload::marked(marker::INT64, &v.to_be_bytes()),
        Value::F32(v) if v.is_nan() => payload::marked(marker::SINGLE, &SINGLE_NAN.to_le_bytes()),
        Value::F32(v) => payload::marked(marker::SINGLE, &v.to_le_bytes()),
        Value::F64(v) if v.is_nan() => payload::marked(marker::DOUBLE, &DOUBLE_NAN.to_le_bytes()),
        Value::F64(v) => payload::marked(marker::DOUBLE, &v.to_le_bytes()),
        Value::Ticks(v) if dates::is_ticks(*v) => {
            payload::marked(marker::DATE_TIME, &v.to_be_bytes())
        }
        Value::Date(v) => {
            let ticks = dates::to_ticks(*v).ok_or_else(|| no_form(value))?;
            payload::marked(marker::DATE_TIME, &ticks.to_be_bytes())
        }
        Value::Text(v) => payload::marked(marker::STRING, v.as_bytes()),
        Value::StringBuffer(v) | Value::StringBuilder(v) => {
            payload::marked(marker::STRING_BUILDER, v.as_bytes())
        }
        other => return Err(no_form(other)),
    })
}

/// Bytes behind a number are ignored, as by the .NET client.
fn read(data: Cow<'_, [u8]>) -> Result<Value<'_>> {
    let Some((marker, body)) = data.split_first() else {
        return Ok(Value::Null);
    };
    let int32 = || payload::leading(body).map(i32::from_be_bytes);
    let int64 = || payload::leading(body).map(i64::from_be_bytes);
    Ok(match *marker {
        marker::BYTE => Value::U8(u8::from_be_bytes(payload::leading(body)?)),
        marker::BOOL => Value::Bool(payload::leading(body)? == [1]),
        marker::INT32 => Value::I32(int32()?),
        marker::INT64 => Value::I64(int64()?),
        // Casts in .NET too: the upper half may be anything.
        marker::CHAR => Value::Char(int32()? as u16),
        marker::INT16 => Value::I16(int32()? as i16),
        marker::SINGLE => Value::F32(f32::from_le_bytes(payload::leading(body)?)),
        marker::DOUBLE => Value::F64(f64::from_le_bytes(payload::leading(body)?)),
        marker::DATE_TIME => {
            let ticks = int64()?;
            if !dates::is_ticks(ticks) {
                return Err(Error::decode("the stored date is out of .NET's range"));
            }
            Value::Ticks(ticks)
        }
        marker::STRING => Value::Text(payload::text(payload::behind(data, 1))?),
        marker::STRING_BUILDER => Value::StringBuilder(payload::text(payload::behind(data, 1))?),
        _ => Value::Bytes(data),
    })
}

#[cold]
fn no_form(value: &Value<'_>) -> Error {
    Error::encode(format!(
        "memcacheddotnet has no form for this {}",
        value.type_name()
    ))
}
