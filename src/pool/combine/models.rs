//! Models of the hand-over, every interleaving of a few callers: nobody is forgotten, nothing is held twice. Run under `cfg(loom)`.

use std::time::Duration;

use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use super::batch::{Batch, Passage, Wake};
use super::queue::{Entry, Queue};
use super::{Answer, Order, Outcome};
use crate::clock::Moment;
use crate::error::Error;
use crate::pool::Refusal;
use crate::sync::Arc;

/// What the connection of a request under way is in a model.
type Connection = u32;

const FOREVER: Duration = Duration::MAX;
const AT_ONCE: Duration = Duration::ZERO;

struct Server {
    queue: Queue<Connection>,
    /// How many may ask at the same time.
    allowed: usize,
    /// Callers that ask at the moment, and connections lent.
    asking: AtomicUsize,
    lent: AtomicUsize,
}

/// What a caller is told.
#[derive(Debug, PartialEq, Eq)]
enum Told {
    Answer,
    TimeOver,
    Shutdown,
}

/// What a caller does when it is its part to lead.
#[derive(Clone, Copy)]
enum Leads {
    ToTheEnd,
    /// Its time is over before the answers are there.
    HandsOver,
    /// Its time is over before there is a connection.
    HandsOverUnsent,
}

fn server(turns: usize, allowed: usize) -> Arc<Server> {
    Arc::new(Server {
        queue: Queue::new(turns),
        allowed,
        asking: AtomicUsize::new(0),
        lent: AtomicUsize::new(0),
    })
}

impl Server {
    fn begin(&self) {
        let before = self.asking.fetch_add(1, Ordering::Relaxed);
        assert!(
            before < self.allowed,
            "more callers ask than there are turns"
        );
    }

    fn end(&self) {
        self.asking.fetch_sub(1, Ordering::Relaxed);
    }

    fn enter(&self, order: &Order<'_>) -> Entry<'_, Connection> {
        match self.queue.enter_alone() {
            Some(turn) => Entry::Alone(turn),
            None => self.queue.enter(order, Moment::from_number(1)),
        }
    }

    /// One call, from its beginning to its end.
    fn call(&self, patience: Duration, leads: Leads) -> Told {
        let order = Order::Get {
            key: b"k",
            cas: false,
        };
        match self.enter(&order) {
            Entry::Alone(turn) => {
                self.begin();
                self.end();
                drop(turn);
                Told::Answer
            }
            Entry::Member(place) => {
                let (batch, member) = (&place.batch, place.number);
                let wake = batch
                    .wait(member, patience)
                    .map_or_else(|| batch.leave(member), Ok);
                match wake {
                    Ok(Wake::Outcome(outcome)) => told(outcome),
                    Ok(Wake::Lead(passage)) => self.lead(batch, member, passage, leads),
                    Err(_sent) => Told::TimeOver,
                }
            }
        }
    }

    fn lead(
        &self,
        batch: &Arc<Batch<Connection>>,
        member: usize,
        passage: Passage<Connection>,
        leads: Leads,
    ) -> Told {
        let turn = self.queue.turn(true);
        if let (Leads::HandsOverUnsent, Passage::Fresh) = (leads, &passage) {
            if batch.hand_over(member, passage).is_none() {
                turn.hand_over();
            }
            return Told::TimeOver;
        }
        self.begin();
        let connection = match passage {
            Passage::Fresh => {
                drop(self.queue.close_batch(batch));
                assert_eq!(self.lent.fetch_add(1, Ordering::Relaxed), 0, "lent twice");
                7
            }
            Passage::Underway(connection) => connection,
        };
        assert_eq!(connection, 7);
        self.end();
        if let Leads::HandsOver = leads {
            match batch.hand_over(member, Passage::Underway(connection)) {
                None => turn.hand_over(),
                Some(_) => {
                    self.lent.fetch_sub(1, Ordering::Relaxed);
                }
            }
            return Told::TimeOver;
        }
        self.lent.fetch_sub(1, Ordering::Relaxed);
        batch.publish(Vec::new(), || Outcome::Answer(Answer::Miss));
        drop(turn);
        Told::Answer
    }

    /// When all are gone nothing is left over.
    fn is_at_rest(&self) {
        assert_eq!(self.queue.at_rest(), (0, 0, 0), "members, turns, batches");
        assert_eq!(self.lent.load(Ordering::Relaxed), 0);
    }
}

fn told(outcome: Outcome) -> Told {
    match outcome {
        Outcome::Answer(_) => Told::Answer,
        Outcome::Refused(_) => Told::Shutdown,
        Outcome::Lost(error) => panic!("{error}"),
    }
}

/// All interleavings of these callers, of whom the first is this thread; `check` sees what they were told.
fn callers<const N: usize>(
    turns: usize,
    callers: [(Duration, Leads); N],
    check: impl Fn([Told; N]) + Sync + Send + 'static,
) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let server = server(turns, turns);
        let others: Vec<_> = callers[1..]
            .iter()
            .map(|(patience, leads)| {
                let (server, patience, leads) = (Arc::clone(&server), *patience, *leads);
                thread::spawn(move || server.call(patience, leads))
            })
            .collect();
        let mut told = vec![server.call(callers[0].0, callers[0].1)];
        told.extend(others.into_iter().map(|other| other.join().unwrap()));
        server.is_at_rest();
        check(told.try_into().unwrap());
    });
}

const PATIENT: (Duration, Leads) = (FOREVER, Leads::ToTheEnd);

#[test]
fn a_batch_that_was_joined_is_never_lost() {
    callers(1, [PATIENT; 3], |told| {
        assert_eq!(told, [const { Told::Answer }; 3]);
    });
}

#[test]
fn with_two_turns_nobody_is_forgotten_either() {
    callers(2, [PATIENT; 3], |told| {
        assert_eq!(told, [const { Told::Answer }; 3]);
    });
}

#[test]
fn a_member_that_leaves_takes_nothing_along() {
    let hasty = (AT_ONCE, Leads::ToTheEnd);
    callers(1, [PATIENT, hasty, PATIENT], |[first, _, third]| {
        assert_eq!((first, third), (Told::Answer, Told::Answer));
    });
}

#[test]
fn a_leader_whose_time_is_over_hands_over_what_is_under_way() {
    let leader = (FOREVER, Leads::HandsOver);
    callers(1, [PATIENT, leader, PATIENT], |[first, _, third]| {
        assert_eq!((first, third), (Told::Answer, Told::Answer));
    });
}

#[test]
fn a_leader_without_a_connection_hands_over_the_turn() {
    let leader = (FOREVER, Leads::HandsOverUnsent);
    callers(1, [PATIENT, leader, PATIENT], |[first, _, third]| {
        assert_eq!((first, third), (Told::Answer, Told::Answer));
    });
}

#[test]
fn leaders_whose_time_is_over_leave_nothing_behind() {
    let leader = (AT_ONCE, Leads::HandsOver);
    callers(1, [PATIENT, leader, leader], |[first, ..]| {
        assert_eq!(first, Told::Answer);
    });
}

#[test]
fn an_impatient_member_and_an_offer_do_not_both_lead() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let server = server(2, 2);
        let order = Order::Get {
            key: b"k",
            cas: false,
        };
        let Entry::Alone(first) = server.enter(&order) else {
            panic!("no turn");
        };
        let Entry::Alone(second) = server.enter(&order) else {
            panic!("no turn");
        };
        let member = {
            let server = Arc::clone(&server);
            thread::spawn(move || {
                let Entry::Member(place) = server.enter(&order) else {
                    return Told::Answer;
                };
                let (batch, member) = (&place.batch, place.number);
                let wake = match batch.wait(member, AT_ONCE) {
                    Some(wake) => wake,
                    None if server.queue.claim(batch) => Wake::Lead(Passage::Fresh),
                    None => batch.wait(member, FOREVER).expect("it waits for ever"),
                };
                match wake {
                    Wake::Outcome(outcome) => told(outcome),
                    Wake::Lead(passage) => server.lead(batch, member, passage, Leads::ToTheEnd),
                }
            })
        };
        drop(first);
        drop(second);
        assert_eq!(member.join().unwrap(), Told::Answer);
        server.is_at_rest();
    });
}

#[test]
fn the_end_of_the_pool_wakes_everybody() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        // After the end nobody needs a turn: the gate turns them away.
        let server = server(1, 3);
        let calls = [(); 2].map(|()| {
            let server = Arc::clone(&server);
            thread::spawn(move || server.call(FOREVER, Leads::ToTheEnd))
        });
        server
            .queue
            .dismiss(true, || Outcome::Refused(Refusal::Final(Error::shutdown())));
        for call in calls {
            assert_ne!(call.join().unwrap(), Told::TimeOver);
        }
        server.is_at_rest();
    });
}
