//! What a client may make of the bytes that came as a reply: written from the table of replies, not from the client.

use sockio::ErrorKind;

use super::commands::{Part, Shows, Told, Verb, show, show_item};

/// No value of the matrix is longer; the pool is told so.
pub(super) const MAX_VALUE: u64 = 1024 * 1024;

/// What the bytes tell.
#[derive(Debug)]
pub(super) struct Reading {
    /// For each key its answer, or `None` if the bytes do not tell.
    pub(super) told: Vec<Option<Told>>,
    pub(super) end: End,
}

/// How the bytes end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Every request has its whole reply, which leaves the connection so; so many bytes are left over.
    Whole(Fate, usize),
    /// More must come.
    Short,
    /// No reply begins like this.
    Wrong,
    /// An error line after which nobody knows what the server takes the rest for.
    Refused,
}

/// What becomes of a connection behind a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Keep,
    Close,
    /// Not measured: it may be closed.
    Either,
}

/// Why a reading stops.
enum Stop {
    Short,
    Wrong,
}

type Read<R> = Result<R, Stop>;

/// The reply to requests with these parts, as far as it came.
pub(super) fn read(parts: &[Part], bytes: &[u8]) -> Reading {
    let mut told = Vec::new();
    let (mut rest, mut fate) = (bytes, Fate::Keep);
    let mut stopped = None;
    for (number, part) in parts.iter().enumerate() {
        if stopped.is_some() {
            told.extend(unknown(part));
            continue;
        }
        let mut answers = unknown(part);
        match read_part(part, rest, number > 0, &mut answers) {
            Ok((left, Fate::Close)) if number + 1 < parts.len() => {
                (rest, stopped) = (left, Some(End::Refused));
            }
            Ok((left, after)) => {
                rest = left;
                fate = if after == Fate::Keep { fate } else { after };
            }
            Err(Stop::Short) => stopped = Some(End::Short),
            Err(Stop::Wrong) => stopped = Some(End::Wrong),
        }
        told.extend(answers);
    }
    let end = stopped.unwrap_or(End::Whole(fate, rest.len()));
    Reading { told, end }
}

fn unknown(part: &Part) -> Vec<Option<Told>> {
    match part {
        Part::Values { keys, .. } => vec![None; keys.len()],
        _ => vec![None],
    }
}

/// Reads one part off the bytes; returns those behind it.
fn read_part<'b>(
    part: &Part,
    bytes: &'b [u8],
    behind: bool,
    told: &mut [Option<Told>],
) -> Read<(&'b [u8], Fate)> {
    if let Part::Values { .. } = part {
        return values(part, bytes, behind, told);
    }
    if let Part::Stats = part {
        return stats(bytes, told);
    }
    if let Some((kind, line, rest)) = error_line(bytes)? {
        told[0] = Some(Told::Fault(kind, None));
        return Ok((rest, fate_of(part, line)));
    }
    let (answer, rest) = match part {
        Part::Line(lines) => {
            let texts = lines.answers.iter();
            let texts: Vec<String> = texts.map(|(line, _)| format!("{line}\r\n")).collect();
            let found = one_of(bytes, texts.iter().map(String::as_bytes))?;
            (
                lines.answers[found].1.to_owned(),
                &bytes[texts[found].len()..],
            )
        }
        Part::Number => number_or_miss(bytes)?,
        Part::Version => {
            one_of(bytes, [&b"VERSION "[..]])?;
            let (line, rest) = line(bytes)?;
            let version = line.strip_prefix("VERSION ").ok_or(Stop::Wrong)?;
            let version = Some(version).filter(|text| !text.is_empty());
            (show(version.ok_or(Stop::Wrong)?), rest)
        }
        Part::Values { .. } | Part::Stats => unreachable!(),
    };
    told[0] = Some(Told::Answer(answer));
    Ok((rest, Fate::Keep))
}

fn values<'b>(
    part: &Part,
    bytes: &'b [u8],
    behind: bool,
    told: &mut [Option<Told>],
) -> Read<(&'b [u8], Fate)> {
    let Part::Values {
        keys,
        shows,
        cas,
        each,
    } = part
    else {
        unreachable!()
    };
    let mut rest = bytes;
    let mut found: Vec<Option<Told>> = vec![None; keys.len()];
    loop {
        if let Some((kind, line, left)) = error_line(rest)? {
            let begun = found.iter().any(Option::is_some);
            for (slot, answer) in told.iter_mut().zip(&found) {
                if !*each || answer.is_none() {
                    *slot = Some(Told::Fault(kind, None));
                }
            }
            // It takes the place of END, and of what was asked before it.
            let fate = if begun || behind {
                Fate::Close
            } else {
                fate_of(part, line)
            };
            return Ok((left, fate));
        }
        if one_of(rest, [&b"END\r\n"[..], b"VALUE "])? == 0 {
            let misses = told.iter_mut().zip(found);
            misses.for_each(|(slot, answer)| {
                let miss = || Told::Answer("None".to_owned());
                *slot = Some(answer.unwrap_or_else(miss));
            });
            return Ok((&rest[b"END\r\n".len()..], Fate::Keep));
        }
        let is_open = |key: &str| {
            let place = keys.iter().position(|asked| *asked == key);
            place.filter(|place| found[*place].is_none())
        };
        let (place, answer, left) = value(rest, *cas, *shows, is_open)?;
        if *each {
            told[place] = Some(answer.clone());
        }
        found[place] = Some(answer);
        rest = left;
    }
}

/// Place and answer of a whole value. `place` tells which key may have it.
fn value(
    bytes: &[u8],
    cas: bool,
    shows: Shows,
    place: impl Fn(&str) -> Option<usize>,
) -> Read<(usize, Told, &[u8])> {
    let (head, rest) = line(bytes)?;
    let words: Vec<&str> = head.split(' ').collect();
    let (key, flags, len, token) = match words[..] {
        ["VALUE", key, flags, len] if !cas => (key, flags, len, "0"),
        ["VALUE", key, flags, len, token] if cas => (key, flags, len, token),
        _ => return Err(Stop::Wrong),
    };
    let place = place(key).ok_or(Stop::Wrong)?;
    // Servers that keep flags as signed numbers write the upper half of them so.
    let flags = match flags.strip_prefix('-') {
        Some(digits) => {
            let number = Some(digits_of(digits)?).filter(|number| *number <= 1 << 31);
            (number.ok_or(Stop::Wrong)? as u32).wrapping_neg()
        }
        None => u32::try_from(digits_of(flags)?).map_err(|_| Stop::Wrong)?,
    };
    let len = Some(digits_of(len)?).filter(|len| *len <= MAX_VALUE);
    let len = len.ok_or(Stop::Wrong)? as usize;
    let token = digits_of(token)?;
    let body = rest.get(..len).ok_or(Stop::Short)?;
    match rest.get(len..len + 2) {
        Some(b"\r\n") => {}
        Some(_) => return Err(Stop::Wrong),
        None => return Err(Stop::Short),
    }
    let answer = match shows {
        // The lower half of the flags is that of the value's form: these values have none.
        Shows::Value | Shows::Item if flags & 0xffff != 0 => Told::Fault(ErrorKind::Decode, None),
        Shows::Value => Told::Answer(show(Some(String::from_utf8_lossy(body)))),
        Shows::Item | Shows::Raw => Told::Answer(show_item(body, flags, token)),
        Shows::Flags => Told::Answer(show_item(body, flags, 0)),
    };
    Ok((place, answer, &rest[len + 2..]))
}

fn number_or_miss(bytes: &[u8]) -> Read<(String, &[u8])> {
    const MISS: &[u8] = b"NOT_FOUND\r\n";
    if !bytes.first().is_some_and(u8::is_ascii_digit) {
        one_of(bytes, [MISS])?;
        return Ok(("None".to_owned(), &bytes[MISS.len()..]));
    }
    let (line, rest) = line(bytes)?;
    // The stored text may be longer than the number; the protocol's text lets a server send its padding.
    let number = digits_of(line.trim_end_matches(' '))?;
    Ok((show(Some(number)), rest))
}

fn stats<'b>(bytes: &'b [u8], told: &mut [Option<Told>]) -> Read<(&'b [u8], Fate)> {
    let mut stats: Vec<(String, String)> = Vec::new();
    let mut rest = bytes;
    loop {
        if let Some((kind, line, left)) = error_line(rest)? {
            told[0] = Some(Told::Fault(kind, None));
            let fate = if stats.is_empty() {
                fate_of(&Part::Stats, line)
            } else {
                Fate::Close
            };
            return Ok((left, fate));
        }
        // `stats reset` and `stats detail on` are answered by one of the last two.
        let ends = ["END\r\n", "RESET\r\n", "OK\r\n"];
        let heads = ["STAT ", ends[0], ends[1], ends[2]];
        let found = one_of(rest, heads.map(str::as_bytes))?;
        if found > 0 {
            told[0] = Some(Told::Answer(show(&stats)));
            return Ok((&rest[heads[found].len()..], Fate::Keep));
        }
        let (text, left) = line(rest)?;
        let text = text.strip_prefix("STAT ").ok_or(Stop::Wrong)?;
        let (name, value) = text.split_once(' ').unwrap_or((text, ""));
        if name.is_empty() {
            return Err(Stop::Wrong);
        }
        stats.push((name.to_owned(), value.to_owned()));
        rest = left;
    }
}

/// Kind, text and what is behind it, if the bytes are an error line.
fn error_line(bytes: &[u8]) -> Read<Option<(ErrorKind, &str, &[u8])>> {
    let heads = [
        (&b"ERROR\r\n"[..], ErrorKind::Client),
        // The server's own trouble.
        (b"ERROR Too many open connections\r\n", ErrorKind::Server),
        (b"CLIENT_ERROR ", ErrorKind::Client),
        (b"SERVER_ERROR ", ErrorKind::Server),
    ];
    for (head, kind) in heads {
        if bytes.starts_with(head) {
            let (text, rest) = line(bytes)?;
            return Ok(Some((kind, text, rest)));
        }
    }
    let may_become = |head: &[u8]| !bytes.is_empty() && head.starts_with(bytes);
    if heads.iter().any(|(head, _)| may_become(head)) {
        return Err(Stop::Short);
    }
    Ok(None)
}

/// What an error line leaves of the connection.
fn fate_of(part: &Part, line: &str) -> Fate {
    let measured: &[&str] = match part {
        Part::Values { .. } => &[
            "ERROR",
            "CLIENT_ERROR bad command line format",
            "CLIENT_ERROR invalid exptime argument",
            "SERVER_ERROR out of memory writing get response",
        ],
        Part::Number => &[
            "ERROR",
            "CLIENT_ERROR bad command line format",
            "CLIENT_ERROR cannot increment or decrement non-numeric value",
            "CLIENT_ERROR invalid numeric delta argument",
            "SERVER_ERROR out of memory",
        ],
        Part::Line(lines) => match lines.verb {
            // Whatever else a server says to a store, it may take the body for commands.
            Verb::Store => &[
                "SERVER_ERROR object too large for cache",
                "SERVER_ERROR out of memory storing object",
            ],
            Verb::Delete => &[
                "ERROR",
                "CLIENT_ERROR bad command line format",
                "CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]",
            ],
            Verb::Touch => &[
                "ERROR",
                "CLIENT_ERROR bad command line format",
                "CLIENT_ERROR invalid exptime argument",
            ],
            Verb::Flush => &[
                "ERROR",
                "CLIENT_ERROR invalid exptime argument",
                "CLIENT_ERROR flush_all not allowed",
            ],
            Verb::Verbosity => &["ERROR", "CLIENT_ERROR bad command line format"],
            Verb::Exists => &["CLIENT_ERROR bad command line format"],
        },
        Part::Version => &[],
        Part::Stats => &["ERROR"],
    };
    let store = matches!(part, Part::Line(lines) if lines.verb == Verb::Store);
    match line {
        line if measured.contains(&line) => Fate::Keep,
        // A command of one line that the server does not know leaves it in step; so do the texts of all subcommands.
        "ERROR" | "CLIENT_ERROR bad command line format" if !store => Fate::Either,
        line if matches!(part, Part::Stats) && line.starts_with("CLIENT_ERROR ") => Fate::Either,
        _ => Fate::Close,
    }
}

/// Which of the texts stands at the head.
fn one_of<'t>(bytes: &[u8], texts: impl IntoIterator<Item = &'t [u8]>) -> Read<usize> {
    let mut short = false;
    for (number, text) in texts.into_iter().enumerate() {
        if bytes.starts_with(text) {
            return Ok(number);
        }
        short |= text.starts_with(bytes);
    }
    // An error line has been looked for before; nothing yet may become everything.
    Err(if short { Stop::Short } else { Stop::Wrong })
}

fn line(bytes: &[u8]) -> Read<(&str, &[u8])> {
    let end = bytes.iter().position(|byte| *byte == b'\n');
    let end = end.ok_or(Stop::Short)?;
    let line = bytes[..end].strip_suffix(b"\r").ok_or(Stop::Wrong)?;
    let line = std::str::from_utf8(line).map_err(|_| Stop::Wrong)?;
    Ok((line, &bytes[end + 1..]))
}

/// A number of digits and nothing else, below 2^64.
fn digits_of(text: &str) -> Read<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|_| digits);
    number.ok_or(Stop::Wrong)
}
