//! spymemcached: `tests/golden/values/spymemcached.jsonl`.

use std::borrow::Cow;

use serde_json::Value as Json;
use sockio::ErrorKind;
use sockio::codec::{Compression, FromValue, Spymemcached, Transcoder, Value};

use super::captured::{assert_shown, captured, content, got_back, payload};
use super::{GZIP, Tally, assert_same, flags, inflated, text};

const WRITTEN: &str = "written and read as in Java";
const PACKED: &str = "compressed as in Java, and read";
const OBJECT: &str = "Java object, read and written back unchanged";
const NULL: &str = "null is refused, as in Java";
const READ: &str = "read as in Java";
const REFUSED: &str = "refused, where Java reads null or fails";
const NOT_UTF8: &str = "text that is no UTF-8, read as bytes";
const CUT_NUMBER: &str = "fault: a value that is too long for its type is cut";
const REST_DROPPED: &str = "fault: bytes behind the gzip member are dropped";
const SECOND_MEMBER: &str = "fault: a second gzip member is read as well";
const HIGH_FLAGS: &str = "fault: flags of 2^31 and more end the connection";
const COUNTER: &str = "counter, same flags, read as a number";

#[test]
fn every_row_of_spymemcached() {
    let mut tally = Tally::default();
    for row in captured("spymemcached") {
        let config = text(&row, "config");
        let above = |bytes| Spymemcached::new().compression(Compression::new().threshold(bytes));
        let java = match config {
            "default" | "counter" => Spymemcached::new(),
            "compressionThreshold=100" => above(100),
            "compressionThreshold=1" => above(1),
            other => panic!("unknown settings {other}"),
        };
        tally.count(match text(&row, "op") {
            "write" if config == "counter" => counter(&row, &java),
            "write" => written(&row, &java),
            "read" => read(&row, &java),
            other => panic!("unknown op {other}"),
        });
    }
    let rules = [
        (WRITTEN, 126),
        (PACKED, 19),
        (OBJECT, 17),
        (NULL, 1),
        (READ, 55),
        (REFUSED, 31),
        (NOT_UTF8, 1),
        (CUT_NUMBER, 19),
        (REST_DROPPED, 1),
        (SECOND_MEMBER, 1),
        (HIGH_FLAGS, 2),
        (COUNTER, 1),
    ];
    tally.is("spymemcached", &rules);
}

/// The Rust value of Java's; `None` for an object.
fn value(java: &str, shown: &str) -> Option<Value<'static>> {
    let bits = || u64::from_str_radix(shown.strip_prefix("bits:").unwrap(), 16).unwrap();
    Some(match java {
        "String" => Value::from(String::from_utf8(content(shown)).unwrap()),
        "byte[]" => Value::from(content(shown)),
        "Boolean" => Value::Bool(shown.parse().unwrap()),
        "Byte" => Value::I8(shown.parse().unwrap()),
        "Integer" => Value::I32(shown.parse().unwrap()),
        "Long" => Value::I64(shown.parse().unwrap()),
        "Date" => Value::Date(shown.parse().unwrap()),
        "Float" => Value::F32(f32::from_bits(bits().try_into().unwrap())),
        "Double" => Value::F64(f64::from_bits(bits())),
        "null" => Value::Null,
        "Short" | "Character" | "StringBuilder" | "StringBuffer" | "BigInteger" | "BigDecimal"
        | "ArrayList" | "UUID" | "int[]" => return None,
        other => panic!("unknown type {other}"),
    })
}

fn plain(flags: u32, data: &[u8]) -> Vec<u8> {
    match flags & GZIP {
        0 => data.to_vec(),
        _ => inflated(GZIP, data),
    }
}

fn written(row: &Json, java: &Spymemcached) -> &'static str {
    let value = value(text(row, "type"), text(row, "value"));
    if value == Some(Value::Null) {
        assert_eq!(text(row, "set_error"), "NullPointerException");
        let error = java.encode(Value::Null).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Encode);
        return NULL;
    }
    let (flags, stored) = (flags(row), payload(row).unwrap());
    let read = java.decode(flags, Cow::Borrowed(&stored)).unwrap();
    let Some(value) = value else {
        assert!(matches!(read, Value::Foreign { .. }), "{row}");
        let again = java.encode(read).unwrap();
        assert_eq!(again.flags, flags, "{row}");
        assert_eq!(plain(flags, &again.data), plain(flags, &stored), "{row}");
        return OBJECT;
    };
    let mine = java.encode(value.borrowed()).unwrap();
    assert_eq!(mine.flags, flags, "{row}");
    assert_eq!(plain(flags, &mine.data), plain(flags, &stored), "{row}");
    assert_same(&read, &value, row);
    assert_eq!(row["get_back"], "same", "{row}");
    if flags & GZIP != 0 { PACKED } else { WRITTEN }
}

fn counter(row: &Json, java: &Spymemcached) -> &'static str {
    assert_eq!(java.counter_flags(), flags(row));
    let stored = payload(row).unwrap();
    let read = java.decode(flags(row), Cow::Owned(stored)).unwrap();
    assert_eq!(u64::from_value(read).unwrap(), 10);
    COUNTER
}

fn read(row: &Json, java: &Spymemcached) -> &'static str {
    let (flags, stored) = (flags(row), payload(row).unwrap());
    let result = java.decode(flags, Cow::Borrowed(&stored));
    let refused = || result.as_ref().unwrap_err().kind() == ErrorKind::Decode;
    match text(row, "name") {
        "gzip and more" => {
            assert!(refused() && got_back(row).unwrap().0 == "String");
            return REST_DROPPED;
        }
        "gzip twice" => {
            assert!(refused() && got_back(row).unwrap().0 == "String");
            return SECOND_MEMBER;
        }
        "upper bit" | "all bits" => {
            assert_eq!(got_back(row), Err("CancellationException"));
            assert!(matches!(result, Ok(Value::Text(_)) | Err(_)), "{row}");
            return HIGH_FLAGS;
        }
        "not utf-8" => {
            assert_same(&result.unwrap(), &Value::from(&stored), row);
            return NOT_UTF8;
        }
        "object" | "object and int" | "object and more" | "object gzip" => {
            let object = result.unwrap();
            assert!(matches!(object, Value::Foreign { .. }));
            let again = java.encode(object).unwrap();
            assert_eq!((again.flags, &*again.data), (1, &*plain(flags, &stored)));
            return OBJECT;
        }
        _ => {}
    }
    let (kind, shown) = match got_back(row) {
        Err(_) | Ok(("null", _)) => {
            assert!(refused(), "{row}");
            return REFUSED;
        }
        Ok(back) => back,
    };
    if result.is_err() {
        let longest = match kind {
            "Boolean" | "Byte" => 1,
            "Integer" | "Float" => 4,
            "Long" | "Double" | "Date" => 8,
            other => panic!("{other}: {row}"),
        };
        assert!(refused() && stored.len() > longest, "{row}");
        return CUT_NUMBER;
    }
    let read = result.unwrap();
    match &read {
        Value::Text(_) if kind == "String" => {
            assert_shown(&Vec::from_value(read).unwrap(), shown, row);
        }
        read => assert_same(read, &value(kind, shown).unwrap(), row),
    }
    READ
}

/// Java has types for these, but the client none of its own: they go as the next wider ones, and text.
#[test]
fn what_the_client_has_no_form_for() {
    let java = Spymemcached::new();
    for (value, wider) in [
        (Value::I16(-2), Value::I32(-2)),
        (Value::U8(200), Value::I32(200)),
        (Value::U16(u16::MAX), Value::I32(65_535)),
        (Value::U32(u32::MAX), Value::I64(4_294_967_295)),
        (Value::U64(7), Value::I64(7)),
        (Value::from('\u{e9}'), Value::from("\u{e9}")),
    ] {
        assert_eq!(java.encode(value).unwrap(), java.encode(wider).unwrap());
    }
    for value in [Value::U64(1 << 63), Value::Ticks(0), Value::Char(0xd800)] {
        let error = java.encode(value).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Encode);
    }
}
