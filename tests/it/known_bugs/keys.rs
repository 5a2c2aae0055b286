//! Keys that smuggled commands, broke the order of answers, or came back as others.

use std::collections::HashMap;

use sockio::{Cas, Compat, Error, ErrorKind, MemcachedClient, RawEnd, SockIoPool};

use super::{NEVER, client, connects, real, single, text};
use crate::support::RealServer;
use crate::support::fake::Fake;
use crate::support::wait::{ms, within};

/// What the server holds under a key, as it lies there.
fn stored(client: &MemcachedClient, key: &str) -> String {
    let server = client.pool().servers()[0].name().to_owned();
    let request = format!("get {key}\r\n");
    let reply = client.raw_on(&server, request.as_bytes(), RawEnd::AnyOf(&["END"]));
    String::from_utf8(reply.unwrap()).unwrap()
}

/// key-02 (lericson/pylibmc#282, php-memcached-dev/php-memcached#519, CVE-2022-26635): the check of keys could be turned off,
/// and a key stored another one.
#[test]
fn a_key_cannot_carry_a_command() {
    let (_server, client) = real(&[]);
    let key = b"foo\r\nset xhzeem 0 100 8\r\ninjected";
    let error = client.get::<String>(key).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Key);
    assert_eq!(text(&client, "xhzeem"), None);
}

/// key-03 (php-memcached-dev/php-memcached#339): a key with a line end made the next command wait for half a minute.
#[test]
fn a_key_with_a_line_end_is_refused_at_once() {
    let (_server, client) = real(&[]);
    for error in [
        within(ms(0), || client.get::<String>("test\n").unwrap_err()),
        within(ms(0), || client.set("test\n", "abc", NEVER).unwrap_err()),
    ] {
        assert_eq!(error.kind(), ErrorKind::Key);
    }
    assert_eq!(text(&client, "test"), None);
}

/// key-05 (3rd-Eden/memcached#31): the server answers a set with too long a key by two lines, and the order was lost.
#[test]
fn a_key_too_long_disturbs_no_other() {
    let (_server, client) = real(&[]);
    client.set("other", "x", NEVER).unwrap();
    let error = client.set("k".repeat(251), "v", NEVER).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Key);
    assert_eq!(text(&client, "other").as_deref(), Some("x"));
    let longest = "k".repeat(250);
    assert!(client.set(&longest, "v", NEVER).unwrap());
    assert_eq!(text(&client, &longest).as_deref(), Some("v"));
    assert_eq!(connects(&client), 1);
}

/// key-06 (Shopify/async-memcached#60): no command knew the limit, and one long key among many lost all their values.
#[test]
fn every_command_refuses_a_key_too_long_before_it_writes() {
    let fake = Fake::serving();
    let client = client(single(&fake));
    let key = "k".repeat(251);
    let key = key.as_str();
    let commands: [fn(&MemcachedClient, &str) -> Result<(), Error>; 10] = [
        |client, key| client.get::<String>(key).map(drop),
        |client, key| client.set(key, "v", NEVER).map(drop),
        |client, key| client.add(key, "v", NEVER).map(drop),
        |client, key| client.delete(key).map(drop),
        |client, key| client.touch(key, NEVER).map(drop),
        |client, key| client.incr(key, 1).map(drop),
        |client, key| client.decr(key, 1).map(drop),
        |client, key| client.get_multi::<String, _>(["a", key, "b"]).map(drop),
        |client, key| client.set_multi([("a", "v"), (key, "v")], NEVER).map(drop),
        |client, key| client.delete_multi(["a", key]).map(drop),
    ];
    for command in commands {
        assert_eq!(command(&client, key).unwrap_err().kind(), ErrorKind::Key);
    }
    assert_eq!(text(&client, "next").as_deref(), Some("next"));
    assert_eq!(fake.seen()[0].requests, ["get next"]);
    assert_eq!(fake.seen()[0].trailing, b"");
}

/// key-08 (victorquinn/memcache-plus#105, pathosDev/actor-ts#1364): the limit was counted in characters.
#[test]
fn the_length_of_a_key_is_that_of_its_bytes() {
    let (_server, client) = real(&[]);
    let error = client.set("缓".repeat(84), "v", NEVER).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Key);
    assert!(error.to_string().contains("252 bytes"), "{error}");
    let key = "缓".repeat(83);
    assert!(client.set(&key, "v", NEVER).unwrap());
    assert_eq!(text(&client, &key).as_deref(), Some("v"));
}

/// key-09 (lericson/pylibmc#49): a key with a NUL came back as another one; to the server it ends there.
#[test]
fn a_key_with_a_nul_is_refused() {
    let (_server, client) = real(&[]);
    client.set("a", "of another", NEVER).unwrap();
    let error = client.get_multi::<String, _>(["\x01\0\x02"]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Key);
    let error = client.get::<String>("a\0b").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Key);
}

/// key-11 (websupport-sk/pecl-memcache 2.2.3, PECL #12883, #15342): bytes above ASCII were taken for control characters,
/// and blanks were replaced in some commands only.
#[test]
fn bytes_above_ascii_pass_and_blanks_are_replaced_everywhere() {
    let (server, client) = real(&[]);
    for key in ["ключ", "한글키"] {
        client.set(key, "v", NEVER).unwrap();
        assert_eq!(
            stored(&client, key),
            format!("VALUE {key} 0 1\r\nv\r\nEND\r\n")
        );
    }
    let compat: Compat = "pecl-memcache/standard/crc32".parse().unwrap();
    let pool = SockIoPool::builder()
        .servers([server.addr()])
        .compat(compat);
    let pecl = super::client(pool);
    let key = "a b";
    assert!(pecl.add(key, "1", NEVER).unwrap());
    assert_eq!(stored(&client, "a_b"), "VALUE a_b 0 1\r\n1\r\nEND\r\n");
    assert_eq!(text(&pecl, key).as_deref(), Some("1"));
    assert_eq!(pecl.incr(key, 4).unwrap(), Some(5));
    assert!(pecl.touch(key, NEVER).unwrap());
    assert!(pecl.append(key, "0").unwrap());
    let item = pecl.gets::<String>(key).unwrap().unwrap();
    assert_eq!(item.value, "50");
    assert_eq!(pecl.cas(key, "7", NEVER, item.cas).unwrap(), Cas::Stored);
    let many = pecl.get_multi::<String, _>([key]).unwrap();
    assert_eq!(many.get(key).map(String::as_str), Some("7"));
    assert!(pecl.delete(key).unwrap());
    assert_eq!(stored(&client, "a_b"), "END\r\n");
}

/// key-12 (petergoldstein/dalli 3.2.3): the token of a cas and the delay of a flush were pasted in as text.
#[test]
fn no_argument_can_carry_a_command() {
    let fake = Fake::serving();
    let client = client(single(&fake));
    // Tokens and delays are numbers by their type; the one argument that is text is checked.
    for argument in ["1\r\nflush_all", "items\nflush_all", "\r"] {
        let error = client.stats(Some(argument)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config);
    }
    client.cas("k", "v", NEVER, u64::MAX).unwrap();
    assert_eq!(
        fake.seen()[0].requests,
        ["cas k 0 0 1 18446744073709551615"]
    );
    assert_eq!(fake.count("flush_all"), 0);
}

/// key-14 (petergoldstein/dalli 3.1.4): with many keys those outside ASCII were lost.
#[test]
fn many_keys_come_back_as_the_caller_wrote_them() {
    let (_server, client) = real(&[]);
    client.set_multi([("é", "1"), ("a", "2")], NEVER).unwrap();
    let map: HashMap<&str, String> = client.get_multi(["é", "a"]).unwrap().into_map();
    let expected = [("é", "1"), ("a", "2")].map(|(key, value)| (key, value.to_owned()));
    assert_eq!(map, HashMap::from(expected));
}

/// key-15 (killme2008/xmemcached#16, #85, pallets-eco/cachelib#495): a prefix stood before the keys of some commands only,
/// or twice.
#[test]
fn every_command_puts_the_prefix_before_the_key_once() {
    let server = RealServer::start(&[]);
    let pool = SockIoPool::builder().servers([server.addr()]).prefix("ns:");
    let client = client(pool);
    assert!(client.set("foo", "1", NEVER).unwrap());
    assert_eq!(
        stored(&client, "ns:foo"),
        "VALUE ns:foo 0 1\r\n1\r\nEND\r\n"
    );
    assert_eq!(stored(&client, "foo"), "END\r\n");
    let many = client.get_multi::<String, _>(["foo"]).unwrap();
    assert_eq!(many.into_map(), HashMap::from([("foo", "1".to_owned())]));
    assert_eq!(client.incr("foo", 1).unwrap(), Some(2));
    assert_eq!(client.get_counter("foo").unwrap(), Some(2));
    assert!(client.touch("foo", NEVER).unwrap());
    assert!(client.append("foo", "0").unwrap());
    let item = client.gets::<String>("foo").unwrap().unwrap();
    assert_eq!(item.value, "20");
    assert_eq!(
        client.cas("foo", "3", NEVER, item.cas).unwrap(),
        Cas::Stored
    );
    assert!(client.exists("foo").unwrap());
    assert!(client.delete("foo").unwrap());
    assert_eq!(stored(&client, "ns:foo"), "END\r\n");
    assert!(
        client
            .set_multi([("foo", "4")], NEVER)
            .unwrap()
            .is_complete()
    );
    let gone = client.delete_multi(["foo"]).unwrap().into_complete();
    assert_eq!(gone.unwrap(), [("foo", true)]);
}
