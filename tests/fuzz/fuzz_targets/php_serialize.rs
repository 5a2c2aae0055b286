//! Bytes in the place of PHP's `serialize` data: an error at worst, through serde and through both of PHP's clients.
#![no_main]

use std::borrow::Cow;

use libfuzzer_sys::fuzz_target;
use serde::de::IgnoredAny;
use sockio::Transcoder;
use sockio::codec::{PhpMemcache, PhpMemcached, php};

/// "Serialized": the lowest four bits of the flags are 4 (php-memcached `php_memcached.c`), the lowest bit is 1 (pecl-memcache `memcache.h`).
const MEMCACHED_SERIALIZED: u32 = 4;
const MEMCACHE_SERIALIZED: u32 = 1;

fuzz_target!(|data: &[u8]| {
    let skipped = php::from_slice::<IgnoredAny>(data);
    if let Ok(value) = php::from_slice::<serde_json::Value>(data) {
        assert!(skipped.is_ok(), "read, but not skipped");
        let written = php::to_vec(&value).expect("what was read can be written");
        // Not always equal: JSON's maps are sorted, and what PHP kept as keys 1 and 0 comes back as a list.
        php::from_slice::<serde_json::Value>(&written).expect("and read again");
    }
    let _ = php::from_slice::<Vec<(String, f64)>>(data);
    let _ = php::from_slice::<Option<(i64, bool, &str)>>(data);
    let _ = PhpMemcached::new().decode(MEMCACHED_SERIALIZED, Cow::Borrowed(data));
    let _ = PhpMemcache::new().decode(MEMCACHE_SERIALIZED, Cow::Borrowed(data));
});
