//! Request combining: callers who find all connections in use share one request. It knows commands and answers, and no value's form.
//!
//! There is no thread for it. A caller who may ask at once asks alone, on the way of every other command. Those who come in the
//! meantime put their orders into a *batch* ([`batch`]); when a *turn* is free ([`queue`]), one of them, the *leader*, asks for all
//! and reads the answers ([`lead`]), and the others sleep until they are there. A leader whose time is over hands the request to
//! another member as it is ([`run`]), half an answer included: nobody waits past his own deadline, and nobody's wait ends with
//! another's.

mod batch;
mod carry;
mod lead;
mod load;
#[cfg(all(test, loom))]
mod models;
mod queue;
mod run;

use std::time::Duration;

use super::host::{FAIR_TRY, Host, Refusal};
use crate::clock::{Moment, nanos};
use crate::error::Error;
use crate::protocol::{StoreVerb, ValueHead};
use crate::sync::{AtomicU64, Ordering};
use batch::{Batch, Passage, Wake};
use carry::Detached;
use lead::Leader;
use queue::{Entry, Place, Queue, Turn};
use run::Run;

/// How often a member lets others run before it goes to sleep: with many callers the answer is often there by then, and a
/// sleep and its end cost more than the whole request.
const YIELDS: u32 = 2;

/// A processor that does not come back for so long is busy with others: then yielding only loses one's place.
const LONG_YIELD: Duration = Duration::from_millis(1);

/// For so long nobody yields then.
const NO_YIELDS: Duration = Duration::from_millis(250);

/// After so long the first member of a batch looks for a connection that rests.
const IMPATIENCE: Duration = Duration::from_millis(5);

/// The largest value that is stored together with others: a larger one is better sent from where it lies.
pub(crate) const MAX_JOINT_STORE: usize = 8 * 1024;

/// What a caller wants of the server.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Order<'a> {
    Get {
        key: &'a [u8],
        cas: bool,
    },
    /// `set`, `add` or `replace` of up to [`MAX_JOINT_STORE`] bytes.
    Store {
        verb: StoreVerb,
        key: &'a [u8],
        flags: u32,
        exptime: i32,
        data: &'a [u8],
    },
}

/// What the server answered.
#[derive(Debug)]
pub(crate) enum Answer {
    Hit(Found),
    Miss,
    Stored,
    NotStored,
}

/// A value as it is stored.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) head: ValueHead,
    pub(crate) body: Vec<u8>,
}

/// What became of one member's order.
#[derive(Debug)]
pub(crate) enum Outcome {
    Answer(Answer),
    /// It was not sent, or the server refused it.
    Refused(Refusal),
    /// It was sent, and its answer is lost.
    Lost(Error),
}

/// The part of one server that lets callers share requests.
#[derive(Debug)]
pub(crate) struct Combiner {
    queue: Queue<Trip>,
    /// Nobody yields before; 0 if all may.
    no_yields_until: AtomicU64,
    /// Until when somebody who can wait longer judges the server; 0 if nobody does. See [`Combiner::postpones`].
    judged_at: AtomicU64,
}

/// A request under way, with its connection; without one, it is to be sent on another.
#[derive(Debug)]
pub(crate) struct Trip {
    run: Run,
    connection: Option<Detached>,
}

/// How a caller goes on.
#[derive(Debug)]
pub(crate) enum Way<'h> {
    /// Alone, by a connection of its own. The permission ends when it is dropped.
    Alone(Option<Alone<'h>>),
    Together(Member<'h>),
}

/// Permission to ask alone.
#[derive(Debug)]
pub(crate) struct Alone<'h> {
    combiner: &'h Combiner,
    _turn: Turn<'h, Trip>,
}

/// A place in a batch.
#[derive(Debug)]
pub(crate) struct Member<'h> {
    host: &'h Host,
    combiner: &'h Combiner,
    place: Place<'h, Trip>,
    /// Whether the order changes something.
    changes: bool,
    call: Call,
}

/// The time of an operation.
#[derive(Clone, Copy, Debug)]
struct Call {
    begun: Moment,
    deadline: Moment,
}

impl Combiner {
    pub(crate) fn new(max_open: usize) -> Self {
        Self {
            queue: Queue::new(max_open),
            no_yields_until: AtomicU64::new(0),
            judged_at: AtomicU64::new(0),
        }
    }

    /// A caller comes and has a turn of its own, as long as there are no more callers than turns.
    #[inline]
    pub(crate) fn enter_alone(&self) -> Option<Alone<'_>> {
        Some(Alone {
            combiner: self,
            _turn: self.queue.enter_alone()?,
        })
    }

    /// A caller comes to `host`, whose combiner this is, and there are others.
    fn enter<'h>(
        &'h self,
        host: &'h Host,
        order: &Order<'_>,
        begun: Moment,
        deadline: Moment,
    ) -> Way<'h> {
        match self.queue.enter(order, deadline) {
            Entry::Alone(turn) => Way::Alone(Some(Alone {
                combiner: self,
                _turn: turn,
            })),
            Entry::Member(place) => Way::Together(Member {
                host,
                combiner: self,
                place,
                changes: matches!(order, Order::Store { .. }),
                call: Call { begun, deadline },
            }),
        }
    }

    /// How many callers wait for others to ask for them.
    pub(crate) fn waiting(&self) -> usize {
        self.queue.waiting().0
    }

    /// The server has just been marked dead: those who wait for a turn go where failover leads.
    pub(crate) fn server_died(&self, refusal: &Refusal) {
        self.judged_at.store(0, Ordering::Relaxed);
        self.queue
            .dismiss(false, || Outcome::Refused(refusal.again()));
    }

    /// The pool ends.
    pub(crate) fn shut_down(&self) {
        let refusal = || Outcome::Refused(Refusal::Final(Error::shutdown()));
        self.queue.dismiss(true, refusal);
    }

    /// A caller's time is over and the server has not answered. Whether that says nothing yet, because others who wait for
    /// an answer can wait longer: the server is marked dead only when their time is over as well, or after `patience`.
    pub(crate) fn postpones(&self, now: Moment, patience: Duration) -> bool {
        let judged_at = self.judged_at.load(Ordering::Relaxed);
        if judged_at != 0 {
            return now < Moment::from_number(judged_at);
        }
        let (waiting, latest) = self.queue.waiting();
        let judged_at = latest.min(now + patience);
        let postpones = waiting > 0 && judged_at > now + FAIR_TRY;
        if postpones {
            self.judged_at.store(judged_at.number(), Ordering::Relaxed);
        }
        postpones
    }

    /// The server has answered.
    fn heard(&self) {
        if self.judged_at.load(Ordering::Relaxed) != 0 {
            self.judged_at.store(0, Ordering::Relaxed);
        }
    }

    /// Lets others run, for as long as that may bring news.
    fn yield_to_others(&self, batch: &Batch<Trip>) {
        for _ in 0..YIELDS {
            if batch.has_news() {
                return;
            }
            let begun = Moment::now();
            if begun.number() < self.no_yields_until.load(Ordering::Relaxed) {
                return;
            }
            std::thread::yield_now();
            let now = Moment::now();
            if now.nanos_since(begun) > nanos(LONG_YIELD) {
                let until = (now + NO_YIELDS).number();
                self.no_yields_until.store(until, Ordering::Relaxed);
            }
        }
    }
}

impl Alone<'_> {
    /// The server has answered.
    pub(crate) fn heard(&self) {
        self.combiner.heard();
    }

    /// A value of `len` bytes came.
    pub(crate) fn note_value(&self, len: usize) {
        self.combiner.queue.note_values(1, len);
    }
}

impl Member<'_> {
    /// Waits for the answer, and asks for all when it is this member's part.
    pub(crate) fn answer(self) -> Result<Answer, Refusal> {
        self.combiner.yield_to_others(&self.place.batch);
        match self.wait() {
            Ok(Wake::Outcome(outcome)) => outcome.for_caller(self.changes),
            Ok(Wake::Lead(passage)) => {
                let turn = self.combiner.queue.turn(true);
                let outcome = Leader::new(&self, turn).lead(passage);
                outcome.for_caller(self.changes)
            }
            Err(refusal) => Err(refusal),
        }
    }

    fn wait(&self) -> Result<Wake<Trip>, Refusal> {
        let mut limit = self.call.deadline.since(Moment::now());
        if self.place.number == 0 && limit > IMPATIENCE {
            if let Some(wake) = self.place.batch.wait(self.place.number, IMPATIENCE) {
                return Ok(wake);
            }
            if self.combiner.queue.claim(&self.place.batch) {
                return Ok(Wake::Lead(Passage::Fresh));
            }
            limit = self.call.deadline.since(Moment::now());
        }
        if let Some(wake) = self.place.batch.wait(self.place.number, limit) {
            return Ok(wake);
        }
        self.place.batch.leave(self.place.number).or_else(|sent| {
            self.host.count_timeout();
            self.host.check_process();
            let error = Error::timeout("the deadline passed before the answer came");
            let error = error.at(self.host.addr().name());
            let outcome = match sent {
                true => Outcome::Lost(error),
                false => Outcome::Refused(Refusal::Final(error)),
            };
            Ok(Wake::Outcome(outcome))
        })
    }
}

impl Outcome {
    fn for_caller(self, changes: bool) -> Result<Answer, Refusal> {
        match self {
            Outcome::Answer(answer) => Ok(answer),
            Outcome::Refused(refusal) => Err(refusal),
            Outcome::Lost(error) if changes => Err(Refusal::Final(error.into_ambiguous())),
            Outcome::Lost(error) => Err(Refusal::Final(error)),
        }
    }

    /// The same for another member.
    fn again(&self) -> Self {
        match self {
            Outcome::Answer(Answer::Hit(found)) => Outcome::Answer(Answer::Hit(found.clone())),
            Outcome::Answer(Answer::Miss) => Outcome::Answer(Answer::Miss),
            Outcome::Answer(Answer::Stored) => Outcome::Answer(Answer::Stored),
            Outcome::Answer(Answer::NotStored) => Outcome::Answer(Answer::NotStored),
            Outcome::Refused(refusal) => Outcome::Refused(refusal.again()),
            Outcome::Lost(error) => Outcome::Lost(error.again()),
        }
    }
}
