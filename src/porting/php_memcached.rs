//! Porting from PHP's class `Memcached` (the extension php-memcached, on libmemcached).
//!
//! # Where keys go
//!
//! **The options decide, and the order in which they were set.** A PHP program that sets none of them needs `libmemcached/modula/default+php`, which is not
//! what this crate does by default; and its servers may be weighted as they will, `MODULA` ignores weights. `+php` stands for PHP's form of values;
//! without it a row of `libmemcached` has bytes as they are.
//!
//! | options of the PHP program | name |
//! |---|---|
//! | none; `OPT_HASH` | `libmemcached/modula/default+php`; `libmemcached/modula/HASH+php` |
//! | `OPT_DISTRIBUTION` = `DISTRIBUTION_CONSISTENT`, then the servers; `memcached.default_consistent_hash` | `libmemcached/consistent/HASH+php` |
//! | the servers, then `DISTRIBUTION_CONSISTENT` | `libmemcached/servers-then-consistent/HASH+php`: weights no longer count |
//! | `OPT_LIBKETAMA_COMPATIBLE`, before or after the servers | `libmemcached/ketama-weighted+php` |
//! | `OPT_LIBKETAMA_COMPATIBLE`, then `OPT_HASH` | `libmemcached/ketama-weighted-then-hash/HASH+php` |
//! | `DISTRIBUTION_VIRTUAL_BUCKET` without `setBucket` | `libmemcached/virtual-bucket/HASH+php` |
//! | `OPT_SORT_HOSTS` in addition | `libmemcached/modula+sort-hosts/HASH+php`, `libmemcached/consistent+sort-hosts/HASH+php`, `libmemcached/ketama-weighted+sort-hosts+php` |
//!
//! `HASH` is `default` (`HASH_DEFAULT`), `md5` (`HASH_MD5`), `crc` (`HASH_CRC`), `fnv1-64`, `fnv1a-64`, `fnv1-32`, `fnv1a-32`
//! (`HASH_FNV1_64`, `HASH_FNV1A_64`, `HASH_FNV1_32`, `HASH_FNV1A_32`), `murmur` (`HASH_MURMUR`), and `jenkins` and `murmur3`, which PHP has no constant for.
//! [`Compat::all`] has the names that there are; [`hashing`] puts another hash into one of them.
//! Hashes are those of x86, where bytes over 0x7f are negative: keys that are no ASCII live elsewhere with a libmemcached that was built for ARM.
//!
//! With `DISTRIBUTION_CONSISTENT` a weight above 1 makes the ring the weighted one, as it does in PHP. The
//! key prefix is not hashed unless `OPT_HASH_WITH_PREFIX_KEY` says so, and so it is here.
//!
//! # The set-up
//!
//! ```text
//! $m = new Memcached('main');
//! $m->setOptions([
//!     Memcached::OPT_LIBKETAMA_COMPATIBLE  => true,
//!     Memcached::OPT_PREFIX_KEY            => 'app:',
//!     Memcached::OPT_REMOVE_FAILED_SERVERS => true,
//!     Memcached::OPT_SERVER_FAILURE_LIMIT  => 2,
//!     Memcached::OPT_RETRY_TIMEOUT         => 30,    // seconds
//!     Memcached::OPT_CONNECT_TIMEOUT       => 500,   // milliseconds
//!     Memcached::OPT_POLL_TIMEOUT          => 1000,  // milliseconds
//! ]);
//! $m->addServers([['10.0.0.1', 11211, 3], ['10.0.0.2', 11211, 1]]);
//! ```
//!
//! ```no_run
//! use std::time::Duration;
//! use sockio::{MemcachedClient, SockIoPool};
//!
//! # fn main() -> sockio::Result<()> {
//! let pool = SockIoPool::builder()
//!     .compat("libmemcached/ketama-weighted+php".parse()?) // where keys go, how values look
//!     .servers(["10.0.0.1:11211", "10.0.0.2:11211"])
//!     .weights([3, 1])
//!     .prefix("app:")
//!     .failover(true)
//!     .failure_limit(2)
//!     .dead_backoff(Duration::from_secs(30), Duration::from_secs(30))
//!     .connect_timeout(Duration::from_millis(500))
//!     .socket_timeout(Duration::from_millis(1000))
//!     .build_named("main")?;
//! let client = MemcachedClient::new(pool);
//! # Ok(()) }
//! ```
//!
//! Where compression, serializer or user flags are not PHP's defaults, a [`PhpMemcached`] with these settings goes to [`transcoder`].
//! **A PHP program that did not set `OPT_REMOVE_FAILED_SERVERS` or `OPT_AUTO_EJECT_HOSTS` needs `.failover(false)`**, or its keys go elsewhere from here
//! and not from there.
//!
//! # Servers that fail
//!
//! | libmemcached 1.1.4 | here |
//! |---|---|
//! | without `OPT_REMOVE_FAILED_SERVERS`: errors 3, then 47 until `OPT_RETRY_TIMEOUT` and about a second have passed | [`failover`]`(false)`: the error of the connect, then [`ErrorKind::NoServer`] at once until the pool's thread has found it alive |
//! | with it, on a ring: after `OPT_SERVER_FAILURE_LIMIT` failures one error 35, then the ring without that server | [`failure_limit`]: until then errors; from then on, and in the same call, the ring without it |
//! | with it and without `OPT_DEAD_TIMEOUT`: back on the ring after a while and in error 35 for ever, even when it lives again | it gets its keys back when it answers |
//! | with it and `MODULA`: no failover, 35 for ever | no failover; it gets its keys back |
//!
//! # Options
//!
//! `setOption` and `setOptions` are the setters of [`SockIoPool::builder`] and [`PhpMemcached`]. PHP's option that cannot be set returns false; here
//! what is wrong is an error of [`build`].
//!
//! | option | PHP's default | here | what differs |
//! |---|---|---|---|
//! | `OPT_COMPRESSION` | on | [`PhpMemcached::compression`], `None` for off | |
//! | `OPT_COMPRESSION_TYPE`, `COMPRESSION_FASTLZ`, `COMPRESSION_ZLIB` | FastLZ | [`PhpCompression`] | both are read in any case |
//! | `OPT_PREFIX_KEY` | none | [`prefix`] | up to 249 bytes and counted with the key. PHP takes 127, keeps the old one in silence up to 250, and did not count it before 3.3 |
//! | `OPT_SERIALIZER`, `SERIALIZER_PHP`, `SERIALIZER_IGBINARY`, `SERIALIZER_JSON`, `SERIALIZER_JSON_ARRAY`, `SERIALIZER_MSGPACK` | see below | [`PhpMemcached::serializer`], [`PhpSerializer`] | for null; an object keeps the form that it came in |
//! | `OPT_USER_FLAGS` | -1 | [`user_flags`]; of one value [`set_with_flags`] | |
//! | `OPT_STORE_RETRY_COUNT` | 0 | [`retry_writes`] | one more try, where a resting connection turns out to be closed |
//! | `OPT_HASH`, `OPT_DISTRIBUTION`, `OPT_LIBKETAMA_COMPATIBLE`, `OPT_SORT_HOSTS` | | [`compat`]; [`hashing`], [`distribution`] | see above |
//! | `DISTRIBUTION_MODULA`, `DISTRIBUTION_CONSISTENT`, `DISTRIBUTION_VIRTUAL_BUCKET` | `MODULA` | [`Spread`] | |
//! | `OPT_HASH_WITH_PREFIX_KEY` | off | [`hash_prefix`] | |
//! | `OPT_TCP_NODELAY` | off | [`nagle`] | the reverse: `nagle(false)`, the default, is `TCP_NODELAY` |
//! | `OPT_TCP_KEEPALIVE` | off | [`keep_alive`] | with its time |
//! | `OPT_CONNECT_TIMEOUT` | 4,000 ms | [`connect_timeout`] | |
//! | `OPT_SEND_TIMEOUT`, `OPT_RECV_TIMEOUT` | 0 µs: none | [`socket_timeout`] | microseconds in PHP |
//! | `OPT_POLL_TIMEOUT` | 5,000 ms | [`socket_timeout`]; [`operation_timeout`] of all | |
//! | `OPT_RETRY_TIMEOUT` | 2 s | [`dead_backoff`] | doubles up to its limit; both the same: fixed |
//! | `OPT_DEAD_TIMEOUT` | 0 s | [`dead_backoff`] | |
//! | `OPT_SERVER_FAILURE_LIMIT`, `OPT_SERVER_TIMEOUT_LIMIT` | 5, 0 | [`failure_limit`] | 1 by default |
//! | `OPT_REMOVE_FAILED_SERVERS`, `OPT_AUTO_EJECT_HOSTS` | off | [`failover`] | on by default |
//!
//! # Methods
//!
//! | `Memcached` | here | what differs |
//! |---|---|---|
//! | `__construct(persistent_id)` | [`build_named`], [`SockIoPool::named`] | shared by all threads, ends with [`shutdown`] |
//! | `addServer`, `addServers` | [`servers`], [`weights`] | all at once, none twice |
//! | `getServerList` | [`SockIoPool::servers`] | |
//! | `getServerByKey` | [`server_of`] | |
//! | `checkKey` | [`server_of`], or any call | [`ErrorKind::Key`] before anything is sent. Keys that are no ASCII are fine, as with PHP 3.3 |
//! | `quit` | [`shutdown`] | for good; PHP connects again |
//! | `get` | [`get`] | `None` for a miss, `Some(false)` for a stored false |
//! | `get` with `GET_EXTENDED` | [`gets`] | `cas`, and `flags` with all bits: [`user_flags_in`] has PHP's |
//! | `getMulti` | [`get_multi`], [`gets_multi`] | a server that failed is in [`failures`]; PHP returned what it had and 0 |
//! | … `GET_PRESERVE_ORDER` | | always in order, `None` for a miss |
//! | `set`, `add`, `replace`, `cas`, `touch` | [`set`], [`add`], [`replace`], [`cas`], [`touch`] | |
//! | `setMulti`, `deleteMulti` | [`set_multi`], [`delete_multi`] | an answer per key; PHP's `setMulti` tells that of the last |
//! | `append`, `prepend` | [`append`], [`prepend`] | bytes, past the transcoder; PHP refuses while compression is on, and a compressed value is broken by it |
//! | `delete(key, time)` | [`delete`] | no time |
//! | `increment`, `decrement` | [`incr`], [`decr`] | `None` for a miss. `initial_value` needed the binary protocol and was stored as a string: [`add_or_incr`] stores the step, as an int |
//! | `…ByKey`: `getByKey`, `getMultiByKey`, `setByKey`, `setMultiByKey`, `addByKey`, `appendByKey`, `prependByKey`, `replaceByKey`, `casByKey`, `touchByKey`, `deleteByKey`, `deleteMultiByKey`, `incrementByKey`, `decrementByKey` | the key as [`Key::routed_by`] | in every method; an empty server key is hashed too |
//! | `expiration` | [`Expiry`] | PHP's number went as it was: 0 is [`Expiry::never`], over 30 days a date |
//! | `flush(delay)` | [`flush_all`] | an answer per server |
//! | `getStats(type)`, `getVersion` | [`stats`], [`versions`] | |
//! | `getResultCode`, `getLastErrorCode` | [`Error::kind`] | belongs to the answer, not to the client |
//! | `getResultMessage`, `getLastErrorMessage`, `getLastErrorErrno`, `MemcachedException` | [`Error`], [`source`] | |
//! | `getLastDisconnectedServer` | [`Error::server`] | |
//!
//! # Result codes
//!
//! | code | here |
//! |---|---|
//! | `RES_SUCCESS`, `RES_STORED` | `Ok`, `Ok(true)`, [`Cas::Stored`] |
//! | `RES_NOTFOUND` (16) | `Ok(None)`, `Ok(false)`, [`Cas::NotFound`] |
//! | `RES_NOTSTORED` (14) | `Ok(false)` |
//! | `RES_DATA_EXISTS` (12) | [`Cas::Exists`] |
//! | `RES_SOME_ERRORS` (19) | [`failures`]; of one value [`ErrorKind::Decode`] |
//! | `RES_PAYLOAD_FAILURE` | [`ErrorKind::Encode`], [`ErrorKind::Decode`] |
//! | `RES_BAD_KEY_PROVIDED` (33), `RES_KEY_TOO_BIG`, `RES_NO_KEY_PROVIDED` | [`ErrorKind::Key`] |
//! | `RES_INVALID_ARGUMENTS` (38), `RES_INVALID_HOST_PROTOCOL`, `RES_NO_SERVERS` (20) | [`ErrorKind::Config`], from [`build`] |
//! | `RES_CONNECTION_FAILURE` (3), `RES_HOST_LOOKUP_FAILURE`, `RES_CONNECTION_BIND_FAILURE`, `RES_CONNECTION_SOCKET_CREATE_FAILURE`, `RES_FAIL_UNIX_SOCKET` | [`ErrorKind::Connect`]; a connection that breaks is [`ErrorKind::Connection`] |
//! | `RES_SERVER_MARKED_DEAD` (35), `RES_SERVER_TEMPORARILY_DISABLED` (47) | [`ErrorKind::NoServer`] |
//! | `RES_TIMEOUT` (31) | [`ErrorKind::Timeout`] |
//! | `RES_READ_FAILURE`, `RES_WRITE_FAILURE`, `RES_UNKNOWN_READ_FAILURE`, `RES_PARTIAL_READ`, `RES_ERRNO` | [`ErrorKind::Connection`]; after a command that changes something [`ErrorKind::Ambiguous`] |
//! | `RES_PROTOCOL_ERROR` | [`ErrorKind::Protocol`] |
//! | `RES_CLIENT_ERROR` (9) | [`ErrorKind::Client`] |
//! | `RES_SERVER_ERROR`, `RES_SERVER_MEMORY_ALLOCATION_FAILURE` | [`ErrorKind::Server`] |
//! | `RES_E2BIG` (37) | [`ErrorKind::Server`] of which [`is_too_large`](crate::Error::is_too_large) is true |
//!
//! # Values
//!
//! | PHP | Rust | type in the flags |
//! |---|---|---|
//! | string | `String`, `Vec<u8>` | 0 |
//! | int, float, bool | `i64`, `f64`, `bool` | 1, 2, 3 |
//! | null | `Option`: `None` | the serializer's |
//! | array, object | with the feature `php`: `codec::php::Php<T>` for types of serde, in PHP's own form. Else [`Value::Foreign`], bytes | 4; 5, 6, 7 |
//!
//! What PHP returns filled up with zero bytes or cut, because the announced length was wrong, is an error. zstd is not read.
//!
//! # The ini settings
//!
//! | setting | default | here |
//! |---|---|---|
//! | `memcached.compression_type` | `fastlz` | [`PhpMemcached::compression`] |
//! | `memcached.compression_factor` | 1.3 | [`compression_factor`] |
//! | `memcached.compression_threshold` | 2000 | [`compression_threshold`] |
//! | `memcached.serializer` | `igbinary`, else `msgpack`, where PHP was built with it; else `php`, as in Debian | [`PhpMemcached::serializer`] |
//! | `memcached.store_retry_count` | 0 | [`retry_writes`] |
//! | `memcached.default_consistent_hash` | off | `libmemcached/consistent/default+php` |
//! | `memcached.default_connect_timeout` | 0 | [`connect_timeout`] |
//! | `memcached.sess_prefix` | `memc.sess.key.` | [`session::php_memcached`], [`session::DEFAULT_PREFIX`] |
//!
//! **Sessions.** [`session::php_memcached`] gives the keys of a session's data and of its lock, for a client without a prefix, by default of
//! `libmemcached/consistent/default` without `+php` and without weights: what PHP serialized for a session is no value of its own. Data have flags 0 and end after `gc_maxlifetime`. The lock is an `add` of `1`, tried six times
//! with 150 ms between, that ends after `sess_lock_expire`, else `max_execution_time`, else never; it is given back by `delete`.
//!
//! # Without a counterpart
//!
//! | old | why |
//! |---|---|
//! | `getOption` | a pool tells no settings |
//! | `isPersistent`, `isPristine` | [`SockIoPool::named`] finds a pool or does not |
//! | `resetServerList` | a pool does not change; build another |
//! | `getDelayed`, `getDelayedByKey`, `fetch`, `fetchAll` | [`get_multi`] asks all servers at the same time; a thread may do so while the program goes on |
//! | `get` with a callback | [`get`], and [`set`] after a `None`; errors are not misses |
//! | `getAllKeys` | no command of memcached's protocol; [`stats`] with `cachedump` shows some |
//! | `setBucket` | [`Distribution`], by the program: a map of servers with the low bits of the hash |
//! | `setSaslAuthData`, `HAVE_SASL`, `RES_AUTH_PROBLEM`, `RES_AUTH_FAILURE`, `RES_AUTH_CONTINUE` | SASL needs the binary protocol |
//! | `setEncodingKey`, `HAVE_ENCODING` | AES with one initial vector for all values; a [`Transcoder`] of the program can do better |
//! | `OPT_BINARY_PROTOCOL`, `memcached.default_binary_protocol` | the text protocol; PHP's binary one stores the same items, but for a counter's type (see `increment`) |
//! | `OPT_BUFFER_WRITES`, `flushBuffers`, `RES_BUFFERED` | a write that is only queued is lost with its connection, unseen; [`set_multi`] sends many at once |
//! | `OPT_NOREPLY` | the same: PHP says true whatever happens |
//! | `OPT_NO_BLOCK` | every wait has a limit as it is |
//! | `OPT_USE_UDP` | TCP and unix sockets only |
//! | `OPT_NUMBER_OF_REPLICAS`, `OPT_RANDOMIZE_REPLICA_READ` | binary protocol only, and only `set` and `delete` reached the copies: a `cas` or `incr` left them stale |
//! | `OPT_VERIFY_KEY` | keys are always checked |
//! | `OPT_CACHE_LOOKUPS` | deprecated there; a name is resolved at each connect |
//! | `OPT_LIBKETAMA_HASH` | without effect in libmemcached 1.1.4 |
//! | `HASH_HSIEH` | not built into libmemcached as distributed |
//! | `OPT_SOCKET_SEND_SIZE`, `OPT_SOCKET_RECV_SIZE` | the system's |
//! | `OPT_COMPRESSION_LEVEL`, `memcached.compression_level`, `COMPRESSION_ZSTD`, `HAVE_ZSTD` | since 3.3: FastLZ has no levels, zlib's is 6, zstd is not read |
//! | `OPT_ITEM_SIZE_LIMIT`, `memcached.item_size_limit` | since 3.3: the server knows its limit, [`ErrorKind::Server`] |
//! | `HAVE_IGBINARY`, `HAVE_JSON`, `HAVE_MSGPACK`, `HAVE_SESSION`, `LIBMEMCACHED_VERSION_HEX`, `GET_ERROR_RETURN_VALUE` | how PHP was built |
//! | `RES_FAILURE`, `RES_DATA_DOES_NOT_EXIST`, `RES_END`, `RES_DELETED`, `RES_VALUE`, `RES_STAT`, `RES_ITEM`, `RES_NOT_SUPPORTED`, `RES_FETCH_NOTFINISHED`, `RES_UNKNOWN_STAT_KEY`, `RES_PARSE_ERROR`, `RES_PARSE_USER_ERROR`, `RES_DEPRECATED`, `RES_IN_PROGRESS`, `RES_MAXIMUM_RETURN`, `RES_MEMORY_ALLOCATION_FAILURE` | libmemcached's inner states |
//! | `memcached.sess_locking`, `memcached.sess_lock_wait_min`, `memcached.sess_lock_wait_max`, `memcached.sess_lock_retries`, `memcached.sess_lock_expire`, `memcached.sess_lock_wait`, `memcached.sess_lock_max_wait` | the program that takes part in sessions sets and waits for the lock itself |
//! | `memcached.sess_consistent_hash`, `memcached.sess_consistent_hash_type`, `memcached.sess_remove_failed_servers`, `memcached.sess_server_failure_limit`, `memcached.sess_connect_timeout`, `memcached.sess_persistent` | settings of the pool that serves the sessions |
//! | `memcached.sess_binary_protocol`, `memcached.sess_number_of_replicas`, `memcached.sess_randomize_replica_read`, `memcached.sess_sasl_username`, `memcached.sess_sasl_password` | as the options above |
//!
//! Sources: php-memcached 3.2.0 and libmemcached 1.1.4 as Debian has them, run under PHP 8 on x86-64; what is since 3.3 from its source.
//!
//! [`Cas::Exists`]: crate::Cas::Exists
//! [`Cas::NotFound`]: crate::Cas::NotFound
//! [`Cas::Stored`]: crate::Cas::Stored
//! [`Compat::all`]: crate::Compat::all
//! [`Distribution`]: crate::router::Distribution
//! [`Error`]: crate::Error
//! [`Error::kind`]: crate::Error::kind
//! [`Error::server`]: crate::Error::server
//! [`ErrorKind::Ambiguous`]: crate::ErrorKind::Ambiguous
//! [`ErrorKind::Client`]: crate::ErrorKind::Client
//! [`ErrorKind::Config`]: crate::ErrorKind::Config
//! [`ErrorKind::Connect`]: crate::ErrorKind::Connect
//! [`ErrorKind::Connection`]: crate::ErrorKind::Connection
//! [`ErrorKind::Decode`]: crate::ErrorKind::Decode
//! [`ErrorKind::Encode`]: crate::ErrorKind::Encode
//! [`ErrorKind::Key`]: crate::ErrorKind::Key
//! [`ErrorKind::NoServer`]: crate::ErrorKind::NoServer
//! [`ErrorKind::Protocol`]: crate::ErrorKind::Protocol
//! [`ErrorKind::Server`]: crate::ErrorKind::Server
//! [`ErrorKind::Timeout`]: crate::ErrorKind::Timeout
//! [`Expiry`]: crate::Expiry
//! [`Expiry::never`]: crate::Expiry::never
//! [`Key::routed_by`]: crate::Key::routed_by
//! [`PhpCompression`]: crate::codec::PhpCompression
//! [`PhpMemcached`]: crate::codec::PhpMemcached
//! [`PhpMemcached::compression`]: crate::codec::PhpMemcached::compression
//! [`PhpMemcached::serializer`]: crate::codec::PhpMemcached::serializer
//! [`PhpSerializer`]: crate::codec::PhpSerializer
//! [`SockIoPool::builder`]: crate::SockIoPool::builder
//! [`SockIoPool::named`]: crate::SockIoPool::named
//! [`SockIoPool::servers`]: crate::SockIoPool::servers
//! [`Spread`]: crate::router::Spread
//! [`Transcoder`]: crate::Transcoder
//! [`Value::Foreign`]: crate::Value::Foreign
//! [`add`]: crate::MemcachedClient::add
//! [`add_or_incr`]: crate::MemcachedClient::add_or_incr
//! [`append`]: crate::MemcachedClient::append
//! [`build`]: crate::SockIoPoolBuilder::build
//! [`build_named`]: crate::SockIoPoolBuilder::build_named
//! [`cas`]: crate::MemcachedClient::cas
//! [`compat`]: crate::SockIoPoolBuilder::compat
//! [`compression_factor`]: crate::codec::PhpMemcached::compression_factor
//! [`compression_threshold`]: crate::codec::PhpMemcached::compression_threshold
//! [`connect_timeout`]: crate::SockIoPoolBuilder::connect_timeout
//! [`dead_backoff`]: crate::SockIoPoolBuilder::dead_backoff
//! [`decr`]: crate::MemcachedClient::decr
//! [`delete`]: crate::MemcachedClient::delete
//! [`delete_multi`]: crate::MemcachedClient::delete_multi
//! [`distribution`]: crate::SockIoPoolBuilder::distribution
//! [`failover`]: crate::SockIoPoolBuilder::failover
//! [`failure_limit`]: crate::SockIoPoolBuilder::failure_limit
//! [`failures`]: crate::Multi::failures
//! [`flush_all`]: crate::MemcachedClient::flush_all
//! [`get`]: crate::MemcachedClient::get
//! [`get_multi`]: crate::MemcachedClient::get_multi
//! [`gets`]: crate::MemcachedClient::gets
//! [`gets_multi`]: crate::MemcachedClient::gets_multi
//! [`hash_prefix`]: crate::SockIoPoolBuilder::hash_prefix
//! [`hashing`]: crate::SockIoPoolBuilder::hashing
//! [`incr`]: crate::MemcachedClient::incr
//! [`keep_alive`]: crate::SockIoPoolBuilder::keep_alive
//! [`nagle`]: crate::SockIoPoolBuilder::nagle
//! [`operation_timeout`]: crate::SockIoPoolBuilder::operation_timeout
//! [`prefix`]: crate::SockIoPoolBuilder::prefix
//! [`prepend`]: crate::MemcachedClient::prepend
//! [`replace`]: crate::MemcachedClient::replace
//! [`retry_writes`]: crate::SockIoPoolBuilder::retry_writes
//! [`server_of`]: crate::SockIoPool::server_of
//! [`servers`]: crate::SockIoPoolBuilder::servers
//! [`session::DEFAULT_PREFIX`]: crate::session::DEFAULT_PREFIX
//! [`session::php_memcached`]: crate::session::php_memcached
//! [`set`]: crate::MemcachedClient::set
//! [`set_multi`]: crate::MemcachedClient::set_multi
//! [`set_with_flags`]: crate::MemcachedClient::set_with_flags
//! [`shutdown`]: crate::SockIoPool::shutdown
//! [`socket_timeout`]: crate::SockIoPoolBuilder::socket_timeout
//! [`source`]: std::error::Error::source
//! [`stats`]: crate::MemcachedClient::stats
//! [`transcoder`]: crate::SockIoPoolBuilder::transcoder
//! [`touch`]: crate::MemcachedClient::touch
//! [`user_flags`]: crate::codec::PhpMemcached::user_flags
//! [`user_flags_in`]: crate::codec::PhpMemcached::user_flags_in
//! [`versions`]: crate::MemcachedClient::versions
//! [`weights`]: crate::SockIoPoolBuilder::weights
#![doc(alias(
    "getOption",
    "isPersistent",
    "isPristine",
    "resetServerList",
    "getDelayed",
    "getDelayedByKey",
    "fetch",
    "fetchAll",
    "getAllKeys",
    "setSaslAuthData",
    "HAVE_SASL",
    "RES_AUTH_PROBLEM",
    "RES_AUTH_FAILURE",
    "RES_AUTH_CONTINUE",
    "setEncodingKey",
    "HAVE_ENCODING",
    "OPT_BINARY_PROTOCOL",
    "memcached.default_binary_protocol",
    "OPT_BUFFER_WRITES",
    "flushBuffers",
    "RES_BUFFERED",
    "OPT_NOREPLY",
    "OPT_NO_BLOCK",
    "OPT_USE_UDP",
    "OPT_NUMBER_OF_REPLICAS",
    "OPT_RANDOMIZE_REPLICA_READ",
    "OPT_VERIFY_KEY",
    "OPT_CACHE_LOOKUPS",
    "OPT_LIBKETAMA_HASH",
    "HASH_HSIEH",
    "OPT_SOCKET_SEND_SIZE",
    "OPT_SOCKET_RECV_SIZE",
    "OPT_COMPRESSION_LEVEL",
    "memcached.compression_level",
    "COMPRESSION_ZSTD",
    "HAVE_ZSTD",
    "OPT_ITEM_SIZE_LIMIT",
    "memcached.item_size_limit",
    "HAVE_IGBINARY",
    "HAVE_JSON",
    "HAVE_MSGPACK",
    "HAVE_SESSION",
    "LIBMEMCACHED_VERSION_HEX",
    "GET_ERROR_RETURN_VALUE",
    "RES_FAILURE",
    "RES_DATA_DOES_NOT_EXIST",
    "RES_END",
    "RES_DELETED",
    "RES_VALUE",
    "RES_STAT",
    "RES_ITEM",
    "RES_NOT_SUPPORTED",
    "RES_FETCH_NOTFINISHED",
    "RES_UNKNOWN_STAT_KEY",
    "RES_PARSE_ERROR",
    "RES_PARSE_USER_ERROR",
    "RES_DEPRECATED",
    "RES_IN_PROGRESS",
    "RES_MAXIMUM_RETURN",
    "RES_MEMORY_ALLOCATION_FAILURE",
    "memcached.sess_locking",
    "memcached.sess_lock_wait_min",
    "memcached.sess_lock_wait_max",
    "memcached.sess_lock_retries",
    "memcached.sess_lock_expire",
    "memcached.sess_lock_wait",
    "memcached.sess_lock_max_wait",
    "memcached.sess_consistent_hash",
    "memcached.sess_consistent_hash_type",
    "memcached.sess_remove_failed_servers",
    "memcached.sess_server_failure_limit",
    "memcached.sess_connect_timeout",
    "memcached.sess_persistent",
    "memcached.sess_binary_protocol",
    "memcached.sess_number_of_replicas",
    "memcached.sess_randomize_replica_read",
    "memcached.sess_sasl_username",
    "memcached.sess_sasl_password"
))]
