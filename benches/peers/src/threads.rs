//! Many threads at once, each with its handle of a client, for a while.

use std::sync::{Barrier, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use crate::clients::{Peer, Result};
use crate::ops::{Op, Work};

/// One thread for each handle. An operation under way at the end has a time, since somebody waited for it, but is not counted.
pub(crate) fn run(peers: Vec<Box<dyn Peer>>, op: Op, milliseconds: u64) -> Result<()> {
    let (start, end) = (Barrier::new(peers.len()), OnceLock::new());
    let time = Duration::from_millis(milliseconds);
    let work = |number: usize, mut peer: Box<dyn Peer>| -> Result<Vec<u32>> {
        let work = Work::new(op, number);
        let prepared = work.prepare(&mut *peer);
        // Before an error ends this thread, the others must have seen it arrive.
        start.wait();
        prepared?;
        let mut times = Vec::with_capacity(1 << 14);
        let mut begun = Instant::now();
        let end = *end.get_or_init(|| begun + time);
        loop {
            work.run(&mut *peer)?;
            let now = Instant::now();
            times.push((now - begun).as_nanos().try_into().unwrap_or(u32::MAX));
            if now > end {
                return Ok(times);
            }
            begun = now;
        }
    };
    let results: Vec<Result<Vec<u32>>> = thread::scope(|scope| {
        let threads = peers.into_iter().enumerate();
        let threads: Vec<_> = threads
            .map(|(number, peer)| scope.spawn(move || work(number, peer)))
            .collect();
        let ends = threads.into_iter().map(|thread| thread.join());
        ends.map(|end| end.unwrap_or_else(|_| Err("a thread panicked".into())))
            .collect()
    });
    let times = results.into_iter().collect::<Result<Vec<_>>>()?;
    print(&times);
    Ok(())
}

fn print(times: &[Vec<u32>]) {
    let counts = || times.iter().map(|times| times.len() - 1);
    let (busiest, laziest) = (counts().max(), counts().min());
    let mut all: Vec<u32> = times.iter().flatten().copied().collect();
    all.sort_unstable();
    let micros = |share: f64| {
        let last = all.len().saturating_sub(1);
        let nanos = all.get((last as f64 * share).round() as usize);
        f64::from(nanos.copied().unwrap_or(0)) / 1e3
    };
    println!("operations {}", counts().sum::<usize>());
    let [p50, p99, max] = [0.5, 0.99, 1.0].map(micros);
    println!("p50 {p50:.1} p99 {p99:.1} max {max:.1}");
    let (busiest, laziest) = (busiest.unwrap_or(0), laziest.unwrap_or(0));
    println!("busiest {busiest} laziest {laziest}");
}
