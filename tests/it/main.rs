//! The integration tests: one binary, one module per subject.

mod failover;
mod golden;
mod growth;
mod hashes;
mod placement;
mod support;
