//! The answers to a call with many keys: one for each, and why some are not known.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::Hash;

use crate::error::{Error, Result};
use crate::key::ToKey;

/// What a call with many keys brought: an answer for each key, or the reason why there is none.
///
/// The answers stand in the order in which the keys were given.
pub struct Multi<K, A> {
    keys: Vec<K>,
    answers: Vec<Option<A>>,
    failures: Vec<Failure>,
}

/// What [`get_multi`](crate::MemcachedClient::get_multi) brought: `Some` for a hit, `None` for a miss.
pub type GetMulti<K, T> = Multi<K, Option<T>>;

/// Why some keys have no answer: a server that failed, or a value that cannot be read.
pub struct Failure {
    error: Error,
    keys: Vec<usize>,
}

impl<K, A> Multi<K, A> {
    pub(super) fn new(keys: Vec<K>, answers: Answers<A>) -> Self {
        Self {
            keys,
            answers: answers.slots,
            failures: answers.failures,
        }
    }

    /// The keys, as they were given.
    pub fn keys(&self) -> &[K] {
        &self.keys
    }

    /// The answers beside their keys; `None` where the answer is not known.
    pub fn iter(&self) -> impl Iterator<Item = (&K, Option<&A>)> {
        self.keys
            .iter()
            .zip(self.answers.iter().map(Option::as_ref))
    }

    /// Why some answers are not known: one entry per server that failed, and one per value that could not be read.
    #[doc(alias = "RES_SOME_ERRORS")]
    pub fn failures(&self) -> &[Failure] {
        &self.failures
    }

    /// Whether every answer is known.
    pub fn is_complete(&self) -> bool {
        self.failures.is_empty()
    }

    /// All answers with their keys, or the first failure.
    pub fn into_complete(self) -> Result<Vec<(K, A)>> {
        match self.failures.into_iter().next() {
            Some(failure) => Err(failure.error),
            None => Ok(self
                .keys
                .into_iter()
                .zip(self.answers.into_iter().flatten())
                .collect()),
        }
    }
}

impl<K, T> GetMulti<K, T> {
    /// The hits, in the order of the keys.
    pub fn hits(&self) -> impl Iterator<Item = (&K, &T)> {
        self.iter()
            .filter_map(|(key, answer)| Some((key, answer?.as_ref()?)))
    }

    /// The keys that are not there. Those whose server failed are not among them.
    pub fn misses(&self) -> impl Iterator<Item = &K> {
        self.iter()
            .filter_map(|(key, answer)| answer?.is_none().then_some(key))
    }

    /// The hits with their keys.
    pub fn into_hits(self) -> impl Iterator<Item = (K, T)> {
        let answers = self.answers.into_iter().map(Option::flatten);
        self.keys
            .into_iter()
            .zip(answers)
            .filter_map(|(key, value)| Some((key, value?)))
    }

    /// The hits as a map.
    pub fn into_map(self) -> HashMap<K, T>
    where
        K: Eq + Hash,
    {
        self.into_hits().collect()
    }

    /// The value of one key, if it is a hit. Looks through all: for many look-ups make a [map](Self::into_map).
    pub fn get(&self, key: impl ToKey) -> Option<&T>
    where
        K: ToKey,
    {
        let key = key.to_key();
        self.hits()
            .find(|(other, _)| other.to_key() == key)
            .map(|(_, value)| value)
    }
}

impl<K, T> IntoIterator for GetMulti<K, T> {
    type Item = (K, Option<T>);
    type IntoIter = std::iter::Zip<
        std::vec::IntoIter<K>,
        std::iter::Map<std::vec::IntoIter<Option<Option<T>>>, fn(Option<Option<T>>) -> Option<T>>,
    >;

    /// Every key with its value; `None` for a miss and for an answer that is not known.
    fn into_iter(self) -> Self::IntoIter {
        let flatten: fn(Option<Option<T>>) -> Option<T> = Option::flatten;
        self.keys
            .into_iter()
            .zip(self.answers.into_iter().map(flatten))
    }
}

impl Failure {
    pub(super) fn new(error: Error, keys: Vec<usize>) -> Self {
        Self { error, keys }
    }

    /// The error; [`Error::server`] names the server.
    pub fn error(&self) -> &Error {
        &self.error
    }

    /// The keys without an answer, as places in [`Multi::keys`].
    pub fn keys(&self) -> &[usize] {
        &self.keys
    }
}

/// Shows the error and how many keys it left without an answer.
impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Failure({:?}, {} keys)", self.error, self.keys.len())
    }
}

/// Shows counts and failures, never keys or values.
impl<K, A> fmt::Debug for Multi<K, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Multi")
            .field("keys", &self.keys.len())
            .field("answers", &self.answers.iter().flatten().count())
            .field("failures", &self.failures)
            .finish()
    }
}

/// The answers while they come in.
pub(super) struct Answers<A> {
    slots: Vec<Option<A>>,
    failures: Vec<Failure>,
    /// The keys of all failures.
    failed: HashSet<u32>,
}

impl<A> Answers<A> {
    pub(super) fn new(keys: usize) -> Self {
        Self {
            slots: std::iter::repeat_with(|| None).take(keys).collect(),
            failures: Vec::new(),
            failed: HashSet::new(),
        }
    }

    /// Enters the answer of one key, or why it has none.
    #[inline]
    pub(super) fn enter(&mut self, key: u32, answer: Result<A>) {
        match answer {
            Ok(answer) => self.slots[key as usize] = Some(answer),
            Err(error) => self.fail(&[key], error),
        }
    }

    /// Enters the reason why those of `keys` that have no answer yet will have none.
    #[cold]
    pub(super) fn fail(&mut self, keys: &[u32], error: Error) {
        let open = keys.iter().copied().filter(|key| self.is_open(*key));
        let open: Vec<u32> = open.collect();
        if !open.is_empty() {
            self.failed.extend(&open);
            let keys = open.into_iter().map(|key| key as usize).collect();
            self.failures.push(Failure::new(error, keys));
        }
    }

    /// Whether a key has neither an answer nor a reason why it has none.
    #[inline]
    pub(super) fn is_open(&self, key: u32) -> bool {
        self.slots[key as usize].is_none() && !self.failed.contains(&key)
    }

    pub(super) fn failures(&self) -> &[Failure] {
        &self.failures
    }

    /// Names the server in the failures that came after the first `known` ones.
    pub(super) fn name_failures(&mut self, known: usize, server: &str) {
        for failure in &mut self.failures[known..] {
            failure.error.name_server(server);
        }
    }
}
