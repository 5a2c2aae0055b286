//! The values of PHP's Memcached class (the php-memcached extension, 3.x). It knows no server and no key.

use std::borrow::Cow;

use super::compress::{Deflate, deflate, inflate};
use super::php_type::PhpType;
use super::{Encoded, ForeignKind, Transcoder, Value, fastlz, php_number, php_scan};
use crate::error::{Error, Result};

/// `MEMC_MASK_TYPE` (php_memcached.c), and the types under it, `MEMC_VAL_IS_…`.
const TYPE: u32 = 0xf;
const STRING: u32 = 0;
const LONG: u32 = 1;
const DOUBLE: u32 = 2;
const BOOL: u32 = 3;
const SERIALIZED: u32 = 4;
const IGBINARY: u32 = 5;
const JSON: u32 = 6;
const MSGPACK: u32 = 7;

/// `MEMC_VAL_COMPRESSED` and `MEMC_VAL_COMPRESSION_…`, which stand from bit 4 on.
const COMPRESSED: u32 = 0x10;
const ZLIB: u32 = 0x20;
const FASTLZ: u32 = 0x40;
const ZSTD: u32 = 0x80;

/// Where the bits of `OPT_USER_FLAGS` stand (`MEMC_MASK_USER`).
const USER_SHIFT: u32 = 16;

/// The ini settings `memcached.compression_threshold` and `memcached.compression_factor`.
const DEFAULT_THRESHOLD: usize = 2000;
const DEFAULT_FACTOR: f64 = 1.3;
/// What zlib's `compress()` takes for its default.
const ZLIB_LEVEL: u32 = 6;

const DEFAULT_MAX_INFLATED: usize = 64 << 20;

/// Reads and writes what PHP's `Memcached` class does: strings, integers, floats, truth values and null,
/// with FastLZ or zlib, and serialized values as they are stored.
///
/// | PHP | flags | [`Value`] |
/// |---|---|---|
/// | string | 0 | `Bytes`; text of every kind is written so too |
/// | int | 1 | `I64`; integers of every width are written so too |
/// | float | 2 | `F64`; so is `F32` |
/// | bool | 3 | `Bool` |
/// | null | the serializer's | `Null` |
/// | array, object | 4, 5, 6, 7 | `Foreign` of kind `Php`, `Igbinary`, `Json`, `MsgPack` |
///
/// A `Foreign` value is written back with the flags that it came with. The feature `php` reads and writes kind `Php`
/// as Rust types (`sockio::codec::php`).
///
/// Numbers are read as PHP reads them, as far as they go: `12abc` is 12. Two things that PHP lets pass are
/// [`ErrorKind::Decode`](crate::ErrorKind::Decode) errors: a compressed value whose length is not the announced one,
/// which PHP fills up with zero bytes or cuts, and bytes behind a serialized value. zstd is not read.
#[derive(Debug, Clone, PartialEq)]
#[doc(alias = "Memcached")]
pub struct PhpMemcached {
    serializer: PhpSerializer,
    compression: Option<PhpCompression>,
    threshold: usize,
    factor: f64,
    user_flags: u16,
    max_inflated: usize,
}

/// How php-memcached compresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(alias = "OPT_COMPRESSION_TYPE")]
pub enum PhpCompression {
    /// `Memcached::COMPRESSION_FASTLZ`, its default.
    #[doc(alias = "COMPRESSION_FASTLZ")]
    FastLz,
    /// `Memcached::COMPRESSION_ZLIB`. Needs the feature `compress`; nothing is compressed without it.
    #[doc(alias = "COMPRESSION_ZLIB")]
    Zlib,
}

/// What php-memcached serializes null, arrays and objects with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(alias = "OPT_SERIALIZER")]
pub enum PhpSerializer {
    /// `Memcached::SERIALIZER_PHP`.
    #[doc(alias = "SERIALIZER_PHP")]
    Php,
    /// `Memcached::SERIALIZER_IGBINARY`.
    #[doc(alias = "SERIALIZER_IGBINARY")]
    Igbinary,
    /// `Memcached::SERIALIZER_JSON` and `SERIALIZER_JSON_ARRAY`, which store the same.
    #[doc(alias = "SERIALIZER_JSON")]
    #[doc(alias = "SERIALIZER_JSON_ARRAY")]
    Json,
    /// `Memcached::SERIALIZER_MSGPACK`.
    #[doc(alias = "SERIALIZER_MSGPACK")]
    MsgPack,
}

impl PhpMemcached {
    /// The defaults of the extension: PHP's own serializer, FastLZ from 2,000 bytes on, no user flags.
    pub fn new() -> Self {
        Self {
            serializer: PhpSerializer::Php,
            compression: Some(PhpCompression::FastLz),
            threshold: DEFAULT_THRESHOLD,
            factor: DEFAULT_FACTOR,
            user_flags: 0,
            max_inflated: DEFAULT_MAX_INFLATED,
        }
    }

    /// In which form null is written. Every form is read. Default: [`PhpSerializer::Php`].
    #[doc(alias = "OPT_SERIALIZER")]
    #[doc(alias = "memcached.serializer")]
    pub fn serializer(mut self, serializer: PhpSerializer) -> Self {
        self.serializer = serializer;
        self
    }

    /// How strings and serialized values are compressed, or `None` for not at all; both forms are read in any case.
    /// Default: [`PhpCompression::FastLz`].
    #[doc(alias = "OPT_COMPRESSION")]
    #[doc(alias = "OPT_COMPRESSION_TYPE")]
    #[doc(alias = "memcached.compression_type")]
    pub fn compression(mut self, compression: Option<PhpCompression>) -> Self {
        self.compression = compression;
        self
    }

    /// Payloads of at least this many bytes are compressed. Default: 2,000.
    #[doc(alias = "memcached.compression_threshold")]
    pub fn compression_threshold(mut self, bytes: usize) -> Self {
        self.threshold = bytes;
        self
    }

    /// The compressed form is stored if the payload is more than this many times as long. Default: 1.3.
    #[doc(alias = "memcached.compression_factor")]
    pub fn compression_factor(mut self, factor: f64) -> Self {
        self.factor = factor;
        self
    }

    /// The application's own 16 bits, written beside every value. Default: 0. [`user_flags_in`](Self::user_flags_in) reads them.
    #[doc(alias = "OPT_USER_FLAGS")]
    pub fn user_flags(mut self, flags: u16) -> Self {
        self.user_flags = flags;
        self
    }

    /// The application's own bits in the flags of a stored value: what PHP's `GET_EXTENDED` calls `flags`.
    #[doc(alias = "GET_EXTENDED")]
    pub fn user_flags_in(flags: u32) -> u16 {
        (flags >> USER_SHIFT) as u16
    }

    /// The most bytes that a compressed value may have when it is read; more is an error. Default: 64 MiB.
    pub fn max_inflated(mut self, bytes: usize) -> Self {
        self.max_inflated = bytes;
        self
    }

    /// The flags and the payload, with its length before it, if compressing is asked for and worth while.
    fn compress(&self, data: &[u8]) -> Option<(u32, Vec<u8>)> {
        let compression = self.compression?;
        if data.is_empty() || data.len() < self.threshold {
            return None;
        }
        let len = u32::try_from(data.len()).ok()?;
        let (flag, stream) = match compression {
            PhpCompression::FastLz => (FASTLZ, fastlz::compress(data)),
            PhpCompression::Zlib => (ZLIB, deflate(Deflate::Zlib, data, ZLIB_LEVEL)?),
        };
        (data.len() as f64 > stream.len() as f64 * self.factor)
            .then(|| (COMPRESSED | flag, [&len.to_le_bytes(), &*stream].concat()))
    }

    /// The length stands in the byte order of the writer's machine: all that run PHP are little-endian.
    fn decompress(&self, flags: u32, data: &[u8]) -> Result<Vec<u8>> {
        let (len, stream) = data
            .split_first_chunk()
            .ok_or_else(|| Error::decode("the compressed value has no length before it"))?;
        let len = usize::try_from(u32::from_le_bytes(*len)).unwrap_or(usize::MAX);
        if len > self.max_inflated {
            return Err(Error::decode(format!(
                "a compressed value of {len} bytes: at most {} are inflated",
                self.max_inflated
            )));
        }
        // In the order of `s_decompress_value`, which takes FastLZ if both marks are set.
        if flags & FASTLZ != 0 {
            return fastlz::decompress(stream, len, self.max_inflated);
        }
        if flags & ZLIB == 0 {
            return Err(Error::decode(if flags & ZSTD != 0 {
                "the value is compressed with zstd, which is not read here"
            } else {
                "the value is compressed in a way that its flags do not name"
            }));
        }
        let inflated = inflate(Deflate::Zlib, stream, len)?;
        if inflated.len() != len {
            return Err(Error::decode(format!(
                "a compressed value of {} bytes where {len} were announced",
                inflated.len()
            )));
        }
        Ok(inflated)
    }

    fn null(&self) -> (u32, &'static [u8]) {
        match self.serializer {
            PhpSerializer::Php => (SERIALIZED, PHP_NULL),
            PhpSerializer::Igbinary => (IGBINARY, IGBINARY_NULL),
            PhpSerializer::Json => (JSON, JSON_NULL),
            PhpSerializer::MsgPack => (MSGPACK, MSGPACK_NULL),
        }
    }
}

pub(super) const PHP_NULL: &[u8] = b"N;";
/// Version 2 and the type mark of null.
const IGBINARY_NULL: &[u8] = &[0, 0, 0, 2, 0];
const JSON_NULL: &[u8] = b"null";
const MSGPACK_NULL: &[u8] = &[0xc0];

impl Default for PhpMemcached {
    fn default() -> Self {
        Self::new()
    }
}

impl Transcoder for PhpMemcached {
    fn encode<'a>(&self, value: Value<'a>) -> Result<Encoded<'a>> {
        let text = |text: String| Cow::Owned(text.into_bytes());
        let (mut flags, mut data) = match PhpType::of(value)? {
            PhpType::Str(bytes) => (STRING, bytes),
            PhpType::Int(v) => (LONG, text(v.to_string())),
            PhpType::Float(v) => (DOUBLE, text(php_number::g_fmt(v))),
            PhpType::Bool(v) => (BOOL, Cow::Borrowed(if v { &b"1"[..] } else { b"" })),
            PhpType::Null => {
                let (flags, data) = self.null();
                (flags, Cow::Borrowed(data))
            }
            PhpType::Foreign(kind, bytes) => (foreign_type(kind, &bytes)?, bytes),
        };
        if !matches!(flags, LONG | DOUBLE | BOOL) {
            if let Some((compressed, smaller)) = self.compress(&data) {
                flags |= compressed;
                data = Cow::Owned(smaller);
            }
        }
        flags |= u32::from(self.user_flags) << USER_SHIFT;
        Ok(Encoded { flags, data })
    }

    fn decode<'a>(&self, flags: u32, data: Cow<'a, [u8]>) -> Result<Value<'a>> {
        let data = match flags & COMPRESSED {
            0 => data,
            _ => Cow::Owned(self.decompress(flags, &data)?),
        };
        let kind = match flags & TYPE {
            STRING => return Ok(Value::Bytes(data)),
            LONG => return Ok(Value::I64(php_number::strtol(&data))),
            DOUBLE => return Ok(Value::F64(read_double(&data))),
            BOOL => return Ok(Value::Bool(data.first() == Some(&b'1'))),
            SERIALIZED if *data == *PHP_NULL => return Ok(Value::Null),
            IGBINARY if *data == *IGBINARY_NULL => return Ok(Value::Null),
            JSON if *data == *JSON_NULL => return Ok(Value::Null),
            MSGPACK if *data == *MSGPACK_NULL => return Ok(Value::Null),
            SERIALIZED => ForeignKind::Php,
            IGBINARY => ForeignKind::Igbinary,
            JSON => ForeignKind::Json,
            MSGPACK => ForeignKind::MsgPack,
            unknown => {
                return Err(Error::decode(format!(
                    "type {unknown} is not one of php-memcached's"
                )));
            }
        };
        check_foreign(kind, &data)?;
        Ok(Value::Foreign { kind, bytes: data })
    }

    /// What PHP stores an integer with, so that it reads a counter as one.
    fn counter_flags(&self) -> u32 {
        LONG | u32::from(self.user_flags) << USER_SHIFT
    }
}

fn foreign_type(kind: ForeignKind, bytes: &[u8]) -> Result<u32> {
    let flags = match kind {
        ForeignKind::Php => SERIALIZED,
        ForeignKind::Igbinary => IGBINARY,
        ForeignKind::Json => JSON,
        ForeignKind::MsgPack => MSGPACK,
        other => {
            return Err(Error::encode(format!(
                "php-memcached has no form for a foreign object of kind {other:?}"
            )));
        }
    };
    check_foreign(kind, bytes).map_err(|error| {
        Error::encode("the bytes are not what their kind says").with_source(error)
    })?;
    Ok(flags)
}

/// Refuses what PHP cannot read back. Of JSON and MessagePack it makes null or false without a complaint, so these pass.
fn check_foreign(kind: ForeignKind, bytes: &[u8]) -> Result<()> {
    match kind {
        ForeignKind::Php => php_scan::check(bytes),
        // `igbinary_unserialize_header`: a version in four bytes, and something behind it.
        ForeignKind::Igbinary => match bytes {
            [0, 0, 0, 1 | 2, _, ..] => Ok(()),
            _ => Err(Error::decode("no igbinary data")),
        },
        _ => Ok(()),
    }
}

/// The three names as `s_memcached_result_to_zval` knows them, else a number.
fn read_double(text: &[u8]) -> f64 {
    match text {
        b"Infinity" => f64::INFINITY,
        b"-Infinity" => f64::NEG_INFINITY,
        b"NaN" => f64::NAN,
        text => php_number::strtod(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn null_takes_the_form_of_the_serializer() {
        for (serializer, flags, data) in [
            (PhpSerializer::Php, 4, &b"N;"[..]),
            (PhpSerializer::Igbinary, 5, &[0, 0, 0, 2, 0]),
            (PhpSerializer::Json, 6, b"null"),
            (PhpSerializer::MsgPack, 7, &[0xc0]),
        ] {
            let coder = PhpMemcached::new().serializer(serializer);
            let encoded = coder.encode(Value::Null).unwrap();
            assert_eq!((encoded.flags, &*encoded.data), (flags, data));
            assert!(PhpMemcached::new().decode(flags, encoded.data).unwrap() == Value::Null);
        }
    }

    #[test]
    fn bytes_are_borrowed_both_ways() {
        let coder = PhpMemcached::new();
        let encoded = coder.encode(Value::from("text")).unwrap();
        assert!(matches!(encoded.data, Cow::Borrowed(b"text")));
        let decoded = coder.decode(encoded.flags, encoded.data).unwrap();
        assert!(matches!(decoded, Value::Bytes(Cow::Borrowed(b"text"))));
    }

    #[test]
    fn foreign_bytes_keep_their_type() {
        let coder = PhpMemcached::new();
        for (flags, data) in [
            (4, &b"a:0:{}"[..]),
            (5, b"\0\0\0\x02\x14\0"),
            (6, b"[]"),
            (7, b"\x90"),
        ] {
            let value = coder.decode(flags, data.into()).unwrap();
            let encoded = coder.encode(value).unwrap();
            assert_eq!((encoded.flags, &*encoded.data), (flags, data));
        }
        for (kind, bytes) in [
            (ForeignKind::Php, &b""[..]),
            (ForeignKind::Php, b"zzz"),
            (ForeignKind::Igbinary, b"zzz"),
            (ForeignKind::Java, b"\xac\xed"),
        ] {
            let bytes = bytes.into();
            let error = coder.encode(Value::Foreign { kind, bytes }).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Encode);
        }
    }

    #[test]
    fn what_php_has_no_type_for_is_refused() {
        for value in [
            Value::U64(1 << 63),
            Value::Char(0xd800),
            Value::Date(0),
            Value::Ticks(0),
        ] {
            let error = PhpMemcached::new().encode(value).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Encode);
        }
    }

    #[test]
    fn an_announced_length_over_the_limit_costs_nothing() {
        let coder = PhpMemcached::new().max_inflated(99);
        for flags in [COMPRESSED | FASTLZ, COMPRESSED | ZLIB, COMPRESSED | ZSTD] {
            for len in [100_u32, u32::MAX] {
                let data = [&len.to_le_bytes()[..], b"\x02abc"].concat();
                let error = coder.decode(flags, data.into()).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Decode);
                assert!(error.to_string().contains("at most 99"), "{error}");
            }
        }
    }

    #[test]
    fn user_flags_stand_above_the_rest() {
        let coder = PhpMemcached::new().user_flags(0xffff);
        let encoded = coder.encode(Value::I64(42)).unwrap();
        assert_eq!(encoded.flags, 0xffff_0001);
        assert_eq!(PhpMemcached::user_flags_in(encoded.flags), 0xffff);
        assert!(coder.decode(encoded.flags, encoded.data).unwrap() == Value::I64(42));
        assert_eq!(coder.counter_flags(), 0xffff_0001);
    }
}
