//! What the connections of one server share: the items and a few facts for the statistics.

use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::store::Store;

/// More connections are turned away (`-c`: 1,024).
pub(super) const MAX_CONNECTIONS: usize = 1024;

#[derive(Debug)]
pub(super) struct State {
    store: Mutex<Store>,
    pub(super) started: Instant,
    pub(super) port: u16,
    pub(super) connections: AtomicUsize,
    pub(super) total_connections: AtomicU64,
}

impl State {
    pub(super) fn new(port: u16) -> Self {
        Self {
            store: Mutex::default(),
            started: Instant::now(),
            port,
            connections: AtomicUsize::new(0),
            total_connections: AtomicU64::new(0),
        }
    }

    /// The items. A connection that panicked left them whole: nothing that can panic happens between two changes.
    pub(super) fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
