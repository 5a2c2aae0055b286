//! Servers that are full, or to which a value is too large: the right answer, and the connection stays.

use sockio::{ErrorKind, Expiry, MemcachedClient, SockIoPool};

use super::load::builder;
use crate::support::RealServer;

const LARGE: usize = 100_000;
const MANY: usize = 60;

fn client(server: &RealServer) -> MemcachedClient {
    let pool = builder([server.addr()]).operation_timeout(std::time::Duration::from_secs(5));
    MemcachedClient::new(pool.build().unwrap())
}

/// All that was called so far went over one connection, and the server is not dead.
#[track_caller]
fn one_connection(client: &MemcachedClient) {
    let stats = &client.pool().stats()[0];
    assert_eq!(
        (stats.connects, stats.idle, stats.evicted),
        (1, 1, 0),
        "{stats:?}"
    );
    assert!(stats.dead_until.is_none());
}

#[test]
fn a_full_server_without_evictions_refuses_and_keeps_the_connection() {
    let server = RealServer::start(&["-M", "-m", "2"]);
    let client = client(&server);
    let value = vec![b'x'; LARGE];
    let mut refused = 0;
    for number in 0..MANY {
        match client.set(format!("k{number}"), &value[..], Expiry::never()) {
            Ok(stored) => assert!(stored),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Server);
                assert!(
                    error
                        .to_string()
                        .ends_with("SERVER_ERROR out of memory storing object"),
                    "{error}"
                );
                refused += 1;
            }
        }
        // The connection is in step: the next answer is the next command's.
        let found = client.get::<Vec<u8>>("k0").unwrap();
        assert_eq!(found.as_deref(), Some(&value[..]));
    }
    println!("-M: {refused} of {MANY} sets refused");
    assert!((1..MANY).contains(&refused));
    one_connection(&client);
    // What is small still fits, and a set that is refused takes the old value with it.
    assert!(client.set("small", "v", Expiry::never()).unwrap());
    let other = vec![b'y'; LARGE];
    assert!(client.set("k0", &other[..], Expiry::never()).is_err());
    assert_eq!(client.get::<String>("k0").unwrap(), None);
    one_connection(&client);
}

#[test]
fn many_sets_to_a_full_server_fail_one_by_one() {
    let server = RealServer::start(&["-M", "-m", "2"]);
    let client = client(&server);
    let value = vec![b'x'; LARGE];
    let values = (0..MANY).map(|number| (format!("k{number}"), &value[..]));
    let many = client.set_multi(values, Expiry::never()).unwrap();
    let stored = many
        .iter()
        .filter(|(_, answer)| *answer == Some(&true))
        .count();
    let failed: usize = many
        .failures()
        .iter()
        .map(|failure| failure.keys().len())
        .sum();
    println!("-M, many at a time: {failed} of {MANY} sets refused");
    assert!(
        stored > 0 && failed > 0 && stored + failed == MANY,
        "{many:?}"
    );
    assert!(
        many.failures()
            .iter()
            .all(|failure| failure.error().kind() == ErrorKind::Server)
    );
    one_connection(&client);
    let keys: Vec<_> = many
        .iter()
        .filter(|(_, answer)| answer.is_some())
        .map(|(key, _)| key)
        .collect();
    assert_eq!(
        client.get_multi::<Vec<u8>, _>(keys).unwrap().hits().count(),
        stored
    );
}

#[test]
fn what_a_full_server_evicted_is_a_miss() {
    let server = RealServer::start(&["-m", "2"]);
    let client = client(&server);
    let value = vec![b'x'; LARGE];
    for number in 0..MANY {
        assert!(
            client
                .set(format!("k{number}"), &value[..], Expiry::never())
                .unwrap()
        );
    }
    let gone = (0..MANY).filter(|number| {
        let found = client.get::<Vec<u8>>(format!("k{number}")).unwrap();
        assert!(found.is_none() || found.as_deref() == Some(&value[..]));
        found.is_none()
    });
    let gone = gone.count();
    println!("evictions: {gone} of {MANY} values are misses");
    assert!((1..MANY).contains(&gone));
    one_connection(&client);
}

#[test]
fn a_value_too_large_for_the_server_is_refused_and_the_old_one_is_as_the_command_leaves_it() {
    let limits: [(&[&str], usize); 3] = [
        (&[], 1 << 20),
        (&["-I", "512k", "-o", "slab_chunk_max=256"], 512 << 10),
        (&["-I", "8m", "-m", "128"], 8 << 20),
    ];
    for (args, limit) in limits {
        let server = RealServer::start(args);
        let client = client(&server);
        let large = vec![b'x'; limit];
        let refused = |answer: sockio::Result<bool>| {
            let error = answer.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Server, "{error}");
            assert!(
                error
                    .to_string()
                    .ends_with("SERVER_ERROR object too large for cache"),
                "{error}"
            );
        };
        // The key and the head of an item count as well.
        let fits = &large[..limit - 1000];
        assert!(client.set("k", fits, Expiry::never()).unwrap());
        assert_eq!(client.get::<Vec<u8>>("k").unwrap().as_deref(), Some(fits));

        let old = "old ".repeat(100);
        client.set("k", &*old, Expiry::never()).unwrap();
        refused(client.replace("k", &large[..], Expiry::never()));
        assert_eq!(
            client.get::<String>("k").unwrap().as_deref(),
            Some(&*old),
            "{args:?}"
        );
        // Neither is an append whose sum is too large an error to memcached.
        assert!(!client.append("k", &large[..limit - 100]).unwrap());
        assert_eq!(
            client.get::<String>("k").unwrap().as_deref(),
            Some(&*old),
            "{args:?}"
        );
        refused(client.set("k", &large[..], Expiry::never()));
        assert_eq!(client.get::<String>("k").unwrap(), None, "{args:?}");
        refused(client.add("k", &vec![b'x'; 3 * limit][..], Expiry::never()));
        one_connection(&client);

        // Among many, each for itself.
        let values = [("a", "v".as_bytes()), ("b", &large[..]), ("c", b"v")];
        let many = client.set_multi(values, Expiry::never()).unwrap();
        let answers: Vec<_> = many.iter().map(|(_, answer)| answer.copied()).collect();
        assert_eq!(answers, [Some(true), None, Some(true)]);
        assert_eq!(client.get::<String>("c").unwrap().as_deref(), Some("v"));
        one_connection(&client);
    }
}

#[test]
fn a_value_longer_than_the_client_takes_costs_its_connection_only() {
    let server = RealServer::start(&[]);
    let pool = SockIoPool::builder()
        .servers([server.addr()])
        .max_value_len(1000);
    let client = MemcachedClient::new(pool.build().unwrap());
    for len in [1001, 100_000, 1_000_000] {
        client
            .set("k", &vec![b'x'; len][..], Expiry::never())
            .unwrap();
        let error = client.get::<Vec<u8>>("k").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Protocol, "{error}");
        assert!(error.to_string().contains("at most 1000"), "{error}");
        client
            .set("k", &vec![b'y'; 1000][..], Expiry::never())
            .unwrap();
        assert_eq!(client.get::<Vec<u8>>("k").unwrap().unwrap().len(), 1000);
        let many = client.get_multi::<Vec<u8>, _>(["k", "absent"]).unwrap();
        assert_eq!(many.hits().count(), 1);
        assert!(client.pool().stats()[0].dead_until.is_none());
    }
}
