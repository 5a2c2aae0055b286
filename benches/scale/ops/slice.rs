//! A short while in which all threads do one operation after the other, and what came of it.

use std::sync::{Barrier, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use crate::numbers::quantile;

pub(super) const LENGTH: Duration = Duration::from_millis(100);

/// One get by the thread with this number.
pub(super) type Get = Box<dyn Fn(usize) + Send + Sync>;

/// Times are microseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slice {
    pub(super) per_second: f64,
    pub(super) p50: f64,
    pub(super) p99: f64,
    pub(super) max: f64,
    /// Operations of the busiest thread for one of the laziest.
    pub(super) unfairness: f64,
}

impl Slice {
    /// All threads begin together. An operation under way at the end has a time, since somebody waited for it, but is not counted.
    pub(super) fn run(get: &Get, threads: usize) -> Self {
        let (start, end) = (Barrier::new(threads), OnceLock::new());
        let work = |thread: usize| {
            let mut times: Vec<u32> = Vec::with_capacity(1 << 14);
            start.wait();
            let mut begun = Instant::now();
            let end = *end.get_or_init(|| begun + LENGTH);
            loop {
                get(thread);
                let now = Instant::now();
                times.push((now - begun).as_nanos().try_into().unwrap_or(u32::MAX));
                if now > end {
                    return times;
                }
                begun = now;
            }
        };
        let times: Vec<Vec<u32>> = thread::scope(|scope| {
            let threads: Vec<_> = (0..threads)
                .map(|thread| scope.spawn(move || work(thread)))
                .collect();
            let ends = threads.into_iter().map(|thread| thread.join());
            ends.map(|times| times.expect("no panic")).collect()
        });
        let counts = || times.iter().map(|times| times.len() - 1);
        let (busiest, laziest) = (counts().max(), counts().min());
        let operations: usize = counts().sum();
        let mut all: Vec<u32> = times.into_iter().flatten().collect();
        all.sort_unstable();
        let [p50, p99, max] = [0.5, 0.99, 1.0].map(|share| f64::from(quantile(&all, share)) / 1e3);
        Self {
            per_second: operations as f64 / LENGTH.as_secs_f64(),
            p50,
            p99,
            max,
            unfairness: unfairness(busiest.unwrap_or(0), laziest.unwrap_or(0)),
        }
    }
}

/// A thread that did nothing counts as one that did one.
pub(super) fn unfairness(busiest: usize, laziest: usize) -> f64 {
    busiest as f64 / laziest.max(1) as f64
}
