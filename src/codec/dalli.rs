//! Values as Ruby's Dalli writes them.

use std::borrow::Cow;

use super::compress::{Compression, Deflate};
use super::value::{ForeignKind, Value};
use super::{Encoded, Transcoder, float_text, marshal, payload};
use crate::error::{Error, Result};

/// The payload is what Ruby's `Marshal` gives (dalli 3.0.6 `value_serializer.rb`, `FLAG_SERIALIZED`).
const SERIALIZED: u32 = 1;

/// The payload is compressed (dalli 3.0.6 `value_compressor.rb`, `FLAG_COMPRESSED`).
const COMPRESSED: u32 = 2;

/// `compression_min_size` (dalli 3.0.6 `value_compressor.rb`): payloads that long are compressed already.
const DEFAULT_MIN_SIZE: usize = 4 * 1024;

/// How a gzip member begins, and no zlib stream can.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Values as Dalli stores them (3.0), with Ruby's `Marshal` or, with [`raw`](Self::raw), as text.
///
/// | Ruby | [`Value`] |
/// |---|---|
/// | `String` in UTF-8 or US-ASCII | `Text`, or `Bytes` if it is none; all kinds of text and a `Char` are written so |
/// | `String` of bytes | `Bytes` |
/// | `Integer` | `I64`, above it `U64`; integers of every width are written so |
/// | `Float` | `F64`; so is `F32` |
/// | `true`, `false`, `nil` | `Bool`, `Null` |
/// | all else; strings in other encodings; integers beyond 64 bits | `Foreign` of kind `Marshal`, written back unchanged |
///
/// These have flag 1. Without it a value is raw, which Dalli reads as a string, and this as bytes. Counters are raw. Other flags are ignored, as there.
/// A date has no form: [`ErrorKind::Encode`](crate::ErrorKind::Encode).
///
/// Flag 2 marks a zlib stream, or a gzip member with Dalli's `GzipCompressor`: this reads both. Payloads of 4,096 bytes and more are compressed,
/// even if that makes them longer. Bytes behind the stream or behind a value of the types above, which Dalli drops, are an error here.
///
/// Dalli puts its namespace and a `:` in front of the key. A key of more than 250 bytes it cuts and completes with `:md5:` and an MD5 of the whole:
/// a program that shares such keys has to build them itself.
#[derive(Debug, Clone)]
#[doc(alias = "Dalli::Client")]
pub struct Dalli {
    raw: bool,
    form: Deflate,
    compression: Compression,
}

impl Dalli {
    /// The client's defaults: Ruby's `Marshal`, zlib from 4,096 bytes on.
    pub fn new() -> Self {
        Self {
            raw: false,
            form: Deflate::Zlib,
            compression: Compression::new()
                .threshold(DEFAULT_MIN_SIZE - 1)
                .only_if_smaller(false),
        }
    }

    /// Writes as Dalli does with `raw: true`: strings as they are, and other values as their `to_s` is; null has no form then. Default: no.
    ///
    /// Ruby programs read both forms without being told which it is.
    pub fn raw(mut self, yes: bool) -> Self {
        self.raw = yes;
        self
    }

    /// Compresses to gzip instead of zlib, for programs that set `compressor: Dalli::GzipCompressor`. Default: no.
    #[doc(alias = "GzipCompressor")]
    pub fn gzip(mut self, yes: bool) -> Self {
        self.form = if yes { Deflate::Gzip } else { Deflate::Zlib };
        self
    }

    /// What is compressed on writing. Default: all of more than 4,095 bytes, which is Dalli's `compression_min_size` of 4,096.
    #[doc(alias = "compression_min_size")]
    pub fn compression(mut self, compression: Compression) -> Self {
        self.compression = compression;
        self
    }
}

impl Default for Dalli {
    fn default() -> Self {
        Self::new()
    }
}

impl Transcoder for Dalli {
    fn encode<'a>(&self, value: Value<'a>) -> Result<Encoded<'a>> {
        let (flags, data) = match value {
            Value::Foreign {
                kind: ForeignKind::Marshal,
                bytes,
            } => (SERIALIZED, bytes),
            value if self.raw => (0, to_s(value)?),
            value => {
                let dumped = marshal::dump(&value).ok_or_else(|| no_form(&value))?;
                (SERIALIZED, Cow::Owned(dumped))
            }
        };
        Ok(match self.compression.compress(self.form, &data) {
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
            _ => {
                let form = match data.starts_with(&GZIP) {
                    true => Deflate::Gzip,
                    false => Deflate::Zlib,
                };
                Cow::Owned(self.compression.inflate(form, &data)?)
            }
        };
        match flags & SERIALIZED {
            0 => Ok(Value::Bytes(data)),
            _ => marshal::load(data),
        }
    }
}

fn to_s(value: Value<'_>) -> Result<Cow<'_, [u8]>> {
    let text = match value {
        Value::Bytes(bytes) => return Ok(bytes),
        Value::Text(text) | Value::StringBuffer(text) | Value::StringBuilder(text) => {
            return Ok(payload::into_bytes(text));
        }
        Value::Bool(truth) => truth.to_string(),
        Value::F32(float) => float_text::ruby(float.into()),
        Value::F64(float) => float_text::ruby(float),
        value => payload::of_scalar(&value).ok_or_else(|| no_form(&value))?,
    };
    Ok(Cow::Owned(text.into_bytes()))
}

#[cold]
fn no_form(value: &Value<'_>) -> Error {
    Error::encode(format!("Dalli has no form for this {}", value.type_name()))
}
