//! Rust values as PHP's `serialize` data. It knows nothing of reading.

use serde::ser::{self, Serialize};

use super::Failure;
use crate::codec::php_number;
use crate::codec::php_scan::{Reader, Token};
use crate::error::Error;

pub(super) fn write<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, Failure> {
    let mut writer = Writer { out: Vec::new() };
    value.serialize(&mut writer)?;
    Ok(writer.out)
}

/// A PHP string.
pub(super) fn string(bytes: &[u8]) -> Vec<u8> {
    let mut writer = Writer { out: Vec::new() };
    writer.string(bytes);
    writer.out
}

struct Writer {
    out: Vec<u8>,
}

impl Writer {
    fn text(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn string(&mut self, bytes: &[u8]) {
        self.text(&format!("s:{}:\"", bytes.len()));
        self.out.extend_from_slice(bytes);
        self.text("\";");
    }

    fn int(&mut self, value: impl TryInto<i64>) -> Result<(), Failure> {
        let value = value
            .try_into()
            .map_err(|_| Error::encode("PHP data: the number is larger than PHP's integers"))?;
        self.text(&format!("i:{value};"));
        Ok(())
    }

    /// Writes a key, which the array makes an integer where it can: `"5"` and `true` are 5 and 1.
    fn key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Failure> {
        let start = self.out.len();
        key.serialize(&mut *self)?;
        let number = match Reader::new(&self.out[start..]).token()? {
            Token::Int(_) => return Ok(()),
            Token::Bool(key) => i64::from(key),
            Token::Str(key) => match integer_key(&key) {
                Some(key) => key,
                None => return Ok(()),
            },
            _ => {
                return Err(
                    Error::encode("PHP data: a key that is neither a number nor a string").into(),
                );
            }
        };
        self.out.truncate(start);
        self.int(number)
    }

    fn array(&mut self) -> Array<'_> {
        self.text("a:");
        let count_at = self.out.len();
        self.text(":{");
        Array {
            writer: self,
            count_at,
            count: 0,
            in_variant: false,
        }
    }

    /// The array of one entry that holds the content of a variant.
    fn variant(&mut self, name: &str) -> Result<(), Failure> {
        self.text("a:1:{");
        self.key(name)
    }
}

/// The integer that PHP takes a string key for: one that is written as PHP would write it.
fn integer_key(key: &[u8]) -> Option<i64> {
    let key = std::str::from_utf8(key).ok()?;
    let number: i64 = key.parse().ok()?;
    (number.to_string() == key).then_some(number)
}

/// An array whose entries are counted while they are written.
struct Array<'a> {
    writer: &'a mut Writer,
    count_at: usize,
    count: usize,
    in_variant: bool,
}

impl Array<'_> {
    fn entry<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<(), Failure> {
        self.writer.key(key)?;
        self.count += 1;
        value.serialize(&mut *self.writer)
    }

    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failure> {
        self.writer.int(self.count as u64)?;
        self.count += 1;
        value.serialize(&mut *self.writer)
    }

    fn close(self) {
        let count = self.count.to_string();
        let at = self.count_at;
        self.writer.out.splice(at..at, count.bytes());
        self.writer.text(if self.in_variant { "}}" } else { "}" });
    }
}

impl<'a> ser::Serializer for &'a mut Writer {
    type Ok = ();
    type Error = Failure;
    type SerializeSeq = Array<'a>;
    type SerializeTuple = Array<'a>;
    type SerializeTupleStruct = Array<'a>;
    type SerializeTupleVariant = Array<'a>;
    type SerializeMap = Array<'a>;
    type SerializeStruct = Array<'a>;
    type SerializeStructVariant = Array<'a>;

    fn serialize_bool(self, v: bool) -> Result<(), Failure> {
        self.text(if v { "b:1;" } else { "b:0;" });
        Ok(())
    }

    fn serialize_i8(self, v: i8) -> Result<(), Failure> {
        self.int(v)
    }

    fn serialize_i16(self, v: i16) -> Result<(), Failure> {
        self.int(v)
    }

    fn serialize_i32(self, v: i32) -> Result<(), Failure> {
        self.int(v)
    }

    fn serialize_i64(self, v: i64) -> Result<(), Failure> {
        self.int(v)
    }

    fn serialize_i128(self, v: i128) -> Result<(), Failure> {
        self.int(v)
    }

    fn serialize_u8(self, v: u8) -> Result<(), Failure> {
        self.int(v)
    }

    fn serialize_u16(self, v: u16) -> Result<(), Failure> {
        self.int(v)
    }

    fn serialize_u32(self, v: u32) -> Result<(), Failure> {
        self.int(v)
    }

    fn serialize_u64(self, v: u64) -> Result<(), Failure> {
        self.int(v)
    }

    fn serialize_u128(self, v: u128) -> Result<(), Failure> {
        self.int(v)
    }

    fn serialize_f32(self, v: f32) -> Result<(), Failure> {
        self.serialize_f64(v.into())
    }

    fn serialize_f64(self, v: f64) -> Result<(), Failure> {
        self.text(&format!("d:{};", php_number::serialized(v)));
        Ok(())
    }

    fn serialize_char(self, v: char) -> Result<(), Failure> {
        self.serialize_str(v.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, v: &str) -> Result<(), Failure> {
        self.string(v.as_bytes());
        Ok(())
    }

    fn serialize_bytes(self, v: &[u8]) -> Result<(), Failure> {
        self.string(v);
        Ok(())
    }

    fn serialize_none(self) -> Result<(), Failure> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Failure> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Failure> {
        self.text("N;");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Failure> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), Failure> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Failure> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Failure> {
        self.variant(variant)?;
        value.serialize(&mut *self)?;
        self.text("}");
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Array<'a>, Failure> {
        Ok(self.array())
    }

    fn serialize_tuple(self, _: usize) -> Result<Array<'a>, Failure> {
        Ok(self.array())
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Array<'a>, Failure> {
        Ok(self.array())
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Array<'a>, Failure> {
        self.variant(variant)?;
        Ok(Array {
            in_variant: true,
            ..self.array()
        })
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Array<'a>, Failure> {
        Ok(self.array())
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Array<'a>, Failure> {
        Ok(self.array())
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Array<'a>, Failure> {
        self.variant(variant)?;
        Ok(Array {
            in_variant: true,
            ..self.array()
        })
    }

    fn is_human_readable(&self) -> bool {
        true
    }
}

/// Lists: the traits differ in the names of the method only.
macro_rules! lists {
    ($($kind:ident :: $push:ident),* $(,)?) => {$(
        impl ser::$kind for Array<'_> {
            type Ok = ();
            type Error = Failure;

            fn $push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failure> {
                self.push(value)
            }

            fn end(self) -> Result<(), Failure> {
                self.close();
                Ok(())
            }
        }
    )*};
}

lists! {
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field,
}

macro_rules! structs {
    ($($kind:ident),* $(,)?) => {$(
        impl ser::$kind for Array<'_> {
            type Ok = ();
            type Error = Failure;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), Failure> {
                self.entry(name, value)
            }

            fn end(self) -> Result<(), Failure> {
                self.close();
                Ok(())
            }
        }
    )*};
}

structs!(SerializeStruct, SerializeStructVariant);

impl ser::SerializeMap for Array<'_> {
    type Ok = ();
    type Error = Failure;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Failure> {
        self.count += 1;
        self.writer.key(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failure> {
        value.serialize(&mut *self.writer)
    }

    fn end(self) -> Result<(), Failure> {
        self.close();
        Ok(())
    }
}
