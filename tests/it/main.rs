//! The integration tests: one binary, one module per subject.

mod failover;
mod golden;
mod growth;
mod hashes;
mod multi;
mod placement;
mod support;
mod transcripts;
#[cfg(feature = "compress")]
mod values;
