//! The locks and atomics of the pool: those of std, or loom's under `cfg(loom)`, so that the same code can be model-checked.

use std::time::Duration;

#[cfg(loom)]
pub(crate) use loom::sync::{
    Arc, Condvar, Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence},
};
#[cfg(not(loom))]
pub(crate) use std::sync::{
    Arc, Condvar, Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence},
};

/// Locks. A panic elsewhere does not spread: what a lock guards here is whole after each statement.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Locks, if nobody else does at the moment.
pub(crate) fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(std::sync::TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(std::sync::TryLockError::WouldBlock) => None,
    }
}

/// Waits until `waits` no longer holds, or for `limit`.
#[cfg(not(loom))]
pub(crate) fn wait_while<'m, T>(
    changed: &Condvar,
    guard: MutexGuard<'m, T>,
    limit: Duration,
    waits: impl Fn(&T) -> bool,
) -> MutexGuard<'m, T> {
    let waited = changed.wait_timeout_while(guard, limit, |state| waits(state));
    let (guard, _) = waited.unwrap_or_else(std::sync::PoisonError::into_inner);
    guard
}

/// A model knows no time: no limit is over at once, every other never.
#[cfg(loom)]
pub(crate) fn wait_while<'m, T>(
    changed: &Condvar,
    mut guard: MutexGuard<'m, T>,
    limit: Duration,
    waits: impl Fn(&T) -> bool,
) -> MutexGuard<'m, T> {
    while !limit.is_zero() && waits(&guard) {
        let waited = changed.wait(guard);
        guard = waited.unwrap_or_else(std::sync::PoisonError::into_inner);
    }
    guard
}
