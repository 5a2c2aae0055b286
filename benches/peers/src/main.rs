//! Drives other synchronous memcached clients, one operation many times, so that a bench can set the crate beside them.
//!
//! ```console
//! peers list                    # the clients, one a line
//! peers ops NAME                # the operations that one of them has
//! peers one NAME OP N ADDR      # OP N times; prints `allocations A bytes B`
//! peers threads NAME OP THREADS CONNECTIONS MILLISECONDS ADDR
//! ```
//!
//! ADDR is `host:port`, or several of them with commas between. What an operation needs is stored first, by the same client,
//! and is in no count. `threads` prints `operations N` of those that ended in time, then `p50 A p99 B max C` in microseconds, then
//! `busiest A laziest B`, the operations of those threads. With `RUST_BACKTRACE` in the environment a miss of bmemcached, which is an error there, costs more.
//!
//! libmemcached is driven by a C program: `peers` becomes it (`exec`, so `valgrind` needs `--trace-children=yes`), and prints
//! `allocations - bytes -`, since nothing counts them there.

mod allocations;
mod clients;
mod ops;
mod threads;

use std::process::ExitCode;

use clients::{Result, Start};
use ops::{Op, Work};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[&str]) -> Result<()> {
    match args {
        ["list"] => {
            for client in clients::ALL.iter().filter(|client| client.is_there()) {
                println!("{}", client.name);
            }
            Ok(())
        }
        ["ops", name] => {
            let client = clients::find(name)?;
            for op in Op::ALL.iter().filter(|op| client.has(**op)) {
                println!("{op}");
            }
            Ok(())
        }
        ["one", name, op, times, addr] => {
            let (client, op) = chosen(name, op)?;
            match client.start {
                Start::Here(open) => one(open(addr, 1, 1)?, op, times.parse()?),
                Start::Program(protocol) => {
                    clients::libmemcached(protocol, &["one", op.name(), times, addr])
                }
            }
        }
        [
            "threads",
            name,
            op,
            threads,
            connections,
            milliseconds,
            addr,
        ] => {
            let (client, op) = chosen(name, op)?;
            match client.start {
                Start::Here(open) => {
                    let peers = open(addr, threads.parse()?, connections.parse()?)?;
                    threads::run(peers, op, milliseconds.parse()?)
                }
                Start::Program(protocol) => {
                    let args = [op.name(), threads, connections, milliseconds, addr];
                    clients::libmemcached(protocol, &[&["threads"], &args[..]].concat())
                }
            }
        }
        _ => Err(concat!(
            "peers list | ops NAME | one NAME OP N ADDR | ",
            "threads NAME OP THREADS CONNECTIONS MILLISECONDS ADDR"
        )
        .into()),
    }
}

fn chosen(name: &str, op: &str) -> Result<(&'static clients::Client, Op)> {
    let client = clients::find(name)?;
    let op: Op = op.parse()?;
    if client.has(op) {
        Ok((client, op))
    } else {
        Err(format!("{name} has no {op}").into())
    }
}

/// The operation so many times on one connection.
fn one(peers: Vec<Box<dyn clients::Peer>>, op: Op, times: usize) -> Result<()> {
    let mut peers = peers;
    let peer = &mut *peers[0];
    let work = Work::new(op, 0);
    work.prepare(peer)?;
    let before = allocations::asked();
    for _ in 0..times {
        work.run(peer)?;
    }
    let after = allocations::asked();
    let (count, bytes) = (after.0 - before.0, after.1 - before.1);
    println!("allocations {count} bytes {bytes}");
    Ok(())
}
