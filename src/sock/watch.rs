//! The appointment book between connections and the maintenance thread: who must be looked at, and when. It knows neither.

use std::fmt;

use crate::clock::Moment;
use crate::sync::{AtomicBool, AtomicU64, Ordering, fence};

pub(crate) struct Watch {
    /// When the maintenance thread looks next; never (`u64::MAX`) while it looks.
    next_look: AtomicU64,
    /// Nobody looks any more.
    closed: AtomicBool,
    wake: Box<dyn Fn() + Send + Sync>,
}

impl Watch {
    /// `wake` makes the maintenance thread look at once.
    pub(crate) fn new(wake: impl Fn() + Send + Sync + 'static) -> Self {
        Self {
            next_look: AtomicU64::new(u64::MAX),
            closed: AtomicBool::new(false),
            wake: Box::new(wake),
        }
    }

    /// Makes sure that the maintenance thread looks no later than `time`.
    /// Costs two loads and a fence unless the thread would have slept past it. False if the thread has ended.
    pub(crate) fn expect(&self, time: Moment) -> bool {
        // Either the thread's look sees what was done before this call, or this call sees that it looks: see `begin_look`.
        fence(Ordering::SeqCst);
        if self.closed.load(Ordering::Relaxed) {
            return false;
        }
        if time.number() < self.next_look.load(Ordering::Relaxed) {
            self.next_look.store(time.number(), Ordering::Relaxed);
            (self.wake)();
        }
        true
    }

    /// The maintenance thread begins to look at everything. Whoever expects it from now on wakes it once more,
    /// because it may have passed by already.
    pub(crate) fn begin_look(&self) {
        self.next_look.store(u64::MAX, Ordering::Relaxed);
        fence(Ordering::SeqCst);
    }

    /// The maintenance thread ends. What was done before a call of [`expect`](Self::expect) that did not notice is seen by
    /// a look that begins now.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
    }

    /// The maintenance thread says when it looks next.
    pub(crate) fn will_look(&self, time: Moment) {
        self.next_look.store(time.number(), Ordering::Relaxed);
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch")
            .field("next_look", &self.next_look)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::time::Duration;

    #[test]
    fn only_what_the_thread_would_miss_wakes_it() {
        let wakes = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&wakes);
        let epoch = Moment::now();
        let watch = Watch::new(move || {
            count.fetch_add(1, Ordering::Relaxed);
        });
        let at = |millis| epoch + Duration::from_millis(millis);
        let expect = |millis| {
            let before = wakes.load(Ordering::Relaxed);
            watch.expect(at(millis));
            wakes.load(Ordering::Relaxed) > before
        };
        watch.begin_look();
        watch.will_look(at(100));
        assert_eq!(
            [expect(150), expect(100), expect(50), expect(60)],
            [false, false, true, false]
        );
        // It looks at 50, and may have passed by what was just put down for later.
        watch.begin_look();
        assert!(expect(1000));
        watch.will_look(at(2000));
        assert!(!expect(2000));
    }
}
