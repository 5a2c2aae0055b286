//! The integration tests: one binary, one module per subject.

mod deadlines;
mod failover;
mod failover_live;
mod fairness;
mod golden;
mod growth;
mod hashes;
mod multi;
mod placement;
mod pool;
mod retry;
mod shutdown;
mod stale;
mod support;
mod syscalls;
mod transcripts;
#[cfg(feature = "compress")]
mod values;
