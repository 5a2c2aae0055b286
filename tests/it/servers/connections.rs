//! A server whose connections are used up (`-c`): one that says so and closes, and one that lets those who come wait.

use std::sync::Mutex;
use std::thread;

use sockio::{ErrorKind, Expiry, MemcachedClient};

use super::guest::Guest;
use super::load::{BACK_OFF, LIMIT, builder, under_load};
use crate::support::RealServer;
use crate::support::wait::{MARGIN, alone, eventually, in_time, lost, ms, timed, within};

/// The lowest number at which memcached starts; some of them are its own files.
const MOST: &str = "40";

/// Takes all connections that are left.
fn exhaust(server: &RealServer) -> Vec<Guest> {
    let others: Vec<_> = std::iter::from_fn(|| Guest::connect(server)).collect();
    assert!((10..40).contains(&others.len()), "{}", others.len());
    others
}

fn two(option: &str) -> [RealServer; 2] {
    [
        RealServer::start(&["-c", MOST, "-o", option]),
        RealServer::start(&[]),
    ]
}

/// A key that lives on the first server.
fn key(client: &MemcachedClient) -> String {
    let first = &client.pool().servers()[0];
    let mut keys = (0..).map(|number| format!("key_{number}"));
    keys.find(|key| client.pool().server_of(key).unwrap() == first)
        .unwrap()
}

#[test]
fn a_server_that_says_that_it_is_full_is_believed_and_not_dead() {
    let servers = two("maxconns_fast");
    let mut others = exhaust(&servers[0]);
    let pool = builder(servers.iter().map(RealServer::addr)).initial_conn(0);
    let client = MemcachedClient::new(pool.build().unwrap());
    let key = key(&client);
    let rejected = others[0].stat("rejected_connections");
    let large = vec![b'x'; 1 << 20];
    const CALLS: u64 = 60;
    for call in 0..CALLS {
        let (answer, took) = timed(|| match call % 3 {
            0 => client.get::<String>(&*key).map(drop),
            1 => client.set(&*key, "v", Expiry::never()).map(drop),
            _ => client.set(&*key, &large[..], Expiry::never()).map(drop),
        });
        in_time(took, ms(0));
        let error = answer.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Server, "{error}");
        assert!(error.to_string().contains("Too many open connections"));
        assert_eq!(error.server(), Some(&*servers[0].addr()));
        let stats = &client.pool().stats()[0];
        assert!(stats.dead_until.is_none() && stats.connect_failures == 0);
    }
    let rejected = others[0].stat("rejected_connections") - rejected;
    // The maintenance thread opens connections in advance: bounded by what callers asked for.
    println!("{CALLS} calls, {rejected} connections rejected");
    assert!(rejected <= 2 * CALLS, "{rejected}");
    others.pop();
    let took = eventually("the next call is good", || {
        client.get::<String>(&*key).is_ok()
    });
    println!("good again after {took:.1?}");
    in_time(took, ms(0));
}

#[test]
fn a_server_that_is_full_under_load_harms_no_other_server() {
    alone(|| {
        const THREADS: usize = 8;
        let servers = two("maxconns_fast");
        let mut others = exhaust(&servers[0]);
        // A few are left, fewer than there are threads.
        let mut monitor = others.pop().unwrap();
        let full = monitor.stat("curr_connections");
        let freed = others.drain(..4).count() as u64;
        eventually("they are closed", || {
            monitor.stat("curr_connections") <= full - freed
        });
        let pool = builder(servers.iter().map(RealServer::addr)).max_open(THREADS);
        let client = MemcachedClient::new(pool.build().unwrap());
        under_load(&client, THREADS, |load| {
            load.warm();
            thread::sleep(ms(500));
            drop(others);
            let back = load.good_again(0);
            thread::sleep(ms(100));
            let before = load.of(0).errors.len();
            thread::sleep(ms(200));
            let full = load.of(0);
            println!(
                "full: {full}; {} connections rejected; good again after {back:.1?}; the other server: {}",
                monitor.stat("rejected_connections"),
                load.others_are_unaffected(0)
            );
            assert_eq!(full.errors.len(), before, "errors went on");
            assert_eq!(full.errors_beside(&[ErrorKind::Server]), [], "{full}");
            assert_eq!(full.stalled, 0);
        });
        assert_eq!(client.pool().stats()[0].connect_failures, 0);
    });
}

#[test]
fn a_server_that_lets_wait_costs_a_deadline_once() {
    alone(|| {
        const THREADS: usize = 4;
        let servers = two("no_maxconns_fast");
        let others = Mutex::new(exhaust(&servers[0]));
        let pool = builder(servers.iter().map(RealServer::addr)).initial_conn(0);
        let client = MemcachedClient::new(pool.build().unwrap());
        let key = key(&client);
        let error = within(LIMIT, || client.get::<String>(&*key).unwrap_err());
        assert!(error.is_timeout(), "{error}");
        let error = within(ms(0), || client.get::<String>(&*key).unwrap_err());
        assert_eq!(error.kind(), ErrorKind::NoServer, "{error}");
        let refused = under_load(&client, THREADS, |load| {
            thread::sleep(ms(700));
            let refused = load.of(0);
            assert_eq!(refused.errors_beside(&[ErrorKind::NoServer]), []);
            others.lock().unwrap().clear();
            let back = load.good_again(0);
            println!(
                "full and silent: {refused}; good again after {back:.1?}; the other server: {}",
                load.others_are_unaffected(0)
            );
            // The try that is under way may be one that the kernel has put off for a second: it ends by its own limit.
            assert!(back <= BACK_OFF + ms(200) + MARGIN + lost(back), "{back:?}");
            refused
        });
        assert_eq!((refused.stalled, refused.good), (0, 0), "{refused}");
    });
}

/// Nothing tells such a server from one that hangs: it is marked dead each time when it has let somebody wait too long.
#[test]
fn a_server_that_lets_some_wait_under_load_harms_no_other_server() {
    alone(|| {
        const THREADS: usize = 8;
        let servers = two("no_maxconns_fast");
        let mut guests = exhaust(&servers[0]);
        let freed = guests.drain(..4).count();
        let pool = builder(servers.iter().map(RealServer::addr)).max_open(THREADS);
        let client = MemcachedClient::new(pool.build().unwrap());
        under_load(&client, THREADS, |load| {
            load.warm();
            thread::sleep(ms(1500));
            let full = load.of(0);
            assert!(full.good > 0);
            drop(guests);
            let back = load.good_again(0);
            thread::sleep(ms(500));
            let before = load.of(0).errors.len();
            thread::sleep(ms(300));
            assert_eq!(load.of(0).errors.len(), before, "errors went on");
            println!(
                "{freed} connections for {THREADS} threads, the rest waits: {full}; good again after {back:.1?}; the other server: {}",
                load.others_are_unaffected(0)
            );
        });
    });
}
