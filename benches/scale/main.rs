//! What becomes of the crate as things grow: threads, connections, servers, values, idle sockets. It prints tables and writes plots.
//!
//! `cargo bench --bench scale` runs all parts, `cargo bench --bench scale -- ops rings` some of them, and with `--peers` the part
//! `ops` sets other clients beside the crate. The plots go to `benches/plots`. With `--readme` the tables take the place of those
//! in the README: all of them, so that they are of one machine and one day.
//!
//! Times depend on the machine; what is compared was measured in turns, and stands as the median of ratios.

mod compression;
#[path = "../support/digits.rs"]
mod digits;
#[path = "../support/files.rs"]
mod files;
mod lookup;
#[path = "../support/machine.rs"]
mod machine;
mod maintenance;
#[path = "../support/memcached.rs"]
mod memcached;
mod numbers;
mod ops;
#[path = "../support/peers.rs"]
mod peers;
mod plot;
#[path = "../support/report.rs"]
mod report;
mod rings;
#[path = "../support/table.rs"]
mod table;
#[path = "../support/text.rs"]
mod text;

use std::io;
use std::process::ExitCode;
use std::time::Instant;

use report::Report;

type Part = (&'static str, fn(&mut Report, &Options) -> io::Result<()>);

const PARTS: [Part; 5] = [
    ("ops", ops::run),
    ("lookup", |report, _| lookup::run(report)),
    ("rings", |report, _| rings::run(report)),
    ("compression", |report, _| compression::run(report)),
    ("maintenance", |report, _| maintenance::run(report)),
];

/// The tables that the README has.
const IN_README: [&str; 9] = [
    "machine",
    "rates",
    "times",
    "combining",
    "peers",
    "lookup",
    "rings",
    "compression",
    "maintenance",
];

/// What was asked for.
#[derive(Debug, Default)]
struct Options {
    parts: Vec<String>,
    /// Whether other clients take part.
    peers: bool,
    /// Whether the README gets the tables.
    readme: bool,
}

fn main() -> ExitCode {
    // `cargo test --all-targets` starts benches too, without the argument that `cargo bench` gives.
    if !std::env::args().any(|arg| arg == "--bench") {
        println!("nothing to test here; `cargo bench --bench scale` measures");
        return ExitCode::SUCCESS;
    }
    let options = match Options::read(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    if let Err(error) = files::raise() {
        eprintln!("the limit of open files stays: {error}");
    }
    match measure(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

impl Options {
    fn read(args: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self::default();
        for arg in args {
            match arg.as_str() {
                "--bench" => {}
                "--peers" => options.peers = true,
                "--readme" => (options.readme, options.peers) = (true, true),
                part if PARTS.iter().any(|(name, _)| *name == part) => options.parts.push(arg),
                _ => {
                    let names = PARTS.map(|(name, _)| name).join(", ");
                    return Err(format!("{arg:?} is none of {names}, --peers and --readme"));
                }
            }
        }
        if options.readme && !options.parts.is_empty() {
            return Err("the README takes all parts, of one day".to_owned());
        }
        Ok(options)
    }

    fn wants(&self, part: &str) -> bool {
        self.parts.is_empty() || self.parts.iter().any(|name| name == part)
    }
}

fn measure(options: &Options) -> io::Result<()> {
    let mut report = Report::new("scale", &IN_README);
    if options.readme {
        report.check_readme()?;
    }
    let all = Instant::now();
    report.text("machine", machine::describe()?);
    println!("Load average {}.\n", machine::load()?);
    for (name, run) in PARTS.iter().filter(|(name, _)| options.wants(name)) {
        let begun = Instant::now();
        run(&mut report, options).map_err(|error| io::Error::other(format!("{name}: {error}")))?;
        println!("({name}: {:.0} s)\n", begun.elapsed().as_secs_f64());
    }
    println!("All in {:.0} s.", all.elapsed().as_secs_f64());
    if options.readme {
        report.write_readme()?;
    }
    Ok(())
}
