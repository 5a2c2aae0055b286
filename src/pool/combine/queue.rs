//! Who may ask a server, alone or for others: the turns, and the batches that wait for one. It knows no connection.

use std::collections::VecDeque;

use super::batch::{Batch, Offered};
use super::load::{Load, MAX_MEMBERS};
use super::{Order, Outcome};
use crate::clock::Moment;
use crate::sync::{Arc, AtomicU64, AtomicUsize, Mutex, Ordering, lock};

/// What the answers to one batch should come to, in bytes: more costs memory and makes the members wait for each other.
const BATCH_BYTES: u64 = 128 * 1024;

/// From this size on copying outweighs the round trip, and several leaders at a time do better than one.
const LARGE: u64 = 4 * 1024;

/// The weight of a new value in the average is one part in so many.
const MEMORY: u64 = 8;

/// The callers of one server.
///
/// A *turn* is the right to ask the server, once. As long as there are no more callers than turns each takes one, and a
/// connection with it. When there are more, one leader at a time asks for all that came in the meantime: were there several,
/// those who come back first would take the free connections one by one, and the batches would shrink to nothing.
///
/// While a batch waits, at least one turn is out, and whoever has it looks after the batch when he gives it back.
#[derive(Debug)]
pub(crate) struct Queue<T> {
    inside: AtomicUsize,
    state: Mutex<State<T>>,
    max_turns: usize,
    /// The length of values, on the average.
    average: AtomicU64,
}

#[derive(Debug)]
struct State<T> {
    turns: usize,
    /// Batches that are not on their way yet, the oldest first; only the last one takes up more.
    pending: VecDeque<Arc<Batch<T>>>,
    closed: bool,
}

/// A caller, while it is inside.
#[derive(Debug)]
pub(crate) struct Visit<'q> {
    inside: &'q AtomicUsize,
    /// How many there were when it came.
    callers: usize,
}

/// What a caller gets.
#[derive(Debug)]
pub(crate) enum Entry<'q, T> {
    /// It asks for itself alone.
    Alone(Turn<'q, T>),
    /// Its order is part of a batch, under this number.
    Member(Arc<Batch<T>>, usize),
}

/// The right to ask; it is passed on when it is dropped.
#[derive(Debug)]
pub(crate) struct Turn<'q, T> {
    queue: &'q Queue<T>,
    held: bool,
}

impl<T> Queue<T> {
    pub(crate) fn new(max_turns: usize) -> Self {
        let state = State {
            turns: 0,
            pending: VecDeque::new(),
            closed: false,
        };
        Self {
            inside: AtomicUsize::new(0),
            state: Mutex::new(state),
            max_turns,
            average: AtomicU64::new(0),
        }
    }

    /// A caller comes.
    pub(crate) fn visit(&self) -> Visit<'_> {
        Visit {
            callers: self.inside.fetch_add(1, Ordering::Relaxed) + 1,
            inside: &self.inside,
        }
    }

    /// Gives a caller a turn, or makes it a member of a batch.
    pub(crate) fn enter(
        &self,
        visit: &Visit<'_>,
        order: &Order<'_>,
        deadline: Moment,
    ) -> Entry<'_, T> {
        let mut state = lock(&self.state);
        if state.closed {
            // It goes to the gate, and hears there that the pool is shut down.
            return Entry::Alone(self.turn(false));
        }
        if state.pending.is_empty() && state.turns < self.limit(visit.callers) {
            state.turns += 1;
            return Entry::Alone(self.turn(true));
        }
        let max_gets = self.max_gets();
        let open = state.pending.back();
        if let Some((batch, member)) =
            open.and_then(|batch| Some((batch, batch.join(order, deadline, max_gets)?)))
        {
            return Entry::Member(Arc::clone(batch), member);
        }
        let batch = Arc::new(Batch::new());
        // An empty batch has room for any order that combines at all.
        let Some(member) = batch.join(order, deadline, max_gets) else {
            return Entry::Alone(self.turn(false));
        };
        state.pending.push_back(Arc::clone(&batch));
        Entry::Member(batch, member)
    }

    /// The turn that came with an offer.
    pub(crate) fn turn(&self, held: bool) -> Turn<'_, T> {
        Turn { queue: self, held }
    }

    /// A member that has waited for long takes a turn for its batch, if there is one left and nobody leads yet:
    /// where answers take long, one leader at a time would leave the other connections idle.
    pub(crate) fn claim(&self, batch: &Batch<T>) -> bool {
        let mut state = lock(&self.state);
        let claimed = state.turns < self.max_turns && batch.claim();
        state.turns += usize::from(claimed);
        claimed
    }

    /// A batch goes on its way: nobody joins it from now on.
    pub(crate) fn close_batch(&self, batch: &Arc<Batch<T>>) -> Load {
        self.forget(batch);
        batch.close()
    }

    pub(crate) fn forget(&self, batch: &Arc<Batch<T>>) {
        let mut state = lock(&self.state);
        state.pending.retain(|other| !Arc::ptr_eq(other, batch));
    }

    /// Ends all batches that wait for a turn, and with `close` all that are to come.
    pub(crate) fn dismiss(&self, close: bool, outcome: impl Fn() -> Outcome) {
        let mut state = lock(&self.state);
        state.closed |= close;
        let mut freed = 0;
        state.pending.retain(|batch| match batch.dismiss(&outcome) {
            Some(offered) => {
                freed += usize::from(offered);
                false
            }
            None => true,
        });
        state.turns -= freed;
    }

    /// How many wait for a turn, and until when the last of them can.
    pub(crate) fn waiting(&self) -> (usize, Moment) {
        let state = lock(&self.state);
        let batches = state.pending.iter().map(|batch| batch.waiting());
        batches.fold((0, Moment::from_number(0)), |(count, latest), batch| {
            (count + batch.0, latest.max(batch.1))
        })
    }

    /// Values of `bytes` in all came for `keys` keys.
    pub(crate) fn note_values(&self, keys: usize, bytes: usize) {
        let (keys, bytes) = (keys as u64, bytes as u64);
        let Some(new) = bytes.checked_div(keys) else {
            return;
        };
        let weight = keys.min(MEMORY);
        let old = self.average.load(Ordering::Relaxed);
        let average = (old * (MEMORY - weight)).saturating_add(new.saturating_mul(weight)) / MEMORY;
        if average != old {
            self.average.store(average, Ordering::Relaxed);
        }
    }

    /// Callers, turns and batches.
    #[cfg(all(test, loom))]
    pub(super) fn at_rest(&self) -> (usize, usize, usize) {
        let state = lock(&self.state);
        let inside = self.inside.load(Ordering::Relaxed);
        (inside, state.turns, state.pending.len())
    }

    fn max_gets(&self) -> usize {
        let average = self.average.load(Ordering::Relaxed).max(1);
        // No more than MAX_MEMBERS, so that it fits.
        (BATCH_BYTES / average).clamp(1, MAX_MEMBERS as u64) as usize
    }

    fn limit(&self, callers: usize) -> usize {
        if callers <= self.max_turns || self.average.load(Ordering::Relaxed) > LARGE {
            self.max_turns
        } else {
            1
        }
    }

    /// A turn comes back: the batch that has waited longest has it next.
    fn pass(&self) {
        let mut state = lock(&self.state);
        state.turns -= 1;
        let mut next = 0;
        while next < state.pending.len()
            && state.turns < self.limit(self.inside.load(Ordering::Relaxed))
        {
            match state.pending[next].offer() {
                Offered::Yes => {
                    state.turns += 1;
                    next += 1;
                }
                Offered::Led => next += 1,
                Offered::Deserted => {
                    state.pending.remove(next);
                }
            }
        }
    }
}

impl<T> Turn<'_, T> {
    /// The turn goes with an offer.
    pub(crate) fn hand_over(mut self) {
        self.held = false;
    }
}

impl<T> Drop for Turn<'_, T> {
    fn drop(&mut self) {
        if self.held {
            self.queue.pass();
        }
    }
}

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        self.inside.fetch_sub(1, Ordering::Relaxed);
    }
}
