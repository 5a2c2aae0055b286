//! The rings of the Java clients and of Dalli. It does not know how keys are hashed.

use std::net::IpAddr;

use super::Placement;
use super::names::PointNames;
#[cfg(feature = "sha1")]
use super::names::host_port;
use super::ring::{Points, Seek, Tie};
use crate::error::{Error, Result};
use crate::hash::md5_words;
use crate::server::{DEFAULT_PORT, ServerAddr};

/// MD5 digests per server at equal weights, four points each (whalin `SockIOPool.java`, `populateConsistentBuckets`;
/// spymemcached `KetamaNodeLocator.java`, `numReps` 160).
const MD5_DIGESTS: u64 = 40;

/// Points per server at equal weights (Dalli `ring.rb`, `POINTS_PER_SERVER`).
#[cfg(feature = "sha1")]
const DALLI_POINTS: u64 = 160;

/// `MD5(name-j)`, the name as it is configured, for j below `floor(40·n·weight / total weight)`.
pub(super) fn whalin(servers: &[ServerAddr]) -> Result<Box<dyn Placement>> {
    let mut points = Points::with_capacity(4 * MD5_DIGESTS * servers.len() as u64)?;
    for (number, digests) in shares(MD5_DIGESTS, servers).enumerate() {
        let mut names = PointNames::new(servers[number].name(), "-");
        for digest in 0..digests {
            points.extend(md5_words(names.numbered(digest)), number);
        }
    }
    points.ring(Tie::Last, Seek::Ceiling)
}

/// The text that spymemcached puts into the ring for a server.
#[derive(Clone, Copy, Debug)]
pub(super) enum SpyName {
    /// `name/ip:port`, or `ip:port` where no name was given: its own format (spymemcached `KetamaNodeKeyFormatter.java`,
    /// `SPYMEMCACHED`).
    Own,
    /// `host` or `host:port`: that of libmemcached (`LIBMEMCACHED`).
    Libmemcached,
}

impl SpyName {
    fn of(self, server: &ServerAddr) -> Result<String> {
        match self {
            SpyName::Own => {
                let refused = |why| Err(Error::config(format!("{server}: {why}")));
                match (server.ip(), server.port()) {
                    (Some(IpAddr::V4(ip)), Some(port)) => {
                        let ip_port = format!("{ip}:{port}");
                        Ok(match server.host() {
                            host if host.parse() == Ok(ip) => ip_port,
                            name => format!("{name}/{ip_port}"),
                        })
                    }
                    // Java's `InetSocketAddress.toString` sets an IPv6 address in brackets since 14, and did not before.
                    (Some(IpAddr::V6(_)), _) => refused(
                        "what spymemcached's ring holds of an IPv6 address depends on the version of Java; use IPv4",
                    ),
                    // The name and the IP address that it had when the client started.
                    _ => refused(
                        "spymemcached's ring holds a host name with what it resolves to; write both, as name/ip:port",
                    ),
                }
            }
            SpyName::Libmemcached => {
                // It asks for the name of an address; 127.0.0.1 has one everywhere.
                let host = match server.host() {
                    "127.0.0.1" => "localhost",
                    host => host,
                };
                Ok(match server.port() {
                    None | Some(DEFAULT_PORT) => host.to_owned(),
                    Some(port) => format!("{host}:{port}"),
                })
            }
        }
    }
}

/// `MD5(name-j)` for j below 40; weights are not used.
pub(super) fn spymemcached(servers: &[ServerAddr], name: SpyName) -> Result<Box<dyn Placement>> {
    let mut points = Points::with_capacity(4 * MD5_DIGESTS * servers.len() as u64)?;
    for (number, server) in servers.iter().enumerate() {
        let mut names = PointNames::new(&name.of(server)?, "-");
        for digest in 0..MD5_DIGESTS {
            points.extend(md5_words(names.numbered(digest)), number);
        }
    }
    points.ring(Tie::Last, Seek::Ceiling)
}

/// The first four bytes of `SHA-1(host:port:i)`, big-endian, for i below `floor(160·n·weight / total weight)`.
#[cfg(feature = "sha1")]
pub(super) fn dalli(servers: &[ServerAddr]) -> Result<Box<dyn Placement>> {
    let mut points = Points::with_capacity(DALLI_POINTS * servers.len() as u64)?;
    for (number, count) in shares(DALLI_POINTS, servers).enumerate() {
        let mut names = PointNames::new(&host_port(&servers[number]), ":");
        for point in 0..count {
            let words = crate::hash::sha1_words(names.numbered(point));
            points.push(words[0].swap_bytes(), number);
        }
    }
    points.ring(Tie::Last, Seek::Floor)
}

/// `floor(each·n·weight / total weight)` for each server.
fn shares(each: u64, servers: &[ServerAddr]) -> impl Iterator<Item = u64> {
    let weights = servers.iter().map(|server| server.weight().unwrap_or(1));
    let total: u64 = weights.clone().map(u64::from).sum();
    let equal = each * servers.len() as u64;
    weights.map(move |weight| ((equal * u64::from(weight)) as f64 / total as f64).floor() as u64)
}
