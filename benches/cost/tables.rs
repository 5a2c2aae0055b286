//! The tables of what was counted. It counts nothing.

use crate::bars::{Bar, Measure};
use crate::count::Counts;
use crate::digits::grouped;
use crate::operations::Operation;
use crate::pool::Finding;
use crate::report::Report;
use crate::table::Table;

/// Prints the floor and the crate, `floor / sockio` in each cell; returns what is over a bar.
pub(crate) fn operations(
    report: &mut Report,
    rows: &[(&Operation, Counts, Counts)],
) -> Vec<String> {
    let mut table = Table::new(
        1,
        [
            "operation",
            "system calls",
            "instructions",
            "allocations",
            "bytes copied",
            "at most",
        ],
    );
    let mut over = Vec::new();
    for (operation, floor, counts) in rows {
        let cell = |measures: &[Measure]| {
            let sum = |counts: &Counts| {
                let parts: Option<Vec<f64>> = measures.iter().map(|of| counts.of(*of)).collect();
                parts.map(|parts| parts.iter().sum())
            };
            let exceeds = |bar: &&Bar| {
                measures.iter().any(|measure| bar.holds(*measure)) && bar.is_over(counts)
            };
            let mark = operation.bars.iter().any(|bar| exceeds(&bar));
            let (floor, own) = (written(sum(floor)), written(sum(counts)));
            if mark {
                format!("{floor} / **{own}**")
            } else {
                format!("{floor} / {own}")
            }
        };
        let bars: Vec<String> = operation.bars.iter().map(Bar::text).collect();
        table.row([
            operation.title.to_owned(),
            cell(&[Measure::Sends, Measure::Receives, Measure::OtherCalls]),
            cell(&[Measure::Instructions]),
            cell(&[Measure::Allocations]),
            cell(&[Measure::Copied]),
            bars.join(", "),
        ]);
        let exceeded = operation.bars.iter().filter(|bar| bar.is_over(counts));
        over.extend(exceeded.map(|bar| bar.complaint(operation.title, counts)));
    }
    let caption = "In each cell: the floor / sockio.";
    report.table("operations", caption, &table);
    over
}

/// Prints the bars of the pool; returns those that are not met.
pub(crate) fn findings(report: &mut Report, findings: &[Finding]) -> Vec<String> {
    let mut table = Table::new(1, ["of a pool", "measured", "at most"]);
    let mut over = Vec::new();
    for finding in findings {
        let Finding {
            bar,
            most,
            measured,
            met,
        } = finding;
        let cell = if *met {
            measured.clone()
        } else {
            over.push(format!("bar {bar}: {measured} where it says: {most}"));
            format!("**{measured}**")
        };
        table.row([(*bar).to_owned(), cell, (*most).to_owned()]);
    }
    report.table("pool", "The bars of a pool.", &table);
    over
}

/// Prints other clients beside the crate, operation by operation.
pub(crate) fn peers(report: &mut Report, rows: &[(&Operation, String, Counts)]) {
    let mut table = Table::new(
        2,
        [
            "operation",
            "client",
            "system calls",
            "instructions",
            "allocations",
            "bytes copied",
        ],
    );
    for (operation, name, counts) in rows {
        table.row([
            operation.title.to_owned(),
            name.clone(),
            written(Some(counts.calls.values().sum())),
            written(counts.of(Measure::Instructions)),
            written(counts.of(Measure::Allocations)),
            written(counts.of(Measure::Copied)),
        ]);
    }
    report.table("peers", "Beside other clients.", &table);
}

/// A whole number, or one with a digit behind the point where it is none; `-` for what could not be counted.
fn written(count: Option<f64>) -> String {
    match count {
        None => "-".to_owned(),
        Some(count) if count >= 100.0 || (count - count.round()).abs() < 0.05 => {
            grouped(count.round().max(0.0))
        }
        Some(count) => format!("{count:.1}"),
    }
}
