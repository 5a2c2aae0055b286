//! Other clients, driven by the program in `benches/peers`: one run of it for each slice.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::contenders::{Contender, Play};
use super::slice::{self, Slice};
use crate::plot::MORE_COLOURS;

/// Builds the program and asks it for the clients.
pub(super) fn contenders() -> io::Result<Vec<Contender>> {
    let program = build()?;
    let names = output(Command::new(&program).arg("list"))?;
    let contenders = names.lines().zip(MORE_COLOURS).map(|(name, colour)| {
        let (name, program) = (name.to_owned(), program.clone());
        Contender {
            name: name.clone(),
            colour,
            open: Box::new(move |addr, connections| Ok(play(&program, &name, addr, connections))),
        }
    });
    Ok(contenders.collect())
}

fn build() -> io::Result<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers");
    if !folder.exists() {
        return Err(io::Error::other("benches/peers is in the repository alone"));
    }
    let target = match std::env::var_os("CARGO_TARGET_DIR") {
        Some(target) => std::path::absolute(target)?,
        None => folder.join("target"),
    };
    let status = Command::new(env!("CARGO"))
        .args(["build", "--release", "--locked", "--quiet", "--target-dir"])
        .arg(&target)
        .current_dir(folder)
        .status()?;
    if !status.success() {
        return Err(io::Error::other("benches/peers was not built"));
    }
    Ok(target.join("release/peers"))
}

fn play(program: &Path, name: &str, addr: &str, connections: usize) -> Play {
    let (program, name, addr) = (program.to_owned(), name.to_owned(), addr.to_owned());
    Box::new(move |threads| {
        let mut command = Command::new(&program);
        let numbers = [threads, connections, slice::LENGTH.as_millis() as usize];
        command
            .args(["threads", &name, "get100"])
            .args(numbers.map(|number| number.to_string()))
            .arg(&addr);
        let text = output(&mut command)?;
        read(&text).ok_or_else(|| io::Error::other(format!("no result in {text:?}")))
    })
}

/// `operations N`, `p50 A p99 B max C` and `busiest A laziest B`: words and numbers by turns.
fn read(text: &str) -> Option<Slice> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let number = |name: &str| -> Option<f64> {
        let at = words.iter().position(|word| *word == name)?;
        words.get(at + 1)?.parse().ok()
    };
    Some(Slice {
        per_second: number("operations")? / slice::LENGTH.as_secs_f64(),
        p50: number("p50")?,
        p99: number("p99")?,
        max: number("max")?,
        unfairness: slice::unfairness(number("busiest")? as usize, number("laziest")? as usize),
    })
}

/// What it prints, if it ends well.
fn output(command: &mut Command) -> io::Result<String> {
    // Backtraces make errors dear, and with one of the clients a miss is an error.
    let output = command.env_remove("RUST_BACKTRACE").output()?;
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(io::Error::other(error));
    }
    String::from_utf8(output.stdout).map_err(io::Error::other)
}
