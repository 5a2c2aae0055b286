//! The usual reply to `get`, when it has come whole, in one look. It leaves everything else to the decoder.

use crate::protocol::ValueHead;

/// So many digits cannot overflow.
const SAFE_DIGITS: usize = 19;

/// What nearly every reply to one key is: its value, whole, with the end behind it and nothing more. `None` says nothing
/// about the bytes: [`decode`](super::decode()) reads them then, part by part.
#[inline]
pub(crate) fn whole_hit<'b>(
    reply: &'b [u8],
    key: &[u8],
    cas: bool,
) -> Option<(ValueHead, &'b [u8])> {
    match whole_value(reply, key, cas)? {
        (head, body, b"END\r\n") => Some((head, body)),
        _ => None,
    }
}

/// The value of `key`, if the bytes begin with it and its body is whole, and what stands behind it. `None` says nothing
/// about the bytes: [`decode`](super::decode()) reads them then, part by part.
#[inline]
pub(crate) fn whole_value<'b>(
    bytes: &'b [u8],
    key: &[u8],
    cas: bool,
) -> Option<(ValueHead, &'b [u8], &'b [u8])> {
    let rest = bytes.strip_prefix(b"VALUE ")?.strip_prefix(key)?;
    let (flags, rest) = blank_and_number(rest)?;
    let (len, rest) = blank_and_number(rest)?;
    let (cas, rest) = if cas {
        let (cas, rest) = blank_and_number(rest)?;
        (Some(cas), rest)
    } else {
        (None, rest)
    };
    let head = ValueHead {
        flags: u32::try_from(flags).ok()?,
        len: usize::try_from(len).ok()?,
        cas,
    };
    let (body, rest) = rest.strip_prefix(b"\r\n")?.split_at_checked(head.len)?;
    Some((head, body, rest.strip_prefix(b"\r\n")?))
}

/// A number of so few digits that it cannot overflow.
#[inline]
fn blank_and_number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let digits = bytes.strip_prefix(b" ")?;
    let mut number: u64 = 0;
    let mut len = 0;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        number = number.wrapping_mul(10).wrapping_add(digit.into());
        len += 1;
    }
    (1..=SAFE_DIGITS)
        .contains(&len)
        .then(|| (number, &digits[len..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::text::decode;
    use crate::protocol::{Decoded, Expect, Reply};

    const HIT: &[u8] = b"VALUE key 7 5\r\nhello\r\nEND\r\n";

    #[test]
    fn a_whole_hit_is_what_the_decoder_reads() {
        for (reply, cas) in [
            (HIT, false),
            (b"VALUE key 0 0\r\n\r\nEND\r\n", false),
            (b"VALUE key 4294967295 2 1\r\n\r\n\r\nEND\r\n", true),
            (b"VALUE key 1 1 9999999999999999999\r\nx\r\nEND\r\n", true),
        ] {
            let (head, body) = whole_hit(reply, b"key", cas).unwrap();
            let Ok(Decoded::Reply { reply: part, used }) = decode(Expect::Values { cas }, reply)
            else {
                panic!("no value")
            };
            let (flags, len) = (head.flags, head.len);
            let key = b"key".as_slice();
            let cas = head.cas;
            assert_eq!(
                part,
                Reply::Value {
                    key,
                    flags,
                    len,
                    cas
                }
            );
            assert_eq!(body, &reply[used..used + len]);
        }
    }

    #[test]
    fn a_value_leaves_what_stands_behind_it() {
        let two = b"VALUE a 0 1\r\nx\r\nVALUE b 0 1\r\ny\r\nEND\r\n";
        let (_, body, rest) = whole_value(two, b"a", false).unwrap();
        assert_eq!(body, b"x");
        assert_eq!(whole_hit(rest, b"b", false).unwrap().1, b"y");
        assert_eq!(whole_hit(two, b"a", false), None);
    }

    #[test]
    fn all_else_is_left_to_the_decoder() {
        for len in 0..HIT.len() {
            assert_eq!(whole_hit(&HIT[..len], b"key", false), None, "{len} bytes");
        }
        for other in [
            &b"END\r\n"[..],
            b"ERROR\r\n",
            b"VALUE kex 7 5\r\nhello\r\nEND\r\n",
            b"VALUE keys 7 5\r\nhello\r\nEND\r\n",
            b"VALUE key -7 5\r\nhello\r\nEND\r\n",
            b"VALUE key 4294967296 5\r\nhello\r\nEND\r\n",
            b"VALUE key 7 00000000000000000005\r\nhello\r\nEND\r\n",
            b"VALUE key 7 18446744073709551615\r\nhello\r\nEND\r\n",
            b"VALUE key 7 5 1\r\nhello\r\nEND\r\n",
            b"VALUE key 7  5\r\nhello\r\nEND\r\n",
            b"VALUE key 7 5\nhello\r\nEND\r\n",
            b"VALUE key 7 4\r\nhello\r\nEND\r\n",
            b"VALUE key 7 5\r\nhello\r\nEND\r\nEND\r\n",
            b"VALUE key 7 5\r\nhello\r\nERROR\r\n",
        ] {
            assert_eq!(whole_hit(other, b"key", false), None, "{other:?}");
        }
        assert_eq!(whole_hit(HIT, b"key", true), None);
    }
}
