//! Python's `pickle` as far as plain values go: None, truth values and floats. It knows no flags.

use super::float_text;
use super::value::Value;

/// The newest protocol (Python 3.8).
pub(super) const HIGHEST_PROTOCOL: u8 = 5;

// The opcodes (Python 3.11 `Lib/pickle.py`).
const PROTO: u8 = 0x80;
const FRAME: u8 = 0x95;
const STOP: u8 = b'.';
const NONE: u8 = b'N';
const NEW_TRUE: u8 = 0x88;
const NEW_FALSE: u8 = 0x89;
const BIN_FLOAT: u8 = b'G';
const FLOAT: u8 = b'F';
/// How truth values were written before protocol 2: as integers of two digits.
const OLD_TRUE: &[u8] = b"I01\n";
const OLD_FALSE: &[u8] = b"I00\n";

/// From protocol 4 on, a pickle of at least this many bytes stands in a frame (`_FRAME_SIZE_MIN`).
const SMALLEST_FRAME: usize = 4;

/// What `pickle.dumps(None, protocol)` gives.
pub(super) fn none(protocol: u8) -> Vec<u8> {
    whole(protocol, &[NONE])
}

/// What `pickle.dumps(True, protocol)` gives.
pub(super) fn bool(protocol: u8, truth: bool) -> Vec<u8> {
    whole(
        protocol,
        match (protocol, truth) {
            (0 | 1, true) => OLD_TRUE,
            (0 | 1, false) => OLD_FALSE,
            (_, true) => &[NEW_TRUE],
            (_, false) => &[NEW_FALSE],
        },
    )
}

/// What `pickle.dumps(1.5, protocol)` gives.
pub(super) fn float(protocol: u8, float: f64) -> Vec<u8> {
    let mut body = Vec::with_capacity(9);
    if protocol == 0 {
        body.push(FLOAT);
        body.extend_from_slice(float_text::python(float).as_bytes());
        body.push(b'\n');
    } else {
        body.push(BIN_FLOAT);
        body.extend_from_slice(&float.to_be_bytes());
    }
    whole(protocol, &body)
}

fn whole(protocol: u8, body: &[u8]) -> Vec<u8> {
    let mut pickle = Vec::with_capacity(12 + body.len());
    if protocol >= 2 {
        pickle.extend_from_slice(&[PROTO, protocol]);
    }
    let len = body.len() + 1;
    if protocol >= 4 && len >= SMALLEST_FRAME {
        pickle.push(FRAME);
        pickle.extend_from_slice(&(len as u64).to_le_bytes());
    }
    pickle.extend_from_slice(body);
    pickle.push(STOP);
    pickle
}

/// The value of a pickle of any protocol that is nothing but None, a truth value or a float.
pub(super) fn scalar(pickle: &[u8]) -> Option<Value<'static>> {
    let pickle = match pickle {
        [PROTO, 2..=HIGHEST_PROTOCOL, rest @ ..] => rest,
        [PROTO, ..] => return None,
        old => old,
    };
    let pickle = match pickle {
        [FRAME, rest @ ..] => {
            let (len, body) = rest.split_first_chunk()?;
            if usize::try_from(u64::from_le_bytes(*len)) != Ok(body.len()) {
                return None;
            }
            body
        }
        bare => bare,
    };
    Some(match pickle.strip_suffix(&[STOP])? {
        [NONE] => Value::Null,
        [NEW_TRUE] | OLD_TRUE => Value::Bool(true),
        [NEW_FALSE] | OLD_FALSE => Value::Bool(false),
        [BIN_FLOAT, float @ ..] => Value::F64(f64::from_be_bytes(float.try_into().ok()?)),
        [FLOAT, text @ .., b'\n'] => Value::F64(std::str::from_utf8(text).ok()?.parse().ok()?),
        _ => return None,
    })
}

/// Whether it may be a pickle, and ends where it should.
pub(super) fn is_pickle(bytes: &[u8]) -> bool {
    bytes.last() == Some(&STOP)
}
