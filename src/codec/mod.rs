//! Values to bytes and back: one [`Transcoder`] per peer client. Pure: it knows no server and no key.
//!
//! # From Rust types to stored values
//!
//! [`ToValue`] gives each Rust type the [`Value`] that says the same; the transcoder then picks the peer's form for it.
//!
//! | Rust type | value |
//! |---|---|
//! | `&[u8]`, `Vec<u8>`, `[u8; N]` | `Bytes` |
//! | `&str`, `String` | `Text` |
//! | `i8` … `i64`, `u8` … `u64`, `f32`, `f64`, `bool` | the variant of the same width; `isize` and `usize` those of 64 bits |
//! | `char` | `Char`; above U+FFFF, where one UTF-16 unit is too small, `Text` |
//! | `SystemTime` | `Date`, rounded down to milliseconds |
//! | `Option<T>` | `T`'s, or `Null` |
//! | `&T`, `Box<T>`, `Rc<T>`, `Arc<T>`, `Cow<T>` | `T`'s |
//!
//! # From stored values to Rust types
//!
//! [`FromValue`] never loses anything: what does not fit is an [`ErrorKind::Decode`](crate::ErrorKind::Decode) error.
//! Forms without types of their own ([`Raw`], PHP's strings, counters) keep numbers as decimal text, so text stands for a number
//! wherever it is one, and a number for its text. The blanks that `decr` leaves behind a shorter number are not part of it.
//!
//! | Rust type | reads |
//! |---|---|
//! | bytes | `Bytes`, all three kinds of text, `Foreign` (the object as it is stored) |
//! | text | all three kinds of text, `Bytes` that are UTF-8, `Char`; the text that [`Raw`] writes for a number or truth value |
//! | integer | every integer that fits, decimal text |
//! | `f32`, `f64` | floats and integers that the type holds exactly, decimal text (rounded to the nearest) |
//! | `bool` | `Bool`; the integers 1 and 0; the text `1`, `0`, `true`, `false` in any case |
//! | `char` | `Char` that is no half of a surrogate pair, text of one character |
//! | `SystemTime` | `Date`; `Ticks` of a `DateTime` that says that it is UTC or local |
//! | `Option<T>` | `Null` as `None`, else what `T` reads |
//! | `Value<'static>` | anything |
//!
//! A type of the caller's joins in by its own [`ToValue`] and [`FromValue`].

#[allow(dead_code)]
mod compress;
mod dalli;
mod dates;
mod dotnet_text;
mod enyim;
mod fastlz;
mod float_text;
mod from_value;
mod java_text;
mod marshal;
mod memcacheddotnet;
mod nrbf;
mod payload;
mod perl_cache_memcached;
#[cfg(feature = "php")]
pub mod php;
mod php_memcache;
mod php_memcached;
mod php_number;
mod php_scan;
mod php_type;
mod pickle;
mod pylibmc;
mod pymemcache;
mod python;
mod python_memcached;
mod raw;
mod spymemcached;
mod to_value;
mod value;
mod whalin;

pub use compress::Compression;
pub use dalli::Dalli;
pub use enyim::Enyim;
pub use memcacheddotnet::MemcachedDotNet;
pub use perl_cache_memcached::PerlCacheMemcached;
pub use php_memcache::PhpMemcache;
pub use php_memcached::{PhpCompression, PhpMemcached, PhpSerializer};
pub use pylibmc::Pylibmc;
pub use pymemcache::Pymemcache;
pub use python_memcached::PythonMemcached;
pub use raw::Raw;
pub use spymemcached::Spymemcached;
pub use value::{ForeignKind, FromValue, ToValue, Value};
pub use whalin::Whalin;

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
///
/// ```
/// use sockio::codec::{Transcoder, Whalin};
/// use sockio::{FromValue, ToValue};
///
/// let java = Whalin::v2();
/// let stored = java.encode(42_i32.to_value())?;
/// assert_eq!((stored.flags, &*stored.data), (4, &[0, 0, 0, 42][..])); // a Java `Integer`
/// assert_eq!(i64::from_value(java.decode(stored.flags, stored.data)?)?, 42);
/// # Ok::<(), sockio::Error>(())
/// ```
#[doc(alias = "ITranscoder")]
pub trait Transcoder: fmt::Debug + Send + Sync {
    /// The payload and flags for `value`; an [`ErrorKind::Encode`](crate::ErrorKind::Encode) error if the peer has no form for it.
    fn encode<'a>(&self, value: Value<'a>) -> Result<Encoded<'a>>;

    /// The value that `data` with `flags` is; an [`ErrorKind::Decode`](crate::ErrorKind::Decode) error if it is none.
    fn decode<'a>(&self, flags: u32, data: Cow<'a, [u8]>) -> Result<Value<'a>>;

    /// The flags beside a counter, which every peer keeps as decimal text since the server does the sums. 0 with most.
    fn counter_flags(&self) -> u32 {
        0
    }
}
