//! The integration tests: one binary, one module per subject.

mod deadlines;
mod failover;
mod fairness;
mod golden;
mod growth;
mod hashes;
mod multi;
mod placement;
mod pool;
mod retry;
mod stale;
mod support;
mod transcripts;
#[cfg(feature = "compress")]
mod values;
