//! The rings of libmemcached. It does not know how keys are hashed.

use super::Placement;
use super::buckets::{self, Remainder};
use super::names::PointNames;
use super::ring::{Points, Seek, Tie};
use crate::error::Result;
use crate::hash::{Hash, md5_words};
use crate::server::{DEFAULT_PORT, ServerAddr};

/// Points per server of an unweighted ring (libmemcached `hosts.cc`, `MEMCACHED_POINTS_PER_SERVER`).
const POINTS: u64 = 100;

/// Points per server of a weighted ring at equal weights (`MEMCACHED_POINTS_PER_SERVER_KETAMA`).
const WEIGHTED_POINTS: f32 = 160.0;

/// What `hosts.cc`, `update_continuum`, adds before it rounds down.
const ROUNDING: f32 = 1e-10;

/// Which of libmemcached's rings is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ketama {
    /// `CONSISTENT`, `CONSISTENT_KETAMA`: weighted if any server was given a weight.
    Consistent,
    /// The same, set when the servers were there already: never weighted.
    Unweighted,
    /// `CONSISTENT_KETAMA_SPY`: as `Consistent`, with names of the form `/host:port`.
    Spy,
    /// `CONSISTENT_WEIGHTED`, which `LIBKETAMA_COMPATIBLE` sets: always weighted.
    #[doc(alias = "OPT_LIBKETAMA_COMPATIBLE")]
    Weighted,
}

/// A ring whose unweighted points are `hash(name-i)`, and whose weighted ones come from MD5.
pub(super) fn ring(
    servers: &[ServerAddr],
    ketama: Ketama,
    hash: Hash,
    (sorted, weighted): (bool, bool),
) -> Result<Box<dyn Placement>> {
    let mut points = Points::with_capacity(WEIGHTED_POINTS as u64 * servers.len() as u64)?;
    let total: u64 = servers.iter().map(weight).sum();
    for number in order(servers, sorted) {
        let server = &servers[number];
        let mut names = PointNames::new(&name(server, ketama), "-");
        if weighted {
            for round in 0..rounds(weight(server), total, servers.len()) {
                points.extend(md5_words(names.numbered(round)), number);
            }
        } else {
            for point in 0..POINTS {
                points.push(hash.hash_32(names.numbered(point)), number);
            }
        }
    }
    points.ring(Tie::First, Seek::Ceiling)
}

/// Whether the ring is the weighted one: a weight above 1 makes it so, weights of 1 do not (php-memcached 3.2 with libmemcached 1.1.4,
/// `addServers`).
pub(super) fn is_weighted(servers: &[ServerAddr], ketama: Ketama) -> bool {
    match ketama {
        Ketama::Consistent | Ketama::Spy => servers.iter().any(|server| weight(server) > 1),
        Ketama::Unweighted => false,
        Ketama::Weighted => true,
    }
}

/// `MODULA`: weights are ignored.
pub(super) fn modula(servers: &[ServerAddr], sorted: bool) -> Result<Box<dyn Placement>> {
    buckets::single(order(servers, sorted).into_iter(), Remainder::Euclidean)
}

/// A weight of 0 counts as 1.
fn weight(server: &ServerAddr) -> u64 {
    server.weight().unwrap_or(1).max(1).into()
}

/// MD5 digests of a server, in the 32-bit floats of the original: with 25 equal servers it makes 39 of 40.
fn rounds(weight: u64, total: u64, servers: usize) -> u64 {
    let share = weight as f32 / total as f32;
    (share * WEIGHTED_POINTS / 4.0 * servers as f32 + ROUNDING).floor() as u64
}

/// The port 11211 is not written, a unix socket counts as having it.
fn name(server: &ServerAddr, ketama: Ketama) -> String {
    let (host, port) = (server.host(), server.port().unwrap_or(DEFAULT_PORT));
    match ketama {
        Ketama::Spy => format!("/{host}:{port}"),
        _ if port == DEFAULT_PORT => host.to_owned(),
        _ => format!("{host}:{port}"),
    }
}

/// The servers as configured, or as `SORT_HOSTS` sorts them: by host, then port.
fn order(servers: &[ServerAddr], sorted: bool) -> Vec<usize> {
    let mut order: Vec<usize> = (0..servers.len()).collect();
    if sorted {
        order.sort_by_key(|number| (servers[*number].host(), servers[*number].port()));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_weights_fall_short_where_32_bit_floats_do() {
        let short: Vec<usize> = (1..=100)
            .filter(|n| rounds(1, *n as u64, *n) != 40)
            .collect();
        assert_eq!(short, [25, 47, 50, 55, 61, 71, 94, 100]);
    }
}
