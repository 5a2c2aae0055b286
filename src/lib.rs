//! A synchronous memcached client.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod client;
pub mod codec;
mod compat;
mod error;
mod expiry;
pub mod hash;
mod key;
mod pool;
#[allow(dead_code, unused_imports)]
mod protocol;
pub mod router;
mod server;
mod sock;
mod sync;
#[cfg(feature = "testing")]
#[cfg_attr(docsrs, doc(cfg(feature = "testing")))]
pub mod testing;

pub use client::{Cas, Failure, GetMulti, Item, MemcachedClient, Multi};
pub use codec::{FromValue, ToValue, Transcoder, Value};
pub use compat::{Compat, Proof, session};
pub use error::{Error, ErrorKind, Result};
pub use expiry::Expiry;
pub use key::{Key, KeyRef, KeyRules, KeyTransform, MAX_KEY_LEN, ToKey, WireKey};
pub use pool::{ServerStats, SockIoPool, SockIoPoolBuilder};
pub use server::{DEFAULT_PORT, ServerAddr, ToServerAddr};
