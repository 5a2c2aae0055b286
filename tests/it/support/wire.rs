//! Requests and right replies as a server sees them: as little of the protocol as the scripted server needs.

/// The right answer to a command line. The value of a key is the key itself, but for keys that begin with `miss`.
pub(crate) fn answer(line: &str) -> Vec<u8> {
    let words: Vec<&str> = line.split(' ').collect();
    let value = |key: &&str, cas: &str| format!("VALUE {key} 0 {}{cas}\r\n{key}\r\n", key.len());
    let values = |keys: &[&str], cas: &str| {
        let found = keys.iter().filter(|key| !key.starts_with("miss"));
        found.map(|key| value(key, cas)).collect::<String>() + "END\r\n"
    };
    let text = match words[..] {
        ["get", ref keys @ ..] => values(keys, ""),
        ["gets", ref keys @ ..] => values(keys, " 1"),
        ["gat", _, ref keys @ ..] => values(keys, ""),
        ["gats", _, ref keys @ ..] => values(keys, " 1"),
        ["mg", _] => "HD\r\n".into(),
        ["set" | "add" | "replace" | "append" | "prepend" | "cas", ..] => "STORED\r\n".into(),
        ["delete", ..] => "DELETED\r\n".into(),
        ["touch", ..] => "TOUCHED\r\n".into(),
        ["incr" | "decr", _, delta] => format!("{delta}\r\n"),
        ["version"] => "VERSION 1.6.18\r\n".into(),
        ["stats"] => "STAT pid 1\r\nEND\r\n".into(),
        ["flush_all"] | ["verbosity", _] => "OK\r\n".into(),
        _ => "ERROR\r\n".into(),
    };
    text.into_bytes()
}

/// The first line, without its end: keys need not be UTF-8.
pub(super) fn line_of(bytes: &[u8]) -> Option<String> {
    let end = line_len(bytes)?;
    Some(String::from_utf8_lossy(&bytes[..end]).into_owned())
}

fn line_len(bytes: &[u8]) -> Option<usize> {
    bytes.windows(2).position(|pair| pair == b"\r\n")
}

/// The length of the request at the head of these bytes, if it is there as a whole.
pub(super) fn request_len(bytes: &[u8]) -> Option<usize> {
    let line = line_of(bytes)?;
    let words: Vec<&str> = line.split(' ').collect();
    let body = match words[..] {
        [
            "set" | "add" | "replace" | "append" | "prepend" | "cas",
            _,
            _,
            _,
            len,
            ..,
        ] => len.parse::<usize>().ok()? + 2,
        _ => 0,
    };
    let len = line_len(bytes)? + 2 + body;
    (bytes.len() >= len).then_some(len)
}
