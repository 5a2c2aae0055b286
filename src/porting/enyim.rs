//! Porting from the .NET client EnyimMemcached, 2.x.
//!
//! # Where keys go
//!
//! The node locator decides: `DefaultNodeLocator`, the default, is `enyim/default`; `KetamaNodeLocator` is `enyim/ketama/md5`, and with another
//! hash `enyim/ketama/…`. Neither is the ring of libmemcached or spymemcached, nor do weights count. Servers must be IP addresses with a port, or
//! `name/ip:port`: Enyim resolves names first and hashes the address. A `KeyTransformer` other than the default one changes the key before it is hashed: say
//! [`key_transform`] with [`KeyTransform::Base64`] and so on.
//!
//! Over the text protocol Enyim sends `?` for each character of a key that is no ASCII; such keys can be shared only with programs that use
//! the binary one, its default.
//!
//! # The set-up
//!
//! ```text
//! var config = new MemcachedClientConfiguration();
//! config.AddServer("10.0.0.1", 11211);
//! config.AddServer("10.0.0.2", 11211);
//! config.NodeLocator = typeof(KetamaNodeLocator);
//! config.SocketPool.MaxPoolSize = 50;
//! config.SocketPool.ReceiveTimeout = TimeSpan.FromSeconds(2);
//! var client = new MemcachedClient(config);
//! ```
//!
//! ```no_run
//! use std::time::Duration;
//! use sockio::{Compat, MemcachedClient, SockIoPool};
//!
//! # fn main() -> sockio::Result<()> {
//! let enyim: Compat = "enyim/ketama/md5".parse()?;
//! let pool = SockIoPool::builder()
//!     .compat(enyim)
//!     .defaults_of(enyim)
//!     .servers(["10.0.0.1:11211", "10.0.0.2:11211"])
//!     .max_conn(50)
//!     .max_open(50)
//!     .socket_timeout(Duration::from_secs(2))
//!     .build()?;
//! let client = MemcachedClient::new(pool);
//! # Ok(()) }
//! ```
//!
//! # Settings
//!
//! | Enyim | default | here | what differs |
//! |---|---|---|---|
//! | `MemcachedClientConfiguration`, `AddServer` | | [`SockIoPool::builder`], [`servers`] | a configuration file is the program's |
//! | `NodeLocator`, `IMemcachedNodeLocator`, `DefaultNodeLocator`, `KetamaNodeLocator` | | [`compat`], [`Distribution`] | |
//! | `KeyTransformer`, `DefaultKeyTransformer`, `Base64KeyTransformer`, `SHA1KeyTransformer`, `TigerHashKeyTransformer` | as it is | [`key_transform`] | |
//! | `Transcoder`, `ITranscoder`, `DefaultTranscoder` | | [`Enyim`], which comes with the name | compresses nothing, as there. An empty string is empty, not null |
//! | `SocketPool.MinPoolSize` | 10 | [`min_conn`], [`initial_conn`] | |
//! | `SocketPool.MaxPoolSize` | 20 | [`max_open`], [`max_conn`] | a hard limit there |
//! | `SocketPool.ConnectionTimeout` | 10 s | [`connect_timeout`] | |
//! | `SocketPool.ReceiveTimeout` | 10 s | [`socket_timeout`] | |
//! | `SocketPool.QueueTimeout` | 100 ms | [`operation_timeout`] | waiting for a connection is part of the operation |
//! | `SocketPool.DeadTimeout` | 10 s, fixed | [`dead_backoff`] | start and limit the same: fixed too |
//! | `SocketPool.KeepAliveStartDelay`, `SocketPool.KeepAliveInterval` | off | [`keep_alive`] | the interval is the system's |
//! | `SocketPool.FailurePolicyFactory` | at once | [`failure_limit`] | failures in a row; no window of time |
//!
//! A node that fails leaves the ring, and the rest are placed anew, as there. One that came back was not used again by Enyim's ketama ring; here it is.
//!
//! # Operations
//!
//! | Enyim | here | what differs |
//! |---|---|---|
//! | `Get`, `Get<T>`, `TryGet`, `ExecuteGet`, `ExecuteTryGet` | [`get`]; many keys: [`get_multi`] | `None` for a miss, an error for a failure |
//! | `GetWithCas`, `TryGetWithCas`, `CasResult` | [`gets`], [`gets_multi`], [`Item`] | |
//! | `Store`, `StoreMode`, `ExecuteStore` | [`set`], [`add`], [`replace`] | one method for each mode |
//! | `Cas`, `ExecuteCas` | [`cas`] | a token of 0 is a token; [`set`] stores without one |
//! | `Append`, `Prepend`, `ExecuteAppend`, `ExecutePrepend` | [`append`], [`prepend`] | no token |
//! | `Increment`, `Decrement`, `ExecuteIncrement`, `ExecuteDecrement` | [`incr`], [`decr`], [`add_or_incr`] | `defaultValue` where there is no counter: after a `None`, [`add`] it as text, and [`incr`] again if that is declined. [`add_or_incr`] stores the delta itself. No token |
//! | `Remove`, `ExecuteRemove` | [`delete`] | |
//! | `FlushAll`, `Stats` | [`flush_all`], [`stats`] | an answer per server |
//! | `NodeFailed` | [`on_error`] | |
//! | `TimeSpan validFor`, `DateTime expiresAt` | [`Expiry`] | `TimeSpan.Zero` was for ever: [`Expiry::never`]; zero is gone at once here |
//! | `Dispose` | [`shutdown`] | |
//!
//! # Without a counterpart
//!
//! | old | why |
//! |---|---|
//! | `Protocol` | the text protocol only; a binary Enyim finds the same items |
//! | `Authentication` | SASL needs the binary protocol |
//! | `PerformanceMonitor` | counts are in [`SockIoPool::stats`] |
//!
//! Source: EnyimMemcached, git 485b5fe (2016).
//!
//! [`KeyTransform::Base64`]: crate::KeyTransform::Base64
//! [`Distribution`]: crate::router::Distribution
//! [`Enyim`]: crate::codec::Enyim
//! [`SockIoPool::builder`]: crate::SockIoPool::builder
//! [`SockIoPool::stats`]: crate::SockIoPool::stats
//! [`shutdown`]: crate::SockIoPool::shutdown
//! [`servers`]: crate::SockIoPoolBuilder::servers
//! [`compat`]: crate::SockIoPoolBuilder::compat
//! [`key_transform`]: crate::SockIoPoolBuilder::key_transform
//! [`initial_conn`]: crate::SockIoPoolBuilder::initial_conn
//! [`min_conn`]: crate::SockIoPoolBuilder::min_conn
//! [`max_conn`]: crate::SockIoPoolBuilder::max_conn
//! [`max_open`]: crate::SockIoPoolBuilder::max_open
//! [`connect_timeout`]: crate::SockIoPoolBuilder::connect_timeout
//! [`socket_timeout`]: crate::SockIoPoolBuilder::socket_timeout
//! [`operation_timeout`]: crate::SockIoPoolBuilder::operation_timeout
//! [`dead_backoff`]: crate::SockIoPoolBuilder::dead_backoff
//! [`keep_alive`]: crate::SockIoPoolBuilder::keep_alive
//! [`failure_limit`]: crate::SockIoPoolBuilder::failure_limit
//! [`get`]: crate::MemcachedClient::get
//! [`get_multi`]: crate::MemcachedClient::get_multi
//! [`gets`]: crate::MemcachedClient::gets
//! [`gets_multi`]: crate::MemcachedClient::gets_multi
//! [`set`]: crate::MemcachedClient::set
//! [`add`]: crate::MemcachedClient::add
//! [`replace`]: crate::MemcachedClient::replace
//! [`cas`]: crate::MemcachedClient::cas
//! [`append`]: crate::MemcachedClient::append
//! [`prepend`]: crate::MemcachedClient::prepend
//! [`incr`]: crate::MemcachedClient::incr
//! [`decr`]: crate::MemcachedClient::decr
//! [`add_or_incr`]: crate::MemcachedClient::add_or_incr
//! [`delete`]: crate::MemcachedClient::delete
//! [`flush_all`]: crate::MemcachedClient::flush_all
//! [`stats`]: crate::MemcachedClient::stats
//! [`on_error`]: crate::MemcachedClient::on_error
//! [`Item`]: crate::Item
//! [`Expiry`]: crate::Expiry
//! [`Expiry::never`]: crate::Expiry::never
#![doc(alias = "Protocol")]
#![doc(alias = "Authentication")]
#![doc(alias = "PerformanceMonitor")]
