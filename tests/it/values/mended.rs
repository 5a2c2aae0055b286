//! What the peers lose and this crate keeps or refuses, beyond the captured rows; and that no item of another client does harm.

use std::borrow::Cow;

use sockio::codec::{
    Compression, Dalli, Encoded, Enyim, ForeignKind, MemcachedDotNet, PerlCacheMemcached, Pylibmc,
    Pymemcache, PythonMemcached, Raw, Spymemcached, Transcoder, Value, Whalin,
};
use sockio::{ErrorKind, FromValue, ToValue};

const JAVA_OBJECT: &[u8] = b"\xac\xed\x00\x05sr\x00\x01Ax";

fn all() -> Vec<Box<dyn Transcoder>> {
    vec![
        Box::new(Raw::new()),
        Box::new(Whalin::v1()),
        Box::new(Whalin::v2()),
        Box::new(Whalin::v3()),
        Box::new(Whalin::v1().primitive_as_string(true)),
        Box::new(Whalin::v2().primitive_as_string(true)),
        Box::new(Whalin::v3().primitive_as_string(true)),
        Box::new(MemcachedDotNet::new()),
        Box::new(MemcachedDotNet::new().primitive_as_string(true)),
        Box::new(Enyim::new()),
        Box::new(Spymemcached::new()),
        Box::new(Pylibmc::new()),
        Box::new(PythonMemcached::new()),
        Box::new(PythonMemcached::new().pickle_protocol(2)),
        Box::new(Pymemcache::new()),
        Box::new(Pymemcache::plain()),
        Box::new(Dalli::new()),
        Box::new(Dalli::new().raw(true)),
        Box::new(PerlCacheMemcached::new()),
        Box::new(PerlCacheMemcached::fast().utf8(true)),
    ]
}

fn read<T: FromValue>(transcoder: &dyn Transcoder, flags: u32, data: &[u8]) -> Option<T> {
    let read = transcoder
        .decode(flags, Cow::Borrowed(data))
        .and_then(T::from_value);
    match read {
        Ok(read) => Some(read),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Decode);
            None
        }
    }
}

fn write<'v>(transcoder: &dyn Transcoder, value: &'v (impl ToValue + ?Sized)) -> Encoded<'v> {
    transcoder.encode(value.to_value()).unwrap()
}

#[test]
fn plain_text_of_others_is_text_everywhere() {
    for transcoder in all() {
        for plain in ["hello", "123", "\u{7f13}\u{5b58}", " "] {
            let text: String = read(&*transcoder, 0, plain.as_bytes()).unwrap();
            assert_eq!(text, plain, "{transcoder:?}");
        }
        assert_eq!(
            read::<u64>(&*transcoder, 0, b"9 "),
            Some(9),
            "{transcoder:?}"
        );
    }
}

#[test]
fn empty_text_and_bytes_stay_empty() {
    for transcoder in all() {
        let empty = write(&*transcoder, "");
        assert_eq!(
            read(&*transcoder, empty.flags, &empty.data),
            Some(String::new()),
            "{transcoder:?}"
        );
        let empty = write(&*transcoder, b"");
        assert_eq!(
            read(&*transcoder, empty.flags, &empty.data),
            Some(Vec::<u8>::new()),
            "{transcoder:?}"
        );
    }
}

#[test]
fn rust_types_come_back_through_every_form() {
    fn check<T: ToValue + FromValue + PartialEq + std::fmt::Debug>(
        transcoder: &dyn Transcoder,
        value: T,
    ) {
        let encoded = write(transcoder, &value);
        assert_eq!(
            read::<T>(transcoder, encoded.flags, &encoded.data),
            Some(value),
            "{transcoder:?}"
        );
    }
    for transcoder in all() {
        let transcoder = &*transcoder;
        check(transcoder, true);
        check(transcoder, i16::MIN);
        check(transcoder, i32::MIN);
        check(transcoder, i64::MIN);
        check(transcoder, u8::MAX);
        check(transcoder, u16::MAX);
        check(transcoder, u32::MAX);
        check(transcoder, i64::MAX as u64);
        check(transcoder, i8::MIN);
        check(transcoder, 1.5_f32);
        check(transcoder, -0.125_f64);
        check(transcoder, 'x');
        check(transcoder, String::from("h\u{e9}llo"));
        check(transcoder, (0..=255).collect::<Vec<u8>>());
        check(transcoder, Some(5));
    }
}

#[test]
fn an_integer_too_large_for_java_is_refused() {
    for whalin in [
        Whalin::v1(),
        Whalin::v2(),
        Whalin::v3().primitive_as_string(true),
    ] {
        let error = whalin.encode(u64::MAX.to_value()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Encode);
    }
}

#[test]
fn java_objects_keep_their_form() {
    for (whalin, flags) in [(Whalin::v1(), 8), (Whalin::v2(), 8), (Whalin::v3(), 0)] {
        let object = whalin.decode(flags, Cow::Borrowed(JAVA_OBJECT)).unwrap();
        assert!(matches!(
            object,
            Value::Foreign {
                kind: ForeignKind::Java,
                ..
            }
        ));
        let written = whalin.encode(object.borrowed()).unwrap();
        assert!(written.flags == flags && matches!(written.data, Cow::Borrowed(JAVA_OBJECT)));
        // To none of the others.
        for transcoder in [
            &Raw::new() as &dyn Transcoder,
            &MemcachedDotNet::new(),
            &Enyim::new(),
        ] {
            let error = transcoder.encode(object.borrowed()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Encode);
        }
        assert_eq!(read::<Vec<u8>>(&whalin, 8, b"no object"), None);
    }
    // 3.x reads what 2.x wrote, and 2.x, here, what 3.x wrote.
    assert_eq!(
        read::<Vec<u8>>(&Whalin::v3(), 8, JAVA_OBJECT).unwrap(),
        JAVA_OBJECT
    );
    assert_eq!(
        read::<Vec<u8>>(&Whalin::v2(), 0, JAVA_OBJECT).unwrap(),
        JAVA_OBJECT
    );
}

#[test]
fn the_first_of_javas_flags_counts() {
    for whalin in [Whalin::v2(), Whalin::v3()] {
        let read = |flags, data: &'static [u8]| whalin.decode(flags, Cow::Borrowed(data)).unwrap();
        assert_eq!(read(1 | 32, b"\x05"), Value::I8(5));
        assert_eq!(read(8192 | 4, b"\x01"), Value::Bool(true));
        assert_eq!(read(16384 | 4, b"\0\0\0\x05"), Value::I32(5));
        assert_eq!(read(0x10000 | 32, b"a"), Value::from("a"));
    }
}

#[test]
fn flags_of_other_clients_are_errors_not_other_values() {
    for whalin in [Whalin::v2(), Whalin::v3()] {
        // php-memcached: long, then a double, "1.5"; pecl memcache: serialized; all shown as numbers by Java.
        assert_eq!(read::<Value>(&whalin, 1, b"10"), None);
        assert_eq!(read::<Value>(&whalin, 0x8000, b"x"), None);
        assert_eq!(read::<Value>(&whalin, 1, b"a:0:{}"), None);
        assert_eq!(read::<Value>(&whalin, 4, b"10"), None);
        assert_eq!(
            read::<Value>(&whalin, 16, b"text"),
            Some(Value::Char(0x7874))
        );
        assert_eq!(read::<Value>(&whalin, 32, b"\xff"), None);
    }
    // zlib under the flag of gzip, as pecl memcache stores it.
    let zlib = b"\x78\x9c\x4b\x04\x00\x00\x62\x00\x62";
    // Flag 2 is no compression with Enyim, that of zlib with Dalli, and nothing without a serde.
    let other = ["Enyim", "Dalli", "Pymemcache { serde: false"];
    let all = all();
    let gzip = all.iter().filter(|transcoder| {
        let name = format!("{transcoder:?}");
        !other.iter().any(|other| name.starts_with(other))
    });
    for transcoder in gzip {
        assert_eq!(
            read::<Value>(&**transcoder, 2, zlib),
            None,
            "{transcoder:?}"
        );
        assert_eq!(read::<Value>(&**transcoder, 2, b""), None, "{transcoder:?}");
    }
}

#[test]
fn a_bomb_is_refused_whatever_carries_it() {
    let bomb = vec![0; 2 << 20];
    let compression = Compression::new().max_inflated(1 << 20);
    let transcoders: [(u32, Box<dyn Transcoder>); 10] = [
        (2, Box::new(Raw::new().compression(compression.clone()))),
        (2, Box::new(Whalin::v2().compression(compression.clone()))),
        (2, Box::new(Whalin::v3().compression(compression.clone()))),
        (
            2,
            Box::new(MemcachedDotNet::new().compression(compression.clone())),
        ),
        (
            2,
            Box::new(Spymemcached::new().compression(compression.clone())),
        ),
        (8, Box::new(Pylibmc::new().compression(compression.clone()))),
        (
            8,
            Box::new(PythonMemcached::new().compression(compression.clone())),
        ),
        (
            8,
            Box::new(Pymemcache::new().compression(compression.clone())),
        ),
        (2, Box::new(Dalli::new().compression(compression.clone()))),
        (
            2,
            Box::new(PerlCacheMemcached::new().compression(compression.clone())),
        ),
    ];
    for (compressed, transcoder) in transcoders {
        let packed = write(&*transcoder, &bomb);
        assert!(packed.flags & compressed != 0 && packed.data.len() < 10_000);
        assert_eq!(
            read::<Vec<u8>>(&*transcoder, packed.flags, &packed.data),
            None
        );
    }
}

#[test]
fn no_flags_and_payload_do_harm() {
    let payloads: [&[u8]; 15] = [
        b"",
        b"\0",
        b"\x01",
        b"\x05abc",
        b"\x0b\xff\xff\xff\xff\xff\xff\xff\xff",
        b"\x1f\x8b\x08\0\0\0\0\0\0\0",
        JAVA_OBJECT,
        b"\0\x01\0\0\0\xff\xff\xff\xff\x01\0\0\0\0\0\0\0\x0f\x01\0\0\0\xff\xff\xff\x7f\x02\x0b",
        &[0xff; 40],
        b"\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\xff.",
        b"F1e999999\n.",
        b"\x04\x08\"\x04\xff\xff\xff\xff",
        b"\x04\x08l-\x04\xff\xff\xff\xff",
        b"\x04\x08I\"\x06a\x06:\x06ET",
        b"\x04\x08i\xfc\0\0\0\x80",
    ];
    let bits = (0..32).flat_map(|high| (0..32).map(move |low| 1 << high | 1 << low));
    let mut decoded = 0;
    for flags in bits.chain(0..600).chain([0xfa52, u32::MAX]) {
        for payload in payloads {
            for transcoder in all() {
                if let Ok(value) = transcoder.decode(flags, Cow::Borrowed(payload)) {
                    // Whatever was read can be written, but for what Java and `Raw` have no form for.
                    if let Err(error) = transcoder.encode(value) {
                        assert_eq!(error.kind(), ErrorKind::Encode);
                    }
                    decoded += 1;
                }
            }
        }
    }
    assert!(decoded > 10_000, "{decoded}");
}
