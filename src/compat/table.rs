//! The table itself: one row per client and algorithm, grouped by client.

use super::libmemcached;
use super::row::Family::{
    Enyim, Gomemcache, MemcachedDotNet, PeclMemcache, PerlCacheMemcached, PerlCacheMemcachedFast,
    Pymemcache, PythonMemcached, Spymemcached, Whalin, Whalin1,
};
use super::row::Proof::{Computed, Source};
use super::row::Row;
use crate::hash::Hash;
use crate::key::KeyTransform::{Pecl, UrlEncode};
use crate::router::{Spread, Walk};

pub(super) const GROUPS: &[&[Row]] = &[
    WHALIN,
    WHALIN_1,
    MEMCACHEDDOTNET,
    PECL_MEMCACHE,
    libmemcached::MODULA,
    libmemcached::CONSISTENT,
    libmemcached::SPY,
    libmemcached::VIRTUAL_BUCKET,
    libmemcached::OTHERS,
    ENYIM,
    SPYMEMCACHED,
    PERL,
    PYTHON,
    #[cfg(feature = "sha1")]
    DALLI,
    GOMEMCACHE,
];

/// Names that exist only with a feature of this crate, and the feature.
pub(super) const FEATURES: &[(&str, &str)] = &[
    ("dalli/default", "sha1"),
    ("enyim/ketama/sha1", "sha1"),
    ("enyim/ketama/tiger", "tiger"),
];

/// What a pool does that names no client: `libmemcached/ketama-weighted`.
pub(super) const DEFAULT: &Row = &libmemcached::OTHERS[0];

type Parts = (Hash, Spread, Walk);

const JAVA_NATIVE: Parts = (Hash::JavaString, Spread::JavaBuckets, Walk::RehashServers);
const JAVA_OLD: Parts = (Hash::OldCompat, Spread::JavaBuckets, Walk::RehashServers);
const JAVA_NEW: Parts = (Hash::NewCompat, Spread::JavaBuckets, Walk::RehashServers);
const JAVA_RING: Parts = (Hash::Md5, Spread::WhalinRing, Walk::RehashServers);

#[rustfmt::skip]
const WHALIN: &[Row] = &[
    Row::new(Whalin, "whalin/native", JAVA_NATIVE, "Java client 2.x and 3.x, NATIVE_HASH (its default), sanitizing off"),
    Row::new(Whalin, "whalin/old-compat", JAVA_OLD, "Java client 2.x and 3.x, OLD_COMPAT_HASH, sanitizing off"),
    Row::new(Whalin, "whalin/new-compat", JAVA_NEW, "Java client 2.x and 3.x, NEW_COMPAT_HASH, sanitizing off"),
    Row::new(Whalin, "whalin/consistent", JAVA_RING, "Java client 2.x and 3.x, CONSISTENT_HASH, sanitizing off"),
    Row::new(Whalin, "whalin/native+sanitize", JAVA_NATIVE, "the same as whalin/native, keys URL-encoded (its default)").keys(UrlEncode),
    Row::new(Whalin, "whalin/old-compat+sanitize", JAVA_OLD, "the same as whalin/old-compat, keys URL-encoded (its default)").keys(UrlEncode),
    Row::new(Whalin, "whalin/new-compat+sanitize", JAVA_NEW, "the same as whalin/new-compat, keys URL-encoded (its default)").keys(UrlEncode),
    Row::new(Whalin, "whalin/consistent+sanitize", JAVA_RING, "the same as whalin/consistent, keys URL-encoded (its default)").keys(UrlEncode),
];

const JAVA_1_NATIVE: Parts = (Hash::JavaString, Spread::JavaBuckets, Walk::RehashBuckets);
const JAVA_1_OLD: Parts = (Hash::OldCompat32, Spread::JavaBuckets, Walk::RehashBuckets);
const JAVA_1_NEW: Parts = (Hash::NewCompat, Spread::JavaBuckets, Walk::RehashBuckets);

#[rustfmt::skip]
const WHALIN_1: &[Row] = &[
    Row::new(Whalin1, "whalin-1/native", JAVA_1_NATIVE, "Java client 1.x, NATIVE_HASH (its default), sanitizing off"),
    Row::new(Whalin1, "whalin-1/old-compat", JAVA_1_OLD, "Java client 1.x, OLD_COMPAT_HASH in 32 bits, sanitizing off"),
    Row::new(Whalin1, "whalin-1/new-compat", JAVA_1_NEW, "Java client 1.x, NEW_COMPAT_HASH, sanitizing off"),
    Row::new(Whalin1, "whalin-1/native+sanitize", JAVA_1_NATIVE, "the same as whalin-1/native, keys URL-encoded (its default)").keys(UrlEncode),
    Row::new(Whalin1, "whalin-1/old-compat+sanitize", JAVA_1_OLD, "the same as whalin-1/old-compat, keys URL-encoded (its default)").keys(UrlEncode),
    Row::new(Whalin1, "whalin-1/new-compat+sanitize", JAVA_1_NEW, "the same as whalin-1/new-compat, keys URL-encoded (its default)").keys(UrlEncode),
];

const fn dotnet(hash: Hash) -> Parts {
    (hash, Spread::DotNetBuckets, Walk::AddHashPerBucket)
}

/// As the bucket list stands after a start with the default of 3 `InitConnections`.
const fn dotnet_live(hash: Hash) -> Parts {
    (
        hash,
        Spread::DotNetLiveBuckets { connections: 3 },
        Walk::AddHashPerBucket,
    )
}

#[rustfmt::skip]
const MEMCACHEDDOTNET: &[Row] = &[
    Row::new(MemcachedDotNet, "memcacheddotnet/native-netfx32", dotnet(Hash::NetFx32), "memcacheddotnet, Native, on .NET Framework 2.0 to 4.8, 32-bit process").proof(Computed),
    Row::new(MemcachedDotNet, "memcacheddotnet/native-netfx64", dotnet(Hash::NetFx64), "memcacheddotnet, Native, on .NET Framework 2.0 to 4.8, 64-bit process").proof(Computed),
    Row::new(MemcachedDotNet, "memcacheddotnet/native-netfx11", dotnet(Hash::NetFx11), "memcacheddotnet, Native, on .NET Framework 1.1").proof(Computed),
    Row::new(MemcachedDotNet, "memcacheddotnet/native-netcore", dotnet(Hash::NetCore), "memcacheddotnet, Native, with .NET Core's hash that is not randomized").proof(Computed),
    Row::new(MemcachedDotNet, "memcacheddotnet/native-mono", dotnet(Hash::Mono), "memcacheddotnet, Native, on mono 6.8"),
    Row::new(MemcachedDotNet, "memcacheddotnet/old-compat", dotnet(Hash::OldCompat32), "memcacheddotnet, OldCompatibleHash"),
    Row::new(MemcachedDotNet, "memcacheddotnet/new-compat", dotnet(Hash::NewCompat), "memcacheddotnet, NewCompatibleHash"),
    Row::new(MemcachedDotNet, "memcacheddotnet/native-netfx32+live", dotnet_live(Hash::NetFx32), "the same, with the buckets that its start adds when servers are not in order").proof(Computed),
    Row::new(MemcachedDotNet, "memcacheddotnet/native-netfx64+live", dotnet_live(Hash::NetFx64), "the same, with the buckets that its start adds when servers are not in order").proof(Computed),
    Row::new(MemcachedDotNet, "memcacheddotnet/native-netfx11+live", dotnet_live(Hash::NetFx11), "the same, with the buckets that its start adds when servers are not in order").proof(Computed),
    Row::new(MemcachedDotNet, "memcacheddotnet/native-netcore+live", dotnet_live(Hash::NetCore), "the same, with the buckets that its start adds when servers are not in order").proof(Computed),
    Row::new(MemcachedDotNet, "memcacheddotnet/native-mono+live", dotnet_live(Hash::Mono), "the same, with the buckets that its start adds when servers are not in order"),
    Row::new(MemcachedDotNet, "memcacheddotnet/old-compat+live", dotnet_live(Hash::OldCompat32), "the same, with the buckets that its start adds when servers are not in order"),
    Row::new(MemcachedDotNet, "memcacheddotnet/new-compat+live", dotnet_live(Hash::NewCompat), "the same, with the buckets that its start adds when servers are not in order"),
];

const PECL_STANDARD: Parts = (Hash::PeclCrc32, Spread::Buckets, Walk::PeclSuffix);
const PECL_STANDARD_FNV: Parts = (Hash::PeclFnv, Spread::Buckets, Walk::PeclSuffix);
const PECL_2: Parts = (Hash::PeclCrc32, Spread::Buckets, Walk::PeclAddHash);
const PECL_CONSISTENT: Parts = (
    Hash::Crc32,
    Spread::PeclConsistent(Hash::Crc32),
    Walk::PeclSuffix,
);
const PECL_CONSISTENT_FNV: Parts = (
    Hash::SignedFnv1a32,
    Spread::PeclConsistent(Hash::SignedFnv1a32),
    Walk::PeclSuffix,
);

#[rustfmt::skip]
const PECL_MEMCACHE: &[Row] = &[
    Row::new(PeclMemcache, "pecl-memcache/standard/crc32", PECL_STANDARD, "PHP's Memcache 8, standard strategy, crc32").keys(Pecl),
    Row::new(PeclMemcache, "pecl-memcache/standard/fnv", PECL_STANDARD_FNV, "PHP's Memcache 8, standard strategy, fnv").keys(Pecl),
    Row::new(PeclMemcache, "pecl-memcache/standard/crc32+2x", PECL_2, "PHP's Memcache 2.x: the failover that adds hashes").keys(Pecl).proof(Source),
    Row::new(PeclMemcache, "pecl-memcache/consistent/crc32", PECL_CONSISTENT, "PHP's Memcache 8, consistent strategy, crc32 (its default)").keys(Pecl),
    Row::new(PeclMemcache, "pecl-memcache/consistent/fnv", PECL_CONSISTENT_FNV, "PHP's Memcache 8, consistent strategy, fnv").keys(Pecl),
];

const fn enyim(hash: Hash) -> Parts {
    (hash, Spread::EnyimKetama(hash), Walk::Eject)
}

const ENYIM_DEFAULT: Parts = (Hash::Fnv1a32FromZero, Spread::EnyimDefault, Walk::Eject);

#[rustfmt::skip]
const ENYIM: &[Row] = &[
    Row::new(Enyim, "enyim/default", ENYIM_DEFAULT, "EnyimMemcached, DefaultNodeLocator"),
    Row::new(Enyim, "enyim/ketama/md5", enyim(Hash::Md5), "EnyimMemcached, KetamaNodeLocator, md5 (its default)"),
    #[cfg(feature = "sha1")]
    Row::new(Enyim, "enyim/ketama/sha1", enyim(Hash::Sha1), "EnyimMemcached, KetamaNodeLocator, sha1"),
    #[cfg(feature = "tiger")]
    Row::new(Enyim, "enyim/ketama/tiger", enyim(Hash::Tiger), "EnyimMemcached, KetamaNodeLocator, tiger").proof(Source),
    Row::new(Enyim, "enyim/ketama/crc", enyim(Hash::NewCompat), "EnyimMemcached, KetamaNodeLocator, crc"),
    Row::new(Enyim, "enyim/ketama/fnv1-32", enyim(Hash::Fnv1_32), "EnyimMemcached, KetamaNodeLocator, fnv1_32"),
    Row::new(Enyim, "enyim/ketama/fnv1-64", enyim(Hash::Fnv1a32), "EnyimMemcached, KetamaNodeLocator, fnv1_64 (in truth FNV-1a of 32 bits)"),
    Row::new(Enyim, "enyim/ketama/fnv1a-32", enyim(Hash::Fnv1_64), "EnyimMemcached, KetamaNodeLocator, fnv1a_32 (in truth FNV-1 of 64 bits)").proof(Source),
    Row::new(Enyim, "enyim/ketama/fnv1a-64", enyim(Hash::Fnv1a64), "EnyimMemcached, KetamaNodeLocator, fnv1a_64").proof(Source),
    Row::new(Enyim, "enyim/ketama/murmur", enyim(Hash::Murmur2), "EnyimMemcached, KetamaNodeLocator, murmur"),
    Row::new(Enyim, "enyim/ketama/oneatatime", enyim(Hash::Zero), "EnyimMemcached, KetamaNodeLocator, oneatatime (in truth all keys on the last server)").proof(Source),
];

const fn spy(hash: Hash) -> Parts {
    (hash, Spread::Modulo, Walk::InOrder)
}

const SPY_RING: Parts = (Hash::Md5, Spread::SpyRing, Walk::SpyAddHash);
const SPY_LIBMEMCACHED: Parts = (Hash::Md5, Spread::SpyLibmemcachedRing, Walk::SpyAddHash);

#[rustfmt::skip]
const SPYMEMCACHED: &[Row] = &[
    Row::new(Spymemcached, "spymemcached/arraymod/native", spy(Hash::JavaStringUnsigned), "spymemcached, ArrayModNodeLocator, NATIVE_HASH (its default)"),
    Row::new(Spymemcached, "spymemcached/arraymod/crc", spy(Hash::NewCompat), "spymemcached, ArrayModNodeLocator, CRC_HASH"),
    Row::new(Spymemcached, "spymemcached/arraymod/fnv1-32", spy(Hash::Utf16Fnv1_32), "spymemcached, ArrayModNodeLocator, FNV1_32_HASH"),
    Row::new(Spymemcached, "spymemcached/arraymod/fnv1a-32", spy(Hash::Utf16Fnv1a32), "spymemcached, ArrayModNodeLocator, FNV1A_32_HASH"),
    Row::new(Spymemcached, "spymemcached/arraymod/fnv1-64", spy(Hash::Utf16Fnv1_64), "spymemcached, ArrayModNodeLocator, FNV1_64_HASH"),
    Row::new(Spymemcached, "spymemcached/arraymod/fnv1a-64", spy(Hash::Utf16Fnv1a64), "spymemcached, ArrayModNodeLocator, FNV1A_64_HASH"),
    Row::new(Spymemcached, "spymemcached/arraymod/ketama", spy(Hash::Md5), "spymemcached, ArrayModNodeLocator, KETAMA_HASH"),
    Row::new(Spymemcached, "spymemcached/ketama", SPY_RING, "spymemcached, KetamaNodeLocator; servers as ip:port or name/ip:port, IPv4"),
    Row::new(Spymemcached, "spymemcached/ketama-libmemcached", SPY_LIBMEMCACHED, "spymemcached, KetamaNodeLocator with names in libmemcached's format"),
];

const PERL_DEFAULT: Parts = (Hash::NewCompat, Spread::Buckets, Walk::PerlAddHash);
const PERL_FAST: Parts = (Hash::NewCompat, Spread::Buckets, Walk::None);
const PERL_FAST_RING: Parts = (
    Hash::Crc32,
    Spread::PerlFastRing { points: 150 },
    Walk::None,
);

#[rustfmt::skip]
const PERL: &[Row] = &[
    Row::new(PerlCacheMemcached, "perl-cache-memcached/default", PERL_DEFAULT, "Perl's Cache::Memcached"),
    Row::new(PerlCacheMemcachedFast, "perl-cache-memcached-fast/standard", PERL_FAST, "Perl's Cache::Memcached::Fast"),
    Row::new(PerlCacheMemcachedFast, "perl-cache-memcached-fast/ketama-150", PERL_FAST_RING, "Perl's Cache::Memcached::Fast with 150 ketama_points"),
];

const PYTHON_DEFAULT: Parts = (Hash::NewCompat, Spread::Buckets, Walk::PythonRehash);
const PYTHON_1_59: Parts = (Hash::PeclCrc32, Spread::Buckets, Walk::PythonRehash);
const PYMEMCACHE: Parts = (Hash::Crc32, Spread::Rendezvous, Walk::Eject);

#[rustfmt::skip]
const PYTHON: &[Row] = &[
    Row::new(PythonMemcached, "python-memcached/default", PYTHON_DEFAULT, "Python's python-memcached"),
    Row::new(Pymemcache, "pymemcache/default", PYMEMCACHE, "Python's pymemcache, HashClient"),
    Row::new(PythonMemcached, "python-memcached/default+1.59", PYTHON_1_59, "python-memcached 1.58 and 1.59: a hash of 0 counts as 1").proof(Source),
];

#[cfg(feature = "sha1")]
#[rustfmt::skip]
const DALLI: &[Row] = &[
    Row::new(super::row::Family::Dalli, "dalli/default", (Hash::Crc32, Spread::DalliRing, Walk::DalliRehash), "Ruby's Dalli").proof(Computed),
];

#[rustfmt::skip]
const GOMEMCACHE: &[Row] = &[
    Row::new(Gomemcache, "gomemcache/default", (Hash::Crc32, Spread::Modulo, Walk::None), "Go's gomemcache").proof(Source),
];
