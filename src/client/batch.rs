//! Many keys over many servers: who gets which, windows that cannot block each other, and what becomes of the keys of a server that fails.

use crate::clock::Moment;
use std::ops::Range;

use super::MemcachedClient;
use super::execute::Repeat;
use super::outcome::Answers;
use crate::error::{Error, ErrorKind, Result};
use crate::key::{Place, Route, ToKey};
use crate::pool::{Lease, Refusal, SockIoPool};
use crate::sock::SockIo;

/// The bytes of commands that are sent to a server before its answers are read: below what the buffers of two sockets
/// hold, so that a server which waits for its answers to be read still takes the rest of the window.
const WINDOW_BYTES: usize = 64 * 1024;

/// The keys of a window. Their answers, where each is a line, stay within a few KiB.
const WINDOW_KEYS: usize = 1000;

/// What a command line has besides key and body, about.
const LINE_BYTES: usize = 32;

/// Room for a key of usual length.
const USUAL_KEY: usize = 32;

/// What is done with each key: how commands are sent and answers read.
pub(super) trait Batch {
    type Answer;
    const REPEAT: Repeat;

    /// The bytes that go out with a key, besides the command line.
    fn weight(&self, _key: u32) -> usize {
        0
    }

    /// Sends the commands for `keys` in one write.
    fn send(&self, io: &mut SockIo, keys: &[u32]) -> Result<()>;

    /// Reads the answers to what [`send`](Self::send) sent.
    fn receive(
        &mut self,
        io: &mut SockIo,
        keys: &[u32],
        answers: &mut Answers<Self::Answer>,
    ) -> Result<()>;
}

/// A body longer than this goes out alone, from where it lies.
const LONE_BODY: usize = 8 * 1024;

/// The keys as they go over the wire, all checked, one behind the other in one buffer.
pub(super) struct Placed<'k> {
    wire: Vec<u8>,
    /// Where each key ends.
    ends: Vec<usize>,
    /// How much of each key is a prefix that is not hashed.
    hashed_from: usize,
    /// The keys that live elsewhere than their bytes say, by number.
    places: Vec<(u32, Place<'k>)>,
}

/// A connection and the keys that it is used for: a part of the list of keys that is sorted by server.
struct Part<'p> {
    lease: Lease<'p>,
    keys: Range<usize>,
    /// The keys of the window under way.
    window: Range<usize>,
    /// Whether their commands went out.
    sent: Result<()>,
}

/// Keys sorted by server, in the order of the servers.
struct Sorted {
    keys: Vec<u32>,
    /// Where the keys of each server begin.
    starts: Vec<usize>,
}

/// One round: the keys sorted by server, and what is left for the next.
struct Round<'r, A> {
    keys: &'r [u32],
    answers: &'r mut Answers<A>,
    /// The servers that are not to be tried (again).
    out: &'r mut [bool],
    /// The keys whose server could not be reached: another one may have them.
    again: Vec<u32>,
}

impl<'k> Placed<'k> {
    /// Checks all keys: one that no server may get is an error.
    pub(super) fn new<K: ToKey>(pool: &SockIoPool, keys: &'k [K]) -> Result<Self> {
        if u32::try_from(keys.len()).is_err() {
            return Err(Error::key("too many keys for one call"));
        }
        let rules = pool.key_rules();
        let mut placed = Self {
            wire: Vec::with_capacity(keys.len() * USUAL_KEY),
            ends: Vec::with_capacity(keys.len()),
            hashed_from: rules.hashed_from(),
            places: Vec::new(),
        };
        for (number, key) in keys.iter().enumerate() {
            let key = key.to_key();
            rules.append(key.bytes, &mut placed.wire)?;
            placed.ends.push(placed.wire.len());
            if key.route != Route::Itself {
                placed.places.push((number as u32, rules.place(key.route)));
            }
        }
        Ok(placed)
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    /// The bytes of a key.
    #[inline]
    pub(super) fn key(&self, key: u32) -> &[u8] {
        let key = key as usize;
        let start = if key == 0 { 0 } else { self.ends[key - 1] };
        &self.wire[start..self.ends[key]]
    }

    /// What finds the server of a key: the bytes that are hashed, and the hash that was given in their place.
    fn place(&self, key: u32) -> (&[u8], Option<i64>) {
        let own = self.key(key).get(self.hashed_from..).unwrap_or_default();
        if self.places.is_empty() {
            return (own, None);
        }
        let placed = self.places.binary_search_by_key(&key, |(key, _)| *key);
        match placed.map(|found| &self.places[found].1) {
            Ok(Place::Hash(hash)) => (own, Some(*hash)),
            Ok(Place::Key(server_key)) => (server_key, None),
            Ok(Place::Itself) | Err(_) => (own, None),
        }
    }
}

impl MemcachedClient {
    /// Does it with all keys. The servers are asked at the same time; the keys of one that cannot be reached go where
    /// failover leads, in a second round.
    pub(super) fn run<B: Batch>(&self, placed: &Placed<'_>, batch: &mut B) -> Answers<B::Answer> {
        let deadline = self.begin().deadline;
        let mut answers = Answers::new(placed.len());
        let mut out: Vec<bool> = self
            .pool
            .hosts()
            .iter()
            .map(|host| self.pool.fails_over() && host.gate().ejected())
            .collect();
        let mut todo: Vec<u32> = (0..placed.len() as u32).collect();
        while !todo.is_empty() {
            let sorted = self.by_server(placed, todo, &out, deadline, &mut answers);
            let mut round = Round {
                keys: &sorted.keys,
                answers: &mut answers,
                out: &mut out,
                again: Vec::new(),
            };
            self.round(batch, &sorted, deadline, &mut round);
            todo = round.again;
        }
        for failure in answers.failures() {
            self.tell(failure.error());
        }
        answers
    }

    /// Sorts the keys by server. Those that may live on none have failed.
    fn by_server<A>(
        &self,
        placed: &Placed<'_>,
        todo: Vec<u32>,
        out: &[bool],
        deadline: Moment,
        answers: &mut Answers<A>,
    ) -> Sorted {
        if let [false] = out {
            return Sorted::one(todo);
        }
        let gone: Vec<usize> = (0..out.len()).filter(|server| out[*server]).collect();
        let servers = todo.iter().map(|key| {
            let (hashed, given_hash) = placed.place(*key);
            self.pool.place(hashed, given_hash, &gone, deadline)
        });
        let servers: Vec<Option<usize>> = servers.collect();
        let sorted = Sorted::new(&todo, &servers, out.len());
        if sorted.keys.len() < todo.len() {
            let of_none = todo.iter().zip(&servers);
            let of_none = of_none.filter_map(|(key, server)| server.is_none().then_some(*key));
            let error = if Moment::now() >= deadline {
                Error::timeout("the time was up before a server was found")
            } else {
                let message = "every server that the keys may live on is marked dead";
                Error::new(ErrorKind::NoServer, message)
            };
            answers.fail(&of_none.collect::<Vec<_>>(), error);
        }
        sorted
    }

    fn round<B: Batch>(
        &self,
        batch: &mut B,
        sorted: &Sorted,
        deadline: Moment,
        round: &mut Round<'_, B::Answer>,
    ) {
        let mut parts = Vec::with_capacity(sorted.starts.len());
        // All callers take connections in the order of the servers, so that two cannot wait for each other's.
        for (server, keys) in sorted.groups() {
            match self.pool.hosts()[server].lend(deadline, Moment::now()) {
                Ok(lease) => parts.push(Part {
                    lease,
                    window: keys.start..keys.start,
                    keys,
                    sent: Ok(()),
                }),
                Err(refusal) => self.refused(round, server, keys, refusal),
            }
        }
        while !parts.is_empty() {
            // To all, before any answer is awaited. A failure shows again when the answer is read.
            for part in &mut parts {
                part.open_window(batch, round.keys);
                part.lease.io().catch_up();
                part.send(batch, round.keys);
            }
            parts = parts
                .into_iter()
                .filter_map(|part| self.finish_window(batch, part, round))
                .filter(|part| part.window.end < part.keys.end)
                .collect();
        }
    }

    /// Reads the answers of a window; `None` if the connection is lost, and with it what was still to come.
    fn finish_window<'p, B: Batch>(
        &self,
        batch: &mut B,
        mut part: Part<'p>,
        round: &mut Round<'_, B::Answer>,
    ) -> Option<Part<'p>> {
        let keys = &round.keys[part.window.clone()];
        let answers = &mut *round.answers;
        let known = answers.failures().len();
        let server = part.lease.host().index();
        let name = self.pool.hosts()[server].addr().name();
        let mut open = false;
        loop {
            let sent = std::mem::replace(&mut part.sent, Ok(()));
            let received = sent.and_then(|()| {
                part.lease.io().catch_up_reading();
                batch.receive(part.lease.io(), keys, answers)
            });
            answers.name_failures(known, name);
            let Err(error) = received else {
                return Some(part);
            };
            match self.second_try(part.lease, error, B::REPEAT, &mut open) {
                Ok(lease) => part.lease = lease,
                Err(refusal) => {
                    self.lost(round, server, (part.window, part.keys.end), refusal);
                    return None;
                }
            }
            part.send(batch, round.keys);
        }
    }

    /// The connection is lost, and with it the answers of a window and what was to be sent after it, up to `end`.
    #[cold]
    fn lost<A>(
        &self,
        round: &mut Round<'_, A>,
        server: usize,
        (window, end): (Range<usize>, usize),
        refusal: Refusal,
    ) {
        if let Refusal::Final(error) = &refusal {
            let message = "not sent: the connection failed earlier in the call";
            let name = self.pool.hosts()[server].addr().name();
            let error = Error::new(error.kind_or_cause(), message).at(name);
            round.answers.fail(&round.keys[window.end..end], error);
            self.refused(round, server, window, refusal);
        } else {
            self.refused(round, server, window.start..end, refusal);
        }
    }

    /// Keeps the keys of a server that could not be reached for the next round, or enters why they have no answer.
    fn refused<A>(
        &self,
        round: &mut Round<'_, A>,
        server: usize,
        keys: Range<usize>,
        refusal: Refusal,
    ) {
        let keys = &round.keys[keys];
        match refusal {
            Refusal::Unavailable(_) if self.pool.fails_over() => {
                round.out[server] = true;
                round
                    .again
                    .extend(keys.iter().filter(|key| round.answers.is_open(**key)));
            }
            Refusal::Unavailable(error) | Refusal::Final(error) => round.answers.fail(keys, error),
        }
    }
}

impl Sorted {
    /// All keys are those of the only server.
    fn one(keys: Vec<u32>) -> Self {
        Self {
            keys,
            starts: vec![0],
        }
    }

    /// Counts, then puts each key where its server's begin; those of one server stay in their order.
    fn new(keys: &[u32], servers: &[Option<usize>], count: usize) -> Self {
        let mut starts = vec![0; count];
        for server in servers.iter().flatten() {
            starts[*server] += 1;
        }
        let mut end = 0;
        for start in &mut starts {
            end += *start;
            *start = end;
        }
        let mut sorted = vec![0; end];
        for (key, server) in keys.iter().zip(servers).rev() {
            if let Some(server) = server {
                starts[*server] -= 1;
                sorted[starts[*server]] = *key;
            }
        }
        Self {
            keys: sorted,
            starts,
        }
    }

    /// The servers that have keys, and which.
    fn groups(&self) -> impl Iterator<Item = (usize, Range<usize>)> {
        let ends = self.starts.iter().skip(1).copied().chain([self.keys.len()]);
        let groups = self.starts.iter().zip(ends).enumerate();
        groups
            .map(|(server, (start, end))| (server, *start..end))
            .filter(|(_, keys)| !keys.is_empty())
    }
}

impl Part<'_> {
    fn send<B: Batch>(&mut self, batch: &B, keys: &[u32]) {
        self.sent = batch.send(self.lease.io(), &keys[self.window.clone()]);
    }

    fn open_window<B: Batch>(&mut self, batch: &B, keys: &[u32]) {
        let start = self.window.end;
        let mut end = start;
        let mut bytes = 0;
        while end < self.keys.end && end - start < WINDOW_KEYS {
            let weight = batch.weight(keys[end]);
            bytes += weight + LINE_BYTES;
            let lone = weight > LONE_BODY;
            if end > start && (lone || bytes > WINDOW_BYTES) {
                break;
            }
            end += 1;
            if lone {
                break;
            }
        }
        self.window = start..end;
    }
}
