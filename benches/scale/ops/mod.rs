//! Gets of 100 bytes per second, by threads and connections: clients beside the floor, in turns. It knows no client's inside.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use sockio::{MemcachedClient, SockIoPool, SockIoPoolBuilder};

use crate::memcached::Memcached;
use crate::numbers::{Spread, grouped, quantile, short};
use crate::plot::{Axis, Canvas, Frame, Series};
use crate::table::Table;

const THREADS: [usize; 4] = [1, 4, 16, 64];
const CONNECTIONS: [usize; 3] = [1, 4, 64];
const MOST_THREADS: usize = 64;
const VALUE: [u8; 100] = [b'v'; 100];

/// Odd, so that the median is one of them.
const ROUNDS: usize = 15;
const SLICE: Duration = Duration::from_millis(100);

/// One get by the thread with this number.
pub(crate) type Get = Box<dyn Fn(usize) + Send + Sync>;

/// Who takes part: a name, and what makes its get from a server's address and a number of connections.
pub(crate) struct Contender {
    pub(crate) name: &'static str,
    pub(crate) open: fn(&str, usize) -> io::Result<Get>,
    pub(crate) colour: &'static str,
}

/// What the others are compared with.
pub(crate) const FLOOR: Contender = Contender {
    name: "floor",
    open: floor,
    colour: "#8b949e",
};

pub(crate) const SOCKIO: Contender = Contender {
    name: "sockio",
    open: |addr, connections| client(SockIoPool::builder(), addr, connections),
    colour: "#0969da",
};

/// What one contender did with so many threads and connections.
struct Cell {
    threads: usize,
    connections: usize,
    contender: usize,
    per_second: Vec<f64>,
    /// Operations of the busiest thread for one of the laziest.
    unfairness: Vec<f64>,
    /// Nanoseconds of all operations.
    times: Vec<u32>,
}

pub(crate) fn run() -> io::Result<()> {
    compare(&[FLOOR, SOCKIO], "ops")
}

/// Prints how the contenders do, the first of them as the measure of the others, and writes the plot of this name.
pub(crate) fn compare(contenders: &[Contender], plot: &str) -> io::Result<()> {
    let connections: usize = CONNECTIONS.iter().sum();
    let server = Memcached::start(1, connections * contenders.len())?;
    let addr = server.addr(0);
    fill(&addr)?;
    let mut cells = Vec::new();
    for threads in THREADS {
        cells.extend(measure(contenders, &addr, threads)?);
    }
    print_rates(contenders, &cells);
    print_times(contenders, &cells);
    draw(contenders, &cells, plot)
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

/// Bare sockets with a prebuilt request and no parsing; threads share one by a mutex where there are more threads.
fn floor(addr: &str, connections: usize) -> io::Result<Get> {
    let requests = (0..MOST_THREADS).map(|thread| format!("get {}\r\n", key(thread)));
    let requests: Vec<String> = requests.collect();
    let answer = format!("VALUE {} 0 100\r\n\r\nEND\r\n", key(0)).len() + VALUE.len();
    let connect = |_| -> io::Result<Mutex<TcpStream>> {
        let stream = TcpStream::connect(addr)?;
        stream.set_nodelay(true)?;
        Ok(Mutex::new(stream))
    };
    let streams = (0..connections).map(connect);
    let streams: Vec<Mutex<TcpStream>> = streams.collect::<io::Result<_>>()?;
    Ok(Box::new(move |thread| {
        let mut stream = streams[thread % connections].lock().expect("no panic");
        stream
            .write_all(requests[thread].as_bytes())
            .expect("a write");
        let mut buffer = [0; 1024];
        let mut read = 0;
        while read < answer {
            let more = stream.read(&mut buffer[read..]).expect("a read");
            assert!(more > 0, "the server closed");
            read += more;
        }
        assert_eq!(read, answer);
    }))
}

/// The crate as the builder has it, but for the number of connections.
fn client(builder: SockIoPoolBuilder, addr: &str, connections: usize) -> io::Result<Get> {
    let pool = builder
        .servers([addr])
        .initial_conn(connections)
        .min_conn(connections)
        .max_conn(connections)
        .max_open(connections)
        .build()
        .map_err(io::Error::other)?;
    let client = MemcachedClient::new(pool);
    let keys: Vec<String> = (0..MOST_THREADS).map(key).collect();
    Ok(Box::new(move |thread| {
        let value: Option<Vec<u8>> = client.get(&keys[thread]).expect("a get");
        assert_eq!(value.expect("a hit").len(), VALUE.len());
    }))
}

/// All contenders and numbers of connections in turns, so that what slows the machine down slows all of them down.
fn measure(contenders: &[Contender], addr: &str, threads: usize) -> io::Result<Vec<Cell>> {
    let mut all = Vec::new();
    for connections in CONNECTIONS {
        for (contender, it) in contenders.iter().enumerate() {
            let cell = Cell {
                threads,
                connections,
                contender,
                per_second: Vec::new(),
                unfairness: Vec::new(),
                times: Vec::new(),
            };
            all.push((cell, (it.open)(addr, connections)?));
        }
    }
    for _ in 0..ROUNDS {
        for (cell, get) in &mut all {
            cell.slice(get);
        }
    }
    let mut cells: Vec<Cell> = all.into_iter().map(|(cell, _)| cell).collect();
    for cell in &mut cells {
        cell.times.sort_unstable();
    }
    Ok(cells)
}

impl Cell {
    /// All threads do gets for a while.
    fn slice(&mut self, get: &Get) {
        let (start, stop) = (Barrier::new(self.threads + 1), AtomicBool::new(false));
        let work = |thread: usize| {
            let mut times = Vec::with_capacity(1 << 14);
            start.wait();
            let mut begun = Instant::now();
            while !stop.load(Ordering::Relaxed) {
                get(thread);
                let now = Instant::now();
                times.push((now - begun).as_nanos().try_into().unwrap_or(u32::MAX));
                begun = now;
            }
            times
        };
        thread::scope(|scope| {
            let threads: Vec<_> = (0..self.threads)
                .map(|thread| scope.spawn(move || work(thread)))
                .collect();
            start.wait();
            let begun = Instant::now();
            thread::sleep(SLICE);
            stop.store(true, Ordering::Relaxed);
            let times: Vec<Vec<u32>> = threads
                .into_iter()
                .map(|thread| thread.join().expect("no panic"))
                .collect();
            let took = begun.elapsed().as_secs_f64();
            let counts = || times.iter().map(Vec::len);
            let (most, least) = (counts().max(), counts().min());
            self.per_second.push(counts().sum::<usize>() as f64 / took);
            self.unfairness
                .push(most.unwrap_or(0) as f64 / least.unwrap_or(0).max(1) as f64);
            self.times.extend(times.into_iter().flatten());
        });
    }

    /// In microseconds.
    fn quantile(&self, share: f64) -> f64 {
        f64::from(quantile(&self.times, share)) / 1e3
    }
}

fn table(contenders: &[Contender]) -> Table {
    let names = contenders.iter().map(|it| it.name);
    Table::new(0, ["threads", "connections"].into_iter().chain(names))
}

fn start_of(line: &[Cell]) -> impl Iterator<Item = String> {
    [line[0].threads.to_string(), line[0].connections.to_string()].into_iter()
}

fn print_rates(contenders: &[Contender], cells: &[Cell]) {
    println!(
        "Gets of 100 bytes per second; in brackets the ratio to {}, median [quartiles] of {ROUNDS} rounds in turns\n",
        contenders[0].name
    );
    let mut table = table(contenders);
    for line in cells.chunks(contenders.len()) {
        let rates = line.iter().map(|cell| {
            let rate = grouped(Spread::of(cell.per_second.iter().copied()).median);
            if cell.contender == 0 {
                return rate;
            }
            let pairs = cell.per_second.iter().zip(&line[0].per_second);
            let ratio = Spread::of(pairs.map(|(it, first)| it / first));
            format!("{rate} ({ratio})")
        });
        table.row(start_of(line).chain(rates));
    }
    table.print();
}

fn print_times(contenders: &[Contender], cells: &[Cell]) {
    println!(
        "Microseconds per get, p50 / p99 / max; in brackets the operations of the busiest thread for one of the laziest\n"
    );
    let mut table = table(contenders);
    for line in cells.chunks(contenders.len()) {
        let times = line.iter().map(|cell| {
            let [p50, p99, max] = [0.5, 0.99, 1.0].map(|share| short(cell.quantile(share)));
            let unfairness = Spread::of(cell.unfairness.iter().copied()).median;
            format!("{p50} / {p99} / {max} ({unfairness:.1})")
        });
        table.row(start_of(line).chain(times));
    }
    table.print();
}

/// Above the rates, below the 99th percentiles; one column per number of connections.
fn draw(contenders: &[Contender], cells: &[Cell], plot: &str) -> io::Result<()> {
    let cores = thread::available_parallelism()?;
    let mut canvas = Canvas::new(
        960.0,
        650.0,
        "Gets of 100 bytes by threads and connections",
        &format!(
            "Above: per second. Below: 99th percentile of the time that one takes. {cores} cores, memcached on the same machine, TCP."
        ),
    );
    let across = Axis::log("threads", 1.0, 64.0).ticks(THREADS.map(|number| number as f64));
    let rate = |cell: &Cell| Spread::of(cell.per_second.iter().copied()).median / 1e3;
    let p99 = |cell: &Cell| cell.quantile(0.99);
    let top = cells.iter().map(rate).fold(0.0, f64::max);
    let span = Spread::of(cells.iter().map(p99));
    for (column, connections) in CONNECTIONS.into_iter().enumerate() {
        let series = |value: &dyn Fn(&Cell) -> f64| -> Vec<Series> {
            let of = |(contender, it): (usize, &Contender)| {
                let mine = cells
                    .iter()
                    .filter(|cell| cell.contender == contender && cell.connections == connections);
                let points = mine.map(|cell| (cell.threads as f64, value(cell)));
                Series::new(it.name, it.colour, points.collect())
            };
            contenders.iter().enumerate().map(of).collect()
        };
        let frame = |top| Frame {
            left: 78.0 + 300.0 * column as f64,
            top,
            width: 215.0,
            height: 190.0,
        };
        let plural = if connections == 1 { "" } else { "s" };
        let title = format!("{connections} connection{plural}");
        let rates = Axis::linear("thousand gets per second", top);
        canvas.lines(frame(118.0), &title, &across, &rates, &series(&rate));
        let times = Axis::log("p99, µs", span.least, span.greatest);
        canvas.lines(frame(393.0), &title, &across, &times, &series(&p99));
    }
    canvas.legend(78.0, 76.0, contenders.iter().map(|it| (it.name, it.colour)));
    canvas.save(plot)
}
