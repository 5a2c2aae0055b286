//! What one failure says about a server's other connections: those that rest, and those that might be opened in advance.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::clock::Moment;

/// The doubts about one server.
#[derive(Debug, Default)]
pub(super) struct Doubt {
    /// Connections used no later than this moment are looked at before they are used.
    suspect_until: AtomicU64,
    /// The server ended a connection with a word of its own, or spoke what is no answer, and has answered on no new one since.
    refuses_more: AtomicBool,
}

impl Doubt {
    /// A connection has ended: the others that rest may have, too.
    pub(super) fn connection_ended(&self) {
        let now = Moment::now().number();
        self.suspect_until.fetch_max(now, Ordering::Relaxed);
    }

    /// The server has said that it ends a connection, or is none of memcached's. So it may be with all that come: one that
    /// is full closes them.
    pub(super) fn connection_refused(&self) {
        self.connection_ended();
        self.refuses_more.store(true, Ordering::Relaxed);
    }

    /// A new connection has brought an answer.
    #[cold]
    pub(super) fn new_one_is_good(&self) {
        self.refuses_more.store(false, Ordering::Relaxed);
    }

    /// Whether a connection that was last used at this moment is to be looked at first.
    pub(super) fn is_suspect(&self, used_at: Moment) -> bool {
        used_at.number() <= self.suspect_until.load(Ordering::Relaxed)
    }

    /// Whether connections opened in advance would be refused.
    pub(super) fn refuses_more(&self) -> bool {
        self.refuses_more.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_before_an_end_is_suspect() {
        let doubt = Doubt::default();
        let before = Moment::now();
        assert!(!doubt.is_suspect(before));
        doubt.connection_ended();
        assert!(doubt.is_suspect(before) && !doubt.refuses_more());
        let after = Moment::now() + std::time::Duration::from_secs(1);
        assert!(!doubt.is_suspect(after));
    }

    #[test]
    fn a_refusal_stands_until_a_new_connection_is_good() {
        let doubt = Doubt::default();
        let before = Moment::now();
        doubt.connection_refused();
        assert!(doubt.is_suspect(before) && doubt.refuses_more());
        doubt.new_one_is_good();
        assert!(!doubt.refuses_more());
    }
}
