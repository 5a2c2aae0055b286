//! Perl's Cache::Memcached and Cache::Memcached::Fast.

use super::run::run;
use super::script::Language;

const PERL: Language = Language {
    command: &["perl"],
    script: "live.pl",
    packages: "perl libcache-memcached-perl libcache-memcached-fast-perl",
};

#[test]
fn cache_memcached() {
    run(PERL, "perl-cache-memcached/default");
}

#[test]
fn cache_memcached_fast() {
    run(PERL, "perl-cache-memcached-fast/standard");
}

#[test]
fn cache_memcached_fast_ketama() {
    run(PERL, "perl-cache-memcached-fast/ketama-150");
}
