//! Ruby's `Marshal` as far as plain values go: nil, truth values, numbers and strings. It knows no flags.

use std::borrow::Cow;

use super::value::{ForeignKind, Value};
use super::{float_text, payload};
use crate::error::{Error, Result};

/// The format since Ruby 1.8 (Ruby 3.1 `marshal.c`, `MARSHAL_MAJOR` and `MARSHAL_MINOR`); lower minors are read too.
const MAJOR: u8 = 4;
const MINOR: u8 = 8;

// The types (`marshal.c`, `TYPE_…`).
const NIL: u8 = b'0';
const TRUE: u8 = b'T';
const FALSE: u8 = b'F';
const FIXNUM: u8 = b'i';
const BIGNUM: u8 = b'l';
const FLOAT: u8 = b'f';
const STRING: u8 = b'"';
/// With instance variables behind, as strings have that are not plain bytes.
const IVAR: u8 = b'I';

/// One variable, the symbol `E`: true for UTF-8, false for US-ASCII.
const UTF_8: &[u8] = b"\x06:\x06ET";
const US_ASCII: &[u8] = b"\x06:\x06EF";
const NO_VARIABLES: &[u8] = b"\0";

/// The whole numbers that are written as `i`, 31 bits on every machine.
const FIXNUMS: std::ops::Range<i128> = -(1 << 30)..1 << 30;

/// Ruby raises an error for longer strings (`w_long`).
const LONGEST: usize = i32::MAX as usize;

/// What `Marshal.dump` gives; `None` for what has no form.
pub(super) fn dump(value: &Value<'_>) -> Option<Vec<u8>> {
    let mut out = vec![MAJOR, MINOR];
    match value {
        Value::Null => out.push(NIL),
        Value::Bool(truth) => out.push(if *truth { TRUE } else { FALSE }),
        Value::I8(v) => put_int(&mut out, (*v).into()),
        Value::I16(v) => put_int(&mut out, (*v).into()),
        Value::I32(v) => put_int(&mut out, (*v).into()),
        Value::I64(v) => put_int(&mut out, (*v).into()),
        Value::U8(v) => put_int(&mut out, (*v).into()),
        Value::U16(v) => put_int(&mut out, (*v).into()),
        Value::U32(v) => put_int(&mut out, (*v).into()),
        Value::U64(v) => put_int(&mut out, (*v).into()),
        Value::F32(v) => put_float(&mut out, (*v).into()),
        Value::F64(v) => put_float(&mut out, *v),
        Value::Char(unit) => {
            let character = char::from_u32((*unit).into())?;
            put_text(&mut out, character.encode_utf8(&mut [0; 4]));
        }
        Value::Text(text) | Value::StringBuffer(text) | Value::StringBuilder(text)
            if text.len() <= LONGEST =>
        {
            put_text(&mut out, text);
        }
        Value::Bytes(bytes) if bytes.len() <= LONGEST => put_bytes(&mut out, STRING, bytes),
        _ => return None,
    }
    Some(out)
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    out.push(IVAR);
    put_bytes(out, STRING, text.as_bytes());
    out.extend_from_slice(UTF_8);
}

fn put_float(out: &mut Vec<u8>, float: f64) {
    put_bytes(out, FLOAT, float_text::ruby_marshal(float).as_bytes());
}

fn put_bytes(out: &mut Vec<u8>, kind: u8, bytes: &[u8]) {
    out.push(kind);
    put_long(out, bytes.len() as i128);
    out.extend_from_slice(bytes);
}

fn put_int(out: &mut Vec<u8>, number: i128) {
    if FIXNUMS.contains(&number) {
        out.push(FIXNUM);
        put_long(out, number);
        return;
    }
    let magnitude = number.unsigned_abs().to_le_bytes();
    let len = significant(&magnitude).next_multiple_of(2);
    out.extend_from_slice(&[BIGNUM, if number < 0 { b'-' } else { b'+' }]);
    put_long(out, len as i128 / 2);
    out.extend(magnitude.iter().take(len));
}

/// `w_long`: small numbers in one byte, set off by 5; others as their least bytes behind the number of these.
fn put_long(out: &mut Vec<u8>, number: i128) {
    match number {
        0 => out.push(0),
        1..=122 => out.push(number as u8 + 5),
        -123..=-1 => out.push((number - 5) as u8),
        _ => {
            let mut least = number.to_le_bytes();
            least[4..].fill(0);
            let len = if number < 0 {
                let mut rest = least;
                rest[..4].iter_mut().for_each(|byte| *byte = !*byte);
                significant(&rest).max(1)
            } else {
                significant(&least)
            };
            let count = len as i8;
            out.push(if number < 0 { -count } else { count } as u8);
            out.extend(least.iter().take(len));
        }
    }
}

/// How many bytes remain without the zeros at the upper end.
fn significant(little_endian: &[u8]) -> usize {
    let highest = little_endian.iter().rposition(|byte| *byte != 0);
    highest.map_or(0, |at| at + 1)
}

/// What `Marshal.load` gives, as far as Rust has a type for it; the rest comes back as it is.
pub(super) fn load(data: Cow<'_, [u8]>) -> Result<Value<'_>> {
    let (kind, body) = match &*data {
        [MAJOR, 0..=MINOR, kind, body @ ..] => (*kind, body),
        _ => {
            return Err(Error::decode(
                "the value is marked as Ruby's Marshal and is none",
            ));
        }
    };
    let mut body = Reader(body);
    let value = match kind {
        NIL => Some(Value::Null),
        TRUE => Some(Value::Bool(true)),
        FALSE => Some(Value::Bool(false)),
        FIXNUM => Some(Value::I64(body.long()?)),
        BIGNUM => body.bignum()?,
        FLOAT => body.float()?,
        STRING => Some(Value::Bytes(Cow::Owned(body.bytes()?.to_vec()))),
        IVAR => match body.byte()? {
            STRING => {
                let bytes = Cow::Owned(body.bytes()?.to_vec());
                match body.rest() {
                    UTF_8 | US_ASCII => Some(payload::text_or_bytes(bytes)),
                    NO_VARIABLES => Some(Value::Bytes(bytes)),
                    _ => None,
                }
            }
            _ => None,
        },
        _ => None,
    };
    match value {
        Some(_) if !body.0.is_empty() => Err(Error::decode("bytes stand behind a value of Ruby's")),
        Some(value) => Ok(value),
        None => Ok(Value::Foreign {
            kind: ForeignKind::Marshal,
            bytes: data,
        }),
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self
            .0
            .split_at_checked(len)
            .ok_or_else(|| Error::decode("a value of Ruby's is cut off"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8> {
        let byte = self.take(1)?.first().copied();
        Ok(byte.unwrap_or_default())
    }

    fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }

    /// `r_long`
    fn long(&mut self) -> Result<i64> {
        let first = self.byte()? as i8;
        let (len, fill) = match first {
            0 => return Ok(0),
            5.. => return Ok(i64::from(first) - 5),
            ..=-5 => return Ok(i64::from(first) + 5),
            1..=4 => (first, 0),
            -4..=-1 => (-first, 0xff),
        };
        let bytes = self.take(usize::from(len.unsigned_abs()))?;
        let mut number = [fill; 8];
        number
            .iter_mut()
            .zip(bytes)
            .for_each(|(to, from)| *to = *from);
        Ok(i64::from_le_bytes(number))
    }

    fn len(&mut self) -> Result<usize> {
        usize::try_from(self.long()?)
            .map_err(|_| Error::decode("a length of Ruby's Marshal is negative"))
    }

    fn bytes(&mut self) -> Result<&'a [u8]> {
        let len = self.len()?;
        self.take(len)
    }

    /// `None` for more than 64 bits.
    fn bignum(&mut self) -> Result<Option<Value<'static>>> {
        let negative = self.byte()? == b'-';
        let len = self.len()?;
        let magnitude = self.take(len.saturating_mul(2))?;
        let magnitude = &magnitude[..significant(magnitude)];
        let mut number = [0; 16];
        if magnitude.len() > 8 {
            return Ok(None);
        }
        number
            .iter_mut()
            .zip(magnitude)
            .for_each(|(to, from)| *to = *from);
        let number = i128::from_le_bytes(number);
        let number = if negative { -number } else { number };
        Ok(match (i64::try_from(number), u64::try_from(number)) {
            (Ok(number), _) => Some(Value::I64(number)),
            (_, Ok(number)) => Some(Value::U64(number)),
            _ => None,
        })
    }

    /// `None` for spellings that Rust does not know.
    fn float(&mut self) -> Result<Option<Value<'static>>> {
        let text = std::str::from_utf8(self.bytes()?).ok();
        Ok(text.and_then(|text| text.parse().ok()).map(Value::F64))
    }
}
