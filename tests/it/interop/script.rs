//! A client of another language: a script that reads a line, does it, and writes a line.
//!
//! The first line that it writes is `ready`. `DATA` is hexadecimal for text (UTF-8) and bytes, 0 or 1 for a bool, else a number.
//!
//! | line | answer |
//! |--|--|
//! | `set KEY TYPE DATA` | `stored` or `failed` |
//! | `get KEY TYPE` | `TYPE DATA`, `miss`, or `other` and what it is where the value is of another type |
//! | `delete KEY` | `deleted` or `failed` |
//! | `count KEY NUMBER` | `stored` or `failed`: the value is a counter |
//! | `incr KEY NUMBER` | `int SUM` or `miss` |

use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use super::fleet::Fleet;
use super::peer::{Datum, Peer};

/// How long a script may take for a line: a JVM compiles its own first.
const PATIENCE: Duration = Duration::from_secs(20);

/// A script and what it needs.
#[derive(Clone, Copy)]
pub(crate) struct Language {
    /// The command line before the arguments.
    pub(crate) command: &'static [&'static str],
    /// The script's name.
    pub(crate) script: &'static str,
    /// Debian's packages.
    pub(crate) packages: &'static str,
}

/// A running script; it is killed on drop.
pub(crate) struct Script {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
}

impl Language {
    /// Starts the script as the client that `compat` names, over the servers of `fleet`.
    pub(crate) fn start(&self, compat: &str, fleet: &Fleet, env: &[(&str, &str)]) -> Script {
        let Self {
            command: [program, args @ ..],
            script,
            packages,
        } = self
        else {
            panic!("no program");
        };
        let child = Command::new(program)
            .args(args)
            .arg(format!(
                "{}/tests/interop/{script}",
                env!("CARGO_MANIFEST_DIR")
            ))
            .arg(compat)
            .args(fleet.addrs())
            .envs(env.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut child = child.unwrap_or_else(|error| match error.kind() {
            ErrorKind::NotFound => panic!("{program} is missing: apt-get install -y {packages}"),
            _ => panic!("{program}: {error}"),
        });
        let stdin = child.stdin.take().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (heard, lines) = channel();
        thread::spawn(move || {
            let mut lines = stdout.lines().map_while(Result::ok);
            lines.try_for_each(|line| heard.send(line))
        });
        let script = Script {
            child,
            stdin,
            lines,
        };
        assert_eq!(
            script.line().as_deref(),
            Some("ready"),
            "{program} cannot be {compat}: apt-get install -y {packages}"
        );
        script
    }
}

impl Script {
    fn ask(&mut self, line: &str) -> String {
        writeln!(self.stdin, "{line}").unwrap();
        let verb = line.split(' ').next().unwrap_or_default();
        let answer = self.line();
        answer.unwrap_or_else(|| panic!("{verb}: no answer, or none in {PATIENCE:?}"))
    }

    fn line(&self) -> Option<String> {
        self.lines.recv_timeout(PATIENCE).ok()
    }
}

impl Peer for Script {
    fn set(&mut self, key: &str, value: &Datum) -> bool {
        let (kind, data) = written(value);
        self.ask(&format!("set {key} {kind} {data}")) == "stored"
    }

    fn get(&mut self, key: &str, like: &Datum) -> Option<Datum> {
        let answer = self.ask(&format!("get {key} {}", written(like).0));
        (answer != "miss").then(|| read(&answer))
    }

    fn delete(&mut self, key: &str) -> bool {
        self.ask(&format!("delete {key}")) == "deleted"
    }

    fn count(&mut self, key: &str, number: u64) {
        assert_eq!(self.ask(&format!("count {key} {number}")), "stored");
    }

    fn incr(&mut self, key: &str, by: u64) -> Option<u64> {
        let answer = self.ask(&format!("incr {key} {by}"));
        (answer != "miss").then(|| match read(&answer) {
            Datum::Int(sum) => sum as u64,
            _ => panic!("no number"),
        })
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Type and data of a value.
fn written(value: &Datum) -> (&'static str, String) {
    match value {
        Datum::Text(text) => ("text", hex(text.as_bytes())),
        Datum::Bytes(bytes) => ("bytes", hex(bytes)),
        Datum::Int(int) => ("int", int.to_string()),
        Datum::Float(float) => ("float", float.to_string()),
        Datum::Bool(bool) => ("bool", u8::from(*bool).to_string()),
    }
}

fn read(answer: &str) -> Datum {
    let (kind, data) = answer.split_once(' ').unwrap_or((answer, ""));
    match kind {
        "text" => Datum::Text(String::from_utf8(unhex(data)).unwrap()),
        "bytes" => Datum::Bytes(unhex(data)),
        "int" => Datum::Int(data.parse().unwrap()),
        "float" => Datum::Float(data.parse().unwrap()),
        "bool" => Datum::Bool(data == "1"),
        _ => panic!("the peer answers: {answer}"),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
        .collect()
}
