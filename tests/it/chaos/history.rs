//! What callers did to one key and what they were told, and whether one order of it all explains the answers.

use std::collections::HashSet;

/// What a key holds: nothing, a text of parts that each have a number, or a counter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Content {
    Absent,
    Parts(Vec<u32>),
    Number(u64),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Action {
    Read,
    Set(Content),
    Add(Content),
    Replace(Content),
    Append(u32),
    Prepend(u32),
    /// With the token of the item that was read.
    Cas(u64, Content),
    Delete,
    Touch,
    Incr(u64),
    Decr(u64),
    AddOrIncr(u64),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Outcome {
    Value(Content),
    /// A value and its token.
    Item(Content, u64),
    Yes,
    No,
    Exists,
    Sum(u64),
    /// The server says that what is there is no number.
    Refused,
    /// No answer: it may be carried out at any later time, or never.
    Unknown,
    /// The error says that it was not carried out, and never will be.
    Nothing(String),
}

/// One call, for one key.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) caller: usize,
    /// The places of begin and end in the one order of all begins and ends.
    pub(super) begin: u64,
    pub(super) end: u64,
    pub(super) action: Action,
    pub(super) outcome: Outcome,
}

#[derive(Debug, PartialEq)]
pub(super) enum Verdict {
    /// One order explains all.
    Good,
    /// None does; the story of the key.
    Bad(String),
    /// Too many orders to try.
    Open,
}

/// A key at one moment. A token is not known before somebody has read it, but tokens only grow.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    content: Content,
    token: Option<u64>,
    /// The largest token known.
    floor: u64,
}

/// How many states are looked at before the search is given up.
const MAX_STATES: usize = 300_000;

/// Stands for all parts that no read has shown; no value has it.
const UNSEEN: u32 = 0;

/// The events that have been put in order.
type Done = [u64; 4];

/// The longest history that can be checked.
pub(super) const MAX_EVENTS: usize = 64 * 4;

/// Looks for an order of the events in which each answer is right, where a call that ended before another began comes
/// before it (Wing and Gong 1993, with the states seen kept, as by Lowe 2017). The key is absent at first.
pub(super) fn check(mut events: Vec<Event>) -> Verdict {
    assert!(events.len() <= MAX_EVENTS, "{} events", events.len());
    events.sort_by_key(|event| event.begin);
    let mut search = Search {
        alike: without_unseen(&events),
        events: &events,
        seen: HashSet::new(),
        furthest: (0, [0; 4]),
    };
    let mut done = [0; 4];
    for (place, event) in events.iter().enumerate() {
        // A touch without an answer changes nothing that can be seen.
        let unseen = event.action == Action::Touch && !event.is_answered();
        if unseen || matches!(event.outcome, Outcome::Nothing(_)) {
            put(&mut done, place);
        }
    }
    let start = State {
        content: Content::Absent,
        token: None,
        floor: 0,
    };
    match search.go_on(done, start) {
        Some(true) => Verdict::Good,
        Some(false) => Verdict::Bad(search.story()),
        None => Verdict::Open,
    }
}

/// The events with one number in place of the parts that no read has shown: what nobody saw is all the same.
fn without_unseen(events: &[Event]) -> Vec<Event> {
    let shown = events.iter().filter_map(|event| match &event.outcome {
        Outcome::Value(Content::Parts(parts)) | Outcome::Item(Content::Parts(parts), _) => {
            Some(parts)
        }
        _ => None,
    });
    let shown: HashSet<u32> = shown.flatten().copied().collect();
    let hide = |part: &mut u32| {
        if !shown.contains(part) {
            *part = UNSEEN;
        }
    };
    let mut events = events.to_vec();
    for event in &mut events {
        match &mut event.action {
            Action::Set(Content::Parts(parts))
            | Action::Add(Content::Parts(parts))
            | Action::Replace(Content::Parts(parts))
            | Action::Cas(_, Content::Parts(parts)) => parts.iter_mut().for_each(hide),
            Action::Append(part) | Action::Prepend(part) => hide(part),
            _ => {}
        }
    }
    events
}

struct Search<'e> {
    events: &'e [Event],
    /// The same, with what is all the same made equal.
    alike: Vec<Event>,
    seen: HashSet<(Done, State)>,
    /// The most answers that one order explained, and what was in that order.
    furthest: (usize, Done),
}

impl Search<'_> {
    /// Whether the rest can be put in order; `None` if there is too much to try.
    fn go_on(&mut self, mut done: Done, state: State) -> Option<bool> {
        let open = self.open(&mut done, &state);
        let answered = || {
            self.alike
                .iter()
                .enumerate()
                .filter(|(_, event)| event.is_answered())
        };
        let known = answered().filter(|(place, _)| has(&done, *place)).count();
        if known >= self.furthest.0 {
            self.furthest = (known, done);
        }
        if known == answered().count() {
            return Some(true);
        }
        if self.seen.len() > MAX_STATES {
            return None;
        }
        if !self.seen.insert((done, state.clone())) {
            return Some(false);
        }
        for place in open {
            let Some(next) = state.after(&self.alike[place]) else {
                continue;
            };
            let mut done = done;
            put(&mut done, place);
            if self.go_on(done, next)? {
                return Some(true);
            }
        }
        Some(false)
    }

    /// The events that may come next, those that must end first in front. Those that only look and are right here are
    /// done at once: any order that explains the rest without them does so with them in this place. Of those that are alike
    /// only the first is tried: where another one could come now, the two can change places.
    fn open(&self, done: &mut Done, state: &State) -> Vec<usize> {
        loop {
            let all = self.alike.iter().enumerate();
            let left: Vec<_> = all.filter(|(place, _)| !has(done, *place)).collect();
            let ends = left.iter().map(|(_, event)| event.must_end());
            let first_end = ends.min().unwrap_or(u64::MAX);
            let open = left
                .into_iter()
                .filter(|(_, event)| event.begin < first_end);
            let mut open: Vec<_> = open.collect();
            let before = *done;
            for (place, event) in &open {
                let same = |next: State| next == *state;
                if event.only_looks() && state.after(event).is_some_and(same) {
                    put(done, *place);
                }
            }
            if *done != before {
                continue;
            }
            open.sort_by_key(|(_, event)| event.must_end());
            let mut tried: Vec<(usize, &Event)> = Vec::new();
            for (place, event) in open {
                let is_alike = |(_, other): &(usize, &Event)| {
                    (&other.action, &other.outcome) == (&event.action, &event.outcome)
                };
                if !tried.iter().any(is_alike) {
                    tried.push((place, event));
                }
            }
            return tried.into_iter().map(|(place, _)| place).collect();
        }
    }

    fn story(&self) -> String {
        let (known, done) = self.furthest;
        let mut story = format!("no order explains more than {known} answers (those with *):\n");
        for (place, event) in self.events.iter().enumerate() {
            let mark = if has(&done, place) { '*' } else { ' ' };
            let Event {
                caller, begin, end, ..
            } = event;
            story += &format!(
                "{mark} [{begin}, {end}] caller {caller}: {:?} -> {:?}\n",
                event.action, event.outcome
            );
        }
        story
    }
}

fn has(done: &Done, place: usize) -> bool {
    done[place / 64] & (1 << (place % 64)) != 0
}

fn put(done: &mut Done, place: usize) {
    done[place / 64] |= 1 << (place % 64);
}

impl Event {
    fn is_answered(&self) -> bool {
        self.outcome != Outcome::Unknown
    }

    /// Whether it changes nothing, whenever it came.
    fn only_looks(&self) -> bool {
        use Outcome::{Exists, Item, No, Refused, Value};
        matches!(self.outcome, Value(_) | Item(..) | No | Exists | Refused)
            || self.action == Action::Touch
    }

    /// When it has been carried out at the latest.
    fn must_end(&self) -> u64 {
        if self.is_answered() {
            self.end
        } else {
            u64::MAX
        }
    }
}

impl State {
    /// The state after an event; `None` if its answer is wrong here. One without an answer must have changed something.
    fn after(&self, event: &Event) -> Option<Self> {
        use Content::{Absent, Number, Parts};
        use Outcome::{Exists, Item, No, Refused, Sum, Unknown, Value, Yes};
        let there = self.content != Absent;
        let same = |right: bool| right.then(|| self.clone());
        let write = |right: bool, content: &Content| right.then(|| self.with(content.clone()));
        match (&event.action, &event.outcome) {
            (Action::Read, Value(found)) => same(*found == self.content),
            (Action::Read, Item(found, token)) => {
                let right = match self.token {
                    Some(known) => known == *token,
                    None => *token > self.floor,
                };
                let state = || Self {
                    content: self.content.clone(),
                    token: Some(*token),
                    floor: *token,
                };
                (right && there && *found == self.content).then(state)
            }
            (Action::Set(new), Yes | Unknown) => write(true, new),
            (Action::Add(new), Yes | Unknown) => write(!there, new),
            (Action::Add(_), No) => same(there),
            (Action::Replace(new), Yes | Unknown) => write(there, new),
            (Action::Replace(_) | Action::Append(_) | Action::Prepend(_), No) => same(!there),
            (Action::Append(part), Yes | Unknown) => match &self.content {
                Parts(parts) => write(true, &Parts([&parts[..], &[*part]].concat())),
                _ => None,
            },
            (Action::Prepend(part), Yes | Unknown) => match &self.content {
                Parts(parts) => write(true, &Parts([&[*part], &parts[..]].concat())),
                _ => None,
            },
            (Action::Cas(token, new), Yes | Unknown) => write(self.token == Some(*token), new),
            (Action::Cas(token, _), Exists) => same(there && self.token != Some(*token)),
            (Action::Cas(..) | Action::Delete | Action::Touch, No) => same(!there),
            (Action::Delete, Yes | Unknown) => write(there, &Absent),
            (Action::Touch, Yes) => same(there),
            (Action::Incr(_) | Action::Decr(_), No) => same(!there),
            (Action::Incr(_) | Action::Decr(_), Refused) => same(matches!(self.content, Parts(_))),
            (Action::Incr(by) | Action::AddOrIncr(by), outcome) if there => {
                let Number(old) = self.content else {
                    return None;
                };
                let sum = old.wrapping_add(*by);
                write([Sum(sum), Unknown].contains(outcome), &Number(sum))
            }
            (Action::AddOrIncr(by), outcome) => {
                write([Sum(*by), Unknown].contains(outcome), &Number(*by))
            }
            (Action::Decr(by), outcome) => {
                let Number(old) = self.content else {
                    return None;
                };
                let rest = old.saturating_sub(*by);
                write([Sum(rest), Unknown].contains(outcome), &Number(rest))
            }
            _ => None,
        }
    }

    fn with(&self, content: Content) -> Self {
        Self {
            content,
            token: None,
            floor: self.floor,
        }
    }
}
