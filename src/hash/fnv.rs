//! FNV-1 and FNV-1a over whatever a client takes for the units of a key. It knows no server.

use super::utf16;

const START_32: u32 = 2_166_136_261;
const PRIME_32: u32 = 16_777_619;
const START_64: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME_64: u64 = 0x100_0000_01b3;

/// FNV-1: multiply, then xor.
fn fnv1_step(hash: u32, unit: u32) -> u32 {
    hash.wrapping_mul(PRIME_32) ^ unit
}

/// FNV-1a: xor, then multiply.
fn fnv1a_step(hash: u32, unit: u32) -> u32 {
    (hash ^ unit).wrapping_mul(PRIME_32)
}

/// FNV-1 over bytes.
pub(super) fn fnv1_32(key: &[u8]) -> u32 {
    fnv1_32_from(START_32, key)
}

/// FNV-1 over bytes with the start 0: see [`fnv1a_32_from_zero`].
pub(super) fn fnv1_32_from_zero(key: &[u8]) -> u32 {
    fnv1_32_from(0, key)
}

fn fnv1_32_from(start: u32, key: &[u8]) -> u32 {
    key.iter()
        .fold(start, |hash, byte| fnv1_step(hash, (*byte).into()))
}

/// FNV-1a over bytes.
pub(super) fn fnv1a_32(key: &[u8]) -> u32 {
    fnv1a_32_from(START_32, key)
}

/// FNV-1a over bytes with the start 0: Enyim's hash object before its first `Initialize` (measured; `FNV1a.cs`).
pub(super) fn fnv1a_32_from_zero(key: &[u8]) -> u32 {
    fnv1a_32_from(0, key)
}

fn fnv1a_32_from(start: u32, key: &[u8]) -> u32 {
    key.iter()
        .fold(start, |hash, byte| fnv1a_step(hash, (*byte).into()))
}

/// FNV-1, 64 bits, over bytes; with the start 0 where [`fnv1a_32_from_zero`] has it.
pub(super) fn fnv1_64(key: &[u8], from_zero: bool) -> u64 {
    key.iter().fold(start_64(from_zero), |hash, byte| {
        hash.wrapping_mul(PRIME_64) ^ u64::from(*byte)
    })
}

/// FNV-1a, 64 bits, over bytes; with the start 0 where [`fnv1a_32_from_zero`] has it.
pub(super) fn fnv1a_64(key: &[u8], from_zero: bool) -> u64 {
    key.iter().fold(start_64(from_zero), |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(PRIME_64)
    })
}

fn start_64(from_zero: bool) -> u64 {
    if from_zero { 0 } else { START_64 }
}

/// The hashes that take each byte for a signed `char` of x86: a byte from 0x80 enters with its sign
/// (libmemcached `libhashkit/fnv_32.cc`, `fnv_64.cc`; pecl-memcache `memcache_pool.h`).
pub(super) mod signed {
    use super::*;

    /// What libmemcached calls FNV1A_64 starts from the low half of the 64-bit start.
    const FNV1A_64_START: u32 = START_64 as u32;
    /// And multiplies by the low half of the 64-bit prime.
    const FNV1A_64_PRIME: u32 = PRIME_64 as u32;

    fn extended(byte: &u8) -> u32 {
        *byte as i8 as u32
    }

    pub(in crate::hash) fn fnv1_32(key: &[u8]) -> u32 {
        key.iter()
            .fold(START_32, |hash, byte| fnv1_step(hash, extended(byte)))
    }

    pub(in crate::hash) fn fnv1a_32(key: &[u8]) -> u32 {
        key.iter()
            .fold(START_32, |hash, byte| fnv1a_step(hash, extended(byte)))
    }

    /// The low half of the 64-bit hash.
    pub(in crate::hash) fn fnv1_64(key: &[u8]) -> u32 {
        key.iter().fold(START_64, |hash, byte| {
            hash.wrapping_mul(PRIME_64) ^ *byte as i8 as u64
        }) as u32
    }

    /// In 32 bits throughout, whatever its name says.
    pub(in crate::hash) fn fnv1a_64(key: &[u8]) -> u32 {
        key.iter().fold(FNV1A_64_START, |hash, byte| {
            (hash ^ extended(byte)).wrapping_mul(FNV1A_64_PRIME)
        })
    }
}

/// The hashes over UTF-16 units, of which the low 32 bits count (spymemcached `DefaultHashAlgorithm.java`).
pub(super) mod utf16_units {
    use super::*;

    pub(in crate::hash) fn fnv1_32(key: &[u8]) -> u32 {
        utf16::fold(key, START_32, |hash, unit| fnv1_step(hash, unit.into()))
    }

    pub(in crate::hash) fn fnv1a_32(key: &[u8]) -> u32 {
        utf16::fold(key, START_32, |hash, unit| fnv1a_step(hash, unit.into()))
    }

    pub(in crate::hash) fn fnv1_64(key: &[u8]) -> u32 {
        utf16::fold(key, START_64, |hash, unit| {
            hash.wrapping_mul(PRIME_64) ^ u64::from(unit)
        }) as u32
    }

    pub(in crate::hash) fn fnv1a_64(key: &[u8]) -> u32 {
        utf16::fold(key, START_64, |hash, unit| {
            (hash ^ u64::from(unit)).wrapping_mul(PRIME_64)
        }) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vectors of the authors' page, <http://www.isthe.com/chongo/src/fnv/test_fnv.c>.
    #[test]
    fn published_vectors() {
        assert_eq!((fnv1_32(b""), fnv1a_32(b"")), (0x811c_9dc5, 0x811c_9dc5));
        assert_eq!((fnv1_32(b"a"), fnv1a_32(b"a")), (0x050c_5d7e, 0xe40c_292c));
        assert_eq!(
            (fnv1_32(b"foobar"), fnv1a_32(b"foobar")),
            (0x31f0_b262, 0xbf9c_f968)
        );
        assert_eq!(fnv1_64(b"foobar", false), 0x340d_8765_a4dd_a9c2);
        assert_eq!(fnv1a_64(b"foobar", false), 0x8594_4171_f739_67e8);
        // The low halves of 0x340d8765a4dda9c2 and 0x85944171f73967e8.
        assert_eq!(signed::fnv1_64(b"foobar"), 0xa4dd_a9c2);
        assert_eq!(utf16_units::fnv1_64(b"foobar"), 0xa4dd_a9c2);
        assert_eq!(utf16_units::fnv1a_64(b"foobar"), 0xf739_67e8);
    }
}
