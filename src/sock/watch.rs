//! The appointment book between connections and the maintenance thread: who must be looked at, and when. It knows neither.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Times as the milliseconds since the pool began, plus one, so that 0 can mean "none".
pub(crate) struct Watch {
    epoch: Instant,
    /// When the maintenance thread looks next.
    next_look: AtomicU64,
    wake: Box<dyn Fn() + Send + Sync>,
}

impl Watch {
    /// `wake` makes the maintenance thread look at once.
    pub(crate) fn new(epoch: Instant, wake: impl Fn() + Send + Sync + 'static) -> Self {
        Self {
            epoch,
            next_look: AtomicU64::new(u64::MAX),
            wake: Box::new(wake),
        }
    }

    pub(crate) fn millis(&self, time: Instant) -> u64 {
        time.saturating_duration_since(self.epoch).as_millis() as u64 + 1
    }

    pub(crate) fn instant(&self, millis: u64) -> Instant {
        self.epoch + Duration::from_millis(millis.saturating_sub(1))
    }

    /// Makes sure that the maintenance thread looks no later than `time`.
    /// Costs one load unless the thread would have slept past it.
    pub(crate) fn expect(&self, time: Instant) {
        let millis = self.millis(time);
        if millis < self.next_look.load(Ordering::Relaxed) {
            self.next_look.store(millis, Ordering::Relaxed);
            (self.wake)();
        }
    }

    /// The maintenance thread says when it looks next.
    pub(crate) fn will_look(&self, time: Instant) {
        self.next_look.store(self.millis(time), Ordering::Relaxed);
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch")
            .field("next_look", &self.next_look)
            .finish_non_exhaustive()
    }
}
