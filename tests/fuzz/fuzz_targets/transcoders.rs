//! Any flags and bytes through every transcoder: what it reads it can write or refuse, and what it wrote it reads.
#![no_main]

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use sockio::Compat;
use sockio::codec::{
    Dalli, MemcachedDotNet, PhpMemcached, PhpSerializer, Pymemcache, Transcoder, Whalin,
};

/// The one of each client, and those with settings that change what is read.
static TRANSCODERS: LazyLock<Vec<Arc<dyn Transcoder>>> = LazyLock::new(|| {
    let mut seen = HashSet::new();
    let clients = Compat::all().into_iter().map(Compat::transcoder);
    let mut all: Vec<Arc<dyn Transcoder>> = clients
        .filter(|transcoder| seen.insert(format!("{transcoder:?}")))
        .collect();
    all.push(Arc::new(Whalin::v3()));
    all.push(Arc::new(Whalin::v2().primitive_as_string(true)));
    all.push(Arc::new(MemcachedDotNet::new().primitive_as_string(true)));
    all.push(Arc::new(
        PhpMemcached::new().serializer(PhpSerializer::Json),
    ));
    all.push(Arc::new(Pymemcache::plain()));
    all.push(Arc::new(Dalli::new().raw(true)));
    all
});

fuzz_target!(|input: (u32, &[u8])| {
    let (flags, data) = input;
    for transcoder in TRANSCODERS.iter() {
        // Clients use few bits of the flags: half of the inputs keep to the lower ones.
        for flags in [flags, flags & 0x1f] {
            let Ok(value) = transcoder.decode(flags, Cow::Borrowed(data)) else {
                continue;
            };
            let Ok(encoded) = transcoder.encode(value) else {
                continue;
            };
            let again = transcoder.decode(encoded.flags, encoded.data);
            assert!(again.is_ok(), "{transcoder:?}, {flags:#x}: {again:?}");
        }
    }
});
