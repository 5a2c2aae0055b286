//! Rows of `tests/golden/values`, whose format `tests/interop/capture/README.md` gives. It knows no client.

use std::path::Path;

use serde_json::Value as Json;
use sha2::{Digest, Sha256};

use super::{number, text, unhex};

/// The rows of a client, none of them twice.
pub(super) fn captured(client: &str) -> Vec<Json> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden/values")
        .join(client)
        .with_extension("jsonl");
    let file = std::fs::read_to_string(&path).unwrap();
    let rows: Vec<Json> = file
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(!rows.is_empty(), "{client}");
    for row in &rows {
        assert_eq!(text(row, "client"), client);
        let fields = row.as_object().unwrap().keys();
        for field in fields {
            let known = [
                "client",
                "version",
                "config",
                "op",
                "name",
                "type",
                "value",
                "flags",
                "len",
                "payload",
                "set_error",
                "get_back",
            ];
            assert!(known.contains(&&**field), "unknown field {field}: {row}");
        }
    }
    rows
}

/// What a description of content stands for.
pub(super) fn content(description: &str) -> Vec<u8> {
    let piece = |piece: &str| match piece.split_once(':') {
        Some(("hex", digits)) => unhex(digits),
        Some(("repeat", rest)) => {
            let (byte, count) = rest.split_once('*').unwrap();
            unhex(byte).repeat(count.parse().unwrap())
        }
        Some(("noise", count)) => noise(count.parse().unwrap()),
        _ => panic!("unknown content {piece}"),
    };
    description.split('+').flat_map(piece).collect()
}

fn noise(count: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut next = || {
        state = (state * 1_103_515_245 + 12_345) % (1 << 31);
        (state >> 16) as u8
    };
    (0..count).map(|_| next()).collect()
}

/// The stored payload; `None` if the row has its digest only.
pub(super) fn payload(row: &Json) -> Option<Vec<u8>> {
    let shown = text(row, "payload");
    if shown.starts_with("sha256:") {
        return None;
    }
    let payload = content(shown);
    assert_eq!(payload.len() as u64, number(row, "len"), "{row}");
    Some(payload)
}

/// Whether the bytes are those that the row shows, be it by their digest.
#[track_caller]
pub(super) fn assert_shown(bytes: &[u8], shown: &str, row: &Json) {
    match shown.strip_prefix("sha256:") {
        Some(digest) => {
            let hex: String = Sha256::digest(bytes)
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            assert_eq!(hex, digest, "{row}");
        }
        None => assert_eq!(bytes, content(shown), "{row}"),
    }
}

/// The type and the value that the client read back, in its own words; `Err` with the error's name.
pub(super) fn got_back(row: &Json) -> Result<(&str, &str), &str> {
    let back = &row["get_back"];
    if back == "same" {
        return Ok((text(row, "type"), text(row, "value")));
    }
    match back["error"].as_str() {
        Some(error) => Err(error),
        None => Ok((text(back, "type"), text(back, "value"))),
    }
}
