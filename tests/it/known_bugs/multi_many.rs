//! Calls with very many keys: neither side may wait for the other, and none is sent a line without end.

use std::time::Duration;

use sockio::SockIoPool;

use super::{NEVER, client, connects, is_dead, real, single};
use crate::support::RealServer;
use crate::support::fake::{Act, Fake};
use crate::support::wait::within;

/// As long as a machine that does something else besides may take.
const PATIENCE: Duration = Duration::from_secs(60);

fn keys(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("key_{number}")).collect()
}

/// multi-01 (petergoldstein/dalli#776, #941): all keys were written before an answer was read; the buffers of both sides
/// filled up, and both waited for ever.
#[test]
fn a_get_of_200_000_keys_ends() {
    const COUNT: usize = 200_000;
    let server = RealServer::start(&["-m", "128"]);
    let pool = SockIoPool::builder().servers([server.addr()]);
    let client = client(pool.operation_timeout(PATIENCE));
    let keys: Vec<String> = (0..COUNT).map(|number| format!("{number:0>100}")).collect();
    // 20 MB of keys go out, and 30 MB of answers come back.
    let there: Vec<&String> = keys.iter().step_by(7).collect();
    let value = "x".repeat(1024);
    let entries = there.iter().map(|key| (key, &value));
    assert!(client.set_multi(entries, NEVER).unwrap().is_complete());
    let many = client.get_multi::<Vec<u8>, _>(&keys).unwrap();
    assert!(many.is_complete());
    assert_eq!(many.hits().count(), there.len());
    assert!(many.hits().all(|(_, bytes)| bytes == value.as_bytes()));
    assert_eq!(connects(&client), 1);
}

/// multi-07 (linsomniac/python-memcached#24, php-memcached-dev/php-memcached#429): the answers to the sets were not read
/// while they were written.
#[test]
fn a_set_of_200_000_values_ends() {
    const COUNT: usize = 200_000;
    let (_server, client) = real(&["-m", "128"]);
    let client = client.with_timeout(PATIENCE);
    let keys = keys(COUNT);
    let stored = client.set_multi(keys.iter().map(|key| (key, "v")), NEVER);
    let stored = stored.unwrap().into_complete().unwrap();
    assert_eq!(stored.len(), COUNT);
    assert!(stored.iter().all(|(_, stored)| *stored));
    assert_eq!(connects(&client), 1);
}

/// multi-09 (memcached/memcached#1046): the server keeps a whole line and its answers in memory.
#[test]
fn very_many_keys_go_in_many_lines() {
    let fake = Fake::serving();
    let client = client(single(&fake).operation_timeout(PATIENCE));
    let keys = keys(20_000);
    let many = client.get_multi::<String, _>(&keys).unwrap();
    assert_eq!(many.hits().count(), keys.len());
    let requests = fake.seen()[0].requests.clone();
    assert!(requests.len() >= 20, "{}", requests.len());
    for request in requests {
        assert!(request.len() <= 64 << 10, "{} bytes", request.len());
        assert!(request.split(' ').count() <= 1001);
    }
}

/// limit-03 (enyim/EnyimMemcached 2.11): a call with many keys knew no time limit.
#[test]
fn many_keys_of_a_silent_server_end_in_time() {
    const LIMIT: Duration = Duration::from_millis(300);
    let fake = Fake::new(vec![vec![Act::Stall]]);
    let client = client(single(&fake).operation_timeout(LIMIT));
    let keys = keys(5000);
    let many = within(LIMIT, || client.get_multi::<String, _>(&keys)).unwrap();
    assert!(
        many.failures()
            .iter()
            .all(|failure| failure.error().is_timeout())
    );
    let unknown = many.failures().iter().map(|failure| failure.keys().len());
    assert_eq!(unknown.sum::<usize>(), keys.len());
    assert!(is_dead(&client));
}
