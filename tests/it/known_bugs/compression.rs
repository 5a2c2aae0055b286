//! Compressed values: forms that differ from client to client, and lengths that are not true.

use std::borrow::Cow;

use sockio::codec::{PhpCompression, PhpMemcached, Transcoder};
use sockio::{Compat, ErrorKind, FromValue, MemcachedClient, ToValue};

use super::{NEVER, connects, forms, real, text};
use crate::support::allocations;

/// What each client that compresses makes of a long text.
fn some() -> Vec<Stored> {
    let original = long_text();
    let stored = forms().into_iter().filter_map(|compat| {
        let stored = compat.transcoder().encode(original.to_value()).unwrap();
        let shorter = stored.data.len() < original.len();
        shorter.then(|| Stored {
            compat,
            flags: stored.flags,
            data: stored.data.into_owned(),
        })
    });
    let stored: Vec<_> = stored.collect();
    assert!(stored.len() >= 4, "{}", stored.len());
    stored
}

fn long_text() -> String {
    "long text ".repeat(10_000)
}

struct Stored {
    compat: Compat,
    flags: u32,
    data: Vec<u8>,
}

/// comp-01 (php-memcached-dev/php-memcached#137, killme2008/xmemcached#70): Java could not inflate what PHP had compressed,
/// nor the other way round.
#[test]
fn what_another_client_compressed_is_read_in_its_own_form_or_is_an_error() {
    let (_server, client) = real(&[]);
    let original = long_text();
    let forms = some();
    let mut failed = 0;
    for form in &forms {
        client.set_raw("k", &form.data, form.flags, NEVER).unwrap();
        let own = client.clone().with_transcoder(form.compat.transcoder());
        assert_eq!(text(&own, "k").as_ref(), Some(&original), "{}", form.compat);
        for reader in &forms {
            let other: MemcachedClient = client.clone().with_transcoder(reader.compat.transcoder());
            match other.get::<String>("k") {
                Ok(value) => assert!(value.is_some()),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Decode, "{error}");
                    failed += 1;
                }
            }
        }
    }
    assert!(failed > 0);
    assert_eq!(connects(&client), 1);
}

/// comp-03 (php-memcached-dev/php-memcached#255, #256): plain text was marked as compressed, and its first four bytes were taken
/// for a length of 1.7 GB.
#[test]
fn a_length_that_is_not_true_costs_no_memory() {
    let (_server, client) = real(&[]);
    let php = client.clone().with_transcoder(PhpMemcached::new());
    // Compressed, by zlib and by FastLZ.
    for flags in [0x30, 0x50] {
        client
            .set_raw("k", "abcdefghijklmnop", flags, NEVER)
            .unwrap();
        allocations::begin();
        let error = php.get::<String>("k").unwrap_err();
        let asked = allocations::asked();
        assert_eq!(error.kind(), ErrorKind::Decode, "{error}");
        assert!(asked.largest < 64 << 10, "{asked:?}");
    }
    // Within the limit, and not true either.
    let data = [&(60_u32 << 20).to_le_bytes()[..], b"abc"].concat();
    for flags in [0x30, 0x50] {
        client.set_raw("k", &data, flags, NEVER).unwrap();
        assert_eq!(
            php.get::<String>("k").unwrap_err().kind(),
            ErrorKind::Decode
        );
    }
    assert_eq!(connects(&client), 1);
}

/// comp-04 (php-memcached-dev/php-memcached 2.2.0, PHP bug 65334): a stream that broke off ended the program.
#[test]
fn a_compressed_value_that_breaks_off_is_an_error() {
    for form in some() {
        let transcoder = form.compat.transcoder();
        let len = form.data.len();
        for cut in (0..50).map(|part| part * len / 50).chain([len - 1]) {
            let decoded = transcoder.decode(form.flags, Cow::Borrowed(&form.data[..cut]));
            let error = match decoded {
                Err(error) => error,
                Ok(_) => panic!("{}: {cut} of {len} bytes", form.compat),
            };
            assert_eq!(error.kind(), ErrorKind::Decode);
        }
    }
}

/// comp-07 (sorentwo/readthis#13): whether a value was compressed was told by its length.
#[test]
fn only_the_flags_say_what_is_compressed() {
    let original = "abcabcabc".repeat(10);
    let eager = PhpMemcached::new()
        .compression(Some(PhpCompression::Zlib))
        .compression_threshold(10);
    let stored = eager.encode(original.to_value()).unwrap();
    assert!(stored.data.len() < 60);
    let reader = PhpMemcached::new();
    let short = reader.decode(stored.flags, stored.data.clone()).unwrap();
    assert_eq!(String::from_value(short).unwrap(), original);
    // What looks compressed and is long is what it is.
    let long = [&stored.data[..], &[b'x'; 100_000]].concat();
    let plain = reader.decode(0, Cow::Borrowed(&long)).unwrap();
    assert!(Vec::<u8>::from_value(plain).unwrap() == long);
}
