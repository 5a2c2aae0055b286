//! Published hash functions over bytes: one-at-a-time, lookup3, MurmurHash2 and MurmurHash3. It knows no server.

/// The seed of both murmurs, times the key's length (libmemcached `libhashkit/murmur.cc`, `murmur3.cc`).
const MURMUR_SEED: u32 = 0xdead_beef;

/// The first value of lookup3 (libmemcached `libhashkit/jenkins.cc`, `JENKINS_INITVAL`).
const LOOKUP3_INITVAL: u32 = 13;

/// Bob Jenkins' one-at-a-time hash, libmemcached's default (`libhashkit/one_at_a_time.cc`): bytes from 0x80 enter with their sign.
pub(super) fn one_at_a_time(key: &[u8]) -> u32 {
    let hash = key.iter().fold(0_u32, |hash, byte| {
        let hash = hash.wrapping_add(*byte as i8 as u32);
        let hash = hash.wrapping_add(hash << 10);
        hash ^ hash >> 6
    });
    let hash = hash.wrapping_add(hash << 3);
    let hash = hash ^ hash >> 11;
    hash.wrapping_add(hash << 15)
}

/// MurmurHash2, 32 bits, with libmemcached's seed.
pub(super) fn murmur2(key: &[u8]) -> u32 {
    const MIX: u32 = 0x5bd1_e995;
    let len = key.len() as u32;
    let mut hash = MURMUR_SEED.wrapping_mul(len) ^ len;
    let words = key.chunks_exact(4);
    let rest = words.remainder();
    for word in words {
        let word = little_endian(word).wrapping_mul(MIX);
        hash = hash.wrapping_mul(MIX) ^ (word ^ word >> 24).wrapping_mul(MIX);
    }
    if !rest.is_empty() {
        hash = (hash ^ little_endian(rest)).wrapping_mul(MIX);
    }
    hash = (hash ^ hash >> 13).wrapping_mul(MIX);
    hash ^ hash >> 15
}

/// MurmurHash3_x86_32 with libmemcached's seed.
pub(super) fn murmur3_seeded(key: &[u8]) -> u32 {
    murmur3(MURMUR_SEED.wrapping_mul(key.len() as u32), &[key])
}

/// MurmurHash3_x86_32 of the parts, one behind the other.
pub(crate) fn murmur3(seed: u32, parts: &[&[u8]]) -> u32 {
    let scramble = |word: u32| {
        word.wrapping_mul(0xcc9e_2d51)
            .rotate_left(15)
            .wrapping_mul(0x1b87_3593)
    };
    let (mut hash, mut word, mut len) = (seed, 0_u32, 0_u32);
    for byte in parts.iter().copied().flatten() {
        word |= u32::from(*byte) << (8 * (len % 4));
        len = len.wrapping_add(1);
        if len % 4 == 0 {
            hash = (hash ^ scramble(word))
                .rotate_left(13)
                .wrapping_mul(5)
                .wrapping_add(0xe654_6b64);
            word = 0;
        }
    }
    // Nothing left scrambles to 0.
    hash ^= scramble(word) ^ len;
    hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    hash ^ hash >> 16
}

/// Bob Jenkins' lookup3 `hashlittle` with libmemcached's first value.
pub(super) fn lookup3(key: &[u8]) -> u32 {
    let start = 0xdead_beef_u32
        .wrapping_add(key.len() as u32)
        .wrapping_add(LOOKUP3_INITVAL);
    let (mut a, mut b, mut c) = (start, start, start);
    let Some(last_len) = key.len().checked_sub(1).map(|len| len % 12 + 1) else {
        return c;
    };
    let (blocks, last) = key.split_at(key.len() - last_len);
    for block in blocks.chunks_exact(12) {
        let mut words = block.chunks_exact(4).map(little_endian);
        a = a.wrapping_add(words.next().unwrap_or(0));
        b = b.wrapping_add(words.next().unwrap_or(0));
        c = c.wrapping_add(words.next().unwrap_or(0));
        a = a.wrapping_sub(c) ^ c.rotate_left(4);
        c = c.wrapping_add(b);
        b = b.wrapping_sub(a) ^ a.rotate_left(6);
        a = a.wrapping_add(c);
        c = c.wrapping_sub(b) ^ b.rotate_left(8);
        b = b.wrapping_add(a);
        a = a.wrapping_sub(c) ^ c.rotate_left(16);
        c = c.wrapping_add(b);
        b = b.wrapping_sub(a) ^ a.rotate_left(19);
        a = a.wrapping_add(c);
        c = c.wrapping_sub(b) ^ b.rotate_left(4);
        b = b.wrapping_add(a);
    }
    let mut words = last.chunks(4).map(little_endian);
    a = a.wrapping_add(words.next().unwrap_or(0));
    b = b.wrapping_add(words.next().unwrap_or(0));
    c = c.wrapping_add(words.next().unwrap_or(0));
    c = (c ^ b).wrapping_sub(b.rotate_left(14));
    a = (a ^ c).wrapping_sub(c.rotate_left(11));
    b = (b ^ a).wrapping_sub(a.rotate_left(25));
    c = (c ^ b).wrapping_sub(b.rotate_left(16));
    a = (a ^ c).wrapping_sub(c.rotate_left(4));
    b = (b ^ a).wrapping_sub(a.rotate_left(14));
    (c ^ b).wrapping_sub(b.rotate_left(24))
}

/// Up to four bytes, the first one lowest.
fn little_endian(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .rev()
        .fold(0, |word, byte| word << 8 | u32::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vectors of the SMHasher distribution and of Wikipedia's article on MurmurHash.
    #[test]
    fn published_murmur3_vectors() {
        assert_eq!(murmur3(0, &[b""]), 0);
        assert_eq!(murmur3(1, &[b""]), 0x514e_28b7);
        assert_eq!(murmur3(0, &[b"test"]), 0xba6b_d213);
        assert_eq!(murmur3(0, &[b"Hello, ", b"world!"]), 0xc036_3e43);
    }
}
