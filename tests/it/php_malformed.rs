//! Broken items: what PHP reads as a value is read the same, the rest is an error each, by the extension and the row.

use std::collections::BTreeMap;

use super::php_values::unhex;
use serde_json::Value as Json;
use sockio::codec::php::Php;
use sockio::codec::{ForeignKind, PhpMemcache, PhpMemcached};
use sockio::{ErrorKind, FromValue, Transcoder, Value};

const ROWS: &str = include_str!("../golden/compat/values/php-malformed.json");

/// What becomes of a row.
enum Read {
    /// PHP's value.
    As(Value<'static>),
    /// PHP's integer, from serialized data that scalars are not written in.
    AsSerialized(i64),
    /// An error, as in PHP.
    Error,
    /// PHP makes a value of it; here it is an error, by the rule named.
    Stricter(&'static str),
    /// PHP's reader makes null or false of it without saying why; here the bytes go to the caller's own reader.
    HandedOn(ForeignKind),
}

/// A length that does not hold is a damaged item; PHP makes up the missing bytes, or cuts the value short.
const ANNOUNCED_LENGTH: &str = "announced length is not the real one";

fn php_memcached(name: &str) -> Read {
    match name {
        "type8"
        | "type15"
        | "bad serialize"
        | "bad igbinary"
        | "compressed no algo"
        | "compressed short"
        | "zlib garbage"
        | "zlib longer than stored" => Read::Error,
        "fastlz wrong length" | "zlib shorter than stored" => Read::Stricter(ANNOUNCED_LENGTH),
        "bad json" => Read::HandedOn(ForeignKind::Json),
        "bad msgpack" => Read::HandedOn(ForeignKind::MsgPack),
        "zlib bit only (0x20)" => Read::As(bytes("plain")),
        "both algos, fastlz data" => Read::As(bytes("hello")),
        "user flags" => Read::As(Value::I64(7)),
        "long text" => Read::As(Value::I64(12)),
        "bool x" => Read::As(Value::Bool(false)),
        "bool 12" => Read::As(Value::Bool(true)),
        "double text" => Read::As(Value::F64(1.5)),
        "pecl ser bad" | "pecl 0x301" => Read::As(Value::I64(0)),
        "pecl compressed bad" | "pecl zlib" => Read::As(Value::F64(0.0)),
        "pecl long" | "pecl type 0x200" => Read::As(bytes("42")),
        "pecl bool 12" => Read::As(bytes("12")),
        "pecl double inf" => Read::As(bytes("INF")),
        _ => panic!("an unknown row: {name}"),
    }
}

fn pecl_memcache(name: &str) -> Read {
    match name {
        "type15"
        | "bad json"
        | "bad igbinary"
        | "bad msgpack"
        | "user flags"
        | "long text"
        | "bool x"
        | "bool 12"
        | "double text"
        | "pecl ser bad"
        | "pecl compressed bad" => Read::Error,
        "type8" => Read::As(bytes("abc")),
        "bad serialize" => Read::As(bytes("zzz")),
        "compressed no algo" => Read::As(bytes("\x05\0\0\0abc")),
        "compressed short" => Read::As(bytes("ab")),
        "zlib garbage" => Read::As(bytes("\x05\0\0\0abcdef")),
        "fastlz wrong length" => Read::As(Value::Bytes(b"\xff\0\0\0\x02abc"[..].into())),
        "zlib longer than stored" => Read::As(Value::Bytes(
            b"\x05\0\0\0\x78\x9c\xcb\x48\xcd\xc9\xc9\x57\x28\xcf\x2f\xca\x49\x01\0\x1a\x0b\x04\x5d"
                [..]
                .into(),
        )),
        "zlib shorter than stored" => Read::As(Value::Bytes(
            b"\x40\0\0\0\x78\x9c\xcb\x48\xcd\xc9\xc9\x07\0\x06\x2c\x02\x15"[..].into(),
        )),
        "zlib bit only (0x20)" => Read::As(bytes("plain")),
        "both algos, fastlz data" => Read::As(bytes("\x05\0\0\0\x04hello")),
        "pecl long" => Read::As(Value::I64(42)),
        "pecl type 0x200" => Read::As(bytes("42")),
        "pecl 0x301" => Read::AsSerialized(5),
        "pecl bool 12" => Read::As(Value::Bool(false)),
        "pecl zlib" => Read::As(bytes(&"hello".repeat(10))),
        "pecl double inf" => Read::As(Value::F64(f64::INFINITY)),
        _ => panic!("an unknown row: {name}"),
    }
}

#[test]
fn php_memcached_rows() {
    let seen = check(
        &PhpMemcached::new(),
        "php-memcached",
        php_memcached,
        |row| {
            // The result code of `get`: 0, or "some errors were reported".
            let code = row["rc"][0].as_i64().unwrap();
            assert!(code == 0 || code == 19, "{code}");
            code == 19
        },
    );
    let expected = [("as", 15), ("error", 8), ("handed on", 2), ("stricter", 2)];
    assert_eq!(seen, expected.into());
}

#[test]
fn pecl_memcache_rows() {
    let seen = check(&PhpMemcache::new(), "pecl-memcache", pecl_memcache, |row| {
        let warnings = row["warn"].as_array().unwrap();
        warnings
            .iter()
            .any(|warning| warning.as_str().unwrap().contains("Failed to"))
    });
    let expected = [("as", 16), ("error", 11)];
    assert_eq!(seen, expected.into());
}

/// PHP stops where the value ends and does not look further. Here the whole item is the value or nothing.
#[test]
fn bytes_behind_the_value_are_refused() {
    let zlib = unhex("789ccb48cdc9c90700062c0215");
    let behind = |head: &[u8], stream: &[u8]| [head, stream, b"x"].concat();
    let memcached: &dyn Transcoder = &PhpMemcached::new();
    let memcache: &dyn Transcoder = &PhpMemcache::new();
    for (coder, flags, data) in [
        (memcached, 0x4, behind(b"", b"i:5;")),
        (memcached, 0x50, behind(b"\x05\0\0\0", b"\x04hello")),
        (memcached, 0x30, behind(b"\x05\0\0\0", &zlib)),
        (memcache, 0x1, behind(b"", b"i:5;")),
        (memcache, 0x2, behind(b"", &zlib)),
    ] {
        let whole = &data[..data.len() - 1];
        assert!(
            coder.decode(flags, whole.into()).is_ok(),
            "flags {flags:#x}"
        );
        let error = coder.decode(flags, data.as_slice().into()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Decode, "flags {flags:#x}");
    }
}

/// Reads every row, and compares both with what PHP read; `failed` tells whether PHP reported a failure.
fn check(
    coder: &dyn Transcoder,
    client: &str,
    expected: fn(&str) -> Read,
    failed: fn(&Json) -> bool,
) -> BTreeMap<&'static str, usize> {
    let rows: Vec<Json> = serde_json::from_str(ROWS).unwrap();
    let mut seen = BTreeMap::new();
    for row in &rows {
        let name = row["name"].as_str().unwrap();
        let flags = u32::try_from(row["flags"].as_u64().unwrap()).unwrap();
        let data = unhex(row["payload_hex"].as_str().unwrap());
        let captured = &row[client];
        let read = coder.decode(flags, data.as_slice().into());
        let class = match expected(name) {
            Read::As(value) => {
                assert!(!failed(captured), "{name}");
                assert!(
                    is_shown_as(&value, &captured["get"]),
                    "{name}: not what PHP read"
                );
                assert!(read.is_ok_and(|read| read == value), "{name}");
                "as"
            }
            Read::AsSerialized(value) => {
                assert_eq!(captured["get"], value, "{name}");
                assert_eq!(Php::<i64>::from_value(read.unwrap()).unwrap().0, value);
                "as"
            }
            Read::Error => {
                assert!(failed(captured) && captured["get"] == false, "{name}");
                assert_eq!(read.unwrap_err().kind(), ErrorKind::Decode, "{name}");
                "error"
            }
            Read::Stricter(rule) => {
                assert!(!failed(captured) && captured["get"].is_string(), "{name}");
                assert_eq!(
                    read.unwrap_err().kind(),
                    ErrorKind::Decode,
                    "{name}: {rule}"
                );
                "stricter"
            }
            Read::HandedOn(kind) => {
                assert!(!failed(captured) && !captured["get"].is_string(), "{name}");
                let bytes = data.as_slice().into();
                assert!(read.unwrap() == Value::Foreign { kind, bytes }, "{name}");
                "handed on"
            }
        };
        *seen.entry(class).or_insert(0) += 1;
    }
    println!("{client}: {} rows, {seen:?}", rows.len());
    assert_eq!(rows.len(), 27);
    seen
}

/// The record is JSON: bytes that are no UTF-8 are replaced in it, and infinity, for which JSON has no number, is 0.
fn is_shown_as(value: &Value<'_>, shown: &Json) -> bool {
    match value {
        Value::Bytes(bytes) => *shown == *String::from_utf8_lossy(bytes),
        Value::I64(number) => *shown == *number,
        Value::F64(number) if number.is_infinite() => *shown == 0,
        Value::F64(number) => *shown == *number,
        Value::Bool(truth) => *shown == *truth,
        _ => false,
    }
}

fn bytes(text: &str) -> Value<'static> {
    Value::Bytes(text.as_bytes().to_vec().into())
}
