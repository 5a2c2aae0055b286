//! The way from a key to a connection: the candidates of the key in order, past those that are dead or cannot be reached.

use crate::clock::Moment;

use super::Inner;
use super::host::{Lease, Refusal};
use crate::error::{Error, ErrorKind, Result};
use crate::key::WireKey;
use crate::router::Candidates;

/// One operation's search for a server.
#[derive(Debug)]
pub(crate) struct Search<'s> {
    inner: &'s Inner,
    candidates: Candidates<'s>,
    now: Moment,
    deadline: Moment,
    tried: Tried,
    /// Why the server tried last was none.
    refusal: Option<Error>,
}

/// The servers that this operation has tried: no server is dialled twice in one call.
#[derive(Debug, Default)]
struct Tried(Vec<usize>);

impl<'s> Search<'s> {
    pub(crate) fn new(
        inner: &'s Inner,
        key: &'s WireKey<'_>,
        now: Moment,
        deadline: Moment,
    ) -> Self {
        let (hashed, given_hash) = (key.hashed(), key.given_hash());
        let candidates = inner
            .router
            .candidates_without(hashed, given_hash, inner.gone());
        Self {
            inner,
            candidates,
            now,
            deadline,
            tried: Tried::default(),
            refusal: None,
        }
    }

    /// A connection to the next server that has one to lend.
    pub(crate) fn next(&mut self) -> Result<Lease<'s>> {
        loop {
            let deadline = self.deadline;
            let Some(index) = self.candidates.next(&mut || Moment::now() >= deadline) else {
                return Err(self.refusal.take().unwrap_or_else(|| {
                    Error::new(ErrorKind::NoServer, "no server is left to try")
                }));
            };
            if self.tried.contains(index) {
                continue;
            }
            match self.inner.hosts[index].lend(self.deadline, self.now) {
                Ok(lease) => return Ok(lease),
                Err(Refusal::Final(error)) => return Err(error),
                Err(Refusal::Unavailable(error)) => self.refused(index, error)?,
            }
        }
    }

    /// Goes on to the next candidate after this server turned out to be none, if the settings and the time allow it.
    pub(crate) fn refused(&mut self, index: usize, error: Error) -> Result<()> {
        self.now = Moment::now();
        if !self.inner.settings.failover || self.now >= self.deadline {
            return Err(error);
        }
        self.tried.0.push(index);
        self.refusal = Some(error);
        Ok(())
    }
}

impl Tried {
    fn contains(&self, index: usize) -> bool {
        self.0.contains(&index)
    }
}
