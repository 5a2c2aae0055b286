//! Tests of `decode`: each stream is tried whole, at every split and with bytes behind it.

use super::{body_end, decode};
use crate::protocol::{Decoded, Desync, Expect, Refusal, Reply, StoreVerb};

const GET: Expect = Expect::Values { cas: false };
const GETS: Expect = Expect::Values { cas: true };
const SET: Expect = Expect::Store(StoreVerb::Set);

const ALL: [Expect; 16] = [
    GET,
    GETS,
    SET,
    Expect::Store(StoreVerb::Add),
    Expect::Store(StoreVerb::Replace),
    Expect::Store(StoreVerb::Append),
    Expect::Store(StoreVerb::Prepend),
    Expect::Store(StoreVerb::Cas(7)),
    Expect::Delete,
    Expect::Touch,
    Expect::Arith,
    Expect::Exists,
    Expect::FlushAll,
    Expect::Version,
    Expect::Stats,
    Expect::Verbosity,
];

/// What the stream means, having seen that it means the same however it comes.
fn settled(expect: Expect, stream: &[u8]) -> Result<Option<(Reply<'_>, usize)>, Desync> {
    let whole = decode(expect, stream);
    let mut over = false;
    for split in 0..=stream.len() {
        let part = decode(expect, &stream[..split]);
        match (&part, &whole) {
            (Ok(Decoded::Need(more)), _) if !over => {
                assert!(*more > 0);
                if let Ok(Decoded::Reply { used, .. }) = whole {
                    assert!(split + more <= used, "{split} + {more} is beyond {used}");
                }
            }
            _ => {
                assert_eq!(part, whole, "at {split} of {}", stream.escape_ascii());
                over = true;
            }
        }
    }
    match whole? {
        Decoded::Need(_) => Ok(None),
        Decoded::Reply { reply, used } => {
            for extra in [&b"\r\n"[..], b"\n", b"\0", b"0", b"END\r\n", &[b' '; 3000]] {
                assert_eq!(decode(expect, &[stream, extra].concat()), whole);
            }
            Ok(Some((reply, used)))
        }
    }
}

fn reply(expect: Expect, stream: &str) -> Reply<'_> {
    let (reply, used) = settled(expect, stream.as_bytes()).unwrap().unwrap();
    assert_eq!(used, stream.len());
    reply
}

fn is_desync(expect: Expect, stream: &[u8]) -> bool {
    settled(expect, stream).is_err()
}

fn refused(expect: Expect, line: &str) -> Option<bool> {
    let stream = format!("{line}\r\n");
    match settled(expect, stream.as_bytes()).unwrap().unwrap().0 {
        Reply::Refused(Refusal {
            server,
            line: shown,
            keep,
        }) => {
            let servers_own = line.starts_with('S') || line == "ERROR Too many open connections";
            assert_eq!((server, shown), (servers_own, line));
            Some(keep)
        }
        _ => None,
    }
}

#[test]
fn values_are_read_to_the_limits_of_their_fields() {
    let key = "k".repeat(250);
    let value = |key, flags, len, cas| Reply::Value {
        key,
        flags,
        len,
        cas,
    };
    assert_eq!(reply(GET, "VALUE k 0 0\r\n"), value(&b"k"[..], 0, 0, None));
    assert_eq!(
        reply(GET, &format!("VALUE {key} 4294967295 {}\r\n", usize::MAX)),
        value(key.as_bytes(), u32::MAX, usize::MAX, None)
    );
    assert_eq!(
        reply(GETS, "VALUE \u{d55c} 5 1048576 18446744073709551615\r\n"),
        value("\u{d55c}".as_bytes(), 5, 1 << 20, Some(u64::MAX))
    );
    assert_eq!(
        reply(GET, "VALUE k -1 3\r\n"),
        value(&b"k"[..], u32::MAX, 3, None)
    );
    assert_eq!(
        reply(GET, "VALUE k -2147483648 3\r\n"),
        value(&b"k"[..], 1 << 31, 3, None)
    );
    assert_eq!(reply(GETS, "END\r\n"), Reply::End);
}

#[test]
fn a_value_line_with_a_fault_is_out_of_step() {
    let long = format!("VALUE {} 0 1\r\n", "k".repeat(251));
    let zeros = format!("VALUE k 0 {}1\r\n", "0".repeat(20));
    for line in [
        &*long,
        &*zeros,
        "value k 0 1\r\n",
        "VALUE  k 0 1\r\n",
        "VALUE k  0 1\r\n",
        "VALUE k 0  1\r\n",
        "VALUE k 0 1 \r\n",
        " VALUE k 0 1\r\n",
        "VALUE\r\n",
        "VALUE \r\n",
        "VALUE k\r\n",
        "VALUE k 0\r\n",
        "VALUE k 0 \r\n",
        "VALUE k 0 1\n",
        "VALUE k 0 1\r\r\n",
        "VALUE k 0 1\r ",
        "VALUE k\t 0 1\r\n",
        "VALUE k\0 0 1\r\n",
        "VALUE k x 1\r\n",
        "VALUE k 1x 1\r\n",
        "VALUE k +1 1\r\n",
        "VALUE k - 1\r\n",
        "VALUE k 4294967296 1\r\n",
        "VALUE k -2147483649 1\r\n",
        "VALUE k 0 -1\r\n",
        "VALUE k 0 +5\r\n",
        "VALUE k 0 5x\r\n",
        "VALUE k 0 18446744073709551616\r\n",
        "VALUE k 0 99999999999999999999\r\n",
        "END \r\n",
        "END\n",
        "ENDX\r\n",
        "\r\nEND\r\n",
        "\u{feff}END\r\n",
    ] {
        assert!(is_desync(GET, line.as_bytes()), "{line:?}");
        assert!(is_desync(GETS, line.as_bytes()), "{line:?}");
    }
    assert!(is_desync(GET, b"VALUE k 0 1 2\r\n"), "an unasked cas");
    for line in [
        "VALUE k 0 1\r\n",
        "VALUE k 0 1 \r\n",
        "VALUE k 0 1 -1\r\n",
        "VALUE k 0 1 2 3\r\n",
        "VALUE k 0 1 18446744073709551616\r\n",
    ] {
        assert!(is_desync(GETS, line.as_bytes()), "{line:?}");
    }
}

#[test]
fn a_body_ends_with_a_line_end() {
    assert_eq!(body_end(b"\r\n"), Ok(()));
    for two in [&b"\n\r"[..], b"\r\r", b"EN", b"\r", b"", b"\r\n\r"] {
        assert!(body_end(two).is_err());
    }
}

/// The table of replies: which command may get which, and what it makes of it.
#[test]
fn each_command_takes_its_own_replies_only() {
    let stores = |verb: Expect| matches!(verb, Expect::Store(_));
    let adds = |verb: Expect| {
        stores(verb) && !matches!(verb, Expect::Store(StoreVerb::Set | StoreVerb::Cas(_)))
    };
    let is_cas = |verb: Expect| matches!(verb, Expect::Store(StoreVerb::Cas(_)));
    let mut checked = 0;
    for expect in ALL {
        let is = |other: Expect| expect == other;
        for (line, right, taken) in [
            ("END", Reply::End, is(GET) || is(GETS) || is(Expect::Stats)),
            ("STORED", Reply::Stored, stores(expect)),
            ("NOT_STORED", Reply::NotStored, adds(expect)),
            ("EXISTS", Reply::Exists, is_cas(expect)),
            (
                "NOT_FOUND",
                Reply::NotFound,
                is_cas(expect) || is(Expect::Delete) || is(Expect::Touch) || is(Expect::Arith),
            ),
            ("DELETED", Reply::Deleted, is(Expect::Delete)),
            ("TOUCHED", Reply::Touched, is(Expect::Touch)),
            ("HD", Reply::Present, is(Expect::Exists)),
            ("EN", Reply::NotFound, is(Expect::Exists)),
            (
                "OK",
                Reply::Ok,
                is(Expect::FlushAll) || is(Expect::Verbosity) || is(Expect::Stats),
            ),
            ("RESET", Reply::Reset, is(Expect::Stats)),
            ("17", Reply::Number(17), is(Expect::Arith)),
            (
                "VERSION 1.6.18",
                Reply::Version("1.6.18"),
                is(Expect::Version),
            ),
            (
                "STAT pid 1",
                Reply::Stat {
                    name: "pid",
                    value: "1",
                },
                is(Expect::Stats),
            ),
            (
                "ITEM k [1 b; 0 s]",
                Reply::Line(b"ITEM k [1 b; 0 s]"),
                is(Expect::Stats),
            ),
        ] {
            let stream = format!("{line}\r\n");
            if taken {
                assert_eq!(reply(expect, &stream), right, "{expect:?}");
            } else {
                assert!(is_desync(expect, stream.as_bytes()), "{expect:?} {line}");
            }
            // No reply may be cut short, prolonged, spelt otherwise, or end in another way.
            for wrong in [
                format!("{line}X\r\n").to_lowercase(),
                format!(" {line}\r\n"),
                format!("{line}\n"),
                format!("{}\r\n", &line[..1]),
            ] {
                // `1` is a number as good as `17`, and a `STAT` line is free text.
                let number =
                    expect == Expect::Arith && wrong.starts_with('1') && wrong.ends_with("1\r\n");
                assert!(
                    number || is_desync(expect, wrong.as_bytes()),
                    "{expect:?} {wrong:?}"
                );
            }
            checked += 1;
        }
    }
    assert_eq!(checked, 16 * 15);
}

#[test]
fn numbers() {
    assert_eq!(reply(Expect::Arith, "0\r\n"), Reply::Number(0));
    assert_eq!(reply(Expect::Arith, "9 \r\n"), Reply::Number(9));
    assert_eq!(
        reply(Expect::Arith, "18446744073709551615  \r\n"),
        Reply::Number(u64::MAX)
    );
    let endless = ["1", &" ".repeat(3000)].concat();
    for line in [
        "18446744073709551616\r\n",
        "000000000000000000001\r\n",
        "-1\r\n",
        "+1\r\n",
        "1.5\r\n",
        "1 2\r\n",
        "1\n",
        " 1\r\n",
        &endless,
    ] {
        assert!(is_desync(Expect::Arith, line.as_bytes()), "{line:?}");
    }
}

#[test]
fn statistics() {
    let stat = |name, value| Reply::Stat { name, value };
    assert_eq!(reply(Expect::Stats, "STAT a b c\r\n"), stat("a", "b c"));
    assert_eq!(reply(Expect::Stats, "STAT a \r\n"), stat("a", ""));
    assert_eq!(reply(Expect::Stats, "STAT a\r\n"), stat("a", ""));
    let prefix = b"PREFIX \xff get 1 hit 0 set 1 del 0";
    let stream = [&prefix[..], b"\r\n"].concat();
    assert_eq!(
        settled(Expect::Stats, &stream).unwrap(),
        Some((Reply::Line(prefix), stream.len()))
    );
    for line in [
        &b"STAT \r\n"[..],
        b"STAT  a\r\n",
        b"STAT a \xff\r\n",
        b"STAT a b\n",
        b"STATS a b\r\n",
    ] {
        assert!(is_desync(Expect::Stats, line));
    }
    assert!(is_desync(Expect::Version, b"VERSION \r\n"));
    assert!(is_desync(Expect::Version, b"VERSION 1\x1b[2J\r\n"));
}

#[test]
fn which_error_lines_keep_the_connection() {
    let format = "CLIENT_ERROR bad command line format";
    let usage = "CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]";
    let exptime = "CLIENT_ERROR invalid exptime argument";
    let text = "CLIENT_ERROR cannot increment or decrement non-numeric value";
    let delta = "CLIENT_ERROR invalid numeric delta argument";
    let large = "SERVER_ERROR object too large for cache";
    let memory = "SERVER_ERROR out of memory storing object";
    for (line, keepers) in [
        (
            "ERROR",
            vec![
                "Values",
                "Delete",
                "Touch",
                "Arith",
                "Exists",
                "FlushAll",
                "Version",
                "Stats",
                "Verbosity",
            ],
        ),
        (
            format,
            vec![
                "Values",
                "Delete",
                "Touch",
                "Arith",
                "Exists",
                "FlushAll",
                "Stats",
                "Verbosity",
            ],
        ),
        (usage, vec!["Delete", "Stats"]),
        (exptime, vec!["Values", "Touch", "FlushAll", "Stats"]),
        (
            "CLIENT_ERROR flush_all not allowed",
            vec!["FlushAll", "Stats"],
        ),
        (text, vec!["Arith", "Stats"]),
        (delta, vec!["Arith", "Stats"]),
        ("CLIENT_ERROR Illegal slab id", vec!["Stats"]),
        ("CLIENT_ERROR bad data chunk", vec!["Stats"]),
        ("SERVER_ERROR out of memory", vec!["Arith"]),
        (
            "SERVER_ERROR out of memory writing get response",
            vec!["Values"],
        ),
        (large, vec!["Store"]),
        (memory, vec!["Store"]),
        ("SERVER_ERROR output line too long", vec![]),
        ("SERVER_ERROR something new", vec![]),
        ("ERROR Too many open connections", vec![]),
    ] {
        for expect in ALL {
            let name = format!("{expect:?}");
            let keeps = keepers.iter().any(|keeper| name.starts_with(keeper));
            assert_eq!(refused(expect, line), Some(keeps), "{expect:?} {line}");
        }
    }
    for line in [
        &b"ERRORS\r\n"[..],
        b"SERVER_ERROR\r\n",
        b"CLIENT_ERROR\r\n",
        b"SERVER_ERROR a\n",
        b"SERVER_ERROR \xff\r\n",
        b"SERVER_ERROR \x07\r\n",
        b"Error TLS not enabled\r\n",
    ] {
        for expect in ALL {
            assert!(is_desync(expect, line), "{expect:?}");
        }
    }
}

#[test]
fn what_does_not_end_is_bounded() {
    for expect in ALL {
        for head in [
            "SERVER_ERROR ",
            "CLIENT_ERROR ",
            "ERROR ",
            "STAT ",
            "VERSION ",
            "VALUE ",
            "1",
        ] {
            let stream = head
                .as_bytes()
                .iter()
                .copied()
                .chain(std::iter::repeat(b'1'))
                .take(4096);
            let stream: Vec<u8> = stream.collect();
            assert!(is_desync(expect, &stream), "{expect:?} {head}");
        }
        for garbage in [
            &[0x15, 3, 3, 0, 2, 2, 0x28][..],
            b"HTTP/1.1 400 Bad Request\r\n",
            b"\x81\0\0\0",
            b"\n",
            b"\r\n",
            b"\0",
        ] {
            assert_eq!(
                decode(expect, garbage),
                decode(expect, garbage.get(..2).unwrap_or(garbage))
            );
            assert!(is_desync(expect, garbage));
        }
        assert!(matches!(decode(expect, b""), Ok(Decoded::Need(1..))));
    }
}
