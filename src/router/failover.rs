//! The walks to another server after the first choice failed. It does not know why a server failed.

use std::fmt;

use super::Router;
use super::ejection::Eject;
use super::redraw::{Draw, Redraw, Suffixed};
use super::rehash::Rehash;

/// Draws after the first one (Cache::Memcached 1.30 `Memcached.pm`, `get_sock`: 20 tries in all).
const PERL_REDRAWS: usize = 19;

/// Draws after the first one (python-memcached 1.62 `memcache.py`, `_SERVER_RETRIES`: 10 in all).
const PYTHON_REDRAWS: usize = 9;

/// Draws after the first one (Dalli 3.0.6 `ring.rb`, `server_from_continuum`: 20 tries in all).
const DALLI_REDRAWS: usize = 19;

/// Draws after the first one (spymemcached 2.12.3 `KetamaNodeLocator.java`, `getSequence`: 7 in all).
const SPY_REDRAWS: usize = 6;

/// Draws after the first one (pecl-memcache `memcache.c`, `memcache.max_failover_attempts`).
const PECL_REDRAWS: usize = 20;

/// The way to another server when the first choice fails. Open to users.
pub trait FailoverWalk: fmt::Debug + Send + Sync {
    /// Begins the walk of one call. Not called while the first choice answers.
    fn start<'a>(&'a self, failed: FirstChoice<'a>) -> Box<dyn NextServer + 'a>;

    /// Begins the walk of one call when the servers in `gone`, ascending, are known to have failed before it; its first
    /// server is then the first to be tried. `None`, the default: their failure changes nothing for the keys of the others.
    fn start_without<'a>(
        &'a self,
        _first: FirstChoice<'a>,
        _gone: Vec<usize>,
    ) -> Option<Box<dyn NextServer + 'a>> {
        None
    }
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
    /// order in which they are configured, after two million rehashes in all.
    RehashServers,
    /// The Java client's 1.x line: the same over buckets, so that a server is tried as often as its weight says. After the
    /// n-th failure the numbers begin at n. The remaining buckets follow in order after two million rehashes in all.
    RehashBuckets,
    /// memcacheddotnet (`SockIOPool.cs`, `GetSock`): adds the hash of `1key`, `2key`, … to the hash, once for each bucket.
    /// It may draw a dead server again, and end while others live.
    AddHashPerBucket,
    /// Perl's Cache::Memcached: the same, 20 tries in all.
    PerlAddHash,
    /// The 2.x line of pecl-memcache: the same, 20 tries after the first.
    PeclAddHash,
    /// pecl-memcache 8: hashes `key-0`, `key-1`, … until that leads to a server that has not failed, 20 times at most.
    #[doc(alias = "memcache.max_failover_attempts")]
    PeclSuffix,
    /// spymemcached on a ring (`KetamaIterator.java`): adds the hash of `0key`, `1key`, … to the hash, 7 tries in all.
    SpyAddHash,
    /// The servers in order, from the first choice on, each once: spymemcached without a ring (`ArrayModNodeLocator.java`, `getSequence`).
    InOrder,
    /// python-memcached: hashes the last hash and a number, both in decimal, 10 tries in all.
    PythonRehash,
    /// Dalli: hashes `0key`, `1key`, …, 20 tries in all.
    DalliRehash,
    /// The servers that failed leave the list, and the rest are placed anew: libmemcached with `REMOVE_FAILED_SERVERS`, Enyim, pymemcache.
    ///
    /// Where weights differ this moves keys between the servers that remain, too: on libmemcached's weighted ring the
    /// number of a server's points goes by its share of the weights of those in the ring.
    Eject,
}

impl FailoverWalk for Walk {
    fn start<'a>(&'a self, failed: FirstChoice<'a>) -> Box<dyn NextServer + 'a> {
        let redraw = |draw, first, redraws| Box::new(Redraw::new(failed, draw, first, redraws));
        match self {
            Walk::None => Box::new(Nowhere),
            Walk::RehashServers => Box::new(Rehash::servers(failed)),
            Walk::RehashBuckets => Box::new(Rehash::buckets(failed)),
            Walk::AddHashPerBucket => redraw(Draw::Add, 1, failed.router().placement().slots()),
            Walk::PerlAddHash => redraw(Draw::Add, 1, PERL_REDRAWS),
            Walk::PeclAddHash => redraw(Draw::Add, 1, PECL_REDRAWS),
            Walk::PeclSuffix => Box::new(Suffixed::new(failed, PECL_REDRAWS)),
            Walk::SpyAddHash => redraw(Draw::Add, 0, SPY_REDRAWS),
            Walk::InOrder => Box::new(InOrder::new(failed)),
            Walk::PythonRehash => redraw(Draw::Chain, 0, PYTHON_REDRAWS),
            Walk::DalliRehash => redraw(Draw::Anew, 0, DALLI_REDRAWS),
            Walk::Eject => Box::new(Eject::new(failed, vec![failed.server()])),
        }
    }

    fn start_without<'a>(
        &'a self,
        first: FirstChoice<'a>,
        gone: Vec<usize>,
    ) -> Option<Box<dyn NextServer + 'a>> {
        match self {
            Walk::Eject => Some(Box::new(Eject::new(first, gone))),
            _ => None,
        }
    }
}

struct Nowhere;

impl NextServer for Nowhere {
    fn next(&mut self, _expired: &mut dyn FnMut() -> bool) -> Option<usize> {
        None
    }
}

struct InOrder {
    servers: usize,
    first: usize,
    tried: usize,
}

impl InOrder {
    fn new(failed: FirstChoice<'_>) -> Self {
        Self {
            servers: failed.router().servers().len(),
            first: failed.server(),
            tried: 1,
        }
    }
}

impl NextServer for InOrder {
    fn next(&mut self, _expired: &mut dyn FnMut() -> bool) -> Option<usize> {
        if self.tried >= self.servers {
            return None;
        }
        let server = (self.first + self.tried) % self.servers;
        self.tried += 1;
        Some(server)
    }
}
