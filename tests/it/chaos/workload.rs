//! What the callers do: commands drawn from a seed, and what each came to as events of the keys' histories.

use std::collections::HashMap;
use std::error::Error as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sockio::{Cas, Error, ErrorKind, Expiry, MemcachedClient, Result};

use super::history::{Action, Content, Event, Outcome};
use super::values;
use crate::support::random::Random;
use crate::support::wait::{MARGIN, lost, ms, timed};

/// The keys of an epoch: texts first, then counters.
const TEXTS: usize = 6;
pub(super) const KEYS: usize = 9;

/// The commands of one caller in an epoch, before its last look at all keys.
const COMMANDS: usize = 36;

/// No call is so late on any machine: it would have been forgotten.
const LONGEST_EXCESS: Duration = ms(2500);

/// Items must not end while they are looked at.
const LONG: Duration = Duration::from_secs(100_000);

/// One caller in one epoch.
pub(super) struct Caller<'c> {
    pub(super) number: usize,
    pub(super) client: &'c MemcachedClient,
    pub(super) keys: &'c [String],
    pub(super) clock: &'c AtomicU64,
    pub(super) random: Random,
    pub(super) log: Log,
    /// The last token that it has read of each key.
    tokens: HashMap<usize, u64>,
    next_part: u32,
}

/// What became of the commands.
#[derive(Default)]
pub(super) struct Log {
    /// The events, each with the number of its key.
    pub(super) events: Vec<(usize, Event)>,
    pub(super) commands: HashMap<&'static str, usize>,
    /// Of single keys: with an answer, failed without effect, and those whose effect is not known.
    pub(super) ok: usize,
    pub(super) failed: HashMap<ErrorKind, usize>,
    pub(super) maybe: usize,
    /// What must never happen.
    pub(super) wrong: Vec<String>,
    pub(super) longest_excess: Duration,
}

/// How a call went, before it is known what it means for a key.
struct Span {
    begin: u64,
    end: u64,
}

impl<'c> Caller<'c> {
    pub(super) fn new(
        number: usize,
        client: &'c MemcachedClient,
        keys: &'c [String],
        clock: &'c AtomicU64,
        random: Random,
    ) -> Self {
        Self {
            number,
            client,
            keys,
            clock,
            random,
            log: Log::default(),
            tokens: HashMap::new(),
            next_part: number as u32 * 10_000,
        }
    }

    pub(super) fn run(mut self) -> Log {
        for _ in 0..COMMANDS {
            let limit = self.limit();
            let key = self.random.below(KEYS as u64) as usize;
            let dice = self.random.below(100);
            if key < TEXTS {
                self.text_command(key, dice, limit);
            } else {
                self.counter_command(key, dice, limit);
            }
        }
        self.get_multi((0..KEYS).collect(), ms(500));
        self.log
    }

    /// Most calls have time enough, some have hardly any.
    fn limit(&mut self) -> Duration {
        match self.random.below(16) {
            0 => Duration::from_micros(self.random.below(2000)),
            1..=3 => ms(self.random.between(2, 60)),
            _ => ms(self.random.between(100, 300)),
        }
    }

    fn text_command(&mut self, key: usize, dice: u64, limit: Duration) {
        match dice {
            0..12 => self.get(key, limit),
            12..22 => self.gets(key, limit),
            22..26 => self.get_into(key, limit),
            26..31 => self.get_and_touch(key, limit),
            31..37 => {
                let keys = self.some_keys(0);
                self.get_multi(keys, limit);
            }
            37..50 => self.set(key, limit),
            50..56 => self.add(key, limit),
            56..61 => self.replace(key, limit),
            61..69 => self.append(key, limit),
            69..75 => self.prepend(key, limit),
            75..82 => self.delete(key, limit),
            82..91 => self.cas(key, limit),
            91..94 => self.touch(key, limit),
            94..97 => self.set_multi(limit),
            97..99 => self.incr(key, limit),
            _ => self.delete_multi(limit),
        }
    }

    fn counter_command(&mut self, key: usize, dice: u64, limit: Duration) {
        match dice {
            0..12 => self.get(key, limit),
            12..20 => self.gets(key, limit),
            20..23 => self.get_and_touch(key, limit),
            23..27 => {
                let keys = self.some_keys(TEXTS);
                self.get_multi(keys, limit);
            }
            27..52 => self.incr(key, limit),
            52..67 => self.decr(key, limit),
            67..73 => self.set(key, limit),
            73..78 => self.add(key, limit),
            78..80 => self.replace(key, limit),
            80..84 => self.delete(key, limit),
            84..90 => self.cas(key, limit),
            90..92 => self.touch(key, limit),
            _ => self.add_or_incr(key, limit),
        }
    }

    /// Two or three of the keys from this one on.
    fn some_keys(&mut self, from: usize) -> Vec<usize> {
        let first = self.random.below(KEYS as u64) as usize;
        let count = self.random.between(2, 3) as usize;
        (0..count)
            .map(|step| from + (first + 2 * step) % (KEYS - from))
            .collect()
    }

    /// A content that nobody else stores; for counters a number.
    fn content(&mut self, key: usize) -> Content {
        if key < TEXTS {
            Content::Parts(vec![self.part()])
        } else {
            let digits = self.random.between(1, 12) as u32;
            Content::Number(self.random.below(10_u64.pow(digits)))
        }
    }

    fn part(&mut self) -> u32 {
        self.next_part += 1;
        self.next_part
    }

    /// Makes a call, which must not take longer than it may.
    fn call<R>(
        &mut self,
        name: &'static str,
        limit: Duration,
        call: impl FnOnce(&MemcachedClient) -> R,
    ) -> (Span, R) {
        let client = self.client.clone().with_timeout(limit);
        *self.log.commands.entry(name).or_default() += 1;
        let begin = self.clock.fetch_add(1, Ordering::SeqCst);
        let (answer, took) = timed(|| call(&client));
        let end = self.clock.fetch_add(1, Ordering::SeqCst);
        let excess = took.saturating_sub(limit);
        self.log.longest_excess = self.log.longest_excess.max(excess);
        // Where threads that only sleep were late shortly before, those that work wait for longer still.
        let is_late = || excess > MARGIN + lost(took) && lost(took + ms(3000)) < MARGIN;
        if excess > LONGEST_EXCESS || excess > MARGIN && is_late() {
            let wrong = format!("{name}: {took:?} with a limit of {limit:?}");
            self.log.wrong.push(wrong);
        }
        (Span { begin, end }, answer)
    }

    /// Enters what a call means for one key.
    fn enter(&mut self, key: usize, span: &Span, action: Action, answer: Result<Outcome>) {
        let outcome = match answer {
            Ok(outcome) => {
                self.log.ok += 1;
                outcome
            }
            Err(error) => self.failed(&action, &error),
        };
        self.note(key, span, action, outcome);
    }

    fn note(&mut self, key: usize, span: &Span, action: Action, outcome: Outcome) {
        let event = Event {
            caller: self.number,
            begin: span.begin,
            end: span.end,
            action,
            outcome,
        };
        self.log.events.push((key, event));
    }

    /// What an error says about the key.
    fn failed(&mut self, action: &Action, error: &Error) -> Outcome {
        let cause = error.source().and_then(|cause| cause.downcast_ref());
        let kind = cause.map_or(error.kind(), Error::kind);
        let sums = matches!(action, Action::Incr(_) | Action::Decr(_));
        match kind {
            ErrorKind::Client if sums => {
                self.log.ok += 1;
                return Outcome::Refused;
            }
            ErrorKind::Timeout
            | ErrorKind::Connection
            | ErrorKind::Connect
            | ErrorKind::NoServer => {}
            // The proxies change no byte and the servers know every command: nothing else can be.
            _ => self.log.wrong.push(format!("{action:?}: {error:?}")),
        }
        if error.is_ambiguous() {
            if matches!(action, Action::Read) {
                self.log.wrong.push(format!("a read: {error:?}"));
            }
            self.log.maybe += 1;
            return Outcome::Unknown;
        }
        *self.log.failed.entry(error.kind()).or_default() += 1;
        if error.kind() == ErrorKind::NoServer {
            std::thread::sleep(ms(1));
        }
        Outcome::Nothing(error.to_string())
    }

    fn seen(&mut self, key: usize, span: &Span, answer: Result<Option<(Vec<u8>, Option<u64>)>>) {
        let outcome = answer.map(|found| match found {
            None => Ok(Outcome::Value(Content::Absent)),
            Some((found, token)) => {
                let content = values::read(&self.keys[key], &found)?;
                Ok(match token {
                    Some(token) => Outcome::Item(content, token),
                    None => Outcome::Value(content),
                })
            }
        });
        match outcome {
            Ok(Err(wrong)) => self.log.wrong.push(wrong),
            Ok(Ok(outcome)) => {
                if let Outcome::Item(_, token) = outcome {
                    self.tokens.insert(key, token);
                }
                self.enter(key, span, Action::Read, Ok(outcome));
            }
            Err(error) => self.enter(key, span, Action::Read, Err(error)),
        }
    }

    fn get(&mut self, key: usize, limit: Duration) {
        let name = &self.keys[key];
        let (span, answer) = self.call("get", limit, |client| client.get::<Vec<u8>>(name));
        self.seen(key, &span, answer.map(|found| Some((found?, None))));
    }

    fn gets(&mut self, key: usize, limit: Duration) {
        let name = &self.keys[key];
        let (span, answer) = self.call("gets", limit, |client| client.gets::<Vec<u8>>(name));
        let answer = answer.map(|item| item.map(|item| (item.value, Some(item.cas))));
        self.seen(key, &span, answer);
    }

    fn get_into(&mut self, key: usize, limit: Duration) {
        let name = &self.keys[key];
        let mut value = Vec::new();
        let (span, answer) = self.call("get_into", limit, |client| {
            client.get_into(name, &mut value)
        });
        let answer = answer.map(|flags| flags.map(|_| (value, None)));
        self.seen(key, &span, answer);
    }

    fn get_and_touch(&mut self, key: usize, limit: Duration) {
        let name = &self.keys[key];
        let (span, answer) = self.call("get_and_touch", limit, |client| {
            client.get_and_touch::<Vec<u8>>(name, LONG)
        });
        self.seen(key, &span, answer.map(|found| Some((found?, None))));
    }

    fn get_multi(&mut self, keys: Vec<usize>, limit: Duration) {
        let all = self.keys;
        let names = keys.iter().map(|key| &all[*key]);
        let (span, answer) = self.call("get_multi", limit, |client| {
            client.gets_multi::<Vec<u8>, _>(names)
        });
        let many = match answer {
            Ok(many) => many,
            Err(error) => return self.log.wrong.push(format!("get_multi: {error:?}")),
        };
        for failure in many.failures() {
            for _ in failure.keys() {
                self.failed(&Action::Read, failure.error());
            }
        }
        let answers: Vec<_> = many.iter().map(|(_, answer)| answer.cloned()).collect();
        for (key, answer) in keys.into_iter().zip(answers) {
            if let Some(found) = answer {
                let found = found.map(|item| (item.value, Some(item.cas)));
                self.seen(key, &span, Ok(found));
            }
        }
    }

    fn set(&mut self, key: usize, limit: Duration) {
        let (name, content) = (&self.keys[key], self.content(key));
        let value = values::bytes(name, &content);
        let (span, answer) = self.call("set", limit, |client| {
            client.set(name, &value[..], Expiry::never())
        });
        self.enter(key, &span, Action::Set(content), answer.map(yes_or_no));
    }

    fn add(&mut self, key: usize, limit: Duration) {
        let (name, content) = (&self.keys[key], self.content(key));
        let value = values::bytes(name, &content);
        let (span, answer) = self.call("add", limit, |client| client.add(name, &value[..], LONG));
        self.enter(key, &span, Action::Add(content), answer.map(yes_or_no));
    }

    fn replace(&mut self, key: usize, limit: Duration) {
        let (name, content) = (&self.keys[key], self.content(key));
        let value = values::bytes(name, &content);
        let (span, answer) = self.call("replace", limit, |client| {
            client.replace(name, &value[..], LONG)
        });
        self.enter(key, &span, Action::Replace(content), answer.map(yes_or_no));
    }

    fn append(&mut self, key: usize, limit: Duration) {
        let (name, part) = (&self.keys[key], self.part());
        let bytes = values::part(name, part);
        let (span, answer) = self.call("append", limit, |client| client.append(name, bytes));
        self.enter(key, &span, Action::Append(part), answer.map(yes_or_no));
    }

    fn prepend(&mut self, key: usize, limit: Duration) {
        let (name, part) = (&self.keys[key], self.part());
        let bytes = values::part(name, part);
        let (span, answer) = self.call("prepend", limit, |client| client.prepend(name, bytes));
        self.enter(key, &span, Action::Prepend(part), answer.map(yes_or_no));
    }

    fn delete(&mut self, key: usize, limit: Duration) {
        let name = &self.keys[key];
        let (span, answer) = self.call("delete", limit, |client| client.delete(name));
        self.enter(key, &span, Action::Delete, answer.map(yes_or_no));
    }

    fn touch(&mut self, key: usize, limit: Duration) {
        let name = &self.keys[key];
        let (span, answer) = self.call("touch", limit, |client| client.touch(name, LONG));
        self.enter(key, &span, Action::Touch, answer.map(yes_or_no));
    }

    /// With the last token it has read, which may be an old one; else it reads.
    fn cas(&mut self, key: usize, limit: Duration) {
        let (name, content) = (&self.keys[key], self.content(key));
        let Some(token) = self.tokens.get(&key).copied() else {
            return self.gets(key, limit);
        };
        let value = values::bytes(name, &content);
        let (span, answer) = self.call("cas", limit, |client| {
            client.cas(name, &value[..], LONG, token)
        });
        let answer = answer.map(|cas| match cas {
            Cas::Stored => Outcome::Yes,
            Cas::Exists => Outcome::Exists,
            Cas::NotFound => Outcome::No,
        });
        self.enter(key, &span, Action::Cas(token, content), answer);
    }

    fn incr(&mut self, key: usize, limit: Duration) {
        let (name, by) = (&self.keys[key], self.random.between(1, 9));
        let (span, answer) = self.call("incr", limit, |client| client.incr(name, by));
        self.enter(key, &span, Action::Incr(by), answer.map(sum_or_no));
    }

    fn decr(&mut self, key: usize, limit: Duration) {
        let (name, by) = (&self.keys[key], self.random.between(1, 9));
        let (span, answer) = self.call("decr", limit, |client| client.decr(name, by));
        self.enter(key, &span, Action::Decr(by), answer.map(sum_or_no));
    }

    fn add_or_incr(&mut self, key: usize, limit: Duration) {
        let (name, by) = (&self.keys[key], self.random.between(1, 9));
        let (span, answer) = self.call("add_or_incr", limit, |client| {
            client.add_or_incr(name, by, LONG)
        });
        self.enter(key, &span, Action::AddOrIncr(by), answer.map(Outcome::Sum));
    }

    fn set_multi(&mut self, limit: Duration) {
        let keys = self.some_keys(0);
        let contents: Vec<_> = keys.iter().map(|key| self.content(*key)).collect();
        let all = self.keys;
        let entries = keys.iter().zip(&contents).map(|(key, content)| {
            let name = &all[*key];
            (name, values::bytes(name, content))
        });
        let (span, answer) =
            self.call("set_multi", limit, |client| client.set_multi(entries, LONG));
        let actions = contents.into_iter().map(Action::Set).collect();
        self.many(keys, &span, actions, answer);
    }

    fn delete_multi(&mut self, limit: Duration) {
        let keys = self.some_keys(0);
        let all = self.keys;
        let names = keys.iter().map(|key| &all[*key]);
        let (span, answer) = self.call("delete_multi", limit, |client| client.delete_multi(names));
        let actions = vec![Action::Delete; keys.len()];
        self.many(keys, &span, actions, answer);
    }

    /// Enters the answers to a call that changed many keys.
    fn many<K>(
        &mut self,
        keys: Vec<usize>,
        span: &Span,
        actions: Vec<Action>,
        answer: Result<sockio::Multi<K, bool>>,
    ) {
        let many = match answer {
            Ok(many) => many,
            Err(error) => return self.log.wrong.push(format!("{actions:?}: {error:?}")),
        };
        let answers: Vec<_> = many.iter().map(|(_, answer)| answer.copied()).collect();
        for (place, (key, action)) in keys.into_iter().zip(actions).enumerate() {
            if let Some(answer) = answers[place] {
                self.enter(key, span, action, Ok(yes_or_no(answer)));
                continue;
            }
            let mut failures = many.failures().iter();
            let failure = failures.find(|failure| failure.keys().contains(&place));
            let Some(failure) = failure else {
                self.log.wrong.push(format!("no word about key {place}"));
                continue;
            };
            let outcome = self.failed(&action, failure.error());
            self.note(key, span, action, outcome);
        }
    }
}

fn yes_or_no(yes: bool) -> Outcome {
    if yes { Outcome::Yes } else { Outcome::No }
}

fn sum_or_no(sum: Option<u64>) -> Outcome {
    sum.map_or(Outcome::No, Outcome::Sum)
}
