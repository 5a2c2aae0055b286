//! Replays the recorded exchanges with memcached 1.6.18 (`tests/golden/protocol/transcripts.jsonl`) against `decode`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{body_end, decode};
use crate::protocol::{Decoded, Desync, Expect, Reply, StoreVerb};

/// Rows that tell of several connections in words, and so have no stream to replay.
const NARRATIVES: &[&str] = &[
    "idle_timeout",
    "idle_timeout_stale_write",
    "sigstop",
    "pipeline_never_read",
];

/// Rows whose keys hold control bytes. The server takes them; no key of this client has one, so that they are foreign to it.
const CONTROL_KEYS: &[&str] = &["key_cr", "key_all_ctrl"];

/// What a client makes of a reply (the classes of the table of replies).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Success,
    Miss,
    NotStored,
    Exists,
    ClientError,
    ServerError,
}

/// The class of one reply and whether it leaves the connection usable.
type Outcome = (Class, bool);

fn class(expect: Expect, reply: &Reply<'_>, values: usize) -> Outcome {
    match reply {
        Reply::End if values == 0 && expect != Expect::Stats => (Class::Miss, true),
        Reply::NotFound => (Class::Miss, true),
        Reply::NotStored => (Class::NotStored, true),
        Reply::Exists => (Class::Exists, true),
        Reply::Refused(refusal) if refusal.server => {
            (Class::ServerError, refusal.keep && values == 0)
        }
        Reply::Refused(refusal) => (Class::ClientError, refusal.keep && values == 0),
        _ => (Class::Success, true),
    }
}

/// Reads replies from pieces as a connection does: more bytes only when those at hand do not do.
fn replay<'p>(
    commands: &[Expect],
    pieces: impl IntoIterator<Item = &'p [u8]>,
) -> Result<(Vec<Outcome>, usize), Desync> {
    let mut pieces = pieces.into_iter();
    let (mut buffer, mut at) = (Vec::new(), 0);
    let mut outcomes = Vec::new();
    for expect in commands {
        let mut values = 0;
        loop {
            match decode(*expect, &buffer[at..])? {
                Decoded::Need(_) => match pieces.next() {
                    Some(piece) => buffer.extend_from_slice(piece),
                    None => return Ok((outcomes, at)),
                },
                Decoded::Reply { reply, used } => {
                    at += used;
                    match reply {
                        Reply::Value { len, .. } => {
                            while buffer.len() < at + len + 2 {
                                let Some(piece) = pieces.next() else {
                                    return Ok((outcomes, at));
                                };
                                buffer.extend_from_slice(piece);
                            }
                            body_end(&buffer[at + len..at + len + 2])?;
                            at += len + 2;
                            values += 1;
                        }
                        Reply::Stat { .. } | Reply::Line(_) => values += 1,
                        reply => {
                            let outcome = class(*expect, &reply, values);
                            outcomes.push(outcome);
                            if !outcome.1 {
                                return Ok((outcomes, at));
                            }
                            break;
                        }
                    }
                }
            }
        }
    }
    Ok((outcomes, at))
}

/// The commands in what was sent, or why they are not ours.
fn commands(mut sent: &[u8]) -> Result<Vec<Expect>, &'static str> {
    let mut commands = Vec::new();
    while !sent.is_empty() {
        let end = sent
            .iter()
            .position(|byte| *byte == b'\n')
            .ok_or("no whole line")?;
        let line = String::from_utf8_lossy(&sent[..end]).into_owned();
        sent = &sent[end + 1..];
        let words: Vec<&str> = line
            .trim_end_matches('\r')
            .split(' ')
            .filter(|word| !word.is_empty())
            .collect();
        let verb = words.first().copied().unwrap_or_default();
        let expect = match verb {
            "get" | "gat" => Expect::Values { cas: false },
            "gets" | "gats" => Expect::Values { cas: true },
            "set" => Expect::Store(StoreVerb::Set),
            "add" => Expect::Store(StoreVerb::Add),
            "replace" => Expect::Store(StoreVerb::Replace),
            "append" => Expect::Store(StoreVerb::Append),
            "prepend" => Expect::Store(StoreVerb::Prepend),
            "cas" => Expect::Store(StoreVerb::Cas(0)),
            "delete" => Expect::Delete,
            "touch" => Expect::Touch,
            "incr" | "decr" => Expect::Arith,
            "mg" if words.len() == 2 => Expect::Exists,
            "flush_all" => Expect::FlushAll,
            "version" => Expect::Version,
            "stats" if words.get(1).is_some_and(|word| word.starts_with("sizes_")) => {
                return Err("answered without END");
            }
            "stats" => Expect::Stats,
            "verbosity" => Expect::Verbosity,
            _ => return Err("another command"),
        };
        let quiet = !matches!(expect, Expect::Values { .. } | Expect::Stats);
        if quiet && words.last() == Some(&"noreply") {
            return Err("noreply");
        }
        commands.push(expect);
        if matches!(expect, Expect::Store(_)) {
            // The server cuts the length to 32 bits (row `set_len_2^32+1`). A line that it refuses has no body; what it
            // makes of those bytes is of no interest behind the refusal.
            let len = words.get(4).and_then(|len| len.parse::<i64>().ok());
            let len = len.map_or(0, |len| (len as i32).max(0) as usize);
            sent = sent.get(len + 2..).unwrap_or_default();
        }
    }
    Ok(commands)
}

/// The table of replies: which lines end the reply to a command, what each means, and whether it leaves the connection usable.
fn table(expect: Expect) -> &'static [(&'static str, Outcome)] {
    use Class::{ClientError, Exists, Miss, NotStored, ServerError, Success};
    const BAD_LINE: &str = "CLIENT_ERROR bad command line format";
    const BAD_TIME: &str = "CLIENT_ERROR invalid exptime argument";
    match expect {
        Expect::Values { .. } => &[
            ("END", (Miss, true)),
            (BAD_LINE, (ClientError, true)),
            (BAD_TIME, (ClientError, true)),
            ("ERROR", (ClientError, true)),
        ],
        Expect::Store(_) => &[
            ("STORED", (Success, true)),
            ("NOT_STORED", (NotStored, true)),
            ("EXISTS", (Exists, true)),
            ("NOT_FOUND", (Miss, true)),
            (
                "SERVER_ERROR object too large for cache",
                (ServerError, true),
            ),
            (
                "SERVER_ERROR out of memory storing object",
                (ServerError, true),
            ),
            // The body may be taken for commands.
            (BAD_LINE, (ClientError, false)),
            ("CLIENT_ERROR bad data chunk", (ClientError, false)),
            ("ERROR", (ClientError, false)),
        ],
        Expect::Delete => &[
            ("DELETED", (Success, true)),
            ("NOT_FOUND", (Miss, true)),
            (
                "CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]",
                (ClientError, true),
            ),
            (BAD_LINE, (ClientError, true)),
            ("ERROR", (ClientError, true)),
        ],
        Expect::Arith => &[
            ("NOT_FOUND", (Miss, true)),
            (
                "CLIENT_ERROR cannot increment or decrement non-numeric value",
                (ClientError, true),
            ),
            (
                "CLIENT_ERROR invalid numeric delta argument",
                (ClientError, true),
            ),
            (BAD_LINE, (ClientError, true)),
            ("ERROR", (ClientError, true)),
        ],
        Expect::Touch => &[
            ("TOUCHED", (Success, true)),
            ("NOT_FOUND", (Miss, true)),
            (BAD_TIME, (ClientError, true)),
            (BAD_LINE, (ClientError, true)),
            ("ERROR", (ClientError, true)),
        ],
        Expect::FlushAll => &[
            ("OK", (Success, true)),
            (BAD_TIME, (ClientError, true)),
            ("CLIENT_ERROR flush_all not allowed", (ClientError, true)),
            ("ERROR", (ClientError, true)),
        ],
        Expect::Version => &[("VERSION 1.6.18", (Success, true))],
        Expect::Verbosity => &[
            ("OK", (Success, true)),
            (BAD_LINE, (ClientError, true)),
            ("ERROR", (ClientError, true)),
        ],
        Expect::Exists => &[
            ("HD", (Success, true)),
            ("EN", (Miss, true)),
            (BAD_LINE, (ClientError, true)),
        ],
        Expect::Stats => &[
            ("END", (Success, true)),
            ("RESET", (Success, true)),
            ("OK", (Success, true)),
            // Of its subcommands.
            (BAD_LINE, (ClientError, true)),
            ("CLIENT_ERROR bad command line", (ClientError, true)),
            ("CLIENT_ERROR Illegal slab id", (ClientError, true)),
            (
                "CLIENT_ERROR stats cachedump not allowed",
                (ClientError, true),
            ),
            (
                "CLIENT_ERROR usage: stats detail on|off|dump",
                (ClientError, true),
            ),
            ("ERROR", (ClientError, true)),
        ],
    }
}

/// What the table says of each command's reply, up to the first that closes the connection.
fn by_table(commands: &[Expect], received: &[u8], name: &str) -> Vec<Outcome> {
    let mut rest = received;
    let mut outcomes = Vec::new();
    for expect in commands {
        let mut values = false;
        let outcome = loop {
            let Some(end) = rest.windows(2).position(|two| two == b"\r\n") else {
                return outcomes;
            };
            let line = String::from_utf8_lossy(&rest[..end]).into_owned();
            rest = &rest[end + 2..];
            let words: Vec<&str> = line.split(' ').collect();
            match (expect, words[0]) {
                (Expect::Values { .. }, "VALUE") => {
                    rest = &rest[words[3].parse::<usize>().unwrap() + 2..];
                    values = true;
                }
                (Expect::Stats, "STAT" | "ITEM" | "PREFIX") => values = true,
                (Expect::Arith, number) if number.parse::<u64>().is_ok() => {
                    break (Class::Success, true);
                }
                _ => {
                    let row = table(*expect).iter().find(|(text, _)| *text == line);
                    // An error line that is not in the table closes.
                    let other = || match words[0] {
                        "ERROR" | "CLIENT_ERROR" => (Class::ClientError, false),
                        "SERVER_ERROR" => (Class::ServerError, false),
                        _ => panic!("{name}: {line} to {expect:?}"),
                    };
                    let (class, keep) = row.map_or_else(other, |(_, outcome)| *outcome);
                    let hit = values && class == Class::Miss;
                    break (if hit { Class::Success } else { class }, keep);
                }
            }
        };
        outcomes.push(outcome);
        if !outcome.1 {
            break;
        }
    }
    outcomes
}

/// One character of a transcript is one byte.
fn bytes(text: &str) -> Vec<u8> {
    text.chars()
        .map(|byte| u8::try_from(byte).unwrap())
        .collect()
}

/// What was sent and received by all steps but the last probe; `None` where a digest does not tell the bytes.
fn stream(row: &Value) -> Option<(Vec<u8>, Vec<u8>)> {
    let (mut sent, mut received) = (Vec::new(), Vec::new());
    for step in row["steps"].as_array().unwrap() {
        if step["probe"] != true {
            match step["send"].as_str() {
                Some(text) => sent.extend(bytes(text)),
                None => sent.extend(filled(&step["send"])?),
            }
            received.extend(bytes(step["recv"].as_str()?));
        }
    }
    Some((sent, received))
}

/// A long body of one letter, `x`, of which head, tail and length were kept.
fn filled(digest: &Value) -> Option<Vec<u8>> {
    let mut whole = bytes(digest["head"].as_str()?);
    let tail = bytes(digest["tail"].as_str()?);
    if whole.last() != Some(&b'x') || tail.first() != Some(&b'x') {
        return None;
    }
    whole.resize(digest["len"].as_u64()? as usize - tail.len(), b'x');
    whole.extend(tail);
    Some(whole)
}

#[test]
fn recorded_exchanges_mean_what_they_meant() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/golden/protocol/transcripts.jsonl"
    );
    let file = std::fs::read_to_string(path).unwrap();
    let mut classes = BTreeMap::new();
    let mut left_out = BTreeMap::new();
    let (mut rows, mut splits) = (0_usize, 0_usize);
    for line in file.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let name = row["name"].as_str().unwrap();
        let commands = match stream(&row) {
            _ if name.starts_with("bin:") => Err("binary"),
            _ if NARRATIVES.contains(&name) => Err("narrative"),
            None => Err("digest"),
            Some((_, received)) if received.is_empty() => Err("no reply"),
            Some((sent, received)) => commands(&sent).map(|commands| (commands, received)),
        };
        let (commands, received) = match commands {
            Ok(row) => row,
            Err(why) => {
                *left_out.entry(why).or_insert(0) += 1;
                continue;
            }
        };

        if CONTROL_KEYS.contains(&name) {
            assert!(replay(&commands, [&received[..]]).is_err(), "{name}");
            *left_out.entry("control bytes in a key").or_insert(0_usize) += 1;
            continue;
        }
        let (outcomes, used) = replay(&commands, [&received[..]])
            .unwrap_or_else(|desync| panic!("{name}: {desync:?}"));
        assert_eq!(outcomes, by_table(&commands, &received, name), "{name}");
        for (class, keep) in &outcomes {
            *classes.entry((*class, *keep)).or_insert(0_usize) += 1;
            let storage = matches!(commands[0], Expect::Store(_));
            if storage && commands.len() == 1 && *class == Class::ClientError {
                assert!(!keep, "{name}: an error line to a store");
            }
        }
        let kept = outcomes.iter().all(|(_, keep)| *keep);
        if kept {
            assert_eq!(
                (outcomes.len(), used),
                (commands.len(), received.len()),
                "{name}"
            );
            let probe = row["steps"].as_array().unwrap().last().unwrap();
            let in_step = probe["probe"] != true || probe["recv"] == "MN\r\n";
            assert!(
                in_step,
                "{name}: the connection is not in step and would be kept"
            );
        }

        let by_byte = replay(&commands, received.chunks(1));
        assert_eq!(by_byte, Ok((outcomes.clone(), used)), "{name} byte by byte");
        for split in 1..received.len() {
            let (head, tail) = received.split_at(split);
            let parts = replay(&commands, [head, tail]);
            assert_eq!(parts, Ok((outcomes.clone(), used)), "{name} at {split}");
            splits += 1;
        }
        rows += 1;
    }
    println!("{rows} rows, {splits} splits: {classes:?}; left out: {left_out:?}");
    assert_eq!((rows, splits), (142, 13_396));
    assert_eq!(rows + left_out.values().sum::<usize>(), 457);
}
