//! What each operation costs: system calls, instructions, allocations and copied bytes, counted and held to bars.
//!
//! `cargo bench --bench cost` prints the floor and the crate and fails where one is over a bar; `-- --peers` adds other clients,
//! and `-- --readme` does that and puts the tables in the README.
//! Unlike times, counts are the same on every machine. It needs strace, valgrind and memcached; without cc no copies are counted.

#[path = "../../tests/it/support/allocations.rs"]
mod allocations;
mod bars;
#[path = "../support/peers.rs"]
mod client_programs;
mod count;
#[path = "../support/digits.rs"]
mod digits;
#[path = "../support/files.rs"]
mod files;
mod floor;
#[path = "../support/machine.rs"]
mod machine;
#[path = "../support/memcached.rs"]
mod memcached;
mod one;
mod operations;
mod peers;
mod pool;
#[path = "../support/report.rs"]
mod report;
#[path = "../support/table.rs"]
mod table;
mod tables;
#[path = "../support/text.rs"]
mod text;

use std::io;
use std::process::ExitCode;
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::Instant;

use count::{Contender, Counts, Task, Tools};
use memcached::Memcached;
use operations::{OPERATIONS, Operation, Place};
use report::Report;

/// More connections than all processes have at a time.
const CONNECTIONS: usize = 256;

/// The tables that the README has.
const IN_README: [&str; 4] = ["machine", "operations", "pool", "peers"];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.first().map(String::as_str) {
        Some("--one") => one::run(&args[1..]),
        Some("--idle") => pool::hold(&args[1..]),
        // `cargo test --all-targets` starts benches too, without the argument that `cargo bench` gives.
        _ if !args.iter().any(|arg| arg == "--bench") => {
            println!("nothing to test here; `cargo bench --bench cost` counts");
            Ok(())
        }
        _ => count_and_tell(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn count_and_tell(args: &[String]) -> io::Result<()> {
    let known = ["--bench", "--peers", "--readme"];
    if let Some(arg) = args.iter().find(|arg| !known.contains(&arg.as_str())) {
        return Err(io::Error::other(format!(
            "{arg:?} is neither --peers nor --readme"
        )));
    }
    let readme = args.iter().any(|arg| arg == "--readme");
    let with_peers = readme || args.iter().any(|arg| arg == "--peers");
    let mut report = Report::new("cost", &IN_README);
    if readme {
        report.check_readme()?;
    }
    let begun = Instant::now();
    if let Err(error) = files::raise() {
        eprintln!("the limit of open files stays: {error}");
    }
    report.text("machine", machine::describe()?);
    println!("Load average {}.\n", machine::load()?);
    let tools = Tools::find()?;
    let peers = match with_peers {
        true => peers::contenders()?,
        false => Vec::new(),
    };
    let own = |name: &str| {
        Ok::<_, io::Error>(Contender {
            name: name.to_owned(),
            program: std::env::current_exe()?,
            args: vec!["--one".to_owned(), name.to_owned()],
            share: 1,
        })
    };
    let (floor, sockio) = (own("floor")?, own("sockio")?);
    let of_both = OPERATIONS
        .iter()
        .flat_map(|operation| [&floor, &sockio].map(|contender| (operation, contender)));
    let of_peers = peers.iter().flat_map(|(contender, names)| {
        let known = OPERATIONS
            .iter()
            .filter(|of| names.iter().any(|name| name == of.name));
        known.map(move |operation| (operation, contender))
    });
    let both = count_all(&tools, &of_both.collect::<Vec<_>>())?;
    let both = both.into_iter().collect::<io::Result<Vec<Counts>>>()?;
    let others: Vec<(&Operation, &Contender)> = of_peers.collect();
    let counted = count_all(&tools, &others)?;

    let rows: Vec<_> = OPERATIONS
        .iter()
        .zip(both.chunks_exact(2))
        .map(|(operation, both)| (operation, both[0].clone(), both[1].clone()))
        .collect();
    let mut over = tables::operations(&mut report, &rows);
    over.extend(tables::findings(&mut report, &pool::measure()?));
    if with_peers {
        let others = others.iter().zip(counted);
        let others = others.filter_map(|((of, peer), counts)| match counts {
            Ok(counts) => Some((*of, peer.name.clone(), counts)),
            Err(error) => {
                eprintln!("left out, {} of {}: {error}", of.name, peer.name);
                None
            }
        });
        let own = rows
            .into_iter()
            .map(|(of, _, own)| (of, "sockio".to_owned(), own));
        let mut rows: Vec<_> = own.chain(others).collect();
        let place = |name: &str| OPERATIONS.iter().position(|of| of.name == name);
        rows.sort_by_key(|(operation, ..)| place(operation.name));
        tables::peers(&mut report, &rows);
    }
    println!("({:.0} s)", begun.elapsed().as_secs_f64());
    if over.is_empty() {
        return match readme {
            true => report.write_readme(),
            false => Ok(()),
        };
    }
    Err(io::Error::other(format!(
        "over a bar:\n{}",
        over.join("\n")
    )))
}

struct Servers {
    tcp: Memcached,
    unix: Memcached,
}

impl Servers {
    fn start() -> io::Result<Self> {
        Ok(Self {
            tcp: Memcached::start(4, CONNECTIONS)?,
            unix: Memcached::start_unix()?,
        })
    }

    fn addr(&self, place: Place) -> String {
        match place {
            Place::Tcp => self.tcp.addr(0),
            Place::FourTcp => {
                let addrs: Vec<String> = (0..4).map(|number| self.tcp.addr(number)).collect();
                addrs.join(",")
            }
            Place::Unix => self.unix.addr(0),
        }
    }
}

/// Counts each of them, as many at a time as there are processors; in the order in which they came.
fn count_all(
    tools: &Tools,
    all: &[(&'static Operation, &Contender)],
) -> io::Result<Vec<io::Result<Counts>>> {
    let next = Mutex::new(0..all.len());
    let (found, counted) = mpsc::channel();
    let work = |found: mpsc::Sender<_>| -> io::Result<()> {
        // Its own: clients store different things under the same keys.
        let servers = Servers::start()?;
        loop {
            let number = next.lock().ok().and_then(|mut next| next.next());
            let Some(number) = number else {
                return Ok(());
            };
            let (operation, contender) = all[number];
            let task = Task {
                contender: contender.clone(),
                operation: operation.name,
                times: operation.times / contender.share,
                addr: servers.addr(operation.place),
            };
            // Whoever reads waits until all are done.
            let _ = found.send((number, tools.count(&task)));
        }
    };
    thread::scope(|scope| {
        let workers = thread::available_parallelism().map_or(1, |count| count.get());
        let workers: Vec<_> = (0..workers)
            .map(|_| found.clone())
            .map(|found| scope.spawn(|| work(found)))
            .collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().map_err(|_| io::Error::other("a panic"))?)
    })?;
    drop(found);
    let mut counted: Vec<_> = counted.into_iter().collect();
    counted.sort_by_key(|(number, _)| *number);
    Ok(counted.into_iter().map(|(_, counts)| counts).collect())
}
