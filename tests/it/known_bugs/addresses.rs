//! Addresses that were read as others: IPv6, unix sockets, and what is none.

use std::net::TcpListener;

use sockio::{ErrorKind, MemcachedClient, ServerAddr};

use super::{NEVER, text};
use crate::support::RealServer;

/// addr-02 (awesomized/libmemcached#106, Automattic/wp-memcached#136, brianfrankcooper/YCSB#1560): an IPv6 address was cut at one
/// of its colons.
#[test]
fn an_ipv6_address_is_read_with_and_without_brackets() {
    for (address, host) in [
        ("[::1]:11211", "::1"),
        ("[::1]", "::1"),
        ("::1", "::1"),
        ("[fe80::1%lo]:11211", "fe80::1%lo"),
        ("fe80::1%lo", "fe80::1%lo"),
        ("2001:db8:0:0:0:0:0:7", "2001:db8:0:0:0:0:0:7"),
    ] {
        let server: ServerAddr = address.parse().unwrap();
        assert_eq!(
            (server.host(), server.port()),
            (host, Some(11211)),
            "{address}"
        );
        assert_eq!(server.name(), address);
        let weighted = server
            .with_weight(3)
            .to_string()
            .parse::<ServerAddr>()
            .unwrap();
        assert_eq!((weighted.host(), weighted.weight()), (host, Some(3)));
    }
    // Two readings: the end may be a port.
    let error = "2001:db8::7:11211".parse::<ServerAddr>();
    assert!(error.is_err() || "2001:db8::7:11211".parse::<std::net::Ipv6Addr>().is_err());
    let error = "2001:db8::7:1121".parse::<ServerAddr>().unwrap_err();
    assert!(error.to_string().contains("brackets"), "{error}");

    if TcpListener::bind("[::1]:0").is_err() {
        println!("not connected: this system has no IPv6");
        return;
    }
    let server = RealServer::start(&["-l", "::1"]);
    let address = server.addr().replace("127.0.0.1", "[::1]");
    let client = MemcachedClient::connect(address.as_str()).unwrap();
    assert!(client.set("k", "v", NEVER).unwrap());
    assert_eq!(text(&client, "k").as_deref(), Some("v"));
}

/// addr-03 (pinterest/pymemcache 3.4.3): calls with many keys took every server for a host and a port.
#[cfg(unix)]
#[test]
fn every_command_goes_over_a_unix_socket() {
    let server = RealServer::start_unix(&[]);
    let address = server.addr();
    let path = address.strip_prefix("unix:").unwrap();
    for address in [&*address, path] {
        let client = MemcachedClient::connect(address).unwrap();
        let stored = client.set_multi([("a", "1"), ("b", "2")], NEVER).unwrap();
        assert!(stored.is_complete());
        let many = client.get_multi::<String, _>(["a", "b", "c"]).unwrap();
        assert_eq!((many.hits().count(), many.misses().count()), (2, 1));
        assert_eq!(client.incr("a", 1).unwrap(), Some(2));
        assert!(client.touch("a", NEVER).unwrap() && client.append("b", "x").unwrap());
        let item = client.gets::<String>("b").unwrap().unwrap();
        assert_eq!(item.value, "2x");
        assert_eq!(
            client.cas("b", "y", NEVER, item.cas).unwrap(),
            sockio::Cas::Stored
        );
        assert!(client.versions()[0].1.is_ok() && client.flush_all(None)[0].1.is_ok());
        let gone = client.delete_multi(["a", "b"]).unwrap().into_complete();
        assert_eq!(gone.unwrap(), [("a", false), ("b", false)]);
        let stats = client.stats(None).unwrap().remove(0).1.unwrap();
        assert!(stats.iter().any(|(name, _)| name == "pid"));
    }
}

/// addr-05 (petergoldstein/dalli 2.7.11, 2.7.3, #501): odd addresses led to other hosts than were meant.
#[test]
fn what_is_no_address_is_an_error_that_names_it() {
    for bad in [
        "a:1,b:2",
        "a:",
        ":11211",
        "a:99999",
        "a:11211:x",
        "a:11211:5:6",
    ] {
        let error = bad.parse::<ServerAddr>().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config);
        assert!(error.to_string().contains(&format!("{bad:?}")), "{error}");
    }
    // A third part is a weight, as libmemcached's and Dalli's.
    let server: ServerAddr = "a:11211:5".parse().unwrap();
    assert_eq!((server.name(), server.weight()), ("a:11211", Some(5)));
}
