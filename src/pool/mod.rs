//! Connections to several servers: routing, lending, growth, back-off, shared requests. It knows no value.

mod combine;
mod config;
mod dead;
mod doubt;
mod gate;
#[cfg(all(test, loom))]
mod gate_models;
mod growth;
mod handle;
mod host;
mod lease;
mod maintenance;
mod origin;
mod registry;
mod search;
mod settings;
mod stats;
mod upkeep;
#[cfg(all(test, loom))]
mod upkeep_models;

pub(crate) use combine::{Alone, Answer, Combiner, Found, MAX_JOINT_STORE, Order, Way};
pub use config::SockIoPoolBuilder;
pub(crate) use host::{Host, Refusal};
pub(crate) use lease::Lease;
pub(crate) use search::Search;
pub use stats::ServerStats;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::clock::Moment;

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::codec::Transcoder;
use crate::error::{Error, Result};
use crate::key::{KeyRef, KeyRules, Room, ToKey, WireKey};
use crate::router::Router;
use crate::server::ServerAddr;
use crate::sock::Watch;
use handle::Handle;
use maintenance::Call;
use origin::Origin;
use settings::Settings;

/// Pools of connections to one or several servers, and the rule that says which server a key lives on.
///
/// Cheap to clone, and shared by all threads of a program. The last clone that is dropped ends the pool, as
/// [`shutdown`](Self::shutdown) does; a pool with a name ends only so.
#[derive(Clone)]
#[doc(alias = "SockIOPool")]
#[doc(alias = "SchoonerSockIOPool")]
pub struct SockIoPool(Arc<Handle>);

/// What callers and the maintenance thread share.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) hosts: Vec<Host>,
    pub(crate) router: Arc<Router>,
    pub(crate) settings: Arc<Settings>,
    pub(crate) watch: Arc<Watch>,
    origin: Arc<Origin>,
    /// Whether the pool was shut down.
    ended: AtomicBool,
    pub(crate) rules: KeyRules,
    pub(crate) transcoder: Arc<dyn Transcoder>,
}

impl SockIoPool {
    /// The settings of a new pool.
    #[doc(alias = "getInstance")]
    pub fn builder() -> SockIoPoolBuilder {
        SockIoPoolBuilder::default()
    }

    /// The pool that was built under `name` by [`SockIoPoolBuilder::build_named`], if it was not shut down since.
    #[doc(alias = "getInstance")]
    #[doc(alias = "setPoolName")]
    #[doc(alias = "PoolName")]
    pub fn named(name: &str) -> Option<Self> {
        registry::find(name)
    }

    /// Ends the pool: idle connections are closed, lent ones when they come back, callers that wait get an error,
    /// and so does every later call ([`ErrorKind::Shutdown`](crate::ErrorKind::Shutdown)). Returns when the maintenance thread has ended.
    #[doc(alias = "shutDown")]
    #[doc(alias("quit", "close", "memcache_close", "Dispose"))]
    pub fn shutdown(&self) {
        registry::forget(self);
        self.0.shut_down();
    }

    /// The servers, in the order in which they were configured.
    #[doc(alias = "getServers")]
    #[doc(alias = "getServerList")]
    pub fn servers(&self) -> &[ServerAddr] {
        self.0.inner.router.servers()
    }

    /// The server that `key` lives on while all servers are up. None is asked.
    ///
    /// # Errors
    /// [`ErrorKind::Key`](crate::ErrorKind::Key) if no server can take the key.
    #[doc(alias = "getHost")]
    #[doc(alias = "getServerByKey")]
    #[doc(alias = "findServer")]
    #[doc(alias = "checkKey")]
    pub fn server_of(&self, key: impl ToKey) -> Result<&ServerAddr> {
        let mut room = Room::default();
        let key = self.check(&key, &mut room)?;
        let router = &self.0.inner.router;
        Ok(&router.servers()[router.first(key.hashed(), key.given_hash())])
    }

    /// The state of each server's connections.
    #[doc(alias = "getServerStatus")]
    #[doc(alias = "memcache_get_server_status")]
    pub fn stats(&self) -> Vec<ServerStats> {
        self.notice_fork();
        self.hosts().iter().map(Host::stats).collect()
    }

    /// The time that an operation may take in all, by default.
    pub(crate) fn operation_timeout(&self) -> Duration {
        self.0.inner.settings.operation_timeout
    }

    pub(crate) fn transcoder(&self) -> &Arc<dyn Transcoder> {
        &self.0.inner.transcoder
    }

    pub(crate) fn retries_writes(&self) -> bool {
        self.0.inner.settings.retry_writes
    }

    pub(crate) fn combines(&self) -> bool {
        self.0.inner.settings.combine
    }

    pub(crate) fn fails_over(&self) -> bool {
        self.0.inner.settings.failover
    }

    /// The first server, in the order of the failover walk, that a key may live on and that is not `gone` (ascending);
    /// none are gone where the keys of a dead server do not move.
    pub(crate) fn place(
        &self,
        hashed: &[u8],
        given_hash: Option<i64>,
        gone: &[usize],
        deadline: Moment,
    ) -> Option<usize> {
        let router = &self.0.live().inner.router;
        if gone.is_empty() {
            return Some(router.first(hashed, given_hash));
        }
        let mut candidates = router.candidates_without(hashed, given_hash, gone.to_vec());
        loop {
            let server = candidates.next(&mut || Moment::now() >= deadline)?;
            if !gone.contains(&server) {
                return Some(server);
            }
        }
    }

    pub(crate) fn key_rules(&self) -> &KeyRules {
        &self.0.inner.rules
    }

    /// Notices whether this is another process than a moment ago, if the settings ask for that.
    #[inline]
    pub(crate) fn notice_fork(&self) {
        if self.0.inner.settings.fork_check {
            self.0.check_process();
        }
    }

    pub(crate) fn hosts(&self) -> &[Host] {
        &self.0.live().inner.hosts
    }

    /// The server with this name.
    pub(crate) fn host(&self, server: &str) -> Result<&Host> {
        let found = self
            .hosts()
            .iter()
            .find(|host| host.addr().name() == server);
        found.ok_or_else(|| Error::config(format!("{server:?} is no server of this pool")))
    }

    /// The key as it goes over the wire, checked; built in `room` if a rule changes it.
    #[inline]
    pub(crate) fn check<'k>(
        &self,
        key: &'k (impl ToKey + ?Sized),
        room: &'k mut Room,
    ) -> Result<WireKey<'k>> {
        self.check_ref(key.to_key(), room)
    }

    #[inline]
    pub(crate) fn check_ref<'k>(&self, key: KeyRef<'k>, room: &'k mut Room) -> Result<WireKey<'k>> {
        self.0.inner.rules.apply(key, room)
    }

    /// The server to try first for a key.
    #[inline]
    pub(crate) fn first(&self, key: &WireKey<'_>) -> usize {
        let inner = &self.0.live().inner;
        let router = &inner.router;
        let (hashed, given_hash) = (key.hashed(), key.given_hash());
        if !inner.any_ejected() {
            return router.first(hashed, given_hash);
        }
        inner.first_of_the_others(hashed, given_hash)
    }

    /// The way from a key to another server than the first.
    pub(crate) fn search<'s>(&'s self, key: &'s WireKey<'_>, deadline: Moment) -> Search<'s> {
        Search::new(&self.0.live().inner, key, deadline)
    }

    /// Starts the maintenance thread, and makes the handle.
    fn start(inner: Arc<Inner>, calls: Sender<Call>, heard: Receiver<Call>) -> Result<Self> {
        let handle = Handle::start(inner, calls, heard)?;
        Ok(Self(Arc::new(handle)))
    }

    fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Inner {
    fn new(
        router: Arc<Router>,
        settings: Arc<Settings>,
        rules: KeyRules,
        transcoder: Arc<dyn Transcoder>,
    ) -> (Arc<Self>, Sender<Call>, Receiver<Call>) {
        // One call in the channel is enough: whoever hears it looks at everything.
        let (calls, heard) = bounded(1);
        let waker = calls.clone();
        let watch = Arc::new(Watch::new(move || {
            // A full channel says the same already.
            let _ = waker.try_send(Call::Look);
        }));
        let origin = Arc::new(Origin::here());
        let hosts = router.servers().iter().enumerate();
        let hosts = hosts
            .map(|(index, addr)| {
                Host::new(
                    index,
                    addr.clone(),
                    Arc::clone(&settings),
                    Arc::clone(&watch),
                    Arc::clone(&origin),
                )
            })
            .collect();
        (
            Arc::new(Self {
                hosts,
                router,
                settings,
                watch,
                origin,
                ended: AtomicBool::new(false),
                rules,
                transcoder,
            }),
            calls,
            heard,
        )
    }
}

impl Inner {
    /// The same with nothing open, and with locks of its own: for a process that was forked off.
    fn again(&self) -> (Arc<Self>, Sender<Call>, Receiver<Call>) {
        let router = match self.router.again() {
            Ok(router) => Arc::new(router),
            Err(_) => Arc::clone(&self.router),
        };
        let (settings, transcoder) = (Arc::clone(&self.settings), Arc::clone(&self.transcoder));
        Self::new(router, settings, self.rules.clone(), transcoder)
    }

    /// Whether the keys of any server go to others.
    #[inline]
    fn any_ejected(&self) -> bool {
        self.hosts.iter().any(|host| host.gate().ejected())
    }

    /// The server to try first while some have lost their keys.
    #[cold]
    fn first_of_the_others(&self, hashed: &[u8], given_hash: Option<i64>) -> usize {
        let (router, gone) = (&self.router, self.gone());
        let mut candidates = router.candidates_without(hashed, given_hash, gone);
        candidates
            .next(&mut || false)
            .unwrap_or_else(|| router.first(hashed, given_hash))
    }

    /// The servers whose keys go to others, ascending.
    fn gone(&self) -> Vec<usize> {
        let servers = self.hosts.iter().filter(|host| host.gate().ejected());
        match self.settings.failover {
            true => servers.map(Host::index).collect(),
            false => Vec::new(),
        }
    }
}

impl fmt::Debug for SockIoPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SockIoPool")
            .field("servers", &self.servers())
            .finish_non_exhaustive()
    }
}
