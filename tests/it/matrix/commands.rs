//! The commands of the matrix: what is called, what the right reply is, and of what a reply may consist. All of it is data.

use std::fmt::Debug;

use sockio::{Error, ErrorKind, Expiry, Item, MemcachedClient, PerServer};

use super::many;
use crate::support::wait::ms;

/// What a call tells of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Told {
    Answer(String),
    /// The kind of an error, and that of its cause where it has one.
    Fault(ErrorKind, Option<ErrorKind>),
}

pub(super) type Call = fn(&MemcachedClient) -> Vec<Told>;

/// One command. Keys of the matrix begin with `key`; what it asks besides has other names.
pub(super) struct Command {
    pub(super) name: &'static str,
    pub(super) calls: Calls,
    /// Of what its reply consists, one part for each request or each key.
    pub(super) parts: &'static [Part],
    /// The right reply, whole.
    pub(super) reply: fn() -> String,
    /// How many requests it sends.
    pub(super) requests: usize,
    pub(super) combine: bool,
}

pub(super) enum Calls {
    One(Call),
    /// Two callers who share a request.
    Shared([Call; 2]),
}

/// A part of a reply.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// The values of these keys, and `END`.
    Values {
        keys: &'static [&'static str],
        shows: Shows,
        /// Whether the command asks for a token.
        cas: bool,
        /// Whether each key has its own answer, as soon as it is there.
        each: bool,
    },
    Line(&'static Lines),
    /// A new number, or a miss.
    Number,
    Version,
    Stats,
}

/// What of a value the call returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shows {
    Value,
    Item,
    /// The same, whatever the flags.
    Raw,
    Flags,
}

/// The lines that are an answer to a command, and the answer.
#[derive(Debug)]
pub(super) struct Lines {
    pub(super) verb: Verb,
    pub(super) answers: &'static [(&'static str, &'static str)],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Store,
    Delete,
    Touch,
    Flush,
    Verbosity,
    Exists,
}

// The rows of the table of replies.
pub(super) const SET: Lines = Lines {
    verb: Verb::Store,
    answers: &[("STORED", "true")],
};
const OTHER_STORE: Lines = Lines {
    verb: Verb::Store,
    answers: &[("STORED", "true"), ("NOT_STORED", "false")],
};
const CAS: Lines = Lines {
    verb: Verb::Store,
    answers: &[
        ("STORED", "Stored"),
        ("EXISTS", "Exists"),
        ("NOT_FOUND", "NotFound"),
    ],
};
pub(super) const DELETE: Lines = Lines {
    verb: Verb::Delete,
    answers: &[("DELETED", "true"), ("NOT_FOUND", "false")],
};
const TOUCH: Lines = Lines {
    verb: Verb::Touch,
    answers: &[("TOUCHED", "true"), ("NOT_FOUND", "false")],
};
const FLUSH: Lines = Lines {
    verb: Verb::Flush,
    answers: &[("OK", "()")],
};
const VERBOSITY: Lines = Lines {
    verb: Verb::Verbosity,
    answers: &[("OK", "()")],
};
const EXISTS: Lines = Lines {
    verb: Verb::Exists,
    answers: &[("HD", "true"), ("EN", "false")],
};

const fn values(shows: Shows, cas: bool) -> Part {
    Part::Values {
        keys: &["key"],
        shows,
        cas,
        each: false,
    }
}

pub(super) const VALUE: &[Part] = &[values(Shows::Value, false)];
const ITEM: &[Part] = &[values(Shows::Item, true)];
const RAW: &[Part] = &[values(Shows::Raw, true)];
pub(super) const FLAGS: &[Part] = &[values(Shows::Flags, false)];

/// The length of values that do not fit a buffer.
const LARGE: usize = 20_000;

/// More than two sockets hold.
pub(super) const HUGE: usize = 8 * 1024 * 1024;

fn told<R>(answer: Result<R, Error>, show: impl Fn(R) -> String) -> Told {
    match answer {
        Ok(answer) => Told::Answer(show(answer)),
        Err(error) => fault(&error),
    }
}

pub(super) fn fault(error: &Error) -> Told {
    let cause = std::error::Error::source(error).and_then(|cause| cause.downcast_ref::<Error>());
    Told::Fault(error.kind(), cause.map(Error::kind))
}

/// How answers are shown here and by the oracle.
pub(super) fn show(answer: impl Debug) -> String {
    format!("{answer:?}")
}

pub(super) fn show_item(value: &[u8], flags: u32, cas: u64) -> String {
    format!("{} {flags} {cas}", value.escape_ascii())
}

pub(super) fn one(answer: Result<impl Debug, Error>) -> Vec<Told> {
    vec![told(answer, show)]
}

fn item(answer: Result<Option<Item<Vec<u8>>>, Error>) -> Vec<Told> {
    vec![told(answer, |item| match item {
        Some(item) => show_item(&item.value, item.flags, item.cas),
        None => "None".to_owned(),
    })]
}

fn server<R>(answers: PerServer<R>, show: impl Fn(R) -> String) -> Vec<Told> {
    let answers = answers.into_iter();
    answers.map(|(_, answer)| told(answer, &show)).collect()
}

/// The bytes of a whole value.
pub(super) fn value(head: &str, body: &str) -> String {
    format!("VALUE {head}\r\n{body}\r\n")
}

pub(super) fn get(client: &MemcachedClient) -> Vec<Told> {
    one(client.get::<String>("key"))
}

pub(super) fn get_into(client: &MemcachedClient) -> Vec<Told> {
    let mut bytes = b"old".to_vec();
    let flags = client.get_into("key", &mut bytes);
    vec![told(flags, |flags| match flags {
        Some(flags) => show_item(&bytes, flags, 0),
        None => show(flags),
    })]
}

pub(super) fn set(client: &MemcachedClient) -> Vec<Told> {
    one(client.set("key", "v", Expiry::never()))
}

fn cas(client: &MemcachedClient) -> Vec<Told> {
    one(client.cas("key", "v", Expiry::never(), 7))
}

fn large_set(client: &MemcachedClient) -> Vec<Told> {
    one(client.set("key", vec![b'x'; LARGE], Expiry::never()))
}

/// For the peer that never reads.
fn huge_set(client: &MemcachedClient) -> Vec<Told> {
    one(client.set("key", vec![b'x'; HUGE], Expiry::never()))
}

pub(super) fn row(
    name: &'static str,
    call: Call,
    parts: &'static [Part],
    reply: fn() -> String,
) -> Command {
    Command {
        name,
        calls: Calls::One(call),
        parts,
        reply,
        requests: 1,
        combine: false,
    }
}

macro_rules! reply {
    ($text:expr) => {
        || $text.to_owned()
    };
}

const ITEM_REPLY: &str = "VALUE key 4294901760 2 18446744073709551615\r\nhi\r\nEND\r\n";

pub(super) fn huge() -> Command {
    row(
        "huge set",
        huge_set,
        &[Part::Line(&SET)],
        reply!("STORED\r\n"),
    )
}

pub(super) fn all_commands() -> Vec<Command> {
    let mut all = reads();
    all.extend(writes());
    all.extend(many::several());
    all.extend(many::combined());
    all
}

fn reads() -> Vec<Command> {
    const MISS: fn() -> String = reply!("END\r\n");
    vec![
        // A body that looks like the end of a reply.
        row("get hit", get, VALUE, || {
            value("key 0 5", "END\r\n") + "END\r\n"
        }),
        row("get miss", get, VALUE, MISS),
        row("get large", get, VALUE, || {
            value(&format!("key 0 {LARGE}"), &"x".repeat(LARGE)) + "END\r\n"
        }),
        row("get empty", get, VALUE, || value("key 0 0", "") + "END\r\n"),
        row(
            "gets hit",
            |c| item(c.get_raw("key")),
            RAW,
            reply!("VALUE key 4294967295 2 18446744073709551615\r\nhi\r\nEND\r\n"),
        ),
        row("gets miss", |c| item(c.gets("key")), ITEM, MISS),
        row(
            "gat hit",
            |c| one(c.get_and_touch::<String>("key", ms(1000))),
            VALUE,
            || value("key 65536 1", "x") + "END\r\n",
        ),
        row(
            "gats hit",
            |c| item(c.gets_and_touch("key", ms(1000))),
            ITEM,
            reply!(ITEM_REPLY),
        ),
        row("get_into hit", get_into, FLAGS, || {
            value("key 3 2", "ab") + "END\r\n"
        }),
        row(
            "exists hit",
            |c| one(c.exists("key")),
            &[Part::Line(&EXISTS)],
            reply!("HD\r\n"),
        ),
        row(
            "exists miss",
            |c| one(c.exists("key")),
            &[Part::Line(&EXISTS)],
            reply!("EN\r\n"),
        ),
        row(
            "version",
            |c| server(c.versions(), show),
            &[Part::Version],
            reply!("VERSION 1.6.18\r\n"),
        ),
        row(
            "stats",
            |c| server(c.stats(None).expect("no argument"), show),
            &[Part::Stats],
            reply!("STAT a 1\r\nSTAT b 2 3\r\nEND\r\n"),
        ),
    ]
}

fn writes() -> Vec<Command> {
    const STORE: &[Part] = &[Part::Line(&OTHER_STORE)];
    const SWAP: &[Part] = &[Part::Line(&CAS)];
    const GONE: fn() -> String = reply!("NOT_FOUND\r\n");
    const STORED: fn() -> String = reply!("STORED\r\n");
    const NOT_STORED: fn() -> String = reply!("NOT_STORED\r\n");
    vec![
        row("set", set, &[Part::Line(&SET)], STORED),
        row("set large", large_set, &[Part::Line(&SET)], STORED),
        row(
            "add present",
            |c| one(c.add("key", "v", Expiry::never())),
            STORE,
            NOT_STORED,
        ),
        row(
            "replace",
            |c| one(c.replace("key", "v", Expiry::never())),
            STORE,
            STORED,
        ),
        row("append", |c| one(c.append("key", "v")), STORE, STORED),
        row(
            "prepend absent",
            |c| one(c.prepend("key", "v")),
            STORE,
            NOT_STORED,
        ),
        row("cas stored", cas, SWAP, STORED),
        row("cas exists", cas, SWAP, reply!("EXISTS\r\n")),
        row("cas not found", cas, SWAP, GONE),
        row(
            "incr hit",
            |c| one(c.incr("key", 1)),
            &[Part::Number],
            reply!("18446744073709551615\r\n"),
        ),
        row(
            "incr miss",
            |c| one(c.incr("key", 1)),
            &[Part::Number],
            GONE,
        ),
        row(
            "decr hit",
            |c| one(c.decr("key", 1)),
            &[Part::Number],
            reply!("10\r\n"),
        ),
        row(
            "decr miss",
            |c| one(c.decr("key", 1)),
            &[Part::Number],
            GONE,
        ),
        row(
            "delete hit",
            |c| one(c.delete("key")),
            &[Part::Line(&DELETE)],
            reply!("DELETED\r\n"),
        ),
        row(
            "delete miss",
            |c| one(c.delete("key")),
            &[Part::Line(&DELETE)],
            GONE,
        ),
        row(
            "touch hit",
            |c| one(c.touch("key", Expiry::never())),
            &[Part::Line(&TOUCH)],
            reply!("TOUCHED\r\n"),
        ),
        row(
            "flush_all",
            |c| server(c.flush_all(None), show),
            &[Part::Line(&FLUSH)],
            reply!("OK\r\n"),
        ),
        row(
            "verbosity",
            |c| server(c.verbosity(1), show),
            &[Part::Line(&VERBOSITY)],
            reply!("OK\r\n"),
        ),
    ]
}
