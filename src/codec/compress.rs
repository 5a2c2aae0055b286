//! Compressed payloads, gzip and zlib: what is worth writing, and reading with bounded memory. It knows no flags.

use crate::error::{Error, Result};

/// The Java and .NET clients' limit (whalin `MemcachedClient.java`, `COMPRESS_THRESH`), whose comments say 15 KiB.
const DEFAULT_THRESHOLD: usize = 30_720;

const DEFAULT_LEVEL: u32 = 6;
const MAX_LEVEL: u32 = 9;

/// Deflate shrinks up to 1,030 times: without a limit a legal item of 1 MiB could take 1 GiB.
const DEFAULT_MAX_INFLATED: usize = 64 << 20;

/// When values are compressed on writing, and how far they may grow on reading.
///
/// Needs the feature `compress`, which is on by default: without it nothing is compressed,
/// and a compressed value is an [`ErrorKind::Decode`](crate::ErrorKind::Decode) error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compression {
    /// `None`: nothing is compressed.
    threshold: Option<usize>,
    only_if_smaller: bool,
    level: u32,
    max_inflated: usize,
}

impl Compression {
    /// Compresses payloads of more than 30,720 bytes if that makes them smaller.
    pub fn new() -> Self {
        Self {
            threshold: Some(DEFAULT_THRESHOLD),
            only_if_smaller: true,
            level: DEFAULT_LEVEL,
            max_inflated: DEFAULT_MAX_INFLATED,
        }
    }

    /// Compresses nothing. Compressed values are read all the same.
    #[doc(alias = "setCompressEnable")]
    #[doc(alias = "EnableCompression")]
    pub fn never() -> Self {
        Self {
            threshold: None,
            ..Self::new()
        }
    }

    /// Compresses payloads that are longer than this many bytes, and leaves those that are just as long. Default: 30,720.
    #[doc(alias = "setCompressThreshold")]
    #[doc(alias = "CompressionThreshold")]
    pub fn threshold(mut self, bytes: usize) -> Self {
        self.threshold = Some(bytes);
        self
    }

    /// Whether a payload that does not shrink is stored as it is. Default: yes; the Java and .NET clients store the larger form.
    pub fn only_if_smaller(mut self, yes: bool) -> Self {
        self.only_if_smaller = yes;
        self
    }

    /// From 0 (stored only) over 1 (fast) to 9 (small); more counts as 9. Default: 6.
    pub fn level(mut self, level: u32) -> Self {
        self.level = level.min(MAX_LEVEL);
        self
    }

    /// The most bytes that a compressed value may have when it is read; more is an error. Default: 64 MiB.
    pub fn max_inflated(mut self, bytes: usize) -> Self {
        self.max_inflated = bytes;
        self
    }

    /// The compressed payload, or `None` if it is to be stored as it is.
    #[inline]
    pub(super) fn compress(&self, form: Deflate, data: &[u8]) -> Option<Vec<u8>> {
        self.compress_if(form, data, |packed, plain| packed < plain)
    }

    /// The same with a client's own idea of what is smaller, of two lengths: the compressed one and the plain one.
    #[inline]
    pub(super) fn compress_if(
        &self,
        form: Deflate,
        data: &[u8],
        smaller: fn(usize, usize) -> bool,
    ) -> Option<Vec<u8>> {
        match self.threshold {
            Some(threshold) if data.len() > threshold => self.worth_it(form, data, smaller),
            _ => None,
        }
    }

    /// The payload that `data` was before it was compressed.
    pub(super) fn inflate(&self, form: Deflate, data: &[u8]) -> Result<Vec<u8>> {
        inflate(form, data, self.max_inflated)
    }

    #[cold]
    fn worth_it(
        &self,
        form: Deflate,
        data: &[u8],
        smaller: fn(usize, usize) -> bool,
    ) -> Option<Vec<u8>> {
        deflate(form, data, self.level)
            .filter(|packed| !self.only_if_smaller || smaller(packed.len(), data.len()))
    }
}

impl Default for Compression {
    fn default() -> Self {
        Self::new()
    }
}

/// The frame round a deflate stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deflate {
    /// One gzip member (RFC 1952).
    Gzip,
    /// A zlib stream (RFC 1950).
    Zlib,
}

/// Compresses at a level from 0 to 9. `None` without the feature `compress`.
#[cfg(feature = "compress")]
pub(super) fn deflate(form: Deflate, data: &[u8], level: u32) -> Option<Vec<u8>> {
    use flate2::write::{GzEncoder, ZlibEncoder};
    use std::io::Write;

    let out = Vec::with_capacity(data.len() / 2);
    let level = flate2::Compression::new(level.min(MAX_LEVEL));
    // A `Vec` takes every write, so no error can come.
    match form {
        Deflate::Gzip => {
            let mut encoder = GzEncoder::new(out, level);
            encoder.write_all(data).ok()?;
            encoder.finish().ok()
        }
        Deflate::Zlib => {
            let mut encoder = ZlibEncoder::new(out, level);
            encoder.write_all(data).ok()?;
            encoder.finish().ok()
        }
    }
}

/// Inflates to `limit` bytes at most, and takes nothing but one whole stream whose checksum is right.
///
/// Memory grows with the output: never over the limit, whatever the stream announces.
#[cfg(feature = "compress")]
pub(super) fn inflate(form: Deflate, data: &[u8], limit: usize) -> Result<Vec<u8>> {
    let broken = || Error::decode("the compressed value is damaged or not compressed at all");
    match form {
        Deflate::Zlib => {
            let (out, rest) = run(data, true, limit)?;
            if rest.is_empty() {
                Ok(out)
            } else {
                Err(broken())
            }
        }
        Deflate::Gzip => {
            let body = behind_gzip_header(data).ok_or_else(broken)?;
            let (out, trailer) = run(body, false, limit)?;
            let mut expected = [0; 8];
            expected[..4].copy_from_slice(&crc32fast::hash(&out).to_le_bytes());
            expected[4..].copy_from_slice(&(out.len() as u32).to_le_bytes());
            if trailer == expected {
                Ok(out)
            } else {
                Err(broken())
            }
        }
    }
}

/// Without the feature nothing can be inflated.
#[cfg(not(feature = "compress"))]
pub(super) fn inflate(_form: Deflate, _data: &[u8], _limit: usize) -> Result<Vec<u8>> {
    Err(Error::decode(
        "the value is compressed; the crate was built without its feature `compress`",
    ))
}

/// Without the feature nothing is compressed.
#[cfg(not(feature = "compress"))]
pub(super) fn deflate(_form: Deflate, _data: &[u8], _level: u32) -> Option<Vec<u8>> {
    None
}

/// The output and what follows the end of the stream.
///
/// The decoders that implement `Read` take the end of the input for the end of the stream; this one sees the difference.
#[cfg(feature = "compress")]
fn run(data: &[u8], zlib: bool, limit: usize) -> Result<(Vec<u8>, &[u8])> {
    use flate2::{Decompress, FlushDecompress, Status};

    /// Most values inflate within a few times this; growth doubles from here.
    const FIRST: usize = 4096;

    let damaged = || Error::decode("the compressed value is damaged");
    // One byte over the limit shows that there is more, without a second call.
    let most = limit.saturating_add(1);
    let mut stream = Decompress::new(zlib);
    let mut out = Vec::new();
    loop {
        if out.len() == out.capacity() {
            let room = out.len().max(data.len()).max(FIRST);
            out.reserve_exact(room.min(most - out.len()));
        }
        let before = (stream.total_in(), out.len());
        let rest = unread(data, &stream).ok_or_else(damaged)?;
        let status = stream
            .decompress_vec(rest, &mut out, FlushDecompress::None)
            .map_err(|error| damaged().with_source(error))?;
        if out.len() > limit {
            return Err(Error::decode(format!(
                "the compressed value has more than the {limit} bytes allowed"
            )));
        }
        if status == Status::StreamEnd {
            return Ok((out, unread(data, &stream).ok_or_else(damaged)?));
        }
        if (stream.total_in(), out.len()) == before {
            return Err(damaged());
        }
    }
}

#[cfg(feature = "compress")]
fn unread<'a>(data: &'a [u8], stream: &flate2::Decompress) -> Option<&'a [u8]> {
    data.get(usize::try_from(stream.total_in()).ok()?..)
}

/// What follows the header of a gzip member (RFC 1952, section 2.3).
#[cfg(feature = "compress")]
fn behind_gzip_header(data: &[u8]) -> Option<&[u8]> {
    const DEFLATE: u8 = 8;
    const FHCRC: u8 = 2;
    const FEXTRA: u8 = 4;
    const FNAME: u8 = 8;
    const FCOMMENT: u8 = 16;
    const RESERVED: u8 = 0xe0;

    let (header, mut rest) = data.split_first_chunk::<10>()?;
    let [0x1f, 0x8b, DEFLATE, flags, ..] = *header else {
        return None;
    };
    if flags & RESERVED != 0 {
        return None;
    }
    if flags & FEXTRA != 0 {
        let (len, tail) = rest.split_first_chunk::<2>()?;
        rest = tail.get(usize::from(u16::from_le_bytes(*len))..)?;
    }
    for text in [FNAME, FCOMMENT] {
        if flags & text != 0 {
            let end = rest.iter().position(|byte| *byte == 0)?;
            rest = rest.get(end + 1..)?;
        }
    }
    if flags & FHCRC != 0 {
        let header = data.get(..data.len() - rest.len())?;
        let (crc, tail) = rest.split_first_chunk::<2>()?;
        if u16::from_le_bytes(*crc) != crc32fast::hash(header) as u16 {
            return None;
        }
        rest = tail;
    }
    Some(rest)
}

#[cfg(all(test, not(feature = "compress")))]
mod tests {
    use super::*;

    #[test]
    fn the_missing_feature_is_named() {
        let error = Compression::new().inflate(Deflate::Gzip, b"x").unwrap_err();
        assert!(error.to_string().contains("`compress`"));
        assert_eq!(
            Compression::new().compress(Deflate::Zlib, &[0; 40_000]),
            None
        );
    }
}

#[cfg(all(test, feature = "compress"))]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    const FORMS: [Deflate; 2] = [Deflate::Gzip, Deflate::Zlib];

    fn sample() -> Vec<u8> {
        // Words enough for literals, matches and a dynamic block; about 200 bytes when packed.
        (0..60_u32)
            .flat_map(|n| format!("row {} of {};", n * n, n % 7).into_bytes())
            .collect()
    }

    fn refused(form: Deflate, data: &[u8]) -> bool {
        inflate(form, data, 1 << 20).is_err_and(|error| error.kind() == ErrorKind::Decode)
    }

    #[test]
    fn what_was_packed_comes_back() {
        for form in FORMS {
            for data in [&[][..], b"a", &sample(), &vec![7; 1_000_000]] {
                for level in [0, 1, 6, 9, 99] {
                    let packed = deflate(form, data, level).unwrap();
                    assert_eq!(inflate(form, &packed, data.len()).unwrap(), data);
                }
            }
        }
    }

    #[test]
    fn bombs_stop_at_the_limit() {
        let bomb = vec![0; 16 << 20];
        for form in FORMS {
            let packed = deflate(form, &bomb, 9).unwrap();
            assert!(packed.len() < 20_000);
            for limit in [
                0,
                1,
                2,
                100,
                4095,
                4096,
                4097,
                65_536,
                1_000_000,
                bomb.len() - 1,
            ] {
                let error = inflate(form, &packed, limit).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Decode);
                assert!(
                    error.to_string().contains(&format!("{limit} bytes")),
                    "{error}"
                );
            }
            let whole = inflate(form, &packed, bomb.len()).unwrap();
            assert!(whole == bomb && whole.capacity() <= bomb.len() + 1);
        }
    }

    #[test]
    fn every_truncation_and_every_trailing_byte_is_refused() {
        for form in FORMS {
            let packed = deflate(form, &sample(), 9).unwrap();
            assert!((150..300).contains(&packed.len()), "{}", packed.len());
            for end in 0..packed.len() {
                assert!(refused(form, &packed[..end]), "{form:?} cut at {end}");
            }
            for tail in [&[0][..], &[0x1f], &packed] {
                assert!(refused(form, &[&packed, tail].concat()));
            }
        }
    }

    #[test]
    fn every_flipped_bit_is_refused_but_those_that_say_nothing() {
        let data = sample();
        for form in FORMS {
            let mut packed = deflate(form, &data, 9).unwrap();
            let mut accepted = Vec::new();
            for bit in 0..packed.len() * 8 {
                packed[bit / 8] ^= 1 << (bit % 8);
                match inflate(form, &packed, 1 << 20) {
                    Ok(read) => {
                        assert_eq!(read, data);
                        accepted.push(bit);
                    }
                    Err(error) => assert_eq!(error.kind(), ErrorKind::Decode),
                }
                packed[bit / 8] ^= 1 << (bit % 8);
            }
            // Of a gzip header, the text hint, the time, the extra flags and the system do not bear on the content;
            // nor do the bits that fill up the last byte before the checksum.
            let (silent, trailer): (Vec<usize>, _) = match form {
                Deflate::Gzip => ([24].into_iter().chain(32..80).collect(), 8),
                Deflate::Zlib => (Vec::new(), 4),
            };
            let end = (packed.len() - trailer) * 8;
            accepted.retain(|bit| !(end - 7..end).contains(bit));
            assert_eq!(accepted, silent, "{form:?}");
        }
    }

    #[test]
    fn the_optional_parts_of_a_gzip_header_are_read() {
        let packed = deflate(Deflate::Gzip, b"body", 6).unwrap();
        let (header, body) = packed.split_at(10);
        let mut header = header.to_vec();
        header[3] = 2 | 4 | 8 | 16;
        header.extend_from_slice(b"\x03\0abcname\0comment\0");
        let crc = (crc32fast::hash(&header) as u16).to_le_bytes();
        let whole = [&header[..], &crc, body].concat();
        assert_eq!(inflate(Deflate::Gzip, &whole, 4).unwrap(), b"body");
        for end in 0..whole.len() {
            assert!(refused(Deflate::Gzip, &whole[..end]));
        }
        header[12] ^= 1;
        assert!(refused(Deflate::Gzip, &[&header[..], &crc, body].concat()));
    }

    #[test]
    fn other_forms_are_refused() {
        let [gzip, zlib] = FORMS.map(|form| deflate(form, b"text", 6).unwrap());
        assert!(refused(Deflate::Zlib, &gzip));
        assert!(refused(Deflate::Gzip, &zlib));
        for form in FORMS {
            assert!(refused(form, b""));
            assert!(refused(
                form,
                b"plain text that is long enough for a header"
            ));
        }
    }

    #[test]
    fn the_threshold_is_passed_strictly() {
        let compression = Compression::new();
        assert_eq!(compression.compress(Deflate::Gzip, &[0; 30_720]), None);
        assert!(compression.compress(Deflate::Gzip, &[0; 30_721]).is_some());
        let tiny = compression.clone().threshold(0);
        assert_eq!(tiny.compress(Deflate::Gzip, b"a"), None);
        let always = tiny.only_if_smaller(false);
        assert!(
            always
                .compress(Deflate::Gzip, b"a")
                .is_some_and(|packed| packed.len() > 1)
        );
        assert_eq!(always.compress(Deflate::Gzip, b""), None);
        assert_eq!(
            Compression::never().compress(Deflate::Gzip, &[0; 99_999]),
            None
        );
    }
}
