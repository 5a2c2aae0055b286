//! The walks to another server after the first choice failed. It does not know why a server failed.

use std::fmt;

use super::Router;
use super::rehash::{RehashBuckets, RehashServers};

/// The way to another server when the first choice fails. Open to users.
pub trait FailoverWalk: fmt::Debug + Send + Sync {
    /// Begins the walk of one call. Not called while the first choice answers.
    fn start<'a>(&'a self, failed: FirstChoice<'a>) -> Box<dyn NextServer + 'a>;
}

/// The walk of one call. It is asked for a server after each one that failed.
pub trait NextServer {
    /// The number of the next server to try; `None` ends the call. It may name a server again; the pool does not ask that one again.
    ///
    /// A walk that computes for long asks `expired` now and then, and ends when it says true.
    fn next(&mut self, expired: &mut dyn FnMut() -> bool) -> Option<usize>;
}

/// The choice that failed: where a walk starts.
#[derive(Clone, Copy)]
pub struct FirstChoice<'a> {
    router: &'a Router,
    key: &'a [u8],
    hash: i64,
    slot: usize,
}

impl<'a> FirstChoice<'a> {
    pub(super) fn new(router: &'a Router, key: &'a [u8], hash: i64, slot: usize) -> Self {
        Self {
            router,
            key,
            hash,
            slot,
        }
    }

    /// The servers, their slots and the hash function.
    pub fn router(&self) -> &'a Router {
        self.router
    }

    /// The key that was hashed.
    pub fn key(&self) -> &'a [u8] {
        self.key
    }

    /// The hash of the key, or the one that the caller gave in its place.
    pub fn hash(&self) -> i64 {
        self.hash
    }

    /// The slot to which the hash led.
    pub fn slot(&self) -> usize {
        self.slot
    }

    /// The server that owns the slot.
    pub fn server(&self) -> usize {
        self.router.placement().server(self.slot)
    }
}

/// Shows where the choice led, never the key.
impl fmt::Debug for FirstChoice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FirstChoice")
            .field("hash", &self.hash)
            .field("slot", &self.slot)
            .finish_non_exhaustive()
    }
}

/// The failover walks of the clients in [`Compat`](crate::Compat)'s table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Walk {
    /// A key whose server fails is not tried elsewhere.
    None,
    /// The Java client since 2.0 (whalin `SockIOPool.java`, `getSock`): hashes `0key`, `1key`, … until that leads to a server not yet
    /// tried; begins at 0 again after every failure. Servers of weight 0 are never tried.
    ///
    /// The original rehashes for ever where no number leads to such a server. Here the remaining servers follow in the
    /// order in which they are configured, after two million rehashes in vain.
    RehashServers,
    /// The Java client's 1.x line: the same over buckets, so that a server is tried as often as its weight says. After the
    /// n-th failure the numbers begin at n.
    RehashBuckets,
}

impl FailoverWalk for Walk {
    fn start<'a>(&'a self, failed: FirstChoice<'a>) -> Box<dyn NextServer + 'a> {
        match self {
            Walk::None => Box::new(Nowhere),
            Walk::RehashServers => Box::new(RehashServers::new(failed)),
            Walk::RehashBuckets => Box::new(RehashBuckets::new(failed)),
        }
    }
}

struct Nowhere;

impl NextServer for Nowhere {
    fn next(&mut self, _expired: &mut dyn FnMut() -> bool) -> Option<usize> {
        None
    }
}
