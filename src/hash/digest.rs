//! Cryptographic digests cut into 32-bit words. It knows no server.

use md5::{Digest, Md5};

/// The four little-endian words of MD5, which ketama rings take as four points.
pub(crate) fn md5_words(text: &[u8]) -> [u32; 4] {
    little_endian(&Md5::digest(text))
}

/// The five little-endian words of SHA-1.
#[cfg(feature = "sha1")]
pub(crate) fn sha1_words(text: &[u8]) -> [u32; 5] {
    little_endian(&sha1::Sha1::digest(text))
}

/// The six little-endian words of Tiger.
#[cfg(feature = "tiger")]
pub(crate) fn tiger_words(text: &[u8]) -> [u32; 6] {
    little_endian(&tiger::Tiger::digest(text))
}

fn little_endian<const N: usize>(digest: &[u8]) -> [u32; N] {
    let mut words = [0; N];
    for (word, bytes) in words.iter_mut().zip(digest.chunks_exact(4)) {
        *word = bytes
            .iter()
            .rev()
            .fold(0, |word, byte| word << 8 | u32::from(*byte));
    }
    words
}
