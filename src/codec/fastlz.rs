//! FastLZ, levels 1 and 2, as php-memcached bundles it (version 0.1.0). It knows no flags and no length header.
//!
//! A stream is a chain of instructions. The level stands in the upper three bits of the first byte, which is
//! always a literal run. A control byte below 32 announces one literal more than its value; any other is a
//! copy from what was written already: `LLLDDDDD`, a length code and the upper bits of the distance.

use crate::error::{Error, Result};

/// Shorter input is written at level 1, as `fastlz_compress` does.
const LEVEL_2_FROM: usize = 65_536;
/// `MAX_COPY`: literals in one run.
const MAX_LITERALS: usize = 32;
/// `MAX_LEN - 2`: bytes that one level 1 copy covers at most.
const MAX_COPIED: usize = 262;
/// The length code that says: more length follows.
const LONG: usize = 7;
/// `MAX_DISTANCE` of level 1: what a match may not reach.
const LEVEL_1_REACH: usize = 8192;
/// `MAX_DISTANCE` of level 2: a distance above it is written in 16 bits more.
const NEAR: usize = 8191;
/// `MAX_FARDISTANCE` of level 2.
const LEVEL_2_REACH: usize = 65_535 + NEAR - 1;
/// The upper five bits of a distance that is written far.
const FAR: usize = 31;
/// No match starts in the last bytes.
const TAIL: usize = 12;
/// `1 << HASH_LOG`.
const TABLE_LEN: usize = 1 << 13;
/// Space reserved before the first byte is known to be good.
const RESERVED: usize = 1 << 20;

/// The stream of `data`, which must be shorter than 4 GiB: byte for byte what PHP's FastLZ makes of it.
pub(super) fn compress(data: &[u8]) -> Vec<u8> {
    let level_2 = data.len() >= LEVEL_2_FROM;
    let mut out = Vec::with_capacity(data.len() / 2);
    let mut finder = Finder {
        data,
        level_2,
        table: vec![0; TABLE_LEN],
    };
    let mut written = 0;
    let mut at = 2;
    while at + TAIL < data.len() {
        let Some(Match { distance, len }) = finder.find(at) else {
            at += 1;
            continue;
        };
        put_literals(&mut out, &data[written..at]);
        if level_2 {
            put_copy_2(&mut out, distance, len);
        } else {
            put_copy_1(&mut out, distance, len);
        }
        at += len;
        written = at;
        finder.remember(at - 2);
        finder.remember(at - 1);
    }
    put_literals(&mut out, &data[written..]);
    if let (true, Some(first)) = (level_2, out.first_mut()) {
        *first |= 1 << 5;
    }
    out
}

/// The `len` bytes that `data` is the stream of: not one more or less, nothing behind them, no more than `limit`.
pub(super) fn decompress(data: &[u8], len: usize, limit: usize) -> Result<Vec<u8>> {
    if len > limit {
        return Err(Error::decode(format!(
            "a FastLZ stream of {len} bytes: at most {limit} are inflated"
        )));
    }
    let mut input = Input(data);
    let first = input.byte()?;
    let level_2 = match first >> 5 {
        0 => false,
        1 => true,
        level => {
            return Err(Error::decode(format!(
                "FastLZ level {} is not known",
                level + 1
            )));
        }
    };
    let mut out = Vec::with_capacity(len.min(RESERVED));
    let mut control = usize::from(first & 31);
    loop {
        if control < MAX_LITERALS {
            let literals = input.take(control + 1)?;
            room(&mut out, literals.len(), len)?;
            out.extend_from_slice(literals);
        } else {
            let (distance, copied) = input.copy(control, level_2)?;
            room(&mut out, copied, len)?;
            repeat(&mut out, distance, copied)?;
        }
        match input.0.split_first() {
            Some((next, rest)) => (control, input.0) = (usize::from(*next), rest),
            None => break,
        }
    }
    if out.len() != len {
        return Err(Error::decode(format!(
            "a FastLZ stream of {} bytes where {len} were announced",
            out.len()
        )));
    }
    Ok(out)
}

/// The bytes from `distance` back are also the next `len`.
struct Match {
    distance: usize,
    len: usize,
}

/// Finds the matches that FastLZ finds, with its hash and its shortcuts, so that the streams are equal.
struct Finder<'a> {
    data: &'a [u8],
    level_2: bool,
    /// Where three bytes of this hash were seen last; an unused slot is position 0, which is tried as well.
    table: Vec<u32>,
}

impl Finder<'_> {
    fn find(&mut self, at: usize) -> Option<Match> {
        let data = self.data;
        // Level 2 takes a repeated byte without asking the table, and without entering it.
        if self.level_2 && data[at] == data[at - 1] && data[at - 1..at + 1] == data[at + 1..at + 3]
        {
            return Some(self.extend(at, 1, 3));
        }
        let slot = hash(data, at);
        let seen = self.table[slot] as usize;
        self.table[slot] = at as u32;
        let distance = at - seen;
        let reach = if self.level_2 {
            LEVEL_2_REACH
        } else {
            LEVEL_1_REACH
        };
        if distance >= reach {
            return None;
        }
        let known = if distance >= NEAR && self.level_2 {
            5
        } else {
            3
        };
        (data[seen..seen + known] == data[at..at + known]).then(|| self.extend(at, distance, known))
    }

    /// Lengthens a match of `known` bytes. FastLZ compares eight bytes without looking at the end,
    /// and then stops three bytes short of it.
    fn extend(&self, at: usize, distance: usize, known: usize) -> Match {
        let stop = (self.data.len() - 3).max(at + known + 7);
        let rest = at + known..stop;
        let same = rest
            .take_while(|&next| self.data[next] == self.data[next - distance])
            .count();
        Match {
            distance,
            len: known + same,
        }
    }

    fn remember(&mut self, at: usize) {
        if at + 2 < self.data.len() {
            self.table[hash(self.data, at)] = at as u32;
        }
    }
}

/// `HASH_FUNCTION` of the three bytes at `at`.
fn hash(data: &[u8], at: usize) -> usize {
    let pair = |at: usize| usize::from(u16::from_le_bytes([data[at], data[at + 1]]));
    let first = pair(at);
    (first ^ pair(at + 1) ^ (first >> 3)) % TABLE_LEN
}

fn put_literals(out: &mut Vec<u8>, literals: &[u8]) {
    for run in literals.chunks(MAX_LITERALS) {
        out.push(run.len() as u8 - 1);
        out.extend_from_slice(run);
    }
}

fn put_copy_1(out: &mut Vec<u8>, distance: usize, mut len: usize) {
    let distance = distance - 1;
    let mut put = |code: usize| {
        out.push((code.min(LONG) << 5 | distance >> 8) as u8);
        if code >= LONG {
            out.push((code - LONG) as u8);
        }
        out.push(distance as u8);
    };
    // The code of `len` bytes is `len - 2`.
    while len - 2 > MAX_COPIED {
        put(MAX_COPIED - 2);
        len -= MAX_COPIED;
    }
    put(len - 2);
}

fn put_copy_2(out: &mut Vec<u8>, distance: usize, len: usize) {
    let (code, distance) = (len - 2, distance - 1);
    let far = distance >= NEAR;
    let upper = if far { FAR } else { distance >> 8 };
    out.push((code.min(LONG) << 5 | upper) as u8);
    if code >= LONG {
        let more = code - LONG;
        out.extend(std::iter::repeat_n(255, more / 255));
        out.push((more % 255) as u8);
    }
    if far {
        let distance = distance - NEAR;
        out.extend([255, (distance >> 8) as u8, distance as u8]);
    } else {
        out.push(distance as u8);
    }
}

/// The rest of a stream.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn byte(&mut self) -> Result<u8> {
        self.take(1).map(|byte| byte[0])
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self
            .0
            .split_at_checked(len)
            .ok_or_else(|| Error::decode("the FastLZ stream is cut off"))?;
        self.0 = rest;
        Ok(taken)
    }

    /// The distance and length of the copy that starts with `control`.
    fn copy(&mut self, control: usize, level_2: bool) -> Result<(usize, usize)> {
        let mut code = control >> 5;
        if code == LONG {
            loop {
                let more = self.byte()?;
                code += usize::from(more);
                if !level_2 || more != 255 {
                    break;
                }
            }
        }
        let upper = control & 31;
        let lower = usize::from(self.byte()?);
        let distance = if level_2 && upper == FAR && lower == 255 {
            let far = u16::from_be_bytes([self.byte()?, self.byte()?]);
            NEAR + usize::from(far)
        } else {
            upper << 8 | lower
        };
        Ok((distance + 1, code + 2))
    }
}

/// Sees to it that `more` bytes fit. Room doubles, but never over the `len` bytes announced.
fn room(out: &mut Vec<u8>, more: usize, len: usize) -> Result<()> {
    let left = len - out.len();
    if more > left {
        return Err(Error::decode(format!(
            "a FastLZ stream of more than the {len} bytes announced"
        )));
    }
    if more > out.capacity() - out.len() {
        out.reserve_exact(more.max(out.len()).min(left));
    }
    Ok(())
}

/// Appends `len` bytes from `distance` back. What is appended may be repeated in turn: a distance of 1 is a run.
fn repeat(out: &mut Vec<u8>, distance: usize, mut len: usize) -> Result<()> {
    let from = out
        .len()
        .checked_sub(distance)
        .ok_or_else(|| Error::decode("a FastLZ stream refers to bytes before its start"))?;
    while len > 0 {
        let chunk = len.min(out.len() - from);
        out.extend_from_within(from..from + chunk);
        len -= chunk;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: usize = 1 << 20;

    /// Bytes without a pattern, the same at each call.
    fn noise(len: usize) -> Vec<u8> {
        let mut state = 0x2545_f491_u32;
        let next = || {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            (state >> 24) as u8
        };
        std::iter::repeat_with(next).take(len).collect()
    }

    fn samples(len: usize) -> Vec<Vec<u8>> {
        let cycle = |unit: &[u8]| unit.iter().copied().cycle().take(len).collect::<Vec<u8>>();
        let mut mixed = cycle(&noise(300));
        for at in (0..len).step_by(97) {
            mixed[at] ^= 0x55;
        }
        vec![
            vec![b'a'; len],
            cycle(b"abc"),
            noise(len),
            // Repeated from so far that level 1 cannot, and level 2 only just or not, reach back.
            cycle(&noise(8191)),
            cycle(&noise(8192)),
            cycle(&noise(LEVEL_2_REACH - 1)),
            cycle(&noise(LEVEL_2_REACH)),
            mixed,
        ]
    }

    #[test]
    fn what_was_packed_comes_back() {
        let lengths = (0..40).chain([
            261, 262, 263, 264, 265, 300, 10_000, 65_535, 65_536, 150_001,
        ]);
        for len in lengths {
            for (kind, data) in samples(len).into_iter().enumerate() {
                let packed = compress(&data);
                assert!(packed.len() <= len + len / MAX_LITERALS + 1);
                if len == 0 {
                    assert!(packed.is_empty() && decompress(&packed, 0, LIMIT).is_err());
                    continue;
                }
                assert_eq!(packed[0] >> 5, u8::from(len >= LEVEL_2_FROM));
                let read = decompress(&packed, len, LIMIT).unwrap();
                assert!(read == data, "kind {kind}, {len} bytes");
            }
        }
    }

    #[test]
    fn what_can_shrink_does() {
        let size = |data: &[u8]| compress(data).len();
        assert!(size(&vec![b'a'; 60_000]) < 800);
        assert!(size(&vec![b'a'; 200_000]) < 900);
        // The same words before and behind a long run, which itself leaves no trace in the table.
        let apart = |distance: usize| [noise(500), vec![0; distance - 500], noise(500)].concat();
        let near_enough = size(&apart(LEVEL_2_REACH - 1));
        assert!(
            near_enough + 450 < size(&apart(LEVEL_2_REACH)),
            "{near_enough}"
        );
    }

    /// The instructions, byte by byte.
    #[test]
    fn streams_are_read_as_they_are_meant() {
        let noise = noise(8300);
        let far = |distance: usize, copy: &[u8]| {
            let mut stream = Vec::new();
            put_literals(&mut stream, &noise);
            stream[0] |= 1 << 5;
            stream.extend_from_slice(copy);
            let out = decompress(&stream, noise.len() + 4, LIMIT).unwrap();
            let from = noise.len() - distance;
            assert_eq!(out[noise.len()..], noise[from..from + 4]);
        };
        far(1 + 0x1203, &[2 << 5 | 0x12, 3]);
        far(8191, &[2 << 5 | 31, 254]);
        far(8192, &[2 << 5 | 31, 255, 0, 0]);
        far(8192 + 100, &[2 << 5 | 31, 255, 0, 100]);

        let read = |stream: &[u8], len| decompress(stream, len, LIMIT);
        assert_eq!(read(b"\x02abc", 3).unwrap(), b"abc");
        assert_eq!(read(b"\x01ab\x40\x01", 6).unwrap(), b"ababab");
        assert_eq!(read(b"\0a\xe0\xff\0", 265).unwrap(), [b'a'; 265]);
        assert_eq!(read(b"\x20a\xe0\xff\x02\0", 267).unwrap(), [b'a'; 267]);
    }

    #[test]
    fn what_is_no_stream_is_refused() {
        for (stream, len) in [
            (&b""[..], 0),
            (b"\x02ab", 3),
            (b"\x02abc", 2),
            (b"\x02abc", 4),
            (b"\x02abc\x40", 7),
            (b"\x02abc\xe0", 7),
            (b"\x02abc\xe0\x01", 7),
            (b"\x22abc\xe0\xff\xff", 999),
            (b"\x22abc\x5f\xff\x01", 7),
            // Distances of 4 where 3 bytes are there, near and far.
            (b"\x02abc\x40\x03", 7),
            (b"\x22abc\x5f\xff\0\0", 7),
            (b"\x42abc", 3),
            (b"\xe2abc", 3),
        ] {
            let error = decompress(stream, len, LIMIT).unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::Decode, "{stream:?}");
        }
    }

    #[test]
    fn a_bomb_stops_at_the_announced_length() {
        // 255 bytes more of length from each byte.
        let bomb = [&b"\x20a\xe0"[..], &[255; 100_000], b"\0\0"].concat();
        for len in [1, 2, 100, 4096, LIMIT] {
            assert!(decompress(&bomb, len, LIMIT).is_err());
        }
        let error = decompress(&bomb, LIMIT + 1, LIMIT).unwrap_err();
        assert!(error.to_string().contains("at most 1048576"));
        // A length that lies costs no more than what is reserved at once.
        let out = decompress(b"\x02abc", 3, usize::MAX).unwrap();
        assert!(out.capacity() < 100);
        assert!(decompress(b"\x02abc", usize::MAX, usize::MAX).is_err());
    }

    #[test]
    fn every_truncation_is_refused_and_every_flipped_bit_is_safe() {
        let text: Vec<u8> = (0..60_u32)
            .flat_map(|n| format!("row {} of {};", n * n, n % 7).into_bytes())
            .collect();
        let packed = compress(&text);
        assert!((150..500).contains(&packed.len()), "{}", packed.len());
        for end in 0..packed.len() {
            assert!(decompress(&packed[..end], text.len(), LIMIT).is_err());
        }
        for bit in 0..packed.len() * 8 {
            let mut packed = packed.clone();
            packed[bit / 8] ^= 1 << (bit % 8);
            // FastLZ has no checksum: other literals are other text, but never of another length.
            if let Ok(read) = decompress(&packed, text.len(), LIMIT) {
                assert_eq!(read.len(), text.len());
            }
        }
    }
}
