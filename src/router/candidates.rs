//! The servers that one call may try, one after the other. It does not know whether they answer.

use std::fmt;

use super::{FirstChoice, NextServer, Router};

/// Draws beyond the number of slots that a walk may make: the longest of a client, pecl-memcache's, makes 20.
const MAX_EXTRA_DRAWS: usize = 32;

/// What [`Router::walk`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Walked {
    /// The first server that is not dead, if the walk leads to one.
    pub server: Option<usize>,
    /// The servers tried, in order, that one included; a walk may lead to a server again.
    pub tried: Vec<usize>,
}

/// The servers to try for one key, in order. Made by [`Router::candidates`].
pub struct Candidates<'a> {
    state: State<'a>,
    draws_left: usize,
}

enum State<'a> {
    Fresh {
        router: &'a Router,
        key: &'a [u8],
        given_hash: Option<i64>,
        /// Ascending.
        gone: Vec<usize>,
    },
    Chosen(FirstChoice<'a>),
    Walking(Box<dyn NextServer + 'a>),
    Done,
}

impl<'a> Candidates<'a> {
    pub(super) fn new(
        router: &'a Router,
        key: &'a [u8],
        given_hash: Option<i64>,
        gone: Vec<usize>,
    ) -> Self {
        Self {
            state: State::Fresh {
                router,
                key,
                given_hash,
                gone,
            },
            draws_left: router.placement().slots() + MAX_EXTRA_DRAWS,
        }
    }

    /// The next server to try, or `None` when the walk ends. A walk may lead to the same server again.
    ///
    /// The first call allocates nothing while no server is known to have failed. Later ones may hash for a while: they ask `expired` now and
    /// then and end the walk when it says so.
    pub fn next(&mut self, expired: &mut dyn FnMut() -> bool) -> Option<usize> {
        self.draws_left = self.draws_left.checked_sub(1)?;
        match &mut self.state {
            State::Fresh {
                router,
                key,
                given_hash,
                gone,
            } => {
                let choice = router.choose(key, *given_hash);
                if !gone.is_empty() && router.placement().slots() > 1 {
                    let walk = router.walk.start_without(choice, std::mem::take(gone));
                    let first = walk.and_then(|mut walk| Some((walk.next(expired)?, walk)));
                    // Where none is left, the first choice tells why.
                    if let Some((server, walk)) = first {
                        self.state = State::Walking(walk);
                        return Some(server);
                    }
                }
                let server = choice.server();
                self.state = State::Chosen(choice);
                Some(server)
            }
            // One bucket or point leaves nowhere to go, in every client.
            State::Chosen(choice) if choice.router().placement().slots() == 1 => self.end(),
            State::Chosen(choice) => {
                let mut walk = choice.router().walk.start(*choice);
                match walk.next(expired) {
                    Some(server) => {
                        self.state = State::Walking(walk);
                        Some(server)
                    }
                    None => self.end(),
                }
            }
            State::Walking(walk) => match walk.next(expired) {
                Some(server) => Some(server),
                None => self.end(),
            },
            State::Done => None,
        }
    }

    fn end(&mut self) -> Option<usize> {
        self.state = State::Done;
        None
    }
}

impl fmt::Debug for Candidates<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match &self.state {
            State::Fresh { .. } => "fresh",
            State::Chosen(_) => "first choice",
            State::Walking(_) => "walking",
            State::Done => "done",
        };
        write!(f, "Candidates({state})")
    }
}
