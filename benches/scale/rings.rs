//! How long a ring takes to build, from 1 to 1,000 servers, for every ring of the table of clients.

use std::io;

use sockio::Compat;

use crate::lookup::{placements, servers};
use crate::numbers::{Spread, nanos, short};
use crate::plot::{Axis, COLOURS, Canvas, Frame, Series};
use crate::report::Report;
use crate::table::Table;

const SERVERS: [usize; 7] = [1, 3, 10, 30, 100, 300, 1000];
const ROUNDS: usize = 5;

struct Ring {
    /// The first row that has it.
    compat: Compat,
    points: usize,
    /// Milliseconds for each number of servers.
    times: Vec<f64>,
}

pub(crate) fn run(report: &mut Report) -> io::Result<()> {
    let mut rings: Vec<Ring> = Vec::new();
    for compat in placements() {
        let router = compat.router(servers(1)?).map_err(io::Error::other)?;
        // A list has one bucket for one server, a ring many points.
        let is_ring = router.placement().slots() > 1;
        let known = |ring: &Ring| form(ring.compat) == form(compat);
        if is_ring && !rings.iter().any(known) {
            rings.push(measure(compat)?);
        }
    }
    print(report, &rings);
    draw(&rings)
}

/// Rows that differ in their keys' hash alone have the same ring.
fn form(compat: Compat) -> String {
    format!("{:?}", compat.distribution())
}

fn measure(compat: Compat) -> io::Result<Ring> {
    let mut times = Vec::new();
    let mut points = 0;
    for count in SERVERS {
        let mut rounds = Vec::new();
        for _ in 0..ROUNDS {
            let servers = servers(count)?;
            let mut built = None;
            rounds.push(nanos(|| built = Some(compat.router(servers))) / 1e6);
            if let Some(router) = built {
                points = router.map_err(io::Error::other)?.placement().slots();
            }
        }
        // The fastest: nothing but other programs makes the same work slower.
        times.push(Spread::of(rounds).least);
    }
    Ok(Ring {
        compat,
        points,
        times,
    })
}

impl Ring {
    fn at(&self, servers: usize) -> f64 {
        let place = SERVERS.iter().position(|count| *count == servers);
        self.times[place.expect("one of those measured")]
    }
}

/// The slowest ring of each client.
fn slowest(rings: &[Ring]) -> impl Iterator<Item = (usize, &Ring)> {
    let groups = rings.chunk_by(|a, b| a.compat.client() == b.compat.client());
    groups.filter_map(|group| {
        let slowest = group
            .iter()
            .max_by(|a, b| a.at(1000).total_cmp(&b.at(1000)));
        Some((group.len(), slowest?))
    })
}

fn print(report: &mut Report, rings: &[Ring]) {
    let caption = "Milliseconds to build the slowest ring of each client, by the number of servers";
    let heading = [
        "ring",
        "of",
        "points of 1,000 servers",
        "1",
        "10",
        "100",
        "1,000",
    ];
    let mut table = Table::new(1, heading);
    for (count, ring) in slowest(rings) {
        let start = [
            ring.compat.name().to_owned(),
            count.to_string(),
            crate::numbers::grouped(ring.points as f64),
        ];
        let times = [1, 10, 100, 1000].map(|servers| short(ring.at(servers)));
        table.row(start.into_iter().chain(times));
    }
    report.table("rings", caption, &table);
}

fn draw(rings: &[Ring]) -> io::Result<()> {
    let mut canvas = Canvas::new(
        880.0,
        520.0,
        "Time to build a ring",
        "The slowest ring of each client, without weights.",
    );
    let series = slowest(rings).zip(COLOURS).map(|((_, ring), colour)| {
        let points = SERVERS.iter().zip(&ring.times);
        let points = points.map(|(count, time)| (*count as f64, *time));
        Series::new(ring.compat.name(), colour, points.collect())
    });
    let series: Vec<Series> = series.collect();
    let all = || series.iter().flat_map(|it| &it.points).map(|point| point.1);
    let span = Spread::of(all());
    let across = Axis::log("servers", 1.0, 1000.0);
    let up = Axis::log("milliseconds", span.least, span.greatest);
    let frame = Frame {
        left: 80.0,
        top: 80.0,
        width: 460.0,
        height: 380.0,
    };
    canvas.lines(frame, "", &across, &up, &series);
    let mut ends: Vec<&Series> = series.iter().collect();
    ends.sort_by(|a, b| b.end().total_cmp(&a.end()));
    let names = ends.iter().map(|it| (it.name.as_str(), it.colour));
    canvas.column_of_names(560.0, 100.0, names);
    canvas.save("rings")
}
