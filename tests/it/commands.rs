//! Every command of the client against a real memcached.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, SystemTime};

use sockio::{Cas, ErrorKind, Expiry, Key, MemcachedClient, RawEnd, SockIoPool};

use crate::support::RealServer;

const NEVER: Expiry = Expiry::never();

/// Longer than an item of one second lives: the server's clock ticks once a second.
const OVER_A_SECOND: Duration = Duration::from_millis(2_100);

fn one() -> (RealServer, MemcachedClient) {
    let server = RealServer::start(&[]);
    let client = MemcachedClient::connect(server.addr().as_str()).unwrap();
    (server, client)
}

fn connects(client: &MemcachedClient) -> u64 {
    client
        .pool()
        .stats()
        .iter()
        .map(|server| server.connects)
        .sum()
}

fn text(client: &MemcachedClient, key: &str) -> Option<String> {
    client.get(key).unwrap()
}

#[test]
fn storing_and_removing() {
    let (_server, client) = one();
    assert_eq!(text(&client, "k"), None);
    assert!(!client.replace("k", "x", NEVER).unwrap());
    assert!(!client.append("k", "x").unwrap());
    assert!(!client.prepend("k", "x").unwrap());
    assert!(!client.delete("k").unwrap());
    assert!(client.add("k", "b", NEVER).unwrap());
    assert!(!client.add("k", "x", NEVER).unwrap());
    assert!(client.append("k", "c").unwrap());
    assert!(client.prepend("k", b"a").unwrap());
    assert_eq!(text(&client, "k").as_deref(), Some("abc"));
    assert!(client.replace("k", "r", NEVER).unwrap());
    assert!(client.set("k", "", NEVER).unwrap());
    assert_eq!(text(&client, "k").as_deref(), Some(""));
    assert!(client.exists("k").unwrap());
    assert!(client.delete("k").unwrap());
    assert!(!client.exists("k").unwrap());
    assert_eq!(connects(&client), 1);
}

#[test]
fn what_looks_like_a_reply_is_a_value() {
    let (_server, client) = one();
    for value in [
        "END\r\n",
        "\r\nEND\r\n",
        "ERROR\r\n",
        "VALUE k 0 1\r\nx\r\n",
        "\r",
        "\n\0\n",
    ] {
        assert!(client.set("k", value, NEVER).unwrap());
        assert_eq!(text(&client, "k").as_deref(), Some(value));
    }
    assert_eq!(connects(&client), 1);
}

#[test]
fn cas_stores_only_what_nobody_changed() {
    let (_server, client) = one();
    assert_eq!(client.cas("k", "x", NEVER, 1).unwrap(), Cas::NotFound);
    client.set("k", "a", NEVER).unwrap();
    let item = client.gets::<String>("k").unwrap().unwrap();
    assert_eq!(item.value, "a");
    assert_eq!(client.cas("k", "b", NEVER, item.cas).unwrap(), Cas::Stored);
    assert_eq!(client.cas("k", "c", NEVER, item.cas).unwrap(), Cas::Exists);
    assert_eq!(text(&client, "k").as_deref(), Some("b"));
}

#[test]
fn every_way_to_read() {
    let (_server, client) = one();
    assert!(
        client
            .set_raw("k", b"\x00\xff", 0xdead_beef, NEVER)
            .unwrap()
    );
    let item = client.get_raw("k").unwrap().unwrap();
    assert_eq!((&*item.value, item.flags), (&b"\x00\xff"[..], 0xdead_beef));
    assert_ne!(item.cas, 0);
    let mut value = b"old".to_vec();
    assert_eq!(client.get_into("k", &mut value).unwrap(), Some(0xdead_beef));
    assert_eq!(value, b"\x00\xff");
    assert_eq!(client.get_into("none", &mut value).unwrap(), None);
    assert!(value.is_empty());
    let seen = client.get_with("k", |bytes, flags| (bytes.len(), flags));
    assert_eq!(seen.unwrap(), Some((2, 0xdead_beef)));
    assert!(client.set_with_flags("f", "text", 1 << 20, NEVER).unwrap());
    let item = client.gets::<String>("f").unwrap().unwrap();
    assert_eq!((&*item.value, item.flags), ("text", 1 << 20));
    // A value that is no number is an error of decoding; the connection is as good as before.
    let error = client.get::<u64>("f").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Decode);
    assert_eq!(connects(&client), 1);
}

#[test]
fn large_values_and_too_large_ones() {
    let (_server, client) = one();
    for len in [10 << 10, (16 << 10) - 9, 16 << 10, 900 << 10] {
        let value: Vec<u8> = (0..len).map(|at| (at % 251) as u8).collect();
        assert!(client.set("k", &value, NEVER).unwrap());
        assert_eq!(client.get::<Vec<u8>>("k").unwrap().unwrap(), value);
        let mut read = Vec::new();
        client.get_into("k", &mut read).unwrap();
        assert_eq!(read, value);
        let same = client.get_with("k", |bytes, _| bytes == value);
        assert_eq!(same.unwrap(), Some(true));
    }
    let error = client.set("k", vec![b'x'; 2 << 20], NEVER).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Server);
    assert!(error.to_string().contains("object too large"), "{error}");
    assert_eq!(error.server(), Some(client.pool().servers()[0].name()));
    // The server drops what it had before, and the connection stays in step.
    assert_eq!(client.get::<Vec<u8>>("k").unwrap(), None);
    assert_eq!(connects(&client), 1);
}

#[test]
fn items_end() {
    let (_server, client) = one();
    let second = Duration::from_secs(1);
    client
        .set("short", "x", Duration::from_millis(300))
        .unwrap();
    client
        .set("dated", "x", SystemTime::now() + second)
        .unwrap();
    client.set("kept", "x", second).unwrap();
    client.set("touched", "x", second).unwrap();
    client
        .set("long", "x", Duration::from_secs(3_000_000))
        .unwrap();
    client.set("gone", "x", Duration::ZERO).unwrap();
    client.set("cut", "x", NEVER).unwrap();
    assert_eq!(text(&client, "gone"), None);
    let minute = Duration::from_secs(60);
    assert!(client.touch("touched", minute).unwrap());
    assert!(!client.touch("none", minute).unwrap());
    let gat = client.get_and_touch::<String>("kept", NEVER).unwrap();
    assert_eq!(gat.as_deref(), Some("x"));
    let gats = client.gets_and_touch::<String>("cut", second).unwrap();
    assert_ne!(gats.unwrap().cas, 0);
    assert_eq!(
        client.get_and_touch::<String>("none", minute).unwrap(),
        None
    );
    assert!(client.exists("short").unwrap());
    thread::sleep(OVER_A_SECOND);
    for key in ["short", "dated", "cut"] {
        assert!(!client.exists(key).unwrap(), "{key}");
    }
    for key in ["kept", "touched", "long"] {
        assert!(client.exists(key).unwrap(), "{key}");
    }
    assert!(client.add("short", "again", NEVER).unwrap());
}

#[test]
fn counters() {
    let (_server, client) = one();
    assert_eq!(client.incr("n", 1).unwrap(), None);
    assert_eq!(client.decr("n", 1).unwrap(), None);
    assert_eq!(client.get_counter("n").unwrap(), None);
    assert!(client.store_counter("n", 10, NEVER).unwrap());
    assert_eq!(client.get_raw("n").unwrap().unwrap().flags, 0);
    assert_eq!(client.decr("n", 1).unwrap(), Some(9));
    // The server keeps the length of the text.
    assert_eq!(client.get_raw("n").unwrap().unwrap().value, b"9 ");
    assert_eq!(client.get_counter("n").unwrap(), Some(9));
    assert_eq!(client.decr("n", 100).unwrap(), Some(0));
    assert_eq!(client.incr("n", u64::MAX).unwrap(), Some(u64::MAX));
    assert_eq!(client.get_counter("n").unwrap(), Some(u64::MAX));
    assert_eq!(client.incr("n", 2).unwrap(), Some(1));
    client.set("word", "one", NEVER).unwrap();
    assert_eq!(
        client.get_counter("word").unwrap_err().kind(),
        ErrorKind::Decode
    );
    assert_eq!(
        client.incr("word", 1).unwrap_err().kind(),
        ErrorKind::Client
    );
    assert_eq!(
        client.add_or_incr("word", 1, NEVER).unwrap_err().kind(),
        ErrorKind::Client
    );

    assert_eq!(client.add_or_incr("hits", 5, NEVER).unwrap(), 5);
    assert_eq!(client.add_or_incr("hits", 5, NEVER).unwrap(), 10);
    assert_eq!(client.add_or_decr("hits", 3, NEVER).unwrap(), 7);
    assert_eq!(
        client
            .add_or_decr("left", 3, Duration::from_secs(1))
            .unwrap(),
        3
    );
    assert_eq!(client.add_or_decr("left", 4, NEVER).unwrap(), 0);
    assert_eq!(connects(&client), 1);
    thread::sleep(OVER_A_SECOND);
    assert_eq!(client.get_counter("left").unwrap(), None);
}

#[test]
fn threads_count_exactly() {
    let (_server, client) = one();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..100 {
                    client.add_or_incr("n", 1, NEVER).unwrap();
                }
            });
        }
    });
    assert_eq!(client.get_counter("n").unwrap(), Some(400));
}

#[test]
fn several_servers_share_the_keys() {
    let servers: Vec<RealServer> = (0..3).map(|_| RealServer::start(&[])).collect();
    let addrs: Vec<String> = servers.iter().map(RealServer::addr).collect();
    let pool = SockIoPool::builder()
        .servers(&addrs)
        .prefix("app:")
        .hash_prefix(false)
        .build()
        .unwrap();
    let client = MemcachedClient::new(pool);
    let mut counts = [0; 3];
    for number in 0..60 {
        let key = format!("key-{number}");
        client.set(&key, number, NEVER).unwrap();
        let home = client.pool().server_of(&key).unwrap().name();
        // The server of the key, asked directly, holds it under its whole name; the others do not.
        for (addr, count) in addrs.iter().zip(&mut counts) {
            let direct = MemcachedClient::connect(addr.as_str()).unwrap();
            let there = direct.get::<u32>(format!("app:{key}")).unwrap();
            assert_eq!(there, (addr == home).then_some(number));
            *count += u32::from(there.is_some());
        }
    }
    assert!(counts.iter().all(|count| *count > 0), "{counts:?}");

    let group = client.pool().server_of("group").unwrap().name().to_owned();
    for number in 0..20 {
        let name = format!("member-{number}");
        let key = Key::new(&name).routed_by("group");
        client.set(&key, "x", NEVER).unwrap();
        let direct = MemcachedClient::connect(group.as_str()).unwrap();
        assert!(direct.exists(format!("app:{name}")).unwrap());
        assert!(client.exists(&key).unwrap());
    }
    let homes = (0..40).map(|hash| {
        let key = Key::new("k").with_hash(hash << 26);
        client.pool().server_of(&key).unwrap().name().to_owned()
    });
    let mut homes: Vec<String> = homes.collect();
    homes.sort();
    homes.dedup();
    assert!(homes.len() > 1, "the given hash has no effect");

    let stored = client
        .stats(None)
        .unwrap()
        .into_iter()
        .map(|(_, stats)| number(&stats.unwrap(), "curr_items"));
    assert_eq!(stored.sum::<u64>(), 80);
}

fn number(stats: &[(String, String)], name: &str) -> u64 {
    let found = stats.iter().find(|(stat, _)| stat == name);
    found
        .unwrap_or_else(|| panic!("no {name}"))
        .1
        .parse()
        .unwrap()
}

#[test]
fn errors_can_be_misses() {
    let mut server = RealServer::start(&[]);
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hear = Arc::clone(&heard);
    let client = MemcachedClient::connect(server.addr().as_str())
        .unwrap()
        .degrade(true)
        .on_error(move |error| hear.lock().unwrap().push(error.kind()));
    client.set("k", "x", NEVER).unwrap();
    assert!(client.get::<u64>("k").unwrap().is_none());
    assert_eq!(client.get_counter("k").unwrap(), None);
    let error = client.clone().degrade(false).get_counter("k").unwrap_err();
    assert_eq!(error.server(), Some(&*server.addr()));
    assert_eq!(heard.lock().unwrap().pop(), Some(ErrorKind::Decode));
    assert_eq!(
        *heard.lock().unwrap(),
        [ErrorKind::Decode, ErrorKind::Decode]
    );
    // What the caller does wrong stays an error, and is none of the handler's business.
    assert_eq!(
        client.get::<String>("a b").unwrap_err().kind(),
        ErrorKind::Key
    );
    server.kill();
    assert_eq!(text(&client, "k"), None);
    assert!(!client.set("k", "x", NEVER).unwrap());
    assert_eq!(client.incr("k", 1).unwrap(), None);
    // For this one there is no miss.
    assert!(client.add_or_incr("k", 1, NEVER).is_err());
    assert!(client.flush_all(None)[0].1.is_err());
    assert_eq!(heard.lock().unwrap().len(), 7);
    // Nor does it hear of a pool that was shut down, in calls with one key or many.
    client.pool().shutdown();
    assert_eq!(
        client.get::<String>("k").unwrap_err().kind(),
        ErrorKind::Shutdown
    );
    let many = client.get_multi::<String, _>(["k"]).unwrap();
    assert_eq!(many.failures()[0].error().kind(), ErrorKind::Shutdown);
    assert_eq!(heard.lock().unwrap().len(), 7);
}

#[test]
fn each_server_is_asked_although_one_is_dead() {
    let live = RealServer::start(&[]);
    let mut dead = RealServer::start(&[]);
    let pool = SockIoPool::builder()
        .servers([dead.addr(), live.addr()])
        .build()
        .unwrap();
    let client = MemcachedClient::new(pool);
    dead.kill();
    let versions = client.versions();
    let [(first, none), (second, version)] = &versions[..] else {
        panic!("{versions:?}");
    };
    assert_eq!(
        (first.name(), second.name()),
        (&*dead.addr(), &*live.addr())
    );
    assert!(none.is_err());
    assert!(
        version
            .as_ref()
            .unwrap()
            .starts_with(|c: char| c.is_ascii_digit())
    );
    assert!(client.verbosity(0)[1].1.is_ok());
    assert_eq!(
        client
            .flush_all(None)
            .iter()
            .map(|(_, done)| done.is_ok())
            .collect::<Vec<_>>(),
        [false, true]
    );
}

#[test]
fn statistics() {
    // `cachedump` shows only what the maintainer of the LRU lists has moved to the coldest; without it all items are there.
    let server = RealServer::start(&["-o", "no_lru_maintainer"]);
    let client = MemcachedClient::connect(server.addr().as_str()).unwrap();
    client.set("k", "value", NEVER).unwrap();
    let stats = |argument: Option<&str>| client.stats(argument).unwrap().remove(0).1;
    assert_eq!(number(&stats(None).unwrap(), "curr_items"), 1);
    assert!(!stats(Some("settings")).unwrap().is_empty());
    let items = stats(Some("items")).unwrap();
    let class = items[0].0.split(':').nth(1).unwrap();
    let dump = stats(Some(&format!("cachedump {class} 10"))).unwrap();
    assert_eq!(dump.len(), 1);
    assert_eq!(dump[0].0, "k");
    assert!(dump[0].1.starts_with("[5 b; "), "{dump:?}");
    assert_eq!(stats(Some("reset")).unwrap(), []);
    assert_eq!(stats(Some("detail on")).unwrap(), []);
    assert_eq!(connects(&client), 1);
    // Answered without an end: it is not waited for, and the connection is not used again.
    let sizes = stats(Some("sizes_enable")).unwrap();
    assert_eq!(sizes.len(), 1);
    assert_eq!(number(&stats(None).unwrap(), "curr_items"), 1);
    assert!(connects(&client) > 1);
    assert_eq!(
        stats(Some("no-such-thing")).unwrap_err().kind(),
        ErrorKind::Client
    );
    assert_eq!(
        stats(None)
            .unwrap()
            .iter()
            .filter(|stat| stat.0 == "pid")
            .count(),
        1
    );
    for bad in ["", "items\r\nflush_all", "\u{e9}"] {
        assert_eq!(
            client.stats(Some(bad)).unwrap_err().kind(),
            ErrorKind::Config
        );
    }
    assert!(text(&client, "k").is_some());
}

#[test]
fn flushing() {
    let (server, client) = one();
    client.set("k", "x", NEVER).unwrap();
    client.flush_all_on(&server.addr(), None).unwrap();
    assert_eq!(text(&client, "k"), None);
    let error = client.flush_all_on("elsewhere:1", None).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
    // The server's clock must tick before it stores again what a flush spares.
    thread::sleep(OVER_A_SECOND);
    client.set("k", "x", NEVER).unwrap();
    assert!(
        client.flush_all(Some(Duration::from_millis(1_500)))[0]
            .1
            .is_ok()
    );
    assert!(client.exists("k").unwrap());
    thread::sleep(OVER_A_SECOND + Duration::from_secs(1));
    assert!(!client.exists("k").unwrap());
}

#[test]
fn a_server_may_refuse_to_flush() {
    let server = RealServer::start(&["-F"]);
    let client = MemcachedClient::connect(server.addr().as_str()).unwrap();
    let error = client.flush_all(None).remove(0).1.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Client);
    assert!(client.set("k", "x", NEVER).unwrap());
    assert_eq!(connects(&client), 1);
}

#[test]
fn raw_requests() {
    let (server, client) = one();
    let raw = |request: &str, end| {
        let reply = client.raw("k", request.as_bytes(), end).unwrap();
        String::from_utf8(reply).unwrap()
    };
    let ended = RawEnd::AnyOf(&["END"]);
    assert_eq!(raw("ms k 5\r\nEND\r\n\r\n", RawEnd::FirstLine), "HD\r\n");
    assert_eq!(raw("mg k v\r\n", RawEnd::FirstLine), "VA 5\r\nEND\r\n\r\n");
    assert_eq!(
        raw("get k k\r\n", ended),
        "VALUE k 0 5\r\nEND\r\n\r\nVALUE k 0 5\r\nEND\r\n\r\nEND\r\n"
    );
    assert_eq!(raw("nonsense\r\n", ended), "ERROR\r\n");
    // What such a request leaves behind is not the answer to the next one: its connection does not come back.
    assert!(raw("get none\r\nget k\r\n", ended).starts_with("END"));
    assert_eq!(text(&client, "k").as_deref(), Some("END\r\n"));
    let version = client
        .raw_on(&server.addr(), b"version\r\n", RawEnd::FirstLine)
        .unwrap();
    assert!(version.starts_with(b"VERSION "));
    for request in [&b""[..], b"version", b"version\n"] {
        let error = client.raw("k", request, ended).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config);
    }
    let hasty = client.clone().with_timeout(Duration::from_millis(100));
    let error = hasty.raw("k", b"version\r\n", ended).unwrap_err();
    assert!(error.is_ambiguous() && error.is_timeout(), "{error}");
}

#[cfg(unix)]
#[test]
fn unix_sockets() {
    let server = RealServer::start_unix(&[]);
    let client = MemcachedClient::connect(server.addr().as_str()).unwrap();
    assert!(client.set("k", "x", NEVER).unwrap());
    assert_eq!(text(&client, "k").as_deref(), Some("x"));
    assert_eq!(client.versions()[0].0.name(), server.addr());
    assert!(client.set("k", vec![1; 500_000], NEVER).unwrap());
    assert_eq!(
        client.get::<Vec<u8>>("k").unwrap().map(|value| value.len()),
        Some(500_000)
    );
    assert_eq!(connects(&client), 1);
}
