//! CRC-32 (IEEE) and what clients cut out of it. It knows no server.

/// The 15 bits of a hash that "new compat" clients keep (whalin `SockIOPool.java`, `newCompatHashingAlg`;
/// pecl-memcache `memcache_standard_hash.c`).
const NEW_COMPAT_BITS: u32 = 0x7fff;

/// Bits 16 to 30.
pub(super) fn new_compat(key: &[u8]) -> u32 {
    middle_bits(crc32fast::hash(key))
}

/// Bits 16 to 30 of any hash, of which pecl-memcache makes 1 where they are 0.
pub(super) fn pecl_standard(hash: u32) -> u32 {
    middle_bits(hash).max(1)
}

fn middle_bits(hash: u32) -> u32 {
    (hash >> 16) & NEW_COMPAT_BITS
}
