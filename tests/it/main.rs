//! The integration tests: one binary, one module per subject.
#![allow(clippy::type_complexity)] // Tables of commands are lists of functions.

mod aliases;
mod bad_input;
#[cfg(target_os = "linux")]
mod chaos;
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
#[cfg(feature = "compress")]
mod decoding;
mod failover;
mod failover_live;
mod failover_load;
mod fairness;
mod fork;
mod golden;
mod growth;
mod hashes;
#[cfg(all(feature = "compress", feature = "sha1"))]
mod interop;
mod known_bugs;
mod matrix;
mod multi;
#[cfg(target_os = "linux")]
mod network;
mod one_bad_server;
#[cfg(all(feature = "php", feature = "compress"))]
mod php_live;
#[cfg(all(feature = "php", feature = "compress"))]
mod php_malformed;
#[cfg(all(feature = "php", feature = "compress"))]
mod php_values;
mod placement;
mod pool;
#[cfg(feature = "compress")]
mod properties;
mod resilience;
mod retry;
mod secrets;
mod servers;
mod shutdown;
mod stale;
mod stress;
mod support;
mod tidy;
mod transcripts;
mod unsent;
#[cfg(feature = "compress")]
mod values;
mod walks;
