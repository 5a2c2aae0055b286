//! A synchronous memcached client.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod codec;
mod error;
mod expiry;
pub mod hash;
mod key;
#[allow(dead_code, unused_imports)]
mod protocol;
pub mod router;
mod server;
#[cfg(feature = "testing")]
#[cfg_attr(docsrs, doc(cfg(feature = "testing")))]
pub mod testing;

pub use codec::{FromValue, ToValue, Transcoder, Value};
pub use error::{Error, ErrorKind, Result};
pub use expiry::Expiry;
pub use key::{Key, KeyRef, KeyTransform, MAX_KEY_LEN, ToKey};
pub use server::{DEFAULT_PORT, ServerAddr, ToServerAddr};
