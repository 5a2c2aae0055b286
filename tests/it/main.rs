//! The integration tests: one binary, one module per subject.
#![allow(clippy::type_complexity)] // Tables of commands are lists of functions.

mod aliases;
mod bad_input;
#[cfg(feature = "cli")]
mod cli;
mod combine;
mod combine_live;
mod commands;
#[cfg(all(feature = "sha1", feature = "tiger"))]
mod compat_table;
mod cost;
mod cuts;
mod deadlines;
mod failover;
mod failover_live;
mod fairness;
mod golden;
mod growth;
mod hashes;
#[cfg(all(feature = "compress", feature = "sha1"))]
mod interop;
mod multi;
#[cfg(all(feature = "php", feature = "compress"))]
mod php_live;
#[cfg(all(feature = "php", feature = "compress"))]
mod php_malformed;
#[cfg(all(feature = "php", feature = "compress"))]
mod php_values;
mod placement;
mod pool;
mod resilience;
mod retry;
mod shutdown;
mod stale;
mod support;
mod tidy;
mod transcripts;
#[cfg(feature = "compress")]
mod values;
mod walks;
