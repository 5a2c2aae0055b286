//! The crate `memcached-rs`: the binary protocol, and no pool. So each connection has a mutex, and each thread always the same one.
//! Of several servers it takes one key at a time only.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use memcached::Client;
use memcached::proto::binary::Status;
use memcached::proto::{CasOperation, Error, MultiOperation, Operation, ProtoType};

use super::{Peer, Result, addrs};
use crate::ops::Keys;

struct Alone(Client);

// SAFETY: it is not `Send` for its `Rc`s alone; none of them leaves the client, and a mutex holds the whole of it.
unsafe impl Send for Alone {}

struct Shared {
    client: Arc<Mutex<Alone>>,
    servers: usize,
}

pub(super) fn open(addr: &str, threads: usize, connections: usize) -> Result<Vec<Box<dyn Peer>>> {
    let servers: Vec<(String, usize)> = addrs(addr)
        .map(|addr| (format!("tcp://{addr}"), 1))
        .collect();
    let mut clients = Vec::new();
    for _ in 0..connections.min(threads) {
        let client = Client::connect(&servers, ProtoType::Binary)?;
        clients.push(Arc::new(Mutex::new(Alone(client))));
    }
    let peer = |thread| -> Box<dyn Peer> {
        Box::new(Shared {
            client: Arc::clone(&clients[thread % clients.len()]),
            servers: servers.len(),
        })
    };
    Ok((0..threads).map(peer).collect())
}

impl Shared {
    fn lock(&self) -> Result<MutexGuard<'_, Alone>> {
        self.client
            .lock()
            .map_err(|_| "another thread panicked".into())
    }

    /// It would panic else.
    fn lock_for_many(&self) -> Result<MutexGuard<'_, Alone>> {
        if self.servers > 1 {
            return Err("many keys in a call go to one server only".into());
        }
        self.lock()
    }
}

impl Peer for Shared {
    fn get(&mut self, key: &str) -> Result<Option<Vec<u8>>> {
        match self.lock()?.0.get(key.as_bytes()) {
            Ok((value, _)) => Ok(Some(value)),
            Err(Error::BinaryProtoError(error)) if error.status() == Status::KeyNotFound => {
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    fn set(&mut self, key: &str, value: &[u8]) -> Result<()> {
        Ok(self.lock()?.0.set(key.as_bytes(), value, 0, 0)?)
    }

    fn incr(&mut self, key: &str) -> Result<u64> {
        Ok(self.lock()?.0.increment(key.as_bytes(), 1, 0, 0)?)
    }

    fn cas(&mut self, key: &str, value: &[u8]) -> Result<bool> {
        let client = &mut self.lock()?.0;
        let (_, _, number) = client.get_cas(key.as_bytes())?;
        match client.set_cas(key.as_bytes(), value, 0, 0, number) {
            Ok(_) => Ok(true),
            Err(Error::BinaryProtoError(error)) if error.status() == Status::KeyExists => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn get_multi(&mut self, keys: &Keys) -> Result<usize> {
        Ok(self.lock_for_many()?.0.get_multi(&keys.bytes)?.len())
    }

    fn set_multi(&mut self, keys: &Keys, value: &[u8]) -> Result<()> {
        let all: BTreeMap<&[u8], (&[u8], u32, u32)> =
            keys.bytes.iter().map(|key| (*key, (value, 0, 0))).collect();
        Ok(self.lock_for_many()?.0.set_multi(all)?)
    }
}
