//! The distributions of the known clients, by name. It does not know how keys are hashed.

use super::buckets::{self, Remainder};
use super::continuum::{self, SpyName};
use super::libmemcached::{self, Ketama};
use super::{Distribution, Placement, enyim, pecl, perl_fast, rendezvous};
use crate::error::Result;
use crate::hash::Hash;
use crate::server::ServerAddr;

/// The distributions of the clients in [`Compat`](crate::Compat)'s table.
///
/// A server without a weight weighs 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Spread {
    /// One bucket per unit of weight, found by the remainder, never negative: pecl-memcache, Perl's
    /// Cache::Memcached and Cache::Memcached::Fast, python-memcached.
    Buckets,
    /// One bucket per unit of weight; the absolute value of Java's remainder (whalin `SockIOPool.java`, `populateBuckets`).
    JavaBuckets,
    /// One bucket per unit of weight; a hash that wraps in 32 bits (memcacheddotnet `SockIOPool.cs`).
    DotNetBuckets,
    /// The same, as the list has grown when memcacheddotnet has opened its first connections: its search by halves in a list that
    /// is not sorted misses servers and appends them again. Servers in ascending order stay exact.
    DotNetLiveBuckets {
        /// Connections opened to each server at the start: `InitConnections`, 3 by default.
        connections: u32,
    },
    /// One bucket per server, weights are ignored: libmemcached's `MODULA`, spymemcached's array, gomemcache.
    #[doc(alias = "DISTRIBUTION_MODULA")]
    Modulo,
    /// The same over servers sorted by host and port: libmemcached with `SORT_HOSTS`.
    #[doc(alias = "OPT_SORT_HOSTS")]
    SortedModulo,
    /// One bucket per server, found by the low bits of the hash; weights are ignored: libmemcached's `VIRTUAL_BUCKET` without a map.
    #[doc(alias = "DISTRIBUTION_VIRTUAL_BUCKET")]
    VirtualBuckets,
    /// The Java client's ring: 160 points per server at equal weights, from MD5 of `name-j`
    /// (whalin `SockIOPool.java`, `populateConsistentBuckets`).
    #[doc(alias = "CONSISTENT_HASH")]
    WhalinRing,
    /// A ring of libmemcached.
    #[doc(alias = "DISTRIBUTION_CONSISTENT")]
    Libmemcached {
        /// Which one.
        ketama: Ketama,
        /// The hash of an unweighted ring's points; a weighted one has MD5's.
        points: Hash,
        /// Whether servers are sorted by host and port (`SORT_HOSTS`). Decides who owns a point that two claim.
        sorted: bool,
    },
    /// pecl-memcache's `consistent` strategy: 160 points per unit of weight, cut into 1024 buckets.
    PeclConsistent(Hash),
    /// Cache::Memcached::Fast with `ketama_points`: as many points per unit of weight, chained CRC-32.
    PerlFastRing {
        /// `ketama_points`.
        points: u32,
    },
    /// spymemcached's ring: 160 points per server, from MD5 of `ip:port-j`, or of `name/ip:port-j` where the client was given a name;
    /// weights are not used. Takes IPv4 addresses, and names with theirs: [`ServerAddr`].
    SpyRing,
    /// spymemcached's ring with libmemcached's names: the port 11211 is left out.
    SpyLibmemcachedRing,
    /// Enyim's default locator: 100 points per server, FNV-1a of `ip:port-i`; weights are not used. Takes IP addresses, and names with theirs.
    #[doc(alias = "DefaultNodeLocator")]
    EnyimDefault,
    /// Enyim's ketama locator with this hash: 160 points per server; weights are not used. Takes IP addresses, and names with theirs.
    #[doc(alias = "KetamaNodeLocator")]
    EnyimKetama(Hash),
    /// Dalli's ring: 160 points per server at equal weights, from SHA-1 of `host:port:i`.
    #[cfg(feature = "sha1")]
    DalliRing,
    /// pymemcache's rendezvous: the highest MurmurHash3 of `host:port-key`; weights are not used.
    Rendezvous,
}

impl Distribution for Spread {
    fn place(&self, servers: &[ServerAddr]) -> Result<Box<dyn Placement>> {
        match *self {
            Spread::Buckets => buckets::weighted(servers, Remainder::Euclidean),
            Spread::JavaBuckets => buckets::weighted(servers, Remainder::Absolute),
            Spread::DotNetBuckets => buckets::weighted(servers, Remainder::Euclidean32),
            Spread::DotNetLiveBuckets { connections } => {
                buckets::live(servers, connections, Remainder::Euclidean32)
            }
            Spread::Modulo => libmemcached::modula(servers, false),
            Spread::SortedModulo => libmemcached::modula(servers, true),
            Spread::VirtualBuckets => buckets::single(0..servers.len(), Remainder::Mask),
            Spread::WhalinRing => continuum::whalin(servers),
            Spread::Libmemcached {
                ketama,
                points,
                sorted,
            } => {
                let weighted = libmemcached::is_weighted(servers, ketama);
                libmemcached::ring(servers, ketama, points, (sorted, weighted))
            }
            Spread::PeclConsistent(hash) => pecl::consistent(servers, hash),
            Spread::PerlFastRing { points } => perl_fast::ring(servers, points),
            Spread::SpyRing => continuum::spymemcached(servers, SpyName::Own),
            Spread::SpyLibmemcachedRing => continuum::spymemcached(servers, SpyName::Libmemcached),
            Spread::EnyimDefault => enyim::default(servers),
            Spread::EnyimKetama(hash) => enyim::ketama(servers, hash),
            #[cfg(feature = "sha1")]
            Spread::DalliRing => continuum::dalli(servers),
            Spread::Rendezvous => rendezvous::pymemcache(servers),
        }
    }

    fn place_rest(&self, servers: &[ServerAddr], rest: &[usize]) -> Result<Box<dyn Placement>> {
        let left: Vec<ServerAddr> = rest.iter().map(|server| servers[*server].clone()).collect();
        match *self {
            // A ring that was weighted stays so when the server whose weight made it so has left.
            Spread::Libmemcached {
                ketama,
                points,
                sorted,
            } => {
                let weighted = libmemcached::is_weighted(servers, ketama);
                libmemcached::ring(&left, ketama, points, (sorted, weighted))
            }
            _ => self.place(&left),
        }
    }
}
