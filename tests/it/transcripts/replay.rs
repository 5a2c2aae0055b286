//! Sends what was sent and compares what comes back: byte by byte, but for cas tokens, times and what is left of them.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::record::Row;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(3);

/// How long a connection is watched where no answer is due.
const QUIET: Duration = Duration::from_millis(15);

/// What rows take for granted: they build on rows that were not kept.
const BEFORE: &[(&str, &str)] = &[
    ("meta:mg_noflags", "set a 5 100 3\r\nabc\r\n"),
    ("prepend_ok", "append a 0 0 1\r\nd\r\n"),
    ("key_nul", "set n 0 0 1\r\nx\r\n"),
    ("incr_delta_max", "set i 0 0 19\r\n9223372036854775815\r\n"),
    ("incr_chunked", "set m1 0 0 1000000\r\n"),
    ("pipeline_noreply_error", "set pa 0 0 1\r\nA\r\n"),
];

/// Rows with a step that was sent after a while only: the row, the number of the step, the while.
const PAUSES: &[(&str, usize, Duration)] = &[
    ("flush_all_future_then_set", 2, Duration::from_millis(2500)),
    // A crawler that was disabled just before ends a little later, and only then can another start.
    ("lru_crawler enable", 0, Duration::from_secs(1)),
];

/// The time that the row `exptime_now+100` sends.
const RECORDED_TIME: &str = "1795997905";

/// The cas tokens of the record, and what they are this time.
type Tokens = HashMap<String, String>;

/// Replays the rows in their order, those of the meta commands against the second server: so they were recorded.
/// The rows that were answered otherwise, and how.
pub(super) fn replay(rows: &[Row], servers: [&str; 2]) -> Vec<String> {
    let mut tokens = [Tokens::new(), Tokens::new()];
    let mut failed = Vec::new();
    for row in rows {
        let meta = usize::from(row.name.starts_with("meta:"));
        for (_, before) in BEFORE.iter().filter(|(name, _)| *name == row.name) {
            let mut stream = connect(servers[meta]);
            stream.write_all(before.as_bytes()).unwrap();
            if row.name == "incr_chunked" {
                stream.write_all(&[b'1'; 1_000_000]).unwrap();
                stream.write_all(b"\r\n").unwrap();
            }
            receive(&mut stream, b"STORED\r\n", &mut tokens[meta]).unwrap();
        }
        if let Err(why) = replay_row(row, servers[meta], &mut tokens[meta]) {
            failed.push(format!("{}: {why}", row.name));
        }
    }
    failed
}

fn replay_row(row: &Row, server: &str, tokens: &mut Tokens) -> Result<(), String> {
    let mut stream = connect(server);
    for (at, step) in row.steps.iter().enumerate() {
        for (name, before, pause) in PAUSES {
            if *name == row.name && *before == at {
                std::thread::sleep(*pause);
            }
        }
        let sent = stream.write_all(&adapted(&step.send, tokens));
        if !row.closes {
            sent.map_err(|error| error.to_string())?;
        }
        receive(&mut stream, &step.recv, tokens)?;
    }
    // An answered probe shows that the connection is open, in step and quiet.
    if !row.closes && row.steps.last().is_some_and(|step| step.recv == b"MN\r\n") {
        return Ok(());
    }
    let patience = if row.closes { PATIENCE } else { QUIET };
    stream.set_read_timeout(Some(patience)).unwrap();
    let end = match stream.read(&mut [0; 512]) {
        Ok(0) => true,
        Ok(more) => return Err(format!("{more} bytes more")),
        Err(error) => {
            error.kind() != io::ErrorKind::WouldBlock && error.kind() != io::ErrorKind::TimedOut
        }
    };
    if end == row.closes {
        Ok(())
    } else {
        Err(format!("closes: {end}"))
    }
}

fn connect(server: &str) -> TcpStream {
    let stream = TcpStream::connect(server).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

/// Reads as many lines as were recorded and compares them; where nothing was recorded nothing may come for a while.
fn receive(stream: &mut TcpStream, recorded: &[u8], tokens: &mut Tokens) -> Result<(), String> {
    let lines = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count();
    let patience = if recorded.is_empty() { QUIET } else { PATIENCE };
    stream.set_read_timeout(Some(patience)).unwrap();
    let mut missing = lines(recorded);
    let mut received = Vec::new();
    let mut buffer = vec![0; 1 << 16];
    while missing > 0 || recorded.is_empty() {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => {
                missing = missing.saturating_sub(lines(&buffer[..count]));
                received.extend_from_slice(&buffer[..count]);
            }
            Err(_) => break,
        }
    }
    if alike(recorded, &received, tokens) {
        return Ok(());
    }
    let shown = |bytes: &[u8]| bytes[..bytes.len().min(200)].escape_ascii().to_string();
    Err(format!(
        "{} instead of {}",
        shown(&received),
        shown(recorded)
    ))
}

/// The cas token and the time of the record are put in terms of today.
fn adapted(send: &[u8], tokens: &Tokens) -> Vec<u8> {
    let Ok(text) = std::str::from_utf8(send) else {
        return send.to_vec();
    };
    let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
    let is_cas = line.starts_with("cas ");
    let is_meta = line.starts_with("ms ") || line.starts_with("md ");
    if !is_cas && !is_meta && !line.contains(RECORDED_TIME) {
        return send.to_vec();
    }
    let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    for (at, word) in words.iter_mut().enumerate() {
        let (sign, number) = word
            .trim_end()
            .split_at(usize::from(is_meta && word.starts_with('C')));
        let is_token = (is_cas && at == 5) || !sign.is_empty();
        if let (true, Some(token)) = (is_token, tokens.get(number)) {
            *word = format!("{sign}{token}{}", &word[word.trim_end().len()..]);
        }
        if *word == RECORDED_TIME {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
            *word = (now.as_secs() + 100).to_string();
        }
    }
    let end = if text.contains('\n') { "\n" } else { "" };
    format!("{}{end}{rest}", words.join(" ")).into_bytes()
}

fn alike(recorded: &[u8], received: &[u8], tokens: &mut Tokens) -> bool {
    let lines = |bytes| {
        String::from_utf8_lossy(bytes)
            .split('\n')
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    if recorded == received {
        return true;
    }
    let (recorded, received) = (lines(recorded), lines(received));
    recorded.len() == received.len()
        && recorded
            .iter()
            .zip(&received)
            .all(|(recorded, received)| line_alike(recorded, received, tokens))
}

fn line_alike(recorded: &str, received: &str, tokens: &mut Tokens) -> bool {
    let (old, new): (Vec<&str>, Vec<&str>) =
        (recorded.split(' ').collect(), received.split(' ').collect());
    let is_value = old[0] == "VALUE" && old.len() == 5;
    let is_meta = ["HD", "VA", "EX", "NF"].contains(&old[0].trim_end());
    old.len() == new.len()
        && old.iter().zip(&new).enumerate().all(|(at, (old, new))| {
            let (old, new) = (old.trim_end(), new.trim_end());
            let cut = |word: &str| (word[..1].to_owned(), word[1..].parse::<i64>().ok());
            match (
                is_value && at == 4,
                is_meta && at > 0 && !old.is_empty() && !new.is_empty(),
            ) {
                _ if old == new && !(is_value && at == 4) => true,
                (true, _) => token_alike(old, new, tokens),
                (_, true) => match (cut(old), cut(new)) {
                    ((flag, Some(_)), (same, Some(_))) if flag == same && flag == "c" => {
                        token_alike(&old[1..], &new[1..], tokens)
                    }
                    ((flag, Some(old)), (same, Some(new)))
                        if flag == same && (flag == "t" || flag == "l") =>
                    {
                        (old - new).abs() <= 2
                    }
                    _ => false,
                },
                _ => false,
            }
        })
}

/// A token is the same this time wherever it was the same in the record.
fn token_alike(old: &str, new: &str, tokens: &mut Tokens) -> bool {
    new.bytes().all(|byte| byte.is_ascii_digit())
        && tokens
            .entry(old.to_owned())
            .or_insert_with(|| new.to_owned())
            == new
}
