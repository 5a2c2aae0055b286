//! A synchronous memcached client that puts keys where other languages' clients put them, and writes values in their forms.
//!
//! It is the SockIOPool design of the Java and .NET clients in Rust: a pool of connections per server, shared by all
//! threads; no async runtime. A Java, .NET, PHP, Perl, Python, Ruby or Go program and a Rust program can share one cache.
//!
//! # Guide
//!
//! A [`SockIoPool`] holds the connections, a [`MemcachedClient`] has the commands. Both are cheap to clone.
//!
//! ```
//! use std::time::Duration;
//! use sockio::{Expiry, MemcachedClient, SockIoPool};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A small server for tests and first steps (feature `testing`); else "10.0.0.1:11211", "cache.example", "[::1]:11211", "/run/memcached.sock".
//! let server = sockio::testing::Server::start()?;
//! let pool = SockIoPool::builder().servers([server.addr()]).build()?;
//! let client = MemcachedClient::new(pool);
//!
//! client.set("greeting", "hello", Duration::from_secs(60))?;
//! let greeting: Option<String> = client.get("greeting")?;
//! assert_eq!(greeting.as_deref(), Some("hello"));
//!
//! // A miss is `None`, and not an error.
//! assert_eq!(client.get::<String>("no-such-key")?, None);
//!
//! // Counters are the server's: no update is lost.
//! client.add_or_incr("visits", 1, Expiry::never())?;
//! assert_eq!(client.incr("visits", 1)?, Some(2));
//!
//! // Store only if nobody else did since the value was read.
//! let item = client.gets::<String>("greeting")?.expect("it was stored");
//! client.cas("greeting", "hi", Expiry::never(), item.cas)?;
//!
//! // Many keys take one round trip per server. A server that fails makes its keys unknown, not the call an error.
//! let many = client.get_multi::<String, _>(["greeting", "no-such-key"])?;
//! assert_eq!(many.get("greeting").map(String::as_str), Some("hi"));
//! assert_eq!(many.misses().count(), 1);
//! # Ok(()) }
//! ```
//!
//! **Answers.** `Ok(None)` is a miss and `Ok(false)` a store that the server declined. An [`Error`] means that the answer is
//! not known; [`Error::kind`] says why, [`Error::is_ambiguous`] that the command may have been carried out.
//! A program that takes every error for a miss says so: [`MemcachedClient::degrade`].
//!
//! **Values.** Types that implement [`ToValue`] and [`FromValue`] can be stored: numbers, text, bytes, truth values, times,
//! and those of your own. The [`Transcoder`] gives them their form; without one they are stored as they are ([`codec::Raw`]).
//!
//! **Time.** [`Expiry`] is a duration, a time or never. Every operation ends: one deadline
//! ([`operation_timeout`](SockIoPoolBuilder::operation_timeout), 5 s) covers waiting, connecting, sending, reading and failing over.
//!
//! **Servers that fail.** One that cannot be reached, or does not answer in time, is marked dead for 100 ms, then twice as
//! long after each vain try, up to ten minutes. Meanwhile its keys go where its client would send them
//! ([`failover`](SockIoPoolBuilder::failover)), or are errors at once. A thread of the pool tries it again, so no caller waits for it.
//!
//! **Processes that fork.** A child must not use its parent's connections. A pool that was built with
//! [`fork_check`](SockIoPoolBuilder::fork_check) notices in each operation, and the child has connections of its own.
//!
//! # Sharing a cache with other clients
//!
//! Clients differ in how they hash a key, how servers share the hashes, where a key goes when its server is down, and in the
//! bytes and flags of a value. [`Compat`] names each combination; one line sets all of it:
//!
//! ```
//! # use sockio::{Compat, SockIoPool};
//! # fn main() -> sockio::Result<()> {
//! let java: Compat = "whalin/new-compat".parse()?;
//! let pool = SockIoPool::builder()
//!     .servers(["127.0.0.1:11211", "127.0.0.1:11212"])
//!     .weights([3, 1])
//!     .compat(java)
//!     .defaults_of(java) // the Java pool's sizes and times too
//!     # .initial_conn(0)
//!     # .min_conn(0)
//!     .build()?;
//! assert_eq!(pool.server_of("user:582")?.name(), "127.0.0.1:11212");
//! # Ok(()) }
//! ```
//!
//! The name must be the right one to the letter. This is a Java program that called `setSanitizeKeys(false)`; one that did not sends `user%3A582`,
//! and is `whalin/new-compat+sanitize`.
//!
//! The [table](#the-table-of-clients) at the end of this page names them, [`Compat::all`] lists them, [`Compat::proof`] says what each rests on; most were compared with the running originals, key by key.
//! [`porting`] has a page for each of the old Java, .NET and PHP clients: what decides where keys go, and every method and setting with its
//! replacement. Old names are search aliases: look for `setMaxBusyTime` or `addOrIncr` in this documentation.
//!
//! # Features
//!
//! A feature adds; none changes what is there.
//!
//! - `compress` (default): reads and writes compressed values.
//! - `php`: reads and writes PHP's `serialize` data as Rust types, by serde.
//! - `sha1`, `tiger`: the rings and key forms of Dalli and Enyim that go by these digests.
//! - `cli`: the command-line tool `sockio`, which tells where keys live and what values are.
//! - `testing`: `testing::Server`, a memcached stand-in for tests and first steps.
//!
//! # How it is built
//!
//! ```text
//! client ─┬─> pool ──┬─> router ──> hash
//!         │          ├─> sock ────> protocol
//!         │          └─> compat ──> (router, codec)
//!         └─> codec                            below all: key, server, expiry, error
//! ```
//!
//! A module uses only what stands below it; a test keeps it so. `hash`, `router`, `codec` and `protocol` are pure: no socket,
//! no clock, no lock. How one `get` flows:
//!
//! 1. The key is checked, once: 1 to 250 bytes with its prefix, no blanks or control bytes. From here on it cannot be bad.
//! 2. The router names the servers of the key, first choice first.
//! 3. The server's host lends a connection: the one used last, if one rests; else the caller opens one, without any lock held,
//!    or waits for the next free one. The maintenance thread opens further ones, 1, 2, 4, 8 at a time.
//! 4. The connection sends the command in one write and reads the reply into its own buffer; a short value is decoded where it lies.
//! 5. The transcoder makes the value of it. If it cannot, the reply is consumed all the same.
//! 6. The connection goes back to rest if every reply was wholly read and nothing is left over. Anything else closes it:
//!    a connection in doubt is never used again.
//!
//! With [`combine`](SockIoPoolBuilder::combine), a caller who finds all connections in use leaves steps 3 and 4 to another one,
//! who asks for several.
//!
//! The modules:
//!
//! - `client`: the commands, and the one road that each of them takes.
//! - `pool`: lending, growth, back-off, maintenance, shared requests, pools by name.
//! - `sock`: one connection, its buffers, and what it still owes.
//! - `compat`: the table of known clients.
//! - `router`: from a hash to a server, and on to the next one when that fails.
//! - `hash`: the hash functions.
//! - `codec`: the forms of values.
//! - `protocol`: commands to bytes, bytes to replies.
//! - `key`: what a key may be and what becomes of it on its way.
//! - `server`: how an address is written.
//! - `expiry`: when an item ends.
//! - `error`: the one error type.
//! - `clock`: points of time as plain numbers.
//! - `sync`: the locks of the pool, exchangeable for model checking.
//! - `testing`: the stand-in server; it shares no code with the client.
//! - `porting`: documentation for those who come from an old client.
//!
//! # Logging
//!
//! By the [`log`](https://docs.rs/log) crate, never with a key or a value in it:
//! `warn` for a server that is marked dead and a connection that was held for too long, `info` for a server that lives again,
//! `debug` for connections closed by maintenance and vain tries, `error` only for a fault of this crate.
//! Errors of single operations are returned and not logged; [`MemcachedClient::on_error`] hears them.
//!
//! # Minimum Rust version
//!
//! 1.85. A newer one may be asked for by a minor version, never by a patch; it is not counted as a breaking change.
//!
//! # Security
//!
//! memcached has no secrecy: whoever reaches its port reads and writes everything. Keep it on a private network or a unix socket.
//! There are no passwords and no encryption here.
//!
//! **Keys** may be anybody's. Each is checked in the form in which it goes out, with its prefix, before anything is sent: 1 to 250
//! bytes, none of them a blank, a control byte or DEL. So none is a second command, whatever it holds, and a value cannot be one
//! either, since its length counts. What [routes](Key::routed_by) a key is hashed and never sent. What a hostile key can do: the
//! hashes are those of the old clients and hold no secret, so many keys may be chosen that all live on one server; and a
//! [form of keys](KeyTransform::Pecl) that replaces or cuts bytes makes one item of different keys.
//! A request to [`raw`](MemcachedClient::raw) is sent as it is: no text of others belongs in it.
//!
//! **A server** is believed only what it says of the keys that it was asked for: another key's value is an error, bytes that do
//! not fit the command close the connection, and one that was left in doubt is never used again. What it sends is bounded: lines
//! by 2 KiB, values by [`max_value_len`](SockIoPoolBuilder::max_value_len) (128 MiB; no more than 1 MiB of it is reserved before
//! it has come), statistics by 16 MiB, and every operation by its deadline. What a hostile server can do: give wrong answers, and
//! let callers wait until their deadlines; it cannot stop the pool or keep other servers from answering. An
//! error line of a server is shown in the [`Error`] as it came, if it has no control bytes; it is not logged.
//!
//! **Values** are not trusted, be they stored by whom they may. Compressed ones inflate to no more than a limit
//! ([`max_inflated`](codec::Compression::max_inflated), 64 MiB), and must have the length that they announce and a right
//! checksum, with nothing missing and nothing behind them. Serialized objects of other languages are handed over as bytes
//! and never run. What cannot be read is an error and no miss, and leaves item and connection as they are.
//!
//! **Keys and values in sight.** Neither stands in a record of the log, in what a type shows with `Debug`, or in the text of
//! an error that this crate makes. A key prefix is a setting, and may be shown.
//!
#![doc = include_str!("compat/table.md")]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod client;
mod clock;
pub mod codec;
mod compat;
mod error;
mod expiry;
pub mod hash;
mod key;
mod pool;
pub mod porting;
mod protocol;
pub mod router;
mod server;
mod sock;
mod sync;
#[cfg(feature = "testing")]
#[cfg_attr(docsrs, doc(cfg(feature = "testing")))]
pub mod testing;

pub use client::{Cas, Failure, GetMulti, Item, MemcachedClient, Multi, PerServer, RawEnd};
pub use codec::{FromValue, ToValue, Transcoder, Value};
pub use compat::{Compat, Proof, session};
pub use error::{Error, ErrorKind, Result};
pub use expiry::Expiry;
pub use key::{Key, KeyRef, KeyRules, KeyTransform, MAX_KEY_LEN, Room, ToKey, WireKey};
pub use pool::{ServerStats, SockIoPool, SockIoPoolBuilder};
#[cfg(fuzzing)]
#[doc(hidden)]
pub use protocol::fuzzing;
pub use server::{DEFAULT_PORT, ServerAddr, ToServerAddr};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
