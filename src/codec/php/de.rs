//! PHP's `serialize` data as Rust values. It knows nothing of writing.

use std::borrow::Cow;

use serde::de::{
    self, Deserialize, DeserializeSeed, EnumAccess, Error as _, IntoDeserializer, MapAccess,
    SeqAccess, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::Failure;
use crate::codec::php_scan::{Reader, Token};

/// Levels of arrays in arrays, each of which costs stack.
const MAX_DEPTH: usize = 128;

pub(super) fn read<'de, T: Deserialize<'de>>(data: &'de [u8]) -> Result<T, Failure> {
    let mut values = Values {
        reader: Reader::new(data),
        depth: 0,
    };
    let value = T::deserialize(&mut values)?;
    values.reader.finish()?;
    Ok(value)
}

/// The values to come.
struct Values<'de> {
    reader: Reader<'de>,
    depth: usize,
}

impl<'de> Values<'de> {
    /// Reads the entries of an array with `content`, and the end behind them.
    fn within<R>(
        &mut self,
        entries: usize,
        object: bool,
        content: impl FnOnce(&mut Entries<'_, 'de>) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        if self.depth == MAX_DEPTH {
            return Err(self.reader.error("arrays nested too deeply").into());
        }
        self.depth += 1;
        let mut all = Entries {
            values: self,
            next: 0,
            entries,
            object,
        };
        let result = content(&mut all)?;
        if all.next < all.entries {
            let error = "an array with more entries than its type has";
            return Err(self.reader.error(error).into());
        }
        self.depth -= 1;
        self.reader.close()?;
        Ok(result)
    }

    /// Whether the keys of an array, which was just opened, are 0, 1, 2 … in this order.
    fn is_list(&self, entries: usize) -> Result<bool, Failure> {
        let mut ahead = self.reader.clone();
        for index in 0..entries {
            if ahead.token()? != Token::Int(index as i64) {
                return Ok(false);
            }
            ahead.skip()?;
        }
        Ok(true)
    }

    fn plain<V: Visitor<'de>>(&self, token: Token<'de>, visitor: V) -> Result<V::Value, Failure> {
        match token {
            Token::Null => visitor.visit_unit(),
            Token::Bool(v) => visitor.visit_bool(v),
            Token::Int(v) => visitor.visit_i64(v),
            Token::Float(v) => visitor.visit_f64(v),
            Token::Str(text) => visit_text(text, visitor),
            Token::Case(name) => visit_text(Cow::Borrowed(name), visitor),
            Token::Reference => Err(self
                .reader
                .error("a reference, which Rust values cannot hold")
                .into()),
            Token::Custom => Err(self
                .reader
                .error("an object that only its class can read")
                .into()),
            Token::Array(_) => Err(Failure::invalid_type(de::Unexpected::Map, &visitor)),
            Token::Object(_) => Err(Failure::invalid_type(de::Unexpected::Map, &visitor)),
        }
    }
}

fn visit_text<'de, V: Visitor<'de>>(text: Cow<'de, [u8]>, visitor: V) -> Result<V::Value, Failure> {
    match text {
        Cow::Borrowed(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => visitor.visit_borrowed_str(text),
            Err(_) => visitor.visit_borrowed_bytes(bytes),
        },
        Cow::Owned(bytes) => match String::from_utf8(bytes) {
            Ok(text) => visitor.visit_string(text),
            Err(error) => visitor.visit_byte_buf(error.into_bytes()),
        },
    }
}

impl<'de> de::Deserializer<'de> for &mut Values<'de> {
    type Error = Failure;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        match self.reader.token()? {
            Token::Array(entries) if self.is_list(entries)? => {
                self.within(entries, false, |all| visitor.visit_seq(List(all)))
            }
            Token::Array(entries) => self.within(entries, false, |all| visitor.visit_map(all)),
            Token::Object(entries) => self.within(entries, true, |all| visitor.visit_map(all)),
            token => self.plain(token, visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        let mut ahead = self.reader.clone();
        if ahead.token()? == Token::Null {
            self.reader = ahead;
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        match self.reader.token()? {
            Token::Str(Cow::Borrowed(bytes)) => visitor.visit_borrowed_bytes(bytes),
            Token::Str(Cow::Owned(bytes)) => visitor.visit_byte_buf(bytes),
            Token::Array(entries) => {
                self.within(entries, false, |all| visitor.visit_seq(List(all)))
            }
            token => self.plain(token, visitor),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Failure> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        match self.reader.token()? {
            Token::Array(entries) => {
                self.within(entries, false, |all| visitor.visit_seq(List(all)))
            }
            token => self.plain(token, visitor),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Failure> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Failure> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        match self.reader.token()? {
            Token::Array(entries) => self.within(entries, false, |all| visitor.visit_map(all)),
            Token::Object(entries) => self.within(entries, true, |all| visitor.visit_map(all)),
            token => self.plain(token, visitor),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        match self.reader.token()? {
            Token::Array(1) => self.within(1, false, |all| {
                all.next = 1;
                visitor.visit_enum(Variant(&mut *all.values))
            }),
            Token::Str(name) => visitor.visit_enum(Key(Token::Str(name))),
            Token::Case(name) => visitor.visit_enum(Key(Token::Str(Cow::Borrowed(name)))),
            token => self.plain(token, visitor),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.reader.skip()?;
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string unit unit_struct identifier
    }
}

/// The entries of one array or object.
struct Entries<'a, 'de> {
    values: &'a mut Values<'de>,
    next: usize,
    entries: usize,
    /// The names of an object's properties tell their visibility.
    object: bool,
}

impl<'de> Entries<'_, 'de> {
    fn key(&mut self) -> Result<Option<Token<'de>>, Failure> {
        if self.next == self.entries {
            return Ok(None);
        }
        self.next += 1;
        match self.values.reader.token()? {
            Token::Str(Cow::Borrowed(name)) if self.object => {
                Ok(Some(Token::Str(Cow::Borrowed(bare_name(name)))))
            }
            key @ (Token::Int(_) | Token::Str(_)) => Ok(Some(key)),
            _ => Err(self
                .values
                .reader
                .error("a key that is neither a number nor a string")
                .into()),
        }
    }
}

/// `\0*\0name` is protected, `\0Class\0name` is private.
fn bare_name(name: &[u8]) -> &[u8] {
    match name {
        [0, rest @ ..] => match rest.iter().position(|byte| *byte == 0) {
            Some(end) => &rest[end + 1..],
            None => name,
        },
        _ => name,
    }
}

impl<'de> MapAccess<'de> for &mut Entries<'_, 'de> {
    type Error = Failure;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Failure> {
        self.key()?
            .map(|key| seed.deserialize(Key(key)))
            .transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Failure> {
        seed.deserialize(&mut *self.values)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.entries - self.next)
    }
}

/// Entries whose keys must be 0, 1, 2 …
struct List<'a, 'b, 'de>(&'a mut Entries<'b, 'de>);

impl<'de> SeqAccess<'de> for List<'_, '_, 'de> {
    type Error = Failure;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Failure> {
        let index = self.0.next as i64;
        match self.0.key()? {
            None => Ok(None),
            Some(Token::Int(key)) if key == index => {
                seed.deserialize(&mut *self.0.values).map(Some)
            }
            Some(_) => Err(self
                .0
                .values
                .reader
                .error("an array whose keys are not 0, 1, 2 …, which is no list")
                .into()),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.entries - self.0.next)
    }
}

/// A key, or the name of a variant: an integer or a string.
struct Key<'de>(Token<'de>);

impl<'de> de::Deserializer<'de> for Key<'de> {
    type Error = Failure;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        match self.0 {
            Token::Int(key) => visitor.visit_i64(key),
            Token::Str(key) => visit_text(key, visitor),
            _ => Err(Failure::invalid_type(
                de::Unexpected::Other("key"),
                &visitor,
            )),
        }
    }

    /// PHP makes `"5"` the key 5: as a string it is `"5"` again.
    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        match self.0 {
            Token::Int(key) => visitor.visit_string(key.to_string()),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.deserialize_str(visitor)
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.deserialize_str(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        match self.0 {
            Token::Int(key) => visitor.visit_byte_buf(key.to_string().into_bytes()),
            Token::Str(Cow::Borrowed(key)) => visitor.visit_borrowed_bytes(key),
            Token::Str(Cow::Owned(key)) => visitor.visit_byte_buf(key),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.deserialize_bytes(visitor)
    }

    /// PHP makes `true` the key 1.
    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        match self.0 {
            Token::Int(key @ (0 | 1)) => visitor.visit_bool(key == 1),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Failure> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        visitor.visit_enum(self)
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 unit unit_struct seq tuple tuple_struct map
        struct ignored_any
    }
}

/// A variant without content.
impl<'de> EnumAccess<'de> for Key<'de> {
    type Error = Failure;
    type Variant = NoContent;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, NoContent), Failure> {
        Ok((seed.deserialize(self)?, NoContent))
    }
}

struct NoContent;

impl<'de> VariantAccess<'de> for NoContent {
    type Error = Failure;

    fn unit_variant(self) -> Result<(), Failure> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Failure> {
        seed.deserialize(().into_deserializer())
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Failure> {
        Err(Failure::invalid_type(de::Unexpected::UnitVariant, &visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        Err(Failure::invalid_type(de::Unexpected::UnitVariant, &visitor))
    }
}

/// A variant with content: the one entry of an array.
struct Variant<'a, 'de>(&'a mut Values<'de>);

impl<'de> EnumAccess<'de> for Variant<'_, 'de> {
    type Error = Failure;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Failure> {
        let name = Key(self.0.reader.token()?);
        Ok((seed.deserialize(name)?, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, 'de> {
    type Error = Failure;

    fn unit_variant(self) -> Result<(), Failure> {
        Deserialize::deserialize(self.0)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Failure> {
        seed.deserialize(self.0)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Failure> {
        de::Deserializer::deserialize_seq(self.0, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        de::Deserializer::deserialize_map(self.0, visitor)
    }
}
