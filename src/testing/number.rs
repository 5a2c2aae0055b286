//! Numbers as memcached reads them, that is as C's `strtol` does. It knows nothing of commands.

/// An unsigned number: blanks before it, a `+`, and anything after a blank behind it are borne; a `-` is not.
///
/// ```text
/// "5" "+5" "\t5" "5 x" -> 5        "-5" "5x" "" "18446744073709551616" -> none
/// ```
pub(super) fn unsigned(text: &[u8]) -> Option<u64> {
    let (negative, digits) = parts(text)?;
    if negative {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// A signed number, of which the server keeps the low 32 bits: 2^31 is negative, 2^32 is 0.
pub(super) fn signed(text: &[u8]) -> Option<i32> {
    let (negative, digits) = parts(text)?;
    let number: i64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    Some(if negative { -number } else { number } as i32)
}

/// Whether there is a `-`, and the digits.
fn parts(text: &[u8]) -> Option<(bool, &[u8])> {
    let is_space = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0x0b;
    let start = text.iter().position(|byte| !is_space(byte))?;
    let (negative, rest) = match text.get(start..)? {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let end = rest
        .iter()
        .position(|byte| !byte.is_ascii_digit())
        .unwrap_or(rest.len());
    let (digits, behind) = rest.split_at(end);
    let ended = behind
        .first()
        .is_none_or(|byte| is_space(byte) || *byte == 0);
    (ended && !digits.is_empty()).then_some((negative, digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_strtol_reads() {
        for (text, number, same) in [
            ("5", Some(5), Some(5)),
            ("+5", Some(5), Some(5)),
            ("\t5", Some(5), Some(5)),
            ("5 x", Some(5), Some(5)),
            ("007", Some(7), Some(7)),
            ("4294967297", Some(4_294_967_297), Some(1)),
            ("2147483648", Some(1 << 31), Some(i32::MIN)),
            ("-1", None, Some(-1)),
            ("5x", None, None),
            ("", None, None),
            (" ", None, None),
            ("-", None, None),
            ("+-5", None, None),
            ("18446744073709551615", Some(u64::MAX), None),
            ("18446744073709551616", None, None),
        ] {
            assert_eq!(unsigned(text.as_bytes()), number, "{text:?}");
            assert_eq!(signed(text.as_bytes()), same, "{text:?}");
        }
    }
}
