//! Pools by name: a program's parts find the same pool without handing it around.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::SockIoPool;
use crate::error::{Error, Result};

static POOLS: Mutex<Option<HashMap<String, SockIoPool>>> = Mutex::new(None);

pub(super) fn find(name: &str) -> Option<SockIoPool> {
    pools().as_ref()?.get(name).cloned()
}

/// Enters a pool under a name that no living pool has.
pub(super) fn enter(name: &str, pool: &SockIoPool) -> Result<()> {
    let mut pools = pools();
    let pools = pools.get_or_insert_default();
    if pools.contains_key(name) {
        return Err(Error::config(format!(
            "a pool named {name:?} exists already; shut it down first"
        )));
    }
    pools.insert(name.to_owned(), pool.clone());
    Ok(())
}

pub(super) fn forget(pool: &SockIoPool) {
    // The map's clone is dropped after the lock: dropping the last one of a pool joins a thread.
    let _forgotten: Vec<_> = match pools().as_mut() {
        Some(pools) => pools.extract_by(pool),
        None => Vec::new(),
    };
}

trait ExtractBy {
    fn extract_by(&mut self, pool: &SockIoPool) -> Vec<SockIoPool>;
}

impl ExtractBy for HashMap<String, SockIoPool> {
    fn extract_by(&mut self, pool: &SockIoPool) -> Vec<SockIoPool> {
        let names: Vec<_> = self
            .iter()
            .filter(|(_, other)| other.is(pool))
            .map(|(name, _)| name.clone())
            .collect();
        names.iter().filter_map(|name| self.remove(name)).collect()
    }
}

fn pools() -> MutexGuard<'static, Option<HashMap<String, SockIoPool>>> {
    POOLS.lock().unwrap_or_else(PoisonError::into_inner)
}
