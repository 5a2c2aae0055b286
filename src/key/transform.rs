//! The forms in which clients send a caller's key. It knows neither prefix nor length limit.

use std::borrow::Cow;

use super::MAX_KEY_LEN;

/// How a client turns a caller's key into the one it sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[doc(alias = "IMemcachedKeyTransformer")]
pub enum KeyTransform {
    /// The bytes as they are.
    #[default]
    #[doc(alias = "DefaultKeyTransformer")]
    Raw,
    /// `java.net.URLEncoder.encode(key, "UTF-8")`: the Java client's `sanitizeKeys`
    /// (whalin `MemcachedClient.java`, `sanitizeKey`).
    #[doc(alias = "sanitizeKeys")]
    UrlEncode,
    /// Blanks and control bytes become `_`, and prefix and key are cut at 250 bytes: so `a b` and `a_b` are one item
    /// (pecl-memcache `memcache_pool.c`, `mmc_prepare_key_ex`).
    Pecl,
    /// Base64 of the key: Enyim's `Base64KeyTransformer`.
    #[doc(alias = "Base64KeyTransformer")]
    Base64,
    /// Base64 of the SHA-1 of the key in UTF-16, little-endian: Enyim's `SHA1KeyTransformer`.
    #[cfg(feature = "sha1")]
    #[doc(alias = "SHA1KeyTransformer")]
    Sha1,
    /// Base64 of the Tiger hash of the key in UTF-16, little-endian: Enyim's `TigerHashKeyTransformer`.
    #[cfg(feature = "tiger")]
    #[doc(alias = "TigerHashKeyTransformer")]
    Tiger,
}

impl KeyTransform {
    /// The form of a key that has no prefix; whether a server takes it is not checked.
    ///
    /// A key that is no UTF-8 cannot exist in Java or .NET: what is no UTF-8 in it counts as U+FFFD there.
    pub fn transform(self, key: &[u8]) -> Cow<'_, [u8]> {
        match self {
            KeyTransform::Raw => Cow::Borrowed(key),
            KeyTransform::UrlEncode => Cow::Owned(url_encode(key)),
            KeyTransform::Pecl => {
                let mut key = key[..key.len().min(MAX_KEY_LEN)].to_vec();
                underscore(&mut key);
                Cow::Owned(key)
            }
            KeyTransform::Base64 => Cow::Owned(base64(String::from_utf8_lossy(key).as_bytes())),
            #[cfg(feature = "sha1")]
            KeyTransform::Sha1 => {
                use sha1::{Digest, Sha1};
                Cow::Owned(base64(&Sha1::digest(utf16_bytes(key))))
            }
            #[cfg(feature = "tiger")]
            KeyTransform::Tiger => {
                use tiger::{Digest, Tiger};
                Cow::Owned(base64(&Tiger::digest(utf16_bytes(key))))
            }
        }
    }
}

/// What [`KeyTransform::Pecl`] makes of the bytes that the protocol cannot carry.
pub(super) fn underscore(key: &mut [u8]) {
    for byte in key.iter_mut().filter(|byte| **byte <= b' ') {
        *byte = b'_';
    }
}

/// Keeps `A-Z a-z 0-9 . - * _`, makes a blank `+` and everything else `%XX` (`java.net.URLEncoder`, JDK 17).
fn url_encode(key: &[u8]) -> Vec<u8> {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    // A Java string cannot hold bytes that are no UTF-8: they are what its decoder makes of them, U+FFFD.
    let text = String::from_utf8_lossy(key);
    let mut encoded = Vec::with_capacity(text.len() * 3);
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'.' | b'-' | b'*' | b'_' => {
                encoded.push(byte)
            }
            b' ' => encoded.push(b'+'),
            _ => encoded.extend([
                b'%',
                HEX[usize::from(byte >> 4)],
                HEX[usize::from(byte & 15)],
            ]),
        }
    }
    encoded
}

/// The alphabet with `+` and `/`, padded (RFC 4648, section 4).
fn base64(bytes: &[u8]) -> Vec<u8> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut encoded = Vec::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let mut group = [0; 3];
        group[..chunk.len()].copy_from_slice(chunk);
        let bits = group
            .iter()
            .fold(0, |bits, byte| bits << 8 | usize::from(*byte));
        for place in 0..4 {
            encoded.push(if place <= chunk.len() {
                ALPHABET[bits >> (18 - 6 * place) & 63]
            } else {
                b'='
            });
        }
    }
    encoded
}

#[cfg(any(feature = "sha1", feature = "tiger"))]
fn utf16_bytes(key: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(key);
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4648, section 10.
    #[test]
    fn base64_of_the_rfc() {
        for (plain, encoded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(plain.as_bytes()), encoded.as_bytes());
        }
    }

    #[test]
    fn pecl_keeps_high_bytes_and_cuts() {
        let pecl = |key: &[u8]| KeyTransform::Pecl.transform(key).into_owned();
        assert_eq!(pecl(b"a b\tc\0"), b"a_b_c_");
        assert_eq!(pecl("é\x7f".as_bytes()), "é\x7f".as_bytes());
        assert_eq!(pecl(&[b'k'; 300]), [b'k'; 250]);
    }
}
