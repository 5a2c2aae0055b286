//! The clients: their names, what each can do, and how it is opened.

mod bmemcached;
mod exp;
mod memcache;
mod memcached_rs;

use std::error::Error;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::ops::{Keys, Op};

pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// A client as one thread has it. What a client does not have is an error; `Client::has` tells it before.
pub(crate) trait Peer: Send {
    /// `None` is a miss.
    fn get(&mut self, key: &str) -> Result<Option<Vec<u8>>>;
    fn set(&mut self, key: &str, value: &[u8]) -> Result<()>;
    fn incr(&mut self, key: &str) -> Result<u64>;

    /// Reads a value with its cas number and stores another; false if that came too late.
    fn cas(&mut self, _key: &str, _value: &[u8]) -> Result<bool> {
        Err("no cas".into())
    }

    /// How many of the keys were found.
    fn get_multi(&mut self, _keys: &Keys) -> Result<usize> {
        Err("no get of many keys".into())
    }

    /// One value for all keys.
    fn set_multi(&mut self, _keys: &Keys, _value: &[u8]) -> Result<()> {
        Err("no set of many keys".into())
    }
}

/// Makes a handle for each of so many threads; together they have so many connections to each server.
pub(crate) type Open =
    fn(addr: &str, threads: usize, connections: usize) -> Result<Vec<Box<dyn Peer>>>;

#[derive(Clone, Copy)]
pub(crate) enum Start {
    Here(Open),
    /// The C program with this protocol.
    Program(&'static str),
}

pub(crate) struct Client {
    pub(crate) name: &'static str,
    pub(crate) start: Start,
    cas: bool,
    get_multi: bool,
    set_multi: bool,
}

pub(crate) const ALL: &[Client] = &[
    client("memcache-ascii", Start::Here(memcache::ascii)),
    client("memcache-binary", Start::Here(memcache::binary)),
    Client {
        set_multi: true,
        ..client("memcache-exp", Start::Here(exp::open))
    },
    Client {
        set_multi: true,
        ..client("memcached-rs", Start::Here(memcached_rs::open))
    },
    Client {
        cas: false,
        get_multi: false,
        ..client("bmemcached", Start::Here(bmemcached::open))
    },
    client("libmemcached-ascii", Start::Program("ascii")),
    client("libmemcached-binary", Start::Program("binary")),
];

/// What most have.
const fn client(name: &'static str, start: Start) -> Client {
    Client {
        name,
        start,
        cas: true,
        get_multi: true,
        set_multi: false,
    }
}

pub(crate) fn find(name: &str) -> Result<&'static Client> {
    let found = ALL.iter().find(|it| it.name == name && it.is_there());
    found.ok_or_else(|| format!("{name:?} is no client; `peers list` names them").into())
}

impl Client {
    pub(crate) fn is_there(&self) -> bool {
        matches!(self.start, Start::Here(_)) || LIBMEMCACHED.is_some()
    }

    pub(crate) fn has(&self, op: Op) -> bool {
        match op {
            Op::Cas => self.cas,
            Op::GetMulti(_) => self.get_multi,
            Op::SetMulti(_) => self.set_multi,
            Op::Get(_) | Op::Miss | Op::Set(_) | Op::Incr => true,
        }
    }
}

/// The program that the build made, if it could.
const LIBMEMCACHED: Option<&str> = option_env!("LIBMEMCACHED_PROGRAM");

/// Becomes the C program, and returns only if that fails.
pub(crate) fn libmemcached(protocol: &str, args: &[&str]) -> Result<()> {
    let program = LIBMEMCACHED.ok_or("built without libmemcached")?;
    let error = Command::new(program).arg(protocol).args(args).exec();
    Err(format!("{program}: {error}").into())
}

fn addrs(addr: &str) -> impl Iterator<Item = &str> {
    addr.split(',')
}
