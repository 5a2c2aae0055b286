//! This crate in the place of a peer.

use std::time::Duration;

use sockio::{Compat, Expiry, FromValue, MemcachedClient, SockIoPool};

use super::fleet::Fleet;
use super::peer::{Datum, Peer};

/// A limit that the loopback never reaches.
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
        let pool = temp_transcoder(pool, compat);
        let pool = pool.build().unwrap();
        Self {
            client: MemcachedClient::new(pool),
        }
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

thread_local! { pub(crate) static TEMP: std::cell::RefCell<String> = Default::default(); }
pub(crate) fn temp_parse(name: &str) -> Compat {
    TEMP.with(|t| *t.borrow_mut() = name.to_owned());
    name.split('+').next().unwrap().parse().unwrap()
}
fn temp_transcoder(pool: sockio::SockIoPoolBuilder, _c: Compat) -> sockio::SockIoPoolBuilder {
    use sockio::codec::*;
    let c = || Compression::new().threshold(10_000);
    TEMP.with(|t| match &**t.borrow() {
        n if n.ends_with("+php") => pool.transcoder(PhpMemcached::new()),
        n if n.ends_with("+pylibmc") => pool.transcoder(Pylibmc::new().compression(c())),
        n if n.starts_with("python") => pool.transcoder(PythonMemcached::new().compression(c())),
        n if n.starts_with("pymemcache") => pool.transcoder(Pymemcache::new()),
        n if n.starts_with("dalli") => pool.transcoder(Dalli::new()),
        n if n.starts_with("spymemcached") => pool.transcoder(Spymemcached::new()),
        n if n.starts_with("perl-cache-memcached/") => {
            pool.transcoder(PerlCacheMemcached::new().compression(c()))
        }
        n if n.starts_with("perl-cache-memcached-fast/") => {
            pool.transcoder(PerlCacheMemcached::fast().compression(c()))
        }
        _ => pool,
    })
}
