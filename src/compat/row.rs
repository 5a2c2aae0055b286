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
}

impl Family {
    /// See [`Compat::hashes_prefix`](super::Compat::hashes_prefix).
    pub(super) fn hashes_prefix(self) -> bool {
        match self {
            Family::Whalin | Family::Whalin1 => true,
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
        }
    }

    pub(super) const fn keys(mut self, keys: KeyTransform) -> Self {
        self.keys = keys;
        self
    }
}
