//! The crate `memcache` with its settings as they are: text or binary protocol, connections in an r2d2 pool for each server.

use memcache::Client;

use super::{Peer, Result, addrs};
use crate::ops::Keys;

pub(super) fn ascii(addr: &str, threads: usize, connections: usize) -> Result<Vec<Box<dyn Peer>>> {
    open("ascii", addr, threads, connections)
}

pub(super) fn binary(addr: &str, threads: usize, connections: usize) -> Result<Vec<Box<dyn Peer>>> {
    open("binary", addr, threads, connections)
}

fn open(
    protocol: &str,
    addr: &str,
    threads: usize,
    connections: usize,
) -> Result<Vec<Box<dyn Peer>>> {
    let url = |addr| format!("memcache://{addr}?protocol={protocol}");
    let urls: Vec<String> = addrs(addr).map(url).collect();
    let client = Client::builder()
        .add_server(urls)?
        .with_max_pool_size(connections.try_into()?)
        .build()?;
    // Clones have their pools in common.
    let peers = (0..threads).map(|_| Box::new(client.clone()) as Box<dyn Peer>);
    Ok(peers.collect())
}

impl Peer for Client {
    fn get(&mut self, key: &str) -> Result<Option<Vec<u8>>> {
        Ok(Self::get(self, key)?)
    }

    fn set(&mut self, key: &str, value: &[u8]) -> Result<()> {
        Ok(Self::set(self, key, value, 0)?)
    }

    fn incr(&mut self, key: &str) -> Result<u64> {
        Ok(self.increment(key, 1)?)
    }

    fn cas(&mut self, key: &str, value: &[u8]) -> Result<bool> {
        let found: Option<(Vec<u8>, u32, Option<u64>)> = Self::get(self, key)?;
        let (_, _, number) = found.ok_or("a miss")?;
        let number = number.ok_or("no cas number")?;
        Ok(Self::cas(self, key, value, 0, number)?)
    }

    fn get_multi(&mut self, keys: &Keys) -> Result<usize> {
        Ok(self.gets::<Vec<u8>>(&keys.text)?.len())
    }
}
