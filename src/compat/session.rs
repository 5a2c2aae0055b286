//! The keys under which PHP's session handlers keep a session and its lock. It knows no server.

use crate::key::Key;

/// The prefix of php-memcached's session keys unless `memcached.sess_prefix` is set.
#[doc(alias = "memcached.sess_prefix")]
pub const DEFAULT_PREFIX: &str = "memc.sess.key.";

/// The two items of one session, for a client without a prefix of its own.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionKeys {
    /// The session's data.
    pub data: SessionKey,
    /// Its lock.
    pub lock: SessionKey,
}

/// A key and the text that decides where it lives.
#[derive(Clone, PartialEq, Eq)]
pub struct SessionKey {
    sent: String,
    hashed: String,
}

impl SessionKey {
    /// The key, routed.
    pub fn key(&self) -> Key<'_> {
        Key::new(&self.sent).routed_by(&self.hashed)
    }
}

/// A session of PHP's `Memcached` (php-memcached 3.2.0 `php_memcached_session.c`): `<prefix><id>` and `<prefix>lock.<id>`.
///
/// The prefix is not hashed, and data and lock are each placed by the rest of their own key. The handler goes by
/// [`libmemcached/consistent/default`](crate::Compat) without weights unless told otherwise.
pub fn php_memcached(prefix: &str, session_id: &str) -> SessionKeys {
    let key = |hashed: String| SessionKey {
        sent: format!("{prefix}{hashed}"),
        hashed,
    };
    SessionKeys {
        data: key(session_id.to_owned()),
        lock: key(format!("lock.{session_id}")),
    }
}

/// A session of PHP's `Memcache` (pecl-memcache 8 `memcache_session.c`): `<id>` and `<id>.lock`, both where `<id>-0` lives.
///
/// A further copy, of which `memcache.session_redundancy` sets the number, lives where the next [`pecl_memcache_copy`] leads
/// that is not a server with a copy already.
pub fn pecl_memcache(session_id: &str) -> SessionKeys {
    let key = |sent: String| SessionKey {
        sent,
        hashed: pecl_memcache_copy(session_id, 0),
    };
    SessionKeys {
        data: key(session_id.to_owned()),
        lock: key(format!("{session_id}.lock")),
    }
}

/// The text that places the n-th try for a copy of a session: `<id>-<n>`, from 0.
#[doc(alias = "memcache.session_redundancy")]
pub fn pecl_memcache_copy(session_id: &str, n: u32) -> String {
    format!("{session_id}-{n}")
}

/// Shows nothing: a session's id opens the session.
impl std::fmt::Debug for SessionKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionKeys").finish_non_exhaustive()
    }
}

/// Shows the length only: a session's id opens the session.
impl std::fmt::Debug for SessionKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SessionKey({} bytes)", self.sent.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(key: &SessionKey) -> (&str, &str) {
        (&key.sent, &key.hashed)
    }

    #[test]
    fn php_memcached_hashes_what_stands_behind_the_prefix() {
        let keys = php_memcached(DEFAULT_PREFIX, "abc");
        assert_eq!(texts(&keys.data), ("memc.sess.key.abc", "abc"));
        assert_eq!(texts(&keys.lock), ("memc.sess.key.lock.abc", "lock.abc"));
    }

    #[test]
    fn pecl_memcache_keeps_the_lock_beside_the_data() {
        let keys = pecl_memcache("abc");
        assert_eq!(texts(&keys.data), ("abc", "abc-0"));
        assert_eq!(texts(&keys.lock), ("abc.lock", "abc-0"));
        assert!(!format!("{keys:?} {:?}", keys.data).contains("abc"));
    }
}
