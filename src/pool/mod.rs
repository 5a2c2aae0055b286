//! Connections to several servers: routing, lending, growth, back-off, shared requests. It knows no value.

mod combine;
mod config;
mod dead;
mod gate;
#[cfg(all(test, loom))]
mod gate_models;
mod growth;
mod host;
mod lease;
mod maintenance;
mod registry;
mod search;
mod settings;
mod stats;

pub(crate) use combine::{Alone, Answer, Combiner, Found, MAX_JOINT_STORE, Order, Way};
pub use config::SockIoPoolBuilder;
pub(crate) use host::{Host, Refusal};
pub(crate) use lease::Lease;
pub(crate) use search::Search;
pub use stats::ServerStats;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle, ThreadId};
use std::time::Duration;

use crate::clock::Moment;

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::codec::Transcoder;
use crate::error::{Error, Result};
use crate::key::{KeyRef, KeyRules, Room, ToKey, WireKey};
use crate::router::Router;
use crate::server::ServerAddr;
use crate::sock::Watch;
use maintenance::Call;
use settings::Settings;

/// Pools of connections to one or several servers, and the rule that says which server a key lives on.
///
/// Cheap to clone, and shared by all threads of a program. The last clone that is dropped ends the pool, as
/// [`shutdown`](Self::shutdown) does; a pool with a name ends only so.
#[derive(Clone)]
#[doc(alias = "SockIOPool")]
#[doc(alias = "SchoonerSockIOPool")]
pub struct SockIoPool(Arc<Handle>);

/// What the clones share; when the last one goes, the maintenance thread is ended and joined.
struct Handle {
    inner: Arc<Inner>,
    calls: Sender<Call>,
    thread: Mutex<Option<JoinHandle<()>>>,
    thread_id: ThreadId,
}

/// What callers and the maintenance thread share.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) hosts: Vec<Host>,
    pub(crate) router: Router,
    pub(crate) settings: Arc<Settings>,
    pub(crate) watch: Arc<Watch>,
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
        self.0.end();
    }

    /// The servers, in the order in which they were configured.
    #[doc(alias = "getServers")]
    #[doc(alias = "getServerList")]
    pub fn servers(&self) -> &[ServerAddr] {
        self.0.inner.router.servers()
    }

    /// The server that `key` lives on while all servers are up.
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
        self.0.inner.hosts.iter().map(Host::stats).collect()
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

    /// The first server, in the order of the failover walk, that a key may live on and that is not `gone` (ascending).
    pub(crate) fn place(
        &self,
        hashed: &[u8],
        given_hash: Option<i64>,
        gone: &[usize],
        deadline: Moment,
    ) -> Option<usize> {
        let router = &self.0.inner.router;
        if gone.is_empty() {
            return Some(router.first(hashed, given_hash));
        }
        let left_list = match self.fails_over() {
            true => gone.to_vec(),
            false => Vec::new(),
        };
        let mut candidates = router.candidates_without(hashed, given_hash, left_list);
        loop {
            let server = candidates.next(&mut || Moment::now() >= deadline)?;
            if !gone.contains(&server) {
                return Some(server);
            }
            if !self.fails_over() {
                return None;
            }
        }
    }

    pub(crate) fn key_rules(&self) -> &KeyRules {
        &self.0.inner.rules
    }

    pub(crate) fn hosts(&self) -> &[Host] {
        &self.0.inner.hosts
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
        let router = &self.0.inner.router;
        let (hashed, given_hash) = (key.hashed(), key.given_hash());
        if !self.0.inner.any_ejected() {
            return router.first(hashed, given_hash);
        }
        self.first_of_the_others(router, hashed, given_hash)
    }

    #[cold]
    fn first_of_the_others(
        &self,
        router: &Router,
        hashed: &[u8],
        given_hash: Option<i64>,
    ) -> usize {
        let gone = self.0.inner.gone();
        let mut candidates = router.candidates_without(hashed, given_hash, gone);
        candidates
            .next(&mut || false)
            .unwrap_or_else(|| router.first(hashed, given_hash))
    }

    /// The way from a key to another server than the first.
    pub(crate) fn search<'s>(&'s self, key: &'s WireKey<'_>, deadline: Moment) -> Search<'s> {
        Search::new(&self.0.inner, key, deadline)
    }

    /// Waits until the calls of the maintenance thread are heard, starts it, and makes the handle.
    fn start(inner: Arc<Inner>, calls: Sender<Call>, heard: Receiver<Call>) -> Result<Self> {
        let shared = Arc::clone(&inner);
        let thread = thread::Builder::new()
            .name("sockio-maint".into())
            .spawn(move || maintenance::run(shared, heard))
            .map_err(|error| {
                Error::config("the maintenance thread could not be started").with_source(error)
            })?;
        Ok(Self(Arc::new(Handle {
            inner,
            calls,
            thread_id: thread.thread().id(),
            thread: Mutex::new(Some(thread)),
        })))
    }

    fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Inner {
    fn new(
        router: Router,
        settings: Settings,
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
        let settings = Arc::new(settings);
        let hosts = router.servers().iter().enumerate();
        let hosts = hosts
            .map(|(index, addr)| {
                Host::new(
                    index,
                    addr.clone(),
                    Arc::clone(&settings),
                    Arc::clone(&watch),
                )
            })
            .collect();
        (
            Arc::new(Self {
                hosts,
                router,
                settings,
                watch,
                rules,
                transcoder,
            }),
            calls,
            heard,
        )
    }
}

impl Inner {
    /// Whether the keys of any server go to others.
    #[inline]
    fn any_ejected(&self) -> bool {
        self.hosts.iter().any(|host| host.gate().ejected())
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

impl Handle {
    fn end(&self) {
        for host in &self.inner.hosts {
            host.close();
        }
        // The last clone may go on the maintenance thread itself, if a logger holds it: it ends without being joined.
        if thread::current().id() == self.thread_id {
            let _ = self.calls.try_send(Call::Stop);
            return;
        }
        // Held while the thread is joined: whoever ends the pool at the same time returns no sooner.
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = thread.take() {
            // Blocks only while a call is in the channel that the thread is about to hear.
            let _ = self.calls.send(Call::Stop);
            if thread.join().is_err() {
                log::error!("the maintenance thread had panicked");
            }
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.end();
    }
}

impl fmt::Debug for SockIoPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SockIoPool")
            .field("servers", &self.servers())
            .finish_non_exhaustive()
    }
}
