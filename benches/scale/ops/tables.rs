//! The tables: rates and times of the crate and of the others, and what combining gains.

use super::contenders::Contender;
use super::{
    COMBINING, CONNECTIONS, Cell, FLOOR, MOST_THREADS, PEERS, PLAIN, ROUNDS, THREADS, cell,
};
use crate::numbers::{grouped, short};
use crate::report::Report;
use crate::table::Table;

/// Instead of a number where all rounds failed.
const FAILED: &str = "failed";

pub(super) fn print(report: &mut Report, contenders: &[Contender], cells: &[Cell]) {
    let (own, peers) = contenders.split_at(PEERS);
    let rounds = format!("median [least–greatest] of {ROUNDS} rounds in turns");
    let rates = table(own, FLOOR, |contender, threads, connections| {
        let it = cell(cells, contender, threads, connections);
        let rate = rate(it)?;
        if contender == FLOOR {
            return Some(rate);
        }
        let ratio = it.ratio(cell(cells, FLOOR, threads, connections))?;
        Some(format!("{rate} ({})", ratio.whole()))
    });
    let caption =
        format!("Gets of 100 bytes per second; in brackets the ratio to the floor, {rounds}");
    report.table("rates", &caption, &rates);
    let caption = "Microseconds per get: p50 / p99 of the median round, and the longest of all; in brackets the operations of the \
                   busiest thread for one of the laziest";
    report.table("times", caption, &times(own, FLOOR, cells));
    let caption = format!("What combining gains; {rounds}");
    report.table("combining", &caption, &combining(cells));
    if !peers.is_empty() {
        let rates = table(peers, PEERS, |contender, threads, connections| {
            let it = cell(cells, contender, threads, connections);
            let ratio = cell(cells, PLAIN, threads, connections).ratio(it)?;
            Some(format!("{} ({})", rate(it)?, ratio.whole()))
        });
        let caption = format!(
            "Gets of 100 bytes per second by other clients; in brackets those of sockio, without combining, for one of theirs, {rounds}"
        );
        report.table("peers", &caption, &rates);
        let caption =
            "Other clients: microseconds per get as above, and the busiest thread for the laziest";
        report.table("peers-times", caption, &times(peers, PEERS, cells));
    }
}

/// A line for each number of threads and connections, a column for each of these contenders, the first of which has a number.
fn table(
    contenders: &[Contender],
    first: usize,
    text: impl Fn(usize, usize, usize) -> Option<String>,
) -> Table {
    let names = contenders.iter().map(|it| it.name.as_str());
    let mut table = Table::new(0, ["threads", "connections"].into_iter().chain(names));
    for threads in THREADS {
        for connections in CONNECTIONS {
            let start = [threads.to_string(), connections.to_string()];
            let cells = (first..first + contenders.len()).map(|contender| {
                text(contender, threads, connections).unwrap_or_else(|| FAILED.to_owned())
            });
            table.row(start.into_iter().chain(cells));
        }
    }
    table
}

fn rate(cell: &Cell) -> Option<String> {
    Some(grouped(cell.per_second()?))
}

fn times(contenders: &[Contender], first: usize, cells: &[Cell]) -> Table {
    table(contenders, first, |contender, threads, connections| {
        let it = cell(cells, contender, threads, connections);
        let p50 = short(it.spread(|slice| slice.p50)?.median);
        let p99 = short(it.spread(|slice| slice.p99)?.median);
        let max = short(it.spread(|slice| slice.max)?.greatest);
        let unfairness = it.spread(|slice| slice.unfairness)?.median;
        Some(format!("{p50} / {p99} / {max} ({unfairness:.1})"))
    })
}

/// With the most threads: what combining is for.
fn combining(cells: &[Cell]) -> Table {
    let of = |contender, connections| cell(cells, contender, MOST_THREADS, connections);
    let mut table = Table::new(1, [&format!("{MOST_THREADS} threads"), "bar", "measured"]);
    let mut row = |what: &str, bar: &str, measured: Option<String>| {
        let measured = measured.unwrap_or_else(|| FAILED.to_owned());
        table.row([what.to_owned(), bar.to_owned(), measured]);
    };
    let ratio = |combining, plain| Some(of(COMBINING, combining).ratio(of(PLAIN, plain))?.whole());
    row(
        "combining on 1 connection ÷ not combining on 1",
        "≥ 4",
        ratio(1, 1),
    );
    row(
        "combining on 1 connection ÷ not combining on 64",
        "≥ 1.5",
        ratio(1, 64),
    );
    row(
        "combining on 4 connections ÷ not combining on 64",
        "≥ 1.5",
        ratio(4, 64),
    );
    for connections in [1, 4] {
        let unfairness = of(COMBINING, connections).spread(|slice| slice.unfairness);
        let plural = if connections == 1 { "" } else { "s" };
        row(
            &format!(
                "combining on {connections} connection{plural}: operations of the busiest thread ÷ of the laziest"
            ),
            "≤ 2",
            unfairness.map(|spread| spread.whole()),
        );
    }
    table
}
