//! Any bytes as a reply to any command: the decoder never takes a decision back, whatever more of the reply comes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sockio::fuzzing::{Part, Step, decode, values, whole_value};

/// Replies up to this length are cut at every byte, longer ones at a few.
const EVERY_CUT: usize = 64;

fuzz_target!(|input: (u8, u16, &[u8])| {
    let (kind, cut, bytes) = input;
    let whole = decode(kind, bytes);
    check(&whole, bytes.len());
    if bytes.len() <= EVERY_CUT {
        for cut in 0..bytes.len() {
            check_cut(kind, bytes, cut, &whole);
        }
    } else {
        let cut = usize::from(cut);
        for cut in [cut, cut + 1, cut / 8, cut / 64, bytes.len() - 1] {
            check_cut(kind, bytes, cut % bytes.len(), &whole);
        }
    }
    follow(kind, bytes);
});

fn check(step: &Step, len: usize) {
    match step {
        Step::Need(needed) => assert!(*needed > 0),
        Step::Part { part, used } => {
            assert!((1..=len).contains(used));
            match part {
                Part::Shown(text) => assert!(!text.contains(char::is_control), "{text:?}"),
                Part::Value { key, .. } => {
                    assert!((1..=250).contains(&key.len()) && key.iter().all(|byte| *byte > b' '));
                }
                Part::Other(_) => {}
            }
        }
        Step::Desync => {}
    }
}

/// What the first bytes said still holds when all are there.
fn check_cut(kind: u8, bytes: &[u8], cut: usize, whole: &Step) {
    let early = decode(kind, &bytes[..cut]);
    check(&early, cut);
    match early {
        Step::Need(needed) => {
            if let Step::Part { used, .. } = whole {
                assert!(cut + needed <= *used, "{needed} more at {cut} of {used}");
            }
        }
        decided => assert_eq!(decided, *whole, "at {cut}"),
    }
}

/// Reads part after part, and where a value stands, by the short cut too.
fn follow(kind: u8, mut bytes: &[u8]) {
    while let Step::Part { part, used } = decode(kind, bytes) {
        let mut rest = &bytes[used..];
        if let (Part::Value { key, head }, Some(cas)) = (part, values(kind)) {
            let body = rest.get(..head.len);
            let end = body.and_then(|_| rest[head.len..].strip_prefix(b"\r\n"));
            match whole_value(bytes, &key, cas) {
                Some((short, taken, behind)) => {
                    assert_eq!((short, Some(taken), Some(behind)), (head, body, end));
                }
                None => assert!(end.is_none() || unusual(&bytes[..used])),
            }
            match end {
                Some(end) => rest = end,
                None => return,
            }
        }
        bytes = rest;
    }
}

/// The short cut leaves negative flags and numbers of 20 digits to the decoder.
fn unusual(line: &[u8]) -> bool {
    let words = line.split(|byte| *byte <= b' ').skip(2);
    words
        .into_iter()
        .any(|word| word.starts_with(b"-") || word.len() > 19)
}
