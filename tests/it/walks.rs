//! The failover walks without captured data, written out from the clients' sources; and the bounds of all walks.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sockio::hash::Hash;
use sockio::router::{Router, Spread, Walk};
use sockio::{Compat, ServerAddr};

use crate::golden::{self, Sets, compat};

/// The servers tried when none answers.
fn all_tried(router: &Router, key: &str) -> Vec<usize> {
    let walked = router.walk(key.as_bytes(), None, |_| true);
    assert_eq!(walked.server, None);
    walked.tried
}

/// The servers to which the hashes lead.
fn drawn(router: &Router, key: &str, hashes: impl IntoIterator<Item = i64>) -> Vec<usize> {
    hashes
        .into_iter()
        .map(|hash| router.first(key.as_bytes(), Some(hash)))
        .collect()
}

#[test]
fn clients_that_add_hashes() {
    let keys = golden::keys();
    for (name, first, tries) in [
        ("perl-cache-memcached/default", 1, 20),
        ("pecl-memcache/standard/crc32+2x", 1, 21),
        ("spymemcached/ketama", 0, 7),
    ] {
        let router = Sets::read().router(name.parse().unwrap(), "five-pow2", "w");
        for key in &keys {
            let mut hash = router.hash(key.as_bytes());
            let hashes = (first..).take(tries).map(|number| {
                let this = hash;
                hash += router.hash(format!("{number}{key}").as_bytes());
                this
            });
            let hashes: Vec<i64> = hashes.collect();
            assert_eq!(
                all_tried(&router, key),
                drawn(&router, key, hashes),
                "{name}"
            );
        }
    }
}

#[test]
fn clients_that_hash_anew() {
    let keys = golden::keys();
    let sets = Sets::read();
    let python = sets.router(compat("python-memcached", "default"), "five-pow2", "w");
    for key in &keys {
        let mut hash = python.hash(key.as_bytes());
        let hashes = (0..10).map(|number| {
            let this = hash;
            hash = python.hash(format!("{hash}{number}").as_bytes());
            this
        });
        let hashes: Vec<i64> = hashes.collect();
        assert_eq!(all_tried(&python, key), drawn(&python, key, hashes));
    }
    #[cfg(feature = "sha1")]
    {
        let dalli = sets.router(compat("dalli", "default"), "five-pow2", "w");
        for key in &keys {
            let first = [key.clone()].into_iter();
            let texts = first.chain((0..19).map(|number| format!("{number}{key}")));
            let hashes: Vec<i64> = texts.map(|text| dalli.hash(text.as_bytes())).collect();
            assert_eq!(all_tried(&dalli, key), drawn(&dalli, key, hashes));
        }
    }
}

#[test]
fn spymemcached_without_a_ring_goes_on_in_order() {
    let router = Sets::read().router(
        compat("spymemcached", "arraymod/native"),
        "eight-ports",
        "n",
    );
    for key in golden::keys() {
        let first = router.first(key.as_bytes(), None);
        let expected: Vec<usize> = (0..8).map(|step| (first + step) % 8).collect();
        assert_eq!(all_tried(&router, &key), expected);
    }
}

#[test]
fn an_ejected_server_leaves_the_list() {
    let keys = golden::keys();
    let sets = Sets::read();
    let mut rows = 0;
    for compat in Compat::all() {
        let name = compat.name();
        let ejects = format!("{:?}", compat.walk()) == "Eject";
        let expected = name.starts_with("enyim/")
            || name.starts_with("pymemcache/")
            || name.starts_with("libmemcached/")
                && !name.contains("/modula")
                && !name.contains("/virtual");
        assert_eq!(ejects, expected, "{name}");
        if !ejects {
            continue;
        }
        let servers = sets.servers("five-pow2", "w");
        let router = compat.router(servers.clone()).unwrap();
        let without: Vec<Router> = (0..servers.len())
            .map(|gone| {
                let mut rest = servers.clone();
                rest.remove(gone);
                compat.router(rest).unwrap()
            })
            .collect();
        for key in &keys[..40] {
            let tried = all_tried(&router, key);
            let next = without[tried[0]].first(key.as_bytes(), None);
            assert_eq!(tried[1], next + usize::from(next >= tried[0]), "{name}");
            assert_eq!(tried.len(), servers.len());
            assert_eq!(tried.iter().collect::<BTreeSet<_>>().len(), servers.len());
        }
        rows += 1;
    }
    assert!(rows > 0);
    println!("{rows} rows eject");
}

#[test]
fn clients_that_stay_with_a_failed_server() {
    for name in [
        "libmemcached/modula/default",
        "libmemcached/virtual-bucket/crc",
        "perl-cache-memcached-fast/standard",
        "gomemcache/default",
    ] {
        let router = Sets::read().router(name.parse().unwrap(), "three", "n");
        assert_eq!(all_tried(&router, "key").len(), 1, "{name}");
    }
}

/// Three buckets, and 33 is a multiple of 3: no number before a short key changes the remainder (whalin issue threads, "hangs").
#[test]
fn a_rehash_in_vain_ends_with_the_servers_in_order() {
    let router = Sets::read().router(compat("whalin", "old-compat"), "three", "n");
    let first = router.first(b"a", None);
    let rest = (0..3).filter(|server| *server != first);
    let expected: Vec<usize> = [first].into_iter().chain(rest).collect();
    assert_eq!(all_tried(&router, "a"), expected);
}

#[test]
fn a_rehash_ends_when_its_time_is_up() {
    let router = Sets::read().router(compat("whalin", "old-compat"), "three", "n");
    let asked = Cell::new(0);
    let mut expired = || {
        asked.set(asked.get() + 1);
        true
    };
    let mut candidates = router.candidates(b"a", None);
    assert!(candidates.next(&mut expired).is_some());
    assert_eq!(asked.get(), 0, "the first choice takes no time");
    assert_eq!(candidates.next(&mut expired), None);
    assert_eq!(candidates.next(&mut expired), None);
    assert_eq!(asked.get(), 1);
}

/// A walk over buckets passes the heavy server's one by one: in all it may rehash two million times, not each time.
#[test]
fn a_walk_over_many_buckets_ends_soon() {
    let servers: Vec<ServerAddr> = ["a:1:100000", "b:1:1"].map(|it| it.parse().unwrap()).into();
    for key in ["user:1", "user:2", "k"] {
        let router = compat("whalin-1", "native")
            .router(servers.clone())
            .unwrap();
        let begun = Instant::now();
        let walked = router.walk(key.as_bytes(), None, |server| server == 0);
        assert!(begun.elapsed() < Duration::from_secs(5));
        assert_eq!(walked.server, Some(1));
        assert!(walked.tried.len() <= 100_001);
    }
}

/// The client hashes `nkey`, `n + 1key`, … after the n-th failure, and passes the buckets that it has tried.
#[test]
fn a_walk_over_buckets_begins_at_the_number_of_the_failure() {
    let servers: Vec<ServerAddr> = ["a:1:7", "b:1:11", "c:1:5"]
        .map(|it| it.parse().unwrap())
        .into();
    let router = compat("whalin-1", "native").router(servers).unwrap();
    for key in (0..200).map(|it| format!("key {it}")) {
        let mut buckets = vec![router.slot(key.as_bytes())];
        for failure in 1..router.placement().slots() {
            let rehashed = (failure..).map(|it| router.slot(format!("{it}{key}").as_bytes()));
            buckets.extend(rehashed.take(100_000).find(|it| !buckets.contains(it)));
        }
        assert_eq!(buckets.len(), router.placement().slots());
        let owners: Vec<usize> = buckets
            .iter()
            .map(|bucket| router.placement().server(*bucket))
            .collect();
        assert_eq!(all_tried(&router, &key), owners);
    }
}

#[test]
fn a_server_of_weight_zero_is_never_tried() {
    let servers: Vec<ServerAddr> = ["a:1:1", "b:1:0", "c:1:2"]
        .map(|it| it.parse().unwrap())
        .into();
    for name in ["whalin/native", "whalin/consistent", "whalin-1/native"] {
        let router = name
            .parse::<Compat>()
            .unwrap()
            .router(servers.clone())
            .unwrap();
        assert!(router.is_placed(0) && !router.is_placed(1));
        let tried = all_tried(&router, "some key");
        assert!(!tried.contains(&1), "{name} {tried:?}");
        assert_eq!(BTreeSet::from_iter(tried), BTreeSet::from([0, 2]));
    }
}

#[test]
fn every_walk_ends() {
    let keys = golden::keys();
    for compat in Compat::all() {
        let router = Sets::read().router(compat, "eight-ports", "n");
        for key in &keys[..4] {
            let tried = all_tried(&router, key);
            assert!(!tried.is_empty() && tried.len() <= 21, "{compat} {tried:?}");
        }
        let one = Sets::read().router(compat, "one", "n");
        assert!(all_tried(&one, "key").iter().all(|server| *server == 0));
    }
}

/// A walk of a user's own may have no end: the router bounds it.
#[test]
fn a_users_walk_is_bounded() {
    #[derive(Debug)]
    struct Forever;
    impl sockio::router::FailoverWalk for Forever {
        fn start<'a>(
            &'a self,
            _failed: sockio::router::FirstChoice<'a>,
        ) -> Box<dyn sockio::router::NextServer + 'a> {
            Box::new(Same)
        }
    }
    struct Same;
    impl sockio::router::NextServer for Same {
        fn next(&mut self, _expired: &mut dyn FnMut() -> bool) -> Option<usize> {
            Some(0)
        }
    }
    let router = Router::new(
        Sets::read().servers("three", "n"),
        Arc::new(Hash::Crc32),
        Arc::new(Spread::Buckets),
        Arc::new(Forever),
    )
    .unwrap();
    assert!(all_tried(&router, "key").len() < 64);
    assert_ne!(format!("{:?}", Walk::None), "");
}
