//! Commands to bytes. It trusts its caller: keys and arguments were checked before they came here.

use crate::protocol::{ArithVerb, Request, StoreVerb};

/// The longest number: `u64::MAX`.
const MAX_DIGITS: usize = 20;

/// Appends the command line. The body of a store and its CRLF are the sender's to add.
pub(crate) fn encode(request: &Request<'_>, out: &mut Vec<u8>) {
    match *request {
        Request::Get { key, cas } => {
            out.extend_from_slice(if cas { b"gets " } else { b"get " });
            out.extend_from_slice(key);
        }
        Request::GetAndTouch { key, exptime, cas } => {
            out.extend_from_slice(if cas { b"gats" } else { b"gat" });
            push_exptime(out, exptime);
            push_token(out, key);
        }
        Request::Store {
            verb,
            key,
            flags,
            exptime,
            len,
        } => {
            out.extend_from_slice(match verb {
                StoreVerb::Set => b"set ",
                StoreVerb::Add => b"add ",
                StoreVerb::Replace => b"replace ",
                StoreVerb::Append => b"append ",
                StoreVerb::Prepend => b"prepend ",
                StoreVerb::Cas(_) => b"cas ",
            });
            out.extend_from_slice(key);
            push_number(out, flags.into());
            push_exptime(out, exptime);
            push_number(out, len as u64);
            if let StoreVerb::Cas(token) = verb {
                push_number(out, token);
            }
        }
        Request::Delete { key } => {
            out.extend_from_slice(b"delete ");
            out.extend_from_slice(key);
        }
        Request::Touch { key, exptime } => {
            out.extend_from_slice(b"touch ");
            out.extend_from_slice(key);
            push_exptime(out, exptime);
        }
        Request::Arith { verb, key, delta } => {
            out.extend_from_slice(match verb {
                ArithVerb::Incr => b"incr ",
                ArithVerb::Decr => b"decr ",
            });
            out.extend_from_slice(key);
            push_number(out, delta);
        }
        Request::Exists { key } => {
            out.extend_from_slice(b"mg ");
            out.extend_from_slice(key);
        }
        Request::FlushAll { delay } => {
            out.extend_from_slice(b"flush_all");
            if let Some(delay) = delay {
                push_number(out, delay.into());
            }
        }
        Request::Version => out.extend_from_slice(b"version"),
        Request::Stats { argument } => {
            out.extend_from_slice(b"stats");
            if let Some(argument) = argument {
                push_token(out, argument.as_bytes());
            }
        }
        Request::Verbosity { level } => {
            out.extend_from_slice(b"verbosity");
            push_number(out, level.into());
        }
    }
    out.extend_from_slice(b"\r\n");
}

/// Appends one `get`, or with `cas` one `gets`, of all the keys, of which there is at least one.
///
/// `get` and `gets` are the only lines that may be longer than 2,048 bytes (memcached `proto_text.c`, `try_read_command_ascii`).
pub(crate) fn encode_get_multi<'k>(
    keys: impl Iterator<Item = &'k [u8]>,
    cas: bool,
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(if cas { b"gets" } else { b"get" });
    for key in keys {
        push_token(out, key);
    }
    out.extend_from_slice(b"\r\n");
}

fn push_token(out: &mut Vec<u8>, token: &[u8]) {
    out.push(b' ');
    out.extend_from_slice(token);
}

fn push_number(out: &mut Vec<u8>, number: u64) {
    push_digits(out, b" ", number);
}

fn push_exptime(out: &mut Vec<u8>, exptime: i32) {
    let sign: &[u8] = if exptime < 0 { b" -" } else { b" " };
    push_digits(out, sign, exptime.unsigned_abs().into());
}

/// Appends `before`, of two bytes at most, and the digits of a number, in one piece.
#[inline]
fn push_digits(out: &mut Vec<u8>, before: &[u8], mut number: u64) {
    let mut text = [0; MAX_DIGITS + 2];
    let mut first = text.len();
    loop {
        first -= 1;
        text[first] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    for byte in before.iter().rev() {
        first -= 1;
        text[first] = *byte;
    }
    out.extend_from_slice(&text[first..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(request: Request<'_>) -> String {
        let mut out = b"before|".to_vec();
        encode(&request, &mut out);
        String::from_utf8(out.split_off(b"before|".len())).unwrap()
    }

    fn store(verb: StoreVerb, flags: u32, exptime: i32, len: usize) -> String {
        line(Request::Store {
            verb,
            key: b"k",
            flags,
            exptime,
            len,
        })
    }

    #[test]
    fn every_command_has_its_line() {
        let key: &[u8] = b"k";
        let arith = |verb, delta| line(Request::Arith { verb, key, delta });
        for (made, right) in [
            (line(Request::Get { key, cas: false }), "get k\r\n"),
            (line(Request::Get { key, cas: true }), "gets k\r\n"),
            (
                line(Request::GetAndTouch {
                    key,
                    exptime: 90,
                    cas: false,
                }),
                "gat 90 k\r\n",
            ),
            (
                line(Request::GetAndTouch {
                    key,
                    exptime: -1,
                    cas: true,
                }),
                "gats -1 k\r\n",
            ),
            (store(StoreVerb::Set, 0, 0, 0), "set k 0 0 0\r\n"),
            (
                store(StoreVerb::Add, u32::MAX, i32::MAX, 1_048_576),
                "add k 4294967295 2147483647 1048576\r\n",
            ),
            (
                store(StoreVerb::Replace, 1, i32::MIN, 10),
                "replace k 1 -2147483648 10\r\n",
            ),
            (store(StoreVerb::Append, 0, 0, 9), "append k 0 0 9\r\n"),
            (store(StoreVerb::Prepend, 0, 0, 99), "prepend k 0 0 99\r\n"),
            (
                store(StoreVerb::Cas(u64::MAX), 32, -1, 100),
                "cas k 32 -1 100 18446744073709551615\r\n",
            ),
            (line(Request::Delete { key }), "delete k\r\n"),
            (line(Request::Touch { key, exptime: 0 }), "touch k 0\r\n"),
            (arith(ArithVerb::Incr, 1), "incr k 1\r\n"),
            (
                arith(ArithVerb::Decr, u64::MAX),
                "decr k 18446744073709551615\r\n",
            ),
            (line(Request::Exists { key }), "mg k\r\n"),
            (line(Request::FlushAll { delay: None }), "flush_all\r\n"),
            (
                line(Request::FlushAll { delay: Some(0) }),
                "flush_all 0\r\n",
            ),
            (line(Request::Version), "version\r\n"),
            (line(Request::Stats { argument: None }), "stats\r\n"),
            (
                line(Request::Stats {
                    argument: Some("cachedump 1 100"),
                }),
                "stats cachedump 1 100\r\n",
            ),
            (line(Request::Verbosity { level: 2 }), "verbosity 2\r\n"),
        ] {
            assert_eq!(made, right);
        }
    }

    #[test]
    fn many_keys_make_one_line() {
        let keys: [&[u8]; 3] = [b"a", b"bb", b"a"];
        let mut out = Vec::new();
        encode_get_multi(keys.into_iter(), false, &mut out);
        encode_get_multi(keys.into_iter().take(1), true, &mut out);
        assert_eq!(out, b"get a bb a\r\ngets a\r\n");
    }

    #[test]
    fn numbers_are_those_of_the_standard_library() {
        let mut powers: Vec<u64> = (0..20).map(|digits| 10_u64.pow(digits)).collect();
        powers.extend((0..20).map(|digits| 10_u64.pow(digits) - 1));
        powers.extend([u64::MAX, u64::from(u32::MAX)]);
        for number in powers {
            let mut out = Vec::new();
            push_digits(&mut out, b"", number);
            assert_eq!(out, number.to_string().as_bytes());
        }
    }
}
