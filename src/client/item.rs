//! What a server holds under a key, besides the value.

/// A value with what the server keeps beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[doc(alias = "MemcachedItem")]
#[doc(alias = "CasResult")]
pub struct Item<T> {
    /// The value.
    #[doc(alias = "getValue")]
    pub value: T,
    /// The flags as they are stored: the transcoder's bits and the user's.
    pub flags: u32,
    /// The token for [`cas`](crate::MemcachedClient::cas); 0 where it was not asked for.
    #[doc(alias = "casUnique")]
    #[doc(alias = "getCasUnique")]
    pub cas: u64,
}
