//! This crate in the place of a peer.

use std::time::Duration;

use sockio::{Compat, Expiry, MemcachedClient, SockIoPool};

use super::fleet::Fleet;
use super::peer::{Datum, Peer};

/// Limits that a stopped server on the loopback never reaches.
const CONNECT: Duration = Duration::from_millis(500);

/// A client that does as `compat` says.
pub(crate) struct Own {
    pub(crate) client: MemcachedClient,
}

impl Own {
    pub(crate) fn new(compat: Compat, fleet: &Fleet) -> Self {
        let pool = SockIoPool::builder()
            .servers(fleet.addrs())
            .compat(compat)
            .connect_timeout(CONNECT);
        let pool = if compat.client() == "libmemcached" {
            pool.transcoder(sockio::codec::PhpMemcached::new())
        } else {
            pool
        };
        let pool = pool.build().unwrap();
        Self {
            client: MemcachedClient::new(pool),
        }
    }
}

impl Peer for Own {
    fn set(&mut self, key: &str, value: &Datum) -> bool {
        self.client
            .set(key, value, Expiry::never())
            .unwrap_or(false)
    }

    fn get(&mut self, key: &str, like: &Datum) -> Option<Datum> {
        let client = &self.client;
        match like {
            Datum::Text(_) => client.get(key).unwrap().map(Datum::Text),
            Datum::Bytes(_) => client.get(key).unwrap().map(Datum::Bytes),
            Datum::Int(_) => client.get(key).unwrap().map(Datum::Int),
            Datum::Float(_) => client.get(key).unwrap().map(Datum::Float),
            Datum::Bool(_) => client.get(key).unwrap().map(Datum::Bool),
        }
    }

    fn delete(&mut self, key: &str) -> bool {
        self.client.delete(key).unwrap()
    }

    fn count(&mut self, key: &str, number: u64) {
        assert!(
            self.client
                .store_counter(key, number, Expiry::never())
                .unwrap()
        );
    }

    fn incr(&mut self, key: &str, by: u64) -> Option<u64> {
        self.client.incr(key, by).unwrap()
    }
}
