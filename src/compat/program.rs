//! The programs that stand on libmemcached and have a form of their own for values. It knows no row.

use std::sync::Arc;

use crate::codec::{PhpMemcached, Pylibmc, Transcoder};

/// libmemcached itself stores bytes with the caller's flags; what they say is up to the program above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Program {
    /// PHP's `Memcached`: `+php`.
    Php,
    /// Python's pylibmc: `+pylibmc`.
    Pylibmc,
}

impl Program {
    pub(super) const ALL: [Program; 2] = [Program::Php, Program::Pylibmc];

    /// What a row is with it, in one line.
    pub(super) fn about(self) -> &'static str {
        match self {
            Program::Php => "the same as without +php, values as PHP's Memcached writes them",
            Program::Pylibmc => {
                "the same as without +pylibmc, values as Python's pylibmc writes them"
            }
        }
    }

    pub(super) fn transcoder(self) -> Arc<dyn Transcoder> {
        match self {
            Program::Php => Arc::new(PhpMemcached::new()),
            Program::Pylibmc => Arc::new(Pylibmc::new()),
        }
    }
}
