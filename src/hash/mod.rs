//! Hash functions of keys, as the clients compute them. Pure: bytes in, number out.

mod crc;
mod digest;
mod java;
mod utf16;

use std::fmt;

/// A function from a key's bytes to the number that finds its server.
///
/// Open to users: hand your own to [`SockIoPoolBuilder::hashing`](crate::SockIoPoolBuilder::hashing).
pub trait HashingAlg: fmt::Debug + Send + Sync {
    /// The hash of `key`, the bytes that are sent but for a prefix that is not hashed.
    ///
    /// An unsigned 32-bit hash comes as `0..=u32::MAX`, a signed one with its sign.
    fn hash(&self, key: &[u8]) -> i64;
}

/// The hash functions of the clients in [`Compat`](crate::Compat)'s table.
///
/// Java and .NET hash the UTF-16 units of a key. A key that is no UTF-8 could not exist there;
/// it is hashed as the text that their decoders make of it, U+FFFD for each malformed sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Hash {
    /// Java's `String.hashCode`: 31·h + c over UTF-16 units, signed 32 bits.
    #[doc(alias = "NATIVE_HASH")]
    JavaString,
    /// 33·h + c over UTF-16 units in signed 64 bits: the Java client since 2.0
    /// (whalin `SockIOPool.java`, `origCompatHashingAlg`).
    #[doc(alias = "OLD_COMPAT_HASH")]
    OldCompat,
    /// The same in signed 32 bits: the Java client's 1.x line, memcacheddotnet.
    #[doc(alias = "OldCompatibleHash")]
    OldCompat32,
    /// Bits 16 to 30 of CRC-32 (IEEE): `(crc >> 16) & 0x7fff`.
    #[doc(alias = "NEW_COMPAT_HASH")]
    #[doc(alias = "NewCompatibleHash")]
    NewCompat,
    /// The first four bytes of MD5, little-endian: the key's point on a ketama ring.
    #[doc(alias = "CONSISTENT_HASH")]
    #[doc(alias = "KETAMA_HASH")]
    Md5,
}

impl HashingAlg for Hash {
    fn hash(&self, key: &[u8]) -> i64 {
        match self {
            Hash::JavaString => java::string_hash(key).into(),
            Hash::OldCompat => java::old_compat(key),
            Hash::OldCompat32 => java::old_compat_32(key).into(),
            Hash::NewCompat => crc::new_compat(key).into(),
            Hash::Md5 => digest::md5_point(key).into(),
        }
    }
}

pub(crate) use digest::md5_words;
