//! The rings of the Java clients. It does not know how keys are hashed.

use std::io::Write;

use super::Placement;
use super::ring::{Points, Seek, Tie};
use crate::error::Result;
use crate::hash::md5_words;
use crate::server::ServerAddr;

/// MD5 digests per server at equal weights, four points each (whalin `SockIOPool.java`, `populateConsistentBuckets`).
const WHALIN_DIGESTS: u64 = 40;

/// `MD5(name-j)`, the name as it is configured, for j below `floor(40·n·weight / total weight)`.
pub(super) fn whalin(servers: &[ServerAddr]) -> Result<Box<dyn Placement>> {
    let weights = servers.iter().map(|server| server.weight().unwrap_or(1));
    let total: u64 = weights.clone().map(u64::from).sum();
    let mut points = Points::with_capacity(4 * WHALIN_DIGESTS * servers.len() as u64)?;
    let mut text = Vec::new();
    for (number, (server, weight)) in servers.iter().zip(weights).enumerate() {
        let share = WHALIN_DIGESTS * servers.len() as u64 * u64::from(weight);
        let digests = (share as f64 / total as f64).floor() as u64;
        for digest in 0..digests {
            text.clear();
            let _ = write!(text, "{}-{digest}", server.name());
            for point in md5_words(&text) {
                points.push(point, number);
            }
        }
    }
    points.ring(Tie::Last, Seek::AtOrAfter)
}
