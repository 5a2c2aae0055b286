//! The plots: rates, times, and the rates of other clients, one column per number of connections.

use std::io;
use std::thread;

use super::contenders::Contender;
use super::{CONNECTIONS, Cell, PEERS, THREADS, cell};
use crate::numbers::Spread;
use crate::plot::{Axis, Canvas, Frame, Series};

type Value = fn(&Cell) -> Option<f64>;

/// One line of frames; its axis is logarithmic, or begins at 0.
struct Row {
    label: &'static str,
    log: bool,
    value: Value,
}

const RATES: Row = Row {
    label: "thousand gets per second",
    log: false,
    value: |cell| Some(cell.per_second()? / 1e3),
};
const MEDIANS: Row = Row {
    label: "p50, µs",
    log: true,
    value: |cell| Some(cell.spread(|slice| slice.p50)?.median),
};
const TAILS: Row = Row {
    label: "p99, µs",
    log: true,
    value: |cell| Some(cell.spread(|slice| slice.p99)?.median),
};

const WIDTH: f64 = 960.0;
const PITCH: f64 = 275.0;

pub(super) fn draw(contenders: &[Contender], cells: &[Cell]) -> io::Result<()> {
    let own = &contenders[..PEERS];
    let title = "Gets of 100 bytes by threads and connections";
    plot("ops", title, own, cells, &[RATES])?;
    let title = "Time of a get of 100 bytes by threads and connections";
    plot("latency", title, own, cells, &[MEDIANS, TAILS])?;
    if contenders.len() > PEERS {
        let title = "Gets of 100 bytes by threads and connections, with other clients";
        plot("peers", title, contenders, cells, &[RATES, TAILS])?;
    }
    Ok(())
}

fn plot(
    name: &str,
    title: &str,
    contenders: &[Contender],
    cells: &[Cell],
    rows: &[Row],
) -> io::Result<()> {
    let cores = thread::available_parallelism()?;
    let note =
        format!("{cores} cores, memcached on the same machine, TCP. Medians of rounds in turns.");
    let names: Vec<(&str, &str)> = contenders
        .iter()
        .map(|it| (it.name.as_str(), it.colour))
        .collect();
    // Five names fill a line.
    let lines = names.chunks(5);
    let top = 106.0 + 20.0 * lines.len() as f64;
    let height = top + PITCH * rows.len() as f64 - 25.0;
    let mut canvas = Canvas::new(WIDTH, height, title, &note);
    for (number, line) in lines.enumerate() {
        canvas.legend(78.0, 76.0 + 20.0 * number as f64, line.iter().copied());
    }
    let across = Axis::log("threads", 1.0, 64.0).ticks(THREADS.map(|number| number as f64));
    for (number, row) in rows.iter().enumerate() {
        let shown = cells
            .iter()
            .filter(|cell| cell.contender < contenders.len());
        let span = Spread::of(shown.filter_map(row.value));
        let up = match row.log {
            true => Axis::log(row.label, span.least, span.greatest),
            false => Axis::linear(row.label, span.greatest),
        };
        for (column, connections) in CONNECTIONS.into_iter().enumerate() {
            let series = contenders.iter().enumerate().map(|(contender, it)| {
                let points = THREADS.into_iter().filter_map(|threads| {
                    let value = (row.value)(cell(cells, contender, threads, connections))?;
                    Some((threads as f64, value))
                });
                Series::new(&it.name, it.colour, points.collect())
            });
            let frame = Frame {
                left: 78.0 + 300.0 * column as f64,
                top: top + PITCH * number as f64,
                width: 215.0,
                height: 190.0,
            };
            let plural = if connections == 1 { "" } else { "s" };
            let title = format!("{connections} connection{plural}");
            canvas.lines(frame, &title, &across, &up, &series.collect::<Vec<_>>());
        }
    }
    canvas.save(name)
}
