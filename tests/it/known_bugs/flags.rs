//! The flags beside values.

use sockio::codec::{PhpMemcached, Pymemcache, PythonMemcached, Transcoder};
use sockio::{ErrorKind, FromValue, ToValue};

use super::{NEVER, client, connects, forms, real, single, text};
use crate::support::fake::{Act, Fake};

/// comp-06 (petergoldstein/dalli 5.0.4, #1099): the mark of UTF-8 and the mark of compressed values were the same bit.
#[cfg(feature = "compress")]
#[test]
fn the_mark_of_compressed_values_marks_nothing_else() {
    let long = "long text ".repeat(10_000);
    let mut checked = 0;
    for compat in forms() {
        let transcoder = compat.transcoder();
        let flags = |value: sockio::Value<'_>| transcoder.encode(value).ok().map(|it| it.flags);
        let plain = flags("text".to_value()).unwrap();
        let mark = flags(long.to_value()).unwrap() ^ plain;
        if mark == 0 {
            continue;
        }
        let date = std::time::SystemTime::now();
        let others = [
            flags("text".to_value()),
            flags(b"bytes"[..].to_value()),
            flags(1_i32.to_value()),
            flags(1_i64.to_value()),
            flags(true.to_value()),
            flags(1.5_f64.to_value()),
            flags('c'.to_value()),
            flags(date.to_value()),
            flags(None::<i32>.to_value()),
            Some(transcoder.counter_flags()),
        ];
        for other in others.into_iter().flatten() {
            assert_eq!(other & mark, 0, "{compat}: {other:#x} and {mark:#x}");
            checked += 1;
        }
    }
    assert!(checked >= 30, "{checked}");
}

/// comp-09 (linsomniac/python-memcached#135): a flag that was new in one version could not be read by the one before.
#[test]
fn writers_keep_to_their_client_and_readers_take_what_came_before() {
    let python = PythonMemcached::new();
    let stored = python.encode("text".to_value()).unwrap();
    assert_eq!((stored.flags, &*stored.data), (16, &b"text"[..]));
    assert_eq!(python.encode(5_i32.to_value()).unwrap().flags, 2);
    let pymemcache = Pymemcache::new();
    let readers: [&dyn Transcoder; 2] = [&python, &pymemcache];
    for reader in readers {
        for flags in [0, 16] {
            let value = reader.decode(flags, b"text"[..].into()).unwrap();
            assert_eq!(String::from_value(value).unwrap(), "text");
        }
    }
}

/// comp-10 (memcached/memcached#84): old servers print flags with the highest bit as negative numbers.
#[test]
fn negative_flags_are_the_same_bits() {
    for (printed, flags) in [
        ("-1", u32::MAX),
        ("-2147483648", 1 << 31),
        ("4294967295", u32::MAX),
    ] {
        let line = format!("VALUE k {printed} 1");
        let script = vec![
            Act::Request,
            Act::Send(format!("{line}\r\nx\r\nEND\r\n").into()),
            Act::Request,
            Act::Send(format!("{line} 7\r\nx\r\nEND\r\n").into()),
        ];
        let fake = Fake::new(vec![script]);
        let client = client(single(&fake));
        let seen = client.get_with("k", |value, flags| (value.to_vec(), flags));
        assert_eq!(seen.unwrap(), Some((b"x".to_vec(), flags)));
        let item = client.get_raw("k").unwrap().unwrap();
        assert_eq!((&*item.value, item.flags, item.cas), (&b"x"[..], flags, 7));
    }
}

/// comp-12 (aio-libs/aiomcache#173, 3rd-Eden/memcached#243): flags other than 0 were an error, and nobody could give any.
#[test]
fn flags_can_be_given_and_read() {
    let (_server, client) = real(&[]);
    client.set_raw("k", b"\0bytes", 7, NEVER).unwrap();
    let item = client.get_raw("k").unwrap().unwrap();
    assert_eq!((&*item.value, item.flags), (&b"\0bytes"[..], 7));
    client.set_with_flags("k", "text", 9 << 16, NEVER).unwrap();
    assert_eq!(text(&client, "k").as_deref(), Some("text"));
    assert_eq!(client.gets::<String>("k").unwrap().unwrap().flags, 9 << 16);
}

/// comp-13 (php-memcached-dev/php-memcached 3.1.4, #431): flags that PHP does not know ended the program.
#[test]
fn unknown_flags_are_an_error_at_most() {
    for compat in forms() {
        let transcoder = compat.transcoder();
        for data in [&b""[..], b"x", b"N;", &[0xff; 100]] {
            for flags in [u32::MAX, u32::MAX - 0x12, 0x8000_0000, 0xff, 0xffff_0000] {
                if let Err(error) = transcoder.decode(flags, data.into()) {
                    assert_eq!(error.kind(), ErrorKind::Decode, "{compat}");
                }
            }
        }
    }
    let (_server, client) = real(&[]);
    client.set_raw("k", "x", u32::MAX, NEVER).unwrap();
    let php = client.clone().with_transcoder(PhpMemcached::new());
    assert_eq!(
        php.get::<String>("k").unwrap_err().kind(),
        ErrorKind::Decode
    );
    assert_eq!(connects(&client), 1);
}
