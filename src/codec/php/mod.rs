//! PHP's `serialize` data as Rust types, by way of serde. It knows no flags and no transcoder.
//!
//! ```
//! use std::collections::BTreeMap;
//! use sockio::codec::php;
//!
//! let prices = BTreeMap::from([("apple", 1.5), ("pear", 2.0)]);
//! let data = php::to_vec(&prices)?;
//! assert_eq!(data, br#"a:2:{s:5:"apple";d:1.5;s:4:"pear";d:2;}"#);
//! assert_eq!(php::from_slice::<BTreeMap<&str, f64>>(&data)?, prices);
//! # Ok::<(), sockio::Error>(())
//! ```
//!
//! | Rust | PHP |
//! |---|---|
//! | `bool`, integers of up to 64 bits, `f32` and `f64` | bool, int, float |
//! | `str`, `char`, bytes | string |
//! | `()`, `None` | null |
//! | `Vec`, tuple | array with the keys 0, 1, 2 … in this order |
//! | map | array; keys are integers, strings or truth values, and a key that is a decimal number is one, as in PHP |
//! | struct | array with the fields' names for keys; read from an object of any class too, whatever its properties' visibility |
//! | enum variant | its name; with content, an array of one entry from the name to the content. Read from a case of a PHP enum too |
//!
//! A string that is not UTF-8 is read as bytes. References (`R:`, `r:`), which Rust values cannot hold, and objects that
//! wrote themselves (`C:`) are errors, as are bytes behind the value and more than 128 levels.

mod de;
mod ser;

use std::fmt;

use serde::de::{DeserializeOwned, Expected, Unexpected};
use serde::{Deserialize, Serialize};

use super::php_scan::{Reader, Token};
use super::php_type::PhpType;
use super::{ForeignKind, FromValue, ToValue, Value};
use crate::error::{Error, Result};

/// Reads what PHP's `serialize` wrote; strings may be borrowed from it.
#[doc(alias = "unserialize")]
pub fn from_slice<'de, T: Deserialize<'de>>(data: &'de [u8]) -> Result<T> {
    de::read(data).map_err(|failure| failure.0)
}

/// Writes what PHP's `unserialize` reads, byte for byte as `serialize` does with its default settings.
#[doc(alias = "serialize")]
pub fn to_vec<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>> {
    ser::write(value).map_err(|failure| failure.0)
}

/// A value of a serde type in PHP's form: `client.get::<Php<Vec<String>>>(…)`, `client.set(…, &Php(cart), …)`.
///
/// As PHP does, it stores numbers, strings, truth values and null in forms of their own, and the rest serialized.
/// A value that PHP has no form for is refused by the transcoder; [`to_vec`] tells why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Php<T>(pub T);

impl<T: Serialize> ToValue for Php<T> {
    fn to_value(&self) -> Value<'_> {
        // No bytes at all are no PHP data: no transcoder takes them.
        let bytes = to_vec(&self.0).unwrap_or_default();
        match Reader::new(&bytes).token() {
            Ok(Token::Null) => Value::Null,
            Ok(Token::Bool(v)) => Value::Bool(v),
            Ok(Token::Int(v)) => Value::I64(v),
            Ok(Token::Float(v)) => Value::F64(v),
            Ok(Token::Str(text)) => Value::Bytes(text.into_owned().into()),
            _ => Value::Foreign {
                kind: ForeignKind::Php,
                bytes: bytes.into(),
            },
        }
    }
}

impl<T: DeserializeOwned> FromValue for Php<T> {
    fn from_value(value: Value<'_>) -> Result<Self> {
        let data = match PhpType::of(value).map_err(|_| Error::decode("no value of PHP's"))? {
            PhpType::Foreign(ForeignKind::Php, bytes) => bytes.into_owned(),
            PhpType::Foreign(kind, _) => {
                return Err(Error::decode(format!(
                    "a foreign object of kind {kind:?}, not of PHP's own serializer"
                )));
            }
            PhpType::Null => to_vec(&())?,
            PhpType::Bool(v) => to_vec(&v)?,
            PhpType::Int(v) => to_vec(&v)?,
            PhpType::Float(v) => to_vec(&v)?,
            PhpType::Str(bytes) => ser::string(&bytes),
        };
        from_slice(&data).map(Php)
    }
}

/// What serde's visitors and types report; the messages name types and fields of the program, never content.
#[derive(Debug)]
struct Failure(Error);

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Failure {}

impl serde::ser::Error for Failure {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(Error::encode(format!("PHP data: {message}")))
    }
}

impl serde::de::Error for Failure {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(Error::decode(format!("PHP data: {message}")))
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::custom(format_args!(
            "{} where {expected} was expected",
            name(&found)
        ))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::custom(format_args!("{} that is not {expected}", name(&found)))
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        Self::custom(format_args!(
            "a name that is none of the variants {expected:?}"
        ))
    }

    fn unknown_field(_: &str, expected: &'static [&'static str]) -> Self {
        Self::custom(format_args!(
            "a name that is none of the fields {expected:?}"
        ))
    }
}

/// The type without the content, which serde's own messages show.
fn name(found: &Unexpected<'_>) -> &'static str {
    match found {
        Unexpected::Bool(_) => "a truth value",
        Unexpected::Unsigned(_) | Unexpected::Signed(_) => "an integer",
        Unexpected::Float(_) => "a float",
        Unexpected::Char(_) | Unexpected::Str(_) => "a string",
        Unexpected::Bytes(_) => "a string that is not UTF-8",
        Unexpected::Unit | Unexpected::Option => "null",
        Unexpected::Seq => "a list",
        Unexpected::Map => "an array",
        _ => "a value",
    }
}

#[cfg(test)]
mod tests;
