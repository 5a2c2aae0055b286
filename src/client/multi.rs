//! Many keys in one call: grouped by server, sent to all servers before any answer is read, in bounded windows.

use std::borrow::Cow;
use std::time::SystemTime;

use super::batch::{Batch, Placed};
use super::execute::{Repeat, Unexpected, unexpected};
use super::outcome::{Answers, GetMulti, Multi};
use super::store::{stored, yes_or_no};
use super::{Cas, Item, MemcachedClient};
use crate::codec::{Encoded, FromValue, ToValue, Transcoder};
use crate::error::{Error, ErrorKind, Result};
use crate::expiry::Expiry;
use crate::key::ToKey;
use crate::protocol::{Expect, Refusal, Reply, Request, StoreVerb, ValueHead, text};
use crate::sock::SockIo;

/// Many keys. A key that no server may get fails the call before anything is sent; everything else is told per key.
impl MemcachedClient {
    /// The values of many keys: one round trip per server, all servers at the same time.
    ///
    /// A server that fails makes its keys unknown, neither hits nor misses, and stands in
    /// [`failures`](Multi::failures); it costs one deadline at most, however many keys it has.
    #[doc(alias = "getMulti")]
    #[doc(alias = "getMultiArray")]
    #[doc(alias = "GetMultiple")]
    #[doc(alias = "GetMultipleArray")]
    #[doc(alias = "GET_PRESERVE_ORDER")]
    pub fn get_multi<T, I>(&self, keys: I) -> Result<GetMulti<I::Item, T>>
    where
        T: FromValue,
        I: IntoIterator,
        I::Item: ToKey,
    {
        self.retrieve_many(keys, false, |transcoder, head, body| {
            T::from_value(transcoder.decode(head.flags, body)?)
        })
    }

    /// The values of many keys with flags and cas tokens.
    #[doc(alias = "getMulti")]
    pub fn gets_multi<T, I>(&self, keys: I) -> Result<GetMulti<I::Item, Item<T>>>
    where
        T: FromValue,
        I: IntoIterator,
        I::Item: ToKey,
    {
        self.retrieve_many(keys, true, |transcoder, head, body| {
            let value = T::from_value(transcoder.decode(head.flags, body)?)?;
            Ok(Item {
                value,
                flags: head.flags,
                cas: head.cas.unwrap_or(0),
            })
        })
    }

    /// Stores many values, as [`set`](Self::set) does.
    ///
    /// # Errors
    /// A value that the transcoder has no form for fails the call before anything is sent.
    #[doc(alias = "setMulti")]
    pub fn set_multi<K, V, I>(
        &self,
        entries: I,
        expiry: impl Into<Expiry>,
    ) -> Result<Multi<K, bool>>
    where
        K: ToKey,
        V: ToValue,
        I: IntoIterator<Item = (K, V)>,
    {
        let (keys, values): (Vec<K>, Vec<V>) = entries.into_iter().unzip();
        let placed = Placed::new(&self.pool, &keys)?;
        let encoded = values
            .iter()
            .map(|value| self.transcoder.encode(value.to_value()));
        let encoded = encoded.collect::<Result<Vec<_>>>()?;
        let exptime = expiry.into().exptime(SystemTime::now);
        let answers = self.run(
            &placed,
            &mut Stores {
                placed: &placed,
                encoded: &encoded,
                exptime,
            },
        );
        Ok(Multi::new(keys, answers))
    }

    /// Removes many keys; the answer of each is whether it was there.
    #[doc(alias = "deleteMulti")]
    pub fn delete_multi<I>(&self, keys: I) -> Result<Multi<I::Item, bool>>
    where
        I: IntoIterator,
        I::Item: ToKey,
    {
        let keys: Vec<I::Item> = keys.into_iter().collect();
        let placed = Placed::new(&self.pool, &keys)?;
        let answers = self.run(&placed, &mut Deletes { placed: &placed });
        Ok(Multi::new(keys, answers))
    }

    fn retrieve_many<T, I>(
        &self,
        keys: I,
        cas: bool,
        read: impl FnMut(&dyn Transcoder, ValueHead, Cow<'_, [u8]>) -> Result<T>,
    ) -> Result<GetMulti<I::Item, T>>
    where
        I: IntoIterator,
        I::Item: ToKey,
    {
        let keys: Vec<I::Item> = keys.into_iter().collect();
        let placed = Placed::new(&self.pool, &keys)?;
        let transcoder = &*self.transcoder;
        let answers = self.run(
            &placed,
            &mut Gets {
                placed: &placed,
                transcoder,
                cas,
                read,
            },
        );
        Ok(Multi::new(keys, answers))
    }
}

/// `get` or `gets` of many keys.
struct Gets<'p, F> {
    placed: &'p Placed<'p>,
    transcoder: &'p dyn Transcoder,
    cas: bool,
    read: F,
}

impl<T, F> Batch for Gets<'_, F>
where
    F: FnMut(&dyn Transcoder, ValueHead, Cow<'_, [u8]>) -> Result<T>,
{
    /// `None` is a miss.
    type Answer = Option<T>;
    const REPEAT: Repeat = Repeat::Reads;

    /// One command, one reply.
    fn send(&self, io: &mut SockIo, keys: &[u32]) -> Result<()> {
        let bytes = keys.iter().map(|key| self.placed.key(*key));
        io.send(1, None, |out| text::encode_get_multi(bytes, self.cas, out))
    }

    fn receive(
        &mut self,
        io: &mut SockIo,
        keys: &[u32],
        answers: &mut Answers<Option<T>>,
    ) -> Result<()> {
        let Self {
            placed,
            transcoder,
            cas,
            read,
        } = self;
        // The server answers in the order of the keys: the next value is nearly always that of the next key.
        let mut next = 0;
        loop {
            io.wait()?;
            while let Some(key) = keys.get(next) {
                let answer = io.whole_value(placed.key(*key), *cas, |head, body| {
                    read(*transcoder, head, Cow::Borrowed(body))
                });
                let Some(answer) = answer else { break };
                answers.enter(*key, answer.map(Some));
                next += 1;
            }
            let head = io.receive(Expect::Values { cas: *cas }, |reply| match reply {
                Reply::Value {
                    key,
                    flags,
                    len,
                    cas,
                } => match place_of(placed, answers, keys, next, key) {
                    Some(place) => Ok(Some((place, ValueHead { flags, len, cas }))),
                    None => Err(Unexpected::Foreign),
                },
                Reply::End => Ok(None),
                other => Err(unexpected(other)),
            })?;
            let head = head.map_err(|other| {
                if next > 0 {
                    other.into_break(io)
                } else {
                    other.into_error(io)
                }
            })?;
            let Some((place, head)) = head else { break };
            answers.enter(
                keys[place],
                io.body(head.len, |body| read(*transcoder, head, body))?
                    .map(Some),
            );
            next = place + 1;
        }
        io.settle();
        for key in keys {
            if answers.is_open(*key) {
                answers.enter(*key, Ok(None));
            }
        }
        Ok(())
    }
}

/// Where in `keys` the key of a value stands: at `next` or behind it; before it only if the server keeps no order.
fn place_of<A>(
    placed: &Placed<'_>,
    answers: &Answers<A>,
    keys: &[u32],
    next: usize,
    found: &[u8],
) -> Option<usize> {
    let is_it = |place: &usize| placed.key(keys[*place]) == found;
    let earlier = || (0..next).find(|place| answers.is_open(keys[*place]) && is_it(place));
    (next..keys.len()).find(is_it).or_else(earlier)
}

/// `set` of many values.
struct Stores<'p> {
    placed: &'p Placed<'p>,
    encoded: &'p [Encoded<'p>],
    exptime: i32,
}

impl Stores<'_> {
    fn request(&self, key: u32) -> Request<'_> {
        let encoded = &self.encoded[key as usize];
        let (flags, len) = (encoded.flags, encoded.data.len());
        Request::Store {
            verb: StoreVerb::Set,
            key: self.placed.key(key),
            flags,
            exptime: self.exptime,
            len,
        }
    }
}

impl Batch for Stores<'_> {
    type Answer = bool;
    const REPEAT: Repeat = Repeat::Overwrites;

    fn weight(&self, key: u32) -> usize {
        self.encoded[key as usize].data.len()
    }

    fn send(&self, io: &mut SockIo, keys: &[u32]) -> Result<()> {
        if let [key] = keys {
            let body = &self.encoded[*key as usize].data;
            return io.send(1, Some(body), |out| text::encode(&self.request(*key), out));
        }
        io.send(keys.len(), None, |out| {
            for key in keys {
                text::encode(&self.request(*key), out);
                out.extend_from_slice(&self.encoded[*key as usize].data);
                out.extend_from_slice(b"\r\n");
            }
        })
    }

    fn receive(
        &mut self,
        io: &mut SockIo,
        keys: &[u32],
        answers: &mut Answers<bool>,
    ) -> Result<()> {
        each(io, keys, answers, |io| {
            stored(io, StoreVerb::Set).map(|cas| cas == Cas::Stored)
        })
    }
}

/// `delete` of many keys.
struct Deletes<'p> {
    placed: &'p Placed<'p>,
}

impl Batch for Deletes<'_> {
    type Answer = bool;
    const REPEAT: Repeat = Repeat::Overwrites;

    fn send(&self, io: &mut SockIo, keys: &[u32]) -> Result<()> {
        io.send(keys.len(), None, |out| {
            for key in keys {
                text::encode(
                    &Request::Delete {
                        key: self.placed.key(*key),
                    },
                    out,
                );
            }
        })
    }

    fn receive(
        &mut self,
        io: &mut SockIo,
        keys: &[u32],
        answers: &mut Answers<bool>,
    ) -> Result<()> {
        each(io, keys, answers, |io| {
            yes_or_no(io, Expect::Delete, Reply::Deleted, Reply::NotFound)
        })
    }
}

/// One reply for each key. A refusal is the answer of its key alone; if the connection is out of step behind it, nobody
/// knows what became of the others.
fn each<A>(
    io: &mut SockIo,
    keys: &[u32],
    answers: &mut Answers<A>,
    mut read: impl FnMut(&mut SockIo) -> Result<A>,
) -> Result<()> {
    for key in keys {
        match read(io) {
            Err(error) if !io.is_in_step() => {
                if !is_refusal(&error) {
                    return Err(error);
                }
                answers.enter(*key, Err(error));
                return Err(Refusal::error_behind());
            }
            answer => answers.enter(*key, answer),
        }
    }
    Ok(())
}

fn is_refusal(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Client | ErrorKind::Server)
}
