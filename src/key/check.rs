//! What a server can take for a key. It knows no rule that changes one.

use super::MAX_KEY_LEN;
use crate::error::{Error, Result};

/// The one check of a key. Bytes over 0x7f are fine: the server takes them, and so do most clients.
pub(crate) fn check(key: &[u8]) -> Result<()> {
    if (1..=MAX_KEY_LEN).contains(&key.len()) && !has_forbidden(key) {
        return Ok(());
    }
    Err(reason(key))
}

/// What cannot stand in a key: it would end the key, or the line, on the wire.
fn is_forbidden(byte: u8) -> bool {
    byte <= b' ' || byte == 0x7f
}

fn has_forbidden(key: &[u8]) -> bool {
    let Some(last) = key.last_chunk() else {
        return key.iter().any(|byte| is_forbidden(*byte));
    };
    // Eight bytes at a time; the last eight overlap those before.
    let mut found = forbidden_in(*last);
    let mut rest = key;
    while let Some((word, behind)) = rest.split_first_chunk() {
        found |= forbidden_in(*word);
        rest = behind;
    }
    found != 0
}

/// Not 0 if one of eight bytes is forbidden. Only a byte below 0x21 borrows into its highest bit when 0x21 is taken from all
/// of them; 0x7f is the one that does so for 1, once its bits are turned over.
#[inline]
fn forbidden_in(bytes: [u8; 8]) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    let bytes = u64::from_ne_bytes(bytes);
    let low = bytes.wrapping_sub(ONES * 0x21) & !bytes;
    let others = bytes ^ (ONES * 0x7f);
    let delete = others.wrapping_sub(ONES) & !others;
    (low | delete) & (ONES * 0x80)
}

#[cold]
fn reason(key: &[u8]) -> Error {
    if key.is_empty() {
        return Error::key("the key is empty");
    }
    if key.len() > MAX_KEY_LEN {
        return too_long(key.len());
    }
    let forbidden = key
        .iter()
        .enumerate()
        .find(|(_, byte)| is_forbidden(**byte));
    let (at, byte) = forbidden.map_or((0, 0), |(at, byte)| (at, *byte));
    Error::key(format!(
        "a key of {} bytes has the byte {byte:#04x} at {at}: blanks and control bytes cannot stand in a key",
        key.len()
    ))
}

pub(super) fn too_long(len: usize) -> Error {
    Error::key(format!(
        "a key of {len} bytes, its prefix included: at most {MAX_KEY_LEN} are allowed"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every byte at every place of keys of every length up to three words.
    #[test]
    fn one_forbidden_byte_anywhere_is_found() {
        for (len, filling) in (1..=24).flat_map(|len| b"k!~\x80\xff".map(|byte| (len, byte))) {
            for at in 0..len {
                for byte in 0..=u8::MAX {
                    let mut key = vec![filling; len];
                    key[at] = byte;
                    let forbidden = byte <= b' ' || byte == 0x7f;
                    assert_eq!(
                        check(&key).is_err(),
                        forbidden,
                        "{byte:#04x} at {at} of {len}"
                    );
                }
            }
        }
    }
}
