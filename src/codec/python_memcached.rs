//! Values as Python's python-memcached writes them.

use std::borrow::Cow;

use super::compress::{Compression, Deflate};
use super::python::{self, BYTES, INTEGER, ZLIB};
use super::value::Value;
use super::{Encoded, Transcoder, pickle};
use crate::error::Result;

/// The default of `Client(pickleProtocol=…)` (python-memcached 1.58 `memcache.py`).
const DEFAULT_PROTOCOL: u8 = 0;

/// Values as python-memcached stores them (1.58 and later, on Python 3). Where keys go differs between these versions for one key in 32,768:
/// `python-memcached/default` is 1.62, `python-memcached/default+1.59` the ones before.
///
/// | Python | flags | [`Value`] |
/// |---|---|---|
/// | `bytes` | 0 | `Bytes` |
/// | `str` | 16 | `Text`; a `Char` is written so too |
/// | `int` | 2 | `I64`, above it `U64`, and beyond 64 bits its decimal digits as `Text`; integers of every width are written so |
/// | `bool`, `float`, `None` | 1 | `Bool`, `F64`, `Null`; pickled. So is `F32` |
/// | all else | 1 | `Foreign` of kind `Pickle`, written back unchanged |
///
/// Flag 4, `long` of Python 2, is read as an integer. A date has no form: [`ErrorKind::Encode`](crate::ErrorKind::Encode).
///
/// Flag 8 marks a zlib stream. Nothing is compressed unless [`compression`](Self::compression) asks for it; compressed values are always read.
/// Bytes behind the stream or behind a pickle, which the client drops, are an error here; so is a broken pickle, which it returns as None.
///
/// The client refuses keys of more than 250 bytes, and those with blanks or control characters, as this crate does.
#[derive(Debug, Clone)]
#[doc(alias = "memcache.Client")]
pub struct PythonMemcached {
    compression: Compression,
    protocol: u8,
}

impl PythonMemcached {
    /// The client's defaults: pickles of protocol 0, nothing compressed.
    pub fn new() -> Self {
        Self {
            compression: Compression::never(),
            protocol: DEFAULT_PROTOCOL,
        }
    }

    /// What is compressed on writing, integers excepted. Default: [`Compression::never`]. `min_compress_len` is the threshold.
    #[doc(alias = "min_compress_len")]
    pub fn compression(mut self, compression: Compression) -> Self {
        self.compression = compression;
        self
    }

    /// The protocol of the pickles, from 0 to 5; more counts as 5. All are read. Default: 0.
    #[doc(alias = "pickleProtocol")]
    pub fn pickle_protocol(mut self, protocol: u8) -> Self {
        self.protocol = protocol.min(pickle::HIGHEST_PROTOCOL);
        self
    }
}

impl Default for PythonMemcached {
    fn default() -> Self {
        Self::new()
    }
}

impl Transcoder for PythonMemcached {
    fn encode<'a>(&self, value: Value<'a>) -> Result<Encoded<'a>> {
        let (flags, data) = python::write(value, INTEGER, self.protocol)?;
        if flags != INTEGER {
            if let Some(packed) = self.compression.compress(Deflate::Zlib, &data) {
                return Ok(Encoded {
                    flags: flags | ZLIB,
                    data: Cow::Owned(packed),
                });
            }
        }
        Ok(Encoded { flags, data })
    }

    fn decode<'a>(&self, flags: u32, data: Cow<'a, [u8]>) -> Result<Value<'a>> {
        let data = match flags & ZLIB {
            0 => data,
            _ => Cow::Owned(self.compression.inflate(Deflate::Zlib, &data)?),
        };
        match python::first_mark(flags) {
            Some(mark) => python::read(mark, data),
            None if flags & !ZLIB == 0 => python::read(BYTES, data),
            None => Err(python::unknown_flags(flags)),
        }
    }

    /// So that the client reads a counter as a number.
    fn counter_flags(&self) -> u32 {
        INTEGER
    }
}
