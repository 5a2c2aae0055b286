//! Values as the Java client writes them (`com.danga.MemCached`, `com.meetup.memcached`, `com.whalin.MemCached`), in the forms of its three lines.

use std::borrow::Cow;

use super::compress::{Compression, Deflate};
use super::value::{ForeignKind, Value};
use super::{Encoded, Transcoder, java_text, payload};
use crate::error::{Error, Result};

/// The payload is a gzip member (whalin `MemcachedClient.java`, `F_COMPRESSED`).
const COMPRESSED: u32 = 2;

/// The payload is a Java object stream (whalin `MemcachedClient.java`, `F_SERIALIZED`).
const SERIALIZED: u32 = 8;

/// How an object stream begins (`java.io.ObjectStreamConstants`, magic and version).
pub(super) const JAVA_STREAM: [u8; 4] = [0xac, 0xed, 0x00, 0x05];

/// The object stream of a `byte[]`, up to its length: array, class descriptor `[B` with its serial number, flags, no fields.
const JAVA_BYTE_ARRAY: [u8; 23] =
    *b"\xac\xed\0\x05ur\0\x02[B\xac\xf3\x17\xf8\x06\x08T\xe0\x02\0\0xp";

/// Values as the Java client stores them, so that Java programs read them with `get` and their values are read here.
///
/// Rust's types become Java's: `i8` a `Byte`, `i16` a `Short`, `i32` an `Integer`, `i64` a `Long`, text a `String`, bytes a `byte[]`,
/// `SystemTime` a `Date`. Java has no unsigned types: those go as the next wider one, and a `u64` beyond `i64::MAX` is an error.
/// The client stores no null, and neither does this: [`ErrorKind::Encode`](crate::ErrorKind::Encode).
///
/// A Java object comes back as [`Value::Foreign`] and is written back unchanged.
///
/// Mended, since the Java client loses values here:
/// * An empty `String` or `byte[]` is empty; Java 2.x and 3.x return null.
/// * A value with flags 0, as PHP and others store plain strings, comes back as bytes, which read as text; Java returns null and, in 3.x,
///   drops the connection. One that begins as an object stream is a Java object, as 3.x stores them.
/// * A payload whose length does not fit its type is an error instead of another number.
///
/// Text is UTF-8, the client's default; a text that another `setDefaultEncoding` wrote has to be read as bytes.
#[derive(Debug, Clone)]
#[doc(alias = "TransCoder")]
#[doc(alias = "ObjectTransCoder")]
#[doc(alias = "NativeHandler")]
#[doc(alias = "setDefaultEncoding")]
#[doc(alias = "AbstractTransCoder")]
pub struct Whalin {
    line: Line,
    primitive_as_string: bool,
    compression: Compression,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    V1,
    V2,
    V3,
}

impl Whalin {
    /// The 1.x line: a byte in front of the payload says the type, and the flags nothing. Not readable by the later lines.
    ///
    /// A plain text of another client is misread if it begins with one of the bytes 1 to 12; `\t` and `\n` are among them.
    pub fn v1() -> Self {
        Self::new(Line::V1, Self::old_compression())
    }

    /// The 2.x line: the flags say the type.
    pub fn v2() -> Self {
        Self::new(Line::V2, Self::old_compression())
    }

    /// The 3.x line: as 2.x, but objects have flags 0, counters flags 32, and nothing is compressed on writing.
    /// Java 3.x reads compressed values, so that [`compression`](Self::compression) may be turned on.
    pub fn v3() -> Self {
        Self::new(Line::V3, Compression::never())
    }

    fn new(line: Line, compression: Compression) -> Self {
        Self {
            line,
            primitive_as_string: false,
            compression,
        }
    }

    /// 1.x and 2.x store the gzip member even if it is longer than the value.
    fn old_compression() -> Compression {
        Compression::new().only_if_smaller(false)
    }

    /// What is compressed on writing. Default: payloads of more than 30,720 bytes with 1.x and 2.x, nothing with 3.x.
    #[doc(alias = "setCompressEnable")]
    #[doc(alias = "setCompressThreshold")]
    pub fn compression(mut self, compression: Compression) -> Self {
        self.compression = compression;
        self
    }

    /// Writes numbers, truth values, characters and dates as the text of Java's `toString()`, and takes unmarked payloads for text.
    /// Default: off.
    ///
    /// With 1.x and 2.x such text has flags 0, which every client reads. Dates are written in UTC.
    /// Bytes keep their form, of which 2.x and 3.x would store nothing but a name, `[B@1b6d3586`.
    #[doc(alias = "setPrimitiveAsString")]
    pub fn primitive_as_string(mut self, yes: bool) -> Self {
        self.primitive_as_string = yes;
        self
    }

    /// The flags and the payload before compression.
    fn plain<'a>(&self, value: Value<'a>) -> Result<(u32, Cow<'a, [u8]>)> {
        let value = match value {
            Value::Foreign {
                kind: ForeignKind::Java,
                bytes,
            } => return Ok((self.object_flags(), bytes)),
            value => signed(value)?,
        };
        if self.primitive_as_string {
            if let Value::Text(text) | Value::StringBuffer(text) | Value::StringBuilder(text) =
                value
            {
                return Ok((self.text_flags(), payload::into_bytes(text)));
            }
            if !matches!(value, Value::Bytes(_)) {
                let text = java_text::of_scalar(&value).ok_or_else(|| no_form(&value))?;
                return Ok((self.text_flags(), Cow::Owned(text.into_bytes())));
            }
        }
        let (native, body) = Native::write(value)?;
        Ok(match (self.line, native) {
            (Line::V1, Native::Bytes) => (SERIALIZED, Cow::Owned(java_byte_array(&body)?)),
            (Line::V1, _) => (0, Cow::Owned(payload::marked(native as u8, &body))),
            (Line::V2 | Line::V3, _) => (native.flag(), body),
        })
    }

    fn object_flags(&self) -> u32 {
        match self.line {
            Line::V1 | Line::V2 => SERIALIZED,
            Line::V3 => 0,
        }
    }

    fn text_flags(&self) -> u32 {
        match self.line {
            Line::V1 | Line::V2 => 0,
            Line::V3 => Native::String.flag(),
        }
    }

    fn read_object<'a>(&self, bytes: Cow<'a, [u8]>) -> Result<Value<'a>> {
        if !bytes.starts_with(&JAVA_STREAM) {
            return Err(Error::decode(
                "the value is marked as a Java object and is none",
            ));
        }
        Ok(match is_java_byte_array(&bytes) {
            // Where 1.x has no other form for bytes.
            true if self.line == Line::V1 => {
                Value::Bytes(payload::behind(bytes, JAVA_BYTE_ARRAY.len() + 4))
            }
            _ => Value::Foreign {
                kind: ForeignKind::Java,
                bytes,
            },
        })
    }

    /// A payload with nothing that says its type: another client's text, or an object of 3.x.
    fn read_unmarked<'a>(&self, bytes: Cow<'a, [u8]>) -> Result<Value<'a>> {
        match self.line {
            Line::V2 | Line::V3 if bytes.starts_with(&JAVA_STREAM) => self.read_object(bytes),
            _ if self.primitive_as_string => Ok(payload::text_or_bytes(bytes)),
            _ => Ok(Value::Bytes(bytes)),
        }
    }
}

impl Transcoder for Whalin {
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

    fn decode<'a>(&self, flags: u32, data: Cow<'a, [u8]>) -> Result<Value<'a>> {
        let data = match flags & COMPRESSED {
            0 => data,
            _ => Cow::Owned(self.compression.inflate(Deflate::Gzip, &data)?),
        };
        if flags & SERIALIZED != 0 {
            return self.read_object(data);
        }
        match self.line {
            Line::V1 if self.primitive_as_string => self.read_unmarked(data),
            Line::V1 => match data.first().and_then(|marker| Native::of_marker(*marker)) {
                Some(native) => native.read(payload::behind(data, 1)),
                None => self.read_unmarked(data),
            },
            Line::V2 | Line::V3 => match Native::of_flags(flags) {
                Some(native) => native.read(data),
                None if flags & !COMPRESSED == 0 => self.read_unmarked(data),
                None => Err(Error::decode(format!(
                    "flags {flags:#x} are not those of the Java client"
                ))),
            },
        }
    }

    fn counter_flags(&self) -> u32 {
        self.text_flags()
    }
}

/// The types that have a form of their own. The number of each is its marker byte in 1.x (`NativeHandler.java`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Native {
    Byte = 1,
    Boolean,
    Integer,
    Long,
    Character,
    String,
    StringBuffer,
    Float,
    Short,
    Double,
    Date,
    StringBuilder,
    /// Since 2.0; without a marker.
    Bytes,
}

/// The flags since 2.0, in the order in which the client looks for them (`NativeHandler.java`, `decode`): the first bit that is set counts.
const FLAGS: [(Native, u32); 13] = [
    (Native::Byte, 1),
    (Native::Boolean, 8192),
    (Native::Integer, 4),
    (Native::Long, 16384),
    (Native::Character, 16),
    (Native::String, 32),
    (Native::StringBuffer, 64),
    (Native::Float, 128),
    (Native::Short, 256),
    (Native::Double, 512),
    (Native::Date, 1024),
    (Native::StringBuilder, 2048),
    (Native::Bytes, 4096),
];

impl Native {
    fn of_marker(marker: u8) -> Option<Self> {
        let mut natives = FLAGS.iter().map(|(native, _)| *native);
        natives.find(|native| *native as u8 == marker && *native != Native::Bytes)
    }

    fn of_flags(flags: u32) -> Option<Self> {
        let native = FLAGS.iter().find(|(_, flag)| flags & flag != 0);
        native.map(|(native, _)| *native)
    }

    fn flag(self) -> u32 {
        let flag = FLAGS.iter().find(|(native, _)| *native == self);
        flag.map_or(0, |(_, flag)| *flag)
    }

    /// The type and the payload of a value that [`signed`] has passed. Numbers are big-endian.
    fn write(value: Value<'_>) -> Result<(Self, Cow<'_, [u8]>)> {
        let number = |bytes: &[u8]| Cow::Owned(bytes.to_vec());
        Ok(match value {
            Value::Bool(v) => (Native::Boolean, number(&[u8::from(v)])),
            Value::I8(v) => (Native::Byte, number(&v.to_be_bytes())),
            // Four bytes for a `short` and a `char` too.
            Value::I16(v) => (Native::Short, number(&i32::from(v).to_be_bytes())),
            Value::Char(v) => (Native::Character, number(&u32::from(v).to_be_bytes())),
            Value::I32(v) => (Native::Integer, number(&v.to_be_bytes())),
            Value::I64(v) => (Native::Long, number(&v.to_be_bytes())),
            // `floatToIntBits` knows one NaN only.
            Value::F32(v) if v.is_nan() => (Native::Float, number(&0x7fc0_0000_u32.to_be_bytes())),
            Value::F32(v) => (Native::Float, number(&v.to_be_bytes())),
            Value::F64(v) if v.is_nan() => {
                (Native::Double, number(&(0x7ff8_u64 << 48).to_be_bytes()))
            }
            Value::F64(v) => (Native::Double, number(&v.to_be_bytes())),
            Value::Date(v) => (Native::Date, number(&v.to_be_bytes())),
            Value::Text(v) => (Native::String, payload::into_bytes(v)),
            Value::StringBuffer(v) => (Native::StringBuffer, payload::into_bytes(v)),
            Value::StringBuilder(v) => (Native::StringBuilder, payload::into_bytes(v)),
            Value::Bytes(v) => (Native::Bytes, v),
            other => return Err(no_form(&other)),
        })
    }

    fn read(self, data: Cow<'_, [u8]>) -> Result<Value<'_>> {
        let number = || payload::fixed(&data).map(i32::from_be_bytes);
        Ok(match self {
            Native::Byte => Value::I8(i8::from_be_bytes(payload::fixed(&data)?)),
            Native::Boolean => Value::Bool(payload::fixed(&data)? == [1]),
            Native::Integer => Value::I32(number()?),
            Native::Long => Value::I64(i64::from_be_bytes(payload::fixed(&data)?)),
            // Java casts: the upper half may be anything.
            Native::Character => Value::Char(number()? as u16),
            Native::Short => Value::I16(number()? as i16),
            Native::Float => Value::F32(f32::from_be_bytes(payload::fixed(&data)?)),
            Native::Double => Value::F64(f64::from_be_bytes(payload::fixed(&data)?)),
            Native::Date => Value::Date(i64::from_be_bytes(payload::fixed(&data)?)),
            Native::String => Value::Text(payload::text(data)?),
            Native::StringBuffer => Value::StringBuffer(payload::text(data)?),
            Native::StringBuilder => Value::StringBuilder(payload::text(data)?),
            Native::Bytes => Value::Bytes(data),
        })
    }
}

/// Unsigned integers as the next wider signed ones, which Java has.
pub(super) fn signed(value: Value<'_>) -> Result<Value<'_>> {
    Ok(match value {
        Value::U8(v) => Value::I16(v.into()),
        Value::U16(v) => Value::I32(v.into()),
        Value::U32(v) => Value::I64(v.into()),
        Value::U64(v) => Value::I64(
            i64::try_from(v)
                .map_err(|_| Error::encode("the number is too large for Java's `long`"))?,
        ),
        value => value,
    })
}

fn java_byte_array(bytes: &[u8]) -> Result<Vec<u8>> {
    let len = i32::try_from(bytes.len())
        .map_err(|_| Error::encode("Java's arrays have less than 2 GiB"))?;
    Ok([&JAVA_BYTE_ARRAY[..], &len.to_be_bytes(), bytes].concat())
}

/// Whether the stream is one byte array, whole and alone.
fn is_java_byte_array(stream: &[u8]) -> bool {
    let array = stream.strip_prefix(&JAVA_BYTE_ARRAY);
    let parts = array.and_then(|array| array.split_first_chunk());
    parts.is_some_and(|(len, bytes)| usize::try_from(i32::from_be_bytes(*len)) == Ok(bytes.len()))
}

#[cold]
fn no_form(value: &Value<'_>) -> Error {
    Error::encode(format!(
        "the Java client has no form for this {}",
        value.type_name()
    ))
}
