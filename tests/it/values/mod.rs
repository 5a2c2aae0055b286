//! Values against what the peers wrote and read: every captured row, each under a named rule.

mod captured;
mod dalli;
mod enyim;
mod memcacheddotnet;
mod mended;
mod perl;
mod python;
mod spymemcached;
mod whalin;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value as Json;
use sockio::codec::{Encoded, Raw, Transcoder, Value};

/// The bit that the Java and both .NET clients' forms, and `Raw`, use for gzip.
const GZIP: u32 = 2;

/// How many rows fell under each rule.
#[derive(Default)]
struct Tally(BTreeMap<&'static str, usize>);

impl Tally {
    fn count(&mut self, rule: &'static str) {
        *self.0.entry(rule).or_default() += 1;
    }

    /// Prints the counts and compares them all: no row may be missing, none may change its rule unnoticed.
    fn is(self, client: &str, expected: &[(&str, usize)]) {
        for (rule, rows) in &self.0 {
            println!("{client}: {rows:4} {rule}");
        }
        let counted: Vec<_> = self.0.into_iter().collect();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(counted, expected, "{client}");
    }
}

fn rows(client: &str) -> Vec<Json> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden/compat/values")
        .join(client)
        .with_extension("jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn text<'r>(row: &'r Json, field: &str) -> &'r str {
    row[field]
        .as_str()
        .unwrap_or_else(|| panic!("{field} of {row}"))
}

fn number(row: &Json, field: &str) -> u64 {
    row[field]
        .as_u64()
        .unwrap_or_else(|| panic!("{field} of {row}"))
}

fn flags(row: &Json) -> u32 {
    number(row, "flags").try_into().unwrap()
}

fn unhex(hex: &str) -> Vec<u8> {
    assert!(hex.len() % 2 == 0, "{hex}");
    (0..hex.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
        .collect()
}

/// The value, for messages: its own `Debug` hides the content.
fn show(value: &Value<'_>) -> String {
    match value {
        Value::Text(v) | Value::StringBuffer(v) | Value::StringBuilder(v) => {
            format!("{value:?} {v:?}")
        }
        Value::Bytes(v) => format!("{value:?} {v:?}"),
        Value::Foreign { bytes, .. } => format!("{value:?} {bytes:?}"),
        Value::F32(v) => format!("f32 {v:?} {:x}", v.to_bits()),
        Value::F64(v) => format!("f64 {v:?} {:x}", v.to_bits()),
        Value::Bool(v) => format!("bool {v}"),
        Value::I8(v) => format!("i8 {v}"),
        Value::I16(v) => format!("i16 {v}"),
        Value::I32(v) => format!("i32 {v}"),
        Value::I64(v) => format!("i64 {v}"),
        Value::U8(v) => format!("u8 {v}"),
        Value::U16(v) => format!("u16 {v}"),
        Value::U32(v) => format!("u32 {v}"),
        Value::U64(v) => format!("u64 {v}"),
        Value::Char(v) => format!("char {v:x}"),
        Value::Date(v) => format!("date {v}"),
        Value::Ticks(v) => format!("ticks {v}"),
        Value::Null => "null".into(),
        other => panic!("unknown {other:?}"),
    }
}

/// Equal in type and in every bit; every NaN is one.
#[track_caller]
fn assert_same(read: &Value<'_>, expected: &Value<'_>, row: &Json) {
    let nan = |value: &Value<'_>| match value {
        Value::F32(v) => v.is_nan(),
        Value::F64(v) => v.is_nan(),
        _ => false,
    };
    let both_nan = nan(read) && nan(expected) && read.kind() == expected.kind();
    assert!(
        both_nan || show(read) == show(expected),
        "{}, not {}: {row}",
        show(read),
        show(expected)
    );
}

trait Kind {
    fn kind(&self) -> std::mem::Discriminant<Value<'static>>;
}

impl Kind for Value<'_> {
    fn kind(&self) -> std::mem::Discriminant<Value<'static>> {
        std::mem::discriminant(&self.clone().into_owned())
    }
}

/// The payload before compression.
fn inflated(flags: u32, data: &[u8]) -> Vec<u8> {
    let raw = Raw::new()
        .decode(flags & GZIP, Cow::Borrowed(data))
        .unwrap();
    match raw {
        Value::Bytes(bytes) => bytes.into_owned(),
        other => panic!("{other:?}"),
    }
}

/// The same flags and, before compression, the same payload.
#[track_caller]
fn assert_written(written: &Encoded<'_>, flags: u32, payload: &[u8], gzip: bool, row: &Json) {
    assert_eq!(written.flags, flags, "{row}");
    if gzip {
        assert_eq!(
            inflated(GZIP, &written.data),
            inflated(GZIP, payload),
            "{row}"
        );
    } else {
        assert_eq!(&*written.data, payload, "{row}");
    }
}

/// A value that no Rust type is: read as an object, written back unchanged.
#[track_caller]
fn assert_object(transcoder: &dyn Transcoder, flags: u32, payload: &[u8], gzip: bool, row: &Json) {
    let value = transcoder.decode(flags, Cow::Borrowed(payload)).unwrap();
    assert!(matches!(value, Value::Foreign { .. }), "{value:?}: {row}");
    let written = transcoder.encode(value).unwrap();
    assert_written(&written, flags, payload, gzip, row);
}
