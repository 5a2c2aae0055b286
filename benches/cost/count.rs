//! How the cost of an operation is counted: a process that does it many times, less one that does it a tenth as often.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::bars::Measure;

/// Where the source of the library that counts copies is.
const COPIES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/cost/copies.c");

/// A program that does an operation so many times, called `program args OP N ADDR`. It prints `allocations A bytes B`,
/// with `-` where it cannot count.
#[derive(Clone, Debug)]
pub(crate) struct Contender {
    pub(crate) name: String,
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<String>,
    /// It does one in so many of an operation's times.
    pub(crate) share: usize,
}

/// What is asked of it.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) contender: Contender,
    pub(crate) operation: &'static str,
    pub(crate) times: usize,
    pub(crate) addr: String,
}

/// The cost of one operation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    /// By name; those that do not come to a fiftieth per operation are left out.
    pub(crate) calls: BTreeMap<String, f64>,
    pub(crate) instructions: f64,
    pub(crate) allocations: Option<f64>,
    pub(crate) copied: Option<f64>,
}

/// The programs and the library that count.
#[derive(Debug)]
pub(crate) struct Tools {
    copies: Option<PathBuf>,
}

impl Tools {
    /// Finds them; an error says what to install.
    pub(crate) fn find() -> io::Result<Self> {
        for tool in ["strace", "valgrind"] {
            let found = quiet(Command::new(tool).arg("--version"));
            if !found {
                let message = format!("{tool} is missing: apt-get install {tool}");
                return Err(io::Error::new(io::ErrorKind::NotFound, message));
            }
        }
        let library = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let library = library.join(format!("copies-{}.so", std::process::id()));
        let made = quiet(
            Command::new("cc")
                .args(["-O2", "-shared", "-fPIC", "-fno-builtin", "-o"])
                .arg(&library)
                .args([COPIES, "-ldl"]),
        );
        Ok(Self {
            copies: made.then_some(library),
        })
    }

    /// Counts one operation in all ways.
    pub(crate) fn count(&self, task: &Task) -> io::Result<Counts> {
        let few = (task.times / 10).max(1);
        let per_one = |count: f64| count / (task.times - few) as f64;
        let per_one = &per_one;

        let mut calls = system_calls(task, task.times)?;
        for (call, count) in system_calls(task, few)? {
            *calls.entry(call).or_default() -= count;
        }
        calls
            .values_mut()
            .for_each(|count| *count = per_one(*count));
        calls.retain(|_, count| count.abs() >= 0.02);

        let instructions = instructions(task, task.times)? - instructions(task, few)?;
        let plain = run(task, task.times, &[], None)?;
        let (allocations, copied) = (allocations(&plain)?, self.copied(task, few)?);
        Ok(Counts {
            calls,
            instructions: per_one(instructions),
            allocations: allocations.map(|count| count / task.times as f64),
            copied: copied.map(per_one),
        })
    }

    fn copied(&self, task: &Task, few: usize) -> io::Result<Option<f64>> {
        let Some(library) = &self.copies else {
            return Ok(None);
        };
        let bytes = |times| {
            let output = run(task, times, &[], Some(library))?;
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            let count = text.lines().find_map(|line| line.strip_prefix("copied "));
            number(count, "bytes copied", &text)
        };
        Ok(Some(bytes(task.times)? - bytes(few)?))
    }
}

impl Drop for Tools {
    fn drop(&mut self) {
        if let Some(library) = &self.copies {
            let _ = std::fs::remove_file(library);
        }
    }
}

impl Counts {
    /// One of them; `None` if it could not be counted.
    pub(crate) fn of(&self, measure: Measure) -> Option<f64> {
        let calls = |is_it: &dyn Fn(&str) -> bool| {
            let calls = self.calls.iter().filter(|(call, _)| is_it(call));
            Some(calls.map(|(_, count)| count).sum())
        };
        match measure {
            Measure::Sends => calls(&is_send),
            Measure::Receives => calls(&is_receive),
            Measure::OtherCalls => calls(&|call| !is_send(call) && !is_receive(call)),
            Measure::Instructions => Some(self.instructions),
            Measure::Allocations => self.allocations,
            Measure::Copied => self.copied,
        }
    }
}

fn is_send(call: &str) -> bool {
    call.starts_with("send") || call.starts_with("write")
}

fn is_receive(call: &str) -> bool {
    call.starts_with("recv") || call.starts_with("read")
}

fn system_calls(task: &Task, times: usize) -> io::Result<BTreeMap<String, f64>> {
    let output = run(task, times, &["strace", "-f", "-qq", "-c"], None)?;
    let text = String::from_utf8_lossy(&output.stderr);
    // `% time  seconds  usecs/call  calls  errors  syscall`, where errors may be blank.
    let rows = text.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let count = words.get(3)?.parse().ok()?;
        let call = *words.last()?;
        (call != "total").then(|| (call.to_owned(), count))
    });
    let calls: BTreeMap<String, f64> = rows.collect();
    if calls.is_empty() {
        return Err(io::Error::other(format!("strace counted nothing: {text}")));
    }
    Ok(calls)
}

fn instructions(task: &Task, times: usize) -> io::Result<f64> {
    let wrapper = [
        "valgrind",
        "--tool=callgrind",
        // A client in C is a program of its own, which takes the place of the first.
        "--trace-children=yes",
        "--callgrind-out-file=/dev/null",
    ];
    let output = run(task, times, &wrapper, None)?;
    let text = String::from_utf8_lossy(&output.stderr);
    let count = text
        .lines()
        .rev()
        .find_map(|line| line.split("Collected :").nth(1));
    number(count, "instructions", &text)
}

/// Those that the program counted itself.
fn allocations(output: &Output) -> io::Result<Option<f64>> {
    let text = String::from_utf8_lossy(&output.stdout);
    let words: Vec<&str> = text.split_whitespace().collect();
    match words[..] {
        ["allocations", "-", "bytes", "-"] => Ok(None),
        ["allocations", count, "bytes", _] => number(Some(count), "allocations", &text).map(Some),
        _ => number(None, "allocations", &text).map(Some),
    }
}

fn number(digits: Option<&str>, what: &str, text: &str) -> io::Result<f64> {
    let number = digits.and_then(|digits| digits.trim().parse().ok());
    number.ok_or_else(|| io::Error::other(format!("no count of {what} in: {text}")))
}

/// Runs a task behind a wrapper, with a library in front of all others.
fn run(task: &Task, times: usize, wrapper: &[&str], library: Option<&Path>) -> io::Result<Output> {
    let program = &task.contender.program;
    let mut command = match wrapper {
        [] => Command::new(program),
        [tool, args @ ..] => {
            let mut command = Command::new(tool);
            command.args(args).arg(program);
            command
        }
    };
    command
        .args(&task.contender.args)
        .args([task.operation, &times.to_string(), &task.addr])
        .stdin(Stdio::null());
    if let Some(library) = library {
        command.env("LD_PRELOAD", library);
    }
    let output = command.output()?;
    if output.status.success() {
        return Ok(output);
    }
    Err(io::Error::other(format!(
        "{} {}: {}\n{}",
        task.contender.name,
        task.operation,
        output.status,
        String::from_utf8_lossy(&output.stderr)
    )))
}

/// Whether a command succeeds.
fn quiet(command: &mut Command) -> bool {
    let command = command.stdin(Stdio::null()).stdout(Stdio::null());
    command
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
