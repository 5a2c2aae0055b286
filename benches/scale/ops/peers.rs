//! Other clients, driven by the program in `benches/peers`: one run of it for each slice.

use std::io;
use std::path::Path;
use std::process::Command;

use super::contenders::{Contender, Play};
use super::slice::{self, Slice};
use crate::peers;
use crate::plot::MORE_COLOURS;

/// Builds the program and asks it for the clients.
pub(super) fn contenders() -> io::Result<Vec<Contender>> {
    let program = peers::build()?;
    let names = peers::names(&program)?;
    let contenders = names.into_iter().zip(MORE_COLOURS).map(|(name, colour)| {
        let program = program.clone();
        Contender {
            name: name.clone(),
            colour,
            open: Box::new(move |addr, connections| Ok(play(&program, &name, addr, connections))),
        }
    });
    Ok(contenders.collect())
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
        let text = peers::lines(&mut command)?.join("\n");
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
