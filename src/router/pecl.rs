//! The ring of pecl-memcache, cut into buckets. It does not know how keys are hashed.

use super::Placement;
use super::buckets::{self, Remainder};
use super::names::PointNames;
use super::ring::Points;
use crate::error::Result;
use crate::hash::Hash;
use crate::server::ServerAddr;

/// Points per unit of weight (pecl-memcache `memcache_consistent_hash.c`, `MMC_CONSISTENT_POINTS`).
const POINTS: u64 = 160;

/// Buckets into which the ring is cut (`MMC_CONSISTENT_BUCKETS`).
const BUCKETS: u32 = 1024;

/// `hash(host:port-i)` for i below 160 times the weight; bucket b belongs to the first point at or after its b-th part of the circle.
pub(super) fn consistent(servers: &[ServerAddr], hash: Hash) -> Result<Box<dyn Placement>> {
    let weights = servers
        .iter()
        .map(|server| u64::from(server.weight().unwrap_or(1)));
    let mut points = Points::with_capacity(weights.clone().map(|weight| weight * POINTS).sum())?;
    for (number, weight) in weights.enumerate() {
        let mut names = PointNames::new(&name(&servers[number]), "-");
        for point in 0..POINTS * weight {
            points.push(hash.hash_32(names.numbered(point)), number);
        }
    }
    let owners = points.buckets(BUCKETS, u32::MAX / BUCKETS)?;
    buckets::placed(owners, Remainder::Euclidean)
}

/// The port is always written; that of a unix socket is 0.
fn name(server: &ServerAddr) -> String {
    match server.port() {
        // An IPv6 address is configured, and hashed, in brackets.
        Some(port) if server.host().contains(':') => format!("[{}]:{port}", server.host()),
        Some(port) => format!("{}:{port}", server.host()),
        None => format!("unix://{}:0", server.host()),
    }
}
