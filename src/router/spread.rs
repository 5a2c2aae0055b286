//! The distributions of the known clients, by name. It does not know how keys are hashed.

use super::buckets::{self, Remainder};
use super::{Distribution, Placement, continuum};
use crate::error::Result;
use crate::server::ServerAddr;

/// The distributions of the clients in [`Compat`](crate::Compat)'s table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Spread {
    /// One bucket per unit of weight; the absolute value of Java's remainder (whalin `SockIOPool.java`, `populateBuckets`).
    JavaBuckets,
    /// The Java client's ring: 160 points per server at equal weights, from MD5 of `name-j`
    /// (whalin `SockIOPool.java`, `populateConsistentBuckets`).
    #[doc(alias = "CONSISTENT_HASH")]
    WhalinRing,
}

impl Distribution for Spread {
    fn place(&self, servers: &[ServerAddr]) -> Result<Box<dyn Placement>> {
        match self {
            Spread::JavaBuckets => buckets::weighted(servers, Remainder::Absolute),
            Spread::WhalinRing => continuum::whalin(servers),
        }
    }
}
