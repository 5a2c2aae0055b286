//! `get`, `gets`, `gat`, `gats`, and whether a key is there.

use std::borrow::Cow;
use std::time::SystemTime;

use super::combine::Source;
use super::execute::{Repeat, unexpected};
use super::{Item, MemcachedClient};
use crate::codec::{FromValue, Transcoder};
use crate::error::Result;
use crate::expiry::Expiry;
use crate::key::{Room, ToKey, WireKey};
use crate::pool::{Alone, Answer, Found, Order};
use crate::protocol::{Expect, Reply, Request, ValueHead, text};
use crate::sock::SockIo;

/// Reading single keys. All are `None` for a key that is not there.
impl MemcachedClient {
    /// The value of a key.
    ///
    /// # Errors
    /// [`ErrorKind::Decode`](crate::ErrorKind::Decode) if the value cannot be read as a `T`; otherwise those of every
    /// operation, see [`ErrorKind`](crate::ErrorKind).
    #[doc(alias("memcache_get", "TryGet", "ExecuteGet", "ExecuteTryGet"))]
    pub fn get<T: FromValue>(&self, key: impl ToKey) -> Result<Option<T>> {
        let mut room = Room::default();
        let key = self.pool.check(&key, &mut room)?;
        let request = Request::Get {
            key: key.bytes(),
            cas: false,
        };
        let answer = self.retrieve(&key, request, |transcoder, head, body| {
            value(transcoder, head, body)
        });
        self.report(answer, None)
    }

    /// The value of a key with its flags and its cas token.
    #[doc(alias = "GET_EXTENDED")]
    #[doc(alias = "GetWithCas")]
    #[doc(alias = "TryGetWithCas")]
    pub fn gets<T: FromValue>(&self, key: impl ToKey) -> Result<Option<Item<T>>> {
        let mut room = Room::default();
        let key = self.pool.check(&key, &mut room)?;
        let answer = self.retrieve(
            &key,
            Request::Get {
                key: key.bytes(),
                cas: true,
            },
            item,
        );
        self.report(answer, None)
    }

    /// The value of a key, which from now on ends at `expiry`.
    #[doc(alias = "gat")]
    #[doc(alias = "getAndTouch")]
    pub fn get_and_touch<T: FromValue>(
        &self,
        key: impl ToKey,
        expiry: impl Into<Expiry>,
    ) -> Result<Option<T>> {
        let mut room = Room::default();
        let key = self.pool.check(&key, &mut room)?;
        let exptime = expiry.into().exptime(SystemTime::now);
        let request = Request::GetAndTouch {
            key: key.bytes(),
            exptime,
            cas: false,
        };
        let answer = self.retrieve(&key, request, |transcoder, head, body| {
            value(transcoder, head, body)
        });
        self.report(answer, None)
    }

    /// Like [`get_and_touch`](Self::get_and_touch), with flags and cas token.
    #[doc(alias = "gats")]
    pub fn gets_and_touch<T: FromValue>(
        &self,
        key: impl ToKey,
        expiry: impl Into<Expiry>,
    ) -> Result<Option<Item<T>>> {
        let mut room = Room::default();
        let key = self.pool.check(&key, &mut room)?;
        let exptime = expiry.into().exptime(SystemTime::now);
        let answer = self.retrieve(
            &key,
            Request::GetAndTouch {
                key: key.bytes(),
                exptime,
                cas: true,
            },
            item,
        );
        self.report(answer, None)
    }

    /// The stored bytes of a key and their flags, past the transcoder.
    pub fn get_raw(&self, key: impl ToKey) -> Result<Option<Item<Vec<u8>>>> {
        let mut room = Room::default();
        let key = self.pool.check(&key, &mut room)?;
        let answer = self.retrieve(
            &key,
            Request::Get {
                key: key.bytes(),
                cas: true,
            },
            |_, head, body| {
                Ok(Item {
                    value: body.into_owned(),
                    flags: head.flags,
                    cas: head.cas.unwrap_or(0),
                })
            },
        );
        self.report(answer, None)
    }

    /// The stored bytes of a key into `value`, past the transcoder; returns the flags. No allocation where `value` has the
    /// room. On a miss or an error `value` is empty.
    pub fn get_into(&self, key: impl ToKey, value: &mut Vec<u8>) -> Result<Option<u32>> {
        value.clear();
        let mut room = Room::default();
        let key = self.pool.check(&key, &mut room)?;
        let answer = if self.combines() {
            let order = get_order(&key, false);
            self.execute_shared(&key, order, Repeat::Reads, |source| match source {
                Source::Connection(io, alone) => exchange_get_into(io, key.bytes(), value)
                    .inspect(|head| note_value(alone, head.as_ref())),
                Source::Batch(Answer::Hit(found)) => {
                    value.clear();
                    value.extend_from_slice(&found.body);
                    Ok(Some(found.head))
                }
                Source::Batch(_) => Ok(None),
            })
        } else {
            self.execute(&key, Repeat::Reads, |io| {
                exchange_get_into(io, key.bytes(), value)
            })
        };
        let answer = answer.map(|head| head.map(|head| head.flags));
        if answer.is_err() {
            value.clear();
        }
        self.report(answer, None)
    }

    /// Hands the stored bytes of a key and their flags to `see`, past the transcoder, without a copy where they are
    /// short (up to about 16 KiB) and were not asked for by another caller
    /// ([`combine`](crate::SockIoPoolBuilder::combine)).
    ///
    /// `see` runs while the connection is lent: it should be quick. A call from within it needs another connection: where
    /// [`max_open`](crate::SockIoPoolBuilder::max_open) is 1, or all callers do so at once, it ends as a time-out. The reply has
    /// been read by then: if `see` panics, the connection is as good as before.
    pub fn get_with<R>(
        &self,
        key: impl ToKey,
        mut see: impl FnMut(&[u8], u32) -> R,
    ) -> Result<Option<R>> {
        let mut room = Room::default();
        let key = self.pool.check(&key, &mut room)?;
        let answer = self.retrieve(
            &key,
            Request::Get {
                key: key.bytes(),
                cas: false,
            },
            |_, head, body| Ok(see(&body, head.flags)),
        );
        self.report(answer, None)
    }

    /// Whether a key is there; its value is not fetched.
    ///
    /// Servers before 1.6 do not know the command for it (`mg`): there the value is fetched and dropped.
    #[doc(alias = "keyExists")]
    #[doc(alias = "KeyExists")]
    pub fn exists(&self, key: impl ToKey) -> Result<bool> {
        let mut room = Room::default();
        let key = self.pool.check(&key, &mut room)?;
        let answer = self.execute(&key, Repeat::Reads, |io| {
            io.send(1, None, |out| {
                text::encode(&Request::Exists { key: key.bytes() }, out)
            })?;
            let present = io.receive(Expect::Exists, |reply| match reply {
                Reply::Present => Ok(Some(true)),
                Reply::NotFound => Ok(Some(false)),
                Reply::Refused(refusal) if refusal.line == "ERROR" => Ok(None),
                other => Err(unexpected(other)),
            })?;
            let present = present.map_err(|other| other.into_error(io))?;
            io.settle();
            if let Some(present) = present {
                return Ok(present);
            }
            io.send(1, None, |out| {
                text::encode(
                    &Request::Get {
                        key: key.bytes(),
                        cas: false,
                    },
                    out,
                )
            })?;
            let Some(head) = head(io, key.bytes(), false)? else {
                return Ok(false);
            };
            io.only_body(head.len, |_| true)
        });
        self.report(answer, false)
    }

    pub(super) fn retrieve<R>(
        &self,
        key: &WireKey<'_>,
        request: Request<'_>,
        mut read: impl FnMut(&dyn Transcoder, ValueHead, Cow<'_, [u8]>) -> Result<R>,
    ) -> Result<Option<R>> {
        let cas = matches!(
            request,
            Request::Get { cas: true, .. } | Request::GetAndTouch { cas: true, .. }
        );
        if self.combines() && matches!(request, Request::Get { .. }) {
            let order = get_order(key, cas);
            return self.execute_shared(key, order, Repeat::Reads, |source| match source {
                Source::Connection(io, alone) => {
                    self.exchange_get(io, key.bytes(), &request, cas, |transcoder, head, body| {
                        note_value(alone, Some(&head));
                        read(transcoder, head, body)
                    })
                }
                Source::Batch(Answer::Hit(Found { head, body })) => {
                    read(&*self.transcoder, head, Cow::Owned(body)).map(Some)
                }
                Source::Batch(_) => Ok(None),
            });
        }
        // `gat` moves the end of the item: sent twice it does no harm.
        self.execute(key, Repeat::Reads, |io| {
            self.exchange_get(io, key.bytes(), &request, cas, &mut read)
        })
    }

    #[inline]
    fn exchange_get<R>(
        &self,
        io: &mut SockIo,
        key: &[u8],
        request: &Request<'_>,
        cas: bool,
        mut read: impl FnMut(&dyn Transcoder, ValueHead, Cow<'_, [u8]>) -> Result<R>,
    ) -> Result<Option<R>> {
        io.send(1, None, |out| text::encode(request, out))?;
        let whole = io.whole_hit(key, cas, |head, body| {
            read(&*self.transcoder, head, Cow::Borrowed(body))
        })?;
        if let Some(value) = whole {
            return value.map(Some);
        }
        let Some(head) = head(io, key, cas)? else {
            return Ok(None);
        };
        io.only_body(head.len, |body| read(&*self.transcoder, head, body))?
            .map(Some)
    }
}

fn exchange_get_into(
    io: &mut SockIo,
    key: &[u8],
    value: &mut Vec<u8>,
) -> Result<Option<ValueHead>> {
    io.send(1, None, |out| {
        text::encode(&Request::Get { key, cas: false }, out)
    })?;
    let whole = io.whole_hit(key, false, |head, body| {
        value.clear();
        value.extend_from_slice(body);
        head
    })?;
    if whole.is_some() {
        return Ok(whole);
    }
    let Some(head) = head(io, key, false)? else {
        return Ok(None);
    };
    io.body_into(head.len, value)?;
    io.end_of_values(0)?;
    Ok(Some(head))
}

fn get_order<'o>(key: &'o WireKey<'_>, cas: bool) -> Order<'o> {
    Order::Get {
        key: key.bytes(),
        cas,
    }
}

fn note_value(alone: Option<&Alone<'_>>, head: Option<&ValueHead>) {
    if let (Some(alone), Some(head)) = (alone, head) {
        alone.note_value(head.len);
    }
}

fn value<T: FromValue>(
    transcoder: &dyn Transcoder,
    head: ValueHead,
    body: Cow<'_, [u8]>,
) -> Result<T> {
    T::from_value(transcoder.decode(head.flags, body)?)
}

fn item<T: FromValue>(
    transcoder: &dyn Transcoder,
    head: ValueHead,
    body: Cow<'_, [u8]>,
) -> Result<Item<T>> {
    let value = value(transcoder, head, body)?;
    Ok(Item {
        value,
        flags: head.flags,
        cas: head.cas.unwrap_or(0),
    })
}

/// Reads the head of the value of `key`; `None`, the reply consumed, on a miss.
pub(super) fn head(io: &mut SockIo, key: &[u8], cas: bool) -> Result<Option<ValueHead>> {
    if io.take_line(b"END\r\n")? {
        return Ok(None);
    }
    let head = io.receive(Expect::Values { cas }, |reply| match reply {
        Reply::Value {
            key: found,
            flags,
            len,
            cas,
        } if found == key => Ok(Some(ValueHead { flags, len, cas })),
        Reply::End => Ok(None),
        other => Err(unexpected(other)),
    })?;
    let head = head.map_err(|other| other.into_error(io))?;
    if head.is_none() {
        io.settle();
    }
    Ok(head)
}
