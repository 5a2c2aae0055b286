//! Rings of points, found by binary search. It does not know how a point is made.

use super::{MAX_SLOTS, Placement};
use crate::error::{Error, Result};

/// The point that a hash leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seek {
    /// The first point at or after the hash; past the last one, the first.
    Ceiling,
    /// The same, but before the first point the last (Enyim `KetamaNodeLocator.cs`, `LocateNode`).
    CeilingOrLast,
    /// The last point at or before the hash; before the first one, the last (Dalli `ring.rb`, `server_for_hash_key`).
    #[cfg_attr(not(feature = "sha1"), allow(dead_code))]
    // Dalli's ring is there with SHA-1 only
    Floor,
}

/// Who owns a point that two servers claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tie {
    /// The one that claimed it first.
    First,
    /// The one that claimed it last, as when points are put into a map.
    Last,
}

/// Collects the points of a ring.
#[derive(Debug)]
pub(super) struct Points {
    points: Vec<(u32, u32)>,
}

impl Points {
    /// Room for `expected` points, which may come to none.
    ///
    /// # Errors
    /// If more points are expected than a list of servers may have.
    pub(super) fn with_capacity(expected: u64) -> Result<Self> {
        if expected > MAX_SLOTS as u64 {
            return Err(Error::config(format!(
                "the servers would have {expected} points on the ring: at most {MAX_SLOTS} are allowed"
            )));
        }
        Ok(Self {
            points: Vec::with_capacity(expected as usize),
        })
    }

    /// Claims a point for a server.
    pub(super) fn push(&mut self, point: u32, server: usize) {
        self.points.push((point, server as u32));
    }

    /// Claims several points for a server.
    pub(super) fn extend(&mut self, points: impl IntoIterator<Item = u32>, server: usize) {
        for point in points {
            self.push(point, server);
        }
    }

    /// The owners of `count` buckets, the n-th being that of the first point at or after `n·step`.
    pub(super) fn buckets(self, count: u32, step: u32) -> Result<Vec<u32>> {
        let ring = self.ring(Tie::First, Seek::Ceiling)?;
        let owner = |bucket: u32| ring.server(ring.slot(b"", i64::from(bucket * step))) as u32;
        Ok((0..count).map(owner).collect())
    }

    /// The ring of all claims.
    pub(super) fn ring(mut self, tie: Tie, seek: Seek) -> Result<Box<dyn Placement>> {
        // A stable sort keeps the order of claims to the same point.
        self.points.sort_by_key(|(point, _)| *point);
        let mut points: Vec<(u32, u32)> = Vec::with_capacity(self.points.len());
        for (point, server) in self.points {
            match points.last_mut() {
                Some(last) if last.0 == point => match tie {
                    Tie::First => {}
                    Tie::Last => last.1 = server,
                },
                _ => points.push((point, server)),
            }
        }
        if points.is_empty() {
            return Err(Error::config(
                "no server has a point on the ring: every weight is 0",
            ));
        }
        Ok(Box::new(Ring {
            points: points.into_boxed_slice(),
            seek,
        }))
    }
}

#[derive(Debug)]
struct Ring {
    /// Never empty; ascending.
    points: Box<[(u32, u32)]>,
    seek: Seek,
}

impl Ring {
    fn at_or_after(&self, hash: u32) -> usize {
        self.points.partition_point(|(point, _)| *point < hash)
    }
}

impl Placement for Ring {
    fn slots(&self) -> usize {
        self.points.len()
    }

    fn slot(&self, _key: &[u8], hash: i64) -> usize {
        let hash = hash as u32;
        let last = self.points.len() - 1;
        match self.seek {
            Seek::Ceiling => match self.at_or_after(hash) {
                slot if slot > last => 0,
                slot => slot,
            },
            Seek::CeilingOrLast => match self.at_or_after(hash) {
                0 if self.points[0].0 != hash => last,
                slot if slot > last => 0,
                slot => slot,
            },
            Seek::Floor => self
                .points
                .partition_point(|(point, _)| *point <= hash)
                .checked_sub(1)
                .unwrap_or(last),
        }
    }

    fn server(&self, slot: usize) -> usize {
        self.points[slot].1 as usize
    }

    fn point(&self, slot: usize) -> Option<u32> {
        self.points.get(slot).map(|(point, _)| *point)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(tie: Tie, seek: Seek, points: &[(u32, usize)]) -> Box<dyn Placement> {
        let mut collected = Points::with_capacity(points.len() as u64).unwrap();
        for (point, server) in points {
            collected.push(*point, *server);
        }
        collected.ring(tie, seek).unwrap()
    }

    #[test]
    fn a_hash_leads_to_the_next_point() {
        let ring = ring(Tie::Last, Seek::Ceiling, &[(30, 2), (10, 0), (20, 1)]);
        let server = |hash| ring.server(ring.slot(b"", hash));
        assert_eq!([0, 10, 11, 20, 30, 31].map(server), [0, 0, 1, 1, 2, 0]);
        assert_eq!(server(i64::from(u32::MAX)), 0);
    }

    #[test]
    fn enyim_goes_to_the_last_point_before_the_first() {
        let ring = ring(Tie::Last, Seek::CeilingOrLast, &[(10, 0), (20, 1), (30, 2)]);
        let server = |hash| ring.server(ring.slot(b"", hash));
        assert_eq!([9, 10, 11, 30, 31].map(server), [2, 0, 1, 2, 0]);
    }

    #[test]
    fn dalli_goes_back() {
        let ring = ring(Tie::Last, Seek::Floor, &[(10, 0), (20, 1), (30, 2)]);
        let server = |hash| ring.server(ring.slot(b"", hash));
        assert_eq!([9, 10, 19, 20, 31].map(server), [2, 0, 0, 1, 2]);
    }

    #[test]
    fn a_point_claimed_twice_has_one_owner() {
        let claims = [(10, 1), (10, 0), (20, 1)];
        for (tie, owner) in [(Tie::First, 1), (Tie::Last, 0)] {
            let ring = ring(tie, Seek::Ceiling, &claims);
            assert_eq!((ring.slots(), ring.server(ring.slot(b"", 5))), (2, owner));
        }
    }

    #[test]
    fn a_ring_without_points_or_with_too_many_is_refused() {
        let none = Points::with_capacity(0).unwrap();
        assert!(none.ring(Tie::Last, Seek::Ceiling).is_err());
        assert!(Points::with_capacity(1 << 40).is_err());
    }
}
