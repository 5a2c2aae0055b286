//! Which process a pool's connections belong to: one that was forked off must not touch what it inherited. It knows no socket.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The process in which connections were opened.
#[derive(Debug)]
pub(crate) struct Origin {
    process: u32,
    /// Whether this is another process, as far as is known.
    left: AtomicBool,
}

impl Origin {
    /// This process.
    pub(super) fn here() -> Self {
        Self {
            process: process::id(),
            left: AtomicBool::new(false),
        }
    }

    /// Asks the system whether this is another process. Once it is, all that ask know.
    pub(super) fn check(&self) -> bool {
        let left = self.is_left() || process::id() != self.process;
        if left {
            // In the memory of this process only.
            self.left.store(true, Relaxed);
        }
        left
    }

    /// Whether this was [found](Self::check) to be another process.
    #[inline]
    pub(super) fn is_left(&self) -> bool {
        self.left.load(Relaxed)
    }
}
