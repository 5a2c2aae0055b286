//! The Java client's walks: hash the key with a number before it until that leads somewhere new. It does not know why a server failed.

use super::numbered::Numbered;
use super::{FirstChoice, NextServer, Router};

/// Rehashes after which a walk takes what is left in order. The original's loop has no end (whalin `SockIOPool.java`, `getSock`);
/// where 33 or 31 divides into the number of buckets it can need a million rounds, and more than ten years.
const MAX_REHASHES: u32 = 2_000_000;

/// Rehashes between two questions whether the time is up: about 100 µs.
const REHASHES_UNASKED: u32 = 4096;

/// Why no untried slot was found.
enum Vain {
    TooMany,
    Expired,
}

/// Hashes `first‖key`, `first + 1‖key`, … until `accept` takes a slot.
fn rehash<T>(
    router: &Router,
    numbered: &mut Numbered,
    first: u32,
    expired: &mut dyn FnMut() -> bool,
    mut accept: impl FnMut(usize) -> Option<T>,
) -> Result<T, Vain> {
    numbered.set(first);
    for round in 1..=MAX_REHASHES {
        if let Some(found) = accept(router.slot(numbered.text())) {
            return Ok(found);
        }
        if round % REHASHES_UNASKED == 0 && expired() {
            return Err(Vain::Expired);
        }
        numbered.increment();
    }
    Err(Vain::TooMany)
}

/// Each server at most once.
pub(super) struct RehashServers<'a> {
    router: &'a Router,
    numbered: Numbered,
    untried: Untried,
}

impl<'a> RehashServers<'a> {
    pub(super) fn new(failed: FirstChoice<'a>) -> Self {
        let router = failed.router();
        let mut untried = Untried::new((0..router.servers().len()).map(|it| router.is_placed(it)));
        untried.take(failed.server());
        Self {
            router,
            numbered: Numbered::new(failed.key()),
            untried,
        }
    }
}

impl NextServer for RehashServers<'_> {
    fn next(&mut self, expired: &mut dyn FnMut() -> bool) -> Option<usize> {
        let placement = self.router.placement();
        let untried = &mut self.untried;
        untried.next(|untried| {
            rehash(self.router, &mut self.numbered, 0, expired, |slot| {
                let server = placement.server(slot);
                untried.take(server).then_some(server)
            })
        })
    }
}

/// Each bucket at most once.
pub(super) struct RehashBuckets<'a> {
    router: &'a Router,
    numbered: Numbered,
    untried: Untried,
    failures: u32,
}

impl<'a> RehashBuckets<'a> {
    pub(super) fn new(failed: FirstChoice<'a>) -> Self {
        let router = failed.router();
        let mut untried = Untried::new((0..router.placement().slots()).map(|_| true));
        untried.take(failed.slot());
        Self {
            router,
            numbered: Numbered::new(failed.key()),
            untried,
            failures: 0,
        }
    }
}

impl NextServer for RehashBuckets<'_> {
    fn next(&mut self, expired: &mut dyn FnMut() -> bool) -> Option<usize> {
        self.failures += 1;
        let failures = self.failures;
        let slot = self.untried.next(|untried| {
            rehash(self.router, &mut self.numbered, failures, expired, |slot| {
                untried.take(slot).then_some(slot)
            })
        })?;
        Some(self.router.placement().server(slot))
    }
}

/// What has not been tried.
struct Untried {
    marks: Vec<bool>,
    left: usize,
    /// Whether rehashing was in vain once: then it would be again.
    in_order: bool,
}

impl Untried {
    fn new(marks: impl Iterator<Item = bool>) -> Self {
        let marks: Vec<bool> = marks.collect();
        let left = marks.iter().filter(|mark| **mark).count();
        Self {
            marks,
            left,
            in_order: false,
        }
    }

    /// Marks `it` as tried; false if it was before.
    fn take(&mut self, it: usize) -> bool {
        let taken = self.marks.get_mut(it).is_some_and(std::mem::take);
        self.left -= usize::from(taken);
        taken
    }

    fn next(&mut self, search: impl FnOnce(&mut Self) -> Result<usize, Vain>) -> Option<usize> {
        if self.left == 0 {
            return None;
        }
        if !self.in_order {
            match search(self) {
                Ok(found) => return Some(found),
                Err(Vain::Expired) => return None,
                Err(Vain::TooMany) => self.in_order = true,
            }
        }
        let first = self.marks.iter().position(|mark| *mark)?;
        self.take(first);
        Some(first)
    }
}
