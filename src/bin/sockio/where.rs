//! `sockio where`: the server of each key.

use std::ffi::OsString;
use std::io::{self, BufWriter, Write};

use sockio::router::Router;
use sockio::{KeyRules, Room, ToKey, WireKey};

use crate::explain;
use crate::failure::{Failure, Result};
use crate::lines::{Line, Lines};
use crate::place::{self, Place};

/// Tell on which server each key lives
///
/// Prints a line for each key: the key, its hash and its server, separated by tabs. The hash is the number with which the client
/// looks its bucket or ring point up, signed where the client's is.
///
/// Without a KEY, keys are read from standard input, one a line, each up to its line feed and in any encoding. A key that cannot
/// be sent to a server (empty, too long, with blanks or control bytes) is named by its number on standard error and left out;
/// the others are placed, and the exit code is 2.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    place: Place,

    /// What the client puts before every key. Whether it is hashed is the client's way.
    #[arg(
        long,
        value_name = "PREFIX",
        default_value = "",
        hide_default_value = true
    )]
    prefix: OsString,

    /// Servers that do not answer, separated by commas. A fourth column then lists the servers tried for the key, in order; a
    /// `-` stands for the server if none answers.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    dead: Vec<String>,

    /// Tell the steps: the key on the wire, its bucket or ring point, and the way through the servers should they fail.
    #[arg(long)]
    explain: bool,

    /// The keys; write `--` before a key that begins with a hyphen.
    #[arg(value_name = "KEY")]
    keys: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  sockio where --compat whalin/new-compat --servers a:11211,b:11211 \\
      --weights 5,3 user:582
  sockio where --compat libmemcached/ketama-weighted \\
      --servers a:11211,b:11211 --dead b:11211 < keys.txt
  sockio where --compat pecl-memcache/consistent/crc32 \\
      --servers a:11211,b:11211 --explain user:582";

/// Room for many lines, so that writing costs a small part of the time.
const BUFFER: usize = 1 << 16;

pub(crate) fn run(args: &Args) -> Result<()> {
    let mut finder = Finder::new(args)?;
    if args.keys.is_empty() {
        finder.place_lines()?;
    } else {
        for (key, number) in args.keys.iter().zip(1..) {
            finder.place(key.as_encoded_bytes(), || format!("key {number}"))?;
        }
    }
    finder.end()
}

struct Finder {
    router: Router,
    rules: KeyRules,
    /// Whether each server is dead; `None` if nobody asked.
    dead: Option<Vec<bool>>,
    explain: bool,
    out: BufWriter<io::StdoutLock<'static>>,
    all_placed: bool,
}

impl Finder {
    fn new(args: &Args) -> Result<Self> {
        let router = args.place.router()?;
        Ok(Self {
            rules: args
                .place
                .client
                .compat
                .key_rules(args.prefix.as_encoded_bytes())?,
            dead: dead(&router, &args.dead)?,
            router,
            explain: args.explain,
            out: BufWriter::with_capacity(BUFFER, io::stdout().lock()),
            all_placed: true,
        })
    }

    fn place_lines(&mut self) -> Result<()> {
        let mut lines = Lines::new(io::stdin().lock());
        let mut number = 0_u64;
        loop {
            // Whoever types keys, or waits for the answer to one, sees it before the next is asked for.
            if !lines.is_waiting() {
                self.out.flush()?;
            }
            let Some(line) = lines.next()? else {
                return Ok(());
            };
            number += 1;
            match line {
                Line::Whole(key) => self.place(key, || format!("line {number}"))?,
                Line::TooLong => self.refuse(&format!("line {number}"), "over 1 MiB"),
            }
        }
    }

    /// Writes the lines of one key. `name` is how a message names it: keys may be secrets.
    fn place(&mut self, key: &[u8], name: impl FnOnce() -> String) -> Result<()> {
        match self.rules.apply(key.to_key(), &mut Room::default()) {
            Ok(wire) if self.explain => {
                let dead = self.dead.as_deref().unwrap_or_default();
                explain::write(&mut self.out, &self.router, key, &wire, dead)?;
            }
            Ok(wire) => write_row(
                &mut self.out,
                &self.router,
                key,
                &wire,
                self.dead.as_deref(),
            )?,
            Err(error) => self.refuse(&name(), &error.to_string()),
        }
        Ok(())
    }

    fn refuse(&mut self, name: &str, why: &str) {
        self.all_placed = false;
        let _ = writeln!(io::stderr(), "sockio: {name}: {why}");
    }

    fn end(mut self) -> Result<()> {
        self.out.flush()?;
        if self.all_placed {
            Ok(())
        } else {
            Err(Failure::Told)
        }
    }
}

/// `key⇥hash⇥server`, and the servers tried if `dead` tells which ones are.
fn write_row(
    out: &mut impl Write,
    router: &Router,
    key: &[u8],
    wire: &WireKey<'_>,
    dead: Option<&[bool]>,
) -> io::Result<()> {
    let found = place::find(router, wire.hashed());
    out.write_all(key)?;
    write!(out, "\t{}\t", found.number)?;
    let name = |server: usize| router.servers()[server].name();
    match dead {
        None => out.write_all(name(found.server).as_bytes())?,
        Some(dead) => {
            let walked = router.walk(wire.hashed(), None, |server| dead[server]);
            out.write_all(walked.server.map_or("-", name).as_bytes())?;
            for (server, sign) in walked.tried.into_iter().zip(signs()) {
                write!(out, "{sign}{}", name(server))?;
            }
        }
    }
    out.write_all(b"\n")
}

/// What stands before each server tried.
fn signs() -> impl Iterator<Item = char> {
    std::iter::once('\t').chain(std::iter::repeat(','))
}

fn dead(router: &Router, names: &[String]) -> Result<Option<Vec<bool>>> {
    let servers = router.servers();
    if let Some(stranger) = names
        .iter()
        .find(|name| !servers.iter().any(|server| server.name() == **name))
    {
        return Err(Failure::new(format!(
            "--dead names {stranger:?}, which is none of the servers"
        )));
    }
    let is_dead = |name: &str| names.iter().any(|dead| dead == name);
    Ok((!names.is_empty()).then(|| {
        servers
            .iter()
            .map(|server| is_dead(server.name()))
            .collect()
    }))
}

#[cfg(test)]
mod tests {
    use sockio::Compat;

    use super::*;

    fn row(compat: &str, key: &str, dead: Option<&[bool]>) -> String {
        let compat: Compat = compat.parse().unwrap();
        let servers = ["a:1", "b:2", "c:3"].map(|name| name.parse().unwrap());
        let router = compat.router(servers.to_vec()).unwrap();
        let rules = compat.key_rules(b"").unwrap();
        let mut room = Room::default();
        let wire = rules.apply(key.to_key(), &mut room).unwrap();
        let mut out = Vec::new();
        write_row(&mut out, &router, key.as_bytes(), &wire, dead).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// `"a".hashCode()` is 97, and `"a+b"`'s is 97 · 961 + 43 · 31 + 98 = 94,648: both have the remainder 1.
    #[test]
    fn the_wire_key_is_hashed_and_the_key_is_printed() {
        assert_eq!(row("whalin/native", "a", None), "a\t97\tb:2\n");
        assert_eq!(
            row("whalin/native+sanitize", "a b", None),
            "a b\t94648\tb:2\n"
        );
    }

    /// `"0a".hashCode()` is 48 · 31 + 97 = 1,585, of which the sum with 97 has the remainder 2.
    #[test]
    fn the_servers_tried_follow() {
        let row = |dead: [bool; 3]| row("whalin/native", "a", Some(&dead));
        assert_eq!(row([true, false, true]), "a\t97\tb:2\tb:2\n");
        let none = row([true, true, true]);
        assert!(none.starts_with("a\t97\t-\tb:2,"), "{none}");
        assert_eq!(none.matches(',').count(), 2, "{none}");
    }
}
