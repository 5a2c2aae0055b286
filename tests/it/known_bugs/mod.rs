//! What other clients of memcached got wrong, report by report: each test follows its report and asserts what is right.
//!
//! The reports are `tests/golden/bug-reports.jsonl`. The first line of a test's comment begins with the number of its report and the
//! project that had it. Reports that no client of this kind can have are in `not_applicable.md`. `listing.rs` sees to it that none is left out.

mod addresses;
mod arithmetic;
mod cas;
#[cfg(feature = "compress")]
mod compression;
mod desync;
mod expiry;
mod failover;
mod flags;
mod hashing;
mod keys;
mod listing;
mod maintenance;
mod multi;
mod multi_many;
mod noreply;
mod pool;
mod stale_pool;
mod stats;
mod threads;
mod timeouts;
mod values;
mod wire;

use std::collections::HashSet;
use std::time::Duration;

use sockio::{Compat, Expiry, MemcachedClient, SockIoPool, SockIoPoolBuilder};

use crate::support::RealServer;
use crate::support::fake::{Act, Fake};
use crate::support::wait::eventually;

const SERVE: Act = Act::Serve(Duration::ZERO);
const NEVER: Expiry = Expiry::never();

/// A pool of these servers.
fn builder(servers: &[&Fake]) -> SockIoPoolBuilder {
    SockIoPool::builder().servers(servers.iter().map(|fake| fake.addr()))
}

/// A pool of one server that opens one connection at a time, so that the scripts are played in their order.
fn single(fake: &Fake) -> SockIoPoolBuilder {
    builder(&[fake]).max_conn(1)
}

fn client(builder: SockIoPoolBuilder) -> MemcachedClient {
    MemcachedClient::new(builder.build().unwrap())
}

/// A server and a client of it.
fn real(args: &[&str]) -> (RealServer, MemcachedClient) {
    let server = RealServer::start(args);
    let client = MemcachedClient::connect(server.addr().as_str()).unwrap();
    (server, client)
}

fn text(client: &MemcachedClient, key: &str) -> Option<String> {
    client.get(key).unwrap()
}

/// How many connections the pool has opened, of all servers.
fn connects(client: &MemcachedClient) -> u64 {
    let stats = client.pool().stats();
    stats.iter().map(|server| server.connects).sum()
}

fn is_dead(client: &MemcachedClient) -> bool {
    client.pool().stats()[0].dead_until.is_some()
}

/// A scripted server's value of a key is the key: from now on, or when the server lives again, the answers are right.
#[track_caller]
fn recovers(client: &MemcachedClient) {
    eventually("the server lives again", || {
        match client.get::<String>("next") {
            Ok(value) => {
                assert_eq!(value.as_deref(), Some("next"));
                true
            }
            Err(error) => {
                assert!(error.is_connect(), "{error}");
                false
            }
        }
    });
}

/// One client of each form in which values are stored.
fn forms() -> Vec<Compat> {
    let mut forms = HashSet::new();
    let mut all = Compat::all();
    all.retain(|compat| forms.insert(format!("{:?}", compat.transcoder())));
    assert!(all.len() >= 10, "{all:?}");
    all
}

/// A key that lives on this server.
fn key_on(client: &MemcachedClient, server: &str) -> String {
    let keys = (0..).map(|number| format!("key_{number}"));
    let lives_there = |key: &String| client.pool().server_of(key).unwrap().name() == server;
    { keys }.find(lives_there).unwrap()
}
