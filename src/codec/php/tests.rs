//! Tests of the serde form. The texts are what PHP 8.2 writes, unless a name says otherwise.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;

use serde::de::IgnoredAny;

use super::*;
use crate::codec::{PhpMemcache, PhpMemcached, Raw, Transcoder};
use crate::error::ErrorKind;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Cart {
    id: u32,
    owner: String,
    prices: Vec<f64>,
    note: Option<String>,
}

#[derive(Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
enum Shape {
    Point,
    Circle(u8),
    Line(u8, u8),
    Box { w: u8, h: u8 },
}

fn cart() -> Cart {
    Cart {
        id: 7,
        owner: "Zoë".into(),
        prices: vec![1.5, 2.0],
        note: None,
    }
}

const CART: &str = "a:4:{s:2:\"id\";i:7;s:5:\"owner\";s:4:\"Zoë\";s:6:\"prices\";a:2:{i:0;d:1.5;i:1;d:2;}s:4:\"note\";N;}";

#[track_caller]
fn both_ways<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: T, text: &str) {
    let written = to_vec(&value).unwrap();
    assert_eq!(String::from_utf8_lossy(&written), text);
    assert_eq!(from_slice::<T>(text.as_bytes()).unwrap(), value);
}

#[track_caller]
fn refused<T: DeserializeOwned + Debug>(text: &str) -> String {
    let error = from_slice::<T>(text.as_bytes()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Decode);
    error.to_string()
}

#[test]
fn values_go_both_ways() {
    both_ways((), "N;");
    both_ways(None::<u8>, "N;");
    both_ways(true, "b:1;");
    both_ways(i64::MIN, "i:-9223372036854775808;");
    both_ways(200_u8, "i:200;");
    both_ways(-5_i128, "i:-5;");
    both_ways(0.1, "d:0.1;");
    both_ways(-1.5_f32, "d:-1.5;");
    both_ways(f64::NEG_INFINITY, "d:-INF;");
    both_ways('é', "s:2:\"é\";");
    both_ways("a\"b;".to_owned(), "s:4:\"a\"b;\";");
    both_ways(vec![Some(1), None], "a:2:{i:0;i:1;i:1;N;}");
    both_ways((1, "x".to_owned()), "a:2:{i:0;i:1;i:1;s:1:\"x\";}");
    both_ways(Vec::<u8>::new(), "a:0:{}");
    both_ways(BTreeMap::from([(-1, 1), (5, 2)]), "a:2:{i:-1;i:1;i:5;i:2;}");
    both_ways(cart(), CART);
    both_ways(Shape::Point, "s:5:\"Point\";");
    both_ways(Shape::Circle(3), "a:1:{s:6:\"Circle\";i:3;}");
    both_ways(
        Shape::Line(1, 2),
        "a:1:{s:4:\"Line\";a:2:{i:0;i:1;i:1;i:2;}}",
    );
    both_ways(
        Shape::Box { w: 1, h: 2 },
        "a:1:{s:3:\"Box\";a:2:{s:1:\"w\";i:1;s:1:\"h\";i:2;}}",
    );
}

#[test]
fn keys_are_those_of_php_arrays() {
    let keys = ["-0", "-5", "05", "5", "9223372036854775808", ""];
    let map: BTreeMap<String, u8> = keys.map(|key| (key.to_owned(), 1)).into();
    both_ways(
        map,
        "a:6:{s:0:\"\";i:1;s:2:\"-0\";i:1;i:-5;i:1;s:2:\"05\";i:1;i:5;i:1;s:19:\"9223372036854775808\";i:1;}",
    );
    both_ways(BTreeMap::from([('5', 1)]), "a:1:{i:5;i:1;}");
    both_ways(
        BTreeMap::from([(false, 1), (true, 2)]),
        "a:2:{i:0;i:1;i:1;i:2;}",
    );
    both_ways(
        BTreeMap::from([(Shape::Point, 1)]),
        "a:1:{s:5:\"Point\";i:1;}",
    );
    let error = to_vec(&BTreeMap::from([((), 1)])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Encode);
}

#[test]
fn objects_are_maps_by_the_bare_names_of_their_properties() {
    let text = "O:2:\"Pt\":3:{s:1:\"x\";i:1;s:4:\"\0*\0y\";s:1:\"b\";s:5:\"\0Pt\0z\";a:1:{i:0;N;}}";
    #[derive(Debug, PartialEq, Deserialize)]
    struct Pt {
        x: i64,
        y: String,
        z: Vec<Option<bool>>,
    }
    let expected = Pt {
        x: 1,
        y: "b".into(),
        z: vec![None],
    };
    assert_eq!(from_slice::<Pt>(text.as_bytes()).unwrap(), expected);
    let map: HashMap<String, serde_json::Value> = from_slice(text.as_bytes()).unwrap();
    assert_eq!(map["y"], "b");
    // An array's key is what it is.
    let map: HashMap<&str, u8> = from_slice(b"a:1:{s:4:\"\0*\0y\";i:1;}").unwrap();
    assert_eq!(map["\0*\0y"], 1);
}

#[test]
fn without_a_type_arrays_are_lists_or_maps() {
    let read = |text: &str| from_slice::<serde_json::Value>(text.as_bytes()).unwrap();
    assert_eq!(read("a:2:{i:0;i:5;i:1;a:0:{}}").to_string(), "[5,[]]");
    assert_eq!(
        read("a:2:{i:1;i:5;i:0;i:6;}").to_string(),
        r#"{"0":6,"1":5}"#
    );
    assert_eq!(
        read("a:2:{i:0;b:1;s:1:\"k\";d:0.5;}").to_string(),
        r#"{"0":true,"k":0.5}"#
    );
    assert_eq!(read("E:6:\"Suit:H\";"), "H");
    assert_eq!(
        from_slice::<Shape>(b"E:11:\"Shape:Point\";").unwrap(),
        Shape::Point
    );
}

#[test]
fn strings_are_borrowed_and_need_not_be_text() {
    let text: &str = from_slice(b"s:2:\"ab\";").unwrap();
    assert_eq!(text, "ab");
    assert!(from_slice::<String>(b"s:1:\"\xff\";").is_err());
    assert_eq!(
        from_slice::<Bytes>(b"s:2:\"\xff\0\";").unwrap().0,
        b"\xff\0"
    );
    assert_eq!(from_slice::<Bytes>(b"S:2:\"\\ffa\";").unwrap().0, b"\xffa");
    assert_eq!(to_vec(&Bytes(b"\xff".to_vec())).unwrap(), b"s:1:\"\xff\";");
}

#[derive(Debug)]
struct Bytes(Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: serde::Serializer>(
        &self,
        serializer: S,
    ) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> std::result::Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Bytes;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes")
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> std::result::Result<Bytes, E> {
                Ok(Bytes(bytes.to_vec()))
            }
        }
        deserializer.deserialize_byte_buf(Visitor)
    }
}

#[test]
fn what_rust_cannot_hold_is_named() {
    assert!(refused::<Vec<u8>>("a:2:{i:0;i:5;i:1;R:2;}").contains("reference"));
    assert!(refused::<Vec<u8>>("a:1:{i:0;r:1;}").contains("reference"));
    assert!(refused::<u8>("C:1:\"X\":3:{abc}").contains("only its class"));
    assert!(refused::<Vec<u8>>("a:1:{i:1;i:5;}").contains("no list"));
    assert!(refused::<(u8,)>("a:2:{i:0;i:5;i:1;i:6;}").contains("more entries"));
    assert!(refused::<u8>("i:1;i:2;").contains("behind the value"));
    assert_eq!(to_vec(&u64::MAX).unwrap_err().kind(), ErrorKind::Encode);
}

#[test]
fn messages_show_types_and_never_content() {
    for message in [
        refused::<u8>("s:6:\"secret\";"),
        refused::<u8>("i:77777;"),
        refused::<Shape>("s:6:\"secret\";"),
        refused::<Vec<u8>>("d:77777.5;"),
        refused::<Cart>(&CART.replace("i:7;", "s:6:\"secret\";")),
    ] {
        assert!(
            !message.contains("secret") && !message.contains("77777"),
            "{message}"
        );
    }
}

#[test]
fn every_truncation_and_every_flipped_bit_is_read_or_refused() {
    let data = CART.as_bytes();
    for end in 0..data.len() {
        assert!(from_slice::<Cart>(&data[..end]).is_err(), "cut at {end}");
        assert!(from_slice::<serde_json::Value>(&data[..end]).is_err());
    }
    let mut read = 0;
    for bit in 0..data.len() * 8 {
        let mut data = data.to_vec();
        data[bit / 8] ^= 1 << (bit % 8);
        if let Ok(value) = from_slice::<serde_json::Value>(&data) {
            assert!(
                super::super::php_scan::check(&data).is_ok(),
                "bit {bit}: {value}"
            );
            read += 1;
        }
    }
    // Bits of digits and of text make other numbers and other text.
    assert!((50..data.len() * 8 / 2).contains(&read), "{read}");
}

#[test]
fn depth_and_lengths_cost_nothing() {
    let nested = |depth: usize| {
        let open = "a:1:{i:0;".repeat(depth);
        format!("{open}N;{}", "}".repeat(depth))
    };
    assert!(from_slice::<serde_json::Value>(nested(120).as_bytes()).is_ok());
    assert!(from_slice::<serde_json::Value>(nested(129).as_bytes()).is_err());
    assert!(from_slice::<serde_json::Value>(nested(200_000).as_bytes()).is_err());
    // What is not looked at is skipped without recursion.
    assert!(from_slice::<IgnoredAny>(nested(4000).as_bytes()).is_ok());
    refused::<String>("s:99999999999999:\"a\";");
    refused::<Vec<u8>>("a:99999999999999:{i:0;i:1;}");
}

#[test]
fn the_wrapper_goes_through_both_transcoders() {
    let coders: [(&dyn Transcoder, u32); 2] = [(&PhpMemcached::new(), 4), (&PhpMemcache::new(), 1)];
    for (coder, serialized) in coders {
        let wrapped = Php(cart());
        let stored = coder.encode(wrapped.to_value()).unwrap();
        assert_eq!((stored.flags, &*stored.data), (serialized, CART.as_bytes()));
        let value = coder.decode(stored.flags, stored.data).unwrap();
        assert_eq!(Php::<Cart>::from_value(value).unwrap(), wrapped);
    }
    assert!(Raw::new().encode(Php(cart()).to_value()).is_err());
}

#[test]
fn the_wrapper_stores_scalars_as_php_does() {
    let coder = PhpMemcached::new();
    let rows: [(Box<dyn ToValue>, u32, &[u8]); 6] = [
        (Box::new(Php(5)), 1, b"5"),
        (Box::new(Php(0.1)), 2, b".1"),
        (Box::new(Php(true)), 3, b"1"),
        (Box::new(Php("text")), 0, b"text"),
        (Box::new(Php(None::<u8>)), 4, b"N;"),
        (Box::new(Php([1])), 4, b"a:1:{i:0;i:1;}"),
    ];
    for (wrapped, flags, data) in rows {
        let stored = coder.encode(wrapped.to_value()).unwrap();
        assert_eq!((stored.flags, &*stored.data), (flags, data));
    }
    assert_eq!(Php::<i64>::from_value(Value::I64(5)).unwrap(), Php(5));
    assert_eq!(Php::<f64>::from_value(Value::F64(0.1)).unwrap(), Php(0.1));
    assert_eq!(
        Php::<bool>::from_value(Value::Bool(true)).unwrap(),
        Php(true)
    );
    assert_eq!(
        Php::<Option<u8>>::from_value(Value::Null).unwrap(),
        Php(None)
    );
    let text = Value::Bytes(b"text"[..].into());
    assert_eq!(Php::<String>::from_value(text).unwrap().0, "text");
}

#[test]
fn the_wrapper_refuses_what_has_no_form() {
    let value = BTreeMap::from([((), 1)]);
    let error = PhpMemcached::new()
        .encode(Php(&value).to_value())
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Encode);
    let json = Value::Foreign {
        kind: ForeignKind::Json,
        bytes: b"[]"[..].into(),
    };
    let error = Php::<Vec<u8>>::from_value(json).unwrap_err();
    assert!(error.to_string().contains("Json"), "{error}");
}
