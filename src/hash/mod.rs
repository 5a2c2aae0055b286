//! Hash functions of keys, as the clients compute them. Pure: bytes in, number out.

mod crc;
mod digest;
mod dotnet;
mod fnv;
mod general;
mod java;
mod utf16;

pub(crate) use digest::md5_words;
#[cfg(feature = "sha1")]
pub(crate) use digest::sha1_words;
#[cfg(feature = "tiger")]
pub(crate) use digest::tiger_words;
pub(crate) use general::murmur3;

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
    /// Java's `String.hashCode`, unsigned: spymemcached's `NATIVE_HASH`.
    JavaStringUnsigned,
    /// Bits 16 to 30 of CRC-32 (IEEE): `(crc >> 16) & 0x7fff`.
    #[doc(alias = "NEW_COMPAT_HASH")]
    #[doc(alias = "NewCompatibleHash")]
    #[doc(alias = "HASH_CRC")]
    NewCompat,
    /// The same, with 1 in the place of 0: pecl-memcache's `standard` strategy.
    PeclCrc32,
    /// Bits 16 to 30 of [`SignedFnv1a32`](Self::SignedFnv1a32), with 1 in the place of 0: pecl-memcache's `standard` strategy.
    PeclFnv,
    /// CRC-32 (IEEE), all of it.
    Crc32,
    /// The first four bytes of MD5, little-endian: the key's point on a ketama ring.
    #[doc(alias = "CONSISTENT_HASH")]
    #[doc(alias = "KETAMA_HASH")]
    #[doc(alias = "HASH_MD5")]
    Md5,
    /// The first four bytes of SHA-1, little-endian.
    #[cfg(feature = "sha1")]
    Sha1,
    /// The first four bytes of Tiger, little-endian.
    #[cfg(feature = "tiger")]
    Tiger,

    /// `String.GetHashCode` of .NET Framework 2.0 to 4.8 in a 32-bit process.
    #[doc(alias = "Native")]
    NetFx32,
    /// `String.GetHashCode` of .NET Framework 2.0 to 4.8 in a 64-bit process.
    #[doc(alias = "Native")]
    NetFx64,
    /// `String.GetHashCode` of .NET Framework 1.1.
    #[doc(alias = "Native")]
    NetFx11,
    /// .NET Core's `GetNonRandomizedHashCode`.
    #[doc(alias = "Native")]
    NetCore,
    /// `String.GetHashCode` of mono 6.8: Marvin32 with a fixed seed.
    #[doc(alias = "Native")]
    Mono,

    /// Jenkins' one-at-a-time hash, signed bytes: libmemcached's `DEFAULT`.
    #[doc(alias = "HASH_DEFAULT")]
    OneAtATime,
    /// FNV-1, 32 bits.
    Fnv1_32,
    /// FNV-1a, 32 bits.
    Fnv1a32,
    /// FNV-1a, 32 bits, with the start 0: the keys of Enyim's default locator.
    Fnv1a32FromZero,
    /// The low half of FNV-1, 64 bits: what Enyim calls `fnv1a_32`.
    Fnv1_64,
    /// The low half of FNV-1a, 64 bits: what Enyim calls `fnv1a_64`.
    Fnv1a64,
    /// Always 0: what Enyim's `oneatatime` comes to, which drops the hash that it computes (`HashkitOneAtATime.cs`, `HashCore`).
    Zero,
    /// FNV-1, 32 bits, signed bytes: libmemcached's `FNV1_32` on x86.
    #[doc(alias = "HASH_FNV1_32")]
    SignedFnv1_32,
    /// FNV-1a, 32 bits, signed bytes: libmemcached's `FNV1A_32` and pecl-memcache's `fnv` on x86.
    #[doc(alias = "HASH_FNV1A_32")]
    SignedFnv1a32,
    /// The low half of FNV-1, 64 bits, signed bytes: libmemcached's `FNV1_64` on x86.
    #[doc(alias = "HASH_FNV1_64")]
    SignedFnv1_64,
    /// What libmemcached calls `FNV1A_64`, on x86: 32-bit arithmetic with the halves of the 64-bit constants.
    #[doc(alias = "HASH_FNV1A_64")]
    SignedFnv1a64,
    /// FNV-1, 32 bits, over UTF-16 units: spymemcached's `FNV1_32_HASH`.
    Utf16Fnv1_32,
    /// FNV-1a, 32 bits, over UTF-16 units: spymemcached's `FNV1A_32_HASH`.
    Utf16Fnv1a32,
    /// The low half of FNV-1, 64 bits, over UTF-16 units: spymemcached's `FNV1_64_HASH`.
    Utf16Fnv1_64,
    /// The low half of FNV-1a, 64 bits, over UTF-16 units: spymemcached's `FNV1A_64_HASH`.
    Utf16Fnv1a64,
    /// MurmurHash2, 32 bits, seeded by the key's length as libmemcached does.
    #[doc(alias = "HASH_MURMUR")]
    Murmur2,
    /// MurmurHash3, 32 bits, seeded by the key's length as libmemcached does.
    Murmur3,
    /// Jenkins' lookup3: libmemcached's `JENKINS`.
    Lookup3,
}

impl HashingAlg for Hash {
    fn hash(&self, key: &[u8]) -> i64 {
        match self {
            Hash::JavaString => java::string_hash(key).into(),
            Hash::OldCompat => java::old_compat(key),
            Hash::OldCompat32 => java::old_compat_32(key).into(),
            Hash::NetFx32 => dotnet::netfx32(key).into(),
            Hash::NetFx64 => dotnet::netfx64(key).into(),
            Hash::NetFx11 => dotnet::netfx11(key).into(),
            Hash::NetCore => dotnet::netcore(key).into(),
            Hash::Mono => dotnet::mono(key).into(),
            unsigned => unsigned.hash_32(key).into(),
        }
    }
}

impl Hash {
    /// The low 32 bits: the whole of a hash that is not signed.
    pub(crate) fn hash_32(self, key: &[u8]) -> u32 {
        match self {
            Hash::JavaStringUnsigned => java::string_hash(key) as u32,
            Hash::NewCompat => crc::new_compat(key),
            Hash::PeclCrc32 => crc::pecl_standard(crc32fast::hash(key)),
            Hash::PeclFnv => crc::pecl_standard(fnv::signed::fnv1a_32(key)),
            Hash::Crc32 => crc32fast::hash(key),
            Hash::Md5 => md5_words(key)[0],
            #[cfg(feature = "sha1")]
            Hash::Sha1 => sha1_words(key)[0],
            #[cfg(feature = "tiger")]
            Hash::Tiger => tiger_words(key)[0],
            Hash::OneAtATime => general::one_at_a_time(key),
            Hash::Fnv1_32 => fnv::fnv1_32(key),
            Hash::Fnv1a32 => fnv::fnv1a_32(key),
            Hash::Fnv1a32FromZero => fnv::fnv1a_32_from_zero(key),
            Hash::Fnv1_64 => fnv::fnv1_64(key, false) as u32,
            Hash::Fnv1a64 => fnv::fnv1a_64(key, false) as u32,
            Hash::Zero => 0,
            Hash::SignedFnv1_32 => fnv::signed::fnv1_32(key),
            Hash::SignedFnv1a32 => fnv::signed::fnv1a_32(key),
            Hash::SignedFnv1_64 => fnv::signed::fnv1_64(key),
            Hash::SignedFnv1a64 => fnv::signed::fnv1a_64(key),
            Hash::Utf16Fnv1_32 => fnv::utf16_units::fnv1_32(key),
            Hash::Utf16Fnv1a32 => fnv::utf16_units::fnv1a_32(key),
            Hash::Utf16Fnv1_64 => fnv::utf16_units::fnv1_64(key),
            Hash::Utf16Fnv1a64 => fnv::utf16_units::fnv1a_64(key),
            Hash::Murmur2 => general::murmur2(key),
            Hash::Murmur3 => general::murmur3_seeded(key),
            Hash::Lookup3 => general::lookup3(key),
            Hash::JavaString
            | Hash::OldCompat
            | Hash::OldCompat32
            | Hash::NetFx32
            | Hash::NetFx64
            | Hash::NetFx11
            | Hash::NetCore
            | Hash::Mono => self.hash(key) as u32,
        }
    }

    /// All bits of the hash, from an object of Enyim's; a new one starts from 0 if it is FNV.
    pub(crate) fn hash_64(self, key: &[u8], is_new: bool) -> u64 {
        match (self, is_new) {
            (Hash::Fnv1_32, true) => fnv::fnv1_32_from_zero(key).into(),
            (Hash::Fnv1a32, true) => fnv::fnv1a_32_from_zero(key).into(),
            (Hash::Fnv1_64, _) => fnv::fnv1_64(key, is_new),
            (Hash::Fnv1a64, _) => fnv::fnv1a_64(key, is_new),
            _ => self.hash_32(key).into(),
        }
    }
}
