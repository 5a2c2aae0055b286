//! What becomes of the crate as things grow: threads, connections, servers, values, idle sockets. It prints tables and writes plots.
//!
//! `cargo bench --bench scale` runs all parts, `cargo bench --bench scale -- ops rings` some of them. The plots go to `benches/plots`.
//! Times depend on the machine; what is compared was measured in turns, and stands as the median of ratios.

mod compression;
#[path = "../support/digits.rs"]
mod digits;
#[path = "../support/files.rs"]
mod files;
mod lookup;
mod maintenance;
#[path = "../support/memcached.rs"]
mod memcached;
mod numbers;
mod ops;
mod plot;
mod rings;
#[path = "../support/table.rs"]
mod table;
#[path = "../support/text.rs"]
mod text;

use std::io;
use std::process::ExitCode;
use std::time::Instant;

type Part = (&'static str, fn() -> io::Result<()>);

const PARTS: [Part; 5] = [
    ("ops", ops::run),
    ("lookup", lookup::run),
    ("rings", rings::run),
    ("compression", compression::run),
    ("maintenance", maintenance::run),
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --all-targets` starts benches too, without the argument that `cargo bench` gives.
    if !args.iter().any(|arg| arg == "--bench") {
        println!("nothing to test here; `cargo bench --bench scale` measures");
        return ExitCode::SUCCESS;
    }
    let chosen: Vec<&String> = args.iter().filter(|arg| !arg.starts_with("--")).collect();
    if let Some(unknown) = chosen
        .iter()
        .find(|name| PARTS.iter().all(|(part, _)| part != **name))
    {
        eprintln!("{unknown:?} is no part; there are {}", names());
        return ExitCode::FAILURE;
    }
    if let Err(error) = files::raise() {
        eprintln!("the limit of open files stays: {error}");
    }
    for (name, run) in PARTS {
        if chosen.is_empty() || chosen.iter().any(|part| *part == name) {
            let begun = Instant::now();
            if let Err(error) = run() {
                eprintln!("{name}: {error}");
                return ExitCode::FAILURE;
            }
            println!("({name}: {:.0} s)\n", begun.elapsed().as_secs_f64());
        }
    }
    ExitCode::SUCCESS
}

fn names() -> String {
    PARTS.map(|(name, _)| name).join(", ")
}
