//! A batch of callers: those who wait for its answers, and which of them asks for all. It knows no connection and no time.

use std::time::Duration;

use super::load::Load;
use super::{Order, Outcome};
use crate::clock::Moment;
use crate::sync::{AtomicBool, Condvar, Mutex, Ordering, lock, wait_while};

/// Callers who share one request. `T` is a request under way with its connection.
#[derive(Debug)]
pub(crate) struct Batch<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    /// Whether there is an outcome or an offer: spares a look at the state.
    news: AtomicBool,
}

#[derive(Debug)]
struct State<T> {
    /// `None` once it is on its way: the batch is closed.
    load: Option<Load>,
    /// How many have joined.
    joined: usize,
    /// Those of them that still wait, or lead.
    live: usize,
    /// The time of the member that can wait the longest.
    latest: Moment,
    lead: Lead<T>,
    outcomes: Vec<Option<Outcome>>,
}

#[derive(Debug)]
enum Lead<T> {
    Nobody,
    /// Whichever member looks first takes it, and leads.
    Offered(Passage<T>),
    Taken,
    Done,
}

/// What goes from one leader to the next. A turn goes with it.
#[derive(Debug)]
pub(crate) enum Passage<T> {
    /// Nothing has been done yet.
    Fresh,
    Underway(T),
}

/// What ends the wait of a member.
#[derive(Debug)]
pub(crate) enum Wake<T> {
    Outcome(Outcome),
    /// It is this member's part to go on for all.
    Lead(Passage<T>),
}

/// What became of a turn that was offered to a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offered {
    Yes,
    /// Somebody leads already.
    Led,
    /// All members have left.
    Deserted,
}

impl<T> Batch<T> {
    pub(super) fn new() -> Self {
        let state = State {
            load: Some(Load::default()),
            joined: 0,
            live: 0,
            latest: Moment::from_number(0),
            lead: Lead::Nobody,
            outcomes: Vec::new(),
        };
        Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
            news: AtomicBool::new(false),
        }
    }

    /// Takes up a member, unless the batch is full or on its way. Only the queue calls it, under its own lock.
    pub(super) fn join(
        &self,
        order: &Order<'_>,
        deadline: Moment,
        max_gets: usize,
    ) -> Option<usize> {
        let mut state = lock(&self.state);
        let member = state.load.as_mut()?.add(order, max_gets)?;
        state.joined += 1;
        state.live += 1;
        state.latest = state.latest.max(deadline);
        Some(member)
    }

    /// Offers a turn, to whichever member looks first.
    pub(super) fn offer(&self) -> Offered {
        let mut state = lock(&self.state);
        if !matches!(state.lead, Lead::Nobody) {
            return Offered::Led;
        }
        if state.live == 0 {
            return Offered::Deserted;
        }
        state.lead = Lead::Offered(Passage::Fresh);
        drop(state);
        self.news.store(true, Ordering::Release);
        self.changed.notify_one();
        Offered::Yes
    }

    /// A member takes the lead by itself; false if there is one already.
    pub(super) fn claim(&self) -> bool {
        let mut state = lock(&self.state);
        let free = matches!(state.lead, Lead::Nobody);
        if free {
            state.lead = Lead::Taken;
        }
        free
    }

    /// Closes the batch: its load goes on its way. Whoever joins from now on joins another.
    pub(super) fn close(&self) -> Load {
        lock(&self.state).load.take().unwrap_or_default()
    }

    /// Whether there is an outcome, or an offer.
    pub(crate) fn has_news(&self) -> bool {
        self.news.load(Ordering::Acquire)
    }

    /// Waits until there is an outcome or the lead, for `limit`.
    pub(crate) fn wait(&self, member: usize, limit: Duration) -> Option<Wake<T>> {
        let waits = |state: &State<T>| matches!(state.lead, Lead::Nobody | Lead::Taken);
        let mut state = wait_while(&self.changed, lock(&self.state), limit, waits);
        self.wake(&mut state, member)
    }

    /// A member's time is over. An outcome or an offer that comes at the last moment is taken; otherwise the member leaves,
    /// and is told whether its order is on its way.
    pub(crate) fn leave(&self, member: usize) -> Result<Wake<T>, bool> {
        let mut state = lock(&self.state);
        if let Some(wake) = self.wake(&mut state, member) {
            return Ok(wake);
        }
        state.live -= 1;
        if let Some(load) = &mut state.load {
            load.cancel(member);
        }
        Err(state.load.is_none())
    }

    /// The leader's time is over: another member goes on. Gives it back if there is none.
    pub(crate) fn hand_over(&self, leader: usize, passage: Passage<T>) -> Option<Passage<T>> {
        let mut state = lock(&self.state);
        state.live -= 1;
        if let Some(load) = &mut state.load {
            load.cancel(leader);
        }
        if state.live == 0 {
            state.lead = Lead::Nobody;
            return Some(passage);
        }
        state.lead = Lead::Offered(passage);
        drop(state);
        self.news.store(true, Ordering::Release);
        self.changed.notify_one();
        None
    }

    /// The end: the outcomes by member, and for those who have none `otherwise`.
    pub(crate) fn publish(&self, outcomes: Vec<Option<Outcome>>, otherwise: impl Fn() -> Outcome) {
        let mut state = lock(&self.state);
        state.end(outcomes, otherwise);
        drop(state);
        self.news.store(true, Ordering::Release);
        self.changed.notify_all();
    }

    /// The end before the beginning, unless somebody leads. Tells whether a turn had been offered, which is free again.
    pub(super) fn dismiss(&self, outcome: impl Fn() -> Outcome) -> Option<bool> {
        let mut state = lock(&self.state);
        let offered = match state.lead {
            Lead::Nobody => false,
            Lead::Offered(Passage::Fresh) => true,
            _ => return None,
        };
        state.end(Vec::new(), outcome);
        drop(state);
        self.news.store(true, Ordering::Release);
        self.changed.notify_all();
        Some(offered)
    }

    /// How many wait, and until when the last of them can.
    pub(super) fn waiting(&self) -> (usize, Moment) {
        let state = lock(&self.state);
        (state.live, state.latest)
    }

    fn wake(&self, state: &mut State<T>, member: usize) -> Option<Wake<T>> {
        match state.lead {
            Lead::Nobody | Lead::Taken => None,
            Lead::Done => {
                let outcome = state.outcomes.get_mut(member).and_then(Option::take);
                outcome.map(Wake::Outcome)
            }
            Lead::Offered(_) => match std::mem::replace(&mut state.lead, Lead::Taken) {
                Lead::Offered(passage) => {
                    self.news.store(false, Ordering::Relaxed);
                    Some(Wake::Lead(passage))
                }
                _ => None,
            },
        }
    }
}

impl<T> State<T> {
    fn end(&mut self, mut outcomes: Vec<Option<Outcome>>, otherwise: impl Fn() -> Outcome) {
        outcomes.resize_with(self.joined, || None);
        for outcome in &mut outcomes {
            outcome.get_or_insert_with(&otherwise);
        }
        self.outcomes = outcomes;
        self.load = None;
        self.lead = Lead::Done;
    }
}
