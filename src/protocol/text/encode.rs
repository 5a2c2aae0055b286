//! Commands to bytes. It trusts its caller: keys and arguments were checked before they came here.

use crate::protocol::{ArithVerb, Request, StoreVerb};

/// Appends the command line. The body of a store and its CRLF are the sender's to add.
// Inlined, the choice is made when the caller is compiled.
#[inline]
pub(crate) fn encode(request: &Request<'_>, out: &mut Vec<u8>) {
    match *request {
        Request::Get { key, cas: false } => get(out, key),
        Request::Store {
            verb,
            key,
            flags,
            exptime,
            len,
        } => store(out, verb, key, flags, exptime, len),
        ref other => encode_other(other, out),
    }
}

#[inline]
fn get(out: &mut Vec<u8>, key: &[u8]) {
    out.extend_from_slice(b"get ");
    out.extend_from_slice(key);
    out.extend_from_slice(b"\r\n");
}

#[inline]
fn store(out: &mut Vec<u8>, verb: StoreVerb, key: &[u8], flags: u32, exptime: i32, len: usize) {
    match verb {
        StoreVerb::Set => out.extend_from_slice(b"set "),
        StoreVerb::Add => out.extend_from_slice(b"add "),
        StoreVerb::Replace => out.extend_from_slice(b"replace "),
        StoreVerb::Append => out.extend_from_slice(b"append "),
        StoreVerb::Prepend => out.extend_from_slice(b"prepend "),
        StoreVerb::Cas(_) => out.extend_from_slice(b"cas "),
    }
    out.extend_from_slice(key);
    push_last_numbers(out, |numbers| {
        if let StoreVerb::Cas(token) = verb {
            numbers.number(token);
        }
        numbers.number(len as u64);
        numbers.exptime(exptime);
        numbers.number(flags.into());
    });
}

fn encode_other(request: &Request<'_>, out: &mut Vec<u8>) {
    match *request {
        Request::Get { key, cas } => {
            out.extend_from_slice(if cas { b"gets " } else { b"get " });
            out.extend_from_slice(key);
        }
        Request::GetAndTouch { key, exptime, cas } => {
            out.extend_from_slice(if cas { b"gats" } else { b"gat" });
            push_numbers(out, |numbers| numbers.exptime(exptime));
            push_token(out, key);
        }
        Request::Store { .. } => {}
        Request::Delete { key } => {
            out.extend_from_slice(b"delete ");
            out.extend_from_slice(key);
        }
        Request::Touch { key, exptime } => {
            out.extend_from_slice(b"touch ");
            out.extend_from_slice(key);
            push_numbers(out, |numbers| numbers.exptime(exptime));
        }
        Request::Arith { verb, key, delta } => {
            match verb {
                ArithVerb::Incr => out.extend_from_slice(b"incr "),
                ArithVerb::Decr => out.extend_from_slice(b"decr "),
            }
            out.extend_from_slice(key);
            push_numbers(out, |numbers| numbers.number(delta));
        }
        Request::Exists { key } => {
            out.extend_from_slice(b"mg ");
            out.extend_from_slice(key);
        }
        Request::FlushAll { delay } => {
            out.extend_from_slice(b"flush_all");
            if let Some(delay) = delay {
                push_numbers(out, |numbers| numbers.number(delay.into()));
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
            push_numbers(out, |numbers| numbers.number(level.into()));
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

#[inline]
fn push_token(out: &mut Vec<u8>, token: &[u8]) {
    out.push(b' ');
    out.extend_from_slice(token);
}

/// Appends the numbers that `put` puts down, the last one first.
#[inline]
fn push_numbers(out: &mut Vec<u8>, put: impl FnOnce(&mut Numbers)) {
    let mut numbers = Numbers {
        text: [0; Numbers::ROOM],
        from: Numbers::ROOM,
    };
    put(&mut numbers);
    out.extend_from_slice(&numbers.text[numbers.from..]);
}

/// The same, and the end of the line behind them.
#[inline]
fn push_last_numbers(out: &mut Vec<u8>, put: impl FnOnce(&mut Numbers)) {
    let mut numbers = Numbers {
        text: [0; Numbers::ROOM],
        from: Numbers::ROOM,
    };
    numbers.pair(*b"\r\n");
    put(&mut numbers);
    out.extend_from_slice(&numbers.text[numbers.from..]);
}

/// The numbers of a command line, each with a blank before it. They are put down from the last to the first, because digits come
/// from the right; so the line takes them in one piece.
struct Numbers {
    text: [u8; Self::ROOM],
    from: usize,
}

impl Numbers {
    /// The longest are those of `cas`: flags, exptime, length, token.
    const ROOM: usize = " 4294967295".len()
        + " -2147483648".len()
        + 2 * " 18446744073709551615".len()
        + "\r\n".len();

    // Always inlined, all of them, so that `from` stays in a register.
    #[inline(always)]
    fn number(&mut self, number: u64) {
        if number < 10 {
            return self.pair([b' ', b'0' + number as u8]);
        }
        self.digits(number);
        self.byte(b' ');
    }

    #[inline(always)]
    fn exptime(&mut self, exptime: i32) {
        if exptime == 0 {
            return self.pair(*b" 0");
        }
        self.digits(exptime.unsigned_abs().into());
        if exptime < 0 {
            self.byte(b'-');
        }
        self.byte(b' ');
    }

    #[inline(always)]
    fn digits(&mut self, mut number: u64) {
        while number > 9 {
            self.byte(b'0' + (number % 10) as u8);
            number /= 10;
        }
        self.byte(b'0' + number as u8);
    }

    #[inline(always)]
    fn pair(&mut self, pair: [u8; 2]) {
        self.from -= 2;
        self.text[self.from..self.from + 2].copy_from_slice(&pair);
    }

    #[inline(always)]
    fn byte(&mut self, byte: u8) {
        self.from -= 1;
        self.text[self.from] = byte;
    }
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
                // No line has more digits.
                store(StoreVerb::Cas(u64::MAX), u32::MAX, i32::MIN, usize::MAX),
                "cas k 4294967295 -2147483648 18446744073709551615 18446744073709551615\r\n",
            ),
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
            push_numbers(&mut out, |numbers| numbers.number(number));
            assert_eq!(out, format!(" {number}").as_bytes());
        }
    }
}
