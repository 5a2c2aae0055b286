//! EnyimMemcached: `tests/golden/compat/values/enyim.jsonl`.

use std::borrow::Cow;

use serde_json::Value as Json;
use sockio::ErrorKind;
use sockio::codec::{Enyim, Transcoder, Value};

use super::{Tally, assert_object, assert_same, assert_written, flags, rows, text, unhex};

const WRITTEN: &str = "written and read as in .NET";
const WRITTEN_LONG: &str = "written and read as in .NET; the row has the head only";
const OBJECT: &str = ".NET object, read and written back unchanged";
const READ: &str = "read as in .NET";
const REFUSED: &str = "refused, as in .NET";

/// 1943-02-03 in ticks.
const DATE: i64 = 612_863_712_000_000_000;

#[test]
fn every_row_of_enyim() {
    let mut tally = Tally::default();
    for row in rows("enyim") {
        tally.count(match text(&row, "section") {
            "serialize" => written(&row),
            "deserialize" => read(&row),
            other => panic!("unknown section {other}"),
        });
    }
    tally.is(
        "enyim",
        &[
            (WRITTEN, 18),
            (WRITTEN_LONG, 1),
            (OBJECT, 3),
            (READ, 4),
            (REFUSED, 2),
        ],
    );
}

fn written(row: &Json) -> &'static str {
    let (enyim, flags, payload) = (Enyim::new(), flags(row), unhex(text(row, "hex")));
    assert!(row["exception"].is_null());
    let value = match text(row, "name") {
        "null" | "DBNull" => Value::Null,
        "bool:true" => Value::Bool(true),
        "bool:false" => Value::Bool(false),
        "sbyte:-1" => Value::I8(-1),
        "byte:255" => Value::U8(255),
        "int:1" => Value::I32(1),
        "long:1234567890123456789" => Value::I64(1_234_567_890_123_456_789),
        "char:U+D55C" => Value::Char(0xd55c),
        "float:1.1" => Value::F32(1.1),
        "double:1.1" => Value::F64(1.1),
        "string:empty" => Value::from(""),
        "string:emoji" => Value::from("\u{1f600}"),
        "DateTime:1943-02-03 Unspecified" => Value::Ticks(DATE),
        "DateTime:ticks0" => Value::Ticks(0),
        "byte[]:010203" => Value::from(b"\x01\x02\x03"),
        "byte[]:empty" => Value::from(b""),
        "ArraySegment:0203" => Value::from(b"\x02\x03"),
        "string*100000" => {
            let long = "A".repeat(100_000);
            let written = enyim.encode(Value::from(&long)).unwrap();
            assert_eq!(written.flags, flags);
            assert!(written.data.starts_with(&payload) && written.data.len() == long.len());
            assert_same(
                &enyim.decode(flags, written.data).unwrap(),
                &Value::from(&long),
                row,
            );
            return WRITTEN_LONG;
        }
        "decimal:1.10" | "int[]:1,2" | "TimeSpan:1s" => {
            assert_object(&enyim, flags, &payload, false, row);
            return OBJECT;
        }
        other => panic!("unknown value {other}"),
    };
    assert_written(
        &enyim.encode(value.borrowed()).unwrap(),
        flags,
        &payload,
        false,
        row,
    );
    assert_same(
        &enyim.decode(flags, Cow::Owned(payload)).unwrap(),
        &value,
        row,
    );
    WRITTEN
}

fn read(row: &Json) -> &'static str {
    let result = Enyim::new().decode(flags(row), Cow::Owned(unhex(text(row, "hex"))));
    let expected = match text(row, "result") {
        "String:hello" => Value::from("hello"),
        "Byte[]:01-02-03" => Value::from(b"\x01\x02\x03"),
        "Boolean:True" => Value::Bool(true),
        "EXC:SerializationException" | "EXC:ArgumentException" => {
            assert_eq!(result.unwrap_err().kind(), ErrorKind::Decode, "{row}");
            return REFUSED;
        }
        other => panic!("unknown result {other}"),
    };
    assert_same(&result.unwrap(), &expected, row);
    READ
}

/// What the rows do not show.
#[test]
fn a_date_in_utc_keeps_its_zone() {
    use sockio::{FromValue, ToValue};
    use std::time::{Duration, SystemTime};

    let time = SystemTime::UNIX_EPOCH + Duration::from_millis(1_325_376_000_123);
    let written = Enyim::new().encode(time.to_value()).unwrap();
    assert_eq!(written.flags, 0x110);
    // Kind 1, UTC, in the upper two bits.
    assert_eq!(written.data[7] >> 6, 1);
    let read = Enyim::new().decode(written.flags, written.data).unwrap();
    assert_eq!(SystemTime::from_value(read).unwrap(), time);
}
