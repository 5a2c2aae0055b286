//! The types that PHP tells apart, and the nearest one to each value. It knows no flags and no texts.

use std::borrow::Cow;

use super::{ForeignKind, Value, payload};
use crate::error::{Error, Result};

/// A value in PHP's types.
pub(super) enum PhpType<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// Bytes: a PHP string has no encoding.
    Str(Cow<'a, [u8]>),
    Foreign(ForeignKind, Cow<'a, [u8]>),
}

impl<'a> PhpType<'a> {
    /// Integers of every width become PHP's one, text becomes bytes. Dates have no PHP type.
    pub(super) fn of(value: Value<'a>) -> Result<Self> {
        Ok(match value {
            Value::Null => Self::Null,
            Value::Bool(v) => Self::Bool(v),
            Value::I8(v) => Self::Int(v.into()),
            Value::I16(v) => Self::Int(v.into()),
            Value::I32(v) => Self::Int(v.into()),
            Value::I64(v) => Self::Int(v),
            Value::U8(v) => Self::Int(v.into()),
            Value::U16(v) => Self::Int(v.into()),
            Value::U32(v) => Self::Int(v.into()),
            Value::U64(v) => Self::Int(
                i64::try_from(v)
                    .map_err(|_| Error::encode("the number is larger than PHP's integers"))?,
            ),
            Value::F32(v) => Self::Float(v.into()),
            Value::F64(v) => Self::Float(v),
            Value::Char(unit) => match char::from_u32(unit.into()) {
                Some(char) => Self::Str(Cow::Owned(char.to_string().into_bytes())),
                None => return Err(Error::encode("half of a surrogate pair is no text in PHP")),
            },
            Value::Text(text) | Value::StringBuffer(text) | Value::StringBuilder(text) => {
                Self::Str(payload::into_bytes(text))
            }
            Value::Bytes(bytes) => Self::Str(bytes),
            Value::Foreign { kind, bytes } => Self::Foreign(kind, bytes),
            Value::Date(_) | Value::Ticks(_) => {
                return Err(Error::encode(format!(
                    "PHP's extensions have no form for a {}",
                    value.type_name()
                )));
            }
        })
    }
}
