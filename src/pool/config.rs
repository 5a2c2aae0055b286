//! The settings of a pool, one setter each, with the old clients' names.

use std::sync::Arc;
use std::time::Duration;

use super::growth::old_max_create;
use super::settings::Settings;
use super::{Inner, SockIoPool, maintenance, registry};
use crate::codec::{Raw, Transcoder};
use crate::compat::{Compat, PoolDefaults};
use crate::error::{Error, Result};
use crate::hash::HashingAlg;
use crate::key::{KeyRules, KeyTransform};
use crate::router::{Distribution, FailoverWalk, Router};
use crate::server::{ServerAddr, ToServerAddr};

/// The settings of a [`SockIoPool`]. Every time is finite; no setter fails, [`build`](Self::build) tells what is wrong.
#[derive(Clone, Debug, Default)]
pub struct SockIoPoolBuilder {
    servers: Vec<std::result::Result<ServerAddr, String>>,
    weights: Option<Vec<u32>>,
    settings: Settings,
    max_open: Option<usize>,
    compat: Option<Compat>,
    hashing: Option<Arc<dyn HashingAlg>>,
    distribution: Option<Arc<dyn Distribution>>,
    walk: Option<Arc<dyn FailoverWalk>>,
    key_transform: Option<KeyTransform>,
    prefix: Vec<u8>,
    hash_prefix: Option<bool>,
    transcoder: Option<Arc<dyn Transcoder>>,
}

/// Servers, and where keys live.
impl SockIoPoolBuilder {
    /// The servers, in an order that all programs which share them must keep: texts as [`ServerAddr`] reads them, or addresses.
    ///
    /// No default: a pool has at least one server. A name may stand once only; a weight says that a server counts for more.
    #[doc(alias = "setServers")]
    #[doc(alias = "SetServers")]
    #[doc(alias = "addServers")]
    #[doc(alias = "addServer")]
    pub fn servers<I>(mut self, servers: I) -> Self
    where
        I: IntoIterator,
        I::Item: ToServerAddr,
    {
        let servers = servers
            .into_iter()
            .map(|server| server.to_server_addr().map_err(|error| error.to_string()));
        self.servers = servers.collect();
        self
    }

    /// One weight for each server, in the same order; in place of those that stand in the addresses.
    ///
    /// Default: all equal. Where weights are given there must be as many as servers, and one above zero;
    /// the old clients filled up or cut the list in silence.
    #[doc(alias = "setWeights")]
    #[doc(alias = "SetWeights")]
    pub fn weights(mut self, weights: impl IntoIterator<Item = u32>) -> Self {
        self.weights = Some(weights.into_iter().collect());
        self
    }

    /// Places keys, and writes values, as another client does: hash, distribution, failover walk, key rules and transcoder
    /// in one. It changes no size and no time; see [`defaults_of`](Self::defaults_of) for those.
    ///
    /// Default: the weighted ketama ring of libmemcached, and values as they are ([`Raw`]).
    #[doc(alias = "setHashingAlg")]
    #[doc(alias = "HashingAlgorithm")]
    pub fn compat(mut self, compat: Compat) -> Self {
        self.compat = Some(compat);
        self
    }

    /// The hash function, in place of the one of [`compat`](Self::compat).
    pub fn hashing(mut self, hashing: impl HashingAlg + 'static) -> Self {
        self.hashing = Some(Arc::new(hashing));
        self
    }

    /// The distribution, in place of the one of [`compat`](Self::compat).
    pub fn distribution(mut self, distribution: impl Distribution + 'static) -> Self {
        self.distribution = Some(Arc::new(distribution));
        self
    }

    /// The order in which other servers are tried when one fails, in place of the one of [`compat`](Self::compat).
    pub fn walk(mut self, walk: impl FailoverWalk + 'static) -> Self {
        self.walk = Some(Arc::new(walk));
        self
    }

    /// What becomes of a key before it is hashed and sent, in place of the rule of [`compat`](Self::compat).
    #[doc(alias = "setSanitizeKeys")]
    #[doc(alias = "KeyTransformer")]
    pub fn key_transform(mut self, transform: KeyTransform) -> Self {
        self.key_transform = Some(transform);
        self
    }

    /// Stands before every key on the wire and counts towards its 250 bytes. Default: none.
    #[doc(alias = "OPT_PREFIX_KEY")]
    pub fn prefix(mut self, prefix: impl Into<Vec<u8>>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Whether the prefix is hashed with the key, in place of the rule of [`compat`](Self::compat).
    #[doc(alias = "OPT_HASH_WITH_PREFIX_KEY")]
    pub fn hash_prefix(mut self, on: bool) -> Self {
        self.hash_prefix = Some(on);
        self
    }

    /// How values are written and read, in place of the transcoder of [`compat`](Self::compat); a client may have its own
    /// ([`MemcachedClient::with_transcoder`](crate::MemcachedClient::with_transcoder)).
    #[doc(alias = "setTransCoder")]
    pub fn transcoder(mut self, transcoder: impl Transcoder + 'static) -> Self {
        self.transcoder = Some(Arc::new(transcoder));
        self
    }
}

/// How many connections. All numbers are per server.
impl SockIoPoolBuilder {
    /// Connections opened by [`build`](Self::build). Default 1; 0 opens none. At most [`max_open`](Self::max_open).
    #[doc(alias = "setInitConn")]
    #[doc(alias = "InitConnections")]
    pub fn initial_conn(mut self, count: usize) -> Self {
        self.settings.initial_conn = count;
        self
    }

    /// Idle connections that each maintenance pass fills up to and never goes below. Default 1.
    #[doc(alias = "setMinConn")]
    #[doc(alias = "MinConnections")]
    #[doc(alias = "MinPoolSize")]
    pub fn min_conn(mut self, count: usize) -> Self {
        self.settings.min_conn = count;
        self
    }

    /// Idle connections above which maintenance closes some. Default 32. As with the old clients it does not limit
    /// how many are lent; [`max_open`](Self::max_open) does, and follows this number where it is not set.
    #[doc(alias = "setMaxConn")]
    #[doc(alias = "MaxConnections")]
    #[doc(alias = "MaxPoolSize")]
    pub fn max_conn(mut self, count: usize) -> Self {
        self.settings.max_conn = count;
        self
    }

    /// Open connections, idle, lent and being opened, that are never exceeded. Default: [`max_conn`](Self::max_conn).
    /// When all are lent, callers wait, first come, first served, until the operation's deadline.
    pub fn max_open(mut self, count: usize) -> Self {
        self.max_open = Some(count);
        self
    }

    /// The largest batch (1, 2, 4, 8 …) in which the maintenance thread opens further connections after a caller
    /// found none idle. Default 32.
    #[doc(alias = "maxCreate")]
    #[doc(alias = "poolMultiplier")]
    pub fn max_create(mut self, count: usize) -> Self {
        self.settings.max_create = count;
        self
    }
}

/// How long.
impl SockIoPoolBuilder {
    /// How long a connection may rest; one that rested longer is closed by maintenance while more than
    /// [`min_conn`](Self::min_conn) are idle. Default 5 minutes.
    #[doc(alias = "setMaxIdle")]
    #[doc(alias = "MaxIdle")]
    pub fn max_idle(mut self, time: Duration) -> Self {
        self.settings.max_idle = time;
        self
    }

    /// How long a connection may be lent; one that is held longer is shut down under its holder, who gets a time-out.
    /// Default 30 s.
    #[doc(alias = "setMaxBusyTime")]
    #[doc(alias = "MaxBusy")]
    pub fn max_busy(mut self, time: Duration) -> Self {
        self.settings.max_busy = time;
        self
    }

    /// How old a connection may become, whatever it does; up to a tenth less, by chance, so that they do not all go
    /// at once. Default: no limit.
    pub fn max_lifetime(mut self, time: Duration) -> Self {
        self.settings.max_lifetime = Some(time);
        self
    }

    /// The time between two maintenance passes. Default 30 s. The thread also wakes when there is something to do.
    #[doc(alias = "setMaintSleep")]
    #[doc(alias = "MaintenanceSleep")]
    pub fn maint_sleep(mut self, time: Duration) -> Self {
        self.settings.maint_sleep = time;
        self
    }

    /// The limit of a connect, all addresses of a name together. Default 1 s.
    #[doc(alias = "setSocketConnectTO")]
    #[doc(alias = "SocketConnectTimeout")]
    #[doc(alias = "OPT_CONNECT_TIMEOUT")]
    pub fn connect_timeout(mut self, time: Duration) -> Self {
        self.settings.socket.connect_timeout = time;
        self
    }

    /// The limit of each read and each write. Default 3 s.
    #[doc(alias = "setSocketTO")]
    #[doc(alias = "SocketTimeout")]
    #[doc(alias = "OPT_RECV_TIMEOUT")]
    #[doc(alias = "OPT_SEND_TIMEOUT")]
    #[doc(alias = "OPT_POLL_TIMEOUT")]
    #[doc(alias = "ReceiveTimeout")]
    pub fn socket_timeout(mut self, time: Duration) -> Self {
        self.settings.socket.socket_timeout = time;
        self
    }

    /// The limit of an operation in all: waiting for a connection, connecting, writing, reading, failing over. Default 5 s.
    pub fn operation_timeout(mut self, time: Duration) -> Self {
        self.settings.operation_timeout = time;
        self
    }

    /// How long a server that failed is left alone: `start`, then twice as long after each vain try, up to `limit`.
    /// Default 100 ms and 10 minutes.
    #[doc(alias = "hostDeadDur")]
    #[doc(alias = "MAX_RETRY_DELAY")]
    #[doc(alias = "OPT_RETRY_TIMEOUT")]
    #[doc(alias = "DeadTimeout")]
    pub fn dead_backoff(mut self, start: Duration, limit: Duration) -> Self {
        (self.settings.dead_start, self.settings.dead_limit) = (start, limit);
        self
    }
}

/// What happens when.
impl SockIoPoolBuilder {
    /// Whether the kernel may hold back small writes (Nagle's algorithm). Default false. The Java client meant the same
    /// by `setNagle` and did the opposite; memcacheddotnet's `Nagle` did nothing.
    #[doc(alias = "setNagle")]
    #[doc(alias = "Nagle")]
    #[doc(alias = "OPT_TCP_NODELAY")]
    pub fn nagle(mut self, on: bool) -> Self {
        self.settings.socket.nagle = on;
        self
    }

    /// Sends TCP keep-alive probes after a connection was idle for this long. Default: none.
    #[doc(alias = "OPT_TCP_KEEPALIVE")]
    pub fn keep_alive(mut self, idle: Duration) -> Self {
        self.settings.socket.keep_alive = Some(idle);
        self
    }

    /// Whether the keys of a dead server go to other servers, by the walk of [`compat`](Self::compat). Default true.
    #[doc(alias = "setFailover")]
    #[doc(alias = "Failover")]
    #[doc(alias = "allow_failover")]
    #[doc(alias = "OPT_REMOVE_FAILED_SERVERS")]
    #[doc(alias = "OPT_AUTO_EJECT_HOSTS")]
    pub fn failover(mut self, on: bool) -> Self {
        self.settings.failover = on;
        self
    }

    /// From how many failures in a row on the keys of a server go to others. Default 1: at once, as with the Java client.
    /// Until then calls for its keys fail without a try; each vain try of the maintenance thread counts.
    #[doc(alias = "OPT_SERVER_FAILURE_LIMIT")]
    #[doc(alias = "failureThreshold")]
    pub fn failure_limit(mut self, failures: u32) -> Self {
        self.settings.failure_limit = failures.max(1);
        self
    }

    /// Whether a dead server is used again when it answers. Default true. Without it, a server that failed stays out
    /// for the life of the pool.
    #[doc(alias = "setFailback")]
    pub fn failback(mut self, on: bool) -> Self {
        self.settings.failback = on;
        self
    }

    /// Whether an idle connection is proved by a `version` round trip each time before it is used. Default false:
    /// one that rested for over a second is looked at without a round trip, which finds closed ones too.
    #[doc(alias = "setAliveCheck")]
    #[doc(alias = "aliveCheck")]
    pub fn alive_check(mut self, on: bool) -> Self {
        self.settings.alive_check = on;
        self
    }

    /// Whether `set`, `replace`, `delete` and `touch` are sent a second time when an idle connection turns out to be
    /// closed and no answer came. Default false: the second one could undo what another client wrote in between.
    pub fn retry_writes(mut self, on: bool) -> Self {
        self.settings.retry_writes = on;
        self
    }

    /// Whether callers who find all connections of a server in use share a request: one of them asks for all, and reads the
    /// answers for all. Default false.
    ///
    /// **On** where threads outnumber [`max_open`](Self::max_open) and values are small. Measured with 64 threads and values of
    /// 100 bytes, client and server on the same two processors: on one connection 8 to 18 times the operations per second of
    /// one that each waits for in turn; on one to four connections about twice those of 64 threads with a connection each, and
    /// three to four times if the processors have nothing else to do. The slowest thread does as much as the fastest.
    ///
    /// **Off** where every thread may have its connection and there are fewer than about 16 of them: there is nothing to share.
    /// With two to four threads on one connection two thirds of the speed of a connection each can be lost; values of 10 KiB gain
    /// little (1.8 times, on two or more connections), and where some are close to 1 MiB there should be two connections at the
    /// least. Who waits longest for an answer then waits for those of others, too.
    ///
    /// It is for `get`, `gets` and their kin (not `get_and_touch`), and for `set`, `add` and `replace` of up to 8 KiB. All else has
    /// a connection of its own, as without it. A caller who is alone pays one atomic addition more, and makes the same system
    /// calls. Deadlines are each caller's own, whoever asks; values are decoded by whom they are for; an order whose caller went
    /// before it was sent is not sent. What is shared is bad luck: when a connection breaks, it breaks for all who had asked by it.
    pub fn combine(mut self, on: bool) -> Self {
        self.settings.combine = on;
        self
    }

    /// The longest value that is read; a longer one is an error and closes the connection. Default 128 MiB.
    pub fn max_value_len(mut self, bytes: usize) -> Self {
        self.settings.max_value_len = bytes;
        self
    }

    /// Takes over the sizes, times and back-off that a client of `compat` has by default
    /// (for Java: those of the 2.x line's last version). A client without a pool of its own changes nothing.
    pub fn defaults_of(mut self, compat: Compat) -> Self {
        let Some(defaults) = compat.pool_defaults() else {
            return self;
        };
        let PoolDefaults {
            initial_conn,
            min_conn,
            max_conn,
            max_open,
            multiplier,
            ..
        } = defaults;
        let settings = &mut self.settings;
        (settings.initial_conn, settings.min_conn, settings.max_conn) =
            (initial_conn, min_conn, max_conn);
        // The old pools' `maxConn` limited idle connections only; a limit of open ones is this crate's own.
        self.max_open = Some(max_open);
        settings.max_create = old_max_create(min_conn, multiplier).max(1);
        settings.closing_divisor = multiplier;
        settings.max_idle = defaults.max_idle;
        settings.max_busy = defaults.max_busy;
        settings.maint_sleep = defaults.maint_sleep;
        settings.socket.connect_timeout = defaults.connect_timeout;
        settings.socket.socket_timeout = defaults.socket_timeout;
        settings.operation_timeout = settings.operation_timeout.max(defaults.socket_timeout);
        (settings.dead_start, settings.dead_limit) = defaults.dead_backoff;
        self
    }

    /// Builds the pool and opens its initial connections, those of all servers at the same time.
    ///
    /// A server that is down is logged and marked dead; it is no error. Takes one connect timeout at the most.
    ///
    /// # Errors
    /// [`ErrorKind::Config`](crate::ErrorKind::Config): no servers, an address that is none, weights that do not fit, or
    /// settings that cannot work together. Each says which.
    #[doc(alias = "initialize")]
    #[doc(alias = "Initialize")]
    pub fn build(self) -> Result<SockIoPool> {
        let mut servers = self
            .servers
            .into_iter()
            .collect::<std::result::Result<Vec<_>, _>>()
            .map_err(Error::config)?;
        if let Some(weights) = self.weights {
            if weights.len() != servers.len() {
                let (weights, servers) = (weights.len(), servers.len());
                return Err(Error::config(format!(
                    "{weights} weights were given for {servers} servers"
                )));
            }
            servers = servers
                .into_iter()
                .zip(weights)
                .map(|(server, weight)| server.with_weight(weight))
                .collect();
        }
        if !servers.is_empty() && servers.iter().all(|server| server.weight() == Some(0)) {
            return Err(Error::config("every server has the weight 0"));
        }
        let compat = self.compat.unwrap_or_default();
        let router = Router::new(
            servers,
            self.hashing.unwrap_or_else(|| compat.hashing()),
            self.distribution.unwrap_or_else(|| compat.distribution()),
            self.walk.unwrap_or_else(|| compat.walk()),
        )?;
        let mut settings = self.settings;
        settings.max_open = self.max_open.unwrap_or(settings.max_conn);
        let rules = KeyRules {
            transform: self.key_transform.unwrap_or_else(|| compat.key_transform()),
            prefix: self.prefix.into(),
            hash_prefix: self.hash_prefix.unwrap_or_else(|| compat.hashes_prefix()),
        };
        rules.check_prefix()?;
        let transcoder = match (self.transcoder, self.compat) {
            (Some(transcoder), _) => transcoder,
            (None, Some(compat)) => compat.transcoder(),
            (None, None) => Arc::new(Raw::new()),
        };
        let (inner, calls, heard) = Inner::new(router, settings.check()?, rules, transcoder);
        maintenance::open_initial(&inner);
        SockIoPool::start(inner, calls, heard)
    }

    /// Builds the pool and enters it under a name, by which [`SockIoPool::named`] finds it until it is shut down.
    ///
    /// # Errors
    /// Those of [`build`](Self::build), and a name that a pool has already.
    pub fn build_named(self, name: &str) -> Result<SockIoPool> {
        registry::check(name)?;
        let pool = self.build()?;
        registry::enter(name, &pool)?;
        Ok(pool)
    }
}
