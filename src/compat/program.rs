//! The programs that stand on libmemcached and have a form of their own for values. It knows no row.

use std::sync::Arc;

use crate::codec::{PhpMemcached, Pylibmc, Transcoder};

/// libmemcached itself stores bytes with the caller's flags; what they say is up to the program above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Program {
    /// PHP's `Memcached`.
    Php,
    /// Python's pylibmc.
    Pylibmc,
}

impl Program {
    pub(super) const ALL: [Program; 2] = [Program::Php, Program::Pylibmc];

    /// What stands behind the name of a row.
    pub(super) fn suffix(self) -> &'static str {
        match self {
            Program::Php => "+php",
            Program::Pylibmc => "+pylibmc",
        }
    }

    /// The row's name and the program, if the name ends with one's suffix.
    pub(super) fn split(name: &str) -> Option<(&str, Program)> {
        Program::ALL
            .into_iter()
            .find_map(|program| Some((name.strip_suffix(program.suffix())?, program)))
    }

    /// What stands behind the description of a row.
    pub(super) fn about(self) -> &'static str {
        match self {
            Program::Php => "values as PHP's Memcached writes them",
            Program::Pylibmc => "values as Python's pylibmc writes them",
        }
    }

    pub(super) fn transcoder(self) -> Arc<dyn Transcoder> {
        match self {
            Program::Php => Arc::new(PhpMemcached::new()),
            Program::Pylibmc => Arc::new(Pylibmc::new()),
        }
    }
}
