//! How long the hash of a key and the search of its server take, for every row of the table of clients.

use std::hint::black_box;
use std::io;

use sockio::Compat;
use sockio::router::Router;

use crate::numbers::{Spread, nanos, short};
use crate::plot::{Bar, Canvas};
use crate::report::Report;
use crate::table::Table;

/// Addresses, since some clients take nothing else.
const SERVERS: usize = 8;
const KEYS: usize = 1000;
/// Many, so that some of them fall where nothing else runs.
const ROUNDS: usize = 50;
/// Passes over all keys per round.
const PASSES: usize = 3;

struct Row {
    compat: Compat,
    router: Router,
    hash: Vec<f64>,
    first: Vec<f64>,
}

pub(crate) fn run(report: &mut Report) -> io::Result<()> {
    let keys: Vec<String> = (0..KEYS).map(|n| format!("user:{n:06}:profile")).collect();
    let mut rows = Vec::new();
    for compat in placements() {
        let servers = servers(SERVERS)?;
        rows.push(Row {
            compat,
            router: compat.router(servers).map_err(io::Error::other)?,
            hash: Vec::new(),
            first: Vec::new(),
        });
    }
    for _ in 0..ROUNDS {
        for row in &mut rows {
            let router = &row.router;
            row.hash.push(per_key(&keys, |key| router.hash(key) as u64));
            row.first
                .push(per_key(&keys, |key| router.first(key, None) as u64));
        }
    }
    print(report, &rows);
    draw(&rows)
}

/// Every row of the table; the names of a library with a program on top of it place keys as the library does.
pub(crate) fn placements() -> impl Iterator<Item = Compat> {
    let all = Compat::all().into_iter();
    all.filter(|compat| !compat.name().ends_with("+php") && !compat.name().ends_with("+pylibmc"))
}

/// `10.0.0.1:11211` and so on.
pub(crate) fn servers(count: usize) -> io::Result<Vec<sockio::ServerAddr>> {
    let name = |n: usize| format!("10.0.{}.{}:11211", n / 250, n % 250 + 1);
    (0..count)
        .map(|n| name(n).parse().map_err(io::Error::other))
        .collect()
}

fn per_key(keys: &[String], work: impl Fn(&[u8]) -> u64) -> f64 {
    let all = || {
        for key in (0..PASSES).flat_map(|_| keys) {
            black_box(work(black_box(key.as_bytes())));
        }
    };
    nanos(all) / (PASSES * keys.len()) as f64
}

impl Row {
    /// Nanoseconds: the hash alone, and the whole way from key to server. Of the fastest rounds: nothing but other programs
    /// makes the same work slower.
    fn times(&self) -> (f64, f64) {
        let fastest = |values: &Vec<f64>| Spread::of(values.iter().copied()).least;
        (fastest(&self.hash), fastest(&self.first))
    }
}

fn print(report: &mut Report, rows: &[Row]) {
    let caption = format!(
        "From a key of 19 bytes to one of {SERVERS} servers, in nanoseconds; the median row of each client [fastest–slowest]"
    );
    let mut table = Table::new(1, ["client", "rows", "hash", "hash and lookup"]);
    for group in rows.chunk_by(|a, b| a.compat.client() == b.compat.client()) {
        let spread = |number: fn((f64, f64)) -> f64| {
            let it = Spread::of(group.iter().map(|row| number(row.times())));
            let [median, least, greatest] = [it.median, it.least, it.greatest].map(short);
            if group.len() == 1 {
                median
            } else {
                format!("{median} [{least}–{greatest}]")
            }
        };
        table.row([
            group[0].compat.client().to_owned(),
            group.len().to_string(),
            spread(|(hash, _)| hash),
            spread(|(_, first)| first),
        ]);
    }
    report.table("lookup", &caption, &table);
}

fn draw(rows: &[Row]) -> io::Result<()> {
    let bars = rows.iter().map(|row| {
        let (hash, first) = row.times();
        Bar {
            label: row.compat.name().to_owned(),
            parts: vec![hash, (first - hash).max(0.0)],
            note: short(first.max(hash)),
        }
    });
    let bars: Vec<Bar> = bars.collect();
    let mut canvas = Canvas::new(
        940.0,
        Canvas::height_of_bars(bars.len()),
        &format!("From a key of 19 bytes to one of {SERVERS} servers"),
        "Nanoseconds for each row of the table of clients.",
    );
    let parts = [
        ("hash of the key", "#0969da"),
        ("search of the server", "#f0883e"),
    ];
    canvas.bars(310.0, "ns", &parts, &bars);
    canvas.save("lookup")
}
