//! The road of commands that callers may share: alone while there are connections enough, else as part of a batch.

use super::MemcachedClient;
use super::execute::{Call, Repeat};
use crate::clock::Moment;
use crate::error::{Error, Result};
use crate::key::WireKey;
use crate::pool::{Alone, Answer, Order, Refusal, Way};
use crate::sock::SockIo;

/// What an exchange gets its answer from.
pub(super) enum Source<'s> {
    /// It sends the command and reads the answer itself.
    Connection(&'s mut SockIo, Option<&'s Alone<'s>>),
    /// Another caller, or this one among others, has done so.
    Batch(Answer),
}

/// A command that may be shared.
struct Shared<'o, E> {
    order: Order<'o>,
    repeat: Repeat,
    exchange: E,
}

impl MemcachedClient {
    /// Whether callers of this pool share requests.
    pub(super) fn combines(&self) -> bool {
        self.pool.combines()
    }

    /// Like [`execute`](Self::execute), for a command that may be shared.
    pub(super) fn execute_shared<R>(
        &self,
        key: &WireKey<'_>,
        order: Order<'_>,
        repeat: Repeat,
        exchange: impl FnMut(Source<'_>) -> Result<R>,
    ) -> Result<R> {
        let call = self.begin();
        let first = self.pool.first(key);
        let mut shared = Shared {
            order,
            repeat,
            exchange,
        };
        match self.attempt_shared(first, call, &mut shared) {
            Ok(answer) => Ok(answer),
            Err(Refusal::Final(error)) => Err(error),
            Err(Refusal::Unavailable(error)) => {
                self.elsewhere_shared(key, (first, error), call, &mut shared)
            }
        }
    }

    #[cold]
    fn elsewhere_shared<R>(
        &self,
        key: &WireKey<'_>,
        (mut server, mut error): (usize, Error),
        call: Call,
        shared: &mut Shared<'_, impl FnMut(Source<'_>) -> Result<R>>,
    ) -> Result<R> {
        let mut search = self.pool.search(key, call.deadline);
        loop {
            server = search.after(server, error)?;
            let now = Moment::now();
            match self.attempt_shared(server, Call { now, ..call }, shared) {
                Ok(answer) => return Ok(answer),
                Err(Refusal::Final(error)) => return Err(error),
                Err(Refusal::Unavailable(refused)) => error = refused,
            }
        }
    }

    fn attempt_shared<R>(
        &self,
        server: usize,
        call: Call,
        shared: &mut Shared<'_, impl FnMut(Source<'_>) -> Result<R>>,
    ) -> std::result::Result<R, Refusal> {
        let Shared {
            order,
            repeat,
            exchange,
        } = shared;
        let host = &self.pool.hosts()[server];
        let way = host
            .combiner()
            .map(|combiner| combiner.enter(host, order, call.now, call.deadline));
        let alone = match way {
            Some(Way::Together(member)) => {
                return exchange(Source::Batch(member.answer()?))
                    .map_err(|error| Refusal::Final(error.at(host.addr().name())));
            }
            Some(Way::Alone(alone)) => Some(alone),
            None => None,
        };
        let alone = alone.as_ref();
        let mut exchange = |io: &mut SockIo| exchange(Source::Connection(io, alone));
        let answer = self.attempt(server, call, *repeat, &mut exchange)?;
        if let Some(alone) = alone {
            alone.heard();
        }
        Ok(answer)
    }
}
