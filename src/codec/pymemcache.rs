//! Values as Python's pymemcache writes them, with its `pickle_serde`, its `CompressedSerde` and without a serde.

use std::borrow::Cow;

use super::compress::{Compression, Deflate};
use super::python::{self, BYTES, INTEGER, ZLIB};
use super::value::Value;
use super::{Encoded, Transcoder, float_text, payload, pickle};
use crate::error::{Error, Result};

/// Values as pymemcache stores them (3.5 and 4.0, on Python 3), with the serde that the program gave its client.
///
/// | `serde` | here |
/// |---|---|
/// | `pickle_serde`, `python_memcache_serializer` | [`Pymemcache::new`] |
/// | `compressed_serde`, `CompressedSerde` of 4.0 | [`Pymemcache::new`] with [`compression`](Self::compression); `min_compress_len` is the threshold, 400 its default |
/// | none | [`Pymemcache::plain`] |
///
/// With a serde:
///
/// | Python | flags | [`Value`] |
/// |---|---|---|
/// | `bytes` | 0 | `Bytes` |
/// | `str` | 16 | `Text`; a `Char` is written so too |
/// | `int` | 2 | `I64`, above it `U64`, and beyond 64 bits its decimal digits as `Text`; integers of every width are written so |
/// | `bool`, `float`, `None` | 1 | `Bool`, `F64`, `Null`; pickled. So is `F32` |
/// | all else | 1 | `Foreign` of kind `Pickle`, written back unchanged |
///
/// Flag 8 marks a zlib stream; it is always read, where `pickle_serde` hands out the stream itself. Bytes behind the stream or behind a pickle,
/// which the client drops, are an error here; so is a broken pickle, which it returns as None. Other flags are ignored, as there.
/// A date has no form: [`ErrorKind::Encode`](crate::ErrorKind::Encode).
///
/// Keys must be `str` in the Python program: `HashClient` hashes what `str()` makes of a key, which for `bytes` is `b'…'`.
///
/// Without a serde the flags say nothing: a Python program reads `bytes`, whatever was written, and so does this. Numbers and truth values
/// are written as Python's `str()` gives them, `1.0` and `True`; null has no form there. Text goes as UTF-8, where pymemcache
/// refuses all but ASCII unless its `encoding` is set.
///
/// pymemcache refuses keys that are not ASCII unless its `allow_unicode_keys` is set.
#[derive(Debug, Clone)]
#[doc(alias = "PickleSerde")]
#[doc(alias = "CompressedSerde")]
#[doc(alias = "python_memcache_serializer")]
pub struct Pymemcache {
    serde: bool,
    compression: Compression,
    protocol: u8,
}

impl Pymemcache {
    /// With `pickle_serde`: pickles of the newest protocol, 5; nothing compressed.
    pub fn new() -> Self {
        Self {
            serde: true,
            compression: Compression::never(),
            protocol: pickle::HIGHEST_PROTOCOL,
        }
    }

    /// Without a serde, pymemcache's default.
    pub fn plain() -> Self {
        Self {
            serde: false,
            ..Self::new()
        }
    }

    /// What is compressed on writing, integers excepted. Default: [`Compression::never`]. Of no effect without a serde.
    #[doc(alias = "min_compress_len")]
    pub fn compression(mut self, compression: Compression) -> Self {
        self.compression = compression;
        self
    }

    /// The protocol of the pickles, from 0 to 5; more counts as 5. All are read. Default: 5.
    #[doc(alias = "pickle_version")]
    pub fn pickle_protocol(mut self, protocol: u8) -> Self {
        self.protocol = protocol.min(pickle::HIGHEST_PROTOCOL);
        self
    }
}

impl Default for Pymemcache {
    fn default() -> Self {
        Self::new()
    }
}

impl Transcoder for Pymemcache {
    fn encode<'a>(&self, value: Value<'a>) -> Result<Encoded<'a>> {
        if !self.serde {
            let data = write_plain(value)?;
            return Ok(Encoded { flags: BYTES, data });
        }
        let (flags, data) = python::write(value, INTEGER, self.protocol)?;
        if flags != INTEGER {
            // `CompressedSerde.serialize` keeps a stream that is just as long.
            let keep = |packed, plain| packed <= plain;
            if let Some(packed) = self.compression.compress_if(Deflate::Zlib, &data, keep) {
                return Ok(Encoded {
                    flags: flags | ZLIB,
                    data: Cow::Owned(packed),
                });
            }
        }
        Ok(Encoded { flags, data })
    }

    fn decode<'a>(&self, flags: u32, data: Cow<'a, [u8]>) -> Result<Value<'a>> {
        if !self.serde {
            return Ok(Value::Bytes(data));
        }
        let data = match flags & ZLIB {
            0 => data,
            _ => Cow::Owned(self.compression.inflate(Deflate::Zlib, &data)?),
        };
        python::read(python::first_mark(flags).unwrap_or(BYTES), data)
    }

    /// So that `pickle_serde` reads a counter as a number.
    fn counter_flags(&self) -> u32 {
        if self.serde { INTEGER } else { BYTES }
    }
}

/// `str(value)`, but bytes as they are.
fn write_plain(value: Value<'_>) -> Result<Cow<'_, [u8]>> {
    let text = match value {
        Value::Bytes(bytes) => return Ok(bytes),
        Value::Text(text) | Value::StringBuffer(text) | Value::StringBuilder(text) => {
            return Ok(payload::into_bytes(text));
        }
        Value::Bool(truth) => if truth { "True" } else { "False" }.to_owned(),
        Value::F32(float) => float_text::python(float.into()),
        Value::F64(float) => float_text::python(float),
        value => payload::of_scalar(&value).ok_or_else(|| no_plain_form(&value))?,
    };
    Ok(Cow::Owned(text.into_bytes()))
}

#[cold]
fn no_plain_form(value: &Value<'_>) -> Error {
    Error::encode(format!(
        "pymemcache without a serde has no form for {}",
        value.type_name()
    ))
}
