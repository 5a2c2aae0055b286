//! The UTF-16 units of a key. It knows no hash.

/// U+FFFD, which a decoder puts in the place of a malformed sequence.
const REPLACEMENT: u16 = 0xfffd;

/// Folds over the units; bytes that are no UTF-8 are decoded as Java and .NET decode them.
pub(super) fn fold<T>(key: &[u8], first: T, mut step: impl FnMut(T, u16) -> T) -> T {
    if key.is_ascii() {
        let mut value = first;
        for byte in key {
            value = step(value, u16::from(*byte));
        }
        return value;
    }
    key.utf8_chunks().fold(first, |value, chunk| {
        let value = chunk.valid().encode_utf16().fold(value, &mut step);
        if chunk.invalid().is_empty() {
            value
        } else {
            step(value, REPLACEMENT)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(key: &[u8]) -> Vec<u16> {
        fold(key, Vec::new(), |mut units, unit| {
            units.push(unit);
            units
        })
    }

    #[test]
    fn the_units_are_those_of_the_decoded_text() {
        for key in [
            &b""[..],
            b"plain",
            "é한😀".as_bytes(),
            b"\xff",
            b"a\xe6\x97b\xf0\x9f\x98\x80\x80",
        ] {
            let text = String::from_utf8_lossy(key);
            assert_eq!(units(key), text.encode_utf16().collect::<Vec<_>>());
        }
    }
}
