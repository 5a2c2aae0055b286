//! PHP's Memcached and Memcache.

use super::fleet::Fleet;
use super::run::{run, run_placement};
use super::script::Language;

pub(super) const PHP: Language = Language {
    command: &["php"],
    script: "live.php",
    packages: "php-cli php-memcached php-memcache",
};

#[test]
fn memcached_modula() {
    run(PHP, "libmemcached/modula/default+php");
}

#[test]
fn memcached_consistent() {
    run(PHP, "libmemcached/consistent/default+php");
}

#[test]
fn memcached_ketama() {
    run(PHP, "libmemcached/ketama-weighted+php");
}

#[test]
fn memcached_consistent_with_every_hash() {
    let mut fleet = Fleet::start(&[1, 1, 1]);
    for hash in [
        "md5", "crc", "fnv1-64", "fnv1a-64", "fnv1-32", "fnv1a-32", "murmur", "jenkins", "murmur3",
    ] {
        let name = format!("libmemcached/consistent/{hash}+php");
        run_placement(PHP, &name, &mut fleet);
    }
}

#[test]
fn memcache_standard() {
    run(PHP, "pecl-memcache/standard/crc32");
}

#[test]
fn memcache_consistent() {
    run(PHP, "pecl-memcache/consistent/crc32");
}
