//! Porting from the Java client (whalin: `com.danga.MemCached`, `com.meetup.memcached`, `com.whalin.MemCached`).
//!
//! # Where keys go
//!
//! **A Java program that never called `setSanitizeKeys(false)` needs `whalin/…+sanitize`**: it URL-encoded each key before it hashed and
//! sent it. `whalin/…` without the variant takes keys as they are: that is `setSanitizeKeys(false)`, and the binary client of 3.x,
//! which does not sanitize by default. The two differ for each key that has a byte other than `A-Z a-z 0-9 . - * _`: the colon in `user:1` is one.
//!
//! ```
//! use sockio::Compat;
//! let default: Compat = "whalin/native+sanitize".parse()?;
//! assert_eq!(&*default.key_transform().transform(b"user:1 x"), b"user%3A1+x");
//! # Ok::<(), sockio::Error>(())
//! ```
//!
//! | `setHashingAlg` | 2.x, 3.x | 1.x |
//! |---|---|---|
//! | `NATIVE_HASH` (0, the default) | `whalin/native` | `whalin-1/native` |
//! | `OLD_COMPAT_HASH` (1) | `whalin/old-compat`, 64 bits | `whalin-1/old-compat`, 32 bits: long keys live elsewhere |
//! | `NEW_COMPAT_HASH` (2) | `whalin/new-compat` | `whalin-1/new-compat` |
//! | `CONSISTENT_HASH` (3) | `whalin/consistent` | |
//!
//! Each with `+sanitize` where the Java program sanitizes. The text of a server and the order of the list decide too: they must be those
//! of the Java program to the letter. An unknown number was `NATIVE_HASH` in silence; here an unknown name is an error.
//!
//! # The set-up
//!
//! ```text
//! SockIOPool pool = SockIOPool.getInstance("main");
//! pool.setServers(new String[] { "cache1:11211", "cache2:11211" });
//! pool.setWeights(new Integer[] { 3, 1 });
//! pool.setHashingAlg(SockIOPool.NEW_COMPAT_HASH);
//! pool.setInitConn(5);
//! pool.setMinConn(5);
//! pool.setMaxConn(250);
//! pool.setMaxIdle(1000 * 60 * 60 * 6);
//! pool.setSocketTO(3000);
//! pool.initialize();
//! MemCachedClient client = new MemCachedClient("main");
//! ```
//!
//! ```no_run
//! use std::time::Duration;
//! use sockio::{Compat, MemcachedClient, SockIoPool};
//!
//! # fn main() -> sockio::Result<()> {
//! let java: Compat = "whalin/new-compat+sanitize".parse()?;
//! let pool = SockIoPool::builder()
//!     .compat(java)      // where keys go, how values look
//!     .defaults_of(java) // the Java pool's sizes and times where nothing below says otherwise
//!     .servers(["cache1:11211", "cache2:11211"])
//!     .weights([3, 1])
//!     .initial_conn(5)
//!     .min_conn(5)
//!     .max_conn(250)
//!     .max_idle(Duration::from_secs(60 * 60 * 6))
//!     .socket_timeout(Duration::from_millis(3000))
//!     .build_named("main")?;
//! let client = MemcachedClient::new(pool);
//! # Ok(()) }
//! ```
//!
//! `examples/from_java.rs` goes through a whole program line by line.
//!
//! # The pool
//!
//! Java's times are milliseconds. Defaults are those of 1.6 / 2.x's last version / 3.0.2 (`SockIOPool.java`, `SchoonerSockIOPool.java`);
//! [`defaults_of`] takes those of 1.6 for `whalin-1/…` and of 2.x for `whalin/…`, allows 1,000 open connections per server, and makes
//! [`operation_timeout`] at least as long as `socketTO`.
//!
//! | `SockIOPool` | default | here | what differs |
//! |---|---|---|---|
//! | `getInstance()`, `getInstance(name)`, `initialize()` | | [`SockIoPool::builder`] … [`build`] or [`build_named`]; then [`SockIoPool::named`] | a pool without a name ends with its last clone. A pool that is built cannot be initialized again; a name that is taken is an error |
//! | `setServers`, `getServers` | | [`servers`], [`SockIoPool::servers`] | `host:port` had to have a port and could be no IPv6 address; a bad one was found at each connect, here by [`build`] |
//! | `setWeights` | all 1 | [`weights`] | as many as servers: Java filled up a short list (buckets) or failed (ring). 0 keeps a server out, as in Java. The old total is not carried over to a pool built later |
//! | `setHashingAlg` | 0 | [`compat`] | see above |
//! | `setInitConn` | 3 / 10 / `minConn` | [`initial_conn`] | per server, not per weight. 3.x opened none, its setter only lowered `minConn` |
//! | `setMinConn` | 3 / 5 / 8 | [`min_conn`] | also for a server that has not been used yet. 3.x stored it and did nothing |
//! | `setMaxConn` | 10 / 100 / 32 | [`max_conn`]; [`max_open`] | 1.x and 2.x limited idle connections only; the limit of open ones, 3.x's `maxConn`, is [`max_open`] |
//! | `setMaxIdle` | 180,000 / 300,000 / 32 | [`max_idle`] | was looked at only above `maxConn`; here above [`min_conn`]. In 3.x it is a number of connections |
//! | `setMaxBusyTime` | 300,000 / 30,000 / 30,000 | [`max_busy`] | the holder gets a time-out. In 1.x the check ended the maintenance thread; in 3.x it limits `getMulti` only |
//! | `setMaintSleep` | 5,000 / 30,000 / unused | [`maint_sleep`] | 0 meant no maintenance: here the thread always runs, and an error does not end it |
//! | `setSocketTO` | 10,000 / 3,000 / 30,000 | [`socket_timeout`] | of each read; [`operation_timeout`] bounds the sum. 0 meant for ever, and is an error |
//! | `setSocketConnectTO` | 3,000 | [`connect_timeout`] | of all addresses of a name together. 0 is an error |
//! | `setAliveCheck` | false | [`alive_check`] | closed connections are found without it. 3.x stored it and used `setTestOnBorrow` |
//! | `setFailover` | true | [`failover`] | the same servers in the same order. See below |
//! | `setFailback` | true | [`failback`] | false kept no server out, every call tried it; here it stays out for the life of the pool |
//! | `setNagle` | true / false / false | [`nagle`] | Java's did the opposite of its name: `setNagle(true)` set `TCP_NODELAY`. Here small writes are never held back unless `nagle(true)` asks for it |
//! | `MAX_RETRY_DELAY`, `hostDeadDur` | 1 s, doubling to 10 min | [`dead_backoff`] | 100 ms to 10 min unless [`defaults_of`] or the program says otherwise |
//! | `poolMultiplier`, `maxCreate` | 4 / 3 / none | [`max_create`] | growth in batches is 1.x's; 2.x opened one at a time. Batches are the maintenance thread's, a caller opens one |
//! | `getHost(key)`, `getHost(key, hashCode)` | | [`server_of`] | no connection is taken for it; while all servers are up |
//! | `getSock(key)` | | [`Router::candidates`] for the order of servers | connections are not handed out |
//! | `getBucket` (1.x) | | [`Router::slot`] | |
//! | `shutDown()` | | [`shutdown`] | ends in order with connections lent; Java threw and left the pool half shut |
//! | `setMaxWait` (3.x) | 1,000 | [`operation_timeout`] | waiting for a connection is part of the operation, and its end no failure of the server |
//! | `setMinIdle` (3.x) | 0 | [`min_conn`] | |
//! | `setTestOnBorrow` (3.x) | | [`alive_check`] | |
//! | `setTimeBetweenEvictionRunsMillis` (3.x) | none | [`maint_sleep`] | |
//! | `setMinEvictableIdleTimeMillis`, `setSoftMinEvictableIdleTimeMillis` (3.x) | | [`max_idle`] | keeps [`min_conn`], as the soft one |
//!
//! **Servers that fail.** Only a failed connect marked a Java server dead; here a time-out does too. The walk is Java's: 2.x and 3.x
//! hash `0key`, `1key` … until that names a server not yet tried, 1.x a bucket not yet tried. Java's search never ends for some keys
//! (with `OLD_COMPAT_HASH` and three buckets: those of keys of up to about six characters); here it is bounded. In 3.x `failback` was tested the
//! wrong way round. A dead server is tried again by the pool's own thread, not by callers.
//!
//! # The client
//!
//! | `MemCachedClient` | here | what differs |
//! |---|---|---|
//! | `new MemCachedClient(…)`, `setPoolName` (1.x) | [`MemcachedClient::new`] with [`SockIoPool::named`] | no reflection, no class loader |
//! | `get(key)` | [`get`] | `None` for a miss. An empty `String` or `byte[]` is empty, not null. A plain string of PHP or others (flags 0) is text, not null |
//! | `get(key, hashCode)` and all others with `Integer hashCode` | the key as [`Key::with_hash`] | first choice only, as in Java: failover hashes the key |
//! | `get(key, hashCode, asString)` | `get::<String>` | reads text, numbers and what [`primitive_as_string`] wrote. Java read the bytes of a stored `Integer` as text |
//! | `gets(key)`, `MemcachedItem`, `getCasUnique()`, `getValue()` (3.x) | [`gets`], [`Item`] | |
//! | `set`, `add`, `replace` `(key, value[, Date][, hashCode])` | [`set`], [`add`], [`replace`] | a null value is an [`ErrorKind::Encode`] error; Java said false |
//! | the same with `asString` (3.x) | a clone of the client with [`with_transcoder`] and [`primitive_as_string`] | |
//! | `Date expiry` | [`Expiry`] | Java sent `getTime() / 1000`: `new Date(10000)` is ten seconds from now, `Duration::from_secs(10)`; a date of today is a `SystemTime`. `new Date(500)` was for ever; half a second is one second here |
//! | `cas(key, value, …, casUnique)` (3.x) | [`cas`] | tells [`Cas::Exists`] from [`Cas::NotFound`]; both were false |
//! | `append`, `prepend` (3.x) | [`append`], [`prepend`] | bytes, past the transcoder |
//! | `delete(key)` | [`delete`] | |
//! | `delete(key, Date)`, `delete(key, hashCode, Date)` | [`delete`] | memcached refuses a time, Java then said false |
//! | `keyExists(key)` | [`exists`] | true for an empty value too (3.x: false); the value is not fetched |
//! | `storeCounter(key, Long[, Date][, hashCode])` | [`store_counter`] | not negative. Flags 0 as 1.x and 2.x; with [`Whalin::v3`] 32 as 3.x |
//! | `getCounter(key)` | [`get_counter`] | `None` for -1. Reads `9 `, which the server keeps after 10 less 1 and Java took for no number; what is no number is an error |
//! | `incr(key[, n])`, `decr(key[, n])` | [`incr`], [`decr`] | `n` was 1 by default and is said here; not negative. `None` for -1. On a stored `Integer` an error, -1 in Java: counters are text. 3.x's binary client made a missing counter 0; here it is a miss |
//! | `addOrIncr(key[, n])`, `addOrDecr(key[, n])` | [`add_or_incr`], [`add_or_decr`] | `n` was 0 by default. Stores `n` where there is none, as Java. With an expiry for a new one. A lost answer is [`ErrorKind::Ambiguous`] |
//! | `getMulti(keys[, hashCodes[, asString]])` | [`get_multi`] | 2.x put a null into the map for each miss, 1.x and 3.x left it out: [`into_map`] has the hits, iterating all keys. Keys of a server that failed are in [`failures`], not among the misses; Java dropped them. No keys: empty, not null |
//! | `getMultiArray(keys…)` | [`get_multi`], iterated | `Option` in the order of the keys |
//! | `flushAll()`, `flushAll(servers)` | [`flush_all`], [`flush_all_on`] | an answer per server; may have a delay |
//! | `stats()`, `stats(servers)` | [`stats`] | every server has an entry, also one that failed |
//! | `statsItems`, `statsSlabs`, `statsCacheDump(slab, limit)` | `stats(Some("items"))`, `"slabs"`, `"cachedump 1 100"` | |
//! | `setErrorHandler`, `ErrorHandler`: `handleErrorOnInit`, `handleErrorOnGet`, `handleErrorOnSet`, `handleErrorOnDelete`, `handleErrorOnFlush`, `handleErrorOnStats` | [`on_error`] | one handler; the error names server and kind, never the key. A miss or a refusal is no error; `OnInit` was never called |
//! | null, false and -1 whatever happened | [`degrade`] | off by default |
//! | `setSanitizeKeys` | `+sanitize` in the name, or [`key_transform`] | see above |
//!
//! # Values
//!
//! The transcoder comes with the name: [`Whalin::v2`] for `whalin/…`, which 3.x reads too, [`Whalin::v1`] for `whalin-1/…`.
//! A cache of 3.x programs that store objects or counters needs `.transcoder(Whalin::v3())`. 1.x and 2.x cannot read each other.
//!
//! | Java | Rust | flags, 2.x and 3.x |
//! |---|---|---|
//! | `Byte`, `Short`, `Integer`, `Long` | `i8`, `i16`, `i32`, `i64`; unsigned ones as the next wider | 1, 256, 4, 16384 |
//! | `Boolean`, `Character` | `bool`, `char` | 8192, 16 |
//! | `Float`, `Double` | `f32`, `f64` | 128, 512 |
//! | `String`, `StringBuffer`, `StringBuilder` | `String`; [`Value::StringBuffer`], [`Value::StringBuilder`] | 32, 64, 2048 |
//! | `Date`, `byte[]` | `SystemTime`, `Vec<u8>` | 1024, 4096 |
//! | any other `Serializable` | [`Value::Foreign`], bytes | 8; 0 in 3.x |
//! | compressed | the same | 2 in addition |
//!
//! `new Integer(42)` is `42_i32`: an `i64` would be read as `Long` and fail in the cast of a Java program.
//!
//! | setting | here | what differs |
//! |---|---|---|
//! | `setCompressEnable(false)` | [`Whalin::compression`] with [`Compression::never`] | 3.x threw, and never compressed on writing |
//! | `setCompressThreshold(n)` | [`Compression::threshold`] | 30,720 bytes by default, whatever Java's comments say. What does not shrink is compressed with 1.x and 2.x as there, unless [`only_if_smaller`] |
//! | `setPrimitiveAsString(true)` | [`primitive_as_string`] | bytes keep their form |
//! | `setDefaultEncoding` | UTF-8 | read another encoding as bytes |
//! | `setTransCoder`, `TransCoder`, `ObjectTransCoder`, `AbstractTransCoder` (3.x) | [`Transcoder`], for all types | [`with_transcoder`] or the pool's [`transcoder`] |
//! | `NativeHandler` | [`Whalin`] | |
//!
//! # Without a counterpart
//!
//! | old | why |
//! |---|---|
//! | `getInitConn`, `getMinConn`, `getMaxConn`, `getMaxIdle`, `getMaxBusy`, `getMaintSleep`, `getSocketTO`, `getSocketConnectTO`, `getFailover`, `getFailback`, `getAliveCheck`, `getNagle`, `getHashingAlg`, `getWeights`, `getMaxWait`, `getMinIdle`, `getTestOnBorrow`, `getTestOnReturn`, `getTestWhileIdle`, `getLifo`, `getBufferSize`, `getTimeBetweenEvictionRunsMillis`, `getNumTestsPerEvictionRun`, `getMinEvictableIdleTimeMillis`, `getSoftMinEvictableIdleTimeMillis` | a pool tells no settings; [`SockIoPool::stats`] tells its state |
//! | `isInitialized` | a pool that there is has been built; [`SockIoPool::named`] is `None` for one that is not |
//! | `getConnection`, `checkIn`, `SockIO`, `trueClose`, `readLine`, `clearEOL`, `isAlive`, `getChannel` | connections are not handed out, so that none comes back in the middle of a reply; [`raw`] sends what there is no method for |
//! | `setLifo`, `setTestOnReturn`, `setTestWhileIdle`, `setNumTestsPerEvictionRun` | the connection used last is lent first; one in doubt never comes back; resting ones are looked at before use |
//! | `setBufferSize` | 16 KiB while in use, more where a value needs it |
//! | `setClassLoader` | Java objects are bytes here |
//! | `isUseBinaryProtocol`, `getInstance(isTcp)` | text protocol over TCP: a binary Java client finds the same items |
//! | `AuthInfo` | SASL needs the binary protocol |
//! | `sync`, `syncAll` | Schooner's own commands; memcached knows none of them and Java said false |
//!
//! Sources: whalin, tags `release_1.6` and `release_2.0.1`, branches `master` (2.x) and `performance` (3.0.2), run on JDK 17.
//!
//! [`SockIoPool::builder`]: crate::SockIoPool::builder
//! [`SockIoPool::named`]: crate::SockIoPool::named
//! [`SockIoPool::servers`]: crate::SockIoPool::servers
//! [`SockIoPool::stats`]: crate::SockIoPool::stats
//! [`server_of`]: crate::SockIoPool::server_of
//! [`shutdown`]: crate::SockIoPool::shutdown
//! [`build`]: crate::SockIoPoolBuilder::build
//! [`build_named`]: crate::SockIoPoolBuilder::build_named
//! [`servers`]: crate::SockIoPoolBuilder::servers
//! [`weights`]: crate::SockIoPoolBuilder::weights
//! [`compat`]: crate::SockIoPoolBuilder::compat
//! [`defaults_of`]: crate::SockIoPoolBuilder::defaults_of
//! [`initial_conn`]: crate::SockIoPoolBuilder::initial_conn
//! [`min_conn`]: crate::SockIoPoolBuilder::min_conn
//! [`max_conn`]: crate::SockIoPoolBuilder::max_conn
//! [`max_open`]: crate::SockIoPoolBuilder::max_open
//! [`max_create`]: crate::SockIoPoolBuilder::max_create
//! [`max_idle`]: crate::SockIoPoolBuilder::max_idle
//! [`max_busy`]: crate::SockIoPoolBuilder::max_busy
//! [`maint_sleep`]: crate::SockIoPoolBuilder::maint_sleep
//! [`socket_timeout`]: crate::SockIoPoolBuilder::socket_timeout
//! [`connect_timeout`]: crate::SockIoPoolBuilder::connect_timeout
//! [`operation_timeout`]: crate::SockIoPoolBuilder::operation_timeout
//! [`alive_check`]: crate::SockIoPoolBuilder::alive_check
//! [`failover`]: crate::SockIoPoolBuilder::failover
//! [`failback`]: crate::SockIoPoolBuilder::failback
//! [`nagle`]: crate::SockIoPoolBuilder::nagle
//! [`dead_backoff`]: crate::SockIoPoolBuilder::dead_backoff
//! [`key_transform`]: crate::SockIoPoolBuilder::key_transform
//! [`transcoder`]: crate::SockIoPoolBuilder::transcoder
//! [`Router::candidates`]: crate::router::Router::candidates
//! [`Router::slot`]: crate::router::Router::slot
//! [`MemcachedClient::new`]: crate::MemcachedClient::new
//! [`get`]: crate::MemcachedClient::get
//! [`gets`]: crate::MemcachedClient::gets
//! [`set`]: crate::MemcachedClient::set
//! [`add`]: crate::MemcachedClient::add
//! [`replace`]: crate::MemcachedClient::replace
//! [`cas`]: crate::MemcachedClient::cas
//! [`append`]: crate::MemcachedClient::append
//! [`prepend`]: crate::MemcachedClient::prepend
//! [`delete`]: crate::MemcachedClient::delete
//! [`exists`]: crate::MemcachedClient::exists
//! [`store_counter`]: crate::MemcachedClient::store_counter
//! [`get_counter`]: crate::MemcachedClient::get_counter
//! [`incr`]: crate::MemcachedClient::incr
//! [`decr`]: crate::MemcachedClient::decr
//! [`add_or_incr`]: crate::MemcachedClient::add_or_incr
//! [`add_or_decr`]: crate::MemcachedClient::add_or_decr
//! [`get_multi`]: crate::MemcachedClient::get_multi
//! [`flush_all`]: crate::MemcachedClient::flush_all
//! [`flush_all_on`]: crate::MemcachedClient::flush_all_on
//! [`stats`]: crate::MemcachedClient::stats
//! [`raw`]: crate::MemcachedClient::raw
//! [`on_error`]: crate::MemcachedClient::on_error
//! [`degrade`]: crate::MemcachedClient::degrade
//! [`with_transcoder`]: crate::MemcachedClient::with_transcoder
//! [`into_map`]: crate::GetMulti::into_map
//! [`failures`]: crate::Multi::failures
//! [`Item`]: crate::Item
//! [`Key::with_hash`]: crate::Key::with_hash
//! [`Expiry`]: crate::Expiry
//! [`Cas::Exists`]: crate::Cas::Exists
//! [`Cas::NotFound`]: crate::Cas::NotFound
//! [`ErrorKind::Encode`]: crate::ErrorKind::Encode
//! [`ErrorKind::Ambiguous`]: crate::ErrorKind::Ambiguous
//! [`Value::Foreign`]: crate::Value::Foreign
//! [`Value::StringBuffer`]: crate::Value::StringBuffer
//! [`Value::StringBuilder`]: crate::Value::StringBuilder
//! [`Transcoder`]: crate::Transcoder
//! [`Whalin`]: crate::codec::Whalin
//! [`Whalin::v1`]: crate::codec::Whalin::v1
//! [`Whalin::v2`]: crate::codec::Whalin::v2
//! [`Whalin::v3`]: crate::codec::Whalin::v3
//! [`Whalin::compression`]: crate::codec::Whalin::compression
//! [`primitive_as_string`]: crate::codec::Whalin::primitive_as_string
//! [`Compression::never`]: crate::codec::Compression::never
//! [`Compression::threshold`]: crate::codec::Compression::threshold
//! [`only_if_smaller`]: crate::codec::Compression::only_if_smaller
#![doc(alias(
    "getInitConn",
    "getMinConn",
    "getMaxConn",
    "getMaxIdle",
    "getMaxBusy",
    "getMaintSleep",
    "getSocketTO",
    "getSocketConnectTO",
    "getFailover",
    "getFailback",
    "getAliveCheck",
    "getNagle",
    "getHashingAlg",
    "getWeights",
    "getMaxWait",
    "getMinIdle",
    "getTestOnBorrow",
    "getTestOnReturn",
    "getTestWhileIdle",
    "getLifo",
    "getBufferSize",
    "getTimeBetweenEvictionRunsMillis",
    "getNumTestsPerEvictionRun",
    "getMinEvictableIdleTimeMillis",
    "getSoftMinEvictableIdleTimeMillis",
    "isInitialized",
    "getConnection",
    "checkIn",
    "SockIO",
    "trueClose",
    "readLine",
    "clearEOL",
    "isAlive",
    "getChannel",
    "setLifo",
    "setTestOnReturn",
    "setTestWhileIdle",
    "setNumTestsPerEvictionRun",
    "setBufferSize",
    "setClassLoader",
    "isUseBinaryProtocol",
    "AuthInfo",
    "sync",
    "syncAll"
))]
