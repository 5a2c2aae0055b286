//! What another thread may see of a connection, and how it ends what a blocking call cannot.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::Stream;
use crate::clock::Moment;

/// The part of a connection that the maintenance thread sees: it ends what a blocking call cannot.
#[derive(Debug)]
pub(crate) struct Line {
    pub(super) stream: Stream,
    /// When the connection was lent, 0 while it rests.
    lent_at: AtomicU64,
    /// When a read that no timer can end must end, likewise; 0 if none is under way.
    must_end: AtomicU64,
    cut: AtomicBool,
}

/// The `lent_at` of a connection that was shut down under its holder.
const CUT: u64 = u64::MAX;

impl Line {
    pub(super) fn new(stream: Stream) -> Self {
        Self {
            stream,
            lent_at: AtomicU64::new(0),
            must_end: AtomicU64::new(0),
            cut: AtomicBool::new(false),
        }
    }

    /// A read that no timer can end is under way; it must end at `end`.
    pub(super) fn begin_untimed_read(&self, end: Moment) {
        self.must_end.store(end.number(), Ordering::Relaxed);
    }

    pub(super) fn end_untimed_read(&self) {
        self.must_end.store(0, Ordering::Relaxed);
    }

    /// Shuts the connection down under the holder to whom it was lent at `lent_at`, who gets `Timeout`.
    /// False if it has come back by now: whoever has it next must not notice.
    pub(crate) fn cut(&self, lent_at: Moment) -> bool {
        let cut = self
            .lent_at
            .compare_exchange(lent_at.number(), CUT, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok();
        if cut {
            self.cut.store(true, Ordering::Relaxed);
            self.stream.shutdown();
        }
        cut
    }

    /// The loan begins, at `now`.
    pub(crate) fn lend(&self, now: Moment) {
        self.lent_at.store(now.number(), Ordering::Relaxed);
    }

    /// The loan ends. False if the connection was shut down under its holder.
    pub(crate) fn give_back(&self) -> bool {
        self.lent_at.swap(0, Ordering::Relaxed) != CUT
    }

    /// When the connection was lent and when its read must end, if it is lent.
    pub(crate) fn loan(&self) -> Option<(Moment, Option<Moment>)> {
        let lent_at = self.lent_at.load(Ordering::Relaxed);
        let must_end = self.must_end.load(Ordering::Relaxed);
        let must_end = (must_end != 0).then_some(Moment::from_number(must_end));
        (lent_at != 0 && lent_at != CUT).then_some((Moment::from_number(lent_at), must_end))
    }

    pub(crate) fn was_cut(&self) -> bool {
        self.cut.load(Ordering::Relaxed)
    }
}
