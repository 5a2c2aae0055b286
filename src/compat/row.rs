//! What one row of the compat table holds.

use crate::hash::Hash;
use crate::key::KeyTransform;
use crate::router::{Spread, Walk};

/// What an entry of the table rests on. The strongest proof that it has is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Proof {
    /// Its placements were captured from the running client and are compared key by key.
    Captured,
    /// It is compared key by key with an independent implementation of the published algorithm.
    Computed,
    /// It follows the client's source; no data were captured for it.
    Source,
}

/// A client with all its algorithms: what does not depend on the algorithm hangs on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// The Java client, 2.x and 3.x.
    Whalin,
    /// The Java client, 1.x.
    Whalin1,
    /// The .NET port of the Java client.
    MemcachedDotNet,
    /// PHP's `Memcache`.
    PeclMemcache,
    /// libmemcached, and with it PHP's `Memcached`, pylibmc and others.
    Libmemcached,
    /// The .NET client EnyimMemcached.
    Enyim,
    /// The Java client spymemcached.
    Spymemcached,
    /// Perl's Cache::Memcached.
    PerlCacheMemcached,
    /// Perl's Cache::Memcached::Fast.
    PerlCacheMemcachedFast,
    /// Python's python-memcached.
    PythonMemcached,
    /// Python's pymemcache.
    Pymemcache,
    /// Ruby's Dalli.
    #[cfg(feature = "sha1")]
    Dalli,
    /// Go's gomemcache.
    Gomemcache,
}

impl Family {
    /// See [`Compat::hashes_prefix`](super::Compat::hashes_prefix).
    pub(super) fn hashes_prefix(self) -> bool {
        match self {
            // Know no prefix.
            Family::Whalin
            | Family::Whalin1
            | Family::MemcachedDotNet
            | Family::Enyim
            | Family::Spymemcached
            | Family::Gomemcache => true,
            // Hash what they send.
            Family::PeclMemcache | Family::PythonMemcached => true,
            #[cfg(feature = "sha1")]
            Family::Dalli => true,
            // libmemcached does with HASH_WITH_PREFIX_KEY, Cache::Memcached::Fast with hash_namespace.
            Family::Libmemcached
            | Family::PerlCacheMemcached
            | Family::PerlCacheMemcachedFast
            | Family::Pymemcache => false,
        }
    }
}

pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) family: Family,
    pub(super) hash: Hash,
    pub(super) spread: Spread,
    pub(super) walk: Walk,
    pub(super) keys: KeyTransform,
    pub(super) proof: Proof,
    /// The names of the row with each of [`Program::ALL`](super::program::Program::ALL).
    pub(super) programs: Option<[&'static str; 2]>,
}

impl Row {
    /// A row of captured data that sends keys as they are.
    pub(super) const fn new(
        family: Family,
        name: &'static str,
        (hash, spread, walk): (Hash, Spread, Walk),
        about: &'static str,
    ) -> Self {
        Self {
            name,
            about,
            family,
            hash,
            spread,
            walk,
            keys: KeyTransform::Raw,
            proof: Proof::Captured,
            programs: None,
        }
    }

    pub(super) const fn keys(mut self, keys: KeyTransform) -> Self {
        self.keys = keys;
        self
    }

    pub(super) const fn programs(mut self, names: [&'static str; 2]) -> Self {
        self.programs = Some(names);
        self
    }

    pub(super) const fn proof(mut self, proof: Proof) -> Self {
        self.proof = proof;
        self
    }
}
