//! The few forms of .NET's `BinaryFormatter` (MS-NRBF) that have a Rust type: byte arrays and the integers that the .NET client has no form of its own for.
//! Everything else stays the foreign object that it is.

use std::borrow::Cow;

use super::payload;
use super::value::{ForeignKind, Value};

/// `SerializedStreamHeader`, section 2.6.1: root object 1, no header object, version 1.0.
const HEADER: [u8; 17] = [
    0, 1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0, 0, 0, 0, 0,
];

/// The version alone: a root object may have another number.
const VERSION: [u8; 8] = [1, 0, 0, 0, 0, 0, 0, 0];
const VERSION_AT: usize = 9;

/// `ArraySinglePrimitive` of object 1, section 2.4.3.3.
const ARRAY: [u8; 5] = [15, 1, 0, 0, 0];

/// `SystemClassWithMembersAndTypes` of object 1, section 2.3.2.4.
const CLASS: [u8; 5] = [4, 1, 0, 0, 0];

/// One member, `m_value`, which is primitive (`BinaryTypeEnumeration`, section 2.1.2.2).
const MEMBER: &[u8] = b"\x01\0\0\0\x07m_value\0";

/// `MessageEnd`, section 2.6.3.
const END: u8 = 11;

/// `PrimitiveTypeEnumeration`, section 2.1.2.3.
const BYTE: u8 = 2;
const SBYTE: u8 = 10;
const UINT16: u8 = 14;
const UINT32: u8 = 15;
const UINT64: u8 = 16;

/// The stream for a value of one of the types named above.
pub(super) fn write(value: &Value<'_>) -> Option<Vec<u8>> {
    match value {
        Value::Bytes(bytes) => {
            let len = i32::try_from(bytes.len()).ok()?;
            Some(
                [
                    &HEADER[..],
                    &ARRAY,
                    &len.to_le_bytes(),
                    &[BYTE],
                    bytes,
                    &[END],
                ]
                .concat(),
            )
        }
        Value::I8(v) => Some(boxed("System.SByte", SBYTE, &v.to_le_bytes())),
        Value::U16(v) => Some(boxed("System.UInt16", UINT16, &v.to_le_bytes())),
        Value::U32(v) => Some(boxed("System.UInt32", UINT32, &v.to_le_bytes())),
        Value::U64(v) => Some(boxed("System.UInt64", UINT64, &v.to_le_bytes())),
        _ => None,
    }
}

/// The value in a stream; the stream itself if it holds anything else. `None` if it is no stream.
pub(super) fn read(stream: Cow<'_, [u8]>) -> Option<Value<'_>> {
    if !is_stream(&stream) {
        return None;
    }
    if let Some(scalar) = read_boxed(&stream) {
        return Some(scalar);
    }
    if let Some(len) = read_array(&stream) {
        let mut bytes = payload::behind(stream, HEADER.len() + ARRAY.len() + 5);
        match &mut bytes {
            Cow::Borrowed(bytes) => *bytes = bytes.get(..len)?,
            Cow::Owned(bytes) => bytes.truncate(len),
        }
        return Some(Value::Bytes(bytes));
    }
    Some(Value::Foreign {
        kind: ForeignKind::DotNet,
        bytes: stream,
    })
}

/// Whether the bytes begin as every stream does.
pub(super) fn is_stream(bytes: &[u8]) -> bool {
    let version = bytes.get(VERSION_AT..VERSION_AT + VERSION.len());
    bytes.first() == Some(&0) && version == Some(&VERSION)
}

fn boxed(class: &str, kind: u8, value: &[u8]) -> Vec<u8> {
    let name = [&[class.len() as u8], class.as_bytes()].concat();
    [&HEADER[..], &CLASS, &name, MEMBER, &[kind], value, &[END]].concat()
}

fn read_boxed(stream: &[u8]) -> Option<Value<'static>> {
    let class = stream.strip_prefix(&HEADER)?.strip_prefix(&CLASS)?;
    let (len, class) = class.split_first()?;
    let (name, rest) = class.split_at_checked(usize::from(*len))?;
    let (kind, value) = rest.strip_prefix(MEMBER)?.split_first()?;
    let value = value.strip_suffix(&[END])?;
    match (name, *kind) {
        (b"System.SByte", SBYTE) => Some(Value::I8(i8::from_le_bytes(value.try_into().ok()?))),
        (b"System.UInt16", UINT16) => Some(Value::U16(u16::from_le_bytes(value.try_into().ok()?))),
        (b"System.UInt32", UINT32) => Some(Value::U32(u32::from_le_bytes(value.try_into().ok()?))),
        (b"System.UInt64", UINT64) => Some(Value::U64(u64::from_le_bytes(value.try_into().ok()?))),
        _ => None,
    }
}

/// The length of the byte array that is all there is in the stream.
fn read_array(stream: &[u8]) -> Option<usize> {
    let array = stream.strip_prefix(&HEADER)?.strip_prefix(&ARRAY)?;
    let (len, rest) = array.split_first_chunk()?;
    let len = usize::try_from(i32::from_le_bytes(*len)).ok()?;
    let content = rest.strip_prefix(&[BYTE])?.strip_suffix(&[END])?;
    (content.len() == len).then_some(len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        let bytes: Vec<u8> = (0..=255).collect();
        let values = [
            Value::from(&bytes),
            Value::from(b""),
            Value::I8(-1),
            Value::U16(u16::MAX),
            Value::U32(1),
            Value::U64(u64::MAX),
        ];
        for value in values {
            let stream = write(&value).unwrap();
            assert_eq!(read(Cow::Borrowed(&stream)), Some(value.borrowed()));
            assert_eq!(read(Cow::Owned(stream)), Some(value));
        }
        assert_eq!(write(&Value::I32(1)), None);
    }

    #[test]
    fn a_damaged_stream_is_never_taken_for_a_value() {
        let stream = write(&Value::from(b"abc")).unwrap();
        for end in 0..stream.len() {
            let read = read(Cow::Borrowed(&stream[..end]));
            assert!(matches!(read, None | Some(Value::Foreign { .. })), "{end}");
        }
        assert_eq!(read(Cow::Borrowed(&[0; 16])), None);
    }
}
