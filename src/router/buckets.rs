//! Lists of buckets, found by the remainder of a hash. It does not know how the hash was made.

use super::{MAX_SLOTS, Placement};
use crate::error::{Error, Result};
use crate::server::ServerAddr;

/// How a client makes an index of a hash and the number of buckets, which is never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remainder {
    /// Java's `%`, then `abs`: -7 of 3 is 1 (whalin `SockIOPool.java`, `getBucket`).
    Absolute,
}

impl Remainder {
    fn of(self, hash: i64, buckets: usize) -> usize {
        match self {
            Remainder::Absolute => (hash % buckets as i64).unsigned_abs() as usize,
        }
    }
}

/// One bucket per unit of weight, in the order of the servers; a server without a weight has one.
pub(super) fn weighted(servers: &[ServerAddr], remainder: Remainder) -> Result<Box<dyn Placement>> {
    let weights = servers.iter().map(|server| server.weight().unwrap_or(1));
    let total: u64 = weights.clone().map(u64::from).sum();
    if total > MAX_SLOTS as u64 {
        return Err(Error::config(format!(
            "the weights add up to {total} buckets: at most {MAX_SLOTS} are allowed"
        )));
    }
    let mut owners = Vec::with_capacity(total as usize);
    for (server, weight) in (0..).zip(weights) {
        owners.extend(std::iter::repeat_n(server, weight as usize));
    }
    Buckets::placed(owners, remainder)
}

#[derive(Debug)]
struct Buckets {
    owners: Box<[u32]>,
    remainder: Remainder,
}

impl Buckets {
    fn placed(owners: Vec<u32>, remainder: Remainder) -> Result<Box<dyn Placement>> {
        if owners.is_empty() {
            return Err(Error::config("every server has the weight 0"));
        }
        Ok(Box::new(Buckets {
            owners: owners.into_boxed_slice(),
            remainder,
        }))
    }
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
    fn weights_that_no_memory_holds_are_refused() {
        let servers: Vec<ServerAddr> = vec!["a:1:4294967295".parse().unwrap()];
        let error = weighted(&servers, Remainder::Absolute).unwrap_err();
        assert!(error.to_string().contains("4294967295 buckets"), "{error}");
        let servers: Vec<ServerAddr> = vec!["a:1:0".parse().unwrap()];
        assert!(weighted(&servers, Remainder::Absolute).is_err());
    }
}
