//! Servers that die: what it costs, who pays, and where their keys go.

use std::thread;
use std::time::Instant;

use sockio::{Compat, ErrorKind, SockIoPool};

use super::{NEVER, builder, client, is_dead, key_on, recovers, single, text};
use crate::failover_live::failures;
use crate::support::RealServer;
use crate::support::fake::{Act, Fake};
use crate::support::wait::{MARGIN, eventually, lost, ms, timed, within};

/// fail-02 (pinterest/pymemcache#77): with all servers dead the look-up of a server failed as a fault of the program.
#[test]
fn without_a_living_server_the_error_says_so() {
    let mut server = RealServer::start(&[]);
    let pool = SockIoPool::builder().servers([server.addr()]);
    let client = client(pool.dead_backoff(ms(100), ms(200)));
    server.kill();
    for number in 0..10 {
        let error = client.get::<String>("k").unwrap_err();
        let expected = match number {
            0 => error.is_connect(),
            // It may just be tried again.
            _ => error.is_connect() && error.to_string().contains(&server.addr()),
        };
        assert!(expected, "{error}");
    }
    assert_eq!(
        client.clone().degrade(true).get::<String>("k").unwrap(),
        None
    );
    server.restart();
    eventually("it lives again", || client.get::<String>("k").is_ok());
}

/// fail-03 (pinterest/pymemcache#89): no tries allowed was an error of its own.
#[test]
fn a_limit_of_no_failures_is_one_that_works() {
    let mut fake = Fake::serving();
    let client = client(single(&fake).failure_limit(0).dead_backoff(ms(50), ms(50)));
    assert_eq!(text(&client, "k").as_deref(), Some("k"));
    fake.down();
    assert!(client.get::<String>("k").unwrap_err().is_connect());
    assert!(is_dead(&client));
    fake.up();
    recovers(&client);
}

/// fail-05 (bellroy/lesswrong#47): the key of a dead server was thrown among the servers anew, and could meet the same one.
#[test]
fn a_server_that_was_tried_is_not_tried_again() {
    for compat in [
        "whalin/native",
        "pecl-memcache/standard/crc32",
        "libmemcached/ketama-weighted",
    ] {
        let compat: Compat = compat.parse().unwrap();
        let (live, dead) = (Fake::serving(), Fake::refusing());
        let pool = builder(&[&dead, &live])
            .compat(compat)
            .initial_conn(0)
            .min_conn(0);
        let client = client(pool.dead_backoff(ms(60_000), ms(60_000)));
        let mut moved = 0;
        for number in 0..10_000 {
            let key = format!("k{number}");
            let home = client.pool().server_of(&key).unwrap().name();
            moved += usize::from(home == dead.addr());
            let value = client.get::<String>(&key).unwrap();
            assert_eq!(value, Some(key), "{compat}");
        }
        assert!(moved > 3000, "{compat}: {moved}");
        assert_eq!(live.count("get "), 10_000);
        assert!(client.pool().stats()[0].connect_failures <= 2);
    }
}

/// fail-06 (twitter/twemproxy#14, #134): a server that came back brought old values with it.
#[cfg(unix)]
#[test]
fn whether_a_server_gets_its_keys_back_is_the_callers_choice() {
    for failback in [true, false] {
        let servers = [RealServer::start(&[]), RealServer::start(&[])];
        let pool = SockIoPool::builder().servers(servers.iter().map(RealServer::addr));
        let pool = pool.failback(failback).socket_timeout(ms(300));
        let client = client(pool.dead_backoff(ms(50), ms(100)).connect_timeout(ms(300)));
        let key = key_on(&client, &servers[0].addr());
        client.set(&key, "1", NEVER).unwrap();
        servers[0].stop_signal();
        assert!(client.get::<String>(&key).unwrap_err().is_timeout());
        client.set(&key, "2", NEVER).unwrap();
        assert_eq!(text(&client, &key).as_deref(), Some("2"));
        servers[0].cont_signal();
        if failback {
            // As the README says: a key may be found with an older value later.
            eventually("it has its keys back", || !is_dead(&client));
            assert_eq!(text(&client, &key).as_deref(), Some("1"));
        } else {
            thread::sleep(ms(500));
            assert!(is_dead(&client));
            assert_eq!(text(&client, &key).as_deref(), Some("2"));
        }
    }
}

/// fail-08 (petergoldstein/dalli 4.3.1, #1065): with a limit of no failures there was a second try all the same.
#[test]
fn a_new_connection_that_breaks_is_the_only_try() {
    let fake = Fake::new(vec![vec![Act::Request, Act::Fin]]);
    let client = client(single(&fake).failure_limit(0).initial_conn(0));
    let error = client.get::<String>("once").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Connection, "{error}");
    assert_eq!((fake.connections(), fake.count("get once")), (1, 1));
}

/// fail-09 (linsomniac/python-memcached#96): every thread had to find out by itself, and wait, that a server was dead.
#[cfg(target_os = "linux")]
#[test]
fn what_one_thread_found_dead_no_other_waits_for() {
    let (hole, live) = (Fake::never_accepting(), Fake::serving());
    let pool = builder(&[&hole, &live]).initial_conn(0).min_conn(0);
    let pool = pool
        .connect_timeout(ms(400))
        .dead_backoff(ms(10_000), ms(10_000));
    let client = client(pool);
    let key = key_on(&client, &hole.addr());
    let (value, took) = timed(|| text(&client, &key));
    assert_eq!(value.as_ref(), Some(&key));
    assert!(took >= ms(400), "{took:?}");
    thread::scope(|scope| {
        for _ in 0..32 {
            scope.spawn(|| {
                let value = within(ms(0), || text(&client, &key));
                assert_eq!(value.as_ref(), Some(&key));
            });
        }
    });
    // The first one's own, and the pool's behind it.
    assert!(client.pool().stats()[0].connect_failures <= 2);
}

/// fail-11 (linsomniac/python-memcached#88): one of four servers was down, and requests paused again and again.
#[test]
fn a_dead_server_is_tried_after_times_that_double() {
    let (moments, took) = timed(|| failures(ms(10_000), 4));
    let late = MARGIN + lost(took);
    for (moment, expected) in moments.iter().zip([0, 50, 150, 350].map(ms)) {
        assert!((expected..=expected + late).contains(moment), "{moments:?}");
    }
}

/// fail-12 (AdRoll/mero#8): each failed connect began new ones, and a server in trouble met a storm of them.
#[test]
fn many_callers_try_a_dead_server_no_more_often_than_one() {
    let fake = Fake::refusing();
    let pool = single(&fake).initial_conn(0).max_conn(64).max_open(64);
    let client = client(pool.dead_backoff(ms(200), ms(200)));
    assert!(client.get::<String>("k").unwrap_err().is_connect());
    let start = Instant::now();
    thread::scope(|scope| {
        for _ in 0..64 {
            scope.spawn(|| {
                while start.elapsed() < ms(1000) {
                    assert!(client.get::<String>("k").unwrap_err().is_connect());
                    thread::sleep(ms(5));
                }
            });
        }
    });
    let tries = client.pool().stats()[0].connect_failures;
    let most = start.elapsed().as_millis() as u64 / 200 + 3;
    assert!((2..=most).contains(&tries), "{tries} tries");
}
