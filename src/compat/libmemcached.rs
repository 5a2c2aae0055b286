//! The rows of libmemcached, distribution by distribution.

use super::row::Family::Libmemcached;
use super::row::Row;
use crate::hash::Hash;
use crate::router::{Ketama, Spread, Walk};

/// The name of a row, and those under which the programs of [`Program::ALL`](super::program::Program::ALL) go by it.
macro_rules! names {
    ($($part:literal),+) => {
        [concat!($($part),+), concat!($($part,)+ "+php"), concat!($($part,)+ "+pylibmc")]
    };
}

/// One row for each of its hashes that Debian's build has.
macro_rules! each_hash {
    ($path:literal, $parts:path, $about:literal) => {
        each_hash!($path, $parts, $about,
            "default" => Hash::OneAtATime,
            "md5" => Hash::Md5,
            "crc" => Hash::NewCompat,
            "fnv1-64" => Hash::SignedFnv1_64,
            "fnv1a-64" => Hash::SignedFnv1a64,
            "fnv1-32" => Hash::SignedFnv1_32,
            "fnv1a-32" => Hash::SignedFnv1a32,
            "murmur" => Hash::Murmur2,
            "jenkins" => Hash::Lookup3,
            "murmur3" => Hash::Murmur3
        )
    };
    ($path:literal, $parts:path, $about:literal, $($name:literal => $hash:expr),+) => {
        &[$(row(
            names!("libmemcached/", $path, "/", $name),
            $parts($hash),
            concat!("libmemcached (PHP's Memcached), ", $about, ", hash ", $name),
        )),+]
    };
}

pub(super) const MODULA: &[Row] = each_hash!("modula", modula, "MODULA");
pub(super) const CONSISTENT: &[Row] = each_hash!("consistent", consistent, "CONSISTENT");
pub(super) const SPY: &[Row] = each_hash!("consistent-ketama-spy", spy, "CONSISTENT_KETAMA_SPY");
pub(super) const VIRTUAL_BUCKET: &[Row] =
    each_hash!("virtual-bucket", virtual_bucket, "VIRTUAL_BUCKET");

pub(super) const OTHERS: &[Row] = &[
    row(
        names!("libmemcached/ketama-weighted"),
        weighted(Hash::Md5),
        "libmemcached (PHP's Memcached), LIBKETAMA_COMPATIBLE",
    ),
    then_hash(
        names!("libmemcached/ketama-weighted-then-hash/default"),
        Hash::OneAtATime,
    ),
    then_hash(
        names!("libmemcached/ketama-weighted-then-hash/crc"),
        Hash::NewCompat,
    ),
    then_hash(
        names!("libmemcached/ketama-weighted-then-hash/fnv1a-32"),
        Hash::SignedFnv1a32,
    ),
    servers_first(
        names!("libmemcached/servers-then-consistent/default"),
        Hash::OneAtATime,
    ),
    servers_first(
        names!("libmemcached/servers-then-consistent/md5"),
        Hash::Md5,
    ),
    row(
        names!("libmemcached/modula+sort-hosts/default"),
        sorted_modula(Hash::OneAtATime),
        "libmemcached (PHP's Memcached), MODULA with SORT_HOSTS, hash default",
    ),
    row(
        names!("libmemcached/modula+sort-hosts/md5"),
        sorted_modula(Hash::Md5),
        "libmemcached (PHP's Memcached), MODULA with SORT_HOSTS, hash md5",
    ),
    row(
        names!("libmemcached/consistent+sort-hosts/default"),
        sorted_ring(Ketama::Consistent, Hash::OneAtATime),
        "libmemcached (PHP's Memcached), CONSISTENT with SORT_HOSTS, hash default",
    ),
    row(
        names!("libmemcached/consistent+sort-hosts/md5"),
        sorted_ring(Ketama::Consistent, Hash::Md5),
        "libmemcached (PHP's Memcached), CONSISTENT with SORT_HOSTS, hash md5",
    ),
    row(
        names!("libmemcached/ketama-weighted+sort-hosts"),
        sorted_ring(Ketama::Weighted, Hash::Md5),
        "libmemcached (PHP's Memcached), LIBKETAMA_COMPATIBLE with SORT_HOSTS",
    ),
];

type Parts = (Hash, Spread, Walk);
type Names = [&'static str; 3];

const fn row([name, php, pylibmc]: Names, parts: Parts, about: &'static str) -> Row {
    Row::new(Libmemcached, name, parts, about).programs([php, pylibmc])
}

const fn modula(hash: Hash) -> Parts {
    (hash, Spread::Modulo, Walk::None)
}

const fn virtual_bucket(hash: Hash) -> Parts {
    (hash, Spread::VirtualBuckets, Walk::None)
}

const fn consistent(hash: Hash) -> Parts {
    ring(Ketama::Consistent, hash, false)
}

const fn spy(hash: Hash) -> Parts {
    ring(Ketama::Spy, hash, false)
}

const fn weighted(hash: Hash) -> Parts {
    ring(Ketama::Weighted, hash, false)
}

const fn sorted_modula(hash: Hash) -> Parts {
    (hash, Spread::SortedModulo, Walk::None)
}

const fn sorted_ring(ketama: Ketama, hash: Hash) -> Parts {
    ring(ketama, hash, true)
}

const fn ring(ketama: Ketama, points: Hash, sorted: bool) -> Parts {
    let spread = Spread::Libmemcached {
        ketama,
        points,
        sorted,
    };
    (points, spread, Walk::Eject)
}

const fn then_hash(names: Names, hash: Hash) -> Row {
    let about = "libmemcached (PHP's Memcached), LIBKETAMA_COMPATIBLE, then OPT_HASH";
    row(names, weighted(hash), about)
}

const fn servers_first(names: Names, hash: Hash) -> Row {
    let about =
        "libmemcached (PHP's Memcached), CONSISTENT set after the servers: weights are ignored";
    row(names, ring(Ketama::Unweighted, hash, false), about)
}
