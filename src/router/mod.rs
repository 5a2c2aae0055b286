//! From a key to its server, and to the next one when that fails. Pure: no socket, no clock.

use std::fmt;
use std::sync::Arc;

use crate::error::Result;
use crate::hash::HashingAlg;
use crate::server::ServerAddr;

/// How servers share the keys: makes a [`Placement`] of a list of servers. Open to users.
pub trait Distribution: fmt::Debug + Send + Sync {
    /// Places `servers`, in the order in which they were configured.
    fn place(&self, servers: &[ServerAddr]) -> Result<Box<dyn Placement>>;
}

/// The slots (buckets of a list, points of a ring) over which servers are spread. Open to users.
pub trait Placement: fmt::Debug + Send + Sync {
    /// The number of slots.
    fn slots(&self) -> usize;

    /// The slot, below [`slots`](Self::slots), of a key with this hash.
    fn slot(&self, key: &[u8], hash: i64) -> usize;

    /// The number of the server that owns `slot`, in the order in which they were configured.
    fn server(&self, slot: usize) -> usize;
}
