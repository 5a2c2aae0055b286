//! The table of clients on the crate page is the one that the crate has.

use std::fmt::Write;

use sockio::{Compat, Proof};

const PAGE: &str = include_str!("../../src/compat/table.md");

/// The table as it should be, without the programs built on libmemcached: they share its rows.
fn table() -> String {
    let mut table = String::from("| name | what it is | proved by |\n|---|---|---|\n");
    for compat in Compat::all() {
        let name = compat.name();
        if name.ends_with("+php") || name.ends_with("+pylibmc") {
            continue;
        }
        let proof = match compat.proof() {
            Proof::Captured => "captured placements",
            Proof::Computed => "computed placements",
            _ => "its source",
        };
        writeln!(table, "| `{name}` | {} | {proof} |", compat.description()).unwrap();
    }
    table
}

#[test]
fn the_crate_page_has_every_row() {
    let table = table();
    assert!(table.lines().count() > 100);
    assert!(
        PAGE.ends_with(&table),
        "src/compat/table.md should end with\n{table}"
    );
}
