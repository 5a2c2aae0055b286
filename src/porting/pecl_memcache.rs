//! Porting from PHP's class `Memcache` and its functions `memcache_…` (the pecl extension memcache).
//!
//! # Where keys go
//!
//! **The ini settings `memcache.hash_strategy` and `memcache.hash_function` decide, and their defaults have changed**: with 8.0 a program that sets
//! neither is `pecl-memcache/consistent/crc32`; with 2.x it is `pecl-memcache/standard/crc32+2x`. With one server they do not matter.
//!
//! | `memcache.hash_strategy` | `memcache.hash_function` | name |
//! |---|---|---|
//! | `consistent` | `crc32` | `pecl-memcache/consistent/crc32` |
//! | `consistent` | `fnv` | `pecl-memcache/consistent/fnv` |
//! | `standard` | `crc32` | `pecl-memcache/standard/crc32`; failover as in 2.x: `pecl-memcache/standard/crc32+2x` |
//! | `standard` | `fnv` | `pecl-memcache/standard/fnv` |
//!
//! Keys are changed as PHP changes them, and the changed form is hashed: a prefix (`memcache.prefix_static_key` is [`prefix`]) goes before the key and is
//! hashed too, blanks and control bytes become `_`, and what is over 250 bytes is cut off. So `a b` and `a_b` are one item, and so are two long
//! keys that differ at the end; `.key_transform(KeyTransform::Raw)` makes errors of such keys. A key with the byte 0x7f, which PHP sends, is an
//! error here: the text protocol has no place for control bytes.
//!
//! `Memcached`, with a `d`, is [another class](super::php_memcached), which places keys and writes values in other ways.
//!
//! # The set-up
//!
//! ```text
//! $memcache = new Memcache;
//! $memcache->addServer('10.0.0.1', 11211, true, 3, 1, 15);   // persistent, weight, timeout and retry interval in seconds
//! $memcache->addServer('10.0.0.2', 11211, true, 1, 1, 15);
//! $memcache->setCompressThreshold(20000, 0.2);
//! ```
//!
//! ```no_run
//! use std::time::Duration;
//! use sockio::codec::PhpMemcache;
//! use sockio::{Compat, MemcachedClient, SockIoPool};
//!
//! # fn main() -> sockio::Result<()> {
//! let php: Compat = "pecl-memcache/consistent/crc32".parse()?;
//! let pool = SockIoPool::builder()
//!     .compat(php) // where keys go, how values look
//!     .servers(["10.0.0.1:11211", "10.0.0.2:11211"])
//!     .weights([3, 1])
//!     .connect_timeout(Duration::from_secs(1))
//!     .socket_timeout(Duration::from_secs(1))
//!     .dead_backoff(Duration::from_secs(15), Duration::from_secs(15))
//!     .transcoder(PhpMemcache::new().compress_threshold(Some(20_000)).min_savings(0.2))
//!     .build()?;
//! let client = MemcachedClient::new(pool);
//! # Ok(()) }
//! ```
//!
//! The extension has no pool, so there is nothing for `defaults_of` to take; its one time-out per server is in seconds.
//!
//! # Servers
//!
//! | method | function | here | what differs |
//! |---|---|---|---|
//! | `addServer` | `memcache_add_server` | [`servers`], [`weights`] | all at once, before the first call. One server's settings are those of all |
//! | … `persistent` | | | connections always outlive a call |
//! | … `weight` | | [`weights`], or `host:port:weight` | |
//! | … `timeout` | | [`connect_timeout`], [`socket_timeout`], [`operation_timeout`] | 1 s by default, of connecting and of each wait |
//! | … `retry_interval` | | [`dead_backoff`] | 15 s by default. -1, never again, is [`failback`]`(false)` |
//! | … `status` false | | leave the server out of the list only if PHP did so on all machines: it counts for placement | PHP tried it once all the same |
//! | `connect` | `memcache_connect` | [`MemcachedClient::connect`] | for one server, with values as they are: for PHP's forms use the builder as above |
//! | `pconnect` | `memcache_pconnect` | [`build_named`] | the pool is found again by its name |
//! | `setFailureCallback` | `memcache_set_failure_callback` | [`on_error`] | gets the error, which names the server |
//! | `getServerStatus` | `memcache_get_server_status` | [`SockIoPool::stats`], `dead_until` | |
//! | `findServer` | | [`server_of`] | opens no connection |
//! | `getVersion` | `memcache_get_version` | [`versions`] | of all servers, PHP the first that answered |
//! | `close` | `memcache_close` | [`shutdown`] | PHP left persistent connections open |
//! | `MemcachePool` | | [`MemcachedClient`] | the class below `Memcache`, with UDP ports |
//!
//! **Servers that fail.** As in PHP, a key whose server cannot be reached goes to another one within the same call: 8.0 hashes `key-0`, `key-1` …, 2.x adds
//! the hash of `1key`, `2key` …, 20 times at most. PHP took a `NOT_FOUND` in answer to `cas` for a failure and left that server alone for 15 s; here only
//! connects and time-outs count. Where an answer was lost, PHP sent `increment` again to the next server; here it is [`ErrorKind::Ambiguous`].
//!
//! # Items
//!
//! | method | function | here | what differs |
//! |---|---|---|---|
//! | `get(key)` | `memcache_get` | [`get`] | `None` for a miss and `Some` for a stored `false`, which PHP cannot tell apart. A stored null is `None` of an `Option`: `get::<Option<T>>` |
//! | `get(keys)` | `memcache_get` | [`get_multi`] | a server that failed is in [`failures`] |
//! | `get(key, &$flags, &$cas)` | `memcache_get` | [`gets`] | [`PhpMemcache::user_flags_in`] of the flags |
//! | `set`, `add`, `replace` | `memcache_set`, `memcache_add`, `memcache_replace` | [`set`], [`add`], [`replace`] | |
//! | `set(array)` | `memcache_set` | [`set_multi`] | an answer per key; `add` and `replace` one by one |
//! | … `flags` | | [`set_with_flags`], or [`PhpMemcache::user_flags`] for all | a bit that the form itself uses is an error |
//! | … `exptime` | | [`Expiry`] | PHP's number went as it was: 0 is [`Expiry::never`], over 30 days a date |
//! | `cas` | `memcache_cas` | [`cas`] | tells [`Cas::Exists`] from [`Cas::NotFound`] |
//! | `append`, `prepend` | `memcache_append`, `memcache_prepend` | [`append`], [`prepend`] | bytes, past the transcoder; a compressed or serialized value is broken by it, as in PHP |
//! | `delete(key)` | `memcache_delete` | [`delete`] | no time |
//! | `delete(keys)` | `memcache_delete` | [`delete_multi`] | an answer per key |
//! | `increment`, `decrement` | `memcache_increment`, `memcache_decrement` | [`incr`], [`decr`] | `None` for a miss. PHP turned a negative step round. `defval` needed the binary protocol: [`add_or_incr`] |
//! | `flush(delay)` | `memcache_flush` | [`flush_all`] | an answer per server |
//! | `getStats` | `memcache_get_stats` | [`stats`] | of all servers |
//! | `getExtendedStats(type, slabid, limit)` | `memcache_get_extended_stats` | [`stats`]: `Some("items")`, `Some("cachedump 3 100")` | a server that failed has an error, not `false` |
//!
//! # Values
//!
//! [`PhpMemcache`] comes with the name.
//!
//! | PHP | Rust | flags |
//! |---|---|---|
//! | string | `String`, `Vec<u8>` | 0 |
//! | bool | `bool` | 0x100 |
//! | int | `i64` and smaller | 0x300 |
//! | float | `f64`, with 14 digits: **lossy**, as in PHP | 0x700 |
//! | null | `Option`: `None` | 1 |
//! | array, object | with the feature `php`: `codec::php::Php<T>` for types of serde. Else [`Value::Foreign`], bytes | 1 |
//!
//! | setting | here | what differs |
//! |---|---|---|
//! | `MEMCACHE_COMPRESSED` | [`compress_threshold`]`(Some(0))` | for a client of its own by [`with_transcoder`] |
//! | `setCompressThreshold(threshold, min_savings)`, `memcache_set_compress_threshold`, `memcache.compress_threshold` | [`compress_threshold`], [`min_savings`] | 20,000 bytes and a fifth by default; 0 in PHP is `None` here. How far a value may grow is bounded in bytes, [`max_inflated`] |
//! | `MEMCACHE_USER1`, `MEMCACHE_USER2`, `MEMCACHE_USER3`, `MEMCACHE_USER4` | [`PhpMemcache::user_flags`] with 1, 2, 4, 8 | |
//!
//! # The ini settings
//!
//! | setting | default | here |
//! |---|---|---|
//! | `memcache.allow_failover` | 1 | [`failover`] |
//! | `memcache.max_failover_attempts` | 20 | 20, in [`Walk::PeclSuffix`]; another number is a [`FailoverWalk`] of the program |
//! | `memcache.default_port` | 11211 | [`DEFAULT_PORT`]; write another one into the address |
//! | `memcache.hash_strategy`, `memcache.hash_function` | `consistent`, `crc32` | [`compat`] |
//! | `memcache.compress_threshold` | 20000 | [`compress_threshold`] |
//! | `memcache.prefix_static_key` | none | [`prefix`] |
//! | `memcache.session_redundancy` | 2: so many servers hold a session | [`pecl_memcache_copy`] |
//!
//! **Sessions.** [`session::pecl_memcache`] gives the keys of a session's data and of its lock, and where they live. Data end at a date, `gc_maxlifetime` from
//! now; the lock is taken by `incr` (an answer of 1) or `add` of `1` with flags 768 for 15 s, and given back by setting it to `0`.
//!
//! # Without a counterpart
//!
//! | old | why |
//! |---|---|
//! | `setServerParams`, `memcache_set_server_params` | a pool does not change; build another |
//! | `setSaslAuthData`, `memcache_set_sasl_auth_data` | SASL needs the binary protocol |
//! | `memcache_debug` | did nothing but warn; the `log` crate tells |
//! | `memcache.protocol` | the text protocol; PHP's binary one stores the same items |
//! | `memcache.redundancy` | copies on further servers go stale where one of them fails; PHP's `get` read only the first |
//! | `memcache.chunk_size`, `memcache.select_api` | how PHP's sockets are read |
//! | `memcache.prefix_host_key`, `memcache.prefix_host_key_remove_www`, `memcache.prefix_host_key_remove_subdomain` | there is no `SERVER_NAME` here: the program puts its host's name into [`prefix`] |
//! | `memcache.session_prefix_static_key`, `memcache.session_prefix_host_key`, `memcache.session_prefix_host_key_remove_www`, `memcache.session_prefix_host_key_remove_subdomain` | stand before the session's id: hand both to [`session::pecl_memcache`] |
//! | `memcache.session_save_path`, `memcache.lock_timeout`, `MEMCACHE_HAVE_SESSION` | the session handler is PHP's; the program that takes part in it sets servers and lock itself |
//!
//! Sources: pecl-memcache 8.0 as Debian has it (it calls itself 4.0.5.2), run under PHP 8; the 2.x walk from its source.
//!
//! [`servers`]: crate::SockIoPoolBuilder::servers
//! [`weights`]: crate::SockIoPoolBuilder::weights
//! [`compat`]: crate::SockIoPoolBuilder::compat
//! [`prefix`]: crate::SockIoPoolBuilder::prefix
//! [`connect_timeout`]: crate::SockIoPoolBuilder::connect_timeout
//! [`socket_timeout`]: crate::SockIoPoolBuilder::socket_timeout
//! [`operation_timeout`]: crate::SockIoPoolBuilder::operation_timeout
//! [`dead_backoff`]: crate::SockIoPoolBuilder::dead_backoff
//! [`failover`]: crate::SockIoPoolBuilder::failover
//! [`failback`]: crate::SockIoPoolBuilder::failback
//! [`build_named`]: crate::SockIoPoolBuilder::build_named
//! [`SockIoPool::stats`]: crate::SockIoPool::stats
//! [`server_of`]: crate::SockIoPool::server_of
//! [`shutdown`]: crate::SockIoPool::shutdown
//! [`MemcachedClient`]: crate::MemcachedClient
//! [`MemcachedClient::connect`]: crate::MemcachedClient::connect
//! [`with_transcoder`]: crate::MemcachedClient::with_transcoder
//! [`on_error`]: crate::MemcachedClient::on_error
//! [`versions`]: crate::MemcachedClient::versions
//! [`get`]: crate::MemcachedClient::get
//! [`gets`]: crate::MemcachedClient::gets
//! [`get_multi`]: crate::MemcachedClient::get_multi
//! [`set`]: crate::MemcachedClient::set
//! [`add`]: crate::MemcachedClient::add
//! [`replace`]: crate::MemcachedClient::replace
//! [`set_multi`]: crate::MemcachedClient::set_multi
//! [`set_with_flags`]: crate::MemcachedClient::set_with_flags
//! [`cas`]: crate::MemcachedClient::cas
//! [`append`]: crate::MemcachedClient::append
//! [`prepend`]: crate::MemcachedClient::prepend
//! [`delete`]: crate::MemcachedClient::delete
//! [`delete_multi`]: crate::MemcachedClient::delete_multi
//! [`incr`]: crate::MemcachedClient::incr
//! [`decr`]: crate::MemcachedClient::decr
//! [`add_or_incr`]: crate::MemcachedClient::add_or_incr
//! [`flush_all`]: crate::MemcachedClient::flush_all
//! [`stats`]: crate::MemcachedClient::stats
//! [`failures`]: crate::Multi::failures
//! [`Cas::Exists`]: crate::Cas::Exists
//! [`Cas::NotFound`]: crate::Cas::NotFound
//! [`Expiry`]: crate::Expiry
//! [`Expiry::never`]: crate::Expiry::never
//! [`ErrorKind::Ambiguous`]: crate::ErrorKind::Ambiguous
//! [`Value::Foreign`]: crate::Value::Foreign
//! [`PhpMemcache`]: crate::codec::PhpMemcache
//! [`PhpMemcache::user_flags`]: crate::codec::PhpMemcache::user_flags
//! [`PhpMemcache::user_flags_in`]: crate::codec::PhpMemcache::user_flags_in
//! [`compress_threshold`]: crate::codec::PhpMemcache::compress_threshold
//! [`min_savings`]: crate::codec::PhpMemcache::min_savings
//! [`max_inflated`]: crate::codec::PhpMemcache::max_inflated
//! [`Walk::PeclSuffix`]: crate::router::Walk::PeclSuffix
//! [`FailoverWalk`]: crate::router::FailoverWalk
//! [`DEFAULT_PORT`]: crate::DEFAULT_PORT
//! [`session::pecl_memcache`]: crate::session::pecl_memcache
//! [`pecl_memcache_copy`]: crate::session::pecl_memcache_copy
#![doc(alias(
    "setServerParams",
    "memcache_set_server_params",
    "setSaslAuthData",
    "memcache_set_sasl_auth_data",
    "memcache_debug",
    "memcache.protocol",
    "memcache.redundancy",
    "memcache.chunk_size",
    "memcache.select_api",
    "memcache.prefix_host_key",
    "memcache.prefix_host_key_remove_www",
    "memcache.prefix_host_key_remove_subdomain",
    "memcache.session_prefix_static_key",
    "memcache.session_prefix_host_key",
    "memcache.session_prefix_host_key_remove_www",
    "memcache.session_prefix_host_key_remove_subdomain",
    "memcache.session_save_path",
    "memcache.lock_timeout",
    "MEMCACHE_HAVE_SESSION"
))]
