//! A request for several callers, under way: what was sent, how far its answers were read. A plain value, which goes from one
//! leader to the next together with its connection. It knows no lock and nobody who waits.

use super::load::Load;
use super::{Answer, Found, Outcome};
use crate::error::{Error, Result};
use crate::pool::Refusal;
use crate::protocol::{self, Desync, Expect, Reply, StoreVerb, ValueHead};
use crate::sock::SockIo;

#[derive(Debug)]
pub(crate) struct Run {
    load: Load,
    stage: Stage,
    /// The head of a value whose body is under way, what came of that, and which get it answers.
    part: Option<(usize, ValueHead, Vec<u8>)>,
    outcomes: Vec<Option<Outcome>>,
    /// Why the first try failed, where there is a second one: a store that takes part in it was sent before.
    first_error: Option<Error>,
    bytes: usize,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Unsent,
    /// The answer to this store.
    Stores(usize),
    /// The value of this get, or of a later one.
    Values(usize),
    Through,
}

/// How far a leader came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Went {
    Through,
    /// The leader's time is over; another one may go on.
    TimeOver,
}

impl Run {
    pub(crate) fn new(load: Load) -> Self {
        let mut outcomes = Vec::new();
        outcomes.resize_with(load.members(), || None);
        Self {
            load,
            stage: Stage::Unsent,
            part: None,
            outcomes,
            first_error: None,
            bytes: 0,
        }
    }

    /// Goes on as far as the time of the connection's holder allows. After an error the connection is of no more use.
    pub(crate) fn go_on(&mut self, io: &mut SockIo) -> Result<Went> {
        loop {
            self.stage = match self.stage {
                Stage::Unsent if io.is_late() => return Ok(Went::TimeOver),
                Stage::Unsent => {
                    let replies = self.load.replies();
                    if replies > 0 {
                        io.send(replies, None, |out| self.load.encode(out))?;
                        io.expect_answers();
                    }
                    Stage::Stores(0)
                }
                Stage::Stores(next) if next == self.load.stores.len() => Stage::Values(0),
                Stage::Stores(next) => match self.store(io, next)? {
                    Some(()) => Stage::Stores(next + 1),
                    None => return Ok(Went::TimeOver),
                },
                Stage::Values(_) if !self.load.has_gets() => Stage::Through,
                Stage::Values(next) => match self.value(io, next)? {
                    Some(stage) => stage,
                    None => return Ok(Went::TimeOver),
                },
                Stage::Through => return Ok(Went::Through),
            };
        }
    }

    /// Reads the answer to a store. `None` if there is no time for it, here and below.
    fn store(&mut self, io: &mut SockIo, number: usize) -> Result<Option<()>> {
        let (part, verb) = &self.load.stores[number];
        if part.gone {
            return Ok(Some(()));
        }
        let answer = io.receive_in_time(Expect::Store(*verb), |reply| match reply {
            Reply::Stored => Some(Outcome::Answer(Answer::Stored)),
            Reply::NotStored => Some(Outcome::Answer(Answer::NotStored)),
            Reply::Refused(refusal) => Some(refused(&refusal)),
            _ => None,
        })?;
        let Some(answer) = answer else {
            return Ok(None);
        };
        self.outcomes[part.member] = Some(answer.ok_or_else(|| io.out_of_step(FOREIGN))?);
        io.settle();
        if io.is_in_step() {
            Ok(Some(()))
        } else {
            Err(protocol::Refusal::error_behind())
        }
    }

    /// Reads the next value, or the end of values.
    fn value(&mut self, io: &mut SockIo, next: usize) -> Result<Option<Stage>> {
        if self.part.is_none() {
            let (load, outcomes) = (&self.load, &self.outcomes);
            let tokens = load.tokens;
            let head = io.receive_in_time(Expect::Values { cas: tokens }, |reply| match reply {
                Reply::Value {
                    key,
                    flags,
                    len,
                    cas,
                } => {
                    let get = place_of(load, outcomes, next, key);
                    get.map_or(Head::Foreign, |get| {
                        Head::Value(get, ValueHead { flags, len, cas })
                    })
                }
                Reply::End => Head::End,
                Reply::Refused(refusal) => Head::Refused(refused(&refusal)),
                _ => Head::Foreign,
            })?;
            match head {
                None => return Ok(None),
                Some(Head::Value(get, head)) => self.part = Some((get, head, Vec::new())),
                Some(Head::End) => {
                    io.settle();
                    self.miss_the_rest();
                    return Ok(Some(Stage::Through));
                }
                Some(Head::Refused(outcome)) => {
                    self.refuse_the_rest(&outcome);
                    io.settle();
                    // Whether answers before it were lost, nobody knows: see `Refusal::keep`.
                    let _ = io.out_of_step(Desync("answers before a refusal may be lost"));
                    return Ok(Some(Stage::Through));
                }
                Some(Head::Foreign) => return Err(io.out_of_step(FOREIGN)),
            }
        }
        let Some((_, head, body)) = &mut self.part else {
            return Ok(None);
        };
        if !io.body_in_time(head.len, body)? {
            return Ok(None);
        }
        let Some((get, head, body)) = self.part.take() else {
            return Ok(None);
        };
        self.bytes = self.bytes.saturating_add(body.len());
        let member = self.load.gets[get].member;
        self.outcomes[member] = Some(Outcome::Answer(Answer::Hit(Found { head, body })));
        Ok(Some(Stage::Values(next.max(get + 1))))
    }

    /// Gets without a value are misses; but one for a key that has a value elsewhere in the batch has that one:
    /// some servers, and proxies, answer a key once that stands in a request twice.
    fn miss_the_rest(&mut self) {
        let open = |outcomes: &[Option<Outcome>], member: usize| outcomes[member].is_none();
        for get in self.load.gets.iter().filter(|get| !get.gone) {
            if !open(&self.outcomes, get.member) {
                continue;
            }
            let key = self.load.key(get);
            let found =
                self.load
                    .gets
                    .iter()
                    .find_map(|other| match &self.outcomes[other.member] {
                        Some(Outcome::Answer(Answer::Hit(found)))
                            if self.load.key(other) == key =>
                        {
                            Some(found.clone())
                        }
                        _ => None,
                    });
            let answer = found.map_or(Answer::Miss, Answer::Hit);
            self.outcomes[get.member] = Some(Outcome::Answer(answer));
        }
    }

    fn refuse_the_rest(&mut self, outcome: &Outcome) {
        for get in self.load.gets.iter().filter(|get| !get.gone) {
            self.outcomes[get.member].get_or_insert_with(|| outcome.again());
        }
    }

    /// Makes the run one that is to be sent again; stores whose outcome is open stay out of it unless `overwrites` may be repeated.
    /// False, and nothing changed, if nothing is left to send or it was sent twice already.
    pub(crate) fn repeat(&mut self, overwrites: bool, error: &Error) -> bool {
        let may = |verb: StoreVerb| overwrites && verb != StoreVerb::Add;
        let mut stores = self.load.stores.iter();
        let any = self.load.has_gets() || stores.any(|(part, verb)| !part.gone && may(*verb));
        if self.first_error.is_some() || !any {
            return false;
        }
        for (part, verb) in &mut self.load.stores {
            if !part.gone && !may(*verb) {
                part.gone = true;
                self.outcomes[part.member] = Some(Outcome::Lost(error.again()));
            }
        }
        self.first_error = Some(error.again());
        self.stage = Stage::Unsent;
        true
    }

    /// Whether the request was sent.
    pub(crate) fn is_sent(&self) -> bool {
        self.stage != Stage::Unsent
    }

    /// The outcome of one member, if it is known.
    pub(crate) fn take(&mut self, member: usize) -> Option<Outcome> {
        self.outcomes.get_mut(member).and_then(Option::take)
    }

    /// A member goes before the end: what has not been sent is not sent for it any more. Its outcome, if it is known by now.
    pub(crate) fn leave(&mut self, member: usize) -> Option<Outcome> {
        if !self.is_sent() {
            self.lose_first_try(|store| store == member);
            self.load.cancel(member);
        }
        self.take(member)
    }

    /// There is no second try: what became of stores in the first one stays open.
    pub(crate) fn give_up(&mut self) {
        self.lose_first_try(|_| true);
    }

    fn lose_first_try(&mut self, is_it: impl Fn(usize) -> bool) {
        let Some(error) = &self.first_error else {
            return;
        };
        let stores = self.load.stores.iter().map(|(part, _)| part);
        for part in stores.filter(|part| !part.gone && is_it(part.member)) {
            self.outcomes[part.member].get_or_insert_with(|| Outcome::Lost(error.again()));
        }
    }

    /// The outcomes by member.
    pub(crate) fn into_outcomes(self) -> Vec<Option<Outcome>> {
        self.outcomes
    }

    /// For how many keys how many bytes came.
    pub(crate) fn volume(&self) -> (usize, usize) {
        (self.load.gets.len(), self.bytes)
    }
}

const FOREIGN: Desync = Desync("the reply does not belong to the command");

enum Head {
    Value(usize, ValueHead),
    End,
    Refused(Outcome),
    Foreign,
}

fn refused(refusal: &protocol::Refusal<'_>) -> Outcome {
    Outcome::Refused(Refusal::Final(refusal.to_error()))
}

/// Which get a value belongs to: at `next` or behind it; before it only if the server keeps no order.
fn place_of(load: &Load, outcomes: &[Option<Outcome>], next: usize, key: &[u8]) -> Option<usize> {
    let is_it = |number: &usize| {
        let get = &load.gets[*number];
        !get.gone && outcomes[get.member].is_none() && load.key(get) == key
    };
    (next..load.gets.len())
        .find(is_it)
        .or_else(|| (0..next).find(is_it))
}

#[cfg(test)]
mod tests {
    use super::super::Order;
    use super::*;
    use crate::error::ErrorKind;

    fn of_three_sets() -> Run {
        let mut load = Load::default();
        for key in [b"a", b"b", b"c"] {
            let order = Order::Store {
                verb: StoreVerb::Set,
                key,
                flags: 0,
                exptime: 0,
                data: b"x",
            };
            load.add(&order, 100);
        }
        Run::new(load)
    }

    fn to_send(run: &Run) -> String {
        let mut out = Vec::new();
        run.load.encode(&mut out);
        String::from_utf8(out).unwrap_or_default()
    }

    #[test]
    fn a_member_that_left_before_all_was_sent_has_nothing_sent() {
        let mut run = of_three_sets();
        assert!(run.leave(1).is_none());
        assert_eq!(to_send(&run), "set a 0 0 1\r\nx\r\nset c 0 0 1\r\nx\r\n");
        run.stage = Stage::Stores(0);
        // Its answer is still to come, and to be read.
        assert!(run.leave(0).is_none());
        assert_eq!(run.load.replies(), 2);
    }

    #[test]
    fn a_store_that_was_sent_once_is_open_when_it_is_not_sent_again() {
        let mut run = of_three_sets();
        run.stage = Stage::Stores(0);
        let error = Error::new(ErrorKind::Connection, "broken");
        assert!(run.repeat(true, &error));
        assert!(matches!(run.leave(0), Some(Outcome::Lost(_))));
        assert_eq!(run.load.replies(), 2);
        run.give_up();
        let outcomes = run.into_outcomes();
        assert!(matches!(
            outcomes[..],
            [None, Some(Outcome::Lost(_)), Some(Outcome::Lost(_))]
        ));
    }
}
