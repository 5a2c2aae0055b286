//! The three Python clients: `tests/golden/values/{pylibmc,python-memcached,pymemcache}.jsonl`.

use std::borrow::Cow;

use serde_json::Value as Json;
use sockio::ErrorKind;
use sockio::codec::{
    Compression, FromValue, Pylibmc, Pymemcache, PythonMemcached, Transcoder, Value,
};

use super::captured::{assert_shown, captured, content, got_back, payload};
use super::{Tally, assert_same, flags, text};

/// The clients' mark of a zlib stream.
const ZLIB: u32 = 8;

const WRITTEN: &str = "written and read as in Python";
const PACKED: &str = "compressed as in Python, and read";
const OBJECT: &str = "Python object, read and written back unchanged";
const BIG: &str = "integer of more than 64 bits, read as its digits";
const PLAIN: &str = "written as str() gives it, read as bytes";
const PLAIN_NONE: &str = "None as text is refused";
const PLAIN_OBJECT: &str = "text of a Python object, read as bytes";
const PLAIN_NOT_ASCII: &str = "fault: text that is not ASCII is refused";
const TYPE_ERROR: &str = "fault: a long integer cannot be compressed";
const READ: &str = "read as in Python";
const REFUSED: &str = "refused, as in Python";
const BROKEN_PICKLE: &str = "fault: a broken pickle reads as None";
const UNCHECKED_PICKLE: &str = "a pickle that Python cannot load, not looked into";
const REST_DROPPED: &str = "fault: bytes behind the value are dropped";
const STREAM_ITSELF: &str = "fault: the compressed stream itself is handed out";
const CUT_AT_NUL: &str = "fault: a number ends at a zero byte";
const COUNTER: &str = "counter, same flags, read as a number";

#[test]
fn every_row_of_pylibmc() {
    let rules = [
        (WRITTEN, 109),
        (PACKED, 8),
        (OBJECT, 24),
        (BIG, 9),
        (READ, 71),
        (REFUSED, 21),
        (UNCHECKED_PICKLE, 3),
        (REST_DROPPED, 4),
        (CUT_AT_NUL, 1),
        (COUNTER, 1),
    ];
    every_row("pylibmc", &rules, |config| {
        let pylibmc = Pylibmc::new();
        let at_least = |bytes: usize| Compression::new().threshold(bytes - 1);
        Box::new(match config {
            "default" | "counter" | "min_compress_len=100 compress_level=0" => pylibmc,
            "min_compress_len=100" => pylibmc.compression(at_least(100)),
            "min_compress_len=1" => pylibmc.compression(at_least(1)),
            "pickle_protocol=2" => pylibmc.pickle_protocol(2),
            "pickle_protocol=0" => pylibmc.pickle_protocol(0),
            other => panic!("unknown settings {other}"),
        })
    });
}

#[test]
fn every_row_of_python_memcached() {
    let rules = [
        (WRITTEN, 103),
        (PACKED, 3),
        (OBJECT, 23),
        (BIG, 8),
        (READ, 61),
        (REFUSED, 28),
        (BROKEN_PICKLE, 4),
        (UNCHECKED_PICKLE, 3),
        (REST_DROPPED, 4),
    ];
    every_row("python-memcached", &rules, |config| {
        let python = PythonMemcached::new();
        let above = |bytes| Compression::new().threshold(bytes);
        Box::new(match config {
            "default" => python,
            "min_compress_len=100" => python.compression(above(100)),
            "min_compress_len=1" => python.compression(above(1)),
            "pickleProtocol=2" => python.pickle_protocol(2),
            "pickleProtocol=5" => python.pickle_protocol(5),
            other => panic!("unknown settings {other}"),
        })
    });
}

#[test]
fn every_row_of_pymemcache() {
    let rules = [
        (WRITTEN, 111),
        (PACKED, 6),
        (OBJECT, 31),
        (BIG, 7),
        (PLAIN, 74),
        (PLAIN_NONE, 3),
        (PLAIN_OBJECT, 12),
        (PLAIN_NOT_ASCII, 1),
        (TYPE_ERROR, 2),
        (READ, 145),
        (REFUSED, 20),
        (BROKEN_PICKLE, 8),
        (UNCHECKED_PICKLE, 6),
        (REST_DROPPED, 6),
        (STREAM_ITSELF, 16),
    ];
    every_row("pymemcache", &rules, |config| {
        let serde = Pymemcache::new();
        let above = |bytes| Compression::new().threshold(bytes);
        Box::new(match config {
            "no serde" | "no serde, encoding=utf-8" => Pymemcache::plain(),
            "pickle_serde" | "python_memcache_serializer" => serde,
            "PickleSerde(2)" => serde.pickle_protocol(2),
            "PickleSerde(0)" => serde.pickle_protocol(0),
            "compressed_serde" => serde.compression(above(400)),
            "CompressedSerde(min_compress_len=1)" => serde.compression(above(1)),
            other => panic!("unknown settings {other}"),
        })
    });
}

fn every_row(
    client: &str,
    rules: &[(&'static str, usize)],
    transcoder: impl Fn(&str) -> Box<dyn Transcoder>,
) {
    let mut tally = Tally::default();
    for row in captured(client) {
        let config = text(&row, "config");
        let transcoder = &*transcoder(config);
        tally.count(match text(&row, "op") {
            "write" if config.starts_with("no serde") => written_plain(&row, transcoder),
            "write" if config == "counter" => counter(&row, transcoder),
            "write" => written(&row, transcoder),
            "read" => read(&row, transcoder),
            other => panic!("unknown op {other}"),
        });
    }
    tally.is(client, rules);
}

/// The Rust value of Python's; `None` for an object.
fn value(kind: &str, shown: &str) -> Option<Value<'static>> {
    Some(match kind {
        "bytes" => Value::from(content(shown)),
        "str" => Value::from(String::from_utf8(content(shown)).unwrap()),
        "int" => int(shown),
        "bool" => Value::Bool(shown == "True"),
        "float" => Value::F64(shown.parse().unwrap()),
        "NoneType" => Value::Null,
        "list" | "dict" | "tuple" | "set" | "complex" | "bytearray" | "Decimal" | "datetime"
        | "date" => return None,
        other => panic!("unknown type {other}"),
    })
}

fn int(shown: &str) -> Value<'static> {
    let digits = if shown.contains(':') {
        String::from_utf8(content(shown)).unwrap()
    } else {
        shown.to_owned()
    };
    if let Ok(number) = digits.parse() {
        Value::I64(number)
    } else if let Ok(number) = digits.parse() {
        Value::U64(number)
    } else {
        Value::from(digits)
    }
}

fn inflated(data: &[u8]) -> Vec<u8> {
    let bytes = Pylibmc::new().decode(ZLIB, Cow::Borrowed(data)).unwrap();
    Vec::from_value(bytes).unwrap()
}

fn written(row: &Json, transcoder: &dyn Transcoder) -> &'static str {
    if let Some(error) = row["set_error"].as_str() {
        assert_eq!((error, text(row, "type")), ("TypeError", "int"), "{row}");
        return TYPE_ERROR;
    }
    let (flags, stored) = (flags(row), payload(row));
    let packed = flags & ZLIB != 0;
    let value = value(text(row, "type"), text(row, "value"));
    let big = text(row, "type") == "int" && matches!(value, Some(Value::Text(_)));
    let (Some(value), false) = (&value, big) else {
        let stored = stored.unwrap();
        let read = transcoder.decode(flags, Cow::Borrowed(&stored)).unwrap();
        if big {
            assert_same(&read, value.as_ref().unwrap(), row);
            return BIG;
        }
        assert!(matches!(read, Value::Foreign { .. }), "{row}");
        let again = transcoder.encode(read).unwrap();
        assert_eq!(again.flags, flags, "{row}");
        if packed {
            assert_eq!(inflated(&again.data), inflated(&stored), "{row}");
        } else {
            assert_eq!(*again.data, stored, "{row}");
        }
        return OBJECT;
    };

    let mine = transcoder.encode(value.borrowed()).unwrap();
    assert_eq!(mine.flags, flags, "{row}");
    if packed {
        assert_eq!(
            inflated(&mine.data),
            inflated(stored.as_ref().unwrap()),
            "{row}"
        );
    } else {
        assert_shown(&mine.data, text(row, "payload"), row);
    }
    let stored = stored.unwrap_or_else(|| mine.data.into_owned());
    let read = transcoder.decode(flags, Cow::Owned(stored)).unwrap();
    assert_read(&read, row);
    if packed { PACKED } else { WRITTEN }
}

/// What is read is what the client read back, in the nearest Rust type.
#[track_caller]
fn assert_read(read: &Value<'_>, row: &Json) {
    let (kind, shown) = got_back(row).unwrap();
    match read {
        Value::Bytes(bytes) if kind == "bytes" => assert_shown(bytes, shown, row),
        Value::Text(text) if kind == "str" => assert_shown(text.as_bytes(), shown, row),
        read => assert_same(read, &value(kind, shown).unwrap(), row),
    }
}

fn written_plain(row: &Json, transcoder: &dyn Transcoder) -> &'static str {
    if let Some(error) = row["set_error"].as_str() {
        assert_eq!(error, "MemcacheIllegalInputError", "{row}");
        return PLAIN_NOT_ASCII;
    }
    let (flags, stored) = (flags(row), payload(row).unwrap());
    assert_eq!(flags, 0);
    let read = transcoder.decode(flags, Cow::Borrowed(&stored)).unwrap();
    assert_same(&read, &Value::from(&stored), row);
    assert_read(&read, row);
    let Some(value) = value(text(row, "type"), text(row, "value")) else {
        return PLAIN_OBJECT;
    };
    match transcoder.encode(value.borrowed()) {
        Ok(mine) => {
            assert_eq!((mine.flags, &*mine.data), (flags, &*stored), "{row}");
            PLAIN
        }
        Err(error) => {
            assert_eq!((error.kind(), value), (ErrorKind::Encode, Value::Null));
            PLAIN_NONE
        }
    }
}

fn counter(row: &Json, transcoder: &dyn Transcoder) -> &'static str {
    assert_eq!(transcoder.counter_flags(), flags(row));
    let stored = payload(row).unwrap();
    let read = transcoder.decode(flags(row), Cow::Owned(stored)).unwrap();
    assert_same(&read, &int(got_back(row).unwrap().1), row);
    COUNTER
}

fn read(row: &Json, transcoder: &dyn Transcoder) -> &'static str {
    let (flags, stored) = (flags(row), payload(row).unwrap());
    let result = transcoder.decode(flags, Cow::Borrowed(&stored));
    let refused = || result.as_ref().unwrap_err().kind() == ErrorKind::Decode;
    if flags & ZLIB != 0 && text(row, "config") == "pickle_serde" {
        assert!(result.is_err() || result.unwrap() != Value::from(&stored));
        if let Ok(("bytes" | "str", shown)) = got_back(row) {
            assert_shown(&stored, shown, row);
        }
        return STREAM_ITSELF;
    }
    match text(row, "name") {
        "zlib and more" | "zlib twice" | "pickle and more" | "pickle None and more" => {
            assert!(refused() && got_back(row).is_ok(), "{row}");
            return REST_DROPPED;
        }
        "int nul" if text(row, "client") == "pylibmc" => {
            assert!(refused() && got_back(row) == Ok(("int", "4")), "{row}");
            return CUT_AT_NUL;
        }
        "pickle float spelled" | "pickle float not a number" | "pickle frame too long" => {
            assert!(matches!(got_back(row), Err(_) | Ok(("NoneType", _))));
            assert!(matches!(result, Ok(Value::Foreign { .. })), "{row}");
            return UNCHECKED_PICKLE;
        }
        _ => {}
    }
    match got_back(row) {
        Err(_) => {
            assert!(refused(), "{row}");
            REFUSED
        }
        Ok(("NoneType", _)) if result.is_err() => {
            assert!(refused() && flags & 1 != 0 && !text(row, "name").ends_with("None"));
            BROKEN_PICKLE
        }
        Ok((_, shown)) => match result.unwrap() {
            object @ Value::Foreign { .. } => {
                assert!(matches!(shown, "[1, 2]" | "7"), "{row}");
                let again = transcoder.encode(object).unwrap();
                let plain = match flags & ZLIB {
                    0 => stored.clone(),
                    _ => inflated(&stored),
                };
                assert_eq!((again.flags, &*again.data), (1, &*plain), "{row}");
                OBJECT
            }
            read => {
                assert_read(&read, row);
                READ
            }
        },
    }
}

/// What the rows do not show.
#[test]
fn what_python_has_no_type_for() {
    let clients: [&dyn Transcoder; 4] = [
        &Pylibmc::new(),
        &PythonMemcached::new(),
        &Pymemcache::new(),
        &Pymemcache::plain(),
    ];
    for client in clients {
        for value in [Value::Date(0), Value::Ticks(0), Value::Char(0xd800)] {
            let error = client.encode(value).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Encode);
        }
        let character = client.encode(Value::from('\u{e9}')).unwrap();
        assert_eq!(*character.data, *"\u{e9}".as_bytes());
        let narrow = client.encode(Value::F32(0.5)).unwrap();
        let wide = client.encode(Value::F64(0.5)).unwrap();
        assert_eq!(narrow, wide);
        let read = client.decode(client.counter_flags(), Cow::Borrowed(b"9 "));
        assert_eq!(u64::from_value(read.unwrap()).unwrap(), 9);
    }
}
