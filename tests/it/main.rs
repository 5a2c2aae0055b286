//! The integration tests: one binary, one module per subject.

mod bad_input;
mod commands;
mod failover;
mod golden;
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
mod support;
mod tidy;
mod transcripts;
#[cfg(feature = "compress")]
mod values;
mod walks;
