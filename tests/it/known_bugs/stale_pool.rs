//! Connections that broke while they rested, and servers that came back.

use std::thread;

use sockio::{ErrorKind, MemcachedClient, SockIoPool};

use super::{NEVER, SERVE, client, is_dead, real, recovers, single, text};
use crate::support::RealServer;
use crate::support::fake::{Act, Fake, answer};
use crate::support::wait::{eventually, ms, within};

/// stale-02 (petergoldstein/dalli#91): a server that had been restarted was marked down, since its old connections ended.
#[test]
fn a_restart_is_no_failure_of_the_server() {
    let (mut server, client) = real(&[]);
    client.set("k", "v", NEVER).unwrap();
    server.restart();
    thread::sleep(ms(1000));
    assert_eq!(text(&client, "k"), None);
    assert!(!is_dead(&client));
}

/// stale-03 (linsomniac/python-memcached#120): the second try used the same broken connection again,
/// and then the server was marked dead.
#[test]
fn the_second_try_is_on_a_new_connection() {
    let script = vec![Act::Request, Act::Send(answer("get k")), Act::Fin];
    let mut fake = Fake::new(vec![script, vec![SERVE]]);
    let client = client(single(&fake).dead_backoff(ms(5000), ms(5000)));
    assert_eq!(text(&client, "k").as_deref(), Some("k"));
    eventually("it is closed", || fake.open() == 0);
    assert_eq!(text(&client, "next").as_deref(), Some("next"));
    assert_eq!(fake.connections(), 2);
    assert!(!is_dead(&client));
    // Only a connect that fails says that the server is dead.
    fake.down();
    let error = client.get::<String>("k").unwrap_err();
    assert!(error.is_connect(), "{error}");
    assert!(is_dead(&client));
}

/// stale-05 (petergoldstein/dalli#754, #788, #1149): with many keys a broken connection was told as misses.
#[test]
fn many_keys_have_the_same_second_try_and_never_false_misses() {
    let (mut server, client) = real(&["-o", "idle_timeout=2"]);
    let keys: Vec<String> = (0..10).map(|number| format!("key_{number}")).collect();
    let entries = keys.iter().map(|key| (key, "v"));
    assert!(client.set_multi(entries, NEVER).unwrap().is_complete());
    thread::sleep(ms(5000));
    let many = client.get_multi::<String, _>(&keys).unwrap();
    assert!(many.is_complete());
    assert_eq!(many.hits().count(), 10);

    server.kill();
    let many = client.get_multi::<String, _>(&keys).unwrap();
    assert_eq!((many.hits().count(), many.misses().count()), (0, 0));
    assert_eq!(many.failures()[0].keys().len(), 10);
    assert!(many.into_complete().is_err());
}

/// stale-06 (pinterest/pymemcache#333): after a restart each connection of the pool cost a failed call.
#[test]
fn one_broken_connection_makes_the_others_suspect() {
    let mut server = RealServer::start(&[]);
    let pool = SockIoPool::builder().servers([server.addr()]);
    let client = client(pool.initial_conn(8));
    assert_eq!(client.pool().stats()[0].idle, 8);
    server.restart();
    assert_eq!(text(&client, "k"), None);
    client.set("k", "v", NEVER).unwrap();
    // All eight are in use at the same time, each for a write, which is never sent twice.
    write_on_each(&client, 8);
    assert!(!is_dead(&client));
    assert_eq!(client.pool().stats()[0].evicted, 7);
}

/// Writes on one connection after the other, and holds all those before.
fn write_on_each(client: &MemcachedClient, left: usize) {
    if left > 0 {
        assert!(client.set("w", "v", NEVER).unwrap());
        let held = client.get_with("k", |_, _| write_on_each(client, left - 1));
        held.unwrap().expect("a value");
    }
}

/// stale-08 (memcachier/memjs#117): after a connect that had timed out no further one was ever begun.
#[cfg(target_os = "linux")]
#[test]
fn after_a_connect_that_timed_out_the_next_one_is_begun() {
    let mut hole = Fake::never_accepting();
    let pool = single(&hole).initial_conn(0).connect_timeout(ms(200));
    let client = client(pool.dead_backoff(ms(50), ms(100)));
    let error = client.get::<String>("k").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
    hole.down();
    hole.up();
    recovers(&client);
}

/// stale-09 (vieapps/Enyim.Caching#1): a server that came back was not used again.
#[test]
fn a_server_that_comes_back_is_used_again() {
    let mut server = RealServer::start(&[]);
    let pool = SockIoPool::builder().servers([server.addr()]);
    let client = client(pool.dead_backoff(ms(50), ms(200)));
    client.set("k", "v", NEVER).unwrap();
    server.kill();
    for _ in 0..3 {
        assert!(within(ms(0), || client.get::<String>("k")).is_err());
    }
    server.restart();
    eventually("it is used again", || client.get::<String>("k").is_ok());
    assert!(client.set("k", "v", NEVER).unwrap());
    assert_eq!(text(&client, "k").as_deref(), Some("v"));
}
