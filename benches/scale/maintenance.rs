//! What a pass of the maintenance thread costs with up to 100 servers of 100 idle sockets each. It sees the pool from outside:
//! Linux tells how long the thread ran and how often it woke.

use std::fs;
use std::io;
use std::thread;
use std::time::Duration;

use sockio::SockIoPool;

use crate::files;
use crate::memcached::Memcached;
use crate::numbers::{Spread, grouped};
use crate::plot::{Axis, COLOURS, Canvas, Frame, Series};
use crate::report::Report;
use crate::table::Table;

const SERVERS: [usize; 3] = [1, 10, 100];
const SOCKETS: [usize; 3] = [1, 10, 100];
/// A rest this short makes passes often enough to be counted; each is the same as after a long one.
const PAUSE: Duration = Duration::from_millis(10);
const ROUND: Duration = Duration::from_millis(300);
const ROUNDS: usize = 5;
/// Descriptors for all else.
const SPARE: usize = 100;

struct Size {
    servers: usize,
    sockets: usize,
    /// Microseconds of the thread per pass.
    pass: Spread,
}

pub(crate) fn run(report: &mut Report) -> io::Result<()> {
    let server = Memcached::start(SERVERS[2], SERVERS[2] * SOCKETS[2])?;
    let limit = files::limit()?.saturating_sub(SPARE);
    let mut sizes = Vec::new();
    for servers in SERVERS {
        for sockets in SOCKETS {
            if servers * sockets > limit {
                println!("{servers} servers of {sockets} sockets left out: `ulimit -n` is too low");
                continue;
            }
            sizes.push(Size {
                servers,
                sockets,
                pass: measure(&server, servers, sockets)?,
            });
        }
    }
    print(report, &sizes);
    draw(&sizes)
}

fn measure(server: &Memcached, servers: usize, sockets: usize) -> io::Result<Spread> {
    let pool = SockIoPool::builder()
        .servers((0..servers).map(|number| server.addr(number)))
        .initial_conn(sockets)
        .min_conn(sockets)
        .max_conn(sockets)
        .connect_timeout(Duration::from_secs(10))
        .maint_sleep(PAUSE)
        .build()
        .map_err(io::Error::other)?;
    let idle = || pool.stats().iter().map(|stats| stats.idle).sum::<usize>();
    if idle() != servers * sockets {
        let message = format!("{} of {} sockets opened", idle(), servers * sockets);
        return Err(io::Error::other(message));
    }
    // By then the thread has begun, and bears its name.
    thread::sleep(5 * PAUSE);
    let mut passes = Vec::new();
    for _ in 0..ROUNDS {
        let before = Run::of_thread()?;
        thread::sleep(ROUND);
        let after = Run::of_thread()?;
        let wakes = after.wakes - before.wakes;
        passes.push((after.nanos - before.nanos) as f64 / 1e3 / wakes.max(1) as f64);
    }
    assert_eq!(idle(), servers * sockets, "a pass at rest closes nothing");
    Ok(Spread::of(passes))
}

/// What the maintenance thread of the one pool of this process did so far.
struct Run {
    nanos: u64,
    /// How often it waited: once for each pass while nothing else is to do.
    wakes: u64,
}

impl Run {
    fn of_thread() -> io::Result<Self> {
        for task in fs::read_dir("/proc/self/task")? {
            let task = task?.path();
            let name = fs::read_to_string(task.join("comm"))?;
            if name.trim_end() != "sockio-maint" {
                continue;
            }
            let run = fs::read_to_string(task.join("schedstat"))?;
            let status = fs::read_to_string(task.join("status"))?;
            let mut lines = status.lines();
            let wakes = lines.find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
            let number = |text: Option<&str>| text.and_then(|text| text.trim().parse().ok());
            if let (Some(nanos), Some(wakes)) = (number(run.split(' ').next()), number(wakes)) {
                return Ok(Self { nanos, wakes });
            }
        }
        Err(io::Error::other("no maintenance thread in /proc/self/task"))
    }
}

fn print(report: &mut Report, sizes: &[Size]) {
    let caption = format!(
        "A pass of the maintenance thread over idle sockets: microseconds of its running time, median of {ROUNDS} rounds [quartiles]"
    );
    let mut table = Table::new(0, ["servers", "sockets each", "sockets", "a pass, µs"]);
    for Size {
        servers,
        sockets,
        pass,
    } in sizes
    {
        table.row([
            servers.to_string(),
            sockets.to_string(),
            grouped((servers * sockets) as f64),
            pass.to_string(),
        ]);
    }
    report.table("maintenance", &caption, &table);
}

fn draw(sizes: &[Size]) -> io::Result<()> {
    let mut canvas = Canvas::new(
        620.0,
        460.0,
        "A pass of the maintenance thread",
        "Running time of the thread; all sockets idle.",
    );
    let span = Spread::of(sizes.iter().map(|size| size.pass.median));
    let series = SERVERS.iter().zip(COLOURS).map(|(servers, colour)| {
        let mine = sizes.iter().filter(|size| size.servers == *servers);
        let points = mine.map(|size| (size.sockets as f64, size.pass.median));
        let plural = if *servers == 1 { "" } else { "s" };
        Series::new(
            &format!("{servers} server{plural}"),
            colour,
            points.collect(),
        )
    });
    let series: Vec<Series> = series.collect();
    let frame = Frame {
        left: 80.0,
        top: 80.0,
        width: 380.0,
        height: 320.0,
    };
    let across = Axis::log("idle sockets of each server", 1.0, 100.0);
    let up = Axis::log("microseconds per pass", span.least, span.greatest);
    canvas.lines(frame, "", &across, &up, &series);
    let names = series.iter().rev().map(|it| (it.name.as_str(), it.colour));
    canvas.column_of_names(480.0, 100.0, names);
    canvas.save("maintenance")
}
