//! Keys: what a caller hands in, the rules that turn it into the bytes on the wire and the bytes that are hashed, and the one check.

mod check;
mod transform;

pub use transform::KeyTransform;

pub(crate) use check::check;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::error::{Error, Result};
use check::too_long;

/// The longest key that a server takes, prefix included (memcached `memcached.h`, `KEY_MAX_LENGTH`).
pub const MAX_KEY_LEN: usize = 250;

/// A key with an instruction where it lives; plain bytes or text do wherever none is needed.
///
/// ```
/// use sockio::Key;
/// let by_hash = Key::new("a").with_hash(42);      // on the server that the hash 42 names
/// let by_group = Key::new("a").routed_by("group"); // on the server where the key "group" lives
/// # let _ = (by_hash, by_group);
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Key<'a> {
    bytes: Cow<'a, [u8]>,
    route: OwnedRoute<'a>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum OwnedRoute<'a> {
    Itself,
    Hash(i64),
    Key(Cow<'a, [u8]>),
}

impl<'a> Key<'a> {
    /// A key that lives where its own bytes say.
    pub fn new<K: AsRef<[u8]> + ?Sized>(key: &'a K) -> Self {
        Self {
            bytes: Cow::Borrowed(key.as_ref()),
            route: OwnedRoute::Itself,
        }
    }

    /// Uses `hash` in place of the key's own hash for the first choice of a server; failover hashes the key again.
    ///
    /// This is the `hashCode` argument of the Java and .NET clients, and sign-extended as theirs.
    #[doc(alias = "hashCode")]
    pub fn with_hash(mut self, hash: i64) -> Self {
        self.route = OwnedRoute::Hash(hash);
        self
    }

    /// Places the key where `server_key` lives: php-memcached's `setByKey`, libmemcached's `_by_key` functions.
    /// The server key is hashed only, as a key of its own would be; it may have any bytes and any length.
    #[doc(alias = "setByKey")]
    #[doc(alias = "getByKey")]
    #[doc(alias = "server_key")]
    #[doc(alias(
        "addByKey",
        "appendByKey",
        "casByKey",
        "decrementByKey",
        "deleteByKey",
        "deleteMultiByKey",
        "getMultiByKey",
        "incrementByKey",
        "prependByKey",
        "replaceByKey",
        "setMultiByKey",
        "touchByKey"
    ))]
    pub fn routed_by<K: AsRef<[u8]> + ?Sized>(mut self, server_key: &'a K) -> Self {
        self.route = OwnedRoute::Key(Cow::Borrowed(server_key.as_ref()));
        self
    }

    /// The same key without a borrow.
    pub fn into_owned(self) -> Key<'static> {
        Key {
            bytes: Cow::Owned(self.bytes.into_owned()),
            route: match self.route {
                OwnedRoute::Itself => OwnedRoute::Itself,
                OwnedRoute::Hash(hash) => OwnedRoute::Hash(hash),
                OwnedRoute::Key(key) => OwnedRoute::Key(Cow::Owned(key.into_owned())),
            },
        }
    }
}

/// Shows the length, never the key: keys may be secrets.
impl fmt::Debug for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({} bytes)", self.bytes.len())
    }
}

/// Anything that is a key: bytes, text, or a [`Key`].
pub trait ToKey {
    /// The bytes and the route of the key.
    fn to_key(&self) -> KeyRef<'_>;
}

/// A borrowed key and where it is to live.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct KeyRef<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) route: Route<'a>,
}

/// What is hashed to find the server.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route<'a> {
    /// The key as the key rules make it.
    Itself,
    /// A given hash, for the first choice.
    Hash(i64),
    /// Another key's bytes, as they are.
    Key(&'a [u8]),
}

impl fmt::Debug for KeyRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyRef({} bytes)", self.bytes.len())
    }
}

impl ToKey for Key<'_> {
    fn to_key(&self) -> KeyRef<'_> {
        let route = match &self.route {
            OwnedRoute::Itself => Route::Itself,
            OwnedRoute::Hash(hash) => Route::Hash(*hash),
            OwnedRoute::Key(key) => Route::Key(key),
        };
        KeyRef {
            bytes: &self.bytes,
            route,
        }
    }
}

impl ToKey for &Key<'_> {
    fn to_key(&self) -> KeyRef<'_> {
        (**self).to_key()
    }
}

impl<T: AsRef<[u8]> + ?Sized> ToKey for T {
    fn to_key(&self) -> KeyRef<'_> {
        KeyRef {
            bytes: self.as_ref(),
            route: Route::Itself,
        }
    }
}

/// The rules that turn a caller's key into the bytes on the wire and the bytes that are hashed.
///
/// Made by [`Compat::key_rules`](crate::Compat::key_rules), for programs that place keys without a pool.
#[derive(Clone, Debug, Default)]
pub struct KeyRules {
    pub(crate) transform: KeyTransform,
    /// Stands before every key on the wire.
    pub(crate) prefix: Arc<[u8]>,
    /// Whether the prefix is part of what is hashed.
    pub(crate) hash_prefix: bool,
}

/// A key that passed the check: 1 to 250 bytes, none of them a blank, a control byte or DEL.
pub struct WireKey<'a> {
    bytes: &'a [u8],
    hashed_from: usize,
    place: Place<'a>,
}

/// Where [`KeyRules::apply`] builds a key that a rule changes, without a heap allocation: 250 bytes, on the stack of the caller.
/// A key that is sent as it came is not copied. One room serves for any number of keys, one after the other.
#[derive(Clone, Default)]
pub struct Room(Option<[u8; MAX_KEY_LEN]>);

/// What finds the server of a key.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Place<'a> {
    /// The key itself.
    Itself,
    /// A given hash, for the first choice.
    Hash(i64),
    /// Another key, in the form in which it is hashed.
    Key(Cow<'a, [u8]>),
}

impl KeyRules {
    /// Whether a key can follow the prefix.
    pub(crate) fn check_prefix(&self) -> Result<()> {
        match check(&self.prefix) {
            Err(error) if !self.prefix.is_empty() => {
                Err(Error::config("the key prefix cannot be sent").with_source(error))
            }
            _ if self.prefix.len() == MAX_KEY_LEN => {
                Err(Error::config("the key prefix leaves no room for a key"))
            }
            _ => Ok(()),
        }
    }

    /// The key as it goes over the wire, checked; built in `room` if a rule changes it, so that `room` is taken until the answer
    /// is dropped. [`Compat::key_rules`](crate::Compat::key_rules) has an example.
    ///
    /// # Errors
    /// [`ErrorKind::Key`](crate::ErrorKind::Key) if no server can take it.
    #[inline]
    pub fn apply<'a>(&self, key: KeyRef<'a>, room: &'a mut Room) -> Result<WireKey<'a>> {
        Ok(WireKey {
            bytes: self.on_wire(key.bytes, room)?,
            hashed_from: self.hashed_from(),
            place: self.place(key.route),
        })
    }

    /// Appends a key as it goes over the wire, checked, to `wire`.
    #[inline]
    pub(crate) fn append(&self, key: &[u8], wire: &mut Vec<u8>) -> Result<()> {
        wire.extend_from_slice(self.on_wire(key, &mut Room::default())?);
        Ok(())
    }

    /// Two ways to the same form, so that a key that is not changed is not copied either.
    #[inline]
    fn on_wire<'a>(&self, key: &'a [u8], room: &'a mut Room) -> Result<&'a [u8]> {
        if self.change_nothing() {
            check(key)?;
            Ok(key)
        } else {
            self.build(key, room)
        }
    }

    /// What finds the server of a key with this route.
    #[inline]
    pub(crate) fn place<'a>(&self, route: Route<'a>) -> Place<'a> {
        match route {
            Route::Itself => Place::Itself,
            Route::Hash(hash) => Place::Hash(hash),
            Route::Key(key) => Place::Key(self.hashed_form(key)),
        }
    }

    /// Whether keys go out as they come.
    #[inline]
    fn change_nothing(&self) -> bool {
        self.prefix.is_empty() && self.transform == KeyTransform::Raw
    }

    /// How much of each key on the wire is not hashed.
    #[inline]
    pub(crate) fn hashed_from(&self) -> usize {
        if self.hash_prefix {
            0
        } else {
            self.prefix.len()
        }
    }

    /// A key that is hashed only: the rules without the check.
    fn hashed_form<'a>(&self, key: &'a [u8]) -> Cow<'a, [u8]> {
        let key = self.transform.transform(key);
        if !self.hash_prefix || self.prefix.is_empty() {
            return key;
        }
        Cow::Owned([&self.prefix, &*key].concat())
    }

    fn build<'a>(&self, key: &[u8], room: &'a mut Room) -> Result<&'a [u8]> {
        if key.is_empty() {
            return Err(Error::key("the key is empty"));
        }
        let pecl = self.transform == KeyTransform::Pecl;
        // pecl-memcache's rule takes in the prefix.
        let key = match self.transform {
            KeyTransform::Pecl => Cow::Borrowed(key),
            transform => transform.transform(key),
        };
        let mut len = self.prefix.len() + key.len();
        if pecl {
            len = len.min(MAX_KEY_LEN);
        }
        if len > MAX_KEY_LEN {
            return Err(too_long(len));
        }
        let built = &mut room.0.insert([0; MAX_KEY_LEN])[..len];
        let bytes = self.prefix.iter().chain(key.iter());
        for (to, byte) in built.iter_mut().zip(bytes) {
            *to = *byte;
        }
        if pecl {
            transform::underscore(built);
        }
        check(built)?;
        Ok(built)
    }
}

impl WireKey<'_> {
    /// What is sent.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        self.bytes
    }

    /// What is hashed to find the server, and hashed again when the first choice fails.
    #[inline]
    pub fn hashed(&self) -> &[u8] {
        match &self.place {
            Place::Key(key) => key,
            // A prefix that fills the whole key leaves nothing.
            _ => self.bytes().get(self.hashed_from..).unwrap_or_default(),
        }
    }

    /// The hash that the caller gave for the first choice.
    pub(crate) fn given_hash(&self) -> Option<i64> {
        match self.place {
            Place::Hash(hash) => Some(hash),
            _ => None,
        }
    }
}

/// Shows that it is there, never the key: keys may be secrets.
impl fmt::Debug for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Room").finish_non_exhaustive()
    }
}

/// Shows the length, never the key: keys may be secrets.
impl fmt::Debug for WireKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WireKey({} bytes)", self.bytes().len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wire(rules: &KeyRules, key: &str) -> Result<(Vec<u8>, Vec<u8>)> {
        rules
            .apply(key.to_key(), &mut Room::default())
            .map(|key| (key.bytes().to_vec(), key.hashed().to_vec()))
    }

    #[test]
    fn what_no_server_can_take_is_refused() {
        let rules = KeyRules::default();
        let long = "k".repeat(251);
        for bad in [
            "",
            " ",
            "a b",
            "a\r\nflush_all",
            "a\0",
            "a\x7f",
            "\t",
            long.as_str(),
        ] {
            let error = wire(&rules, bad).unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::Key);
            assert!(
                bad.trim().len() < 2 || !error.to_string().contains(bad),
                "the key is shown: {error}"
            );
        }
        assert!(wire(&rules, &"k".repeat(250)).is_ok());
        assert!(wire(&rules, "한글").is_ok());
    }

    #[test]
    fn a_prefix_counts_and_is_hashed_only_on_request() {
        let mut rules = KeyRules {
            prefix: Arc::from(*b"app:"),
            ..KeyRules::default()
        };
        assert_eq!(
            wire(&rules, "k").unwrap(),
            (b"app:k".to_vec(), b"k".to_vec())
        );
        rules.hash_prefix = true;
        assert_eq!(
            wire(&rules, "k").unwrap(),
            (b"app:k".to_vec(), b"app:k".to_vec())
        );
        assert!(wire(&rules, &"k".repeat(247)).is_err());
        assert!(wire(&rules, "").is_err());
    }

    #[test]
    fn routes_replace_what_is_hashed() {
        let rules = KeyRules::default();
        let key = Key::new("a").routed_by("group key");
        let mut room = Room::default();
        let wire = rules.apply(key.to_key(), &mut room).unwrap();
        assert_eq!(wire.hashed(), b"group key");
        let rules = KeyRules {
            prefix: Arc::from(*b"app:"),
            hash_prefix: true,
            ..KeyRules::default()
        };
        let key = Key::new("a").routed_by("group");
        let wire = rules.apply(key.to_key(), &mut room).unwrap();
        assert_eq!(
            wire.hashed(),
            rules
                .apply("group".to_key(), &mut Room::default())
                .unwrap()
                .hashed()
        );
        let rules = KeyRules::default();
        let key = Key::new("a").with_hash(-7);
        let wire = rules.apply(key.to_key(), &mut room).unwrap();
        assert_eq!((wire.given_hash(), wire.hashed()), (Some(-7), &b"a"[..]));
    }

    #[test]
    fn java_url_encoding() {
        let rules = KeyRules {
            transform: KeyTransform::UrlEncode,
            ..KeyRules::default()
        };
        assert_eq!(wire(&rules, "user:1 é").unwrap().0, b"user%3A1+%C3%A9");
        assert_eq!(wire(&rules, "user:1").unwrap().1, b"user%3A1");
    }

    #[test]
    fn pecl_cuts_and_underscores_prefix_and_key() {
        let rules = KeyRules {
            transform: KeyTransform::Pecl,
            prefix: Arc::from(*b"my "),
            hash_prefix: true,
        };
        let (sent, hashed) = wire(&rules, "a b").unwrap();
        assert_eq!((&*sent, &*hashed), (&b"my_a_b"[..], &b"my_a_b"[..]));
        assert_eq!(wire(&rules, &"k".repeat(300)).unwrap().0.len(), 250);
        assert!(wire(&rules, "").is_err());
    }
}
