//! The hashes of the Java client that go over a string's UTF-16 units. It knows no server.

use super::utf16;

/// `h = 31·h + c` (`java.lang.String.hashCode`).
pub(super) fn string_hash(key: &[u8]) -> i32 {
    utf16::fold(key, 0, |hash: i32, unit| {
        hash.wrapping_mul(31).wrapping_add(unit.into())
    })
}

/// `h = 33·h + c` in 64 bits (whalin 2.0.1 `SockIOPool.java`, `origCompatHashingAlg`).
pub(super) fn old_compat(key: &[u8]) -> i64 {
    utf16::fold(key, 0, |hash: i64, unit| {
        hash.wrapping_mul(33).wrapping_add(unit.into())
    })
}

/// `h = 33·h + c` in 32 bits: whalin up to 1.6, and memcacheddotnet's `OriginalHashingAlgorithm`.
pub(super) fn old_compat_32(key: &[u8]) -> i32 {
    old_compat(key) as i32
}
