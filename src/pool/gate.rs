//! Who may have a connection of one server, and who waits: the idle stack, the limit, the queue, the dead mark.
//! It does no input or output, and does not know what a connection is.

use std::collections::VecDeque;
use std::time::Duration;

use super::dead::{Dead, DeadUntil};
use crate::clock::Moment;
use crate::sync::{Arc, AtomicBool, Condvar, Mutex, Ordering::Relaxed, lock, try_lock, wait_while};

/// The state of one server's connections.
///
/// `open` counts permits: each connection, idle or lent, and each one that is being opened has one.
/// A permit is in exactly one place: with the idle stack, with a caller, with the maintenance thread, or in an offer.
#[derive(Debug)]
pub(crate) struct Gate<T> {
    state: Mutex<State<T>>,
    max_open: usize,
    /// What the dead mark says, to be read without the lock: every call asks every server.
    ejected: AtomicBool,
}

#[derive(Debug)]
struct State<T> {
    idle: Vec<T>,
    waiting: VecDeque<Arc<Waiter<T>>>,
    open: usize,
    dead: Dead,
    closed: bool,
}

/// What a caller gets at the gate.
#[derive(Debug)]
pub(crate) enum Entry<T> {
    /// The connection that was used last.
    Idle(T),
    /// A permit to open a connection; it must come back by [`Gate::put`] or [`Gate::forfeit`].
    Permit,
    /// All permits are out: wait for one.
    Wait(Arc<Waiter<T>>),
    /// The server is dead until then, and nobody tries it for the caller's sake.
    Dead(DeadUntil),
    Closed,
}

/// A place in the queue.
#[derive(Debug)]
pub(crate) struct Waiter<T> {
    offer: Mutex<Option<Entry<T>>>,
    ready: Condvar,
}

/// Numbers for the statistics.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Occupancy {
    pub(crate) idle: usize,
    pub(crate) open: usize,
    pub(crate) waiting: usize,
    pub(crate) dead: Option<DeadUntil>,
}

impl<T> Gate<T> {
    pub(crate) fn new(max_open: usize, dead: Dead) -> Self {
        let state = State {
            idle: Vec::new(),
            waiting: VecDeque::new(),
            open: 0,
            dead,
            closed: false,
        };
        Self {
            state: Mutex::new(state),
            max_open,
            ejected: AtomicBool::new(false),
        }
    }

    /// Comes to the gate. First come, first served: nobody passes those who wait.
    #[inline]
    pub(crate) fn enter(&self) -> Entry<T> {
        let mut state = lock(&self.state);
        if state.waiting.is_empty() {
            if let Some(connection) = state.idle.pop() {
                return Entry::Idle(connection);
            }
        }
        state.entry_without_idle(self.max_open)
    }

    /// Waits for an offer; `None` when the time is over. An offer that comes at the last moment is taken.
    pub(crate) fn wait(&self, waiter: &Arc<Waiter<T>>, limit: Duration) -> Option<Entry<T>> {
        if let Some(offer) = waiter.wait(limit) {
            return Some(offer);
        }
        // Under the gate's lock nobody makes an offer: either it is there by now, or this waiter leaves the queue.
        let mut state = lock(&self.state);
        let offer = lock(&waiter.offer).take();
        if offer.is_none() {
            state.waiting.retain(|other| !Arc::ptr_eq(other, waiter));
        }
        offer
    }

    /// A connection comes back. It is handed to whoever has waited longest; one that nobody may use is returned, to be closed
    /// (its permit is gone by then).
    #[inline]
    #[must_use = "a connection that is returned must be closed, outside of the lock"]
    pub(crate) fn put(&self, connection: T) -> Option<T> {
        let mut state = lock(&self.state);
        if state.is_awaited() {
            return state.hand_on(connection);
        }
        state.idle.push(connection);
        None
    }

    /// A permit comes back without a connection: it was closed, or could not be opened.
    pub(crate) fn forfeit(&self) {
        let mut state = lock(&self.state);
        match state.waiting.pop_front() {
            Some(waiter) => waiter.offer(Entry::Permit),
            None => state.open -= 1,
        }
    }

    /// The connection that a caller got turned out to be broken: another idle one in its place, or its permit for a new one.
    /// A caller who had waited for it does not wait again.
    pub(crate) fn exchange(&self) -> Entry<T> {
        let mut state = lock(&self.state);
        if !state.closed && state.dead.until().is_none() && state.idle.is_empty() {
            return Entry::Permit;
        }
        state.open -= 1;
        match state.idle.pop() {
            Some(connection) => Entry::Idle(connection),
            None => state.entry_without_idle(self.max_open),
        }
    }

    /// Takes up to `wanted` permits, as many as the limit leaves, if the server is alive and the gate open.
    pub(crate) fn reserve(&self, wanted: usize) -> usize {
        let mut state = lock(&self.state);
        if state.closed || state.dead.until().is_some() {
            return 0;
        }
        let granted = wanted.min(self.max_open - state.open);
        state.open += granted;
        granted
    }

    /// Marks the server dead. Its idle connections are returned, to be closed, and all who wait are sent on.
    /// `None` if it was dead already.
    pub(crate) fn kill(&self, now: Moment) -> Option<(Vec<T>, Duration)> {
        let mut state = lock(&self.state);
        if state.closed || !state.dead.fail(now) {
            return None;
        }
        let waiting = std::mem::take(&mut state.waiting);
        if let Some(dead) = state.dead.until() {
            self.ejected.store(dead.ejected, Relaxed);
            waiting
                .iter()
                .for_each(|waiter| waiter.offer(Entry::Dead(dead)));
        }
        let delay = state.dead.delay();
        Some((state.drain(), delay))
    }

    /// A try to revive the server failed: the next one comes after twice the time, which is returned.
    pub(crate) fn kill_again(&self, now: Moment) -> Duration {
        let mut state = lock(&self.state);
        state.dead.fail_again(now);
        if let Some(dead) = state.dead.until() {
            self.ejected.store(dead.ejected && !state.closed, Relaxed);
        }
        state.dead.delay()
    }

    /// The server lives again.
    pub(crate) fn revive(&self) {
        let mut state = lock(&self.state);
        state.dead.revive();
        self.ejected.store(false, Relaxed);
    }

    /// Ends all: idle connections are returned, to be closed, those who wait and those who come get [`Entry::Closed`].
    pub(crate) fn close(&self) -> Vec<T> {
        let mut state = lock(&self.state);
        state.closed = true;
        // Whoever comes is to hear that it is closed, and not to look elsewhere.
        self.ejected.store(false, Relaxed);
        let waiting = std::mem::take(&mut state.waiting);
        for waiter in waiting {
            waiter.offer(Entry::Closed);
        }
        state.drain()
    }

    /// Empties the idle stack, unless somebody holds the lock: after a fork that may be for ever.
    pub(crate) fn abandon(&self) -> Vec<T> {
        try_lock(&self.state).map_or_else(Vec::new, |mut state| state.drain())
    }

    /// Lets `choose` look at the idle connections, longest rested first, and takes out those that it picks, with their permits.
    pub(crate) fn pick_idle(&self, mut choose: impl FnMut(usize, &mut T) -> bool) -> Vec<T> {
        let mut state = lock(&self.state);
        let idle = state.idle.len();
        let (mut picked, mut kept) = (Vec::new(), Vec::with_capacity(idle));
        for mut connection in state.idle.drain(..) {
            if choose(idle - picked.len(), &mut connection) {
                picked.push(connection);
            } else {
                kept.push(connection);
            }
        }
        // The stack keeps its room, so that no caller who puts a connection back has to allocate.
        state.idle.extend(kept);
        state.open -= picked.len();
        picked
    }

    /// Whether the keys of the server go to others.
    pub(crate) fn ejected(&self) -> bool {
        self.ejected.load(Relaxed)
    }

    pub(crate) fn dead(&self) -> Option<DeadUntil> {
        lock(&self.state).dead.until()
    }

    pub(crate) fn occupancy(&self) -> Occupancy {
        let state = lock(&self.state);
        Occupancy {
            idle: state.idle.len(),
            open: state.open,
            waiting: state.waiting.len(),
            dead: state.dead.until(),
        }
    }
}

impl<T> State<T> {
    /// Whether a connection that comes back does not simply go to rest.
    fn is_awaited(&self) -> bool {
        self.closed || self.dead.until().is_some() || !self.waiting.is_empty()
    }

    #[cold]
    fn hand_on(&mut self, connection: T) -> Option<T> {
        if self.closed || self.dead.until().is_some() {
            self.open -= 1;
            return Some(connection);
        }
        match self.waiting.pop_front() {
            Some(waiter) => waiter.offer(Entry::Idle(connection)),
            None => self.idle.push(connection),
        }
        None
    }

    #[cold]
    fn entry_without_idle(&mut self, max_open: usize) -> Entry<T> {
        if self.closed {
            return Entry::Closed;
        }
        if let Some(dead) = self.dead.until() {
            return Entry::Dead(dead);
        }
        if self.open < max_open {
            self.open += 1;
            return Entry::Permit;
        }
        let waiter = Arc::new(Waiter {
            offer: Mutex::new(None),
            ready: Condvar::new(),
        });
        self.waiting.push_back(Arc::clone(&waiter));
        Entry::Wait(waiter)
    }

    fn drain(&mut self) -> Vec<T> {
        let idle = std::mem::take(&mut self.idle);
        self.open -= idle.len();
        idle
    }
}

impl<T> Waiter<T> {
    fn offer(&self, entry: Entry<T>) {
        *lock(&self.offer) = Some(entry);
        self.ready.notify_one();
    }

    fn wait(&self, limit: Duration) -> Option<Entry<T>> {
        wait_while(&self.ready, lock(&self.offer), limit, Option::is_none).take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_millis(5);
    const LATE: Duration = Duration::from_secs(10);

    fn gate(max_open: usize) -> Gate<u32> {
        Gate::new(
            max_open,
            Dead::new(Duration::from_millis(100), Duration::from_secs(1), 1),
        )
    }

    fn waiter(gate: &Gate<u32>) -> Arc<Waiter<u32>> {
        match gate.enter() {
            Entry::Wait(waiter) => waiter,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_connection_used_last_comes_first() {
        let gate = gate(3);
        for _ in 0..3 {
            assert!(matches!(gate.enter(), Entry::Permit));
        }
        for connection in [1, 2, 3] {
            assert_eq!(gate.put(connection), None);
        }
        assert!(matches!(gate.enter(), Entry::Idle(3)));
        assert!(matches!(gate.enter(), Entry::Idle(2)));
    }

    #[test]
    fn first_come_first_served_and_nobody_passes() {
        let gate = gate(1);
        assert!(matches!(gate.enter(), Entry::Permit));
        let (first, second) = (waiter(&gate), waiter(&gate));
        assert_eq!(gate.put(7), None);
        let _third = waiter(&gate);
        assert!(matches!(gate.wait(&first, LATE), Some(Entry::Idle(7))));
        assert!(gate.wait(&second, SOON).is_none());
        assert_eq!(gate.occupancy().waiting, 1);
    }

    #[test]
    fn a_permit_that_comes_back_empty_is_passed_on() {
        let gate = gate(1);
        assert!(matches!(gate.enter(), Entry::Permit));
        let first = waiter(&gate);
        gate.forfeit();
        assert!(matches!(gate.wait(&first, LATE), Some(Entry::Permit)));
        gate.forfeit();
        assert_eq!(gate.occupancy().open, 0);
    }

    #[test]
    fn a_broken_connection_is_exchanged_before_anybody_else_s_turn() {
        let gate = gate(2);
        assert_eq!(gate.reserve(2), 2);
        assert_eq!((gate.put(1), gate.put(2)), (None, None));
        assert!(matches!(gate.enter(), Entry::Idle(2)));
        assert!(matches!(gate.exchange(), Entry::Idle(1)));
        assert_eq!(gate.occupancy().open, 1);
        assert!(matches!(gate.enter(), Entry::Permit));
        let _next = waiter(&gate);
        assert!(matches!(gate.exchange(), Entry::Permit));
        assert_eq!(gate.occupancy().open, 2);
        drop(gate.kill(Moment::now()));
        assert!(matches!(gate.exchange(), Entry::Dead(_)));
        drop(gate.close());
        assert!(matches!(gate.exchange(), Entry::Closed));
        assert_eq!(gate.occupancy().open, 0);
    }

    #[test]
    fn an_offer_at_the_last_moment_is_not_lost() {
        let gate = gate(1);
        assert!(matches!(gate.enter(), Entry::Permit));
        let first = waiter(&gate);
        assert_eq!(gate.put(7), None);
        assert!(matches!(
            gate.wait(&first, Duration::ZERO),
            Some(Entry::Idle(7))
        ));
    }

    #[test]
    fn death_empties_the_gate_once() {
        let gate = gate(2);
        let now = Moment::now();
        assert!(matches!(gate.enter(), Entry::Permit));
        assert!(matches!(gate.enter(), Entry::Permit));
        assert_eq!(gate.put(7), None);
        assert!(matches!(gate.enter(), Entry::Idle(7)));
        let waiting = waiter(&gate);
        assert!(matches!(gate.kill(now), Some((idle, _)) if idle.is_empty()));
        assert!(gate.kill(now).is_none());
        assert!(matches!(gate.wait(&waiting, LATE), Some(Entry::Dead(_))));
        assert_eq!(gate.put(7), Some(7));
        gate.forfeit();
        assert_eq!(gate.reserve(5), 0);
        assert!(
            matches!(gate.enter(), Entry::Dead(dead) if dead.until == now + Duration::from_millis(100))
        );
        assert_eq!(gate.kill_again(now), Duration::from_millis(200));
        gate.revive();
        assert_eq!(gate.reserve(5), 2);
    }

    #[test]
    fn after_the_end_all_get_the_same_answer() {
        let gate = gate(2);
        assert_eq!(gate.reserve(1), 1);
        assert_eq!(gate.put(1), None);
        assert!(matches!(gate.enter(), Entry::Idle(1)));
        assert!(matches!(gate.enter(), Entry::Permit));
        let waiting = waiter(&gate);
        assert!(gate.close().is_empty());
        assert!(matches!(gate.wait(&waiting, LATE), Some(Entry::Closed)));
        assert!(matches!(gate.enter(), Entry::Closed));
        assert_eq!(gate.put(1), Some(1));
        gate.forfeit();
        assert_eq!(gate.occupancy().open, 0);
    }

    #[test]
    fn what_is_abandoned_waits_for_no_lock() {
        let gate = gate(2);
        assert_eq!(gate.reserve(2), 2);
        assert_eq!((gate.put(1), gate.put(2)), (None, None));
        let held = lock(&gate.state);
        assert!(gate.abandon().is_empty());
        drop(held);
        assert_eq!(gate.abandon(), [1, 2]);
        assert_eq!((gate.occupancy().idle, gate.occupancy().open), (0, 0));
    }

    #[test]
    fn idle_connections_are_picked_with_their_permits() {
        let gate = gate(9);
        assert_eq!(gate.reserve(4), 4);
        for connection in 0..4 {
            assert_eq!(gate.put(connection), None);
        }
        let picked = gate.pick_idle(|left, connection| left > 2 && *connection != 1);
        assert_eq!(picked, [0, 2]);
        assert_eq!((gate.occupancy().idle, gate.occupancy().open), (2, 2));
    }

    #[test]
    fn a_look_at_the_idle_ones_takes_no_room_from_the_stack() {
        let gate = gate(1);
        assert_eq!(gate.reserve(1), 1);
        assert_eq!(gate.put(1), None);
        assert!(matches!(gate.enter(), Entry::Idle(1)));
        assert!(gate.pick_idle(|_, _| true).is_empty());
        assert!(lock(&gate.state).idle.capacity() > 0);
    }
}
