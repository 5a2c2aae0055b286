//! The faults of the matrix, as data: which bytes a server sends, and what it does besides.

use std::time::Duration;

use super::commands::{Calls, Command, Part, Verb};
use super::modes::Mode;
use super::wrong;
use crate::support::wait::ms;

pub(super) struct Fault {
    pub(super) group: &'static str,
    pub(super) detail: String,
    pub(super) plan: Plan,
}

#[derive(Clone, Debug)]
pub(super) enum Plan {
    /// The server takes the command, sends these bytes in this way, and then does this.
    Reply(Vec<u8>, Pace, Then),
    /// Likewise, and then nothing; the call has so little time that the server cannot be blamed.
    Hasty(Vec<u8>),
    /// It sends the right reply; these bytes follow when the connection is back in the pool.
    Tail(Vec<u8>),
    /// It ends the connection before the command comes: while it rests, or as soon as it is there.
    Before(Then),
    /// The same, and from then on it refuses connections.
    Gone,
    /// Nobody listens.
    Refused,
    /// Connects hang.
    Hang,
    /// It reads not a byte.
    NeverReads,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    AtOnce,
    /// So many bytes, then the others.
    Split(usize),
    /// Byte by byte, with so much time before each.
    Each(Duration),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// The connection stays open, and is served if another request comes.
    Open,
    Fin,
    Rst,
}

/// Slow enough for the shortest reply to miss the deadline.
pub(super) const DRIP: Duration = ms(60);

/// What stands behind a reply, in the same segment and later.
fn tails(reply: &str) -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("END", b"END\r\n".to_vec()),
        ("STORED", b"STORED\r\n".to_vec()),
        ("VALUE other", b"VALUE other 0 1\r\nx\r\nEND\r\n".to_vec()),
        ("ERROR", b"ERROR\r\n".to_vec()),
        ("CRLF", b"\r\n".to_vec()),
        ("LF", b"\n".to_vec()),
        ("NUL", b"\0".to_vec()),
        ("one letter", b"x".to_vec()),
        ("the reply again", reply.as_bytes().to_vec()),
        ("64 KiB", vec![b'x'; 64 * 1024]),
    ]
}

/// What is no reply to anything.
fn garbage(reply: &str) -> Vec<(&'static str, Vec<u8>, Then)> {
    let binary_head = [&b"\x81"[..], &[0; 23]].concat();
    vec![
        (
            "a printable line",
            b"Hello, sailor! 42\r\n".to_vec(),
            Then::Open,
        ),
        ("NULs", vec![0; 64], Then::Open),
        ("an empty line", b"\r\n".to_vec(), Then::Open),
        ("LF alone", b"\n".to_vec(), Then::Open),
        ("70 kB without LF", vec![b'x'; 70_000], Then::Open),
        (
            "HTTP",
            b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n".to_vec(),
            Then::Open,
        ),
        (
            "a TLS alert",
            b"\x15\x03\x03\x00\x02\x02\x28".to_vec(),
            Then::Open,
        ),
        ("a binary header", binary_head, Then::Open),
        (
            "too many connections",
            b"ERROR Too many open connections\r\n".to_vec(),
            Then::Fin,
        ),
        (
            "a byte order mark",
            ["\u{feff}", reply].concat().into_bytes(),
            Then::Open,
        ),
    ]
}

/// Replies of one line: those of each command, and what is none.
fn lines(reply: &str) -> Vec<(&'static str, String)> {
    let first = reply.lines().next().expect("a line");
    let short = &first[..first.len() - 1];
    let mut lines: Vec<(&'static str, String)> = [
        ("STORED", "STORED"),
        ("NOT_STORED", "NOT_STORED"),
        ("EXISTS", "EXISTS"),
        ("NOT_FOUND", "NOT_FOUND"),
        ("DELETED", "DELETED"),
        ("TOUCHED", "TOUCHED"),
        ("OK", "OK"),
        ("END", "END"),
        ("HD", "HD"),
        ("EN", "EN"),
        ("RESET", "RESET"),
        ("a version", "VERSION 1.0"),
        ("a statistic", "STAT a 1"),
        ("a number", "5"),
        ("2^64", "18446744073709551616"),
        ("a padded number", "10  "),
        ("VALUE without a body", "VALUE key 0 1"),
        ("SERVER_ERROR bare", "SERVER_ERROR"),
        ("ERROR", "ERROR"),
    ]
    .map(|(name, line)| (name, line.to_owned()))
    .into();
    lines.push(("lower case", first.to_lowercase()));
    lines.push(("prefix only", short.to_owned()));
    lines.push(("suffix", first.to_owned() + "X"));
    lines.push(("a blank before it", " ".to_owned() + first));
    lines
}

/// The error lines that are known, and some that are not.
const REFUSALS: [&str; 13] = [
    "CLIENT_ERROR bad command line format",
    "CLIENT_ERROR bad data chunk",
    "CLIENT_ERROR invalid exptime argument",
    "CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]",
    "CLIENT_ERROR cannot increment or decrement non-numeric value",
    "CLIENT_ERROR invalid numeric delta argument",
    "CLIENT_ERROR flush_all not allowed",
    "CLIENT_ERROR x",
    "SERVER_ERROR object too large for cache",
    "SERVER_ERROR out of memory storing object",
    "SERVER_ERROR out of memory writing get response",
    "SERVER_ERROR out of memory",
    "SERVER_ERROR x",
];

/// All places in a short reply, and some of a long one: the first and last bytes above all.
fn places(len: usize) -> Vec<usize> {
    if len <= 200 {
        return (0..=len).collect();
    }
    let edges = (0..20).chain(len - 12..=len);
    edges
        .chain([100, 5000, 16_384, 16_385, len - 100])
        .collect()
}

/// All faults of a command.
pub(super) fn all_faults(command: &Command) -> Vec<Fault> {
    let reply = (command.reply)();
    let bytes = reply.as_bytes();
    let mut all = cut_and_split(bytes);
    let mut add = |group, detail: &str, plan| {
        all.push(Fault {
            group,
            detail: detail.to_owned(),
            plan,
        });
    };
    for (name, tail) in tails(&reply) {
        let both = [bytes, &tail].concat();
        add(
            "extra bytes at once",
            name,
            Plan::Reply(both, Pace::AtOnce, Then::Open),
        );
        add("extra bytes later", name, Plan::Tail(tail));
    }
    for (name, bytes, then) in garbage(&reply) {
        add("garbage", name, Plan::Reply(bytes, Pace::AtOnce, then));
    }
    for (name, line) in lines(&reply) {
        let bytes = format!("{line}\r\n").into_bytes();
        add(
            "wrong line",
            name,
            Plan::Reply(bytes, Pace::AtOnce, Then::Open),
        );
    }
    if let [Part::Stats] = command.parts {
        for line in ["ERROR", "CLIENT_ERROR x", "SERVER_ERROR out of memory", "5"] {
            let bytes = format!("STAT a 1\r\n{line}\r\n").into_bytes();
            let plan = Plan::Reply(bytes, Pace::AtOnce, Then::Open);
            add("wrong line", "behind a statistic", plan);
        }
    }
    for line in REFUSALS {
        // As often as there are replies: a server that refuses one does so with all.
        let lines = format!("{line}\r\n").repeat(command.parts.len());
        add(
            "refusal",
            line,
            Plan::Reply(lines.into_bytes(), Pace::AtOnce, Then::Open),
        );
    }
    for (name, bytes) in wrong::values(command) {
        add(
            "wrong value",
            name,
            Plan::Reply(bytes, Pace::AtOnce, Then::Open),
        );
    }
    for (detail, plan) in [
        ("ended by FIN", Plan::Before(Then::Fin)),
        ("ended by RST", Plan::Before(Then::Rst)),
        ("ended and gone", Plan::Gone),
    ] {
        add("before the request", detail, plan);
    }
    add("refused", "", Plan::Refused);
    add("connect hangs", "", Plan::Hang);
    add("never reads", "", Plan::NeverReads);
    all
}

/// For the command that needs no other.
pub(super) fn never_reads() -> Vec<Fault> {
    vec![Fault {
        group: "never reads",
        detail: String::new(),
        plan: Plan::NeverReads,
    }]
}

fn cut_and_split(bytes: &[u8]) -> Vec<Fault> {
    let whole = |pace| Plan::Reply(bytes.to_vec(), pace, Then::Open);
    let mut all = Vec::new();
    let mut add = |group, at: usize, plan| {
        all.push(Fault {
            group,
            detail: format!("at {at}"),
            plan,
        });
    };
    for at in places(bytes.len()) {
        let cut = |then| Plan::Reply(bytes[..at].to_vec(), Pace::AtOnce, then);
        add("cut by FIN", at, cut(Then::Fin));
        add("cut by RST", at, cut(Then::Rst));
        if 0 < at && at < bytes.len() {
            add("split", at, whole(Pace::Split(at)));
        }
    }
    let mut stalls: Vec<usize> = (0..8).map(|eighth| eighth * bytes.len() / 8).collect();
    stalls.dedup();
    for at in stalls {
        let head = bytes[..at].to_vec();
        add("stall", at, Plan::Reply(head, Pace::AtOnce, Then::Open));
    }
    for at in [0, bytes.len() / 2, bytes.len() - 1] {
        add(
            "stall of a hasty call",
            at,
            Plan::Hasty(bytes[..at].to_vec()),
        );
    }
    if bytes.len() <= 200 {
        add("byte by byte", 0, whole(Pace::Each(Duration::ZERO)));
    }
    add("drip", 0, whole(Pace::Each(DRIP)));
    all
}

/// Whether a fault can be made in this mode.
pub(super) fn applies(command: &Command, plan: &Plan, mode: Mode) -> bool {
    if let Calls::Shared(_) = command.calls {
        // A request is shared only while another caller has the connection.
        return mode == Mode::Contended && matches!(plan, Plan::Reply(..));
    }
    match plan {
        Plan::Reply(bytes, ..) => !is_asked_again(command, bytes),
        Plan::Gone | Plan::Hasty(_) => mode != Mode::Fresh,
        // No connection has been used before.
        Plan::Refused | Plan::Hang => mode != Mode::Pooled,
        _ => true,
    }
}

/// `exists` asks in another way if the server does not know its command.
fn is_asked_again(command: &Command, bytes: &[u8]) -> bool {
    let exists = matches!(command.parts, [Part::Line(lines)] if lines.verb == Verb::Exists);
    exists && bytes.starts_with(b"ERROR\r\n")
}
