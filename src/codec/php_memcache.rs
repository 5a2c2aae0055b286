//! The values of PHP's Memcache class (the pecl extension memcache, 8.x). It knows no server and no key.

use std::borrow::Cow;

use super::compress::{Deflate, deflate, inflate};
use super::php_memcached::PHP_NULL;
use super::php_type::PhpType;
use super::{Encoded, ForeignKind, Transcoder, Value, php_number, php_scan};
use crate::error::{Error, Result};

/// `MMC_SERIALIZED` and `MMC_COMPRESSED` (memcache_pool.h).
const SERIALIZED: u32 = 0x1;
const COMPRESSED: u32 = 0x2;
/// The bits of `MMC_TYPE_…`. A type that is not known, as every other bit, means a string.
const TYPE: u32 = 0x0f00;
const STRING: u32 = 0;
const BOOL: u32 = 0x100;
const LONG: u32 = 0x300;
const DOUBLE: u32 = 0x700;
/// `MEMCACHE_USER1` is the first of the bits that are left to the application.
const USER_SHIFT: u32 = 16;

/// The ini setting `memcache.compress_threshold` and the default of `setCompressThreshold`'s second argument.
const DEFAULT_THRESHOLD: usize = 20_000;
const DEFAULT_MIN_SAVINGS: f64 = 0.2;
/// What zlib's `compress()` takes for its default.
const ZLIB_LEVEL: u32 = 6;

const DEFAULT_MAX_INFLATED: usize = 64 << 20;

/// Reads and writes what PHP's `Memcache` class does: strings, integers, floats and truth values,
/// and in PHP's own serialized form null, arrays and objects.
///
/// | PHP | flags | [`Value`] |
/// |---|---|---|
/// | string | 0 | `Bytes`; text of every kind is written so too |
/// | bool | 0x100 | `Bool` |
/// | int | 0x300 | `I64`; integers of every width are written so too |
/// | float | 0x700 | `F64`; so is `F32`. **Lossy**: 14 digits are stored |
/// | null | 1 | `Null` |
/// | array, object | 1 | `Foreign` of kind `Php`, written back as it came |
///
/// Numbers are read as PHP reads them, as far as they go, and an unknown type is a string.
/// Bytes behind a serialized or a compressed value, which PHP lets pass, are [`ErrorKind::Decode`](crate::ErrorKind::Decode) errors.
#[derive(Debug, Clone, PartialEq)]
#[doc(alias = "Memcache")]
pub struct PhpMemcache {
    threshold: Option<usize>,
    min_savings: f64,
    user_flags: u16,
    max_inflated: usize,
}

impl PhpMemcache {
    /// The defaults of the extension: zlib from 20,000 bytes on if that saves a fifth, no user flags.
    pub fn new() -> Self {
        Self {
            threshold: Some(DEFAULT_THRESHOLD),
            min_savings: DEFAULT_MIN_SAVINGS,
            user_flags: 0,
            max_inflated: DEFAULT_MAX_INFLATED,
        }
    }

    /// Strings and serialized values of at least this many bytes are compressed: 0 is the flag `MEMCACHE_COMPRESSED`
    /// with every `set`, `None` is `setCompressThreshold(0)`. Default: 20,000. Needs the feature `compress`;
    /// nothing is compressed without it.
    #[doc(alias = "setCompressThreshold")]
    #[doc(alias = "MEMCACHE_COMPRESSED")]
    #[doc(alias = "memcache_set_compress_threshold")]
    #[doc(alias = "memcache.compress_threshold")]
    pub fn compress_threshold(mut self, bytes: Option<usize>) -> Self {
        self.threshold = bytes;
        self
    }

    /// The compressed form is stored if it is shorter by this share of the payload at least. Default: 0.2.
    #[doc(alias = "setCompressThreshold")]
    pub fn min_savings(mut self, share: f64) -> Self {
        self.min_savings = share;
        self
    }

    /// The application's own bits, from bit 16 on, written beside every value: 1 is `MEMCACHE_USER1`. Default: 0.
    #[doc(alias = "MEMCACHE_USER1")]
    #[doc(alias = "MEMCACHE_USER2")]
    #[doc(alias = "MEMCACHE_USER3")]
    #[doc(alias = "MEMCACHE_USER4")]
    pub fn user_flags(mut self, flags: u16) -> Self {
        self.user_flags = flags;
        self
    }

    /// The application's own bits in the flags of a stored value.
    pub fn user_flags_in(flags: u32) -> u16 {
        (flags >> USER_SHIFT) as u16
    }

    /// The most bytes that a compressed value may have when it is read; more is an error. Default: 64 MiB.
    pub fn max_inflated(mut self, bytes: usize) -> Self {
        self.max_inflated = bytes;
        self
    }

    fn compress(&self, data: &[u8]) -> Option<Vec<u8>> {
        if data.len() < self.threshold? {
            return None;
        }
        // The room that `mmc_compress` gives to zlib.
        let most = (data.len() as f64 * (1.0 - self.min_savings)) as usize;
        deflate(Deflate::Zlib, data, ZLIB_LEVEL).filter(|smaller| smaller.len() <= most)
    }
}

impl Default for PhpMemcache {
    fn default() -> Self {
        Self::new()
    }
}

impl Transcoder for PhpMemcache {
    fn encode<'a>(&self, value: Value<'a>) -> Result<Encoded<'a>> {
        let text = |text: String| Cow::Owned(text.into_bytes());
        let (mut flags, mut data) = match PhpType::of(value)? {
            PhpType::Str(bytes) => (STRING, bytes),
            PhpType::Bool(v) => (BOOL, Cow::Borrowed(if v { &b"1"[..] } else { b"0" })),
            PhpType::Int(v) => (LONG, text(v.to_string())),
            PhpType::Float(v) => (DOUBLE, text(php_number::percent_14g(v))),
            PhpType::Null => (SERIALIZED, Cow::Borrowed(PHP_NULL)),
            PhpType::Foreign(ForeignKind::Php, bytes) => {
                php_scan::check(&bytes).map_err(|error| {
                    Error::encode("the bytes are not what their kind says").with_source(error)
                })?;
                (SERIALIZED, bytes)
            }
            PhpType::Foreign(kind, _) => {
                return Err(Error::encode(format!(
                    "pecl memcache has no form for a foreign object of kind {kind:?}"
                )));
            }
        };
        if matches!(flags, STRING | SERIALIZED) {
            if let Some(smaller) = self.compress(&data) {
                flags |= COMPRESSED;
                data = Cow::Owned(smaller);
            }
        }
        flags |= u32::from(self.user_flags) << USER_SHIFT;
        Ok(Encoded { flags, data })
    }

    fn decode<'a>(&self, flags: u32, data: Cow<'a, [u8]>) -> Result<Value<'a>> {
        let data = match flags & COMPRESSED {
            0 => data,
            _ => Cow::Owned(inflate(Deflate::Zlib, &data, self.max_inflated)?),
        };
        if flags & SERIALIZED != 0 {
            if *data == *PHP_NULL {
                return Ok(Value::Null);
            }
            php_scan::check(&data)?;
            return Ok(Value::Foreign {
                kind: ForeignKind::Php,
                bytes: data,
            });
        }
        Ok(match flags & TYPE {
            BOOL => Value::Bool(*data == *b"1"),
            LONG => Value::I64(php_number::strtol(&data)),
            DOUBLE => Value::F64(php_number::scan_double(&data)),
            _ => Value::Bytes(data),
        })
    }

    /// What PHP stores an integer with, so that it reads a counter as one.
    fn counter_flags(&self) -> u32 {
        LONG | u32::from(self.user_flags) << USER_SHIFT
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn bytes_are_borrowed_both_ways() {
        let coder = PhpMemcache::new();
        let encoded = coder.encode(Value::from("text")).unwrap();
        assert!(matches!(encoded.data, Cow::Borrowed(b"text")));
        let decoded = coder.decode(encoded.flags, encoded.data).unwrap();
        assert!(matches!(decoded, Value::Bytes(Cow::Borrowed(b"text"))));
    }

    #[test]
    fn only_serialized_objects_of_php_are_written_back() {
        let coder = PhpMemcache::new();
        let value = coder.decode(1, b"a:0:{}"[..].into()).unwrap();
        let encoded = coder.encode(value).unwrap();
        assert_eq!((encoded.flags, &*encoded.data), (1, &b"a:0:{}"[..]));
        for (kind, bytes) in [
            (ForeignKind::Php, &b""[..]),
            (ForeignKind::Json, b"[]"),
            (ForeignKind::Igbinary, b"\0\0\0\x02\x14\0"),
        ] {
            let bytes = bytes.into();
            let error = coder.encode(Value::Foreign { kind, bytes }).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Encode);
        }
    }

    #[cfg(feature = "compress")]
    #[test]
    fn the_inflated_size_is_bounded() {
        let stored = PhpMemcache::new()
            .encode(Value::from(vec![7; 100_000]))
            .unwrap();
        assert_eq!(stored.flags, COMPRESSED);
        let limited = |limit| {
            PhpMemcache::new()
                .max_inflated(limit)
                .decode(2, stored.data.clone())
        };
        assert!(limited(100_000).is_ok());
        assert_eq!(limited(99_999).unwrap_err().kind(), ErrorKind::Decode);
    }

    #[test]
    fn user_flags_stand_above_the_rest() {
        let coder = PhpMemcache::new().user_flags(0x10);
        let encoded = coder.encode(Value::Bool(false)).unwrap();
        assert_eq!((encoded.flags, &*encoded.data), (0x10_0100, &b"0"[..]));
        assert_eq!(PhpMemcache::user_flags_in(encoded.flags), 0x10);
        assert_eq!(coder.counter_flags(), 0x10_0300);
    }
}
