//! Keys on other servers than those of the clients that share them.

use sockio::{Compat, ErrorKind, Key, SockIoPool};

use crate::golden::{self, Sets, compat};

const PECL: &str = "pecl-memcache/standard/crc32";

fn servers(count: usize) -> Vec<String> {
    (0..count)
        .map(|number| format!("10.0.0.{number}:11211"))
        .collect()
}

/// The number of the server that a key lives on.
fn place(client: &str, count: usize, key: &[u8]) -> usize {
    let servers = servers(count)
        .iter()
        .map(|server| server.parse().unwrap())
        .collect();
    let compat: Compat = client.parse().unwrap();
    compat.router(servers).unwrap().first(key, None)
}

fn pool(client: &str, count: usize) -> sockio::SockIoPoolBuilder {
    let pool = SockIoPool::builder().servers(servers(count));
    // Nothing listens there, and nothing is opened.
    pool.compat(client.parse().unwrap())
        .initial_conn(0)
        .min_conn(0)
}

/// hash-02 (3rd-Eden/memcached#184): a ring that was called consistent was not libketama's.
#[test]
fn the_ring_is_the_one_that_was_captured() {
    let keys = golden::keys();
    let rows = golden::rows("placement/libmemcached.tsv");
    let row = rows
        .iter()
        .find(|row| row[..3] == ["ketama-weighted", "three", "n"])
        .unwrap();
    let router = Sets::read().router(compat("libmemcached", &row[0]), &row[1], &row[2]);
    for (key, expected) in keys.iter().zip(golden::digits(&row[4])) {
        assert_eq!(router.first(key.as_bytes(), None), expected, "{key}");
    }
}

/// hash-03 (3rd-Eden/memcached#307): the prefix was hashed with the key, which libmemcached does only when it is told to.
#[test]
fn a_prefix_is_hashed_where_the_client_hashes_it() {
    const RING: &str = "libmemcached/ketama-weighted";
    let router = |client: &str, key: &str| servers(8)[place(client, 8, key.as_bytes())].clone();
    let mut moved = 0;
    for number in 0..100 {
        let (key, whole) = (format!("key_{number}"), format!("ns_key_{number}"));
        let home = |client: &str, hashed: Option<bool>| {
            let mut pool = pool(client, 8).prefix("ns_");
            if let Some(hashed) = hashed {
                pool = pool.hash_prefix(hashed);
            }
            let pool = pool.build().unwrap();
            pool.server_of(&key).unwrap().name().to_owned()
        };
        assert_eq!(home(RING, None), router(RING, &key));
        assert_eq!(home(RING, Some(true)), router(RING, &whole));
        assert_eq!(home(PECL, None), router(PECL, &whole));
        moved += usize::from(router(RING, &key) != router(RING, &whole));
    }
    assert!(moved > 50, "{moved}");
}

/// PHP's rule, as the C source has it.
fn pecl_rule(key: &[u8], count: usize) -> usize {
    let hash = (crc32fast::hash(key) >> 16) & 0x7fff;
    hash.max(1) as usize % count
}

/// A key whose hash is 0 by that rule.
fn key_of_zero() -> String {
    let keys = (0..).map(|number| format!("zero_{number}"));
    { keys }
        .find(|key| (crc32fast::hash(key.as_bytes()) >> 16) & 0x7fff == 0)
        .unwrap()
}

/// hash-05 (twitter/finagle#44): keys went elsewhere than with PHP's Memcache and its standard strategy.
#[test]
fn keys_are_where_php_puts_them() {
    let mut keys: Vec<String> = (0..10_000).map(|number| format!("key_{number}")).collect();
    keys.push(key_of_zero());
    let compat: Compat = PECL.parse().unwrap();
    for count in 2..=8 {
        let list = servers(count)
            .iter()
            .map(|server| server.parse().unwrap())
            .collect();
        let router = compat.router(list).unwrap();
        for key in keys.iter().map(String::as_bytes) {
            assert_eq!(router.first(key, None), pecl_rule(key, count));
        }
    }
}

/// hash-12 (a Java port of PHP's hash): a hash of 0 counts as 1, and the bytes of UTF-8 are hashed.
#[test]
fn a_hash_of_zero_is_one_and_keys_are_utf_8() {
    assert_eq!(place(PECL, 2, key_of_zero().as_bytes()), 1);
    for key in ["ключ", "é", "한글키"] {
        for count in 2..=8 {
            let expected = pecl_rule(key.as_bytes(), count);
            assert_eq!(place(PECL, count, key.as_bytes()), expected);
        }
    }
}

/// hash-07 (jaysonsantos/python-binary-memcached#236): two clients with the same servers put keys on different ones.
#[test]
fn the_same_servers_make_the_same_places() {
    // The programs on top of libmemcached differ in values only.
    let names = Compat::all().into_iter().map(Compat::name);
    for client in names.filter(|name| !name.ends_with("+php") && !name.ends_with("+pylibmc")) {
        let pools = [(); 2].map(|()| match pool(client, 5).build() {
            Ok(pool) => pool,
            Err(error) => panic!("{client}: {error}"),
        });
        for number in 0..10_000 / 50 {
            let key = format!("key_{number}");
            let [one, other] = pools.each_ref().map(|pool| pool.server_of(&key).unwrap());
            assert_eq!(one, other, "{client} {key}");
        }
    }
    let pools = [(); 2].map(|()| pool("libmemcached/ketama-weighted", 5).build().unwrap());
    for number in 0..10_000 {
        let key = format!("key_{number}");
        let [one, other] = pools.each_ref().map(|pool| pool.server_of(&key).unwrap());
        assert_eq!(one, other);
    }
}

/// `String.hashCode` of ASCII.
fn java_hash(key: &str) -> i32 {
    let bytes = key.bytes().map(i32::from);
    bytes.fold(0, |hash: i32, byte| {
        hash.wrapping_mul(31).wrapping_add(byte)
    })
}

/// hash-08 (gwhalin/Memcached-Java-Client 0.9.7): the remainder of a negative hash was the number of no server.
#[test]
fn a_negative_hash_has_a_server() {
    const LEAST: &str = "polygenelubricants";
    assert_eq!(java_hash(LEAST), i32::MIN);
    let keys = (0..1000).map(|number| format!("key number {number}"));
    let mut negative = 0;
    for key in keys.chain([LEAST.to_owned()]) {
        let hash = java_hash(&key);
        negative += usize::from(hash < 0);
        for count in [1, 2, 3, 7] {
            let expected = (i64::from(hash) % count as i64).unsigned_abs() as usize;
            assert_eq!(
                place("whalin/native", count, key.as_bytes()),
                expected,
                "{key}"
            );
        }
    }
    assert!(negative > 300, "{negative}");
    let three = pool("whalin/native", 3).build().unwrap();
    for hash in [i64::from(i32::MIN), -1, i64::MIN, i64::MAX] {
        let key = Key::new("k").with_hash(hash);
        let server = three.server_of(&key).unwrap().name();
        assert!(servers(3).contains(&server.to_owned()));
    }
}

/// hash-10 (linsomniac/python-memcached#29, memcached/memcached#594): no servers were a division by zero, at the first call.
#[test]
fn no_servers_are_no_pool() {
    let error = pool("whalin/native", 0).build().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
    assert!(error.to_string().contains("server"), "{error}");
}

/// hash-11 (leaseweb/LswMemcacheBundle#15): each request added the same servers once more.
#[test]
fn a_server_stands_in_the_list_once() {
    let error = SockIoPool::builder().servers(["a", "a", "b"]).build();
    let error = error.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
    assert!(error.to_string().contains('a'), "{error}");
    // What counts for more says so by its weight.
    let pool = SockIoPool::builder()
        .servers(["a:1:2", "b:1"])
        .initial_conn(0);
    assert_eq!(pool.build().unwrap().servers()[0].weight(), Some(2));
}
