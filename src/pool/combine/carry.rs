//! What combining asks of a server's host: connections that go from holder to holder, and errors that several share.

use super::{Combiner, Order, Way};
use crate::clock::Moment;
use crate::pool::host::{Host, Pooled, Refusal};
use crate::pool::lease::Lease;

/// A connection on its way from one holder to the next, whatever it owes. It keeps its permit.
#[derive(Debug)]
pub(crate) struct Detached {
    connection: Box<Pooled>,
    reused: bool,
}

impl Host {
    pub(crate) fn combiner(&self) -> Option<&Combiner> {
        self.combiner.as_ref()
    }

    /// A caller comes who has no turn yet; see [`Combiner::enter_alone`].
    pub(crate) fn enter<'h>(
        &'h self,
        order: &Order<'_>,
        begun: Moment,
        deadline: Moment,
    ) -> Way<'h> {
        match &self.combiner {
            Some(combiner) => combiner.enter(self, order, begun, deadline),
            None => Way::Alone(None),
        }
    }

    pub(super) fn retries_writes(&self) -> bool {
        self.settings.retry_writes
    }

    /// Whether others wait for an answer who can wait longer.
    pub(in crate::pool) fn postpones_judgement(&self) -> bool {
        let patience = self.settings.socket.socket_timeout;
        self.combiner
            .as_ref()
            .is_some_and(|combiner| combiner.postpones(Moment::now(), patience))
    }

    /// Gives a connection that left its holder to the next one.
    pub(super) fn attach(&self, detached: Detached, deadline: Moment, now: Moment) -> Lease<'_> {
        let Detached {
            mut connection,
            reused,
        } = detached;
        connection.io.go_on(deadline, now);
        Lease {
            host: self,
            connection: Some(connection),
            reused,
        }
    }
}

impl Lease<'_> {
    /// The connection leaves its holder as it is; [`Host::attach`] gives it to the next.
    pub(super) fn detach(mut self) -> Option<Detached> {
        let reused = self.reused;
        let connection = self.connection.take()?;
        // Nothing is left in it; dropped, it would give the permit back.
        std::mem::forget(self);
        Some(Detached { connection, reused })
    }
}

impl Refusal {
    /// The same for another caller, whose command shared its fate.
    pub(super) fn again(&self) -> Self {
        match self {
            Self::Unavailable(error) => Self::Unavailable(error.again()),
            Self::Final(error) => Self::Final(error.again()),
        }
    }
}
