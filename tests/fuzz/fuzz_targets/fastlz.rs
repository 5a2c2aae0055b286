//! FastLZ through PHP's `Memcached`: any stream under any announced length, and any data packed and unpacked.
#![no_main]

use std::borrow::Cow;

use libfuzzer_sys::fuzz_target;
use sockio::Transcoder;
use sockio::codec::{PhpMemcached, Value};

/// A string that FastLZ has compressed (php-memcached `php_memcached.c`).
const COMPRESSED_BY_FASTLZ: u32 = 0x10 | 0x40;

/// From this length on it is level 2 that packs.
const LEVEL_2_FROM: usize = 65_536;

const LIMIT: usize = 100_000;

fuzz_target!(|input: (u32, u8, &[u8])| {
    let (len, shape, data) = input;
    unpack(len % (2 * LIMIT as u32), data);
    // The length that is most often right.
    unpack(u32::from(shape) * 4, data);
    round_trip(data);
    if shape % 16 == 0 && !data.is_empty() {
        // Long enough for level 2, with repeats from near and far, and places where they break.
        let mut long: Vec<u8> = data
            .iter()
            .copied()
            .cycle()
            .take(LEVEL_2_FROM + data.len())
            .collect();
        for at in (0..long.len()).step_by(64 * (1 + usize::from(shape))) {
            long[at] ^= 0x55;
        }
        round_trip(&long);
    }
});

fn unpack(len: u32, stream: &[u8]) {
    let stored = [&len.to_le_bytes()[..], stream].concat();
    let coder = PhpMemcached::new().max_inflated(LIMIT);
    if let Ok(value) = coder.decode(COMPRESSED_BY_FASTLZ, Cow::Owned(stored)) {
        let Value::Bytes(bytes) = value else {
            panic!("{value:?} where a string was announced")
        };
        assert_eq!(bytes.len(), len as usize);
        assert!(bytes.len() <= LIMIT);
    }
}

fn round_trip(data: &[u8]) {
    let coder = PhpMemcached::new()
        .compression_threshold(0)
        .compression_factor(0.0);
    let packed = coder.encode(Value::from(data)).expect("bytes have a form");
    assert!(data.is_empty() || packed.flags & COMPRESSED_BY_FASTLZ == COMPRESSED_BY_FASTLZ);
    let read = coder
        .decode(packed.flags, packed.data)
        .expect("what was packed");
    assert!(read == Value::from(data), "{} bytes", data.len());
}
