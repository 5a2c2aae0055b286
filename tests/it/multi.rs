//! Calls with many keys, on real servers: answers per key, servers that fail, windows.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use sockio::{ErrorKind, Expiry, Key, MemcachedClient, SockIoPool, ToKey, Value};

use crate::support::RealServer;

fn client(servers: &[RealServer]) -> MemcachedClient {
    let servers = servers.iter().map(RealServer::addr);
    let pool = SockIoPool::builder()
        .servers(servers)
        .operation_timeout(Duration::from_secs(2));
    MemcachedClient::new(pool.build().unwrap())
}

fn three() -> Vec<RealServer> {
    (0..3).map(|_| RealServer::start(&[])).collect()
}

#[test]
fn hits_and_misses_come_in_the_order_of_the_keys() {
    let servers = three();
    let client = client(&servers);
    let keys: Vec<String> = (0..1500).map(|number| format!("key_{number}")).collect();
    let stored = client.set_multi(
        keys.iter().step_by(2).map(|key| (key, key.repeat(9))),
        Expiry::never(),
    );
    assert!(
        stored
            .unwrap()
            .into_complete()
            .unwrap()
            .iter()
            .all(|(_, stored)| *stored)
    );

    let many = client.get_multi::<String, _>(&keys).unwrap();
    assert!(many.is_complete());
    assert_eq!(many.hits().count(), 750);
    for (number, (key, answer)) in many.iter().enumerate() {
        assert_eq!(*key, &keys[number]);
        let expected = (number % 2 == 0).then(|| key.repeat(9));
        assert_eq!(answer, Some(&expected));
    }
    assert_eq!(many.misses().count(), 750);
    assert_eq!(many.get("key_4"), Some(&"key_4".repeat(9)));
    assert_eq!(many.get("key_5"), None);
    let map: HashMap<_, _> = many.into_map();
    assert_eq!(map[&keys[2]], "key_2".repeat(9));

    let gone = client
        .delete_multi(&keys[..10])
        .unwrap()
        .into_complete()
        .unwrap();
    assert_eq!(gone.iter().filter(|(_, was_there)| *was_there).count(), 5);
    assert_eq!(
        client.get_multi::<String, _>(&keys).unwrap().hits().count(),
        745
    );
}

#[test]
fn a_key_asked_twice_is_answered_twice() {
    let servers = three();
    let client = client(&servers);
    client.set("a", 1, Expiry::never()).unwrap();
    let many = client.get_multi::<i32, _>(["a", "b", "a", "a"]).unwrap();
    let answers: Vec<_> = many.iter().map(|(_, answer)| *answer.unwrap()).collect();
    assert_eq!(answers, [Some(1), None, Some(1), Some(1)]);
}

#[test]
fn no_keys_are_no_work() {
    let servers = three();
    let many = client(&servers)
        .get_multi::<String, _>([] as [&str; 0])
        .unwrap();
    assert!(many.is_complete() && many.keys().is_empty());
}

#[test]
fn one_bad_key_fails_the_call_before_anything_is_sent() {
    let servers = three();
    let client = client(&servers);
    let error = client
        .set_multi([("a", "1"), ("b c", "2"), ("d", "3")], Expiry::never())
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Key);
    let error = client.get_multi::<String, _>(["a", "", "d"]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Key);
    assert_eq!(
        client
            .get_multi::<String, _>(["a", "d"])
            .unwrap()
            .hits()
            .count(),
        0
    );
}

#[test]
fn tokens_flags_and_routes_hold_for_many_keys_too() {
    let servers = three();
    let client = client(&servers);
    let keys = [
        Key::new("a").routed_by("group"),
        Key::new("b").routed_by("group"),
        Key::new("c").with_hash(7),
    ];
    for key in &keys {
        client
            .set_with_flags(key, "x", 5 << 16, Expiry::never())
            .unwrap();
    }
    let many = client.gets_multi::<String, _>(&keys).unwrap();
    assert_eq!(many.hits().count(), 3);
    for (key, item) in many.hits() {
        assert_eq!((item.value.as_str(), item.flags), ("x", 5 << 16));
        assert_eq!(item.cas, client.gets::<String>(*key).unwrap().unwrap().cas);
    }
    let group = client.pool().server_of("group").unwrap();
    assert_eq!(client.pool().server_of(&keys[0]).unwrap(), group);
    assert_eq!(keys[2].to_key(), keys[2].clone().into_owned().to_key());
}

#[test]
fn a_value_that_cannot_be_read_fails_its_key_alone() {
    let servers = three();
    let client = client(&servers);
    client
        .set_multi([("a", "1"), ("b", "word"), ("c", "3")], Expiry::never())
        .unwrap();
    let many = client.get_multi::<i64, _>(["a", "b", "c", "d"]).unwrap();
    assert_eq!(
        many.hits().map(|(_, value)| *value).collect::<Vec<_>>(),
        [1, 3]
    );
    assert_eq!(many.misses().collect::<Vec<_>>(), [&"d"]);
    let [failure] = many.failures() else {
        panic!("{many:?}")
    };
    assert_eq!(
        (failure.error().kind(), failure.keys()),
        (ErrorKind::Decode, &[1][..])
    );
    // The connections are as good as new.
    assert_eq!(
        client
            .pool()
            .stats()
            .iter()
            .map(|server| server.connects)
            .sum::<u64>(),
        3
    );
}

#[test]
fn one_value_too_large_is_refused_alone() {
    let servers = three();
    let client = client(&servers);
    let values = [("a", 10), ("b", 3 << 20), ("c", 20_000), ("d", 100)];
    let values = values.map(|(key, len)| (key, vec![7_u8; len]));
    let stored = client.set_multi(values, Expiry::never()).unwrap();
    let [failure] = stored.failures() else {
        panic!("{stored:?}")
    };
    assert_eq!(
        (failure.error().kind(), failure.keys()),
        (ErrorKind::Server, &[1][..])
    );
    let many = client
        .get_multi::<Vec<u8>, _>(["a", "b", "c", "d"])
        .unwrap();
    let lengths: Vec<_> = many
        .into_iter()
        .map(|(_, value)| value.map(|value| value.len()))
        .collect();
    assert_eq!(lengths, [Some(10), None, Some(20_000), Some(100)]);
}

#[test]
fn large_values_of_all_servers_come_whole() {
    let servers = three();
    let client = client(&servers);
    let keys: Vec<String> = (0..12).map(|number| format!("large_{number}")).collect();
    let value = |key: &String| key.as_bytes().repeat(60_000);
    assert!(
        client
            .set_multi(keys.iter().map(|key| (key, value(key))), Expiry::never())
            .unwrap()
            .is_complete()
    );
    let many = client.get_multi::<Vec<u8>, _>(&keys).unwrap();
    assert_eq!(many.hits().count(), 12);
    assert!(many.hits().all(|(key, bytes)| *bytes == value(key)));
}

#[test]
fn the_keys_of_a_dead_server_go_where_failover_leads() {
    let mut servers = three();
    let client = client(&servers);
    let keys: Vec<String> = (0..300).map(|number| format!("key_{number}")).collect();
    servers[1].kill();
    let stored = client
        .set_multi(keys.iter().map(|key| (key, "x")), Expiry::never())
        .unwrap();
    // Those that were on their way when the server's death showed are unknown; the next call knows where to go.
    assert!(
        stored
            .failures()
            .iter()
            .all(|failure| failure.error().server() == Some(&servers[1].addr()))
    );
    let stored = client
        .set_multi(keys.iter().map(|key| (key, "y")), Expiry::never())
        .unwrap();
    assert!(stored.is_complete(), "{stored:?}");
    let many = client.get_multi::<String, _>(&keys).unwrap();
    assert_eq!(many.hits().filter(|(_, value)| *value == "y").count(), 300);
}

#[test]
fn without_failover_the_keys_of_a_dead_server_are_unknown_not_missing() {
    let mut servers = three();
    let pool = SockIoPool::builder()
        .servers(servers.iter().map(RealServer::addr))
        .failover(false);
    let client = MemcachedClient::new(pool.build().unwrap());
    let keys: Vec<String> = (0..300).map(|number| format!("key_{number}")).collect();
    client
        .set_multi(keys.iter().map(|key| (key, "x")), Expiry::never())
        .unwrap();
    servers[0].kill();
    for _ in 0..2 {
        let many = client.get_multi::<String, _>(&keys).unwrap();
        let [failure] = many.failures() else {
            panic!("{many:?}")
        };
        assert!(failure.error().is_connect(), "{failure:?}");
        assert_eq!(failure.error().server(), Some(&*servers[0].addr()));
        assert_eq!(many.hits().count() + failure.keys().len(), 300);
        assert_eq!(many.misses().count(), 0);
    }
    // Each for itself, with its name and the reason.
    servers[1].kill();
    for _ in 0..2 {
        let many = client.get_multi::<String, _>(&keys).unwrap();
        let failed = many.failures().iter().map(|failure| failure.error());
        let names: Vec<_> = failed
            .clone()
            .map(|error| error.server().unwrap())
            .collect();
        assert_eq!(names, [servers[0].addr(), servers[1].addr()], "{many:?}");
        assert!(
            failed
                .clone()
                .all(|error| error.to_string().contains("refused"))
        );
    }
}

#[test]
fn a_hung_server_costs_one_deadline_and_only_its_own_keys() {
    let servers = three();
    let pool = SockIoPool::builder()
        .servers(servers.iter().map(RealServer::addr))
        .operation_timeout(Duration::from_millis(300));
    let client = MemcachedClient::new(pool.build().unwrap());
    let keys: Vec<String> = (0..300).map(|number| format!("key_{number}")).collect();
    client
        .set_multi(keys.iter().map(|key| (key, "x")), Expiry::never())
        .unwrap();
    servers[2].stop_signal();
    let start = Instant::now();
    let many = client.get_multi::<String, _>(&keys).unwrap();
    assert!(
        start.elapsed() < Duration::from_millis(550),
        "{:?}",
        start.elapsed()
    );
    let [failure] = many.failures() else {
        panic!("{many:?}")
    };
    assert!(failure.error().is_timeout());
    assert_eq!(failure.error().server(), Some(servers[2].addr().as_str()));
    assert_eq!(many.hits().count() + failure.keys().len(), 300);
    servers[2].cont_signal();
}

#[test]
fn every_value_kind_can_be_asked_for() {
    let servers = three();
    let client = client(&servers);
    client.set("n", 42, Expiry::never()).unwrap();
    let many = client.get_multi::<Value<'static>, _>(["n"]).unwrap();
    assert_eq!(many.get("n"), Some(&Value::Bytes(b"42".as_slice().into())));
}

#[test]
fn a_call_without_time_sends_nothing_and_harms_nobody() {
    let servers = three();
    let client = client(&servers);
    let late = client.clone().with_timeout(Duration::ZERO);
    let stored = late
        .set_multi(
            (0..10).map(|number| (format!("k{number}"), "x")),
            Expiry::never(),
        )
        .unwrap();
    let unknown: usize = stored
        .failures()
        .iter()
        .map(|failure| failure.keys().len())
        .sum();
    assert_eq!(unknown, 10, "{stored:?}");
    assert!(
        stored
            .failures()
            .iter()
            .all(|failure| failure.error().is_timeout())
    );
    let many = client
        .get_multi::<String, _>((0..10).map(|number| format!("k{number}")))
        .unwrap();
    assert!(many.is_complete(), "{many:?}");
    assert_eq!(many.hits().count(), 0);
}

#[test]
fn many_values_that_cannot_be_read_are_told_one_by_one() {
    let servers = three();
    let client = client(&servers).with_timeout(Duration::from_secs(20));
    let keys: Vec<String> = (0..20_000).map(|number| format!("k{number}")).collect();
    client
        .set_multi(keys.iter().map(|key| (key, "text")), Expiry::never())
        .unwrap();
    let many = client.get_multi::<u64, _>(&keys).unwrap();
    assert_eq!(many.failures().len(), keys.len());
    assert!(many.failures().iter().all(|failure| {
        failure.error().kind() == ErrorKind::Decode && failure.keys().len() == 1
    }));
}
