//! Porting from the .NET client memcacheddotnet (`Memcached.ClientLibrary`).
//!
//! # Where keys go
//!
//! Two things decide: the hash, whose default depends on the framework that the old program ran on, and whether its servers stood in order.
//! Keys are hashed and sent as they are, in UTF-8; nothing is URL-encoded.
//!
//! | `HashingAlgorithm` | name |
//! |---|---|
//! | `Native` (the default), .NET Framework 2.0 to 4.8, 64-bit process | `memcacheddotnet/native-netfx64` |
//! | the same in a 32-bit process | `memcacheddotnet/native-netfx32` |
//! | the same, .NET Framework 1.1 | `memcacheddotnet/native-netfx11` |
//! | the same, mono 6.8 | `memcacheddotnet/native-mono` |
//! | the same, .NET Core and 5 on, or `UseRandomizedStringHashAlgorithm` | none: the hash is another one in each process, so that no two share a cache |
//! | `OldCompatibleHash` | `memcacheddotnet/old-compat` |
//! | `NewCompatibleHash` | `memcacheddotnet/new-compat` |
//!
//! `memcacheddotnet/native-netcore` is for programs that call .NET Core's hash without the random seed.
//! .NET Framework's and .NET Core's hashes follow published descriptions
//! and known values; the others were compared with the running client ([`Compat::proof`]).
//!
//! **Servers that are not in ascending order, as texts, need `+live`.** The old pool searched its bucket list by halves without having
//! sorted it, missed servers and appended them again at each connect: `127.0.0.1:1123,127.0.0.1:1122` became three buckets. `+live` has
//! the list as it stood after a start with the default of 3 `InitConnections`; for another number there is [`Spread::DotNetLiveBuckets`].
//! Later connects of the old process could append more: then its own keys moved too, and no fixed list is right.
//!
//! # The set-up
//!
//! ```text
//! SockIOPool pool = SockIOPool.GetInstance("main");
//! pool.SetServers(new string[] { "10.0.0.1:11211", "10.0.0.2:11211" });
//! pool.SetWeights(new int[] { 3, 1 });
//! pool.HashingAlgorithm = HashingAlgorithm.NewCompatibleHash;
//! pool.InitConnections = 3;
//! pool.MinConnections = 3;
//! pool.MaxConnections = 5;
//! pool.SocketConnectTimeout = 1000;
//! pool.MaintenanceSleep = 30000;
//! pool.Initialize();
//! MemcachedClient client = new MemcachedClient();
//! client.PoolName = "main";
//! client.EnableCompression = false;
//! ```
//!
//! ```no_run
//! use std::time::Duration;
//! use sockio::codec::{Compression, MemcachedDotNet};
//! use sockio::{Compat, MemcachedClient, SockIoPool};
//!
//! # fn main() -> sockio::Result<()> {
//! let dotnet: Compat = "memcacheddotnet/new-compat".parse()?;
//! let pool = SockIoPool::builder()
//!     .compat(dotnet)      // where keys go, how values look
//!     .defaults_of(dotnet) // the old pool's sizes and times where nothing below says otherwise
//!     .servers(["10.0.0.1:11211", "10.0.0.2:11211"])
//!     .weights([3, 1])
//!     .initial_conn(3)
//!     .min_conn(3)
//!     .max_conn(5)
//!     .connect_timeout(Duration::from_millis(1000))
//!     .maint_sleep(Duration::from_secs(30))
//!     .build_named("main")?;
//! let client = MemcachedClient::new(pool)
//!     .with_transcoder(MemcachedDotNet::new().compression(Compression::never()));
//! # Ok(()) }
//! ```
//!
//! `examples/from_dotnet.rs` goes through a whole program line by line.
//!
//! # The pool
//!
//! The old times are milliseconds, `MaintenanceSleep` too, which is often written in seconds by mistake.
//!
//! | `SockIOPool` | default | here | what differs |
//! |---|---|---|---|
//! | `GetInstance()`, `GetInstance(name)`, `Initialize()` | | [`SockIoPool::builder`] … [`build`] or [`build_named`]; then [`SockIoPool::named`] | the old pool could not be started again after `Shutdown` |
//! | `Servers`, `SetServers` | | [`servers`], [`SockIoPool::servers`] | names work, ports may be missing; the old pool took IPv4 addresses only, and a name could end the process |
//! | `Weights`, `SetWeights` | all 1 | [`weights`] | as many as servers; a short list was filled up. 0 keeps a server out; the old pool put it back with its first connection |
//! | `HashingAlgorithm` | `Native` | [`compat`] | see above |
//! | `InitConnections` | 3 | [`initial_conn`] | per server, not per weight, as there |
//! | `MinConnections` | 3 | [`min_conn`] | 0 is fine; there it meant that no connection was ever opened |
//! | `MaxConnections` | 10 | [`max_conn`] | idle ones, as there; [`max_open`] limits all |
//! | `MaxIdle` | 180,000 | [`max_idle`] | looked at above [`min_conn`], there only above `MaxConnections` |
//! | `MaxBusy` | 300,000 | [`max_busy`] | the holder gets a time-out |
//! | `MaintenanceSleep` | 5,000 | [`maint_sleep`] | 0 meant none; here the thread always runs and does not keep the program alive |
//! | `SocketTimeout` | 10,000 | [`socket_timeout`] | was stored and never used: a server that hangs held the caller until `MaxBusy`. Here it works |
//! | `SocketConnectTimeout` | 50, in effect 25 | [`connect_timeout`] | 0 meant no limit and is an error. [`defaults_of`] takes the 50 ms |
//! | `Failover` | true | [`failover`] | the same draws. The old pool could draw a dead server again and give up while others lived; so does this row, but no server is dialled twice in a call. With false each call dialled the dead server; here it is left alone |
//! | `Nagle` | true | [`nagle`] | was never used: small writes were held back always. Default here: never |
//! | `Initialized` | | | see below |
//! | `GetSock(key[, hashCode])` | | [`server_of`] for the server, [`Router::candidates`] for the order | connections are not handed out |
//! | `Shutdown()` | | [`shutdown`] | |
//!
//! The pool multiplier of 4, growth in batches and the steps of closing are the same ([`max_create`]); with `MinConnections` 4 to 7 the old
//! batches stayed at 1. A dead server was left alone for 100 ms, doubling without a limit; [`dead_backoff`] has a limit. Only requests tried it
//! again, here the pool's own thread does. Where a server closed a resting connection the old client read for ever; here a new one takes its place.
//!
//! # The client
//!
//! | `MemcachedClient` | here | what differs |
//! |---|---|---|
//! | `new MemcachedClient()`, `PoolName` | [`MemcachedClient::new`] with [`SockIoPool::named`] | |
//! | `Get(key)` | [`get`] | `None` for a miss. An error line of the server made the old client wait for ever. A plain string of PHP and others is text, not null |
//! | `Get(key, hashCode)` and all others with a hash code | the key as [`Key::with_hash`] | first choice only; failover adds to it, as there |
//! | `Get(key, hashCode, asString)` | `get::<String>` | |
//! | `Set`, `Add`, `Replace` `(key, value[, expiry][, hashCode])` | [`set`], [`add`], [`replace`] | a past expiry is sent and the item is gone; the old client said true and sent nothing, so that the old value stayed |
//! | `DateTime expiry` | [`Expiry`] | a local time, cut to seconds: half a second was for ever, a year 30 days. Here it is rounded up and kept. `DateTime.MaxValue` is [`Expiry::never`] |
//! | `Delete(key)` | [`delete`] | |
//! | `Delete(key, expiry)`, `Delete(key, hashCode, expiry)` | [`delete`] | the seconds were divided by 1,000 once more; memcached refuses any but 0 |
//! | `KeyExists(key)` | [`exists`] | the value is not fetched |
//! | `StoreCounter(key, long[, hashCode])` | [`store_counter`] | not negative; may have an expiry |
//! | `GetCounter(key[, hashCode])` | [`get_counter`] | `None` for -1; an error where a `FormatException` or `OverflowException` flew |
//! | `Increment(key[, n[, hashCode]])`, `Decrement(…)` | [`incr`], [`decr`] | `n` was 1 by default. `None` for -1. A reply that holds a digit is not a number |
//! | `GetMultiple(keys[, hashCodes[, asString]])` | [`get_multi`], [`into_map`] | all servers at the same time; keys of one that failed are in [`failures`], not among the misses |
//! | `GetMultipleArray(…)` | [`get_multi`], iterated | `Option` in the order of the keys |
//! | `FlushAll()`, `FlushAll(servers)` | [`flush_all`], [`flush_all_on`] | an answer per server |
//! | `Stats()`, `Stats(servers)` | [`stats`] | whole values, there the first word; a server that failed has an entry |
//! | null, false and -1 whatever happened | [`degrade`], [`on_error`] | off by default |
//!
//! New: `gets` and `cas`, `append` and `prepend`, `touch`, `get_and_touch`, counters with a start.
//!
//! # Values
//!
//! The transcoder, [`MemcachedDotNet`], comes with the name.
//!
//! | .NET | Rust | stored as |
//! |---|---|---|
//! | `byte`, `short`, `int`, `long` | `u8`, `i16`, `i32`, `i64` | marker 1, 9, 3, 4; flags 0 |
//! | `bool`, `char` | `bool`, `char` | 2, 5 |
//! | `float`, `double` | `f32`, `f64` | 8, 10 |
//! | `string`, `StringBuilder` | `String`, [`Value::StringBuilder`] | 6, 7 |
//! | `DateTime` | `SystemTime` is written as ticks in UTC; [`Value::Ticks`] is read, since the zone is not stored | 11 |
//! | `byte[]`, `sbyte`, `ushort`, `uint`, `ulong` | `Vec<u8>`, `i8`, `u16`, `u32`, `u64` | `BinaryFormatter`, flags 8 |
//! | any other `[Serializable]` | [`Value::Foreign`], bytes | the same |
//! | null | `Option`: `None` | no bytes |
//! | compressed | the same | gzip, 2 in the flags |
//!
//! `(int)client.Get(key)` needs an `i32` here: an `i64` is a `long` and fails in the cast.
//!
//! | setting | here | what differs |
//! |---|---|---|
//! | `EnableCompression = false` | [`MemcachedDotNet::compression`] with [`Compression::never`] | compressed values are read in any case, as there |
//! | `CompressionThreshold` | [`Compression::threshold`] | 30,720 bytes by default, the marker included; the old comments say 15 KB |
//! | `PrimitiveAsString` | [`primitive_as_string`] | the invariant culture, there that of the thread |
//! | `DefaultEncoding` | UTF-8 | was used in reading only |
//! | `NativeHandler` | [`MemcachedDotNet`] | what it read as null because it did not know it is bytes, or an error if it is cut short |
//!
//! # Without a counterpart
//!
//! | old | why |
//! |---|---|
//! | `Initialized` | a pool that there is has been built |
//! | `GetConnection`, `CheckIn`, `SockIO` | connections are not handed out; [`raw`] sends what there is no method for |
//! | `MemcachedConfigSection` | read nothing there either: settings are code |
//!
//! Source: memcacheddotnet, the last state of its trunk (2007-06-07), run under mono 6.8.
//!
//! [`Compat::proof`]: crate::Compat::proof
//! [`Spread::DotNetLiveBuckets`]: crate::router::Spread::DotNetLiveBuckets
//! [`Router::candidates`]: crate::router::Router::candidates
//! [`SockIoPool::builder`]: crate::SockIoPool::builder
//! [`SockIoPool::named`]: crate::SockIoPool::named
//! [`SockIoPool::servers`]: crate::SockIoPool::servers
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
//! [`failover`]: crate::SockIoPoolBuilder::failover
//! [`nagle`]: crate::SockIoPoolBuilder::nagle
//! [`dead_backoff`]: crate::SockIoPoolBuilder::dead_backoff
//! [`MemcachedClient::new`]: crate::MemcachedClient::new
//! [`get`]: crate::MemcachedClient::get
//! [`set`]: crate::MemcachedClient::set
//! [`add`]: crate::MemcachedClient::add
//! [`replace`]: crate::MemcachedClient::replace
//! [`delete`]: crate::MemcachedClient::delete
//! [`exists`]: crate::MemcachedClient::exists
//! [`store_counter`]: crate::MemcachedClient::store_counter
//! [`get_counter`]: crate::MemcachedClient::get_counter
//! [`incr`]: crate::MemcachedClient::incr
//! [`decr`]: crate::MemcachedClient::decr
//! [`get_multi`]: crate::MemcachedClient::get_multi
//! [`flush_all`]: crate::MemcachedClient::flush_all
//! [`flush_all_on`]: crate::MemcachedClient::flush_all_on
//! [`stats`]: crate::MemcachedClient::stats
//! [`raw`]: crate::MemcachedClient::raw
//! [`on_error`]: crate::MemcachedClient::on_error
//! [`degrade`]: crate::MemcachedClient::degrade
//! [`into_map`]: crate::GetMulti::into_map
//! [`failures`]: crate::Multi::failures
//! [`Key::with_hash`]: crate::Key::with_hash
//! [`Expiry`]: crate::Expiry
//! [`Expiry::never`]: crate::Expiry::never
//! [`Value::Foreign`]: crate::Value::Foreign
//! [`Value::StringBuilder`]: crate::Value::StringBuilder
//! [`Value::Ticks`]: crate::Value::Ticks
//! [`MemcachedDotNet`]: crate::codec::MemcachedDotNet
//! [`MemcachedDotNet::compression`]: crate::codec::MemcachedDotNet::compression
//! [`primitive_as_string`]: crate::codec::MemcachedDotNet::primitive_as_string
//! [`Compression::never`]: crate::codec::Compression::never
//! [`Compression::threshold`]: crate::codec::Compression::threshold
#![doc(alias(
    "Initialized",
    "GetConnection",
    "CheckIn",
    "SockIO",
    "MemcachedConfigSection"
))]
