//! Lists of buckets, found by the remainder of a hash. It does not know how the hash was made.

use std::cmp::Ordering;

use super::{MAX_SLOTS, Placement};
use crate::error::{Error, Result};
use crate::server::ServerAddr;

/// How a client makes an index of a hash and the number of buckets, which is never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remainder {
    /// Java's `%`, then `abs`: -7 of 3 is 1 (whalin `SockIOPool.java`, `getBucket`).
    Absolute,
    /// Never negative, of a hash that wraps in 32 bits: -7 of 3 is 2 (memcacheddotnet `SockIOPool.cs`, `GetSock`).
    Euclidean32,
    /// Never negative.
    Euclidean,
    /// The low bits, as many as the number of buckets less one has (libmemcached `hash.cc`, `MEMCACHED_DISTRIBUTION_VIRTUAL_BUCKET`).
    /// With three servers the second one never gets a key.
    Mask,
}

impl Remainder {
    fn of(self, hash: i64, buckets: usize) -> usize {
        match self {
            Remainder::Absolute => (hash % buckets as i64).unsigned_abs() as usize,
            Remainder::Euclidean32 => i64::from(hash as i32).rem_euclid(buckets as i64) as usize,
            Remainder::Euclidean => hash.rem_euclid(buckets as i64) as usize,
            Remainder::Mask => hash as u32 as usize & (buckets - 1),
        }
    }
}

/// One bucket per unit of weight, in the order of the servers; a server without a weight has one.
pub(super) fn weighted(servers: &[ServerAddr], remainder: Remainder) -> Result<Box<dyn Placement>> {
    live(servers, 0, remainder)
}

/// One bucket per server, whatever its weight, in the order `numbers`.
pub(super) fn single(
    numbers: impl Iterator<Item = usize>,
    remainder: Remainder,
) -> Result<Box<dyn Placement>> {
    placed(numbers.map(|number| number as u32).collect(), remainder)
}

/// As [`weighted`], grown as memcacheddotnet's list grows while it opens `connections` to each server: after each one it searches
/// the list, which need not be sorted, by halves, and appends the server if it does not meet it
/// (`SockIOPool.cs`, `CreateSocket`; by byte order, which equals the culture's for addresses).
pub(super) fn live(
    servers: &[ServerAddr],
    connections: u32,
    remainder: Remainder,
) -> Result<Box<dyn Placement>> {
    let weights = servers.iter().map(|server| server.weight().unwrap_or(1));
    let total: u64 = weights.clone().map(u64::from).sum();
    let most = total + u64::from(connections) * servers.len() as u64;
    if most > MAX_SLOTS as u64 {
        return Err(Error::config(format!(
            "the weights add up to {total} buckets: at most {MAX_SLOTS} are allowed"
        )));
    }
    let mut owners = Vec::with_capacity(most as usize);
    for (number, weight) in weights.enumerate() {
        owners.extend(std::iter::repeat_n(number as u32, weight as usize));
        for _ in 0..connections {
            if !found_by_halves(&owners, servers, number) {
                owners.push(number as u32);
            }
        }
    }
    placed(owners, remainder)
}

/// .NET's `ArrayList.BinarySearch`, which a list that is not sorted leads astray.
fn found_by_halves(owners: &[u32], servers: &[ServerAddr], wanted: usize) -> bool {
    let wanted = servers[wanted].name();
    let (mut low, mut end) = (0, owners.len());
    while low < end {
        let middle = low + (end - 1 - low) / 2;
        match servers[owners[middle] as usize].name().cmp(wanted) {
            Ordering::Equal => return true,
            Ordering::Less => low = middle + 1,
            Ordering::Greater => end = middle,
        }
    }
    false
}

/// The buckets, with their owners in order.
pub(super) fn placed(owners: Vec<u32>, remainder: Remainder) -> Result<Box<dyn Placement>> {
    if owners.is_empty() {
        return Err(Error::config("every server has the weight 0"));
    }
    Ok(Box::new(Buckets {
        owners: owners.into_boxed_slice(),
        remainder,
    }))
}

#[derive(Debug)]
struct Buckets {
    owners: Box<[u32]>,
    remainder: Remainder,
}

impl Placement for Buckets {
    fn slots(&self) -> usize {
        self.owners.len()
    }

    fn slot(&self, _key: &[u8], hash: i64) -> usize {
        self.remainder.of(hash, self.owners.len())
    }

    fn server(&self, slot: usize) -> usize {
        self.owners[slot] as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn java_takes_the_absolute_value_of_the_remainder() {
        let of = |hash| Remainder::Absolute.of(hash, 3);
        assert_eq!([-7, -6, 7, 0].map(of), [1, 0, 1, 0]);
        assert_eq!(of(i64::MIN), 2);
    }

    #[test]
    fn dotnet_wraps_and_adds_the_size() {
        let of = |hash| Remainder::Euclidean32.of(hash, 3);
        assert_eq!([-7, -6, 7].map(of), [2, 0, 1]);
        assert_eq!(of(i64::from(u32::MAX)), of(-1));
    }

    #[test]
    fn weights_that_no_memory_holds_are_refused() {
        let servers: Vec<ServerAddr> = vec!["a:1:4294967295".parse().unwrap()];
        let error = weighted(&servers, Remainder::Absolute).unwrap_err();
        assert!(error.to_string().contains("4294967295 buckets"), "{error}");
        let servers: Vec<ServerAddr> = vec!["a:1:0".parse().unwrap()];
        assert!(weighted(&servers, Remainder::Absolute).is_err());
    }
}
