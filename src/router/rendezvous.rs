//! Rendezvous hashing, as pymemcache does it: the server with the highest score for the key. It knows no ring.

use super::Placement;
use super::names::host_port;
use crate::error::Result;
use crate::hash::murmur3;
use crate::server::ServerAddr;

/// MurmurHash3 of `host:port-key` with the seed 0; weights are not used (pymemcache `rendezvous.py`, `get_node`).
pub(super) fn pymemcache(servers: &[ServerAddr]) -> Result<Box<dyn Placement>> {
    let nodes = servers
        .iter()
        .map(|server| host_port(server).into_boxed_str());
    Ok(Box::new(Rendezvous {
        nodes: nodes.collect(),
    }))
}

#[derive(Debug)]
struct Rendezvous {
    nodes: Box<[Box<str>]>,
}

impl Placement for Rendezvous {
    fn slots(&self) -> usize {
        self.nodes.len()
    }

    /// The hash is not used: each server makes its own.
    fn slot(&self, key: &[u8], _hash: i64) -> usize {
        let scores = self.nodes.iter().map(|node| (score(node, key), node));
        // Of equal scores the greater name wins.
        let winner = scores.enumerate().max_by_key(|(_, score)| *score);
        winner.map_or(0, |(slot, _)| slot)
    }

    fn server(&self, slot: usize) -> usize {
        slot
    }

    fn score(&self, key: &[u8], slot: usize) -> Option<u32> {
        self.nodes.get(slot).map(|node| score(node, key))
    }
}

fn score(node: &str, key: &[u8]) -> u32 {
    murmur3(0, &[node.as_bytes(), b"-", key])
}
