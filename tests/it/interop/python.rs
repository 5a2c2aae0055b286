//! Python's pylibmc, python-memcached and pymemcache.

use super::run::run;
use super::script::Language;

/// Debian's own interpreter: it is the one that sees Debian's modules.
const PYTHON: Language = Language {
    command: &["/usr/bin/python3"],
    script: "live.py",
    packages: "python3 python3-pylibmc python3-memcache python3-pymemcache",
};

#[test]
fn pylibmc_modula() {
    run(PYTHON, "libmemcached/modula/default+pylibmc");
}

#[test]
fn pylibmc_ketama() {
    run(PYTHON, "libmemcached/ketama-weighted+pylibmc");
}

#[test]
fn python_memcached() {
    run(PYTHON, "python-memcached/default");
}

#[test]
fn pymemcache() {
    run(PYTHON, "pymemcache/default");
}
