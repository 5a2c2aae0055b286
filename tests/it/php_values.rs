//! Every value that PHP's two extensions were seen to store: written the same, read back the same.

use std::collections::BTreeMap;

use serde_json::Value as Json;
use sha2::{Digest, Sha256};
use sockio::codec::php::{self, Php};
use sockio::codec::{ForeignKind, PhpCompression, PhpMemcache, PhpMemcached, PhpSerializer};
use sockio::{FromValue, ToValue, Transcoder, Value};

const MEMCACHED: &str = include_str!("../golden/compat/values/php-memcached.jsonl");
const MEMCACHE: &str = include_str!("../golden/compat/values/pecl-memcache.jsonl");

/// The bits of compressed payloads in each extension's flags.
const MEMCACHED_COMPRESSED: u64 = 0x10;
const MEMCACHED_FASTLZ: u64 = 0x40;
const MEMCACHE_COMPRESSED: u64 = 0x2;

#[test]
fn php_memcached_values() {
    let mut seen = BTreeMap::new();
    for row in rows(MEMCACHED) {
        let coder = memcached_of(row["config"].as_str().unwrap());
        let flags = row["flags"].as_u64().unwrap();
        if let Some(extended) = row.get("extended") {
            let user = PhpMemcached::user_flags_in(flags as u32);
            assert_eq!(u64::from(user), extended["flags"]);
        }
        let packed = match flags & (MEMCACHED_COMPRESSED | MEMCACHED_FASTLZ) {
            0 => Packed::No,
            // FastLZ is written byte for byte as PHP writes it.
            both if both & MEMCACHED_FASTLZ != 0 => Packed::Exactly,
            _ => Packed::OtherBytes,
        };
        *seen.entry(check(&coder, &row, packed)).or_insert(0) += 1;
    }
    let expected = [
        ("array", 18),
        ("bool", 1),
        ("double", 15),
        ("fastlz", 10),
        ("igbinary", 9),
        ("int", 9),
        ("json", 21),
        ("msgpack", 8),
        ("null", 3),
        ("object", 2),
        ("string", 32),
        ("zlib", 9),
        ("zlib, cut", 1),
    ];
    println!("php-memcached: {seen:?}");
    assert_eq!(seen, expected.into());
    assert_eq!(seen.values().sum::<i32>(), 138);
}

#[test]
fn pecl_memcache_values() {
    let mut seen = BTreeMap::new();
    for row in rows(MEMCACHE) {
        let config = row["config"].as_str().unwrap();
        if row.get("stored") == Some(&Json::Bool(false)) {
            // Bits that are the extension's own: PHP refuses them, here no setting can name them.
            assert!(
                matches!(config, "set flags=0x4" | "set flags=0x100"),
                "{config}"
            );
            *seen.entry("refused").or_insert(0) += 1;
            continue;
        }
        let coder = memcache_of(config);
        let flags = row["flags"].as_u64().unwrap();
        if let Some(out) = row.get("get_flags_out") {
            let user = PhpMemcache::user_flags_in(flags as u32);
            assert_eq!(u64::from(user) << 16, out.as_u64().unwrap());
        }
        let packed = if flags & MEMCACHE_COMPRESSED != 0 {
            Packed::OtherBytes
        } else {
            Packed::No
        };
        *seen.entry(check(&coder, &row, packed)).or_insert(0) += 1;
    }
    let expected = [
        ("array", 7),
        ("bool", 5),
        ("double", 44),
        ("int", 8),
        ("null", 2),
        ("object", 1),
        ("refused", 2),
        ("string", 32),
        ("zlib", 10),
        ("zlib, cut", 3),
    ];
    println!("pecl-memcache: {seen:?}");
    assert_eq!(seen, expected.into());
    assert_eq!(seen.values().sum::<i32>(), 114);
}

/// The bytes of one are read with the flags of all others: an answer or an error, never a panic.
#[test]
fn any_flags_may_stand_beside_any_payload() {
    let limit = 1 << 20;
    let memcached = PhpMemcached::new().max_inflated(limit);
    let memcache = PhpMemcache::new().max_inflated(limit);
    let all: Vec<Json> = rows(MEMCACHED).chain(rows(MEMCACHE)).collect();
    let payloads: Vec<Vec<u8>> = all
        .iter()
        .filter_map(payload)
        .filter(|data| data.len() < 3000)
        .collect();
    let (mut values, mut errors) = (0, 0);
    for data in &payloads {
        for flags in (0..=0xff).chain([0x100, 0x101, 0x300, 0x302, 0x700, 0x703, u32::MAX]) {
            for coder in [&memcached as &dyn Transcoder, &memcache] {
                match coder.decode(flags, data.as_slice().into()) {
                    Ok(_) => values += 1,
                    Err(error) => {
                        assert_eq!(error.kind(), sockio::ErrorKind::Decode);
                        errors += 1;
                    }
                }
            }
        }
    }
    println!(
        "{} payloads: {values} values, {errors} errors",
        payloads.len()
    );
    assert!(payloads.len() > 150 && values > 1000 && errors > 1000);
}

/// How a stored payload compares with the one that is made here.
#[derive(Clone, Copy, PartialEq)]
enum Packed {
    No,
    /// Compressed, to the same bytes.
    Exactly,
    /// Compressed by another zlib: only what it inflates to is the same.
    OtherBytes,
}

/// Checks both directions, and says what kind of row it was.
fn check(coder: &dyn Transcoder, row: &Json, packed: Packed) -> &'static str {
    let name = format!("{} {}", row["config"], row["name"]);
    assert_eq!(row["set_result"], true, "{name}");
    let flags = u32::try_from(row["flags"].as_u64().unwrap()).unwrap();
    let stored = payload(row);
    let (kind, value) = value_of(row, stored.as_deref());

    let encoded = coder.encode(value.to_value()).unwrap();
    assert_eq!(encoded.flags, flags, "{name}: flags");
    match (&stored, packed) {
        (Some(stored), Packed::No | Packed::Exactly) => {
            assert!(
                *encoded.data == **stored,
                "{name}: {:?}",
                String::from_utf8_lossy(&encoded.data)
            );
        }
        (Some(_), Packed::OtherBytes) => {}
        (None, Packed::No) => assert!(is_cut_from(row, &encoded.data), "{name}"),
        (None, _) => assert!(
            encoded
                .data
                .len()
                .abs_diff(row["len"].as_u64().unwrap() as usize)
                < 100
        ),
    }

    // A payload that the record cuts is read in the form written here, whose equality was just checked as far as can be.
    let read = stored.unwrap_or_else(|| encoded.data.into_owned());
    let read = coder.decode(flags, read.into()).unwrap();
    match (kind, &read) {
        ("array", _) => assert_eq!(
            Php::<Json>::from_value(read).unwrap().0,
            json(&row["get_back"]),
            "{name}"
        ),
        ("object", _) => {
            // PHP shows the public properties only.
            let Json::Object(read) = Php::<Json>::from_value(read).unwrap().0 else {
                panic!("{name}: no map")
            };
            let Json::Object(public) = json(&row["get_back"]) else {
                panic!("{name}: no map in the record")
            };
            for (property, content) in public {
                assert_eq!(read[&property], content, "{name}");
            }
        }
        ("json", Value::Foreign { bytes, .. }) => {
            let read: Json = serde_json::from_slice(bytes).unwrap();
            assert_eq!(read, json(&row["get_back"]), "{name}");
        }
        // The extension stores 14 digits, and so reads another number than was written.
        ("double", Value::F64(read)) => {
            assert_eq!(read.to_bits(), double(&row["get_back"]).to_bits(), "{name}")
        }
        _ => assert!(same(&read, &value), "{name}: {read:?}"),
    }
    match (kind, packed) {
        ("string", Packed::Exactly) => "fastlz",
        ("string", Packed::OtherBytes) if row.get("payload_hex").is_none() => "zlib, cut",
        ("string", Packed::OtherBytes) => "zlib",
        (kind, packed) => {
            assert!(packed == Packed::No, "{name}");
            kind
        }
    }
}

/// The class of a row, and the value that was given to PHP.
fn value_of(row: &Json, stored: Option<&[u8]>) -> (&'static str, Value<'static>) {
    let value = &row["value"];
    let text = value["php"].as_str();
    let foreign = |kind| Value::Foreign {
        kind,
        bytes: stored.unwrap().to_vec().into(),
    };
    match (
        value["type"].as_str().unwrap(),
        row["flags"].as_u64().unwrap() & 0xffff,
    ) {
        ("NULL", _) => ("null", Value::Null),
        ("boolean", _) => ("bool", Value::Bool(text == Some("true"))),
        ("integer", _) => ("int", Value::I64(text.unwrap().parse().unwrap())),
        ("double", _) => ("double", Value::F64(double(value))),
        ("string", _) => ("string", Value::Bytes(string(row).into())),
        ("array", 1 | 4) => {
            let value = Php(json(value));
            ("array", value.to_value().into_owned())
        }
        ("object", 1 | 4) => ("object", foreign(ForeignKind::Php)),
        (_, 5) => ("igbinary", foreign(ForeignKind::Igbinary)),
        ("array" | "object", 6) => {
            let text = text.unwrap().as_bytes().to_vec();
            let bytes = text.into();
            (
                "json",
                Value::Foreign {
                    kind: ForeignKind::Json,
                    bytes,
                },
            )
        }
        (_, 7) => ("msgpack", foreign(ForeignKind::MsgPack)),
        other => panic!("a row of an unknown kind: {other:?}"),
    }
}

/// Values compare by content: text may come back as bytes.
fn same(left: &Value<'_>, right: &Value<'_>) -> bool {
    match (left, right) {
        (Value::F64(left), Value::F64(right)) => left.to_bits() == right.to_bits(),
        _ => left == right,
    }
}

/// The settings that a php-memcached row was written with.
fn memcached_of(config: &str) -> PhpMemcached {
    let mut coder = PhpMemcached::new();
    for setting in config.split(' ') {
        let (name, value) = setting.split_once('=').unwrap();
        coder = match (name, value) {
            ("serializer", "php") => coder.serializer(PhpSerializer::Php),
            ("serializer", "json" | "json_array") => coder.serializer(PhpSerializer::Json),
            ("serializer", "igbinary") => coder.serializer(PhpSerializer::Igbinary),
            ("serializer", "msgpack") => coder.serializer(PhpSerializer::MsgPack),
            ("compression", "fastlz") => coder.compression(Some(PhpCompression::FastLz)),
            ("compression", "zlib") => coder.compression(Some(PhpCompression::Zlib)),
            ("compression", "off") => coder.compression(None),
            ("OPT_USER_FLAGS", value) => coder.user_flags(value.parse().unwrap()),
            ("memcached.compression_threshold", value) => {
                coder.compression_threshold(value.parse().unwrap())
            }
            ("memcached.compression_factor", value) => {
                coder.compression_factor(value.parse().unwrap())
            }
            _ => panic!("an unknown setting: {setting}"),
        };
    }
    coder
}

/// The settings that a pecl row was written with.
fn memcache_of(config: &str) -> PhpMemcache {
    let coder = PhpMemcache::new();
    match config {
        "protocol=ascii flags=0" | "protocol=binary flags=0" => coder,
        "protocol=ascii flags=2" | "protocol=binary flags=2" => coder.compress_threshold(Some(0)),
        "set flags=0x100000" => coder.user_flags(0x10),
        _ => {
            let arguments = config
                .strip_prefix("setCompressThreshold(")
                .and_then(|rest| rest.strip_suffix(')'));
            let (threshold, savings) = arguments
                .and_then(|both| both.split_once(','))
                .expect(config);
            // For PHP 0 is "never".
            let threshold = Some(threshold.parse().unwrap()).filter(|threshold| *threshold > 0);
            coder
                .compress_threshold(threshold)
                .min_savings(savings.parse().unwrap())
        }
    }
}

fn rows(text: &'static str) -> impl Iterator<Item = Json> {
    text.lines().map(|line| serde_json::from_str(line).unwrap())
}

/// The stored bytes, if the record has them whole.
fn payload(row: &Json) -> Option<Vec<u8>> {
    let hex = row.get("payload_hex")?.as_str().unwrap();
    let bytes = unhex(hex);
    assert_eq!(bytes.len() as u64, row["len"]);
    Some(bytes)
}

/// Whether the record's head, length and checksum are those of `data`.
fn is_cut_from(row: &Json, data: &[u8]) -> bool {
    let head = unhex(row["payload_head_hex"].as_str().unwrap());
    data.starts_with(&head)
        && row["len"] == data.len() as u64
        && row["payload_sha256"] == sha256(data).as_str()
}

fn json(value: &Json) -> Json {
    serde_json::from_str(value["php"].as_str().unwrap()).unwrap()
}

fn double(value: &Json) -> f64 {
    match value["php"].as_str().unwrap() {
        "INF" => f64::INFINITY,
        "-INF" => f64::NEG_INFINITY,
        "NAN" => f64::NAN,
        text => text.parse().unwrap(),
    }
}

/// The string of a row: written out, or made by its name. The record's checksum says whether it is the right one.
fn string(row: &Json) -> Vec<u8> {
    let value = &row["value"];
    let name = row["name"].as_str().unwrap();
    let digit = name
        .find(|c: char| c.is_ascii_digit())
        .unwrap_or(name.len());
    let (kind, len) = name.split_at(digit);
    let bytes = match (value["hex"].as_str(), kind) {
        (Some(hex), _) => unhex(hex),
        (None, "s_a") => vec![b'a'; len.parse().unwrap()],
        (None, "s_ab") => b"abcdefghij"
            .iter()
            .copied()
            .cycle()
            .take(len.parse().unwrap())
            .collect(),
        (None, "s_rand") => random(len.parse().unwrap()),
        (None, "s_hex") => hex(&random(len.parse::<usize>().unwrap() / 2)).into_bytes(),
        _ => panic!("an unknown string: {name}"),
    };
    assert_eq!(value["len"], bytes.len() as u64);
    assert_eq!(value["sha256"], sha256(&bytes).as_str(), "{name}");
    bytes
}

/// The generator behind the long strings of the record: SHA-256 of `r0`, `r1` …, from 10,000 bytes on of `q0`, `q1` ….
fn random(len: usize) -> Vec<u8> {
    let seed = if len < 10_000 { 'r' } else { 'q' };
    let blocks = (0..).flat_map(|n| Sha256::digest(format!("{seed}{n}")));
    blocks.take(len).collect()
}

pub(super) fn sha256(data: &[u8]) -> String {
    hex(&Sha256::digest(data))
}

pub(super) fn hex(data: &[u8]) -> String {
    data.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text
        .chars()
        .map(|c| c.to_digit(16).unwrap() as u8)
        .collect();
    digits
        .chunks(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect()
}

/// The arrays of the record once more, without a transcoder.
#[test]
fn serialized_arrays_are_written_as_php_writes_them() {
    let mut count = 0;
    for row in rows(MEMCACHED).chain(rows(MEMCACHE)) {
        let flags = row.get("flags").and_then(Json::as_u64).unwrap_or(0) & 0xffff;
        if row["value"]["type"] == "array" && matches!(flags, 1 | 4) {
            let value = json(&row["value"]);
            assert_eq!(php::to_vec(&value).unwrap(), payload(&row).unwrap());
            count += 1;
        }
    }
    assert!(count > 20, "{count}");
}
