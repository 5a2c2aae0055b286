//! From an old client to this one: a page for each, with every method and setting that it had. Documentation only.
//!
//! | page | the old client |
//! |---|---|
//! | [`whalin`] | Java: `com.danga.MemCached`, `com.meetup.memcached`, `com.whalin.MemCached`; 1.x, 2.x and 3.x |
//! | [`memcacheddotnet`] | .NET: `Memcached.ClientLibrary` |
//! | [`enyim`] | .NET: EnyimMemcached 2.x |
//! | [`pecl_memcache`] | PHP: class `Memcache`, functions `memcache_…` |
//! | [`php_memcached`] | PHP: class `Memcached`, on libmemcached |
//!
//! Each begins with what decides where keys go: a program that gets this wrong runs well and finds nothing.
//! Every old name is an alias in the search of this documentation: on the item that replaces it, or, where nothing does,
//! on its client's page, which says why.
//!
//! # What is the same for all of them
//!
//! | the old clients | here | why |
//! |---|---|---|
//! | `null`, `false`, `-1` for a miss, a refusal and a failure alike | `Ok(None)`, `Ok(false)`, and `Err` where the answer is not known | a server that is down looks like an empty cache else. [`degrade`] brings the old way back |
//! | a value of any type, cast by the caller | the type that is asked for: `get::<i64>`; [`Value`] where any will do | a value that does not fit is an [`ErrorKind::Decode`] error and the connection stays good |
//! | a time to live in seconds, a date, or 0 for ever, by the client's own rule | [`Expiry`]: a `Duration`, a `SystemTime`, or [`Expiry::never`] | rounded up to seconds, so that half a second is not for ever; more than 30 days are sent as a date; zero and the past are gone at once |
//! | any key is sent, or changed in silence | 1 to 250 bytes with the prefix, no blank, no control byte; else [`ErrorKind::Key`], nothing sent | a line end in a key is a second command |
//! | `delete` with a time | no time | memcached 1.6 refuses any but 0. To keep others from storing for a while, `add` or `set` a mark that expires |
//! | settings changed while the pool runs | [`SockIoPool::builder`], then [`build`]; a built pool does not change and tells no settings | other servers are another pool, which takes over when it is built |
//! | times in milliseconds or seconds, 0 for ever | `Duration`; zero is refused, and nothing waits for ever | [`operation_timeout`] covers all that one call does |
//! | a lost answer is sent for again | [`ErrorKind::Ambiguous`] for what changes something; [`retry_writes`] for what may be done twice | what was carried out is not carried out again |
//! | objects of the language | bytes with their kind ([`Value::Foreign`]), written back unchanged, never run | what a server sends is not trusted |
//! | binary protocol, UDP, SASL | the text protocol over TCP or a unix socket | both protocols reach the same items of a server, so that a binary client and this one share them |
//!
//! An `add` or `replace` that is declined is `Ok(false)`, a counter that is not there `Ok(None)`; so `-1` needs no test.
//! Counters are `u64`, as they are for the server.
//!
//! [`degrade`]: crate::MemcachedClient::degrade
//! [`Value`]: crate::Value
//! [`Value::Foreign`]: crate::Value::Foreign
//! [`Expiry`]: crate::Expiry
//! [`Expiry::never`]: crate::Expiry::never
//! [`ErrorKind::Decode`]: crate::ErrorKind::Decode
//! [`ErrorKind::Key`]: crate::ErrorKind::Key
//! [`ErrorKind::Ambiguous`]: crate::ErrorKind::Ambiguous
//! [`SockIoPool::builder`]: crate::SockIoPool::builder
//! [`build`]: crate::SockIoPoolBuilder::build
//! [`operation_timeout`]: crate::SockIoPoolBuilder::operation_timeout
//! [`retry_writes`]: crate::SockIoPoolBuilder::retry_writes

pub mod enyim;
pub mod memcacheddotnet;
pub mod pecl_memcache;
pub mod php_memcached;
pub mod whalin;
