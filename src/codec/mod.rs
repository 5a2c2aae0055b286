//! Values to bytes and back: one [`Transcoder`] per peer client. Pure: it knows no server and no key.

mod raw;
mod value;

pub use raw::Raw;
pub use value::{ForeignKind, FromValue, ToValue, Value};

use std::borrow::Cow;
use std::fmt;

use crate::error::Result;

/// A value as it is stored: the payload and the flags beside it.
#[derive(Clone, PartialEq, Eq)]
pub struct Encoded<'a> {
    /// What the server keeps next to the payload and hands back with it.
    pub flags: u32,
    /// The bytes, borrowed from the value where they are sent as they are.
    pub data: Cow<'a, [u8]>,
}

impl fmt::Debug for Encoded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Encoded(flags {}, {} bytes)",
            self.flags,
            self.data.len()
        )
    }
}

/// The form in which one family of clients stores values. Open to users.
pub trait Transcoder: fmt::Debug + Send + Sync {
    /// The payload and flags for `value`; an [`ErrorKind::Encode`](crate::ErrorKind::Encode) error if the peer has no form for it.
    fn encode<'a>(&self, value: Value<'a>) -> Result<Encoded<'a>>;

    /// The value that `data` with `flags` is; an [`ErrorKind::Decode`](crate::ErrorKind::Decode) error if it is none.
    fn decode<'a>(&self, flags: u32, data: Cow<'a, [u8]>) -> Result<Value<'a>>;
}
