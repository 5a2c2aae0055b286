//! The commands that have a body: `set`, `add`, `replace`, `append`, `prepend` and `cas`.

use std::io::Write;

use super::commands::{Call, FORMAT, MAX_KEY_LEN, Next};
use super::number::{signed, unsigned};
use super::store::{self, Outcome, Verb};

const BAD_BODY: &str = "CLIENT_ERROR bad data chunk";
const TOO_LARGE: &str = "SERVER_ERROR object too large for cache";
const NO_ROOM: &str = "SERVER_ERROR out of memory storing object";

/// A longer body is no length to the server: `INT_MAX` less the line end.
const MAX_LEN: i32 = i32::MAX - 2;

/// A store whose body is to come.
#[derive(Debug)]
pub(super) struct Body {
    /// Of the body and its line end.
    pub(super) len: usize,
    verb: Verb,
    key: Vec<u8>,
    flags: u32,
    exptime: i32,
    quiet: bool,
}

/// The command that is so called, if the number of its arguments is right; with or without `noreply`.
pub(super) fn verb(name: &[u8], args: usize) -> Option<Verb> {
    let (verb, right) = match name {
        b"set" => (Verb::Set, 4),
        b"add" => (Verb::Add, 4),
        b"replace" => (Verb::Replace, 4),
        b"append" => (Verb::Append, 4),
        b"prepend" => (Verb::Prepend, 4),
        b"cas" => (Verb::Cas(0), 5),
        _ => return None,
    };
    (args == right || args == right + 1).then_some(verb)
}

/// Reads the line. One that is refused has no body: what the client sent for one is read as commands.
pub(super) fn begin<W: Write>(verb: Verb, args: &[&[u8]], call: &mut Call<'_, W>) -> Next {
    let Some(body) = parse(verb, args, call.quiet) else {
        call.say(FORMAT);
        return Next::Line;
    };
    if store::fits(body.key.len(), body.flags, body.len - 2) {
        return Next::Body(body);
    }
    if verb == Verb::Set {
        call.state.store().delete(&body.key);
    }
    Next::Swallow {
        left: body.len,
        reply: (!call.quiet).then_some(TOO_LARGE),
    }
}

/// Stores the body, given with its line end.
pub(super) fn complete<W: Write>(body: &Body, bytes: &[u8], call: &mut Call<'_, W>) {
    call.quiet = body.quiet;
    let Some(value) = bytes.strip_suffix(b"\r\n") else {
        return call.say(BAD_BODY);
    };
    let mut store = call.state.store();
    store.counts.cmd_set += 1;
    let options = (body.flags, body.exptime);
    let stored = store.store(body.verb, &body.key, value, options, call.now);
    drop(store);
    call.say(match stored {
        Outcome::Stored => "STORED",
        Outcome::NotStored => "NOT_STORED",
        Outcome::Exists => "EXISTS",
        Outcome::NotFound => "NOT_FOUND",
        Outcome::NoRoom => NO_ROOM,
    });
}

fn parse(verb: Verb, args: &[&[u8]], quiet: bool) -> Option<Body> {
    let [key, flags, exptime, len, rest @ ..] = args else {
        return None;
    };
    // Only the low 32 bits of the flags are kept.
    let flags = unsigned(flags)? as u32;
    let exptime = signed(exptime)?;
    let len = signed(len).filter(|len| (0..=MAX_LEN).contains(len))?;
    let verb = match verb {
        Verb::Cas(_) => Verb::Cas(unsigned(rest.first()?)?),
        verb => verb,
    };
    (key.len() <= MAX_KEY_LEN).then(|| Body {
        len: len as usize + b"\r\n".len(),
        verb,
        key: key.to_vec(),
        flags,
        exptime,
        quiet,
    })
}
