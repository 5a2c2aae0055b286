//! The `String.GetHashCode` of each .NET runtime that has a fixed one, over UTF-16 units. It knows no server.

use super::utf16;

/// The factor of the second half (.NET Framework 2.0 to 4.8, `mscorlib` `String.cs`, `GetHashCode`).
const SECOND_HALF: i32 = 1_566_083_941;

/// The start of both halves in 64-bit processes, and of the one hash of .NET Framework 1.1.
const START: i32 = 5381;

/// The start of both halves in 32-bit processes: `(5381 << 16) + 5381`.
const START_32: i32 = 0x1505_1505;

/// The fixed seed of mono 6.8's Marvin32 (measured; the lower half, the upper one is 0).
const MONO_SEED: u32 = 12_874_512;

/// 32-bit .NET Framework: over pairs of units in turn, with an arithmetic shift that drags the sign along.
pub(super) fn netfx32(key: &[u8]) -> i32 {
    let mix = |hash: i32, pair: u32| {
        (hash << 5).wrapping_add(hash).wrapping_add(hash >> 27) ^ pair as i32
    };
    let (halves, last) =
        utf16::fold(
            key,
            (Halves::new(START_32), None),
            |(halves, low), unit| match low {
                None => (halves, Some(unit)),
                Some(low) => (halves.turn(|hash| mix(hash, pair(low, unit))), None),
            },
        );
    match last {
        Some(low) => halves.turn(|hash| mix(hash, pair(low, 0))),
        None => halves,
    }
    .sum()
}

/// 64-bit .NET Framework: units in turn, up to the first NUL.
pub(super) fn netfx64(key: &[u8]) -> i32 {
    fold_to_nul(key, Halves::new(START), |halves, unit| {
        halves.turn(|hash| hash.wrapping_mul(33) ^ i32::from(unit))
    })
    .sum()
}

/// .NET Framework 1.1 and Windows Phone: one hash, up to the first NUL.
pub(super) fn netfx11(key: &[u8]) -> i32 {
    fold_to_nul(key, START, |hash: i32, unit| {
        hash.wrapping_mul(33) ^ i32::from(unit)
    })
}

fn fold_to_nul<T>(key: &[u8], first: T, step: impl FnMut(T, u16) -> T) -> T {
    let len = key.iter().position(|byte| *byte == 0);
    utf16::fold(&key[..len.unwrap_or(key.len())], first, step)
}

/// .NET Core's `GetNonRandomizedHashCode`: like 32-bit .NET Framework, but with a rotation, and what is left
/// behind the last four units goes into the second half.
pub(super) fn netcore(key: &[u8]) -> i32 {
    let mix = |hash: i32, pair: u32| hash.rotate_left(5).wrapping_add(hash) ^ pair as i32;
    let mix_both = |mut halves: Halves, pairs: [u32; 2]| {
        halves.first = mix(halves.first, pairs[0]);
        halves.second = mix(halves.second, pairs[1]);
        halves
    };
    let (mut halves, last) = utf16::fold(
        key,
        (Halves::new(START_32), Held::default()),
        |(mut halves, mut held), unit| {
            if held.units == 4 {
                halves = mix_both(halves, held.pairs());
                held = Held::default();
            }
            held.push(unit);
            (halves, held)
        },
    );
    match last.units {
        0 => {}
        1 | 2 => halves.second = mix(halves.second, last.pairs()[0]),
        _ => halves = mix_both(halves, last.pairs()),
    }
    halves.sum()
}

/// mono 6.8: Marvin32 over the bytes of UTF-16, little-endian.
pub(super) fn mono(key: &[u8]) -> i32 {
    let mut state = Marvin {
        p0: MONO_SEED,
        p1: 0,
    };
    let held = utf16::fold(key, None, |low, unit| match low {
        None => Some(unit),
        Some(low) => {
            state.mix(pair(low, unit));
            None
        }
    });
    // The end is marked by a byte 0x80 behind the last one.
    state.mix(match held {
        Some(unit) => pair(unit, 0x80),
        None => 0x80,
    });
    state.mix(0);
    (state.p0 ^ state.p1) as i32
}

/// Two units as a word of memory holds them.
fn pair(low: u16, high: u16) -> u32 {
    u32::from(low) | u32::from(high) << 16
}

/// Two hashes that take the words in turn.
#[derive(Clone, Copy)]
struct Halves {
    first: i32,
    second: i32,
    second_is_next: bool,
}

impl Halves {
    fn new(start: i32) -> Self {
        Self {
            first: start,
            second: start,
            second_is_next: false,
        }
    }

    fn turn(mut self, mix: impl Fn(i32) -> i32) -> Self {
        if self.second_is_next {
            self.second = mix(self.second);
        } else {
            self.first = mix(self.first);
        }
        self.second_is_next = !self.second_is_next;
        self
    }

    fn sum(self) -> i32 {
        self.first
            .wrapping_add(self.second.wrapping_mul(SECOND_HALF))
    }
}

/// Up to four units, whose place depends on whether more follow.
#[derive(Default)]
struct Held {
    bits: u64,
    units: u32,
}

impl Held {
    fn push(&mut self, unit: u16) {
        self.bits |= u64::from(unit) << (16 * self.units);
        self.units += 1;
    }

    fn pairs(&self) -> [u32; 2] {
        [self.bits as u32, (self.bits >> 32) as u32]
    }
}

struct Marvin {
    p0: u32,
    p1: u32,
}

impl Marvin {
    fn mix(&mut self, word: u32) {
        self.p0 = self.p0.wrapping_add(word);
        self.p1 ^= self.p0;
        self.p0 = self.p0.rotate_left(20).wrapping_add(self.p1);
        self.p1 = self.p1.rotate_left(9) ^ self.p0;
        self.p0 = self.p0.rotate_left(27).wrapping_add(self.p1);
        self.p1 = self.p1.rotate_left(19);
    }
}
