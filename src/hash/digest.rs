//! Cryptographic digests cut into 32-bit words. It knows no server.

use md5::{Digest, Md5};

/// The four little-endian words of MD5, which ketama rings take as four points.
pub(crate) fn md5_words(text: &[u8]) -> [u32; 4] {
    let digest = Md5::digest(text);
    let mut words = [0; 4];
    for (word, bytes) in words.iter_mut().zip(digest.chunks_exact(4)) {
        *word = little_endian(bytes);
    }
    words
}

pub(super) fn md5_point(key: &[u8]) -> u32 {
    md5_words(key)[0]
}

fn little_endian(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .rev()
        .fold(0, |word, byte| word << 8 | u32::from(*byte))
}
