//! What a pool does when servers fail, and how its sockets are set.

use std::time::Duration;

use super::SockIoPoolBuilder;
#[cfg(doc)]
use crate::pool::SockIoPool;

/// What happens when.
impl SockIoPoolBuilder {
    /// Whether the kernel may hold back small writes (Nagle's algorithm). Default false. The Java client meant the same
    /// by `setNagle` and did the opposite; memcacheddotnet's `Nagle` did nothing.
    ///
    /// Old names: `setNagle`, `Nagle`, `OPT_TCP_NODELAY`.
    #[doc(alias = "setNagle")]
    #[doc(alias = "Nagle")]
    #[doc(alias = "OPT_TCP_NODELAY")]
    pub fn nagle(mut self, on: bool) -> Self {
        self.settings.socket.nagle = on;
        self
    }

    /// Sends TCP keep-alive probes after a connection was idle for this long, 1 s to 32,767 s. Default: none.
    ///
    /// Old names: `OPT_TCP_KEEPALIVE`, `KeepAliveStartDelay`, `KeepAliveInterval`.
    #[doc(alias = "OPT_TCP_KEEPALIVE")]
    #[doc(alias = "KeepAliveStartDelay")]
    #[doc(alias = "KeepAliveInterval")]
    pub fn keep_alive(mut self, idle: Duration) -> Self {
        self.settings.socket.keep_alive = Some(idle);
        self
    }

    /// Whether the keys of a dead server go to other servers, by the walk of [`compat`](Self::compat). Default true.
    ///
    /// Old names: `setFailover`, `Failover`, `allow_failover`, `OPT_REMOVE_FAILED_SERVERS`,
    /// `OPT_AUTO_EJECT_HOSTS`, `memcache.allow_failover`.
    #[doc(alias = "setFailover")]
    #[doc(alias = "Failover")]
    #[doc(alias = "allow_failover")]
    #[doc(alias = "OPT_REMOVE_FAILED_SERVERS")]
    #[doc(alias = "OPT_AUTO_EJECT_HOSTS")]
    #[doc(alias = "memcache.allow_failover")]
    pub fn failover(mut self, on: bool) -> Self {
        self.settings.failover = on;
        self
    }

    /// From how many failures in a row on the keys of a server go to others. Default 1: at once, as with the Java client.
    /// Until then calls for its keys fail without a try; each vain try of the maintenance thread counts. 0 is as 1.
    ///
    /// Old names: `OPT_SERVER_FAILURE_LIMIT`, `failureThreshold`, `OPT_SERVER_TIMEOUT_LIMIT`,
    /// `FailurePolicyFactory`.
    #[doc(alias = "OPT_SERVER_FAILURE_LIMIT")]
    #[doc(alias = "failureThreshold")]
    #[doc(alias = "OPT_SERVER_TIMEOUT_LIMIT")]
    #[doc(alias = "FailurePolicyFactory")]
    pub fn failure_limit(mut self, failures: u32) -> Self {
        self.settings.failure_limit = failures.max(1);
        self
    }

    /// Whether a dead server is used again when it answers. Default true. Without it, a server that failed stays out
    /// for the life of the pool.
    ///
    /// A server that was only cut off comes back with the values that it had. What was written elsewhere in the meantime stays
    /// there, so keys are found with older values; where that matters, switch it off, or empty the server
    /// ([`flush_all_on`](crate::MemcachedClient::flush_all_on)).
    ///
    /// Old name: `setFailback`.
    #[doc(alias = "setFailback")]
    pub fn failback(mut self, on: bool) -> Self {
        self.settings.failback = on;
        self
    }

    /// Whether an idle connection is proved by a `version` round trip each time before it is used. Default false:
    /// one that rested for over a second is looked at without a round trip, which finds closed ones too.
    ///
    /// Old names: `setAliveCheck`, `aliveCheck`, `setTestOnBorrow`.
    #[doc(alias = "setAliveCheck")]
    #[doc(alias = "aliveCheck")]
    #[doc(alias = "setTestOnBorrow")]
    pub fn alive_check(mut self, on: bool) -> Self {
        self.settings.alive_check = on;
        self
    }

    /// Whether `set`, `replace`, `delete` and `touch` are sent a second time when an idle connection turns out to be
    /// closed and no answer came. Default false: the second one could undo what another client wrote in between.
    ///
    /// Old names: `OPT_STORE_RETRY_COUNT`, `memcached.store_retry_count`.
    #[doc(alias = "OPT_STORE_RETRY_COUNT")]
    #[doc(alias = "memcached.store_retry_count")]
    pub fn retry_writes(mut self, on: bool) -> Self {
        self.settings.retry_writes = on;
        self
    }

    /// Whether callers who find all connections of a server in use share a request: one of them asks for all, and reads the
    /// answers for all. Default false.
    ///
    /// **On** where threads outnumber [`max_open`](Self::max_open) and values are small. Measured with 64 threads and values of
    /// 100 bytes, client and server on the same two processors: on one connection about 9 times the operations per second of
    /// one that each waits for in turn; on one to four connections about twice those of 64 threads with a connection each. The
    /// busiest thread does about one and a half times as much as the laziest.
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

    /// Whether each operation asks the system whether this is still the process that opened the connections. Default false.
    ///
    /// **On** in programs that call `fork` without `exec` afterwards and use the pool in the child, such as servers that fork
    /// their workers. The child closes what rests of the parent's connections without a byte being sent on them, and goes on with
    /// a pool of its own, with the same settings: its callers open connections, and a maintenance thread is started. Nothing of
    /// the parent's is locked there, so other threads may do with the pool what they like while one forks. It costs one `getpid`
    /// per operation, well below a microsecond.
    ///
    /// **Off**, a fork is noticed only where the question costs nothing beside what is done anyway: before a connection that
    /// rested for over a second is used, before one is opened, before a caller waits, and when a server is marked dead. A child
    /// that calls within a second of the parent's last call may then take a connection that the parent uses too, and their replies
    /// are mixed up; a lock that another thread held at the moment of the fork is held in the child for ever; and where callers
    /// share requests ([`combine`](Self::combine)), the child's first call may wait in vain for one of the parent's.
    ///
    /// Either way: connections that were lent at the moment of the fork stay open in the child, unused, until it ends (so do those
    /// that rested, if somebody just took or returned one). An operation must not be under way in the thread that forks: a child
    /// that is forked inside a callback, such as that of [`get_with`](crate::MemcachedClient::get_with), must not return from it.
    /// [`SockIoPool::named`] and [`SockIoPool::shutdown`] take a lock that all pools share, so no other thread should build, find or
    /// end one by name at that moment. The clones that other threads held are never dropped in the child:
    /// [`SockIoPool::shutdown`] ends its pool.
    pub fn fork_check(mut self, on: bool) -> Self {
        self.settings.fork_check = on;
        self
    }

    /// The longest value that is read; a longer one is an error and closes the connection. Default 128 MiB.
    pub fn max_value_len(mut self, bytes: usize) -> Self {
        self.settings.max_value_len = bytes;
        self
    }
}
