//! The meta client in `memcache::exp`, with its pool for each server and its deadline of a second.

use std::time::Duration;

use memcache::exp::{Get, Meta, MetaClient, Set};

use super::{Peer, Result, addrs};
use crate::ops::Keys;

/// It takes the time of a connect also for the wait for a free connection: with 64 threads on one, its second is soon over.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) fn open(addr: &str, threads: usize, connections: usize) -> Result<Vec<Box<dyn Peer>>> {
    let client = MetaClient::builder()
        .max_idle(connections)
        .max_connections(Some(connections))
        .connect_timeout(Some(PATIENCE))
        .connect_multiple(addrs(addr))?;
    // Clones have their pools in common.
    let peers = (0..threads).map(|_| Box::new(client.clone()) as Box<dyn Peer>);
    Ok(peers.collect())
}

impl Peer for MetaClient {
    fn get(&mut self, key: &str) -> Result<Option<Vec<u8>>> {
        Ok(Self::get(self, key).send()?.value)
    }

    fn set(&mut self, key: &str, value: &[u8]) -> Result<()> {
        let stored = Self::set(self, key, value).send()?.applied();
        stored.then_some(()).ok_or_else(|| "not stored".into())
    }

    fn incr(&mut self, key: &str) -> Result<u64> {
        let value = self.increment(key).send()?.value;
        value.ok_or_else(|| "no counter".into())
    }

    fn cas(&mut self, key: &str, value: &[u8]) -> Result<bool> {
        let found = Self::get(self, key).meta(Meta::default().cas()).send()?;
        let number = found.item.cas.ok_or("no cas number")?;
        let stored = Self::set(self, key, value).compare_cas(number).send()?;
        Ok(stored.applied())
    }

    fn get_multi(&mut self, keys: &Keys) -> Result<usize> {
        let mut found = 0;
        for result in self.run_many(keys.text.iter().map(Get::new))? {
            found += usize::from(result?.value.is_some());
        }
        Ok(found)
    }

    fn set_multi(&mut self, keys: &Keys, value: &[u8]) -> Result<()> {
        for result in self.run_many(keys.text.iter().map(|key| Set::new(key, value)))? {
            if !result?.applied() {
                return Err("not stored".into());
            }
        }
        Ok(())
    }
}
