//! The crate `bmemcached`: the binary protocol, a mutex for each connection.
//!
//! Of the connections that it opens to a server its ring keeps the last, as all have one name. So there is a client for each
//! connection here, and each thread has always the same one.

use std::sync::Arc;

use bmemcached::errors::{Error, ErrorKind};
use bmemcached::{MemcachedClient, Status};

use super::{Peer, Result, addrs};

struct Shared(Arc<MemcachedClient>);

pub(super) fn open(addr: &str, threads: usize, connections: usize) -> Result<Vec<Box<dyn Peer>>> {
    let mut clients = Vec::new();
    for _ in 0..connections.min(threads) {
        let client = MemcachedClient::new(addrs(addr).collect(), 1).map_err(text)?;
        clients.push(Arc::new(client));
    }
    let peer =
        |thread| Box::new(Shared(Arc::clone(&clients[thread % clients.len()]))) as Box<dyn Peer>;
    Ok((0..threads).map(peer).collect())
}

/// Its errors are not `Sync`.
fn text(error: Error) -> String {
    error.to_string()
}

impl Peer for Shared {
    fn get(&mut self, key: &str) -> Result<Option<Vec<u8>>> {
        match self.0.get(key) {
            Ok(value) => Ok(Some(value)),
            Err(Error(ErrorKind::Status(Status::KeyNotFound), _)) => Ok(None),
            Err(error) => Err(text(error).into()),
        }
    }

    fn set(&mut self, key: &str, value: &[u8]) -> Result<()> {
        Ok(self.0.set(key, value, 0).map_err(text)?)
    }

    fn incr(&mut self, key: &str) -> Result<u64> {
        Ok(self.0.increment(key, 1, 0, 0).map_err(text)?)
    }
}
