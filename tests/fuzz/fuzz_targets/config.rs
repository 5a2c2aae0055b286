//! Texts of a configuration: servers, weights, prefix and keys for each known client. What cannot work is an error, all else finds its server.
#![no_main]

use std::sync::LazyLock;
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use sockio::{Compat, ErrorKind, Room, ServerAddr, SockIoPool, ToKey};

static CLIENTS: LazyLock<Vec<Compat>> = LazyLock::new(Compat::all);

/// Rings have up to some hundred points for a unit of weight.
const MAX_SERVERS: usize = 6;
const MAX_WEIGHT: u32 = 50;

fuzz_target!(|input: (u8, &str, Vec<u8>, &[u8])| {
    let (client, servers, weights, text) = input;
    let compat = CLIENTS[usize::from(client) % CLIENTS.len()];
    let servers: Vec<&str> = servers.split('\n').take(MAX_SERVERS).collect();
    let light = |text: &&str| {
        let weight = text
            .parse::<ServerAddr>()
            .ok()
            .and_then(|server| server.weight());
        weight.is_none_or(|weight| weight <= MAX_WEIGHT)
    };
    if !servers.iter().all(light) {
        return;
    }
    let (prefix, key) = text.split_at(text.iter().position(|byte| *byte == 0).unwrap_or(0));
    let mut builder = SockIoPool::builder()
        .servers(&servers)
        .compat(compat)
        .prefix(prefix)
        .initial_conn(0)
        .min_conn(0)
        .maint_sleep(Duration::from_secs(3600));
    if !weights.is_empty() {
        builder = builder.weights(weights.iter().map(|weight| u32::from(*weight) % MAX_WEIGHT));
    }
    let pool = match builder.build() {
        Ok(pool) => pool,
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Config, "{error}");
            return;
        }
    };
    assert_eq!(pool.servers().len(), servers.len());
    for key in [key, text, &key[..key.len().min(1)]] {
        let rules = compat.key_rules(prefix).expect("the pool took it");
        let mut room = Room::default();
        match (rules.apply(key.to_key(), &mut room), pool.server_of(key)) {
            (Ok(wire), Ok(server)) => {
                assert!(pool.servers().contains(server));
                let bytes = wire.bytes();
                assert!((1..=250).contains(&bytes.len()) && bytes.starts_with(prefix));
                assert!(bytes.iter().all(|byte| *byte > b' ' && *byte != 0x7f));
            }
            (Err(wire), Err(server)) => {
                assert_eq!(
                    (wire.kind(), server.kind()),
                    (ErrorKind::Key, ErrorKind::Key)
                );
            }
            _ => panic!(
                "the pool and the rules differ about a key of {} bytes",
                key.len()
            ),
        }
    }
    pool.shutdown();
});
