//! Hash functions of keys. Pure: bytes in, number out.

use std::fmt;

/// A function from a key's bytes to the number that finds its server.
///
/// Open to users: hand your own to [`SockIoPoolBuilder::hashing`](crate::SockIoPoolBuilder::hashing).
pub trait HashingAlg: fmt::Debug + Send + Sync {
    /// The hash of `key`, the bytes that are sent but for a prefix that is not hashed.
    ///
    /// An unsigned 32-bit hash comes as `0..=u32::MAX`, a signed one with its sign.
    fn hash(&self, key: &[u8]) -> i64;
}
