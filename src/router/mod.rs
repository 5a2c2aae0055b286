//! From a key to its server, and to the next one when that fails. Pure: no socket, no clock.

mod buckets;
mod candidates;
mod continuum;
mod ejection;
mod enyim;
mod failover;
mod libmemcached;
mod names;
mod numbered;
mod pecl;
mod perl_fast;
mod redraw;
mod rehash;
mod rendezvous;
mod ring;
mod spread;

pub use candidates::{Candidates, Walked};
pub use failover::{FailoverWalk, FirstChoice, NextServer, Walk};
pub use libmemcached::Ketama;
pub use spread::Spread;

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::hash::HashingAlg;
use crate::server::ServerAddr;
use ejection::{KeptSurvivors, Survivors};

/// How servers share the keys: makes a [`Placement`] of a list of servers. Open to users.
#[doc(alias = "setBucket")]
#[doc(alias = "IMemcachedNodeLocator")]
pub trait Distribution: fmt::Debug + Send + Sync {
    /// Places `servers`, in the order in which they were configured.
    fn place(&self, servers: &[ServerAddr]) -> Result<Box<dyn Placement>>;

    /// Places those of `servers` whose numbers stand in `rest`, when the others have left the list for a while; they count
    /// from 0 in the placement. Placed like a list of their own, where a client does not still heed those that left.
    fn place_rest(&self, servers: &[ServerAddr], rest: &[usize]) -> Result<Box<dyn Placement>> {
        let rest: Vec<ServerAddr> = rest.iter().map(|server| servers[*server].clone()).collect();
        self.place(&rest)
    }
}

/// The slots (buckets of a list, points of a ring) over which servers are spread. Open to users.
pub trait Placement: fmt::Debug + Send + Sync {
    /// The number of slots.
    fn slots(&self) -> usize;

    /// The slot, below [`slots`](Self::slots), of a key with this hash.
    fn slot(&self, key: &[u8], hash: i64) -> usize;

    /// The number of the server that owns `slot`, in the order in which they were configured.
    fn server(&self, slot: usize) -> usize;

    /// Where `slot` stands on the ring, if the slots stand on one.
    fn point(&self, slot: usize) -> Option<u32> {
        let _ = slot;
        None
    }

    /// What `slot` bids for the key, if the slots compete for each one (rendezvous) and the hash of the key plays no part.
    fn score(&self, key: &[u8], slot: usize) -> Option<u32> {
        let _ = (key, slot);
        None
    }
}

/// The most slots of one list of servers: about 26,000 servers of 160 points each.
pub const MAX_SLOTS: usize = 1 << 22;

/// A list of servers and the rules that find the one for a key.
///
/// Built once for a list, then only read: any number of threads may ask it.
#[doc(alias = "buckets")]
#[doc(alias = "consistentBuckets")]
pub struct Router {
    servers: Box<[ServerAddr]>,
    hashing: Arc<dyn HashingAlg>,
    distribution: Arc<dyn Distribution>,
    placement: Box<dyn Placement>,
    walk: Arc<dyn FailoverWalk>,
    /// Whether a server owns a slot; one of weight 0 may own none.
    placed: Box<[bool]>,
    survivors: KeptSurvivors,
}

impl Router {
    /// Spreads `servers`, in the order in which they are configured.
    ///
    /// # Errors
    /// [`ErrorKind::Config`](crate::ErrorKind::Config) if there is no server, a name stands twice, every weight
    /// is zero, or the weights ask for more than [`MAX_SLOTS`] slots.
    pub fn new(
        servers: Vec<ServerAddr>,
        hashing: Arc<dyn HashingAlg>,
        distribution: Arc<dyn Distribution>,
        walk: Arc<dyn FailoverWalk>,
    ) -> Result<Self> {
        if servers.is_empty() {
            return Err(Error::config("no servers are configured"));
        }
        let mut names = HashSet::new();
        if let Some(twice) = servers.iter().find(|server| !names.insert(server.name())) {
            return Err(Error::config(format!(
                "the server {:?} stands twice in the list: give it a weight instead",
                twice.name()
            )));
        }
        // libmemcached and others take 0 for 1; that nobody has a share is asked for by mistake all the same.
        if servers.iter().all(|server| server.weight() == Some(0)) {
            return Err(Error::config("every server has the weight 0"));
        }
        let placement = distribution.place(&servers)?;
        if placement.slots() == 0 {
            return Err(Error::config("no server has a share of the keys"));
        }
        let mut placed = vec![false; servers.len()].into_boxed_slice();
        for slot in 0..placement.slots() {
            let owner = placed.get_mut(placement.server(slot));
            *owner.ok_or_else(|| {
                Error::config("the distribution names a server that is not in the list")
            })? = true;
        }
        Ok(Self {
            servers: servers.into_boxed_slice(),
            hashing,
            distribution,
            placement,
            walk,
            placed,
            survivors: KeptSurvivors::default(),
        })
    }

    /// The same, built anew: it shares no lock.
    pub(crate) fn again(&self) -> Result<Self> {
        Self::new(
            self.servers.to_vec(),
            Arc::clone(&self.hashing),
            Arc::clone(&self.distribution),
            Arc::clone(&self.walk),
        )
    }

    /// The servers, in the order in which they were configured; every server number counts in it.
    pub fn servers(&self) -> &[ServerAddr] {
        &self.servers
    }

    /// The buckets or points over which the servers are spread.
    pub fn placement(&self) -> &dyn Placement {
        &*self.placement
    }

    /// The hash of a key.
    pub fn hash(&self, key: &[u8]) -> i64 {
        self.hashing.hash(key)
    }

    /// The slot where a key's own hash leads.
    #[doc(alias = "getBucket")]
    pub fn slot(&self, key: &[u8]) -> usize {
        self.placement.slot(key, self.hash(key))
    }

    /// Whether the server owns a slot: no key leads to one that does not.
    pub fn is_placed(&self, server: usize) -> bool {
        self.placed.get(server).is_some_and(|placed| *placed)
    }

    /// The server of a key; `given_hash` stands in for the hash of the key.
    #[inline]
    pub fn first(&self, hashed_key: &[u8], given_hash: Option<i64>) -> usize {
        if self.servers.len() == 1 {
            return 0;
        }
        let slot = self.choose(hashed_key, given_hash).slot();
        self.placement.server(slot)
    }

    /// The server of a key with this hash when the servers in `gone` leave the list and the rest are placed anew.
    ///
    /// `gone` is ascending. `None` if no server is left. The placements asked for last are kept, so that a server that stays away
    /// costs one.
    pub fn first_without(&self, gone: &[usize], hashed_key: &[u8], hash: i64) -> Option<usize> {
        let survivors = self.survivors.get(gone, || self.place_without(gone))?;
        survivors.server(hashed_key, hash)
    }

    /// The servers to try for a key: the first choice, then those where the failover walk leads.
    ///
    /// Nothing is computed before it is asked for.
    #[doc(alias = "getSock")]
    pub fn candidates<'a>(
        &'a self,
        hashed_key: &'a [u8],
        given_hash: Option<i64>,
    ) -> Candidates<'a> {
        Candidates::new(self, hashed_key, given_hash, Vec::new())
    }

    /// The servers to try for a key when those in `gone`, ascending, are known to have failed: clients whose failed servers
    /// leave the list begin with another one. For the others this is the same as [`candidates`](Self::candidates), and may name a server in `gone`.
    pub fn candidates_without<'a>(
        &'a self,
        hashed_key: &'a [u8],
        given_hash: Option<i64>,
        gone: Vec<usize>,
    ) -> Candidates<'a> {
        Candidates::new(self, hashed_key, given_hash, gone)
    }

    /// What a call does when the servers for which `is_dead` says so are known to be down.
    pub fn walk(
        &self,
        hashed_key: &[u8],
        given_hash: Option<i64>,
        is_dead: impl Fn(usize) -> bool,
    ) -> Walked {
        let gone = (0..self.servers.len()).filter(|server| is_dead(*server));
        let mut candidates = self.candidates_without(hashed_key, given_hash, gone.collect());
        let mut tried = Vec::new();
        while let Some(server) = candidates.next(&mut || false) {
            tried.push(server);
            if !is_dead(server) {
                return Walked {
                    server: Some(server),
                    tried,
                };
            }
        }
        Walked {
            server: None,
            tried,
        }
    }

    fn place_without(&self, gone: &[usize]) -> Option<Survivors> {
        let numbers = (0..self.servers.len()).filter(|number| !gone.contains(number));
        let numbers: Vec<usize> = numbers.collect();
        if numbers.is_empty() {
            return None;
        }
        let placement = self.distribution.place_rest(&self.servers, &numbers).ok()?;
        (placement.slots() > 0).then(|| Survivors::new(numbers, placement))
    }

    /// One server needs no hash: whatever the slot, it is the one.
    fn choose<'a>(&'a self, key: &'a [u8], given_hash: Option<i64>) -> FirstChoice<'a> {
        if self.servers.len() == 1 {
            return FirstChoice::new(self, key, given_hash.unwrap_or(0), 0);
        }
        let hash = given_hash.unwrap_or_else(|| self.hash(key));
        FirstChoice::new(self, key, hash, self.placement.slot(key, hash))
    }
}

impl fmt::Debug for Router {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Router")
            .field("servers", &self.servers)
            .field("hashing", &self.hashing)
            .field("distribution", &self.distribution)
            .field("walk", &self.walk)
            .field("slots", &self.placement.slots())
            .finish_non_exhaustive()
    }
}
