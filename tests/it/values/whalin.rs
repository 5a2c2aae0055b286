//! The Java client's three lines: `tests/golden/compat/values/whalin.jsonl`.

use std::borrow::Cow;

use serde_json::Value as Json;
use sockio::ErrorKind;
use sockio::codec::{Compression, FromValue, Transcoder, Value, Whalin};

use super::{Tally, assert_object, assert_same, assert_written, flags, rows, text, unhex};

const WRITTEN: &str = "written and read as in Java";
const WRITTEN_LONG: &str = "written as in Java; the random content is not in the row";
const OBJECT: &str = "Java object, read and written back unchanged";
const OBJECT_TEXT: &str = "text of a Java object, read and written back unchanged";
const NULL: &str = "null is refused, as in Java";
const FAULT_UNMARKED: &str = "fault: a text without a mark reads as null";
const FAULT_EMPTY: &str = "fault: an empty text reads as null";
const FAULT_BUILDER: &str = "fault: 1.x does not read its own StringBuilder";
const FAULT_NAME_OF_ARRAY: &str = "fault: bytes as string are the name of the array";
const COUNTER: &str = "counter or text behind one, read";
const COUNTER_FLAGS: &str = "counter, same flags";
const NO_VALUE: &str = "what a method returns; no form of a value";

#[test]
fn every_row_of_the_java_client() {
    let mut tally = Tally::default();
    for row in rows("whalin") {
        tally.count(match row.get("op") {
            Some(op) => method(op.as_str().unwrap(), &row),
            None => stored(&row),
        });
    }
    tally.is(
        "whalin",
        &[
            (WRITTEN, 371),
            (WRITTEN_LONG, 3),
            (OBJECT, 32),
            (OBJECT_TEXT, 6),
            (NULL, 10),
            (FAULT_UNMARKED, 138),
            (FAULT_EMPTY, 6),
            (FAULT_BUILDER, 2),
            (FAULT_NAME_OF_ARRAY, 8),
            (COUNTER, 48),
            (COUNTER_FLAGS, 10),
            (NO_VALUE, 197),
        ],
    );
}

fn line(version: &str) -> Whalin {
    match version {
        v if v.starts_with("release_1.6") => Whalin::v1(),
        v if v.starts_with("release_2.0.1") || v.starts_with("2.x head") => Whalin::v2(),
        v if v.starts_with("3.0.2") => Whalin::v3(),
        other => panic!("unknown version {other}"),
    }
}

/// The client of the row's line and settings, and one of the line's defaults.
fn transcoders(row: &Json) -> (Whalin, Whalin) {
    let default = line(text(row, "version"));
    let threshold = || Compression::new().threshold(16).only_if_smaller(false);
    let client = default.clone();
    let client = match text(row, "mode") {
        "default" | "default (30720)" | "default (30720) incompressible" => client,
        // `setCompressThreshold` throws in 3.x, and nothing is compressed.
        "compression attempted" => client,
        "primitiveAsString" => client.primitive_as_string(true),
        "compress threshold 16" => client.compression(threshold()),
        "compress threshold 16, primitiveAsString" => {
            client.compression(threshold()).primitive_as_string(true)
        }
        "compress off, threshold 16" => client.compression(Compression::never()),
        other => panic!("unknown mode {other}"),
    };
    (client, default)
}

fn stored(row: &Json) -> &'static str {
    let (client, default) = transcoders(row);
    let (java, shown) = (text(row, "type"), text(row, "value"));
    if java == "null" {
        assert!(
            row["flags"].is_null() && row["set_returned"] == false,
            "{row}"
        );
        let error = client.encode(Value::Null).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Encode);
        return NULL;
    }
    assert_eq!(row["set_returned"], true, "{row}");
    let flags = flags(row);
    let hex = text(row, "payload_hex");
    let gzip = flags & 2 != 0;
    let as_string = text(row, "mode").contains("primitiveAsString");

    if let Some(random) = cut_random(shown) {
        let written = client.encode(Value::from(&random)).unwrap();
        assert_eq!(written.flags, flags, "{row}");
        assert!(written.data.len() > random.len());
        assert_same(
            &client.decode(flags, written.data).unwrap(),
            &Value::from(&random),
            row,
        );
        return WRITTEN_LONG;
    }
    let Some(value) = value(java, shown) else {
        let payload = unhex(hex);
        if as_string && flags == 32 {
            let read = client.decode(flags, Cow::Borrowed(&payload)).unwrap();
            assert_same(&read, &Value::from(text(row, "get_value")), row);
            assert_written(&client.encode(read).unwrap(), flags, &payload, gzip, row);
            return OBJECT_TEXT;
        }
        assert_object(&client, flags, &payload, gzip, row);
        return OBJECT;
    };
    let payload = match cut(hex) {
        // The row shows the head only of a long text that is all one letter.
        Some((head, bytes)) => {
            assert!(!gzip && head.iter().all(|byte| *byte == head[0]), "{row}");
            vec![head[0]; bytes]
        }
        None => unhex(hex),
    };

    let read = client.decode(flags, Cow::Borrowed(&payload)).unwrap();
    if as_string && java == "[B" && flags != 8 {
        assert_same(&read, &Value::from(text(row, "get_value")), row);
        assert!(text(row, "get_value").starts_with("[B@"));
        let written = client.encode(value.borrowed()).unwrap();
        assert_eq!(written.flags, 4096, "{row}");
        assert_same(&client.decode(4096, written.data).unwrap(), &value, row);
        return FAULT_NAME_OF_ARRAY;
    }
    assert_written(
        &client.encode(value.borrowed()).unwrap(),
        flags,
        &payload,
        gzip,
        row,
    );
    assert_written(
        &client.encode(value.clone().into_owned()).unwrap(),
        flags,
        &payload,
        gzip,
        row,
    );
    let text_flags = as_string && flags != 8;
    if !text_flags {
        assert_same(&read, &value, row);
    } else if let Some(text) = row["get_value"].as_str() {
        assert_same(&read, &Value::from(text), row);
    }
    // Java reads text of flags 0 with the same setting only; here it reads with any.
    let plain = default.decode(flags, Cow::Owned(payload)).unwrap();
    match row["get_value"].as_str() {
        Some(text) if text_flags => assert_eq!(String::from_value(plain).unwrap(), text, "{row}"),
        _ if text_flags => assert_eq!(String::from_value(plain).unwrap(), "", "{row}"),
        _ => assert_same(&plain, &value, row),
    }
    match row["get_type"].as_str() {
        Some(read) if text_flags => assert_eq!(read, "java.lang.String"),
        Some(read) => assert_eq!((read, &row["get_value"]), (java, &row["value"])),
        None if java == "java.lang.StringBuilder" => return FAULT_BUILDER,
        None => {
            assert_eq!((java, shown), ("java.lang.String", ""), "{row}");
            return FAULT_EMPTY;
        }
    }
    if row["default_client_get_type"].is_null() {
        assert!(text_flags && matches!(flags, 0 | 2), "{row}");
        return FAULT_UNMARKED;
    }
    WRITTEN
}

/// The Rust value for a Java type and its text in the row; `None` for an object.
fn value(java: &str, shown: &str) -> Option<Value<'static>> {
    let behind = |prefix: &str| shown.strip_prefix(prefix).unwrap().to_owned();
    let bits = || u64::from_str_radix(shown.split_once(" bits:").unwrap().1, 16).unwrap();
    let whole = || match shown.split_once("...(") {
        Some((head, len)) => {
            let len: usize = len.strip_suffix(" chars)").unwrap().parse().unwrap();
            let letter = head.chars().next_back().unwrap().to_string();
            let head = head.trim_end_matches(&letter);
            format!("{head}{}", letter.repeat(len - head.len()))
        }
        None => shown.to_owned(),
    };
    Some(match java {
        "java.lang.Boolean" => Value::Bool(shown.parse().unwrap()),
        "java.lang.Byte" => Value::I8(shown.parse().unwrap()),
        "java.lang.Short" => Value::I16(shown.parse().unwrap()),
        "java.lang.Integer" => Value::I32(shown.parse().unwrap()),
        "java.lang.Long" => Value::I64(shown.parse().unwrap()),
        "java.lang.Character" => Value::Char(behind("u16:").parse().unwrap()),
        "java.lang.Float" => Value::F32(f32::from_bits(bits().try_into().unwrap())),
        "java.lang.Double" => Value::F64(f64::from_bits(bits())),
        "java.util.Date" => Value::Date(behind("ms:").parse().unwrap()),
        "java.lang.String" => Value::from(whole()),
        "java.lang.StringBuffer" => Value::StringBuffer(Cow::Owned(whole())),
        "java.lang.StringBuilder" => Value::StringBuilder(Cow::Owned(whole())),
        "[B" => Value::from(unhex(whole().strip_prefix("hex:").unwrap())),
        "java.math.BigDecimal"
        | "java.util.ArrayList"
        | "java.util.UUID"
        | "valtest.Values$Person" => {
            return None;
        }
        other => panic!("unknown type {other}"),
    })
}

/// The first bytes and the length of a payload that is not given in full.
fn cut(hex: &str) -> Option<(Vec<u8>, usize)> {
    let (head, len) = hex.split_once("...(")?;
    Some((
        unhex(head),
        len.strip_suffix(" bytes)").unwrap().parse().unwrap(),
    ))
}

/// Bytes of the length of the row's random ones, which nothing compresses either.
fn cut_random(shown: &str) -> Option<Vec<u8>> {
    let (head, len) = shown.strip_prefix("hex:")?.split_once("...(")?;
    if head.bytes().all(|digit| digit == b'0') {
        return None;
    }
    let digits: usize = len.strip_suffix(" chars)").unwrap().parse().unwrap();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let random = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    });
    Some(random.take((digits - "hex:".len()) / 2).collect())
}

/// Rows of methods: the states of counters are values, the rest is the client's.
fn method(op: &str, row: &Json) -> &'static str {
    let client = line(text(row, "version"));
    let result = row["result"].as_str();
    match op {
        "set null value" => {
            assert_eq!(result, Some("false"));
            assert_eq!(
                client.encode(Value::Null).unwrap_err().kind(),
                ErrorKind::Encode
            );
            NULL
        }
        "get of empty string" => {
            let written = client.encode(Value::from("")).unwrap();
            let read = client.decode(written.flags, written.data).unwrap();
            assert_same(&read, &Value::from(""), row);
            match result {
                Some("") => WRITTEN,
                None => FAULT_EMPTY,
                Some(other) => panic!("{other}: {row}"),
            }
        }
        _ if op.starts_with("state ") && result == Some("absent") => NO_VALUE,
        _ if op.starts_with("state ") => {
            let state = result.unwrap().strip_suffix('|').unwrap();
            let (flags, payload) = state.split_once(" payload=").unwrap();
            let flags = flags.strip_prefix("flags=").unwrap().parse().unwrap();
            let read = client
                .decode(flags, Cow::Borrowed(payload.as_bytes()))
                .unwrap();
            // 1.x has its marker in front of a text; `decr` leaves blanks behind a number.
            let digits = payload.trim_start_matches('\u{6}').trim_end_matches(' ');
            let unsigned = u64::from_value(read.borrowed());
            assert_eq!(unsigned.ok(), digits.parse().ok(), "{row}");
            assert_eq!(i64::from_value(read).ok(), digits.parse().ok(), "{row}");
            COUNTER
        }
        "storeCounter c1=10" | "storeCounter negative" => {
            let wire = text(row, "wire");
            let flags: u32 = match wire.strip_prefix("hex:") {
                Some(packet) => {
                    let packet = unhex(packet);
                    u32::from_be_bytes(packet[24..28].try_into().unwrap())
                }
                None => wire.split(' ').nth(2).unwrap().parse().unwrap(),
            };
            assert_eq!(client.counter_flags(), flags, "{row}");
            COUNTER_FLAGS
        }
        "get c1 plain" => {
            let flags = client.counter_flags();
            let read = client.decode(flags, Cow::Borrowed(b"9 ")).unwrap();
            assert_eq!(u64::from_value(read.borrowed()).unwrap(), 9);
            assert_eq!(String::from_value(read).unwrap(), result.unwrap_or("9 "));
            if result.is_some() {
                COUNTER
            } else {
                FAULT_UNMARKED
            }
        }
        "get null key"
        | "getMulti"
        | "getMultiArray"
        | "getCounter c1"
        | "getCounter c1 after decr"
        | "get after past expiry"
        | "get after long key"
        | "get key with space and utf8"
        | "set key with space and utf8"
        | "set after long key"
        | "set String 5 then incr"
        | "setCompressThreshold"
        | "unsanitized utf8 key set"
        | "add new"
        | "add existing"
        | "replace existing"
        | "replace missing"
        | "delete present"
        | "delete with Date(now+10s)"
        | "addOrDecr d1 8 (new)"
        | "addOrIncr a1 (default)"
        | "addOrIncr a1 (default) again"
        | "addOrIncr a1 5"
        | "addOrIncr a2 5 again"
        | "decr c1 7 (16->9)"
        | "decr missing"
        | "incr c1"
        | "incr c1 5"
        | "incr neg"
        | "incr past i64max"
        | "keyExists c1"
        | "keyExists missing"
        | "statsItems"
        | "statsSlabs"
        | "statsCacheDump(1,2)"
        | "flushAll of a server not in the pool" => NO_VALUE,
        _ if op.starts_with("251-byte key ") || op.starts_with("stats keys ") => NO_VALUE,
        other => panic!("unknown method {other}"),
    }
}
