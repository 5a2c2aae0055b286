//! The integration tests: one binary, one module per subject.

#[cfg(feature = "cli")]
mod cli;
mod failover;
mod golden;
mod hashes;
mod multi;
mod placement;
mod support;
mod transcripts;
#[cfg(feature = "compress")]
mod values;
mod walks;
