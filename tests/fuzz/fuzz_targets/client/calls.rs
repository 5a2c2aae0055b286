//! The calls of a client, each with a look at its answer: a value must be the one that the reply gives to the key asked.

use std::time::Duration;

use sockio::{Expiry, MemcachedClient, RawEnd};

const KEY: &str = "k";
const KEYS: [&str; 3] = ["k", "ka", "kb"];
const NEVER: Expiry = Expiry::never();

#[derive(Clone, Copy, Debug)]
pub(crate) enum Call {
    Get,
    Gets,
    GetInto,
    GetWith,
    GetRaw,
    GetAndTouch,
    Exists,
    Set,
    Add,
    Cas,
    Append,
    Delete,
    Touch,
    Incr,
    GetCounter,
    AddOrIncr,
    GetMulti,
    GetsMulti,
    SetMulti,
    DeleteMulti,
    Versions,
    Stats,
    FlushAll,
    Verbosity,
    RawLine,
    RawEnd,
}

const ALL: [Call; 26] = {
    use Call::*;
    [
        Get,
        Gets,
        GetInto,
        GetWith,
        GetRaw,
        GetAndTouch,
        Exists,
        Set,
        Add,
        Cas,
        Append,
        Delete,
        Touch,
        Incr,
        GetCounter,
        AddOrIncr,
        GetMulti,
        GetsMulti,
        SetMulti,
        DeleteMulti,
        Versions,
        Stats,
        FlushAll,
        Verbosity,
        RawLine,
        RawEnd,
    ]
};

impl Call {
    pub(crate) fn numbered(number: u8) -> Self {
        ALL[usize::from(number) % ALL.len()]
    }

    /// Runs the call and checks its value. Whether the connection may be used again: `reply` is one whole reply, as far as its lines show.
    pub(crate) fn run(self, client: &MemcachedClient, reply: &[u8]) -> bool {
        let one = |value: Option<Vec<u8>>, cas: bool| check(value.as_deref(), reply, cas);
        let lines = reply.iter().filter(|byte| **byte == b'\n').count();
        let one_line = lines == 1 && reply.ends_with(b"\r\n");
        match self {
            Call::Get => one(client.get(KEY).ok().flatten(), false),
            Call::Gets => one(client.gets(KEY).ok().flatten().map(|item| item.value), true),
            Call::GetRaw => one(
                client.get_raw(KEY).ok().flatten().map(|item| item.value),
                true,
            ),
            Call::GetAndTouch => one(client.get_and_touch(KEY, NEVER).ok().flatten(), false),
            Call::GetWith => one(
                client
                    .get_with(KEY, |bytes, _| bytes.to_vec())
                    .ok()
                    .flatten(),
                false,
            ),
            Call::GetInto => {
                let mut value = b"old".to_vec();
                let found = client.get_into(KEY, &mut value).ok().flatten();
                assert!(found.is_some() || value.is_empty());
                one(found.map(|_| value), false)
            }
            Call::GetCounter => {
                let _ = client.get_counter(KEY);
                is_whole(reply, false)
            }
            Call::GetMulti => {
                let found = client.get_multi::<Vec<u8>, _>(KEYS).expect("good keys");
                check_many(
                    found.hits().map(|(key, value)| (*key, &**value)),
                    reply,
                    false,
                )
            }
            Call::GetsMulti => {
                let found = client.gets_multi::<Vec<u8>, _>(KEYS).expect("good keys");
                check_many(
                    found.hits().map(|(key, item)| (*key, &*item.value)),
                    reply,
                    true,
                )
            }
            Call::SetMulti => {
                let _ = client.set_multi(KEYS.map(|key| (key, "v")), NEVER);
                lines <= KEYS.len() && reply.ends_with(b"\r\n")
            }
            Call::DeleteMulti => {
                let _ = client.delete_multi(KEYS);
                lines <= KEYS.len() && reply.ends_with(b"\r\n")
            }
            Call::Stats => {
                let _ = client.stats(None);
                reply.ends_with(b"END\r\n")
                    || reply.ends_with(b"RESET\r\n")
                    || reply.ends_with(b"OK\r\n")
                    || one_line
            }
            // Only their caller knows what state a connection is in.
            Call::RawLine => {
                let _ = client.raw(KEY, b"mn\r\n", RawEnd::FirstLine);
                false
            }
            Call::RawEnd => {
                let _ = client.raw(KEY, b"mn\r\n", RawEnd::AnyOf(&["END", "MN"]));
                false
            }
            one_lined => {
                one_lined.run_one_lined(client);
                one_line
            }
        }
    }

    fn run_one_lined(self, client: &MemcachedClient) {
        match self {
            Call::Exists => drop(client.exists(KEY)),
            Call::Set => drop(client.set(KEY, "v", NEVER)),
            Call::Add => drop(client.add(KEY, "v", NEVER)),
            Call::Cas => drop(client.cas(KEY, "v", NEVER, 1)),
            Call::Append => drop(client.append(KEY, "v")),
            Call::Delete => drop(client.delete(KEY)),
            Call::Touch => drop(client.touch(KEY, Duration::from_secs(9))),
            Call::Incr => drop(client.incr(KEY, 1)),
            Call::AddOrIncr => drop(client.add_or_incr(KEY, 1, NEVER)),
            Call::Versions => drop(client.versions()),
            Call::FlushAll => drop(client.flush_all(None)),
            Call::Verbosity => drop(client.verbosity(1)),
            other => unreachable!("{other:?}"),
        }
    }
}

/// One `VALUE` at the head of a reply, read by rules of its own: key, body, and what follows.
fn value(reply: &[u8], cas: bool) -> Option<(&[u8], &[u8], &[u8])> {
    let end = reply.windows(2).position(|two| two == b"\r\n")?;
    let words: Vec<&[u8]> = reply[..end].split(|byte| *byte == b' ').collect();
    let (key, len) = match words[..] {
        [b"VALUE", key, _, len] if !cas => (key, len),
        [b"VALUE", key, _, len, _] if cas => (key, len),
        _ => return None,
    };
    let len: usize = std::str::from_utf8(len).ok()?.parse().ok()?;
    let (body, rest) = reply[end + 2..].split_at_checked(len)?;
    Some((key, body, rest.strip_prefix(b"\r\n")?))
}

/// Values and `END`, or one error line, and nothing more.
fn is_whole(mut reply: &[u8], cas: bool) -> bool {
    let lines = reply.iter().filter(|byte| **byte == b'\n').count();
    if lines == 1 && reply.ends_with(b"\r\n") && !reply.starts_with(b"VALUE") {
        return true;
    }
    while let Some((_, _, rest)) = value(reply, cas) {
        reply = rest;
    }
    reply == b"END\r\n"
}

fn check(found: Option<&[u8]>, reply: &[u8], cas: bool) -> bool {
    if let Some(found) = found {
        let (key, body, rest) = value(reply, cas).expect("a value where one was returned");
        assert_eq!((key, body), (KEY.as_bytes(), found));
        assert!(
            rest.starts_with(b"END\r\n"),
            "a value without an end was returned"
        );
    }
    is_whole(reply, cas)
}

fn check_many<'v>(
    hits: impl Iterator<Item = (&'static str, &'v [u8])>,
    reply: &[u8],
    cas: bool,
) -> bool {
    let mut told = Vec::new();
    let mut rest = reply;
    while let Some((key, body, behind)) = value(rest, cas) {
        told.push((key, body));
        rest = behind;
    }
    for (key, found) in hits {
        assert!(
            told.contains(&(key.as_bytes(), found)),
            "{key} was not told"
        );
    }
    is_whole(reply, cas)
}
