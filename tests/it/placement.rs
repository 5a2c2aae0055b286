//! Every key of the captured data stands on the server where its client puts it.

use sockio::router::{Distribution, Spread};
use sockio::{Compat, ServerAddr};

use crate::golden::{self, Sets, compat};

#[test]
fn every_captured_key_is_placed_as_its_client_places_it() {
    let keys = golden::keys();
    let sets = Sets::read();
    for (client, rows) in golden::tables("placement") {
        let (mut placed, mut not_placed) = (0, 0);
        for row in &rows {
            let [algorithm, set, weights, corpus, expected] = &row[..] else {
                panic!("{client}: a row of {} fields", row.len());
            };
            assert_eq!((&**corpus, expected.chars().count()), ("open", keys.len()));
            let router = sets.router(compat(&client, algorithm), set, weights);
            for (key, expected) in keys.iter().zip(expected.chars()) {
                if expected == '-' {
                    not_placed += 1;
                    continue;
                }
                let server = router.first(key.as_bytes(), None);
                assert_eq!(
                    golden::digit(server),
                    expected,
                    "{client}/{algorithm} {set} {weights} {key}"
                );
                placed += 1;
            }
        }
        assert!(placed > 0);
        println!(
            "{client}: {} rows, {placed} keys, {not_placed} that the client cannot place",
            rows.len()
        );
    }
}

#[test]
fn traps_of_rounding_and_of_zero_hashes() {
    let (mut keys, mut rings) = (0, 0);
    for case in golden::json("special.json").as_array().unwrap() {
        let text = |field: &str| case[field].as_str().unwrap();
        let compat = match text("distribution") {
            "KETAMA_WEIGHTED" => compat("libmemcached", "ketama-weighted"),
            strategy => compat(text("client"), &format!("{strategy}/{}", text("hash"))),
        };
        let names = case["servers"].as_array().unwrap();
        let servers = golden::weighted(names, case["weights"].as_array().unwrap());
        let router = compat.router(servers).unwrap();
        for pair in case["cases"].as_array().unwrap() {
            let key = pair[0].as_str().unwrap().as_bytes();
            let server = router.first(key, None);
            assert_eq!(router.servers()[server].name(), pair[1].as_str().unwrap());
            keys += 1;
        }
        if let Some(rounds) = case["rounds_f32"].as_array() {
            let rounds: u64 = rounds.iter().map(|it| it.as_u64().unwrap()).sum();
            assert_eq!(router.placement().slots() as u64, 4 * rounds);
            rings += 1;
        }
    }
    assert!(keys > 0 && rings > 0);
    println!("special.json: {keys} keys, {rings} rings with their number of points");
}

#[test]
fn other_clients_keep_a_zero_hash() {
    let servers = || Sets::read().servers("three", "n");
    for client in [
        "whalin/new-compat",
        "memcacheddotnet/new-compat",
        "perl-cache-memcached/default",
        "python-memcached/default",
    ] {
        let router = client.parse::<Compat>().unwrap().router(servers()).unwrap();
        for key in ["z37384", "z63051", "z118415"] {
            assert_eq!(router.hash(key.as_bytes()), 0);
            assert_eq!(router.first(key.as_bytes(), None), 0, "{client}");
        }
    }
}

#[test]
fn memcacheddotnet_grows_its_buckets_as_it_did() {
    let (mut cases, mut grown) = (0, 0);
    let live = golden::json("memcacheddotnet-live-buckets.json");
    for case in live["cases"].as_array().unwrap() {
        let names = case["servers"].as_array().unwrap();
        let servers = match case["weights"].as_array() {
            Some(weights) => golden::weighted(names, weights),
            None => golden::unweighted(names),
        };
        let spread = Spread::DotNetLiveBuckets {
            connections: case["init_connections"].as_u64().unwrap() as u32,
        };
        let placement = spread.place(&servers).unwrap();
        let buckets: Vec<&str> = (0..placement.slots())
            .map(|slot| servers[placement.server(slot)].name())
            .collect();
        let expected: Vec<&str> = case["buckets_after_initialize"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it.as_str().unwrap())
            .collect();
        assert_eq!(buckets, expected, "{}", case["name"]);
        let exact = Spread::DotNetBuckets.place(&servers).unwrap().slots();
        let differs = case["differs_from_plain_expansion"].as_bool().unwrap();
        assert_eq!(expected.len() != exact, differs);
        cases += 1;
        grown += usize::from(differs);
    }
    assert!(cases > 0 && grown > 0);
    println!("memcacheddotnet-live-buckets.json: {cases} lists, {grown} of them grown");
}

#[test]
fn gomemcache_takes_the_remainder_of_crc_32() {
    let router = compat("gomemcache", "default")
        .router(Sets::read().servers("eight-ports", "n"))
        .unwrap();
    // CRC-32 of "123456789", the check value of the catalogue of CRCs: 0xcbf43926.
    assert_eq!(router.hash(b"123456789"), 0xcbf4_3926);
    assert_eq!(router.first(b"123456789", None), 0xcbf4_3926 % 8);
}

#[test]
fn a_given_hash_stands_in_for_the_first_choice() {
    let sets = Sets::read();
    let java = sets.router(compat("whalin", "native"), "three", "n");
    assert_eq!(java.first(b"key", Some(-7)), 1);
    let dotnet = sets.router(compat("memcacheddotnet", "old-compat"), "three", "n");
    assert_eq!(dotnet.first(b"key", Some(-7)), 2);
    let ring = sets.router(compat("whalin", "consistent"), "three", "n");
    let point = i64::from(ring.placement().point(17).unwrap());
    let owner = ring.placement().server(17);
    // The Java client's hash code is an int: its sign is cut off.
    assert_eq!(ring.first(b"key", Some(point)), owner);
    assert_eq!(ring.first(b"key", Some(i64::from(point as i32))), owner);
}

#[test]
fn lists_that_cannot_be_served_are_refused() {
    let list = |names: &[&str]| -> Vec<ServerAddr> {
        names.iter().map(|name| name.parse().unwrap()).collect()
    };
    let native: Compat = "whalin/native".parse().unwrap();
    for (compat, servers, message) in [
        (native, list(&[]), "no servers"),
        (native, list(&["a:1", "b:1", "a:1"]), "\"a:1\" stands twice"),
        (native, list(&["a:1:0", "b:1:0"]), "weight 0"),
        (
            compat("whalin", "consistent"),
            list(&["a:1:0", "b:1:0"]),
            "weight",
        ),
        (
            native,
            list(&["a:1:4000000", "b:1:4000000"]),
            "8000000 buckets",
        ),
        (
            compat("pecl-memcache", "consistent/crc32"),
            list(&["a:1:4000000"]),
            "640000000 points",
        ),
        (
            compat("spymemcached", "ketama"),
            list(&["cache.example:1"]),
            "write both, as name/ip:port",
        ),
        (
            compat("enyim", "default"),
            list(&["cache.example:1"]),
            "IP address",
        ),
    ] {
        let error = compat.router(servers).unwrap_err();
        assert_eq!(error.kind(), sockio::ErrorKind::Config);
        assert!(error.to_string().contains(message), "{compat}: {error}");
    }
}

fn names(compat: &str, servers: &[&str], key: &[u8]) -> String {
    let compat: Compat = compat.parse().unwrap();
    let servers = servers
        .iter()
        .map(|server| server.parse().unwrap())
        .collect();
    let router = compat.router(servers).unwrap();
    router.servers()[router.first(key, None)].name().to_owned()
}

/// php-memcached 3.2: `addServers` with weights of 1 leaves the ring as it is without weights.
#[test]
fn weights_of_one_make_no_weighted_ring() {
    for compat in [
        "libmemcached/consistent/default",
        "libmemcached/consistent/md5",
        "libmemcached/consistent-ketama-spy/fnv1a-32",
    ] {
        let mut moved = 0;
        for number in 0..900 {
            let key = format!("key_{number}");
            let place = |servers: &[&str]| names(compat, servers, key.as_bytes());
            let plain = place(&["a.example.com:11211", "b.example.com:11212", "c:11211"]);
            let ones = place(&[
                "a.example.com:11211:1",
                "b.example.com:11212:1",
                "c:11211:1",
            ]);
            assert_eq!(plain, ones, "{compat}");
            let two = place(&[
                "a.example.com:11211:1",
                "b.example.com:11212:2",
                "c:11211:1",
            ]);
            moved += usize::from(plain != two);
        }
        assert!(moved > 100, "{compat}: a weight of 2 moved {moved} keys");
    }
}

/// pecl-memcache 8.0 takes an IPv6 address in brackets, and hashes it so.
#[test]
fn an_ipv6_address_stands_in_brackets_on_pecl_s_ring() {
    let compat = "pecl-memcache/consistent/crc32";
    let ring = |server: &str| {
        let compat: Compat = compat.parse().unwrap();
        let servers = vec![server.parse().unwrap(), "b:1".parse().unwrap()];
        let router = compat.router(servers).unwrap();
        (0..200)
            .map(|number| router.first(format!("key_{number}").as_bytes(), None))
            .collect::<Vec<_>>()
    };
    let points = |text: &str| {
        (0..160)
            .map(|i| crc32fast::hash(format!("{text}-{i}").as_bytes()))
            .collect::<Vec<_>>()
    };
    let mut all: Vec<(u32, usize)> = points("[::1]:18801")
        .into_iter()
        .map(|point| (point, 0))
        .collect();
    all.extend(points("b:1").into_iter().map(|point| (point, 1)));
    all.sort_unstable();
    let owner = |key: &str| {
        let bucket = crc32fast::hash(key.as_bytes()) % 1024;
        let step = bucket * (u32::MAX / 1024);
        all.iter()
            .find(|(point, _)| *point >= step)
            .unwrap_or(&all[0])
            .1
    };
    let expected: Vec<usize> = (0..200)
        .map(|number| owner(&format!("key_{number}")))
        .collect();
    assert_eq!(ring("[::1]:18801"), expected);
}

/// python-memcached 1.58 and 1.59 count a hash of 0 as 1, 1.62 does not.
#[test]
fn a_hash_of_zero_tells_the_versions_of_python_memcached_apart() {
    let servers: Vec<String> = (0..25)
        .map(|number| format!("10.0.0.{number}:11211"))
        .collect();
    let servers: Vec<&str> = servers.iter().map(String::as_str).collect();
    for key in ["z37384", "z63051"] {
        assert_eq!(
            names("python-memcached/default", &servers, key.as_bytes()),
            servers[0]
        );
        assert_eq!(
            names("python-memcached/default+1.59", &servers, key.as_bytes()),
            servers[1]
        );
    }
}

/// Cache::Memcached::Fast hashes its namespace only with `hash_namespace`, which is off by default.
#[test]
fn which_clients_hash_a_prefix() {
    for (client, hashes) in [
        ("perl-cache-memcached-fast/standard", false),
        ("perl-cache-memcached/default", false),
        ("libmemcached/ketama-weighted", false),
        ("pecl-memcache/consistent/crc32", true),
        ("python-memcached/default", true),
    ] {
        assert_eq!(
            client.parse::<Compat>().unwrap().hashes_prefix(),
            hashes,
            "{client}"
        );
    }
}
