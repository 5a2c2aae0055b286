//! Ruby's Dalli: `tests/golden/values/dalli.jsonl`.

use std::borrow::Cow;

use serde_json::Value as Json;
use sockio::ErrorKind;
use sockio::codec::{Compression, Dalli, FromValue, Transcoder, Value};

use super::captured::{assert_shown, captured, content, got_back, payload};
use super::{Tally, assert_same, flags, text};

/// Dalli's mark of a zlib stream or gzip member.
const COMPRESSED: u32 = 2;

const WRITTEN: &str = "written and read as in Ruby";
const PACKED: &str = "compressed as in Ruby, and read";
const OBJECT: &str = "Ruby object, read and written back unchanged";
const NO_TEXT: &str = "a string marked as UTF-8 that is none, read as bytes";
const ASCII: &str = "a string in US-ASCII, read as text";
const RAW: &str = "raw as in Ruby, read as bytes";
const RAW_NIL: &str = "nil as an empty text is refused";
const RAW_OBJECT: &str = "text of a Ruby object, read as bytes";
const READ: &str = "read as in Ruby";
const REFUSED: &str = "refused, as in Ruby";
const REST_DROPPED: &str = "fault: bytes behind the value are dropped";
const OTHER_COMPRESSOR: &str = "fault: gzip is read only by those who write it";
const UNCHECKED: &str = "a Ruby value that is not looked into";
const COUNTER: &str = "counter, same flags, read as a number";

#[test]
fn every_row_of_dalli() {
    let mut tally = Tally::default();
    for row in captured("dalli") {
        let config = text(&row, "config");
        let threshold = || Compression::new().threshold(99).only_if_smaller(false);
        let dalli = match config {
            "default" | "counter" => Dalli::new(),
            "raw" => Dalli::new().raw(true),
            "compression_min_size=100" => Dalli::new().compression(threshold()),
            "compression_min_size=100 raw" => Dalli::new().compression(threshold()).raw(true),
            "compress=false" => Dalli::new().compression(Compression::never()),
            "GzipCompressor" => Dalli::new().gzip(true).raw(true),
            other => panic!("unknown settings {other}"),
        };
        tally.count(match text(&row, "op") {
            "write" if config == "counter" => counter(&row, &dalli),
            "write" => written(&row, &dalli, config),
            "read" => read(&row, &dalli),
            other => panic!("unknown op {other}"),
        });
    }
    let rules = [
        (WRITTEN, 106),
        (PACKED, 46),
        (OBJECT, 21),
        (NO_TEXT, 1),
        (ASCII, 1),
        (RAW, 28),
        (RAW_NIL, 1),
        (RAW_OBJECT, 6),
        (READ, 37),
        (REFUSED, 17),
        (REST_DROPPED, 3),
        (OTHER_COMPRESSOR, 2),
        (UNCHECKED, 2),
        (COUNTER, 1),
    ];
    tally.is("dalli", &rules);
}

/// The Rust value of Ruby's; `None` for an object.
fn value(kind: &str, shown: &str) -> Option<Value<'static>> {
    Some(match kind {
        "String UTF-8" | "String US-ASCII" => match String::from_utf8(content(shown)) {
            Ok(text) => Value::from(text),
            Err(error) => Value::from(error.into_bytes()),
        },
        "String ASCII-8BIT" => Value::from(content(shown)),
        "Integer" => match (shown.parse(), shown.parse()) {
            (Ok(number), _) => Value::I64(number),
            (_, Ok(number)) => Value::U64(number),
            _ => return None,
        },
        "Float" => Value::F64(shown.parse().unwrap()),
        "TrueClass" => Value::Bool(true),
        "FalseClass" => Value::Bool(false),
        "NilClass" => Value::Null,
        "String ISO-8859-1" | "String UTF-16LE" | "String Shift_JIS" | "Symbol" | "Array"
        | "Hash" | "Range" | "Time" | "Date" | "BigDecimal" | "Rational" | "Set" | "Point" => {
            return None;
        }
        other => panic!("unknown type {other}"),
    })
}

fn inflated(data: &[u8]) -> Vec<u8> {
    let bytes = Dalli::new().decode(COMPRESSED, Cow::Borrowed(data));
    Vec::from_value(bytes.unwrap()).unwrap()
}

fn written(row: &Json, dalli: &Dalli, config: &str) -> &'static str {
    assert!(row["set_error"].is_null(), "{row}");
    let (flags, stored) = (flags(row), payload(row));
    let kind = text(row, "type");
    let packed = flags & COMPRESSED != 0;
    let raw = flags & !COMPRESSED == 0;
    assert_eq!(raw, config.contains("raw") || config == "GzipCompressor");
    let Some(value) = value(kind, text(row, "value")) else {
        let stored = stored.unwrap();
        let read = dalli.decode(flags, Cow::Borrowed(&stored)).unwrap();
        if raw {
            assert_same(&read, &Value::from(&stored), row);
            return RAW_OBJECT;
        }
        assert!(matches!(read, Value::Foreign { .. }), "{row}");
        let again = dalli.encode(read).unwrap();
        assert_eq!(again.flags, flags, "{row}");
        if packed {
            assert_eq!(inflated(&again.data), inflated(&stored), "{row}");
        } else {
            assert_eq!(*again.data, stored, "{row}");
        }
        return OBJECT;
    };
    if raw && value == Value::Null {
        assert_eq!(stored.unwrap(), b"");
        let error = dalli.encode(value).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Encode);
        return RAW_NIL;
    }

    let mine = dalli.encode(value.borrowed()).unwrap();
    let stored = match stored {
        Some(stored) => stored,
        // Noise: the row has the digest of what Ruby's zlib makes of it.
        None if packed => mine.data.to_vec(),
        None => {
            assert_shown(&mine.data, text(row, "payload"), row);
            mine.data.to_vec()
        }
    };
    let read = dalli.decode(flags, Cow::Borrowed(&stored)).unwrap();
    // A string says more than Rust's: what is no text is bytes, and US-ASCII is text like any.
    let same_string = match kind {
        "String UTF-8" => matches!(value, Value::Text(_)),
        kind => kind != "String US-ASCII",
    };
    if !raw && !same_string {
        assert_same(&read, &value, row);
        assert_ne!(*mine.data, stored);
        return match value {
            Value::Text(_) => ASCII,
            _ => NO_TEXT,
        };
    }
    assert_eq!(mine.flags, flags, "{row}");
    if packed {
        assert_eq!(inflated(&mine.data), inflated(&stored), "{row}");
    } else {
        assert_eq!(*mine.data, stored, "{row}");
    }
    let (_, shown) = got_back(row).unwrap();
    if raw {
        // The encoding that Dalli gives a raw string follows from what it had read before.
        let bytes = Vec::from_value(read).unwrap();
        assert_shown(&bytes, shown, row);
    } else {
        assert_same(&read, &value, row);
        assert_eq!(row["get_back"], "same", "{row}");
    }
    match (packed, raw) {
        (true, _) => PACKED,
        (_, true) => RAW,
        _ => WRITTEN,
    }
}

fn counter(row: &Json, dalli: &Dalli) -> &'static str {
    assert_eq!(dalli.counter_flags(), flags(row));
    let stored = payload(row).unwrap();
    let read = dalli.decode(flags(row), Cow::Owned(stored)).unwrap();
    assert_eq!(u64::from_value(read.borrowed()).unwrap(), 10);
    assert_shown(
        &Vec::from_value(read).unwrap(),
        got_back(row).unwrap().1,
        row,
    );
    COUNTER
}

fn read(row: &Json, dalli: &Dalli) -> &'static str {
    let (flags, stored) = (flags(row), payload(row).unwrap());
    let result = dalli.decode(flags, Cow::Borrowed(&stored));
    let refused = || result.as_ref().unwrap_err().kind() == ErrorKind::Decode;
    match text(row, "name") {
        "zlib and more" | "zlib twice" | "marshal and more" => {
            assert!(refused() && got_back(row).is_ok(), "{row}");
            return REST_DROPPED;
        }
        "gzip" | "marshal gzip" => {
            assert!(result.is_ok() && got_back(row).is_err());
            return OTHER_COMPRESSOR;
        }
        "marshal unknown class" | "marshal float spelled" => {
            assert!(matches!(result, Ok(Value::Foreign { .. })), "{row}");
            return UNCHECKED;
        }
        _ => {}
    }
    let Ok((kind, shown)) = got_back(row) else {
        assert!(refused(), "{row}");
        return REFUSED;
    };
    let read = result.unwrap();
    if flags & 1 == 0 {
        assert_shown(&Vec::from_value(read).unwrap(), shown, row);
        return READ;
    }
    match value(kind, shown) {
        Some(value) => {
            assert_same(&read, &value, row);
            READ
        }
        None => {
            assert!(matches!(read, Value::Foreign { .. }), "{row}");
            let again = dalli.encode(read).unwrap();
            assert_eq!((again.flags, &*again.data), (flags, &*stored), "{row}");
            OBJECT
        }
    }
}

/// What the rows do not show.
#[test]
fn what_ruby_has_no_type_for() {
    for dalli in [Dalli::new(), Dalli::new().raw(true)] {
        for value in [Value::Date(0), Value::Ticks(0), Value::Char(0xd800)] {
            let error = dalli.encode(value).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Encode);
        }
        let character = dalli.encode(Value::from('\u{e9}')).unwrap();
        assert_eq!(character, dalli.encode(Value::from("\u{e9}")).unwrap());
        for (narrow, wide) in [
            (Value::F32(0.5), Value::F64(0.5)),
            (Value::U8(200), Value::I64(200)),
            (Value::U64(7), Value::I8(7)),
        ] {
            assert_eq!(dalli.encode(narrow).unwrap(), dalli.encode(wide).unwrap());
        }
    }
}
