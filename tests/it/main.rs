//! The integration tests: one binary, one module per subject.

mod failover;
mod golden;
mod hashes;
mod placement;
mod support;
mod transcripts;
mod values;
