//! What a leader does: takes a connection, asks for all, and lets everybody know, or hands over. It knows no lock.

use super::batch::{Batch, Passage};
use super::queue::Turn;
use super::run::{Run, Went};
use super::{Call, Combiner, Member, Outcome, Trip};
use crate::clock::Moment;
use crate::error::{Error, ErrorKind};
use crate::pool::{Host, Lease, Refusal};
use crate::sock::SLACK;
use crate::sync::Arc;

/// The member that asks for all. Dropped before its end, by a panic, it tells the others that their answers are lost.
pub(super) struct Leader<'m> {
    host: &'m Host,
    combiner: &'m Combiner,
    batch: &'m Arc<Batch<Trip>>,
    number: usize,
    call: Call,
    /// `None` when it has gone to the next leader, or the batch is at its end.
    turn: Option<Turn<'m, Trip>>,
}

impl<'m> Leader<'m> {
    pub(super) fn new(member: &'m Member<'_>, turn: Turn<'m, Trip>) -> Self {
        Self {
            host: member.host,
            combiner: member.combiner,
            batch: &member.place.batch,
            number: member.place.number,
            call: member.call,
            turn: Some(turn),
        }
    }

    /// Returns the leader's own outcome.
    pub(super) fn lead(self, passage: Passage<Trip>) -> Outcome {
        let (run, connection) = match passage {
            Passage::Fresh => (None, None),
            Passage::Underway(trip) => (Some(trip.run), trip.connection),
        };
        let deadline = self.call.deadline;
        let lent = match connection {
            Some(connection) => Ok(self.host.attach(connection, deadline, Moment::now())),
            None => self.host.lend(deadline, self.now()),
        };
        let mut lease = match lent {
            Ok(lease) => lease,
            Err(refusal) => return self.refused(run, refusal),
        };
        let mut run = run.unwrap_or_else(|| Run::new(self.combiner.queue.close_batch(self.batch)));
        loop {
            match run.go_on(lease.io()) {
                Ok(Went::Through) => {
                    drop(lease);
                    self.combiner.heard();
                    let (keys, bytes) = run.volume();
                    self.combiner.queue.note_values(keys, bytes);
                    return self.end(run, || Outcome::Lost(lost()));
                }
                Ok(Went::TimeOver) => return self.time_over(run, lease),
                Err(error) => {
                    let error = error.at(self.host.addr().name());
                    lease.failed(&error);
                    let sent = lease.io().has_written();
                    let again = error.kind() == ErrorKind::Connection
                        && lease.is_reused()
                        && !lease.io().has_heard()
                        && (!sent || run.repeat(self.host.retries_writes(), &error));
                    if !again {
                        drop(lease);
                        return self.failed(run, sent, &error);
                    }
                    lease = match lease.reconnect() {
                        Ok(lease) => lease,
                        Err(refusal) => return self.refused(Some(run), refusal),
                    };
                }
            }
        }
    }

    /// A moment not long before: where the call began only just now, that, so that the timers of the connection can stay.
    fn now(&self) -> Moment {
        let Call { begun, deadline } = self.call;
        let now = Moment::now();
        let slack = SLACK.min(deadline.nanos_since(begun) / 5);
        if now.nanos_since(begun) <= slack {
            begun
        } else {
            now
        }
    }

    /// No connection. If that is only for want of time, another member may have more.
    fn refused(mut self, mut run: Option<Run>, refusal: Refusal) -> Outcome {
        if matches!(refusal, Refusal::Final(_)) && self.call.deadline <= Moment::now() {
            let own = run.as_mut().and_then(|run| run.leave(self.number));
            let passage = match run {
                Some(run) => Passage::Underway(Trip {
                    run,
                    connection: None,
                }),
                None => Passage::Fresh,
            };
            let _deserted = self.hand_over(passage);
            return own.unwrap_or(Outcome::Refused(refusal));
        }
        if let Some(run) = &mut run {
            run.give_up();
        }
        let own = run.as_mut().and_then(|run| run.take(self.number));
        self.combiner.queue.forget(self.batch);
        let outcomes = run.map(Run::into_outcomes).unwrap_or_default();
        self.batch
            .publish(outcomes, || Outcome::Refused(refusal.again()));
        self.turn = None;
        own.unwrap_or(Outcome::Refused(refusal))
    }

    /// The leader's time is over: another member goes on, with the connection as it is. If there is none, it is closed.
    fn time_over(mut self, mut run: Run, lease: Lease<'_>) -> Outcome {
        let sent = run.is_sent();
        let own = run.leave(self.number);
        let error = Error::timeout("the deadline passed before the answer came");
        let error = error.at(self.host.addr().name());
        let trip = Trip {
            run,
            connection: lease.detach(),
        };
        match self.hand_over(Passage::Underway(trip)) {
            Some(Passage::Underway(Trip {
                connection: Some(connection),
                ..
            })) => {
                let call = self.call;
                let mut lease = self.host.attach(connection, call.deadline, Moment::now());
                lease.failed(&error);
            }
            _ => self.host.count_timeout(),
        }
        own.unwrap_or(if sent {
            Outcome::Lost(error)
        } else {
            Outcome::Refused(Refusal::Final(error))
        })
    }

    fn hand_over(&mut self, passage: Passage<Trip>) -> Option<Passage<Trip>> {
        let turn = self.turn.take();
        let back = self.batch.hand_over(self.number, passage);
        match (&back, turn) {
            (None, Some(turn)) => turn.hand_over(),
            // Passed on only when the connection is free again.
            (Some(_), turn) => self.turn = turn,
            (None, None) => {}
        }
        back
    }

    /// Where there is no outcome it is lost; but if nothing was sent, nothing can have been carried out.
    fn failed(self, mut run: Run, sent: bool, error: &Error) -> Outcome {
        if sent {
            return self.end(run, || Outcome::Lost(error.again()));
        }
        run.give_up();
        self.end(run, || Outcome::Refused(Refusal::Final(error.again())))
    }

    /// Everybody hears the outcome; where there is none, this one.
    fn end(mut self, mut run: Run, otherwise: impl Fn() -> Outcome) -> Outcome {
        let own = run.take(self.number);
        self.batch.publish(run.into_outcomes(), &otherwise);
        self.turn = None;
        own.unwrap_or_else(otherwise)
    }
}

fn lost() -> Error {
    Error::new(
        ErrorKind::Connection,
        "the answer was lost by the caller that asked for several",
    )
}

impl Drop for Leader<'_> {
    fn drop(&mut self) {
        if self.turn.is_some() && std::thread::panicking() {
            self.combiner.queue.forget(self.batch);
            self.batch.publish(Vec::new(), || Outcome::Lost(lost()));
        }
    }
}
