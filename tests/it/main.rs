//! The integration tests: one binary, one module per subject.

mod php_live;
mod php_malformed;
mod php_values;
#[cfg(feature = "compress")]
mod values;
