//! `set`, `add`, `replace`, `append`, `prepend`, `cas`, `delete`, `touch`.

use std::time::SystemTime;

use super::MemcachedClient;
use super::combine::Source;
use super::execute::{Repeat, unexpected};
use crate::codec::{Encoded, ToValue, Value};
use crate::error::{Error, Result};
use crate::expiry::Expiry;
use crate::key::{KeyRef, Room, ToKey};
use crate::pool::{Answer, MAX_JOINT_STORE, Order};
use crate::protocol::{Expect, Reply, Request, StoreVerb, text};
use crate::sock::SockIo;

/// What became of a [`cas`](MemcachedClient::cas).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cas {
    /// The value was stored.
    #[doc(alias = "RES_STORED")]
    Stored,
    /// Somebody has changed the item since it was read: it is as it was.
    #[doc(alias = "RES_DATA_EXISTS")]
    Exists,
    /// The item is gone.
    #[doc(alias = "RES_NOTFOUND")]
    NotFound,
}

/// Writing single keys.
impl MemcachedClient {
    /// Stores a value. True, but for a server that declines without an error, which memcached never does.
    ///
    /// # Errors
    /// [`ErrorKind::Encode`](crate::ErrorKind::Encode) if the transcoder has no form for the value (nothing was sent),
    /// [`ErrorKind::Server`](crate::ErrorKind::Server) if it is too large for the server
    /// ([`is_too_large`](crate::Error::is_too_large)): the old value is gone then;
    /// [`ErrorKind::Ambiguous`](crate::ErrorKind::Ambiguous) if the answer was lost.
    #[doc(alias = "setByKey")]
    #[doc(alias("memcache_set", "Store", "StoreMode", "ExecuteStore"))]
    pub fn set(
        &self,
        key: impl ToKey,
        value: impl ToValue,
        expiry: impl Into<Expiry>,
    ) -> Result<bool> {
        self.store_value(
            StoreVerb::Set,
            key.to_key(),
            value.to_value(),
            expiry.into(),
        )
    }

    /// Stores a value if the key is not there; false if it is.
    #[doc(alias = "memcache_add")]
    #[doc(alias = "RES_NOTSTORED")]
    pub fn add(
        &self,
        key: impl ToKey,
        value: impl ToValue,
        expiry: impl Into<Expiry>,
    ) -> Result<bool> {
        self.store_value(
            StoreVerb::Add,
            key.to_key(),
            value.to_value(),
            expiry.into(),
        )
    }

    /// Stores a value if the key is there; false if it is not.
    #[doc(alias = "memcache_replace")]
    pub fn replace(
        &self,
        key: impl ToKey,
        value: impl ToValue,
        expiry: impl Into<Expiry>,
    ) -> Result<bool> {
        self.store_value(
            StoreVerb::Replace,
            key.to_key(),
            value.to_value(),
            expiry.into(),
        )
    }

    /// Stores a value if the item is still the one that was read with `token`
    /// (by [`gets`](MemcachedClient::gets)).
    #[doc(alias = "memcache_cas")]
    #[doc(alias = "ExecuteCas")]
    pub fn cas(
        &self,
        key: impl ToKey,
        value: impl ToValue,
        expiry: impl Into<Expiry>,
        token: u64,
    ) -> Result<Cas> {
        let value = value.to_value();
        let encoded = self.transcoder.encode(value)?;
        let answer = self.store(StoreVerb::Cas(token), key.to_key(), &encoded, expiry.into());
        self.report(answer, Cas::NotFound)
    }

    /// Adds bytes behind the stored ones, past the transcoder; flags and expiry stay. False if the key is not there,
    /// or if the sum is too large for the server (it does not say which).
    #[doc(alias = "memcache_append")]
    #[doc(alias = "ExecuteAppend")]
    pub fn append(&self, key: impl ToKey, bytes: impl AsRef<[u8]>) -> Result<bool> {
        self.store_bytes(StoreVerb::Append, key, bytes.as_ref(), 0, Expiry::never())
    }

    /// Adds bytes before the stored ones; otherwise as [`append`](Self::append).
    #[doc(alias = "memcache_prepend")]
    #[doc(alias = "ExecutePrepend")]
    pub fn prepend(&self, key: impl ToKey, bytes: impl AsRef<[u8]>) -> Result<bool> {
        self.store_bytes(StoreVerb::Prepend, key, bytes.as_ref(), 0, Expiry::never())
    }

    /// Stores bytes and flags as they are, past the transcoder.
    pub fn set_raw(
        &self,
        key: impl ToKey,
        bytes: impl AsRef<[u8]>,
        flags: u32,
        expiry: impl Into<Expiry>,
    ) -> Result<bool> {
        self.store_bytes(StoreVerb::Set, key, bytes.as_ref(), flags, expiry.into())
    }

    /// Stores a value with `flags` beside those of the transcoder; which bits are the user's, the transcoder's docs say.
    ///
    /// # Errors
    /// [`ErrorKind::Encode`](crate::ErrorKind::Encode) if the transcoder uses one of these bits for this value; those of [`set`](Self::set).
    #[doc(alias = "OPT_USER_FLAGS")]
    pub fn set_with_flags(
        &self,
        key: impl ToKey,
        value: impl ToValue,
        flags: u32,
        expiry: impl Into<Expiry>,
    ) -> Result<bool> {
        let value = value.to_value();
        let mut encoded = self.transcoder.encode(value)?;
        if encoded.flags & flags != 0 {
            return Err(Error::encode(
                "the transcoder uses a bit of these flags itself",
            ));
        }
        encoded.flags |= flags;
        let answer = self
            .store(StoreVerb::Set, key.to_key(), &encoded, expiry.into())
            .map(|cas| cas == Cas::Stored);
        self.report(answer, false)
    }

    /// Removes a key; false if it was not there.
    #[doc(alias = "memcache_delete")]
    #[doc(alias = "Remove")]
    #[doc(alias = "ExecuteRemove")]
    pub fn delete(&self, key: impl ToKey) -> Result<bool> {
        let mut room = Room::default();
        let key = self.pool.check(&key, &mut room)?;
        let request = Request::Delete { key: key.bytes() };
        let answer = self.execute(&key, Repeat::Overwrites, |io| {
            io.send(1, None, |out| text::encode(&request, out))?;
            yes_or_no(io, Expect::Delete, Reply::Deleted, Reply::NotFound)
        });
        self.report(answer, false)
    }

    /// Gives an item a new end; false if it is not there.
    pub fn touch(&self, key: impl ToKey, expiry: impl Into<Expiry>) -> Result<bool> {
        let mut room = Room::default();
        let key = self.pool.check(&key, &mut room)?;
        let request = Request::Touch {
            key: key.bytes(),
            exptime: expiry.into().exptime(SystemTime::now),
        };
        let answer = self.execute(&key, Repeat::Overwrites, |io| {
            io.send(1, None, |out| text::encode(&request, out))?;
            yes_or_no(io, Expect::Touch, Reply::Touched, Reply::NotFound)
        });
        self.report(answer, false)
    }

    fn store_value(
        &self,
        verb: StoreVerb,
        key: KeyRef<'_>,
        value: Value<'_>,
        expiry: Expiry,
    ) -> Result<bool> {
        let encoded = self.transcoder.encode(value)?;
        let answer = self
            .store(verb, key, &encoded, expiry)
            .map(|cas| cas == Cas::Stored);
        self.report(answer, false)
    }

    fn store_bytes(
        &self,
        verb: StoreVerb,
        key: impl ToKey,
        bytes: &[u8],
        flags: u32,
        expiry: Expiry,
    ) -> Result<bool> {
        let encoded = Encoded {
            flags,
            data: bytes.into(),
        };
        let answer = self
            .store(verb, key.to_key(), &encoded, expiry)
            .map(|cas| cas == Cas::Stored);
        self.report(answer, false)
    }

    /// The one road of everything that stores. `NotFound` also stands for "not stored".
    #[inline]
    fn store(
        &self,
        verb: StoreVerb,
        key: KeyRef<'_>,
        encoded: &Encoded<'_>,
        expiry: Expiry,
    ) -> Result<Cas> {
        let mut room = Room::default();
        let key = self.pool.check_ref(key, &mut room)?;
        let exptime = expiry.exptime(SystemTime::now);
        let request = Request::Store {
            verb,
            key: key.bytes(),
            flags: encoded.flags,
            exptime,
            len: encoded.data.len(),
        };
        let repeat = match verb {
            StoreVerb::Set | StoreVerb::Replace => Repeat::Overwrites,
            _ => Repeat::Never,
        };
        let exchange = |io: &mut SockIo| {
            io.send(1, Some(&encoded.data), |out| text::encode(&request, out))?;
            stored(io, verb)
        };
        let shares = matches!(verb, StoreVerb::Set | StoreVerb::Add | StoreVerb::Replace)
            && encoded.data.len() <= MAX_JOINT_STORE;
        if !(shares && self.combines()) {
            return self.execute(&key, repeat, exchange);
        }
        let order = Order::Store {
            verb,
            key: key.bytes(),
            flags: encoded.flags,
            exptime,
            data: &encoded.data,
        };
        self.execute_shared(&key, order, repeat, |source| match source {
            Source::Connection(io, _) => exchange(io),
            Source::Batch(Answer::Stored) => Ok(Cas::Stored),
            Source::Batch(_) => Ok(Cas::NotFound),
        })
    }
}

/// Reads the answer to a store.
#[inline]
pub(super) fn stored(io: &mut SockIo, verb: StoreVerb) -> Result<Cas> {
    match io.take_line(b"STORED\r\n")? {
        true => Ok(Cas::Stored),
        false => not_stored(io, verb),
    }
}

fn not_stored(io: &mut SockIo, verb: StoreVerb) -> Result<Cas> {
    let answer = io.receive(Expect::Store(verb), |reply| match reply {
        Reply::Stored => Ok(Cas::Stored),
        Reply::Exists => Ok(Cas::Exists),
        Reply::NotStored | Reply::NotFound => Ok(Cas::NotFound),
        other => Err(unexpected(other)),
    })?;
    let answer = answer.map_err(|other| other.into_error(io))?;
    io.settle();
    Ok(answer)
}

/// Reads an answer of two words.
pub(super) fn yes_or_no(
    io: &mut SockIo,
    expect: Expect,
    yes: Reply<'_>,
    no: Reply<'_>,
) -> Result<bool> {
    let answer = io.receive(expect, |reply| match reply {
        reply if reply == yes => Ok(true),
        reply if reply == no => Ok(false),
        other => Err(unexpected(other)),
    })?;
    let answer = answer.map_err(|other| other.into_error(io))?;
    io.settle();
    Ok(answer)
}
