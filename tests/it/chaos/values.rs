//! Values that name their key, so that one which comes back for another key, or cut, shows at once.

use super::history::Content;

/// A part of a text: its key, its number, and as many bytes as the number says.
pub(super) fn part(key: &str, number: u32) -> Vec<u8> {
    let len = len(number);
    let mut part = format!("[{key} {number} {len} ").into_bytes();
    part.resize(part.len() + len, letter(number));
    part.push(b']');
    part
}

/// Mostly small; some longer than a body that is copied, and some than the buffer of a connection.
fn len(number: u32) -> usize {
    match number % 23 {
        0 => 9 * 1024,
        7 => 20 * 1024,
        other => other as usize * 3,
    }
}

fn letter(number: u32) -> u8 {
    b'a' + (number % 26) as u8
}

/// What to store for a content.
pub(super) fn bytes(key: &str, content: &Content) -> Vec<u8> {
    match content {
        Content::Absent => Vec::new(),
        Content::Parts(parts) => parts.iter().flat_map(|number| part(key, *number)).collect(),
        Content::Number(number) => number.to_string().into_bytes(),
    }
}

/// What was found under a key, or why it cannot have been stored there.
pub(super) fn read(key: &str, found: &[u8]) -> Result<Content, String> {
    let wrong = || {
        let start = String::from_utf8_lossy(&found[..found.len().min(80)]);
        format!("{key} has {} bytes: {start}", found.len())
    };
    if found.first() != Some(&b'[') {
        // The server pads a number that has become shorter.
        let digits = std::str::from_utf8(found.trim_ascii_end()).map_err(|_| wrong())?;
        return digits.parse().map(Content::Number).map_err(|_| wrong());
    }
    let mut parts = Vec::new();
    let mut rest = found;
    while !rest.is_empty() {
        let head = rest.splitn(4, |byte| *byte == b' ').nth(1);
        let number = head.and_then(|head| std::str::from_utf8(head).ok()?.parse().ok());
        let number = number.ok_or_else(wrong)?;
        rest = rest
            .strip_prefix(&part(key, number)[..])
            .ok_or_else(wrong)?;
        parts.push(number);
    }
    Ok(Content::Parts(parts))
}

#[test]
fn a_value_of_another_key_or_cut_is_none() {
    let content = Content::Parts(vec![3, 23, 1]);
    let stored = bytes("k1", &content);
    assert_eq!(read("k1", &stored), Ok(content));
    assert!(read("k2", &stored).is_err());
    assert!(read("k1", &stored[..stored.len() - 1]).is_err());
    assert!(read("k1", &stored[1..]).is_err());
    assert!(read("k1", b"").is_err());
    assert_eq!(read("k1", b"12 "), Ok(Content::Number(12)));
}
