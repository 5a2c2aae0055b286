//! The walk on which failed servers leave the list, and the rings of those that remain. It does not know why a server failed.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::{FirstChoice, NextServer, Placement};

/// Placements kept per router. One serves as long as the same servers are gone; a ring of 1,000 servers takes 1.3 MB.
const MAX_KEPT: usize = 16;

/// The first choice among those that have not failed; after each failure the first among the rest.
pub(super) struct Eject<'a> {
    choice: FirstChoice<'a>,
    /// Ascending.
    gone: Vec<usize>,
}

impl<'a> Eject<'a> {
    pub(super) fn new(choice: FirstChoice<'a>, gone: Vec<usize>) -> Self {
        Self { choice, gone }
    }
}

impl NextServer for Eject<'_> {
    fn next(&mut self, _expired: &mut dyn FnMut() -> bool) -> Option<usize> {
        let choice = &self.choice;
        let server = choice
            .router()
            .first_without(&self.gone, choice.key(), choice.hash())?;
        let at = self.gone.partition_point(|gone| *gone < server);
        self.gone.insert(at, server);
        Some(server)
    }
}

/// Some of a router's servers, placed anew.
pub(super) struct Survivors {
    /// Their numbers in the whole list.
    numbers: Vec<usize>,
    placement: Box<dyn Placement>,
}

impl Survivors {
    pub(super) fn new(numbers: Vec<usize>, placement: Box<dyn Placement>) -> Self {
        Self { numbers, placement }
    }

    /// `None` if a user's placement names a server that is not in the list.
    pub(super) fn server(&self, key: &[u8], hash: i64) -> Option<usize> {
        let slot = match self.placement.slots() {
            1 => 0,
            _ => self.placement.slot(key, hash),
        };
        self.numbers.get(self.placement.server(slot)).copied()
    }
}

/// The survivors asked for last, so that a server that is gone costs its ring once and not at every call.
#[derive(Default)]
pub(super) struct KeptSurvivors {
    kept: Mutex<Vec<Kept>>,
}

struct Kept {
    gone: Box<[usize]>,
    rest: Arc<Survivors>,
}

impl KeptSurvivors {
    /// The survivors without `gone`; built outside the lock.
    pub(super) fn get(
        &self,
        gone: &[usize],
        build: impl FnOnce() -> Option<Survivors>,
    ) -> Option<Arc<Survivors>> {
        if let Some(rest) = self.find(gone) {
            return Some(rest);
        }
        let rest = Arc::new(build()?);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.truncate(MAX_KEPT - 1);
        kept.insert(
            0,
            Kept {
                gone: gone.into(),
                rest: Arc::clone(&rest),
            },
        );
        Some(rest)
    }

    /// Moves what it finds to the front: the one asked for longest ago is dropped first.
    fn find(&self, gone: &[usize]) -> Option<Arc<Survivors>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().position(|kept| *kept.gone == *gone)?;
        kept[..=at].rotate_right(1);
        kept.first().map(|kept| Arc::clone(&kept.rest))
    }
}

impl fmt::Debug for KeptSurvivors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeptSurvivors")
    }
}

#[cfg(test)]
mod tests {
    use crate::Compat;
    use crate::server::ServerAddr;

    /// Seen live with PHP's Memcached and weights 1, 3 and 2.
    #[test]
    fn a_weighted_ring_without_a_server_has_other_points_for_the_rest() {
        let servers: Vec<ServerAddr> = ["a:1:1", "b:1:3", "c:1:2"]
            .map(|it| it.parse().unwrap())
            .into();
        let rest = vec![servers[0].clone(), servers[2].clone()];
        let compat = Compat::default();
        let (whole, rest) = (
            compat.router(servers).unwrap(),
            compat.router(rest).unwrap(),
        );
        let mut moved = 0;
        for number in 0..1000 {
            let key = format!("key_{number}").into_bytes();
            let placed = [0, 2][rest.first(&key, None)];
            let walked = whole.walk(&key, None, |server| server == 1);
            assert_eq!(
                (walked.server, &*walked.tried),
                (Some(placed), &[placed][..])
            );
            let first = whole.first(&key, None);
            moved += usize::from(first != 1 && first != placed);
        }
        assert!(moved > 20, "{moved} keys of the living moved");
    }
}
