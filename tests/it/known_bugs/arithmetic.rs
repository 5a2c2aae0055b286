//! Counters, which the server keeps as decimal text.

use sockio::codec::Whalin;
use sockio::{Compat, ErrorKind, SockIoPool};

use super::{NEVER, client, connects, real, text};
use crate::support::RealServer;

/// incr-01 (ananthakumaran/memcachex#27): after 10 came 9 and a blank, since the server keeps the length of the text.
#[test]
fn the_blank_that_decr_leaves_is_no_part_of_the_number() {
    let (_server, client) = real(&[]);
    client.set("n", "10", NEVER).unwrap();
    assert_eq!(client.decr("n", 1).unwrap(), Some(9));
    assert_eq!(client.get_counter("n").unwrap(), Some(9));
    assert_eq!(client.get::<u64>("n").unwrap(), Some(9));
    assert_eq!(client.get_raw("n").unwrap().unwrap().value, b"9 ");
    client.set("n", u64::MAX.to_string(), NEVER).unwrap();
    assert_eq!(client.incr("n", 1).unwrap(), Some(0));
    assert_eq!(client.get_counter("n").unwrap(), Some(0));
}

/// incr-03 (a page about spymemcached, kwonnam.pe.kr/wiki/java/spymemcached): a counter above the signed numbers
/// was negative, and then -1 for ever.
#[test]
fn a_counter_has_64_bits_without_a_sign() {
    let (_server, client) = real(&[]);
    client.set("n", "9223372036854775807", NEVER).unwrap();
    assert_eq!(
        client.incr("n", 1).unwrap(),
        Some(9_223_372_036_854_775_808)
    );
    assert_eq!(client.get_counter("n").unwrap(), Some(1 << 63));
    assert_eq!(client.add_or_incr("n", 1, NEVER).unwrap(), (1 << 63) + 1);
}

/// incr-04 (websupport-sk/pecl-memcache 3.0.6, PECL #17518): counting on with what is no number gave odd results.
#[test]
fn what_is_no_number_is_an_error_and_stays() {
    let (_server, client) = real(&[]);
    for value in ["abc", "-1", "1.5", "", "123456789012345678901"] {
        client.set("n", value, NEVER).unwrap();
        for error in [
            client.incr("n", 1).unwrap_err(),
            client.decr("n", 1).unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::Client, "{value:?}");
            assert!(error.to_string().contains("non-numeric"), "{error}");
        }
        assert_eq!(text(&client, "n").as_deref(), Some(value));
    }
    assert_eq!(connects(&client), 1);
}

/// incr-06 (gwhalin/Memcached-Java-Client#51): counters are text on the server, and the readers of typed values failed on them.
#[test]
fn counters_have_commands_of_their_own_beside_typed_values() {
    let server = RealServer::start(&[]);
    let compat: Compat = "whalin/native".parse().unwrap();
    let pool = SockIoPool::builder()
        .servers([server.addr()])
        .compat(compat);
    let java = client(pool);
    for java in [java.clone(), java.with_transcoder(Whalin::v3())] {
        assert!(java.store_counter("n", 5, NEVER).unwrap());
        assert_eq!(java.get_counter("n").unwrap(), Some(5));
        assert_eq!(java.incr("n", 2).unwrap(), Some(7));
        assert_eq!(java.get_counter("n").unwrap(), Some(7));
        assert_eq!(java.get_raw("n").unwrap().unwrap().value, b"7");
        // A typed integer is four bytes to the server, and no counter.
        java.set("typed", 5_i32, NEVER).unwrap();
        assert_eq!(java.incr("typed", 1).unwrap_err().kind(), ErrorKind::Client);
        assert_eq!(java.get::<i32>("typed").unwrap(), Some(5));
    }
    // The flags stay.
    let (_other, client) = real(&[]);
    client.set_raw("n", "5", 2, NEVER).unwrap();
    client.incr("n", 1).unwrap();
    let item = client.get_raw("n").unwrap().unwrap();
    assert_eq!((&*item.value, item.flags), (&b"6"[..], 2));
}
