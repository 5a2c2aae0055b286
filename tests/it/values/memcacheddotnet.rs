//! memcacheddotnet: `tests/golden/compat/values/memcacheddotnet.jsonl`.

use std::borrow::Cow;

use serde_json::Value as Json;
use sockio::ErrorKind;
use sockio::codec::{Compression, MemcachedDotNet, Transcoder, Value};

use super::{
    Tally, assert_object, assert_same, assert_written, flags, inflated, number, rows, text, unhex,
};

const WRITTEN: &str = "written and read as in .NET";
const WRITTEN_TEXT: &str = "written as text as in .NET, read as text";
const OBJECT: &str = ".NET object, read and written back unchanged";
const COMPRESSED: &str = "compressed or not, as in .NET";
const READ: &str = "read as in .NET, with and without PrimitiveAsString";
const NO_VALUE: &str = "expiry, command or miss; no form of a value";
const FAULT_FOREIGN: &str = "fault: text of other clients reads as null";
const FAULT_DAMAGE: &str = "fault: a damaged value reads as null";
const FAULT_SECOND_MEMBER: &str = "fault: a second gzip member is dropped";
const FAULT_HIGH_FLAGS: &str = "fault: flags of 2^31 and more throw";

#[test]
fn every_row_of_memcacheddotnet() {
    let mut tally = Tally::default();
    for row in rows("memcacheddotnet") {
        tally.count(match text(&row, "section") {
            "native" => written(&row, &MemcachedDotNet::new(), false),
            "primitive_as_string" => written(
                &row,
                &MemcachedDotNet::new().primitive_as_string(true),
                true,
            ),
            "compression" => compressed(&row),
            "expiry" | "other_commands" => NO_VALUE,
            "decode" => read(&row),
            other => panic!("unknown section {other}"),
        });
    }
    tally.is(
        "memcacheddotnet",
        &[
            (WRITTEN, 49),
            (WRITTEN_TEXT, 41),
            (OBJECT, 14),
            (COMPRESSED, 6),
            (READ, 24),
            (NO_VALUE, 21),
            (FAULT_FOREIGN, 4),
            (FAULT_DAMAGE, 5),
            (FAULT_SECOND_MEMBER, 1),
            (FAULT_HIGH_FLAGS, 1),
        ],
    );
}

fn written(row: &Json, client: &MemcachedDotNet, as_string: bool) -> &'static str {
    let (flags, payload) = (flags(row), unhex(text(row, "hex")));
    assert_eq!(payload.len() as u64, number(row, "length"), "{row}");
    assert_eq!(row["set_returned"], true);
    let Some(value) = value(text(row, "name")) else {
        assert_object(client, flags, &payload, false, row);
        return OBJECT;
    };
    assert_written(
        &client.encode(value.borrowed()).unwrap(),
        flags,
        &payload,
        false,
        row,
    );
    let read = client.decode(flags, Cow::Borrowed(&payload)).unwrap();
    if as_string && flags == 0 {
        let text = std::str::from_utf8(&payload).unwrap();
        assert_same(&read, &Value::from(text), row);
        return WRITTEN_TEXT;
    }
    assert_same(&read, &value, row);
    WRITTEN
}

/// The Rust value of the row's name; `None` for an object.
fn value(name: &str) -> Option<Value<'static>> {
    if name == "null" {
        return Some(Value::Null);
    }
    let (kind, text) = name.split_once(':').unwrap();
    // Behind the number of the float: .NET's text of it shows no sign of zero.
    let float = |negative_zero: &str| {
        let (number, text) = text.split_once(':').unwrap();
        if number == negative_zero {
            -0.0
        } else {
            text.parse::<f64>().unwrap()
        }
    };
    Some(match kind {
        "bool" => Value::Bool(text.parse().unwrap()),
        "short" => Value::I16(text.parse().unwrap()),
        "int" | "int?" => Value::I32(text.parse().unwrap()),
        "long" => Value::I64(text.parse().unwrap()),
        "float" => Value::F32(float("27") as f32),
        "double" => Value::F64(float("37")),
        "char" => Value::Char(u16::from_str_radix(text.strip_prefix("U+").unwrap(), 16).unwrap()),
        "string" => Value::from(match text {
            "hello" => "hello",
            "hanzi" => "\u{65e5}\u{5fd7}",
            // What .NET makes of half of a pair; a Rust text cannot have one.
            "lone-surrogate" => "a\u{fffd}b",
            "nul" => "a\0b",
            other => panic!("unknown text {other}"),
        }),
        "StringBuilder" => Value::StringBuilder(Cow::Borrowed(match text {
            "hello" => "hello",
            "empty" => "",
            other => panic!("unknown text {other}"),
        })),
        "DateTime" => Value::Ticks(match text {
            "ticks0" => 0,
            "1943-02-03" => 612_863_712_000_000_000,
            "2007-06-07T12:34:56.789-kindLocal" => 633_168_164_967_890_000,
            "1970-01-01" => 621_355_968_000_000_000,
            "Max" => 3_155_378_975_999_999_999,
            other => panic!("unknown date {other}"),
        }),
        "byte[]" => Value::from(unhex(if text == "empty" { "" } else { text })),
        "ushort" => Value::U16(text.parse().unwrap()),
        "ulong" => Value::U64(u64::MAX),
        "decimal" | "Guid" | "TimeSpan" | "int[]" | "object[]" | "Hashtable" | "enum" => {
            return None;
        }
        other => panic!("unknown type {other}"),
    })
}

fn compressed(row: &Json) -> &'static str {
    let default = MemcachedDotNet::new();
    let above = |bytes| {
        let compression = Compression::new().threshold(bytes).only_if_smaller(false);
        MemcachedDotNet::new().compression(compression)
    };
    let letters = |count| "A".repeat(count);
    let (client, content) = match text(row, "name") {
        "str30719A_default" => (default, letters(30_719)),
        "str30720A_off" => (default.compression(Compression::never()), letters(30_720)),
        "asString30720A" => (default.primitive_as_string(true), letters(30_720)),
        "asString30721A" => (default.primitive_as_string(true), letters(30_721)),
        "hello_threshold5" => (above(5), "hello".into()),
        "hello_threshold6" => (above(6), "hello".into()),
        other => panic!("unknown case {other}"),
    };
    let written = client.encode(Value::from(&content)).unwrap();
    assert_eq!(written.flags, flags(row), "{row}");
    assert_eq!(written.flags == 2, row["compressed"] == true, "{row}");
    let plain = inflated(written.flags, &written.data);
    assert_eq!(
        plain.len() as u64,
        number(row, "uncompressed_length"),
        "{row}"
    );
    assert!(
        plain.starts_with(&unhex(text(row, "uncompressed_head_hex"))),
        "{row}"
    );
    if written.flags == 0 {
        assert_eq!(
            written.data.len() as u64,
            number(row, "stored_length"),
            "{row}"
        );
    }
    if let Some(hex) = row["stored_hex"].as_str() {
        let stored = unhex(hex);
        assert_eq!(inflated(written.flags, &stored), plain, "{row}");
        assert_same(
            &client.decode(written.flags, Cow::Owned(stored)).unwrap(),
            &Value::from(&content),
            row,
        );
    }
    assert_same(
        &client.decode(written.flags, written.data).unwrap(),
        &Value::from(&content),
        row,
    );
    COMPRESSED
}

fn read(row: &Json) -> &'static str {
    let name = text(row, "name");
    let (get, as_string) = (text(row, "get"), text(row, "get_asString"));
    if name == "missing" {
        assert_eq!((get, as_string), ("null", "null"));
        return NO_VALUE;
    }
    let (flags, payload) = (flags(row), unhex(text(row, "hex")));
    let typed = MemcachedDotNet::new().decode(flags, Cow::Borrowed(&payload));
    let client = MemcachedDotNet::new().primitive_as_string(true);
    let read_as_string = client.decode(flags, Cow::Borrowed(&payload));
    let refused = |result: &sockio::Result<Value<'_>>| {
        assert_eq!(
            result.as_ref().unwrap_err().kind(),
            ErrorKind::Decode,
            "{row}"
        );
    };
    match name {
        "plain_hello" | "plain_123" | "marker_0" | "marker_12" => {
            assert_eq!(get, "null");
            assert_same(&typed.unwrap(), &Value::from(&payload), row);
            same_text(&read_as_string.unwrap(), as_string, &payload, row);
            FAULT_FOREIGN
        }
        "short_2bytes" | "date_badticks" => {
            assert_eq!(get, "null");
            refused(&typed);
            same_text(&read_as_string.unwrap(), as_string, &payload, row);
            FAULT_DAMAGE
        }
        "ser_garbage" | "ser_empty" | "gzip_empty" => {
            assert_eq!(get, "null");
            refused(&typed);
            refused(&read_as_string);
            FAULT_DAMAGE
        }
        "gzip_twomembers" => {
            assert_eq!(get, "String:3:68-65-6C");
            refused(&typed);
            refused(&read_as_string);
            FAULT_SECOND_MEMBER
        }
        "flag2147483648" => {
            assert_eq!(get, "EXC:System.OverflowException");
            assert_same(&typed.unwrap(), &Value::from("hello"), row);
            FAULT_HIGH_FLAGS
        }
        _ if get.starts_with("EXC:") => {
            assert_eq!(get, as_string);
            refused(&typed);
            refused(&read_as_string);
            READ
        }
        _ => {
            assert_same(&typed.unwrap(), &result(get), row);
            let read_as_string = read_as_string.unwrap();
            if flags & 8 != 0 {
                assert_same(&read_as_string, &result(as_string), row);
            } else {
                same_text(
                    &read_as_string,
                    as_string,
                    &inflated(flags & 2, &payload),
                    row,
                );
            }
            READ
        }
    }
}

/// .NET puts U+FFFD for what is no UTF-8; here such a payload comes back as the bytes that it is.
#[track_caller]
fn same_text(read: &Value<'_>, dotnet: &str, plain: &[u8], row: &Json) {
    match std::str::from_utf8(plain) {
        Ok(text) => {
            assert_same(&result(dotnet), &Value::from(text), row);
            assert_same(read, &Value::from(text), row);
        }
        Err(_) => {
            assert!(dotnet.contains("EF-BF-BD"), "{row}");
            assert_same(read, &Value::from(plain), row);
        }
    }
}

/// The row's notation of what .NET returned.
fn result(shown: &str) -> Value<'static> {
    let bytes = |hex: &str| unhex(&hex.replace('-', ""));
    let (kind, text) = shown.split_once(':').unwrap();
    match kind {
        "Int16" => Value::I16(text.parse().unwrap()),
        "Int32" => Value::I32(text.parse().unwrap()),
        "Int64" => Value::I64(text.parse().unwrap()),
        "Char" => Value::Char(text.parse().unwrap()),
        "Double" => Value::F64(text.parse().unwrap()),
        "DateTime" => Value::Ticks(text.strip_suffix(":Unspecified").unwrap().parse().unwrap()),
        "String" => {
            let (_, hex) = text.split_once(':').unwrap();
            Value::from(String::from_utf8(bytes(hex)).unwrap())
        }
        "Byte[]" => Value::from(bytes(text)),
        other => panic!("unknown result {other}"),
    }
}

/// What the rows do not show.
#[test]
fn every_integer_and_a_utc_date_have_a_form() {
    let client = MemcachedDotNet::new();
    for value in [Value::I8(-1), Value::U8(200), Value::U32(u32::MAX)] {
        let written = client.encode(value.borrowed()).unwrap();
        let read = client.decode(written.flags, written.data).unwrap();
        assert_eq!(read, value);
    }
    let written = client.encode(Value::Date(0)).unwrap();
    let read = client.decode(written.flags, written.data).unwrap();
    assert_eq!(read, Value::Ticks(621_355_968_000_000_000));
    let error = client.encode(Value::Date(i64::MAX)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Encode);
}
