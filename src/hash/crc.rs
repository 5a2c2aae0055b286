//! CRC-32 (IEEE) and what clients cut out of it. It knows no server.

/// The 15 bits of a CRC that "new compat" clients keep (whalin `SockIOPool.java`, `newCompatHashingAlg`).
const NEW_COMPAT_BITS: u32 = 0x7fff;

pub(super) fn new_compat(key: &[u8]) -> u32 {
    (crc32fast::hash(key) >> 16) & NEW_COMPAT_BITS
}
