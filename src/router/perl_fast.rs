//! The ring of Perl's Cache::Memcached::Fast. It does not know how keys are hashed.

use super::Placement;
use super::ring::{Points, Seek, Tie};
use crate::error::Result;
use crate::server::ServerAddr;

/// `points` times the weight for each server, each the CRC-32 of the server's text and the point before it
/// (Cache::Memcached::Fast 0.28 `dispatch_key.c`, `ketama_crc32_add_server`).
pub(super) fn ring(servers: &[ServerAddr], points_each: u32) -> Result<Box<dyn Placement>> {
    let counts = servers
        .iter()
        .map(|server| u64::from(points_each) * u64::from(server.weight().unwrap_or(1)));
    let mut points = Points::with_capacity(counts.clone().sum())?;
    for (number, count) in counts.enumerate() {
        let server = &servers[number];
        let port = server.port().map_or(String::new(), |port| port.to_string());
        let text = crc32fast::hash(format!("{}\0{port}", server.host()).as_bytes());
        let mut point = 0_u32;
        for _ in 0..count {
            let mut crc = crc32fast::Hasher::new_with_initial(text);
            crc.update(&point.to_le_bytes());
            point = crc.finalize();
            points.push(point, number);
        }
    }
    points.ring(Tie::First, Seek::Ceiling)
}
