//! Calls with many keys of which a part failed: who is told, and what.

use std::collections::HashMap;
use std::error::Error as _;

use sockio::{Error, ErrorKind, MemcachedClient, SockIoPool};

use super::{NEVER, SERVE, builder, client, is_dead, key_on, real, single, text};
use crate::support::RealServer;
use crate::support::fake::{Act, Fake};
use crate::support::wait::{eventually, in_time, lost, ms, timed, within};

/// multi-03 (gwhalin/Memcached-Java-Client#15): values were missing that single gets found, since the connection had broken off.
#[test]
fn an_answer_that_breaks_off_is_no_short_answer() {
    let script = vec![
        Act::Expect(b"get a b c\r\n".to_vec()),
        Act::Send(b"VALUE a 0 1\r\nx\r\n".to_vec()),
        Act::Fin,
    ];
    let fake = Fake::new(vec![script, vec![SERVE]]);
    let client = client(single(&fake));
    let many = client.get_multi::<String, _>(["a", "b", "c"]).unwrap();
    assert_eq!(many.misses().count(), 0);
    assert!(many.hits().count() <= 1);
    let [failure] = many.failures() else {
        panic!("{many:?}")
    };
    assert_eq!(failure.error().kind(), ErrorKind::Connection);
    assert!(failure.keys().ends_with(&[1, 2]), "{failure:?}");
    assert!(many.into_complete().is_err());
    let many = client.get_multi::<String, _>(["a", "b", "c"]).unwrap();
    assert_eq!(many.hits().count(), 3);
}

/// multi-04 (enyim/EnyimMemcached#171, bradfitz/gomemcache#193): one dead server took all answers along, or was kept quiet.
#[test]
fn the_keys_of_a_dead_server_are_named_beside_the_answers_of_the_others() {
    let mut servers = [RealServer::start(&[]), RealServer::start(&[])];
    let pool = SockIoPool::builder().servers(servers.iter().map(RealServer::addr));
    let strict = client(pool.failover(false).connect_timeout(ms(1000)));
    let keys: Vec<String> = (0..100).map(|number| format!("key_{number}")).collect();
    let entries = keys.iter().map(|key| (key, key));
    assert!(strict.set_multi(entries, NEVER).unwrap().is_complete());
    let dead = servers[1].addr();
    let its_own: Vec<usize> = (0..100)
        .filter(|number| strict.pool().server_of(&keys[*number]).unwrap().name() == dead)
        .collect();
    servers[1].kill();
    let many = within(ms(1000), || strict.get_multi::<String, _>(&keys)).unwrap();
    assert!(many.hits().all(|(key, value)| *key == value));
    assert_eq!(
        (many.hits().count(), many.misses().count()),
        (100 - its_own.len(), 0)
    );
    let [failure] = many.failures() else {
        panic!("{many:?}")
    };
    assert_eq!(failure.error().server(), Some(&*dead));
    assert_eq!(failure.keys(), its_own);
    // Strict: all or an error. Lenient: the hits there are.
    assert!(
        strict
            .get_multi::<String, _>(&keys)
            .unwrap()
            .into_complete()
            .is_err()
    );
    let hits = strict.get_multi::<String, _>(&keys).unwrap().into_hits();
    assert_eq!(hits.count(), 100 - its_own.len());
}

/// multi-06 (php-memcached-dev/php-memcached#279): a server that did not answer in time was told as no hits.
#[test]
fn a_silent_server_is_a_time_out_and_no_miss() {
    let fake = Fake::new(vec![vec![Act::Stall]]);
    let client = client(single(&fake).operation_timeout(ms(200)));
    let many = within(ms(200), || client.get_multi::<String, _>(["a", "b"])).unwrap();
    assert_eq!((many.hits().count(), many.misses().count()), (0, 0));
    let [failure] = many.failures() else {
        panic!("{many:?}")
    };
    assert_eq!(failure.error().kind(), ErrorKind::Timeout);
    assert_eq!(failure.keys(), [0, 1]);
}

/// The first failure of a call with many keys.
fn first<K, A>(many: sockio::Multi<K, A>) -> Result<(), Error> {
    many.into_complete().map(drop)
}

/// multi-10 (linsomniac/python-memcached#45, #8, #31): a connection that was closed was one error in some commands and another
/// in others.
#[test]
fn a_broken_connection_is_the_same_error_in_every_command() {
    let commands: [(&str, fn(&MemcachedClient) -> Result<(), Error>); 8] = [
        ("VAL", |c| c.get::<String>("k").map(drop)),
        ("VALUE k 0", |c| first(c.get_multi::<String, _>(["k"])?)),
        ("STO", |c| c.set("k", "v", NEVER).map(drop)),
        ("STORED\r\nST", |c| {
            first(c.set_multi([("k", "v"), ("l", "v")], NEVER)?)
        }),
        ("DEL", |c| c.delete("k").map(drop)),
        ("DEL", |c| first(c.delete_multi(["k"])?)),
        ("TOU", |c| c.touch("k", NEVER).map(drop)),
        ("1", |c| c.incr("k", 1).map(drop)),
    ];
    for (number, (half, command)) in commands.into_iter().enumerate() {
        let script = vec![Act::Request, Act::Send(half.into()), Act::Fin];
        let fake = Fake::new(vec![script, vec![SERVE]]);
        let client = client(single(&fake));
        let error = command(&client).unwrap_err();
        // Of a command that changes something the outcome is not known, and the cause is the same.
        let cause = match error.kind() {
            ErrorKind::Ambiguous => error.source().unwrap().downcast_ref::<Error>().unwrap(),
            _ => &error,
        };
        assert_eq!(error.is_ambiguous(), number >= 2, "{number}: {error}");
        assert_eq!(cause.kind(), ErrorKind::Connection, "{number}: {error}");
        assert_eq!(error.server(), Some(&*fake.addr()));
        assert!(!is_dead(&client));
        assert_eq!(text(&client, "next").as_deref(), Some("next"));
    }
}

/// multi-12 (grafana/dskit#456): one deadline for the whole call or one for each value? Both: of each read and of the whole.
#[test]
fn each_read_has_its_limit_and_the_whole_call_too() {
    const GAP: std::time::Duration = ms(100);
    let keys: Vec<String> = (0..10).map(|number| format!("k{number}")).collect();
    let mut script = vec![Act::Request];
    for key in &keys {
        let value = format!("VALUE {key} 0 1\r\nx\r\n");
        script.extend([Act::Pause(GAP), Act::Send(value.into())]);
    }
    script.push(Act::Send(b"END\r\n".to_vec()));
    let drips = || Fake::new(vec![script.clone(), vec![SERVE]]);

    // Longer than each read may take, and all of them arrive.
    let fake = drips();
    let patient = client(single(&fake).socket_timeout(ms(800)));
    let (many, took) = timed(|| patient.get_multi::<String, _>(&keys).unwrap());
    assert_eq!(many.hits().count(), 10);
    assert!(took >= ms(1000), "{took:?}");

    // What had come when the time was up are hits, the others unknown.
    let fake = drips();
    let pool = single(&fake)
        .socket_timeout(ms(800))
        .operation_timeout(ms(450));
    let hasty = client(pool);
    let (many, took) = timed(|| hasty.get_multi::<String, _>(&keys).unwrap());
    in_time(took, ms(450));
    assert!((1..=4).contains(&many.hits().count()) || lost(took) > ms(50));
    assert_eq!(many.misses().count(), 0);
    let unknown = many.failures()[0].keys().len();
    assert_eq!(unknown + many.hits().count(), 10);
    assert!(many.failures()[0].error().is_timeout());
}

/// multi-13 (arthurnn/memcached#218): whether the first key's server was the dead one decided about the outcome.
#[test]
fn the_order_of_the_keys_decides_nothing() {
    let (live, mut dead) = (Fake::serving(), Fake::serving());
    let client = client(builder(&[&live, &dead]).failover(false));
    let keys = [&live, &dead].map(|fake| key_on(&client, &fake.addr()));
    dead.down();
    // Once with a server that turns out to be dead, and once with one that is known to be.
    for _ in 0..2 {
        for order in [[0, 1], [1, 0]] {
            let asked = order.map(|at| keys[at].as_str());
            let many = client.get_multi::<String, _>(asked).unwrap();
            assert_eq!(many.get(&keys[0]), Some(&keys[0]));
            assert_eq!((many.hits().count(), many.misses().count()), (1, 0));
            let [failure] = many.failures() else {
                panic!("{many:?}")
            };
            assert!(failure.error().is_connect(), "{failure:?}");
            let of_dead = order.iter().position(|at| *at == 1);
            assert_eq!(failure.keys(), of_dead.as_slice());
        }
    }
}

/// multi-15 (websupport-sk/pecl-memcache 2.2.2, PECL #12834): a key that was asked for three times broke the table of answers.
/// Here it is sent as often as it is asked for, and the server answers each: to look for doubles would cost every caller.
#[test]
fn a_key_asked_for_three_times_is_one_entry() {
    let (_server, client) = real(&[]);
    client.set("a", "1", NEVER).unwrap();
    let many = client.get_multi::<String, _>(["a", "a", "a"]).unwrap();
    assert!(many.is_complete());
    assert_eq!(many.misses().count(), 0);
    assert_eq!(many.into_map(), HashMap::from([("a", "1".to_owned())]));
    assert_eq!(text(&client, "a").as_deref(), Some("1"));
}

/// multi-16 (vavrusa/memcache-async#18): no keys were sent as `get` alone, which is an error.
#[test]
fn no_keys_are_not_sent() {
    let fake = Fake::serving();
    let client = client(single(&fake));
    let none: [&str; 0] = [];
    let many = client.get_multi::<String, _>(none).unwrap();
    assert!(many.is_complete() && many.into_map().is_empty());
    assert!(client.delete_multi(none).unwrap().keys().is_empty());
    let stored = client.set_multi(none.map(|key| (key, "v")), NEVER).unwrap();
    assert!(stored.keys().is_empty());
    eventually("the connection is there", || fake.connections() == 1);
    assert_eq!(text(&client, "next").as_deref(), Some("next"));
    assert_eq!(fake.seen()[0].requests, ["get next"]);
}
