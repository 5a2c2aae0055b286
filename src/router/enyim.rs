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
/// for all servers, and one of FNV starts from 0 when new.
pub(super) fn ketama(servers: &[ServerAddr], hash: Hash) -> Result<Box<dyn Placement>> {
    if hash == Hash::Zero {
        servers.iter().try_for_each(|it| end_point(it).map(drop))?;
        return Ok(Box::new(OnePoint {
            servers: servers.len(),
        }));
    }
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
            Hash::Fnv1_64 | Hash::Fnv1a64 => {
                for round in 0..KETAMA_POINTS / 2 {
                    let is_new = (number, round) == (0, 0);
                    let whole = hash.hash_64(names.numbered(round), is_new);
                    points.extend([whole as u32, (whole >> 32) as u32], number);
                }
            }
            _ => {
                for round in 0..KETAMA_POINTS {
                    let is_new = (number, round) == (0, 0);
                    points.push(hash.hash_64(names.numbered(round), is_new) as u32, number);
                }
            }
        }
    }
    points.ring(Tie::Last, Seek::CeilingOrLast)
}

/// A ring all of whose points are 0: the server that claimed it last has every key.
///
/// It keeps a slot for each server, as one that fails leaves the ring to the last of the others.
#[derive(Debug)]
struct OnePoint {
    servers: usize,
}

impl Placement for OnePoint {
    fn slots(&self) -> usize {
        self.servers
    }

    fn slot(&self, _key: &[u8], _hash: i64) -> usize {
        self.servers - 1
    }

    fn server(&self, slot: usize) -> usize {
        slot
    }

    fn point(&self, _slot: usize) -> Option<u32> {
        Some(0)
    }
}

/// What .NET's `IPEndPoint.ToString` writes. The client resolves a name before it builds the ring.
fn end_point(server: &ServerAddr) -> Result<String> {
    match (server.ip(), server.port()) {
        (Some(IpAddr::V4(ip)), Some(port)) => Ok(format!("{ip}:{port}")),
        (Some(IpAddr::V6(ip)), Some(port)) => Ok(format!("[{ip}]:{port}")),
        _ => Err(Error::config(format!(
            "{server}: Enyim's ring holds what a host name resolves to; write its IP address, or name/ip:port"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn servers(texts: &[&str]) -> Vec<ServerAddr> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    /// Worked out apart from this crate, from Enyim's `KetamaNodeLocator.cs` and `FnvHash.cs`.
    #[test]
    fn a_hash_of_64_bits_gives_two_points_a_round() {
        let servers = servers(&["10.0.0.1:11211", "10.0.0.2:11211", "cache/10.0.0.3:11311"]);
        for (hash, slots, points, owners) in [
            (
                Hash::Fnv1_64,
                265,
                [251422929, 251423441, 251423697, 251423953],
                "21022122001120101011021002000112",
            ),
            (
                Hash::Fnv1a64,
                480,
                [665000352, 665000787, 665001222, 665001657],
                "00010011011002010100010200002200",
            ),
        ] {
            let ring = ketama(&servers, hash).unwrap();
            assert_eq!(ring.slots(), slots);
            let found: [u32; 4] = std::array::from_fn(|slot| ring.point(slot).unwrap());
            assert_eq!(found, points);
            let found = (0..32).map(|number| {
                let key = format!("key{}", number * 7919);
                let slot = ring.slot(key.as_bytes(), hash.hash_32(key.as_bytes()).into());
                char::from(b'0' + ring.server(slot) as u8)
            });
            assert_eq!(found.collect::<String>(), owners, "{hash:?}");
        }
    }

    #[test]
    fn one_at_a_time_leads_every_key_to_the_last_server() {
        let ring = ketama(&servers(&["10.0.0.1:1", "10.0.0.2:1"]), Hash::Zero).unwrap();
        for key in [&b"a"[..], b"b", b""] {
            let hash = Hash::Zero.hash_32(key);
            assert_eq!((hash, ring.server(ring.slot(key, 0))), (0, 1));
        }
        assert!(ketama(&servers(&["a:1"]), Hash::Zero).is_err());
    }
}
