//! The settings of a pool, one setter each, with the old clients' names.

mod behaviour;
mod limits;

use std::sync::Arc;

use crate::codec::{Raw, Transcoder};
use crate::compat::{Compat, PoolDefaults};
use crate::error::{Error, Result};
use crate::hash::HashingAlg;
use crate::key::{KeyRules, KeyTransform};
use crate::pool::growth::old_max_create;
use crate::pool::settings::Settings;
use crate::pool::{Inner, SockIoPool, maintenance, registry};
use crate::router::{Distribution, FailoverWalk, Router};
use crate::server::{ServerAddr, ToServerAddr};

/// The settings of a [`SockIoPool`]. Every time is finite; no setter fails, [`build`](Self::build) tells what is wrong.
#[derive(Clone, Debug, Default)]
#[doc(alias(
    "setOption",
    "setOptions",
    "MemcachedClientConfiguration",
    "SocketPool"
))]
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
    ///
    /// Old names: `setServers`, `SetServers`, `addServers`, `addServer`, `memcache_add_server`.
    #[doc(alias = "setServers")]
    #[doc(alias = "SetServers")]
    #[doc(alias = "addServers")]
    #[doc(alias = "addServer")]
    #[doc(alias = "memcache_add_server")]
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
    ///
    /// Old names: `setWeights`, `SetWeights`.
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
    ///
    /// Old names: `setHashingAlg`, `HashingAlgorithm`, `OPT_LIBKETAMA_COMPATIBLE`, `memcache.hash_strategy`,
    /// `memcache.hash_function`, `memcached.default_consistent_hash`, `NodeLocator`.
    #[doc(alias = "setHashingAlg")]
    #[doc(alias = "HashingAlgorithm")]
    #[doc(alias(
        "OPT_LIBKETAMA_COMPATIBLE",
        "memcache.hash_strategy",
        "memcache.hash_function",
        "memcached.default_consistent_hash",
        "NodeLocator"
    ))]
    pub fn compat(mut self, compat: Compat) -> Self {
        self.compat = Some(compat);
        self
    }

    /// The hash function, in place of the one of [`compat`](Self::compat).
    ///
    /// Old name: `OPT_HASH`.
    #[doc(alias = "OPT_HASH")]
    pub fn hashing(mut self, hashing: impl HashingAlg + 'static) -> Self {
        self.hashing = Some(Arc::new(hashing));
        self
    }

    /// The distribution, in place of the one of [`compat`](Self::compat).
    ///
    /// Old name: `OPT_DISTRIBUTION`.
    #[doc(alias = "OPT_DISTRIBUTION")]
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
    ///
    /// Old names: `setSanitizeKeys`, `KeyTransformer`.
    #[doc(alias = "setSanitizeKeys")]
    #[doc(alias = "KeyTransformer")]
    pub fn key_transform(mut self, transform: KeyTransform) -> Self {
        self.key_transform = Some(transform);
        self
    }

    /// Stands before every key on the wire and counts towards its 250 bytes. Default: none.
    ///
    /// Old names: `OPT_PREFIX_KEY`, `memcache.prefix_static_key`.
    #[doc(alias = "OPT_PREFIX_KEY")]
    #[doc(alias = "memcache.prefix_static_key")]
    pub fn prefix(mut self, prefix: impl Into<Vec<u8>>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Whether the prefix is hashed with the key, in place of the rule of [`compat`](Self::compat).
    ///
    /// Old names: `OPT_HASH_WITH_PREFIX_KEY`, `hash_namespace`.
    #[doc(alias = "OPT_HASH_WITH_PREFIX_KEY")]
    #[doc(alias = "hash_namespace")]
    pub fn hash_prefix(mut self, on: bool) -> Self {
        self.hash_prefix = Some(on);
        self
    }

    /// How values are written and read, in place of the transcoder of [`compat`](Self::compat); a client may have its own
    /// ([`MemcachedClient::with_transcoder`](crate::MemcachedClient::with_transcoder)).
    ///
    /// Old name: `setTransCoder`.
    #[doc(alias = "setTransCoder")]
    pub fn transcoder(mut self, transcoder: impl Transcoder + 'static) -> Self {
        self.transcoder = Some(Arc::new(transcoder));
        self
    }
}

/// From settings to a pool.
impl SockIoPoolBuilder {
    /// Takes over the sizes, times and back-off that a client of `compat` has by default
    /// (for Java: those of the 2.x line's last version). A client without a pool of its own changes nothing.
    ///
    /// Call it first: of these, what was set before is lost, and what is set afterwards counts.
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
    ///
    /// Old names: `initialize`, `Initialize`.
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
        let settings = Arc::new(settings.check()?);
        let (inner, calls, heard) = Inner::new(Arc::new(router), settings, rules, transcoder);
        maintenance::open_initial(&inner);
        SockIoPool::start(inner, calls, heard)
    }

    /// Builds the pool and enters it under a name, by which [`SockIoPool::named`] finds it until it is shut down.
    ///
    /// # Errors
    /// Those of [`build`](Self::build), and a name that a pool has already.
    ///
    /// Old names: `pconnect`, `memcache_pconnect`, `persistent_id`.
    #[doc(alias = "pconnect")]
    #[doc(alias = "memcache_pconnect")]
    #[doc(alias = "persistent_id")]
    pub fn build_named(self, name: &str) -> Result<SockIoPool> {
        registry::check(name)?;
        let pool = self.build()?;
        registry::enter(name, &pool)?;
        Ok(pool)
    }
}
