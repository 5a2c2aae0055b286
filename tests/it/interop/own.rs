//! This crate in the place of a peer.

use std::time::Duration;

use sockio::codec::{Compression, PerlCacheMemcached, Pylibmc, PythonMemcached};
use sockio::{Compat, Expiry, FromValue, MemcachedClient, SockIoPool};

use super::fleet::Fleet;
use super::peer::{Datum, Peer};

/// A limit that the loopback never reaches.
const CONNECT: Duration = Duration::from_millis(500);

/// As in the scripts: payloads of more bytes are compressed.
const COMPRESS: usize = 10_000;

/// A client that does as `compat` says.
pub(crate) struct Own {
    pub(crate) client: MemcachedClient,
}

impl Own {
    pub(crate) fn new(compat: Compat, fleet: &Fleet) -> Self {
        let pool = SockIoPool::builder()
            .servers(fleet.addrs())
            .compat(compat)
            .connect_timeout(CONNECT)
            .build();
        let client = MemcachedClient::new(pool.unwrap());
        let long = Compression::new().threshold(COMPRESS);
        // These clients compress nothing unless told to; the others do it as their rows say.
        let client = match compat.name() {
            name if name.ends_with("+pylibmc") => {
                client.with_transcoder(Pylibmc::new().compression(long))
            }
            name if name.starts_with("python-memcached/") => {
                client.with_transcoder(PythonMemcached::new().compression(long))
            }
            name if name.starts_with("perl-cache-memcached/") => {
                client.with_transcoder(PerlCacheMemcached::new().compression(long))
            }
            name if name.starts_with("perl-cache-memcached-fast/") => {
                client.with_transcoder(PerlCacheMemcached::fast().compression(long))
            }
            _ => client,
        };
        Self { client }
    }

    fn read<T: FromValue>(&self, key: &str, datum: fn(T) -> Datum) -> Option<Datum> {
        self.client.get(key).unwrap().map(datum)
    }
}

impl Peer for Own {
    fn set(&mut self, key: &str, value: &Datum) -> bool {
        // An error counts as not stored, as with the peers.
        let stored = self.client.set(key, value, Expiry::never());
        stored.unwrap_or(false)
    }

    fn get(&mut self, key: &str, like: &Datum) -> Option<Datum> {
        match like {
            Datum::Text(_) => self.read(key, Datum::Text),
            Datum::Bytes(_) => self.read(key, Datum::Bytes),
            Datum::Int(_) => self.read(key, Datum::Int),
            Datum::Float(_) => self.read(key, Datum::Float),
            Datum::Bool(_) => self.read(key, Datum::Bool),
        }
    }

    fn delete(&mut self, key: &str) -> bool {
        self.client.delete(key).unwrap()
    }

    fn count(&mut self, key: &str, number: u64) {
        let stored = self.client.store_counter(key, number, Expiry::never());
        assert!(stored.unwrap());
    }

    fn incr(&mut self, key: &str, by: u64) -> Option<u64> {
        self.client.incr(key, by).unwrap()
    }
}
