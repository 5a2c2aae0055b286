//! Perl's two clients: `tests/golden/values/perl-cache-memcached.jsonl`.

use std::borrow::Cow;

use serde_json::Value as Json;
use sockio::ErrorKind;
use sockio::codec::{Compression, FromValue, PerlCacheMemcached, Transcoder, Value};

use super::captured::{assert_shown, captured, content, got_back, payload};
use super::{GZIP, Tally, assert_same, flags, inflated, text};

const WRITTEN: &str = "written and read as in Perl";
const NUMBER: &str = "number, written as in Perl, read as bytes";
const TRUTH: &str = "truth value, false as 0 where Perl's is empty";
const PACKED: &str = "compressed as in Perl, and read";
const OBJECT: &str = "Perl reference, read and written back unchanged";
const UNDEF: &str = "undef is refused";
const LATIN_1: &str = "characters as Latin-1, read as bytes";
const WIDE: &str = "fault: characters above Latin-1 end the program";
const READ: &str = "read as in Perl";
const REFUSED: &str = "refused, where Perl reads undef";
const DAMAGED: &str = "fault: a damaged or cut value is read as far as it goes";
const BROKEN_TEXT: &str = "fault: text that is no UTF-8 is bytes without utf8 => 1";
const COUNTER: &str = "counter, same flags, read as a number";

#[test]
fn every_row_of_perl_cache_memcached() {
    let mut tally = Tally::default();
    for row in captured("perl-cache-memcached") {
        let perl = match text(&row, "version") {
            "Cache::Memcached 1.30" => PerlCacheMemcached::new(),
            "Cache::Memcached::Fast 0.28" => PerlCacheMemcached::fast(),
            other => panic!("unknown version {other}"),
        };
        let config = text(&row, "config");
        let from_100 = Compression::new().threshold(99);
        let perl = match config {
            "default" | "counter" => perl,
            "utf8=1" => perl.utf8(true),
            "compress_threshold=100" => perl.compression(from_100),
            "compress_threshold=100 utf8=1" => perl.compression(from_100).utf8(true),
            other => panic!("unknown settings {other}"),
        };
        tally.count(match text(&row, "op") {
            "write" if config == "counter" => counter(&row, &perl),
            "write" => written(&row, &perl, config.contains("utf8")),
            "read" => read(&row, &perl),
            other => panic!("unknown op {other}"),
        });
    }
    let rules = [
        (WRITTEN, 44),
        (NUMBER, 36),
        (TRUTH, 6),
        (PACKED, 7),
        (OBJECT, 13),
        (UNDEF, 3),
        (LATIN_1, 1),
        (WIDE, 1),
        (READ, 69),
        (REFUSED, 34),
        (DAMAGED, 9),
        (BROKEN_TEXT, 2),
        (COUNTER, 1),
    ];
    tally.is("perl-cache-memcached", &rules);
}

/// What Perl writes on the left, a Rust program writes as the value on the right; `None` for a reference.
fn value(kind: &str, shown: &str) -> Option<Value<'static>> {
    Some(match kind {
        "bytes" => Value::from(content(shown)),
        "characters" => Value::from(String::from_utf8(content(shown)).unwrap()),
        "number" => match (shown.parse(), shown.parse()) {
            (Ok(number), _) => Value::I64(number),
            (_, Ok(number)) => Value::U64(number),
            _ => Value::F64(shown.parse().unwrap()),
        },
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        "undef" => Value::Null,
        "ARRAY" | "HASH" | "SCALAR" | "Point" => return None,
        other => panic!("unknown type {other}"),
    })
}

fn written(row: &Json, perl: &PerlCacheMemcached, utf8: bool) -> &'static str {
    let kind = text(row, "type");
    let value = value(kind, text(row, "value"));
    if value == Some(Value::Null) {
        let error = perl.encode(Value::Null).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Encode);
        return UNDEF;
    }
    if let Some(error) = row["set_error"].as_str() {
        assert_eq!((error, kind, utf8), ("died", "characters", false), "{row}");
        return WIDE;
    }
    let (flags, stored) = (flags(row), payload(row).unwrap());
    let read = perl.decode(flags, Cow::Borrowed(&stored)).unwrap();
    let Some(value) = value else {
        assert!(matches!(read, Value::Foreign { .. }), "{row}");
        let again = perl.encode(read).unwrap();
        assert_eq!(again.flags, flags, "{row}");
        assert_eq!(plain(flags, &again.data), plain(flags, &stored), "{row}");
        return OBJECT;
    };
    let mine = perl.encode(value.borrowed()).unwrap();
    if kind == "characters" && *mine.data != *stored && flags == 0 {
        let latin_1: Vec<char> = stored.iter().map(|byte| char::from(*byte)).collect();
        assert_eq!(
            String::from_iter(latin_1),
            String::from_value(value).unwrap()
        );
        return LATIN_1;
    }
    if kind == "false" {
        assert_eq!((&*mine.data, &*stored), (&b"0"[..], &b""[..]));
        return TRUTH;
    }
    assert_eq!(mine.flags, flags, "{row}");
    assert_eq!(plain(flags, &mine.data), plain(flags, &stored), "{row}");
    let (_, shown) = got_back(row).unwrap();
    if kind == "number" {
        assert_shown(&stored, shown, row);
        assert_same(&read, &Value::from(&stored), row);
        match value {
            Value::F64(number) => assert_eq!(f64::from_value(read).unwrap(), number),
            Value::U64(number) => assert_eq!(u64::from_value(read).unwrap(), number),
            Value::I64(number) => assert_eq!(i64::from_value(read).unwrap(), number),
            other => panic!("{other:?}"),
        }
        return NUMBER;
    }
    if kind == "true" {
        assert!(bool::from_value(read).unwrap());
        return TRUTH;
    }
    assert_shown(&Vec::from_value(read.borrowed()).unwrap(), shown, row);
    assert_eq!(matches!(read, Value::Text(_)), flags & 4 != 0, "{row}");
    if flags & GZIP != 0 { PACKED } else { WRITTEN }
}

fn plain(flags: u32, data: &[u8]) -> Vec<u8> {
    match flags & GZIP {
        0 => data.to_vec(),
        _ => inflated(GZIP, data),
    }
}

fn counter(row: &Json, perl: &PerlCacheMemcached) -> &'static str {
    assert_eq!(perl.counter_flags(), flags(row));
    let stored = payload(row).unwrap();
    let read = perl.decode(flags(row), Cow::Owned(stored)).unwrap();
    assert_eq!(u64::from_value(read).unwrap(), 10);
    COUNTER
}

fn read(row: &Json, perl: &PerlCacheMemcached) -> &'static str {
    let (flags, stored) = (flags(row), payload(row).unwrap());
    let result = perl.decode(flags, Cow::Borrowed(&stored));
    let refused = || result.as_ref().unwrap_err().kind() == ErrorKind::Decode;
    let (kind, shown) = got_back(row).unwrap();
    if kind == "undef" {
        assert!(refused(), "{row}");
        return REFUSED;
    }
    if result.is_err() {
        assert!(refused(), "{row}");
        return match text(row, "name") {
            "gzip cut" | "gzip and more" | "gzip twice" => DAMAGED,
            "utf8 flag, broken" => BROKEN_TEXT,
            other => panic!("{other} was refused"),
        };
    }
    let read = result.unwrap();
    assert_eq!(matches!(read, Value::Text(_)), flags & 4 != 0, "{row}");
    assert_shown(&Vec::from_value(read).unwrap(), shown, row);
    READ
}

/// What the rows do not show.
#[test]
fn what_perl_has_no_type_for() {
    let perl = PerlCacheMemcached::new();
    for value in [Value::Date(0), Value::Ticks(0), Value::Char(0xd800)] {
        let error = perl.encode(value).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Encode);
    }
    for (value, stored) in [
        (Value::F64(1.0), "1"),
        (Value::F32(0.5), "0.5"),
        (Value::F64(0.1 + 0.2), "0.30000000000000004"),
        (Value::F64(f64::NEG_INFINITY), "-Inf"),
        (Value::from('\u{e9}'), "\u{e9}"),
    ] {
        assert_eq!(*perl.encode(value).unwrap().data, *stored.as_bytes());
    }
}
