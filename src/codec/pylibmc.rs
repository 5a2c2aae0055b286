//! Values as Python's pylibmc writes them, the client that stands on libmemcached.

use std::borrow::Cow;

use super::compress::{Compression, Deflate};
use super::python::{self, INTEGER, LONG, PICKLE, TEXT, ZLIB};
use super::value::Value;
use super::{Encoded, Transcoder, pickle};
use crate::error::Result;

/// Values as pylibmc stores them (1.6, on Python 3).
///
/// | Python | flags | [`Value`] |
/// |---|---|---|
/// | `bytes` | 0 | `Bytes` |
/// | `str` | 16 | `Text`; a `Char` is written so too |
/// | `int` | 4 | `I64`, above it `U64`, and beyond 64 bits its decimal digits as `Text`; integers of every width are written so |
/// | `bool` | 2 | written as `1` and `0`, and read as a number, as pylibmc does |
/// | `float`, `None` | 1 | `F64`, `Null`; pickled. So is `F32` |
/// | all else | 1 | `Foreign` of kind `Pickle`, written back unchanged |
///
/// A date has no form: [`ErrorKind::Encode`](crate::ErrorKind::Encode).
///
/// Flag 8 marks a zlib stream. Nothing is compressed unless [`compression`](Self::compression) asks for it; compressed values are always read.
/// Bytes behind the stream or behind a pickle, which pylibmc drops, are an error here, as is a zero byte in a number.
#[derive(Debug, Clone)]
#[doc(alias = "pylibmc.Client")]
pub struct Pylibmc {
    compression: Compression,
    protocol: u8,
}

impl Pylibmc {
    /// The client's defaults: pickles of the newest protocol, 5; nothing compressed.
    pub fn new() -> Self {
        Self {
            compression: Compression::never(),
            protocol: pickle::HIGHEST_PROTOCOL,
        }
    }

    /// What is compressed on writing, of whatever type. Default: [`Compression::never`].
    ///
    /// pylibmc compresses what is as long as `min_compress_len` or longer: a `min_compress_len` of 100 is a threshold of 99 here.
    #[doc(alias = "min_compress_len")]
    #[doc(alias = "compress_level")]
    pub fn compression(mut self, compression: Compression) -> Self {
        self.compression = compression;
        self
    }

    /// The protocol of the pickles, from 0 to 5; more counts as 5. All are read. Default: 5.
    pub fn pickle_protocol(mut self, protocol: u8) -> Self {
        self.protocol = protocol.min(pickle::HIGHEST_PROTOCOL);
        self
    }
}

impl Default for Pylibmc {
    fn default() -> Self {
        Self::new()
    }
}

impl Transcoder for Pylibmc {
    fn encode<'a>(&self, value: Value<'a>) -> Result<Encoded<'a>> {
        let (flags, data) = match value {
            Value::Bool(truth) => (INTEGER, Cow::Borrowed(if truth { &b"1"[..] } else { b"0" })),
            value => python::write(value, LONG, self.protocol)?,
        };
        Ok(match self.compression.compress(Deflate::Zlib, &data) {
            Some(packed) => Encoded {
                flags: flags | ZLIB,
                data: Cow::Owned(packed),
            },
            None => Encoded { flags, data },
        })
    }

    fn decode<'a>(&self, flags: u32, data: Cow<'a, [u8]>) -> Result<Value<'a>> {
        let data = match flags & ZLIB {
            0 => data,
            _ => Cow::Owned(self.compression.inflate(Deflate::Zlib, &data)?),
        };
        // `PYLIBMC_FLAG_TYPES`: two marks at a time are refused, bits of others ignored.
        python::read(flags & (PICKLE | INTEGER | LONG | TEXT), data)
    }

    /// So that pylibmc reads a counter as a number.
    fn counter_flags(&self) -> u32 {
        LONG
    }
}
