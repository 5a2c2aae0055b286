//! Where else a key may live when its first server is none: the candidates of the failover walk, each once.

use super::Inner;
use crate::clock::Moment;
use crate::error::{Error, Result};
use crate::key::WireKey;
use crate::router::Candidates;

/// One operation's search for a server. It begins when the first choice has turned out to be none.
#[derive(Debug)]
pub(crate) struct Search<'s> {
    inner: &'s Inner,
    candidates: Candidates<'s>,
    deadline: Moment,
    /// The servers that this operation has tried: none is dialled twice in one call.
    tried: Vec<usize>,
}

impl<'s> Search<'s> {
    pub(crate) fn new(inner: &'s Inner, key: &'s WireKey<'_>, deadline: Moment) -> Self {
        Self {
            inner,
            candidates: inner.router.candidates(key.hashed(), key.given_hash()),
            deadline,
            tried: Vec::new(),
        }
    }

    /// The next server to try after `server` turned out to be none, if the settings and the time allow one.
    pub(crate) fn after(&mut self, server: usize, error: Error) -> Result<usize> {
        self.tried.push(server);
        let deadline = self.deadline;
        if !self.inner.settings.failover || Moment::now() >= deadline {
            return Err(error);
        }
        loop {
            match self.candidates.next(&mut || Moment::now() >= deadline) {
                Some(next) if self.tried.contains(&next) => {}
                Some(next) => return Ok(next),
                None => return Err(error),
            }
        }
    }
}
