//! Many keys over many servers: who gets which, windows that cannot block each other, and what becomes of the keys of a server that fails.

use crate::clock::Moment;
use std::ops::Range;

use super::MemcachedClient;
use super::execute::Repeat;
use super::outcome::Answers;
use crate::error::{Error, ErrorKind, Result};
use crate::key::{Place, ToKey};
use crate::pool::{Lease, Refusal, SockIoPool};
use crate::sock::SockIo;

/// The bytes of commands that are sent to a server before its answers are read: below what the buffers of two sockets
/// hold, so that a server which waits for its answers to be read still takes the rest of the window.
const WINDOW_BYTES: usize = 64 * 1024;

/// The keys of a window. Their answers, where each is a line, stay within a few KiB.
const WINDOW_KEYS: usize = 1000;

/// What a command line has besides key and body, about.
const LINE_BYTES: usize = 32;

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
        let mut placed = Self {
            wire: Vec::new(),
            ends: Vec::with_capacity(keys.len()),
            hashed_from: 0,
            places: Vec::new(),
        };
        for (number, key) in keys.iter().enumerate() {
            let wire = pool.check(key)?;
            placed.wire.extend_from_slice(wire.bytes());
            placed.ends.push(placed.wire.len());
            placed.hashed_from = wire.hashed_from();
            if *wire.place() != Place::Itself {
                placed.places.push((number as u32, wire.place().clone()));
            }
        }
        Ok(placed)
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    /// The bytes of a key.
    pub(super) fn key(&self, key: u32) -> &[u8] {
        let key = key as usize;
        let start = if key == 0 { 0 } else { self.ends[key - 1] };
        &self.wire[start..self.ends[key]]
    }

    /// What finds the server of a key: the bytes that are hashed, and the hash that was given in their place.
    fn place(&self, key: u32) -> (&[u8], Option<i64>) {
        let own = self.key(key).get(self.hashed_from..).unwrap_or_default();
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
            .map(|host| host.gate().dead().is_some_and(|dead| dead.ejected))
            .collect();
        let mut todo: Vec<u32> = (0..placed.len() as u32).collect();
        while !todo.is_empty() {
            let (keys, groups) = self.by_server(placed, &todo, &out, deadline, &mut answers);
            let mut round = Round {
                keys: &keys,
                answers: &mut answers,
                out: &mut out,
                again: Vec::new(),
            };
            self.round(batch, &groups, deadline, &mut round);
            todo = round.again;
        }
        if let Some(on_error) = &self.on_error {
            answers
                .failures()
                .iter()
                .for_each(|failure| on_error(failure.error()));
        }
        answers
    }

    /// The keys sorted by server, in the order of the servers, and the part of each server.
    fn by_server<A>(
        &self,
        placed: &Placed<'_>,
        todo: &[u32],
        out: &[bool],
        deadline: Moment,
        answers: &mut Answers<A>,
    ) -> (Vec<u32>, Vec<(usize, Range<usize>)>) {
        let mut nowhere = Vec::new();
        let mut counts = vec![0; out.len()];
        let mut servers = Vec::with_capacity(todo.len());
        for key in todo {
            let (hashed, given_hash) = placed.place(*key);
            let server = self.pool.place(hashed, given_hash, out, deadline);
            match server {
                Some(server) => counts[server] += 1,
                None => nowhere.push(*key),
            }
            servers.push(server);
        }
        if !nowhere.is_empty() {
            answers.fail(
                &nowhere,
                Error::new(
                    ErrorKind::NoServer,
                    "every server that the keys may live on is marked dead",
                ),
            );
        }
        let mut groups = Vec::with_capacity(out.len());
        let mut next = vec![0; out.len()];
        let mut start = 0;
        for (server, count) in counts
            .into_iter()
            .enumerate()
            .filter(|(_, count)| *count > 0)
        {
            groups.push((server, start..start + count));
            next[server] = start;
            start += count;
        }
        let mut keys = vec![0; start];
        for (key, server) in todo.iter().zip(servers) {
            if let Some(server) = server {
                keys[next[server]] = *key;
                next[server] += 1;
            }
        }
        (keys, groups)
    }

    fn round<B: Batch>(
        &self,
        batch: &mut B,
        groups: &[(usize, Range<usize>)],
        deadline: Moment,
        round: &mut Round<'_, B::Answer>,
    ) {
        let mut parts = Vec::with_capacity(groups.len());
        // All callers take connections in the order of the servers, so that two cannot wait for each other's.
        for (server, keys) in groups {
            match self.pool.hosts()[*server].lend(deadline, Moment::now()) {
                Ok(lease) => parts.push(Part {
                    lease,
                    keys: keys.clone(),
                    window: keys.start..keys.start,
                }),
                Err(refusal) => self.refused(round, *server, keys.clone(), refusal),
            }
        }
        while !parts.is_empty() {
            parts
                .iter_mut()
                .for_each(|part| part.open_window(batch, round.keys));
            // To all, before any answer is awaited. A failure shows again when the answer is read.
            let sent: Vec<Result<()>> = parts
                .iter_mut()
                .map(|part| {
                    part.lease.io().catch_up();
                    batch.send(part.lease.io(), &round.keys[part.window.clone()])
                })
                .collect();
            parts = parts
                .into_iter()
                .zip(sent)
                .filter_map(|(part, sent)| self.finish_window(batch, part, sent, round))
                .filter(|part| part.window.end < part.keys.end)
                .collect();
        }
    }

    /// Reads the answers of a window; `None` if the connection is lost, and with it what was still to come.
    fn finish_window<'p, B: Batch>(
        &self,
        batch: &mut B,
        mut part: Part<'p>,
        sent: Result<()>,
        round: &mut Round<'_, B::Answer>,
    ) -> Option<Part<'p>> {
        let keys = &round.keys[part.window.clone()];
        let answers = &mut *round.answers;
        let known = answers.failures().len();
        let server = part.lease.host().index();
        let name = self.pool.hosts()[server].addr().name();
        part.lease.io().catch_up();
        let received = sent.and_then(|()| batch.receive(part.lease.io(), keys, answers));
        answers.name_failures(known, name);
        let Err(error) = received else {
            return Some(part);
        };
        let again = self.second_try(part.lease, error, B::REPEAT, &mut |io: &mut SockIo| {
            batch.send(io, keys)?;
            batch.receive(io, keys, answers)
        });
        match again {
            Ok(((), lease)) => return Some(Part { lease, ..part }),
            Err(refusal) => {
                let unsent = part.window.end..part.keys.end;
                if let Refusal::Final(error) = &refusal {
                    let message = "not sent: the connection failed earlier in the call";
                    let error = Error::new(error.kind_or_cause(), message).at(name);
                    answers.fail(&round.keys[unsent], error);
                    self.refused(round, server, part.window, refusal);
                } else {
                    self.refused(round, server, part.window.start..part.keys.end, refusal);
                }
            }
        }
        None
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

impl Part<'_> {
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
