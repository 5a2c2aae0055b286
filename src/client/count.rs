//! Counters, which the server keeps as decimal text and does the sums of. It knows no transcoder but for the flags beside them.

use std::time::SystemTime;

use super::execute::{Repeat, unexpected};
use super::store::stored;
use super::{Cas, MemcachedClient};
use crate::error::{Error, ErrorKind, Result};
use crate::expiry::Expiry;
use crate::key::{Room, ToKey};
use crate::protocol::{ArithVerb, Expect, Reply, Request, StoreVerb, text};
use crate::sock::SockIo;

/// How often a counter that is there for `add` and gone for `incr` is looked for again.
const TRIES: usize = 4;

/// Counters: numbers from 0 to `u64::MAX`. `None` is a key that is not there.
///
/// # Errors
/// [`ErrorKind::Client`] if what is stored is no number,
/// [`ErrorKind::Ambiguous`] if the answer was lost: the sum is never asked for twice.
impl MemcachedClient {
    /// Adds to a counter and returns the sum; above `u64::MAX` it begins again at 0.
    #[doc(alias = "increment")]
    #[doc(alias = "Increment")]
    #[doc(alias = "memcache_increment")]
    #[doc(alias = "ExecuteIncrement")]
    pub fn incr(&self, key: impl ToKey, by: u64) -> Result<Option<u64>> {
        self.arith(ArithVerb::Incr, key, by)
    }

    /// Subtracts from a counter and returns the difference; it stops at 0.
    #[doc(alias = "decrement")]
    #[doc(alias = "Decrement")]
    #[doc(alias = "memcache_decrement")]
    #[doc(alias = "ExecuteDecrement")]
    pub fn decr(&self, key: impl ToKey, by: u64) -> Result<Option<u64>> {
        self.arith(ArithVerb::Decr, key, by)
    }

    /// Stores a counter, in the form that `incr` of every client can count on. True, as [`set`](Self::set) is.
    #[doc(alias = "storeCounter")]
    #[doc(alias = "StoreCounter")]
    pub fn store_counter(
        &self,
        key: impl ToKey,
        count: u64,
        expiry: impl Into<Expiry>,
    ) -> Result<bool> {
        self.set_raw(
            key,
            count.to_string(),
            self.transcoder.counter_flags(),
            expiry,
        )
    }

    /// The value of a counter.
    ///
    /// The server pads a number that has become shorter with blanks (`10`, less 1, is stored as `9 `); the Java client
    /// could not read these, here they are no part of the number.
    ///
    /// # Errors
    /// [`ErrorKind::Decode`] if what is stored is no number.
    #[doc(alias = "getCounter")]
    #[doc(alias = "GetCounter")]
    pub fn get_counter(&self, key: impl ToKey) -> Result<Option<u64>> {
        let mut room = Room::default();
        let key = self.pool.check(&key, &mut room)?;
        let request = Request::Get {
            key: key.bytes(),
            cas: false,
        };
        let answer = self.retrieve(&key, request, |_, _, digits| count(&digits));
        self.report(answer, None)
    }

    /// Adds to a counter, or stores `by` as a new counter if there is none; returns the value that it has then.
    /// The expiry is that of a new counter; an old one keeps its own.
    ///
    /// There is no miss that an error could [degrade](Self::degrade) to: it stays an error.
    #[doc(alias = "addOrIncr")]
    pub fn add_or_incr(&self, key: impl ToKey, by: u64, expiry: impl Into<Expiry>) -> Result<u64> {
        self.add_or(ArithVerb::Incr, key, by, expiry.into())
    }

    /// Subtracts from a counter, or stores `by`, as it is, as a new counter if there is none; otherwise as
    /// [`add_or_incr`](Self::add_or_incr).
    #[doc(alias = "addOrDecr")]
    pub fn add_or_decr(&self, key: impl ToKey, by: u64, expiry: impl Into<Expiry>) -> Result<u64> {
        self.add_or(ArithVerb::Decr, key, by, expiry.into())
    }

    fn arith(&self, verb: ArithVerb, key: impl ToKey, delta: u64) -> Result<Option<u64>> {
        let mut room = Room::default();
        let key = self.pool.check(&key, &mut room)?;
        let request = Request::Arith {
            verb,
            key: key.bytes(),
            delta,
        };
        let answer = self.execute(&key, Repeat::Never, |io| {
            io.send(1, None, |out| text::encode(&request, out))?;
            sum(io)
        });
        self.report(answer, None)
    }

    /// `add`, then `incr` or `decr` where the key is there: one connection, one deadline.
    fn add_or(&self, verb: ArithVerb, key: impl ToKey, by: u64, expiry: Expiry) -> Result<u64> {
        let mut room = Room::default();
        let key = self.pool.check(&key, &mut room)?;
        let digits = by.to_string();
        let add = Request::Store {
            verb: StoreVerb::Add,
            key: key.bytes(),
            flags: self.transcoder.counter_flags(),
            exptime: expiry.exptime(SystemTime::now),
            len: digits.len(),
        };
        let arith = Request::Arith {
            verb,
            key: key.bytes(),
            delta: by,
        };
        let answer = self.execute(&key, Repeat::Never, |io| {
            for _ in 0..TRIES {
                io.send(1, Some(digits.as_bytes()), |out| text::encode(&add, out))?;
                if stored(io, StoreVerb::Add)? == Cas::Stored {
                    return Ok(by);
                }
                io.send(1, None, |out| text::encode(&arith, out))?;
                if let Some(sum) = sum(io)? {
                    return Ok(sum);
                }
            }
            let message = "the counter was there and gone again at every try";
            Err(Error::new(ErrorKind::Server, message))
        });
        answer.inspect_err(|error| {
            self.tell(error);
        })
    }
}

/// Reads the answer to `incr` or `decr`.
fn sum(io: &mut SockIo) -> Result<Option<u64>> {
    let sum = io.receive(Expect::Arith, |reply| match reply {
        Reply::Number(sum) => Ok(Some(sum)),
        Reply::NotFound => Ok(None),
        other => Err(unexpected(other)),
    })?;
    let sum = sum.map_err(|other| other.into_error(io))?;
    io.settle();
    Ok(sum)
}

/// Digits, perhaps padded.
fn count(stored: &[u8]) -> Result<u64> {
    let digits = stored.trim_ascii_end();
    std::str::from_utf8(digits)
        .ok()
        // `u64::from_str` would take a leading `+`.
        .filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| Error::decode(format!("{} bytes that are no counter", stored.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_digits_and_their_padding() {
        for (stored, right) in [
            (&b"0"[..], Some(0)),
            (b"9 ", Some(9)),
            (b"1   ", Some(1)),
            (b"18446744073709551615", Some(u64::MAX)),
            (b"18446744073709551616", None),
            (b"", None),
            (b"  ", None),
            (b" 9", None),
            (b"+9", None),
            (b"-1", None),
            (b"1.5", None),
            (b"9\xff", None),
        ] {
            let read = count(stored);
            assert_eq!(read.as_ref().ok(), right.as_ref(), "{stored:?}");
        }
        assert_eq!(count(b"x").unwrap_err().kind(), ErrorKind::Decode);
    }
}
