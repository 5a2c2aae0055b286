//! The commands, and the one road that each of them takes. It knows no socket option and no hash.

mod admin;
mod batch;
mod count;
mod execute;
mod item;
mod multi;
mod outcome;
mod raw;
mod retrieve;
mod store;

pub use admin::PerServer;
pub use item::Item;
pub use outcome::{Failure, GetMulti, Multi};
pub use raw::RawEnd;
pub use store::Cas;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::codec::Transcoder;
use crate::error::{Error, Result};
use crate::pool::SockIoPool;
use crate::server::ToServerAddr;

/// A client of the servers of a [`SockIoPool`].
///
/// Cheap to clone, and shared by all threads. Clones of one pool's client may have their own transcoder and deadline.
///
/// Every call either returns an answer of the server or an error, before the deadline: a miss is `Ok(None)`, a store
/// that the server declined `Ok(false)`, and an [`Error`] means that the answer is not known.
#[derive(Clone)]
#[doc(alias = "MemCachedClient")]
#[doc(alias = "Memcached")]
#[doc(alias = "Memcache")]
#[doc(alias = "MemcachePool")]
#[doc(alias = "IMemcachedClient")]
pub struct MemcachedClient {
    pool: SockIoPool,
    transcoder: Arc<dyn Transcoder>,
    timeout: Duration,
    degrade: bool,
    on_error: Option<Arc<OnError>>,
}

/// A timeout too long for the clock is cut.
const A_YEAR: Duration = Duration::from_secs(365 * 24 * 3600);

type OnError = dyn Fn(&Error) + Send + Sync;

impl MemcachedClient {
    /// A client of a pool, with the pool's transcoder and operation timeout.
    pub fn new(pool: SockIoPool) -> Self {
        Self {
            transcoder: Arc::clone(pool.transcoder()),
            timeout: pool.operation_timeout().min(A_YEAR),
            pool,
            degrade: false,
            on_error: None,
        }
    }

    /// A client of one server, with a pool of its own that has the default settings.
    ///
    /// ```no_run
    /// # fn main() -> sockio::Result<()> {
    /// let client = sockio::MemcachedClient::connect("127.0.0.1:11211")?;
    /// # Ok(()) }
    /// ```
    #[doc(alias = "memcache_connect")]
    pub fn connect(server: impl ToServerAddr) -> Result<Self> {
        let pool = SockIoPool::builder()
            .servers([server.to_server_addr()?])
            .build()?;
        Ok(Self::new(pool))
    }

    /// The pool.
    pub fn pool(&self) -> &SockIoPool {
        &self.pool
    }

    /// The same client with another form of values.
    #[doc(alias = "setTransCoder")]
    pub fn with_transcoder(mut self, transcoder: impl Transcoder + 'static) -> Self {
        self.transcoder = Arc::new(transcoder);
        self
    }

    /// The same client with another limit for each operation in all; the pool's is
    /// [`operation_timeout`](crate::SockIoPoolBuilder::operation_timeout). Zero times out at once.
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout.min(A_YEAR);
        self
    }

    /// The same client with errors taken as misses: a read that fails is `None`, a store that fails is `false`.
    /// Default false. Errors of the caller's making (a bad key, a value that cannot be written) stay errors.
    ///
    /// For programs that are better served by a slow answer from elsewhere than by an error. The error handler hears of each.
    pub fn degrade(mut self, on: bool) -> Self {
        self.degrade = on;
        self
    }

    /// The same client with a handler that hears of every error of a server or a connection, also of those that
    /// [`degrade`](Self::degrade) turns into misses. It runs on the caller's thread, when the connection has been dealt with.
    #[doc(alias = "setErrorHandler")]
    #[doc(alias = "ErrorHandler")]
    #[doc(alias = "addErrorHandler")]
    #[doc(alias(
        "handleErrorOnInit",
        "handleErrorOnGet",
        "handleErrorOnSet",
        "handleErrorOnDelete",
        "handleErrorOnFlush",
        "handleErrorOnStats",
        "setFailureCallback",
        "memcache_set_failure_callback",
        "NodeFailed"
    ))]
    pub fn on_error(mut self, handler: impl Fn(&Error) + Send + Sync + 'static) -> Self {
        self.on_error = Some(Arc::new(handler));
        self
    }
}

impl fmt::Debug for MemcachedClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemcachedClient")
            .field("pool", &self.pool)
            .field("transcoder", &self.transcoder)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
