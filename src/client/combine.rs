//! The road of commands that callers may share: alone while there are connections enough, else as part of a batch.

use super::MemcachedClient;
use super::execute::{Call, Repeat};
use crate::error::Result;
use crate::key::WireKey;
use crate::pool::{Alone, Answer, Combiner, Host, Order, Refusal, Way};
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
        let mut shared = Shared {
            order,
            repeat,
            exchange,
        };
        self.find_server(key, |server, call| {
            self.attempt_shared(server, call, &mut shared)
        })
    }

    fn attempt_shared<R>(
        &self,
        server: usize,
        call: Call,
        shared: &mut Shared<'_, impl FnMut(Source<'_>) -> Result<R>>,
    ) -> std::result::Result<R, Refusal> {
        let host = &self.pool.hosts()[server];
        let alone = match host.combiner().map(Combiner::enter_alone) {
            Some(None) => return self.attempt_among_others(host, call, shared),
            Some(alone) => alone,
            None => None,
        };
        self.attempt_alone(server, call, alone, shared)
    }

    #[inline(never)]
    fn attempt_among_others<R>(
        &self,
        host: &Host,
        call: Call,
        shared: &mut Shared<'_, impl FnMut(Source<'_>) -> Result<R>>,
    ) -> std::result::Result<R, Refusal> {
        match host.enter(&shared.order, call.now, call.deadline) {
            Way::Alone(alone) => self.attempt_alone(host.index(), call, alone, shared),
            Way::Together(member) => {
                let answer = member.answer()?;
                (shared.exchange)(Source::Batch(answer))
                    .map_err(|error| Refusal::Final(error.at(host.addr().name())))
            }
        }
    }

    #[inline]
    fn attempt_alone<R>(
        &self,
        server: usize,
        call: Call,
        alone: Option<Alone<'_>>,
        shared: &mut Shared<'_, impl FnMut(Source<'_>) -> Result<R>>,
    ) -> std::result::Result<R, Refusal> {
        let alone = alone.as_ref();
        let mut exchange = |io: &mut SockIo| (shared.exchange)(Source::Connection(io, alone));
        let answer = self.attempt(server, call, shared.repeat, &mut exchange)?;
        if let Some(alone) = alone {
            alone.heard();
        }
        Ok(answer)
    }
}
