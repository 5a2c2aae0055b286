//! Any text as an address and as the name of a client: what is read is shown as a text that is read the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sockio::{Compat, ServerAddr};

/// Rings have up to some hundred points for a unit of weight, 16 million in all: too many for each of many runs.
const MAX_WEIGHT: u32 = 50;

fuzz_target!(|text: &str| {
    if let Ok(compat) = text.parse::<Compat>() {
        assert_eq!(compat.name(), text);
    }
    let Ok(server) = text.parse::<ServerAddr>() else {
        return;
    };
    assert!(text.starts_with(server.name()));
    let again: ServerAddr = server.to_string().parse().expect("what is shown is read");
    assert_eq!(again, server);
    if server.weight().is_some_and(|weight| weight > MAX_WEIGHT) {
        return;
    }
    for name in [
        "spymemcached/ketama",
        "enyim/default",
        "pecl-memcache/consistent/crc32",
    ] {
        let compat: Compat = name.parse().expect("a known name");
        if let Ok(router) = compat.router(vec![server.clone()]) {
            assert_eq!(router.first(b"key", None), 0);
        }
    }
});
