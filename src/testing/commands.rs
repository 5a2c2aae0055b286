//! One command line to its reply, as memcached 1.6.18 words it. It knows nothing of how lines and bodies arrive.

use std::io::{self, Write};
use std::sync::atomic::Ordering;
use std::time::SystemTime;

use super::number::{signed, unsigned};
use super::replies::Replies;
use super::state::{MAX_CONNECTIONS, State};
use super::storage::{self, Body};
use super::store::{self, NoNumber};

/// The version whose behaviour this is.
const VERSION: &str = "1.6.18";

pub(super) const MAX_KEY_LEN: usize = 250;

/// `O` and 31 bytes behind it.
const MAX_OPAQUE: usize = 32;

/// So many flags `mg` may have.
const MAX_FLAGS: usize = 17;

pub(super) const FORMAT: &str = "CLIENT_ERROR bad command line format";
const EXPTIME: &str = "CLIENT_ERROR invalid exptime argument";
const DELTA: &str = "CLIENT_ERROR invalid numeric delta argument";
const NOT_NUMERIC: &str = "CLIENT_ERROR cannot increment or decrement non-numeric value";
const DELETE_USAGE: &str = "CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]";

/// What the bytes behind a command line are.
#[derive(Debug)]
pub(super) enum Next {
    Line,
    Body(Body),
    /// So many bytes without a meaning, and then this reply.
    Swallow {
        left: usize,
        reply: Option<&'static str>,
    },
    Close,
}

/// One command on its way.
pub(super) struct Call<'c, W> {
    pub(super) state: &'c State,
    pub(super) replies: &'c mut Replies<W>,
    pub(super) now: SystemTime,
    /// `noreply`: nothing is said, errors included.
    pub(super) quiet: bool,
}

/// Carries out one line, given without its end.
pub(super) fn line<W: Write>(line: &[u8], mut call: Call<'_, W>) -> io::Result<Next> {
    // To a server written in C a NUL is the end of the line.
    let line = line.split(|byte| *byte == 0).next().unwrap_or_default();
    let words: Vec<&[u8]> = line
        .split(|byte| *byte == b' ')
        .filter(|word| !word.is_empty())
        .collect();
    let Some((verb, args)) = words.split_first() else {
        call.replies.line("ERROR");
        return Ok(Next::Line);
    };
    let noreply = args.last() == Some(&&b"noreply"[..]);
    if let Some(verb) = storage::verb(verb, args.len()) {
        call.quiet = noreply;
        return Ok(storage::begin(verb, args, &mut call));
    }
    match (*verb, args) {
        (b"get" | b"bget", [_, ..]) => call.get(args, None, false)?,
        (b"gets", [_, ..]) => call.get(args, None, true)?,
        (b"gat" | b"gats", [exptime, keys @ ..]) => match signed(exptime) {
            Some(exptime) => call.get(keys, Some(exptime), *verb == b"gats")?,
            None => call.say(EXPTIME),
        },
        (b"mg", [key, flags @ ..]) => call.meta_get(key, flags),
        (b"mn", _) => call.say("MN"),
        (b"version", _) => call.say(&format!("VERSION {VERSION}")),
        (b"stats", args) => call.stats(args),
        (b"quit", _) => return Ok(Next::Close),
        (b"verbosity", [b"noreply"]) => call.say("ERROR"),
        // The rest heeds `noreply`; a wrong number of words is an error that is said all the same.
        (verb, args) => {
            call.quiet = noreply;
            match (verb, args) {
                (b"delete", [key] | [key, _] | [key, _, _]) => call.delete(key, &args[1..]),
                (b"touch", [key, exptime] | [key, exptime, _]) => call.touch(key, exptime),
                (b"incr", [key, delta] | [key, delta, _]) => {
                    call.count(key, delta, u64::wrapping_add)
                }
                (b"decr", [key, delta] | [key, delta, _]) => {
                    call.count(key, delta, u64::saturating_sub)
                }
                (b"flush_all", [] | [_] | [_, _]) => call.flush_all(args.first().copied()),
                (b"verbosity", [level] | [level, _]) => {
                    let known = unsigned(level).is_some();
                    call.say(if known { "OK" } else { FORMAT });
                }
                (_, [.., last]) if last.starts_with(b"HTTP/") => return Ok(Next::Close),
                _ => call.replies.line("ERROR"),
            }
        }
    }
    Ok(Next::Line)
}

impl<W: Write> Call<'_, W> {
    pub(super) fn say(&mut self, reply: &str) {
        if !self.quiet {
            self.replies.line(reply);
        }
    }

    /// A key that is too long takes the answers not yet sent with it, those to commands before included.
    fn get(&mut self, keys: &[&[u8]], exptime: Option<i32>, cas: bool) -> io::Result<()> {
        if keys.iter().any(|key| key.len() > MAX_KEY_LEN) {
            self.replies.lose();
            self.say(FORMAT);
            return Ok(());
        }
        for key in keys {
            let mut store = self.state.store();
            store.counts.cmd_get += 1;
            let Some(item) = store.get(key, self.now) else {
                continue;
            };
            let (flags, len) = (item.flags, item.value.len());
            let cas = if cas {
                format!(" {}", item.cas)
            } else {
                String::new()
            };
            self.replies.bytes(b"VALUE ");
            self.replies.bytes(key);
            self.replies.line(&format!(" {flags} {len}{cas}"));
            self.replies.bytes(&item.value);
            self.replies.line("");
            if let Some(exptime) = exptime {
                item.touch(exptime, self.now);
            }
            store.counts.get_hits += 1;
            drop(store);
            self.replies.relieve()?;
        }
        self.say("END");
        Ok(())
    }

    /// `mg` with the flags that only ask: `c f k O q s t v`.
    fn meta_get(&mut self, key: &[u8], flags: &[&[u8]]) {
        if key.len() > MAX_KEY_LEN {
            return self.say(FORMAT);
        }
        if flags.len() > MAX_FLAGS {
            return self.say("CLIENT_ERROR options flags are too long");
        }
        for flag in flags {
            match flag {
                [b'c' | b'f' | b'k' | b'q' | b's' | b't' | b'v'] => {}
                [b'O', ..] if flag.len() <= MAX_OPAQUE => {}
                [b'O', ..] => return self.say("CLIENT_ERROR opaque token too long"),
                _ => return self.say("CLIENT_ERROR invalid flag"),
            }
        }
        let mut store = self.state.store();
        let item = store.get(key, self.now);
        let with_value = flags.contains(&&b"v"[..]);
        let mut reply = match &item {
            None if flags.contains(&&b"q"[..]) => return,
            None => b"EN".to_vec(),
            Some(item) if with_value => format!("VA {}", item.value.len()).into_bytes(),
            Some(_) => b"HD".to_vec(),
        };
        for flag in flags {
            match (flag, &item) {
                ([b'k'], _) => reply.extend_from_slice(&[b" k", key].concat()),
                ([b'O', ..], _) => reply.extend_from_slice(&[b" ", *flag].concat()),
                ([b'c'], Some(item)) => {
                    reply.extend_from_slice(format!(" c{}", item.cas).as_bytes())
                }
                ([b'f'], Some(item)) => {
                    reply.extend_from_slice(format!(" f{}", item.flags).as_bytes())
                }
                ([b's'], Some(item)) => {
                    reply.extend_from_slice(format!(" s{}", item.value.len()).as_bytes());
                }
                ([b't'], Some(item)) => {
                    let left = item.time_left(self.now).map_or(-1, |left| left as i64);
                    reply.extend_from_slice(format!(" t{left}").as_bytes());
                }
                _ => {}
            }
        }
        reply.extend_from_slice(b"\r\n");
        if let (Some(item), true) = (item, with_value) {
            reply.extend_from_slice(&item.value);
            reply.extend_from_slice(b"\r\n");
        }
        self.replies.bytes(&reply);
    }

    /// The second word may be a `0`, once the time for which the key was to be locked.
    fn delete(&mut self, key: &[u8], rest: &[&[u8]]) {
        let valid = match rest {
            [] => true,
            [word] => *word == b"0" || self.quiet,
            [word, ..] => *word == b"0" && self.quiet,
        };
        if !valid {
            return self.say(DELETE_USAGE);
        }
        if key.len() > MAX_KEY_LEN {
            return self.say(FORMAT);
        }
        let mut store = self.state.store();
        let deleted = store.get(key, self.now).is_some() && store.delete(key);
        drop(store);
        self.say(if deleted { "DELETED" } else { "NOT_FOUND" });
    }

    fn touch(&mut self, key: &[u8], exptime: &[u8]) {
        if key.len() > MAX_KEY_LEN {
            return self.say(FORMAT);
        }
        let Some(exptime) = signed(exptime) else {
            return self.say(EXPTIME);
        };
        let reply = match self.state.store().get(key, self.now) {
            Some(item) => {
                item.touch(exptime, self.now);
                "TOUCHED"
            }
            None => "NOT_FOUND",
        };
        self.say(reply);
    }

    fn count(&mut self, key: &[u8], delta: &[u8], change: impl FnOnce(u64, u64) -> u64) {
        if key.len() > MAX_KEY_LEN {
            return self.say(FORMAT);
        }
        let Some(delta) = unsigned(delta) else {
            return self.say(DELTA);
        };
        let change = |number| change(number, delta);
        let counted = self.state.store().count(key, change, self.now);
        match counted {
            Ok(number) => self.say(&number.to_string()),
            Err(NoNumber::NotFound) => self.say("NOT_FOUND"),
            Err(NoNumber::NotNumeric) => self.say(NOT_NUMERIC),
            Err(NoNumber::NoRoom) => self.say("SERVER_ERROR out of memory in incr"),
        }
    }

    fn flush_all(&mut self, delay: Option<&[u8]>) {
        let delay = match delay {
            None | Some(b"noreply") => Some(0),
            Some(delay) => signed(delay),
        };
        match delay {
            Some(delay) => {
                self.state.store().flush(delay, self.now);
                self.say("OK");
            }
            None => self.say(EXPTIME),
        }
    }

    fn stats(&mut self, args: &[&[u8]]) {
        match args {
            [] => {
                let lines = self.general();
                self.replies.bytes(lines.as_bytes());
                self.say("END");
            }
            [b"reset"] => {
                self.state.store().counts = store::Counts::default();
                self.say("RESET");
            }
            [b"settings"] => {
                let State { port, .. } = self.state;
                let lines = format!(
                    "STAT maxbytes {}\r\nSTAT maxconns {MAX_CONNECTIONS}\r\nSTAT tcpport {port}\r\nSTAT item_size_max {}\r\n",
                    store::MAX_BYTES,
                    store::MAX_ITEM,
                );
                self.replies.bytes(lines.as_bytes());
                self.say("END");
            }
            _ => self.say("ERROR"),
        }
    }

    fn general(&self) -> String {
        let store = self.state.store();
        let (items, bytes) = store.size();
        let counts = &store.counts;
        let time = self
            .now
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        let open = self.state.connections.load(Ordering::Relaxed);
        let total = self.state.total_connections.load(Ordering::Relaxed);
        let numbers = [
            ("pid", u64::from(std::process::id())),
            ("uptime", self.state.started.elapsed().as_secs()),
            ("time", time.as_secs()),
            ("pointer_size", u64::from(usize::BITS)),
            ("max_connections", MAX_CONNECTIONS as u64),
            ("curr_connections", open as u64),
            ("total_connections", total),
            ("cmd_get", counts.cmd_get),
            ("cmd_set", counts.cmd_set),
            ("get_hits", counts.get_hits),
            ("get_misses", counts.cmd_get - counts.get_hits),
            ("limit_maxbytes", store::MAX_BYTES as u64),
            ("bytes", bytes as u64),
            ("curr_items", items as u64),
            ("total_items", counts.total_items),
        ];
        let lines = numbers.map(|(name, number)| format!("STAT {name} {number}\r\n"));
        format!("STAT version {VERSION}\r\n{}", lines.concat())
    }
}
