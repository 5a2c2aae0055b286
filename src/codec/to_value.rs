//! Rust types as values; the table is in the module's documentation.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;
use std::time::SystemTime;

use super::dates;
use super::value::{ToValue, Value};

/// A type that is copied: one line says both directions of the call.
macro_rules! scalars {
    ($($rust:ty => $variant:ident as $wide:ty),* $(,)?) => {$(
        impl From<$rust> for Value<'_> {
            #[inline]
            fn from(value: $rust) -> Self {
                Value::$variant(value as $wide)
            }
        }

        impl ToValue for $rust {
            #[inline]
            fn to_value(&self) -> Value<'_> {
                Value::from(*self)
            }
        }
    )*};
}

scalars! {
    bool => Bool as bool,
    i8 => I8 as i8,
    i16 => I16 as i16,
    i32 => I32 as i32,
    i64 => I64 as i64,
    isize => I64 as i64,
    u8 => U8 as u8,
    u16 => U16 as u16,
    u32 => U32 as u32,
    u64 => U64 as u64,
    usize => U64 as u64,
    f32 => F32 as f32,
    f64 => F64 as f64,
}

impl From<char> for Value<'_> {
    fn from(value: char) -> Self {
        match u16::try_from(u32::from(value)) {
            Ok(unit) => Value::Char(unit),
            Err(_) => Value::Text(Cow::Owned(value.to_string())),
        }
    }
}

impl ToValue for char {
    fn to_value(&self) -> Value<'_> {
        Value::from(*self)
    }
}

impl From<SystemTime> for Value<'_> {
    fn from(value: SystemTime) -> Self {
        Value::Date(dates::unix_millis(value))
    }
}

impl ToValue for SystemTime {
    fn to_value(&self) -> Value<'_> {
        Value::from(*self)
    }
}

impl ToValue for [u8] {
    #[inline]
    fn to_value(&self) -> Value<'_> {
        Value::Bytes(Cow::Borrowed(self))
    }
}

impl<const N: usize> ToValue for [u8; N] {
    #[inline]
    fn to_value(&self) -> Value<'_> {
        Value::Bytes(Cow::Borrowed(self))
    }
}

impl ToValue for Vec<u8> {
    #[inline]
    fn to_value(&self) -> Value<'_> {
        Value::Bytes(Cow::Borrowed(self))
    }
}

impl ToValue for str {
    #[inline]
    fn to_value(&self) -> Value<'_> {
        Value::Text(Cow::Borrowed(self))
    }
}

impl ToValue for String {
    #[inline]
    fn to_value(&self) -> Value<'_> {
        Value::Text(Cow::Borrowed(self))
    }
}

impl ToValue for Value<'_> {
    fn to_value(&self) -> Value<'_> {
        self.borrowed()
    }
}

impl<T: ToValue> ToValue for Option<T> {
    fn to_value(&self) -> Value<'_> {
        self.as_ref().map_or(Value::Null, T::to_value)
    }
}

macro_rules! pointers {
    ($($pointer:ty),* $(,)?) => {$(
        impl<T: ToValue + ?Sized> ToValue for $pointer {
            #[inline]
            fn to_value(&self) -> Value<'_> {
                (**self).to_value()
            }
        }
    )*};
}

pointers!(&T, Box<T>, Rc<T>, Arc<T>);

impl<T: ToValue + ToOwned + ?Sized> ToValue for Cow<'_, T> {
    #[inline]
    fn to_value(&self) -> Value<'_> {
        (**self).to_value()
    }
}

impl<'a, T: ToValue + ?Sized> From<&'a T> for Value<'a> {
    fn from(value: &'a T) -> Self {
        value.to_value()
    }
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}

impl From<Vec<u8>> for Value<'_> {
    fn from(value: Vec<u8>) -> Self {
        Value::Bytes(Cow::Owned(value))
    }
}

impl From<String> for Value<'_> {
    fn from(value: String) -> Self {
        Value::Text(Cow::Owned(value))
    }
}

impl<'a> From<Cow<'a, [u8]>> for Value<'a> {
    fn from(value: Cow<'a, [u8]>) -> Self {
        Value::Bytes(value)
    }
}

impl<'a> From<Cow<'a, str>> for Value<'a> {
    fn from(value: Cow<'a, str>) -> Self {
        Value::Text(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_has_its_value() {
        let bytes = || Value::Bytes(Cow::Borrowed(b"ab"));
        assert_eq!(b"ab".to_value(), bytes());
        assert_eq!(b"ab"[..].to_value(), bytes());
        assert_eq!(vec![b'a', b'b'].to_value(), bytes());
        assert_eq!(Cow::Borrowed(&b"ab"[..]).to_value(), bytes());
        assert_eq!(Arc::<[u8]>::from(*b"ab").to_value(), bytes());
        assert_eq!(Value::from(vec![b'a', b'b']), bytes());
        let text = || Value::Text(Cow::Borrowed("ab"));
        assert_eq!("ab".to_value(), text());
        assert_eq!(String::from("ab").to_value(), text());
        assert_eq!(Box::<str>::from("ab").to_value(), text());
        assert_eq!(Value::from("ab"), text());
        assert_eq!(Value::from(&String::from("ab")), text());
        assert_eq!(Value::from(Some("ab")), text());
        assert_eq!(text().to_value(), text());
        assert_eq!((-1_isize).to_value(), Value::I64(-1));
        assert_eq!(usize::MAX.to_value(), Value::U64(usize::MAX as u64));
        assert_eq!(7_u8.to_value(), Value::U8(7));
        assert_eq!(None::<i32>.to_value(), Value::Null);
        assert_eq!(Some(1_i32).to_value(), Value::I32(1));
        assert_eq!('\u{d55c}'.to_value(), Value::Char(0xd55c));
        assert_eq!(
            '\u{1f600}'.to_value(),
            Value::Text(Cow::Borrowed("\u{1f600}"))
        );
        assert_eq!(SystemTime::UNIX_EPOCH.to_value(), Value::Date(0));
    }
}
