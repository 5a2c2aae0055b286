//! The rings of Enyim. It does not know how keys are hashed.

use std::net::IpAddr;

use super::Placement;
use super::names::PointNames;
use super::ring::{Points, Seek, Tie};
use crate::error::{Error, Result};
use crate::hash::{Hash, md5_words};
use crate::server::ServerAddr;

/// Points per server (Enyim `DefaultNodeLocator.cs`, `ServerAddressMutations`).
const DEFAULT_POINTS: u64 = 100;

/// Points per server (Enyim `KetamaNodeLocator.cs`, `ServerAddressMutations`).
const KETAMA_POINTS: u64 = 160;

/// The default locator: FNV-1a of `ip:port-i`. The hash object of each server is new, and a new one starts from 0.
pub(super) fn default(servers: &[ServerAddr]) -> Result<Box<dyn Placement>> {
    let mut points = Points::with_capacity(DEFAULT_POINTS * servers.len() as u64)?;
    for (number, server) in servers.iter().enumerate() {
        let mut names = PointNames::new(&end_point(server)?, "-");
        for point in 0..DEFAULT_POINTS {
            let hash = match point {
                0 => Hash::Fnv1a32FromZero,
                _ => Hash::Fnv1a32,
            };
            points.push(hash.hash_32(names.numbered(point)), number);
        }
    }
    points.ring(Tie::Last, Seek::CeilingOrLast)
}

/// The ketama locator: as many words as the digest of `ip:port-m` has, until there are 160 points. There is one hash object
/// for all servers, and an FNV-1a one starts from 0 when new.
pub(super) fn ketama(servers: &[ServerAddr], hash: Hash) -> Result<Box<dyn Placement>> {
    let mut points = Points::with_capacity(KETAMA_POINTS * servers.len() as u64)?;
    for (number, server) in servers.iter().enumerate() {
        let mut names = PointNames::new(&end_point(server)?, "-");
        match hash {
            Hash::Md5 => {
                for round in 0..KETAMA_POINTS / 4 {
                    points.extend(md5_words(names.numbered(round)), number);
                }
            }
            #[cfg(feature = "sha1")]
            Hash::Sha1 => {
                for round in 0..KETAMA_POINTS / 5 {
                    points.extend(crate::hash::sha1_words(names.numbered(round)), number);
                }
            }
            #[cfg(feature = "tiger")]
            Hash::Tiger => {
                for round in 0..KETAMA_POINTS / 6 {
                    points.extend(crate::hash::tiger_words(names.numbered(round)), number);
                }
            }
            _ => {
                for round in 0..KETAMA_POINTS {
                    let text = names.numbered(round);
                    let new = (number, round) == (0, 0);
                    points.push(
                        if new {
                            hash.hash_from_zero(text)
                        } else {
                            hash.hash_32(text)
                        },
                        number,
                    );
                }
            }
        }
    }
    points.ring(Tie::Last, Seek::CeilingOrLast)
}

/// What .NET's `IPEndPoint.ToString` writes. The client resolves a name before it builds the ring.
fn end_point(server: &ServerAddr) -> Result<String> {
    match (server.host().parse::<IpAddr>(), server.port()) {
        (Ok(IpAddr::V4(host)), Some(port)) => Ok(format!("{host}:{port}")),
        (Ok(IpAddr::V6(host)), Some(port)) => Ok(format!("[{host}]:{port}")),
        _ => Err(Error::config(format!(
            "{server}: Enyim's ring holds what a host name resolves to; write its IP address"
        ))),
    }
}
