//! The values that transcoders write and read, and their Rust types.

use std::borrow::Cow;
use std::fmt;

use crate::error::Result;

/// One value, in the types that the peers tell apart.
///
/// A peer that has fewer types than this reads and writes the nearest one; each transcoder says which.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum Value<'a> {
    /// No value: Java's and .NET's `null`, PHP's `NULL`, Python's `None`.
    Null,
    /// A truth value.
    Bool(bool),
    /// Java `Byte`, .NET `sbyte`.
    I8(i8),
    /// Java `Short`.
    I16(i16),
    /// Java `Integer`.
    I32(i32),
    /// Java `Long`, a PHP integer.
    I64(i64),
    /// .NET `byte`.
    U8(u8),
    /// .NET `ushort`.
    U16(u16),
    /// .NET `uint`.
    U32(u32),
    /// .NET `ulong`; a counter.
    U64(u64),
    /// Java `Float`.
    F32(f32),
    /// Java `Double`, a PHP float.
    F64(f64),
    /// A UTF-16 unit: Java `Character`, .NET `char`.
    Char(u16),
    /// Text.
    Text(Cow<'a, str>),
    /// Text in Java's `StringBuffer`.
    StringBuffer(Cow<'a, str>),
    /// Text in Java's or .NET's `StringBuilder`.
    StringBuilder(Cow<'a, str>),
    /// Bytes.
    Bytes(Cow<'a, [u8]>),
    /// Java `Date`: milliseconds since 1970, UTC.
    Date(i64),
    /// .NET `DateTime` as its client stores it: memcacheddotnet keeps `Ticks` (100 ns since the year 1, no zone),
    /// Enyim what `ToBinary()` returns (ticks, with the kind in the two upper bits).
    Ticks(i64),
    /// Something that only its own language can read: the bytes as they are stored, and what they are.
    /// Written back unchanged.
    Foreign {
        /// What the bytes are.
        kind: ForeignKind,
        /// The bytes, inflated if they were compressed.
        bytes: Cow<'a, [u8]>,
    },
}

/// Forms of serialized objects that come back as [`Value::Foreign`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ForeignKind {
    /// Java's `ObjectOutputStream`.
    Java,
    /// .NET's `BinaryFormatter`.
    DotNet,
    /// PHP's `serialize`.
    Php,
    /// PHP's igbinary extension.
    Igbinary,
    /// MessagePack.
    MsgPack,
    /// JSON text.
    Json,
    /// Python's `pickle`.
    Pickle,
    /// Ruby's `Marshal`.
    Marshal,
    /// Perl's `Storable`.
    Storable,
}

impl Value<'_> {
    /// The same value, its text or bytes borrowed.
    pub fn borrowed(&self) -> Value<'_> {
        match self {
            Value::Text(v) => Value::Text(Cow::Borrowed(v)),
            Value::StringBuffer(v) => Value::StringBuffer(Cow::Borrowed(v)),
            Value::StringBuilder(v) => Value::StringBuilder(Cow::Borrowed(v)),
            Value::Bytes(v) => Value::Bytes(Cow::Borrowed(v)),
            Value::Foreign { kind, bytes } => Value::Foreign {
                kind: *kind,
                bytes: Cow::Borrowed(bytes),
            },
            scalar => scalar.clone(),
        }
    }

    /// The same value without a borrow.
    pub fn into_owned(self) -> Value<'static> {
        let text = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        match self {
            Value::Null => Value::Null,
            Value::Bool(v) => Value::Bool(v),
            Value::I8(v) => Value::I8(v),
            Value::I16(v) => Value::I16(v),
            Value::I32(v) => Value::I32(v),
            Value::I64(v) => Value::I64(v),
            Value::U8(v) => Value::U8(v),
            Value::U16(v) => Value::U16(v),
            Value::U32(v) => Value::U32(v),
            Value::U64(v) => Value::U64(v),
            Value::F32(v) => Value::F32(v),
            Value::F64(v) => Value::F64(v),
            Value::Char(v) => Value::Char(v),
            Value::Text(v) => Value::Text(text(v)),
            Value::StringBuffer(v) => Value::StringBuffer(text(v)),
            Value::StringBuilder(v) => Value::StringBuilder(text(v)),
            Value::Bytes(v) => Value::Bytes(Cow::Owned(v.into_owned())),
            Value::Date(v) => Value::Date(v),
            Value::Ticks(v) => Value::Ticks(v),
            Value::Foreign { kind, bytes } => Value::Foreign {
                kind,
                bytes: Cow::Owned(bytes.into_owned()),
            },
        }
    }

    /// The type's name, for messages; never the content.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "bool",
            Value::I8(_) => "i8",
            Value::I16(_) => "i16",
            Value::I32(_) => "i32",
            Value::I64(_) => "i64",
            Value::U8(_) => "u8",
            Value::U16(_) => "u16",
            Value::U32(_) => "u32",
            Value::U64(_) => "u64",
            Value::F32(_) => "f32",
            Value::F64(_) => "f64",
            Value::Char(_) => "UTF-16 unit",
            Value::Text(_) => "text",
            Value::StringBuffer(_) => "StringBuffer",
            Value::StringBuilder(_) => "StringBuilder",
            Value::Bytes(_) => "bytes",
            Value::Date(_) => "date",
            Value::Ticks(_) => ".NET date",
            Value::Foreign { .. } => "foreign object",
        }
    }
}

/// Shows the type and the length, never the content: values may be secrets.
impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.type_name();
        match self {
            Value::Text(v) | Value::StringBuffer(v) | Value::StringBuilder(v) => {
                write!(f, "{name}({} bytes)", v.len())
            }
            Value::Bytes(v) => write!(f, "{name}({})", v.len()),
            Value::Foreign { kind, bytes } => write!(f, "{name}({kind:?}, {} bytes)", bytes.len()),
            _ => f.write_str(name),
        }
    }
}

/// A type that can be stored.
///
/// ```
/// use sockio::{FromValue, Result, ToValue, Value};
///
/// #[derive(Debug, PartialEq)]
/// struct UserId(u64);
///
/// impl ToValue for UserId {
///     fn to_value(&self) -> Value<'_> {
///         self.0.to_value()
///     }
/// }
///
/// impl FromValue for UserId {
///     fn from_value(value: Value<'_>) -> Result<Self> {
///         u64::from_value(value).map(Self)
///     }
/// }
///
/// assert_eq!(UserId::from_value(UserId(7).to_value())?, UserId(7));
/// assert_eq!(UserId::from_value(Value::from("7"))?, UserId(7));
/// # Ok::<(), sockio::Error>(())
/// ```
pub trait ToValue {
    /// The value, borrowed where it can be.
    fn to_value(&self) -> Value<'_>;
}

/// A type that a stored value can be read as.
pub trait FromValue: Sized {
    /// The value in this type; an [`ErrorKind::Decode`](crate::ErrorKind::Decode) error if it does not fit without loss.
    fn from_value(value: Value<'_>) -> Result<Self>;
}
