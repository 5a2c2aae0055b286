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
            room(&out, literals.len(), len)?;
            out.extend_from_slice(literals);
        } else {
            let (distance, copied) = input.copy(control, level_2)?;
            room(&out, copied, len)?;
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
        if self.level_2
            && data[at] == data[at - 1]
            && data[at - 1..at + 1] == data[at + 1..at + 3]
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
        let known = if distance >= NEAR && self.level_2 { 5 } else { 3 };
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

fn room(out: &[u8], more: usize, len: usize) -> Result<()> {
    if more > len - out.len() {
        return Err(Error::decode(format!(
            "a FastLZ stream of more than the {len} bytes announced"
        )));
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
