//! The items of the stand-in. Time enters as an argument; it knows nothing of commands or connections.

use std::collections::HashMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// `-I`: an item with its key and its overhead may be 1 MiB.
pub(super) const MAX_ITEM: usize = 1 << 20;

/// `-m`: all items together may have 64 MiB. Where memcached would evict, stores fail, as under `-M`.
pub(super) const MAX_BYTES: usize = 64 << 20;

/// The header, the cas token and the end of the key, per item; flags that are not 0 take four bytes more.
/// With them 1,048,516 bytes are the largest value of a key of one byte, as measured on 1.6.18.
const OVERHEAD: usize = 48 + 8 + 1;

/// A number up to 30 days counts from now, a larger one from 1970.
const MAX_RELATIVE: i32 = 60 * 60 * 24 * 30;

/// Larger items are kept in chunks, and chunked ones are no counters (`slab_chunk_max`: 512 KiB).
const MAX_COUNTER: usize = 512 << 10;

#[derive(Debug, Default)]
pub(super) struct Store {
    items: HashMap<Vec<u8>, Item>,
    bytes: usize,
    last_cas: u64,
    flush_at: Option<SystemTime>,
    pub(super) counts: Counts,
}

/// What the statistics count since the start or their reset.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) cmd_get: u64,
    pub(super) cmd_set: u64,
    pub(super) get_hits: u64,
    pub(super) total_items: u64,
}

#[derive(Debug)]
pub(super) struct Item {
    pub(super) value: Vec<u8>,
    pub(super) flags: u32,
    pub(super) cas: u64,
    expires: Option<SystemTime>,
    stored: SystemTime,
}

/// How a value is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Set,
    Add,
    Replace,
    Append,
    Prepend,
    Cas(u64),
}

/// What became of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Stored,
    NotStored,
    Exists,
    NotFound,
    NoRoom,
}

/// Why there is no new number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoNumber {
    NotFound,
    NotNumeric,
    NoRoom,
}

impl Store {
    /// The item, if it is there and not over.
    pub(super) fn get(&mut self, key: &[u8], now: SystemTime) -> Option<&mut Item> {
        let flushed = self.flush_at.filter(|flush_at| *flush_at <= now);
        if self.items.get(key)?.is_over(flushed, now) {
            self.delete(key);
        }
        self.items.get_mut(key)
    }

    /// Stores a value that [`fits`]. `Append` and `Prepend` keep flags and expiry of the item.
    pub(super) fn store(
        &mut self,
        verb: Verb,
        key: &[u8],
        value: &[u8],
        (flags, exptime): (u32, i32),
        now: SystemTime,
    ) -> Outcome {
        let old = self.get(key, now);
        let joined = match (verb, &old) {
            (Verb::Append, Some(item)) => Some([&item.value[..], value].concat()),
            (Verb::Prepend, Some(item)) => Some([value, &item.value[..]].concat()),
            _ => None,
        };
        match (verb, &old) {
            (Verb::Add, Some(_)) => return Outcome::NotStored,
            (Verb::Replace | Verb::Append | Verb::Prepend, None) => return Outcome::NotStored,
            (Verb::Cas(_), None) => return Outcome::NotFound,
            (Verb::Cas(cas), Some(item)) if item.cas != cas => return Outcome::Exists,
            _ => {}
        }
        let item = match (joined, old) {
            // An item that would grow too large is as one that is absent.
            (Some(value), Some(old)) if !fits(key.len(), old.flags, value.len()) => {
                return Outcome::NotStored;
            }
            (Some(value), Some(old)) => Item {
                value,
                flags: old.flags,
                expires: old.expires,
                cas: 0,
                stored: now,
            },
            _ => Item {
                value: value.to_vec(),
                flags,
                expires: expires(exptime, now),
                cas: 0,
                stored: now,
            },
        };
        if self.put(key, item) {
            Outcome::Stored
        } else {
            // A `set` that fails takes the old value with it, so that nothing stale is left.
            if verb == Verb::Set {
                self.delete(key);
            }
            Outcome::NoRoom
        }
    }

    /// Whether the item was there.
    pub(super) fn delete(&mut self, key: &[u8]) -> bool {
        match self.items.remove(key) {
            Some(item) => {
                self.bytes -= size(key.len(), item.flags, item.value.len());
                true
            }
            None => false,
        }
    }

    /// Changes a number by what `change` makes of it. One that gets shorter is padded with blanks to its old length.
    pub(super) fn count(
        &mut self,
        key: &[u8],
        change: impl FnOnce(u64) -> u64,
        now: SystemTime,
    ) -> Result<u64, NoNumber> {
        let cas = self.last_cas + 1;
        let item = self.get(key, now).ok_or(NoNumber::NotFound)?;
        if item.value.len() > MAX_COUNTER {
            return Err(NoNumber::NotNumeric);
        }
        let number = super::number::unsigned(&item.value).ok_or(NoNumber::NotNumeric)?;
        let number = change(number);
        let mut value = number.to_string().into_bytes();
        if value.len() <= item.value.len() {
            value.resize(item.value.len(), b' ');
            item.value = value;
            item.cas = cas;
            item.stored = now;
            self.last_cas = cas;
            return Ok(number);
        }
        let item = Item {
            value,
            flags: item.flags,
            expires: item.expires,
            cas,
            stored: now,
        };
        if self.put(key, item) {
            Ok(number)
        } else {
            Err(NoNumber::NoRoom)
        }
    }

    /// Drops all items that were stored before this time, once it has come. A later call replaces an earlier one.
    pub(super) fn flush(&mut self, exptime: i32, now: SystemTime) {
        if exptime <= 0 {
            self.items.clear();
            self.bytes = 0;
            self.flush_at = None;
        } else {
            self.flush_at = expires(exptime, now);
        }
    }

    /// How many items there are, and their bytes with overhead; those that are over count until they are asked for.
    pub(super) fn size(&self) -> (usize, usize) {
        (self.items.len(), self.bytes)
    }

    fn put(&mut self, key: &[u8], item: Item) -> bool {
        let room = size(key.len(), item.flags, item.value.len());
        if self.bytes + room > MAX_BYTES {
            self.sweep(item.stored);
        }
        let freed = self.room_of(key);
        if self.bytes - freed + room > MAX_BYTES {
            return false;
        }
        self.last_cas += 1;
        self.counts.total_items += 1;
        self.bytes = self.bytes - freed + room;
        let cas = self.last_cas;
        self.items.insert(key.to_vec(), Item { cas, ..item });
        true
    }
}

impl Store {
    /// Drops what is over.
    fn sweep(&mut self, now: SystemTime) {
        let flushed = self.flush_at.filter(|flush_at| *flush_at <= now);
        self.items.retain(|key, item| {
            let stays = !item.is_over(flushed, now);
            if !stays {
                self.bytes -= size(key.len(), item.flags, item.value.len());
            }
            stays
        });
    }

    fn room_of(&self, key: &[u8]) -> usize {
        let item = self.items.get(key);
        item.map_or(0, |item| size(key.len(), item.flags, item.value.len()))
    }
}

impl Item {
    fn is_over(&self, flushed: Option<SystemTime>, now: SystemTime) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
            || flushed.is_some_and(|flushed| self.stored <= flushed)
    }

    pub(super) fn touch(&mut self, exptime: i32, now: SystemTime) {
        self.expires = expires(exptime, now);
    }

    /// Whole seconds left, the one begun included; `None` for ever.
    pub(super) fn time_left(&self, now: SystemTime) -> Option<u64> {
        let left = self.expires?.duration_since(now).unwrap_or_default();
        Some(left.as_secs() + u64::from(left.subsec_nanos() > 0))
    }
}

/// Whether an item may be so large.
pub(super) fn fits(key: usize, flags: u32, value: usize) -> bool {
    value <= MAX_ITEM && size(key, flags, value) <= MAX_ITEM
}

/// An item holds the line end of its value, too.
fn size(key: usize, flags: u32, value: usize) -> usize {
    let flags = if flags == 0 { 0 } else { 4 };
    OVERHEAD + key + flags + value + b"\r\n".len()
}

/// When an item ends; a negative number has passed at any time.
fn expires(exptime: i32, now: SystemTime) -> Option<SystemTime> {
    let seconds = Duration::from_secs(exptime.unsigned_abs().into());
    match exptime {
        0 => None,
        ..0 => Some(UNIX_EPOCH),
        1..=MAX_RELATIVE => now.checked_add(seconds),
        _ => UNIX_EPOCH.checked_add(seconds),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: SystemTime = UNIX_EPOCH;

    fn at(seconds: u64) -> SystemTime {
        // Far enough from 1970 that a date can lie in the past.
        NOW + Duration::from_secs(1_000_000_000 + seconds)
    }

    fn set(store: &mut Store, key: &str, exptime: i32, now: SystemTime) {
        let stored = store.store(Verb::Set, key.as_bytes(), b"x", (0, exptime), now);
        assert_eq!(stored, Outcome::Stored);
    }

    #[test]
    fn items_end_when_they_should() {
        let mut store = Store::default();
        let date = 1_000_000_000 + 40;
        for (exptime, last, first) in [
            (0, Some(u64::from(u32::MAX)), None),
            (1, Some(0), Some(1)),
            (30 * 86_400, Some(30 * 86_400 - 1), Some(30 * 86_400)),
            (30 * 86_400 + 1, None, Some(0)),
            (date, Some(39), Some(40)),
            (-1, None, Some(0)),
            (i32::MIN, None, Some(0)),
        ] {
            set(&mut store, "k", exptime, at(0));
            if let Some(last) = last {
                assert!(store.get(b"k", at(last)).is_some(), "{exptime} at {last}");
            }
            if let Some(first) = first {
                assert!(store.get(b"k", at(first)).is_none(), "{exptime} at {first}");
                assert_eq!(store.size(), (0, 0));
            }
        }
        set(&mut store, "k", 0, at(0));
        store.get(b"k", at(0)).unwrap().touch(10, at(0));
        assert_eq!(store.get(b"k", at(3)).unwrap().time_left(at(3)), Some(7));
        assert!(store.get(b"k", at(10)).is_none());
    }

    #[test]
    fn a_delayed_flush_takes_what_was_stored_before_its_time() {
        let mut store = Store::default();
        set(&mut store, "old", 0, at(0));
        store.flush(10, at(0));
        set(&mut store, "between", 0, at(5));
        assert!(store.get(b"old", at(9)).is_some());
        assert!(store.get(b"old", at(10)).is_none());
        assert!(store.get(b"between", at(10)).is_none());
        set(&mut store, "new", 0, at(11));
        assert!(store.get(b"new", at(12)).is_some());
        store.flush(0, at(12));
        assert!(store.get(b"new", at(12)).is_none());
    }

    #[test]
    fn the_largest_value_is_the_measured_one() {
        assert!(fits(1, 0, 1_048_516) && !fits(1, 0, 1_048_517));
        assert!(fits(1, 7, 1_048_512) && !fits(1, 7, 1_048_513));
        assert!(!fits(1, 0, usize::MAX));
    }

    #[test]
    fn a_full_store_refuses_until_something_is_over() {
        let mut store = Store::default();
        let value = vec![0; 1 << 19];
        let mut put = |verb, key: String, exptime, now| {
            let stored = store.store(verb, key.as_bytes(), &value, (0, exptime), now);
            (stored, store.size().1)
        };
        let mut count = 0;
        while put(Verb::Set, format!("k{count}"), 60, at(0)).0 == Outcome::Stored {
            count += 1;
            assert!(count <= 128);
        }
        assert_eq!(count, 127);
        // An old value makes room for its successor; one that is added has none.
        assert_eq!(put(Verb::Set, "k0".into(), 60, at(1)).0, Outcome::Stored);
        let (stored, bytes) = put(Verb::Add, "new".into(), 60, at(1));
        assert_eq!(stored, Outcome::NoRoom);
        assert!(bytes <= MAX_BYTES);
        assert_eq!(put(Verb::Add, "new".into(), 60, at(60)).0, Outcome::Stored);
        // All but `k0`, set a second later, were over.
        assert_eq!(store.size().0, 2);
    }
}
