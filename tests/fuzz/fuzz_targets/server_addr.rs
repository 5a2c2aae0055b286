//! Any text as an address and as the name of a client: what is read is shown as a text that is read the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sockio::{Compat, ServerAddr};

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
