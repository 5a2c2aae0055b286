//! Values as Perl's Cache::Memcached and Cache::Memcached::Fast write them.

use std::borrow::Cow;

use super::compress::{Compression, Deflate};
use super::value::{ForeignKind, Value};
use super::{Encoded, Transcoder, float_text, payload};
use crate::error::{Error, Result};

// Cache::Memcached 1.30 `Memcached.pm`, `F_STORABLE` and `F_COMPRESS`; Cache::Memcached::Fast 0.28 `Fast.xs`, `F_…`.
const STORABLE: u32 = 1;
const COMPRESSED: u32 = 2;
/// Cache::Memcached::Fast with `utf8 => 1` only.
const UTF8: u32 = 4;

/// The major version of Storable's format since Perl 5.6 (`Storable.xs`, `STORABLE_BIN_MAJOR`).
const STORABLE_MAJOR: u8 = 2;

/// Values as the two Perl clients store them.
///
/// | Perl | flags | [`Value`] |
/// |---|---|---|
/// | string, number | 0 | `Bytes`, which read as text and as numbers; text and numbers of every kind are written so |
/// | string of characters, with Fast's `utf8 => 1` | 4 | `Text` |
/// | reference | 1 | `Foreign` of kind `Storable`, written back unchanged |
///
/// Text goes as UTF-8; a Perl program without Fast's `utf8` decodes it itself. Numbers are written as Perl shows them, with all their digits.
/// A truth value is `1` or `0`; Perl's own false, an empty string, would not read back as one. Null and dates have no form:
/// [`ErrorKind::Encode`](crate::ErrorKind::Encode).
///
/// Flag 2 marks a gzip member. Nothing is compressed unless [`compression`](Self::compression) asks for it, as there; compressed values are always read.
/// What is cut off, damaged or followed by more bytes is an error here, where Perl reads it as far as it goes, or as undef. Other flags are ignored.
#[derive(Debug, Clone)]
#[doc(alias = "Cache::Memcached")]
#[doc(alias = "Cache::Memcached::Fast")]
pub struct PerlCacheMemcached {
    compression: Compression,
    smaller: fn(usize, usize) -> bool,
    utf8: bool,
}

impl PerlCacheMemcached {
    /// Cache::Memcached. A compressed value is stored if it saves more than a fifth.
    pub fn new() -> Self {
        Self {
            compression: Compression::never(),
            // `COMPRESS_SAVINGS`, 0.20
            smaller: |packed, plain| 5 * packed < 4 * plain,
            utf8: false,
        }
    }

    /// Cache::Memcached::Fast. A compressed value is stored if it saves a fifth, its default `compress_ratio`.
    pub fn fast() -> Self {
        Self {
            smaller: |packed, plain| 5 * packed <= 4 * plain,
            ..Self::new()
        }
    }

    /// What is compressed on writing. Default: [`Compression::never`].
    ///
    /// The clients compress what is as long as `compress_threshold` or longer: one of 10,000 is a threshold of 9,999 here.
    #[doc(alias = "compress_threshold")]
    pub fn compression(mut self, compression: Compression) -> Self {
        self.compression = compression;
        self
    }

    /// Marks text as such, for programs that set Fast's `utf8 => 1`. Default: no.
    pub fn utf8(mut self, yes: bool) -> Self {
        self.utf8 = yes;
        self
    }
}

impl Default for PerlCacheMemcached {
    fn default() -> Self {
        Self::new()
    }
}

impl Transcoder for PerlCacheMemcached {
    fn encode<'a>(&self, value: Value<'a>) -> Result<Encoded<'a>> {
        let number = |text: String| (0, Cow::Owned(text.into_bytes()));
        let (flags, data) = match value {
            Value::Bytes(bytes) => (0, bytes),
            Value::Text(text) | Value::StringBuffer(text) | Value::StringBuilder(text) => {
                (if self.utf8 { UTF8 } else { 0 }, payload::into_bytes(text))
            }
            Value::Foreign {
                kind: ForeignKind::Storable,
                bytes,
            } => (STORABLE, bytes),
            Value::F32(float) => number(float_text::perl(float.into())),
            Value::F64(float) => number(float_text::perl(float)),
            value => number(payload::of_scalar(&value).ok_or_else(|| no_form(&value))?),
        };
        let packed = self
            .compression
            .compress_if(Deflate::Gzip, &data, self.smaller);
        Ok(match packed {
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
        if flags & STORABLE != 0 {
            if !is_storable(&data) {
                return Err(Error::decode(
                    "the value is marked as Perl's Storable and is none",
                ));
            }
            return Ok(Value::Foreign {
                kind: ForeignKind::Storable,
                bytes: data,
            });
        }
        match flags & UTF8 {
            0 => Ok(Value::Bytes(data)),
            _ => payload::text(data).map(Value::Text),
        }
    }
}

/// The major version stands above the bit that says whether numbers are in network order.
fn is_storable(bytes: &[u8]) -> bool {
    matches!(bytes, [major, _minor, ..] if major >> 1 == STORABLE_MAJOR)
}

#[cold]
fn no_form(value: &Value<'_>) -> Error {
    Error::encode(format!(
        "the Perl clients have no form for this {}",
        value.type_name()
    ))
}
