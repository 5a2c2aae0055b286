//! Bytes as text of one line, and as hex digits. It does not know what they mean.

use std::fmt::Write;

/// The text, with `\n`, `\t`, `\r`, `\\`, `\x..` and `\u{..}` for what would break the line or is no UTF-8.
pub(crate) fn line(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' => text.push_str(r"\\"),
                '\n' => text.push_str(r"\n"),
                '\r' => text.push_str(r"\r"),
                '\t' => text.push_str(r"\t"),
                '\0'..='\x7f' if c.is_control() => push_byte(&mut text, c as u8),
                c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => {
                    text.extend(c.escape_unicode());
                }
                c => text.push(c),
            }
        }
        for byte in chunk.invalid() {
            push_byte(&mut text, *byte);
        }
    }
    text
}

/// Two lower-case digits for each byte.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// The bytes of hex digits in either case, blanks between them left out. `None` if that is not what they are.
pub(crate) fn unhex(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 2);
    let mut high = None;
    for byte in text.iter().filter(|byte| !byte.is_ascii_whitespace()) {
        let digit = char::from(*byte).to_digit(16)? as u8;
        high = match high {
            None => Some(digit),
            Some(high) => {
                bytes.push(high << 4 | digit);
                None
            }
        };
    }
    high.is_none().then_some(bytes)
}

fn push_byte(text: &mut String, byte: u8) {
    let _ = write!(text, "\\x{byte:02x}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_breaks_the_line() {
        for (bytes, text) in [
            (&b"plain"[..], "plain"),
            ("한글 é".as_bytes(), "한글 é"),
            (b"a\\b\n\t\r\0\x7f", r"a\\b\n\t\r\x00\x7f"),
            (b"\xff\xc3(", r"\xff\xc3("),
            ("\u{85}\u{2028}".as_bytes(), r"\u{85}\u{2028}"),
        ] {
            assert_eq!(line(bytes), text);
        }
    }

    #[test]
    fn hex_goes_both_ways() {
        assert_eq!(hex(b"\x00\xAb\x7f"), "00ab7f");
        assert_eq!(unhex(b"00 aB\n7f\n").unwrap(), b"\x00\xab\x7f");
        assert_eq!(unhex(b"").unwrap(), b"");
        assert_eq!(unhex(b"0"), None);
        assert_eq!(unhex(b"0x00"), None);
    }
}
