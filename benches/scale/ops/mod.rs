//! Gets of 100 bytes per second, by threads and connections: the crate, the floor and other clients in turns.

mod contenders;
mod draw;
mod peers;
mod slice;
mod tables;

use std::io;

use sockio::MemcachedClient;

use crate::Options;
use crate::memcached::Memcached;
use crate::numbers::Spread;
use crate::report::Report;
use contenders::{Contender, Play};
use slice::Slice;

const THREADS: [usize; 4] = [1, 4, 16, 64];
const CONNECTIONS: [usize; 3] = [1, 4, 64];
const MOST_THREADS: usize = 64;
const VALUE: [u8; 100] = [b'v'; 100];

/// Odd, so that the median is one of them.
const ROUNDS: usize = 15;

/// The places of the first contenders; the others follow.
const FLOOR: usize = 0;
const PLAIN: usize = 1;
const COMBINING: usize = 2;
const PEERS: usize = 3;

/// What one contender did with so many threads and connections.
#[derive(Debug)]
struct Cell {
    threads: usize,
    connections: usize,
    contender: usize,
    /// One for each round; none where it failed.
    slices: Vec<Option<Slice>>,
}

pub(crate) fn run(report: &mut Report, options: &Options) -> io::Result<()> {
    let mut contenders = contenders::own();
    if options.peers {
        contenders.extend(peers::contenders()?);
    }
    let connections: usize = CONNECTIONS.iter().sum();
    let server = Memcached::start(1, connections * contenders.len())?;
    let addr = server.addr(0);
    fill(&addr)?;
    let mut cells = Vec::new();
    for threads in THREADS {
        cells.extend(measure(&contenders, &addr, threads)?);
    }
    tables::print(report, &contenders, &cells);
    draw::draw(&contenders, &cells)
}

/// One key for each thread.
fn key(thread: usize) -> String {
    format!("scale-{thread:02}")
}

fn fill(addr: &str) -> io::Result<()> {
    let client = MemcachedClient::connect(addr).map_err(io::Error::other)?;
    for thread in 0..MOST_THREADS {
        let forever = sockio::Expiry::never();
        let stored = client.set(key(thread), &VALUE[..], forever);
        assert!(stored.map_err(io::Error::other)?);
    }
    Ok(())
}

/// All contenders and numbers of connections in turns, so that what slows the machine down slows all of them down.
fn measure(contenders: &[Contender], addr: &str, threads: usize) -> io::Result<Vec<Cell>> {
    let mut all: Vec<(Cell, Play)> = Vec::new();
    for connections in CONNECTIONS {
        for (contender, it) in contenders.iter().enumerate() {
            let cell = Cell {
                threads,
                connections,
                contender,
                slices: Vec::new(),
            };
            all.push((cell, (it.open)(addr, connections)?));
        }
    }
    for _ in 0..ROUNDS {
        for (cell, play) in &mut all {
            let slice = play(threads);
            if let Err(error) = &slice {
                let Cell {
                    connections,
                    contender,
                    ..
                } = cell;
                let name = &contenders[*contender].name;
                eprintln!("{name}, {threads} threads on {connections}: {error}");
            }
            cell.slices.push(slice.ok());
        }
    }
    Ok(all.into_iter().map(|(cell, _)| cell).collect())
}

fn cell(cells: &[Cell], contender: usize, threads: usize, connections: usize) -> &Cell {
    let right = |cell: &&Cell| {
        (cell.contender, cell.threads, cell.connections) == (contender, threads, connections)
    };
    cells.iter().find(right).expect("all were measured")
}

impl Cell {
    /// Of one number of each slice; `None` if all failed.
    fn spread(&self, number: impl Fn(&Slice) -> f64) -> Option<Spread> {
        let numbers: Vec<f64> = self.slices.iter().flatten().map(number).collect();
        (!numbers.is_empty()).then(|| Spread::of(numbers))
    }

    fn per_second(&self) -> Option<f64> {
        Some(self.spread(|slice| slice.per_second)?.median)
    }

    /// The operations per second for one of the other's, round by round.
    fn ratio(&self, other: &Self) -> Option<Spread> {
        let pairs = self.slices.iter().zip(&other.slices);
        let ratios = pairs.filter_map(|(it, other)| {
            let (it, other) = (it.as_ref()?, other.as_ref()?);
            (other.per_second > 0.0).then(|| it.per_second / other.per_second)
        });
        let ratios: Vec<f64> = ratios.collect();
        (!ratios.is_empty()).then(|| Spread::of(ratios))
    }
}
