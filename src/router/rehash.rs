//! The Java client's walks: hash the key with a number before it until that leads somewhere new. It does not know why a server failed.

use super::numbered::Numbered;
use super::{FirstChoice, NextServer, Router};

/// Rehashes after which a walk takes what is left in order. The original's loop has no end (whalin `SockIOPool.java`, `getSock`);
/// where 33 or 31 divides into the number of buckets it can need a million rounds, and more than ten years.
const MAX_REHASHES: u32 = 2_000_000;

/// Rehashes between two questions whether the time is up: about 100 µs.
const REHASHES_UNASKED: u32 = 4096;

/// Hashes the key with one number after the other before it, and takes what it is led to if that was not tried.
///
/// The original begins anew after each failure: at 0, or at n after the n-th. All the numbers up to the last one lead to what has
/// been tried by then, so going on behind it finds the same, and a walk is linear where the original's is quadratic.
pub(super) struct Rehash<'a> {
    router: &'a Router,
    numbered: Numbered,
    rehashes: u32,
    once: Once,
    untried: Untried,
}

/// What is tried at most once.
#[derive(Clone, Copy)]
enum Once {
    Server,
    Bucket,
}

impl<'a> Rehash<'a> {
    /// Each server at most once.
    pub(super) fn servers(failed: FirstChoice<'a>) -> Self {
        let router = failed.router();
        let placed = (0..router.servers().len()).map(|it| router.is_placed(it));
        let mut untried = Untried::new(placed.collect());
        untried.take(failed.server());
        Self::new(failed, 0, Once::Server, untried)
    }

    /// Each bucket at most once.
    pub(super) fn buckets(failed: FirstChoice<'a>) -> Self {
        let mut untried = Untried::new(vec![true; failed.router().placement().slots()]);
        untried.take(failed.slot());
        Self::new(failed, 1, Once::Bucket, untried)
    }

    fn new(failed: FirstChoice<'a>, first_number: u32, once: Once, untried: Untried) -> Self {
        let mut numbered = Numbered::new(failed.key());
        numbered.set(first_number);
        Self {
            router: failed.router(),
            numbered,
            rehashes: 0,
            once,
            untried,
        }
    }
}

impl NextServer for Rehash<'_> {
    fn next(&mut self, expired: &mut dyn FnMut() -> bool) -> Option<usize> {
        let placement = self.router.placement();
        while self.untried.left > 0 && self.rehashes < MAX_REHASHES {
            let slot = self.router.slot(self.numbered.text());
            self.numbered.increment();
            self.rehashes += 1;
            let (server, it) = match self.once {
                Once::Server => (placement.server(slot), placement.server(slot)),
                Once::Bucket => (placement.server(slot), slot),
            };
            if self.untried.take(it) {
                return Some(server);
            }
            if self.rehashes % REHASHES_UNASKED == 0 && expired() {
                return None;
            }
        }
        let it = self.untried.take_first()?;
        Some(match self.once {
            Once::Server => it,
            Once::Bucket => placement.server(it),
        })
    }
}

/// What has not been tried.
struct Untried {
    marks: Vec<bool>,
    left: usize,
    /// None is left before it.
    first: usize,
}

impl Untried {
    fn new(marks: Vec<bool>) -> Self {
        let left = marks.iter().filter(|mark| **mark).count();
        Self {
            marks,
            left,
            first: 0,
        }
    }

    /// Marks `it` as tried; false if it was before.
    fn take(&mut self, it: usize) -> bool {
        let taken = self.marks.get_mut(it).is_some_and(std::mem::take);
        self.left -= usize::from(taken);
        taken
    }

    fn take_first(&mut self) -> Option<usize> {
        let ahead = self.marks.get(self.first..)?.iter();
        self.first += ahead.take_while(|mark| !**mark).count();
        self.take(self.first).then_some(self.first)
    }
}
