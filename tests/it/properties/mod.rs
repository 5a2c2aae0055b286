//! What holds for every key, value, address, reply and program of operations: each on inputs made by chance, small ones first.

mod addresses;
mod keys;
mod model;
mod replies;
mod values;

use proptest::test_runner::Config;

/// So many inputs; none is kept in a file.
fn inputs(cases: u32) -> Config {
    Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    }
}
