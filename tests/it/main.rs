//! The integration tests: one binary, one module per subject.

#[cfg(feature = "compress")]
mod values;
