//! Pools by name: a program's parts find the same pool without handing it around.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::SockIoPool;
use crate::error::{Error, Result};

type Pools = HashMap<String, SockIoPool>;

static POOLS: Mutex<Option<Pools>> = Mutex::new(None);

pub(super) fn find(name: &str) -> Option<SockIoPool> {
    pools().as_ref()?.get(name).cloned()
}

/// Refuses a name that a living pool has.
pub(super) fn check(name: &str) -> Result<()> {
    match find(name) {
        Some(_) => Err(Error::config(format!(
            "a pool named {name:?} exists already; shut it down first"
        ))),
        None => Ok(()),
    }
}

/// Enters a pool under a name that no living pool has.
pub(super) fn enter(name: &str, pool: &SockIoPool) -> Result<()> {
    let mut pools = pools();
    let pools = pools.get_or_insert_default();
    if pools.contains_key(name) {
        return Err(Error::config(format!(
            "a pool named {name:?} was built by another thread at the same time"
        )));
    }
    pools.insert(name.to_owned(), pool.clone());
    Ok(())
}

pub(super) fn forget(pool: &SockIoPool) {
    // Dropped after the lock: dropping the last clone of a pool joins a thread.
    let _forgotten = pools().as_mut().map(|pools| remove(pools, pool));
}

fn remove(pools: &mut Pools, pool: &SockIoPool) -> Vec<SockIoPool> {
    let is_it = |(name, other): (&String, &SockIoPool)| other.is(pool).then(|| name.clone());
    let names: Vec<String> = pools.iter().filter_map(is_it).collect();
    names.iter().filter_map(|name| pools.remove(name)).collect()
}

fn pools() -> MutexGuard<'static, Option<Pools>> {
    POOLS.lock().unwrap_or_else(PoisonError::into_inner)
}
