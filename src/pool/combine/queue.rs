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

/// In the word that counts turns: callers share, so that only the slow way through the lock keeps the order.
const SHARED: usize = 1 << (usize::BITS - 1);

/// The callers of one server.
///
/// A *turn* is the right to ask the server, once. As long as there are no more callers than turns each takes one, and a
/// connection with it. When there are more, one leader at a time asks for all that came in the meantime: were there several,
/// those who come back first would take the free connections one by one, and the batches would shrink to nothing.
///
/// While a batch waits, at least one turn is out, and whoever has it looks after the batch when he gives it back.
#[derive(Debug)]
pub(crate) struct Queue<T> {
    /// How many turns are out, and [`SHARED`]. A lone caller touches nothing else.
    turns: AtomicUsize,
    max_turns: usize,
    /// Callers that are in a batch. It grows only under the lock.
    members: AtomicUsize,
    state: Mutex<State<T>>,
    /// The length of values, on the average.
    average: AtomicU64,
}

#[derive(Debug)]
struct State<T> {
    /// Batches that are not on their way yet, the oldest first; only the last one takes up more.
    pending: VecDeque<Arc<Batch<T>>>,
    closed: bool,
}

/// What a caller gets.
#[derive(Debug)]
pub(crate) enum Entry<'q, T> {
    /// It asks for itself alone.
    Alone(Turn<'q, T>),
    /// Its order is part of a batch.
    Member(Place<'q, T>),
}

/// A place in a batch.
#[derive(Debug)]
pub(crate) struct Place<'q, T> {
    pub(super) batch: Arc<Batch<T>>,
    pub(super) number: usize,
    members: &'q AtomicUsize,
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
            pending: VecDeque::new(),
            closed: false,
        };
        Self {
            turns: AtomicUsize::new(0),
            max_turns: max_turns.min(SHARED - 1),
            members: AtomicUsize::new(0),
            state: Mutex::new(state),
            average: AtomicU64::new(0),
        }
    }

    /// Gives a caller a turn, unless callers share.
    #[inline]
    pub(crate) fn enter_alone(&self) -> Option<Turn<'_, T>> {
        let turns = self.turns.load(Ordering::Relaxed);
        // Where callers share, the number is larger than any.
        if turns >= self.max_turns {
            return None;
        }
        let taken =
            self.turns
                .compare_exchange(turns, turns + 1, Ordering::AcqRel, Ordering::Relaxed);
        taken.is_ok().then(|| self.turn(true))
    }

    /// Gives a caller that found others a turn, or makes it a member of a batch.
    pub(crate) fn enter(&self, order: &Order<'_>, deadline: Moment) -> Entry<'_, T> {
        let mut state = lock(&self.state);
        if state.closed {
            // It goes to the gate, and hears there that the pool is shut down.
            return Entry::Alone(self.turn(false));
        }
        if state.pending.is_empty() {
            if self.members.load(Ordering::Relaxed) == 0 {
                self.turns.fetch_and(!SHARED, Ordering::AcqRel);
            }
            if self.take_turn(self.limit(1)) {
                return Entry::Alone(self.turn(true));
            }
        }
        let max_gets = self.max_gets();
        let open = state.pending.back();
        let joined = open
            .and_then(|batch| Some((Arc::clone(batch), batch.join(order, deadline, max_gets)?)));
        let (batch, number) = match joined {
            Some(joined) => joined,
            None => {
                let batch = Arc::new(Batch::new());
                // An empty batch has room for any order that combines at all.
                let Some(number) = batch.join(order, deadline, max_gets) else {
                    return Entry::Alone(self.turn(false));
                };
                state.pending.push_back(Arc::clone(&batch));
                (batch, number)
            }
        };
        self.members.fetch_add(1, Ordering::Relaxed);
        // From here on whoever gives a turn back looks after the batch. Whoever did so just before did not.
        if self.turns.fetch_or(SHARED, Ordering::AcqRel) & SHARED == 0 {
            self.offer_turns(&mut state);
        }
        Entry::Member(Place {
            batch,
            number,
            members: &self.members,
        })
    }

    /// The turn that came with an offer.
    pub(crate) fn turn(&self, held: bool) -> Turn<'_, T> {
        Turn { queue: self, held }
    }

    /// A member that has waited for long takes a turn for its batch, if there is one left and nobody leads yet:
    /// where answers take long, one leader at a time would leave the other connections idle.
    pub(crate) fn claim(&self, batch: &Batch<T>) -> bool {
        let _state = lock(&self.state);
        if !self.take_turn(self.max_turns) {
            return false;
        }
        let claimed = batch.claim();
        if !claimed {
            self.return_turns(1);
        }
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
        self.return_turns(freed);
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

    /// Members, turns and batches.
    #[cfg(all(test, loom))]
    pub(super) fn at_rest(&self) -> (usize, usize, usize) {
        let state = lock(&self.state);
        let turns = self.turns.load(Ordering::Relaxed) & !SHARED;
        let members = self.members.load(Ordering::Relaxed);
        (members, turns, state.pending.len())
    }

    fn max_gets(&self) -> usize {
        let average = self.average.load(Ordering::Relaxed).max(1);
        // No more than MAX_MEMBERS, so that it fits.
        (BATCH_BYTES / average).clamp(1, MAX_MEMBERS as u64) as usize
    }

    /// How many turns may be out, with `more` callers than there are.
    fn limit(&self, more: usize) -> usize {
        let turns = self.turns.load(Ordering::Relaxed) & !SHARED;
        let callers = turns + self.members.load(Ordering::Relaxed) + more;
        if callers <= self.max_turns || self.average.load(Ordering::Relaxed) > LARGE {
            self.max_turns
        } else {
            1
        }
    }

    /// Takes a turn if fewer than `limit` are out.
    fn take_turn(&self, limit: usize) -> bool {
        let more = |turns: usize| (turns & !SHARED < limit).then_some(turns + 1);
        self.turns
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, more)
            .is_ok()
    }

    /// Returns what was before.
    fn return_turns(&self, count: usize) -> usize {
        self.turns.fetch_sub(count, Ordering::AcqRel)
    }

    /// Offers the turns that are left to the batches that wait, the oldest first.
    fn offer_turns(&self, state: &mut State<T>) {
        let mut next = 0;
        while next < state.pending.len() && self.take_turn(self.limit(0)) {
            let offered = state.pending[next].offer();
            if offered != Offered::Yes {
                self.return_turns(1);
            }
            if offered == Offered::Deserted {
                state.pending.remove(next);
            } else {
                next += 1;
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
    #[inline]
    fn drop(&mut self) {
        if self.held && self.queue.return_turns(1) & SHARED != 0 {
            let mut state = lock(&self.queue.state);
            self.queue.offer_turns(&mut state);
        }
    }
}

impl<T> Drop for Place<'_, T> {
    fn drop(&mut self) {
        self.members.fetch_sub(1, Ordering::Relaxed);
    }
}
