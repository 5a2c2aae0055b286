//! Counts something about each of many numbered keys, on all processors. It does not know what.

use std::num::NonZero;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use sockio::{KeyRules, Room, ToKey};

use crate::failure::{Failure, Result};

/// Keys that a thread takes at a time: some milliseconds of work.
const BLOCK: u64 = 1 << 16;

/// Fewer keys take no time that needs a progress bar.
const LONG_RUN: u64 = 5_000_000;

/// The keys that are made up to see where they go.
#[derive(Debug, Args)]
pub(crate) struct Keys {
    /// How many keys are made.
    #[arg(long = "keys", value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: u64,

    /// What the keys look like: {} stands for the numbers from 0 to N-1.
    #[arg(long, value_name = "TEXT", default_value = "key_{}")]
    format: Format,
}

/// A key with a place for a number.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Format {
    before: String,
    after: String,
}

impl Format {
    /// Makes `key` the key of a number.
    fn write(&self, number: u64, key: &mut Vec<u8>) {
        key.clear();
        key.extend_from_slice(self.before.as_bytes());
        push_decimal(number, key);
        key.extend_from_slice(self.after.as_bytes());
    }
}

impl std::str::FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text.split_once("{}") {
            Some((before, after)) if !after.contains("{}") => Ok(Self {
                before: before.to_owned(),
                after: after.to_owned(),
            }),
            _ => Err("{} has to stand in it once, for the number".to_owned()),
        }
    }
}

impl Keys {
    /// Calls `count` with the hashed part of each key and `cells` counters, and adds the counters of all threads up.
    ///
    /// # Errors
    /// If the keys cannot be sent to a server.
    pub(crate) fn tally(
        &self,
        rules: &KeyRules,
        cells: usize,
        count: impl Fn(&[u8], &mut [u64]) + Sync,
    ) -> Result<Vec<u64>> {
        let mut longest = Vec::new();
        self.format.write(self.count - 1, &mut longest);
        // All have the same bytes but for the digits: if the longest can be sent, all can.
        rules
            .apply(longest.to_key(), &mut Room::default())
            .map_err(|error| {
                Failure::new(format!(
                    "the keys that --format makes cannot be sent: {error}"
                ))
            })?;

        let bar = progress_bar(self.count);
        let next = AtomicU64::new(0);
        let sums = Mutex::new(vec![0; cells]);
        let work = || {
            let (mut counters, mut key) = (vec![0; cells], Vec::new());
            let mut room = Room::default();
            while let Some(block) = take(&next, self.count) {
                bar.inc(block.end - block.start);
                for number in block {
                    self.format.write(number, &mut key);
                    if let Ok(wire) = rules.apply(key.to_key(), &mut room) {
                        count(wire.hashed(), &mut counters);
                    }
                }
            }
            let mut sums = sums.lock().unwrap_or_else(PoisonError::into_inner);
            for (sum, counter) in sums.iter_mut().zip(counters) {
                *sum += counter;
            }
        };
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(work);
            }
        });
        bar.finish_and_clear();
        Ok(sums.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The next block of numbers below `end`.
fn take(next: &AtomicU64, end: u64) -> Option<Range<u64>> {
    let start = next.fetch_add(BLOCK, Ordering::Relaxed);
    (start < end).then(|| start..end.min(start.saturating_add(BLOCK)))
}

/// Draws on standard error, if that is a terminal.
fn progress_bar(keys: u64) -> ProgressBar {
    if keys < LONG_RUN {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {percent:>3} % of {len} keys, {eta} left");
    ProgressBar::new(keys).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// In less than half the time of the standard library's formatting, which would outweigh a cheap hash.
fn push_decimal(mut number: u64, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use sockio::Compat;

    use super::*;

    fn keys(count: u64, format: &str) -> Keys {
        Keys {
            count,
            format: format.parse().unwrap(),
        }
    }

    #[test]
    fn every_key_counts_once() {
        let rules = Compat::default().key_rules(b"").unwrap();
        let count = 2 * BLOCK + 3;
        let sums = keys(count, "a{}b").tally(&rules, 3, |key, cells| {
            let digits = &key[1..key.len() - 1];
            let number: u64 = std::str::from_utf8(digits).unwrap().parse().unwrap();
            assert!(key.starts_with(b"a") && key.ends_with(b"b"));
            cells[0] += 1;
            cells[1] += number;
        });
        assert_eq!(sums.unwrap(), [count, count * (count - 1) / 2, 0]);
    }

    #[test]
    fn decimal_as_the_standard_library() {
        for number in [0, 9, 10, 1_000_000, u64::MAX] {
            let mut digits = Vec::new();
            push_decimal(number, &mut digits);
            assert_eq!(digits, number.to_string().as_bytes());
        }
    }

    #[test]
    fn what_makes_no_keys_is_refused() {
        let rules = Compat::default().key_rules(b"").unwrap();
        for format in ["key", "{}{}", ""] {
            assert!(format.parse::<Format>().is_err(), "{format:?}");
        }
        assert!(keys(1, "a b{}").tally(&rules, 1, |_, _| {}).is_err());
        let long = format!("{}{{}}", "k".repeat(249));
        assert!(keys(10, &long).tally(&rules, 1, |_, _| {}).is_ok());
        assert!(keys(11, &long).tally(&rules, 1, |_, _| {}).is_err());
    }
}
