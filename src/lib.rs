//! A synchronous memcached client.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod codec;
mod compat;
mod error;
mod expiry;
pub mod hash;
mod key;
#[allow(dead_code)]
mod protocol;
pub mod router;
mod server;

pub use codec::{FromValue, ToValue, Transcoder, Value};
pub use compat::{Compat, Proof, session};
pub use error::{Error, ErrorKind, Result};
pub use expiry::Expiry;
pub use key::{Key, KeyRef, KeyTransform, MAX_KEY_LEN, ToKey};
pub use server::{DEFAULT_PORT, ServerAddr, ToServerAddr};
