//! How many connections, and how long everything may take.

use std::time::Duration;

use super::SockIoPoolBuilder;

/// How many connections. All numbers are per server.
impl SockIoPoolBuilder {
    /// Connections opened by [`build`](Self::build). Default 1; 0 opens none. At most [`max_open`](Self::max_open).
    ///
    /// Old names: `setInitConn`, `InitConnections`.
    #[doc(alias = "setInitConn")]
    #[doc(alias = "InitConnections")]
    pub fn initial_conn(mut self, count: usize) -> Self {
        self.settings.initial_conn = count;
        self
    }

    /// Idle connections that each maintenance pass fills up to and never goes below. Default 1. At most
    /// [`max_conn`](Self::max_conn) and [`max_open`](Self::max_open).
    ///
    /// Old names: `setMinConn`, `MinConnections`, `MinPoolSize`, `setMinIdle`.
    #[doc(alias = "setMinConn")]
    #[doc(alias = "MinConnections")]
    #[doc(alias = "MinPoolSize")]
    #[doc(alias = "setMinIdle")]
    pub fn min_conn(mut self, count: usize) -> Self {
        self.settings.min_conn = count;
        self
    }

    /// Idle connections above which maintenance closes some. Default 32. As with the old clients it does not limit
    /// how many are lent; [`max_open`](Self::max_open) does, and follows this number where it is not set.
    ///
    /// Old names: `setMaxConn`, `MaxConnections`, `MaxPoolSize`.
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
    ///
    /// Old names: `maxCreate`, `poolMultiplier`.
    #[doc(alias = "maxCreate")]
    #[doc(alias = "poolMultiplier")]
    pub fn max_create(mut self, count: usize) -> Self {
        self.settings.max_create = count;
        self
    }
}

/// How long. Zero is an error of [`build`](Self::build), but for [`max_idle`](Self::max_idle): no time means "without an end".
impl SockIoPoolBuilder {
    /// How long a connection may rest; one that rested longer is closed by maintenance while more than
    /// [`min_conn`](Self::min_conn) are idle. Default 5 minutes.
    ///
    /// Old names: `setMaxIdle`, `MaxIdle`, `setMinEvictableIdleTimeMillis`,
    /// `setSoftMinEvictableIdleTimeMillis`.
    #[doc(alias = "setMaxIdle")]
    #[doc(alias = "MaxIdle")]
    #[doc(alias = "setMinEvictableIdleTimeMillis")]
    #[doc(alias = "setSoftMinEvictableIdleTimeMillis")]
    pub fn max_idle(mut self, time: Duration) -> Self {
        self.settings.max_idle = time;
        self
    }

    /// How long a connection may be lent; one that is held longer is shut down under its holder, who gets a time-out.
    /// Default 30 s.
    ///
    /// Old names: `setMaxBusyTime`, `MaxBusy`.
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
    ///
    /// Old names: `setMaintSleep`, `MaintenanceSleep`, `setTimeBetweenEvictionRunsMillis`.
    #[doc(alias = "setMaintSleep")]
    #[doc(alias = "MaintenanceSleep")]
    #[doc(alias = "setTimeBetweenEvictionRunsMillis")]
    pub fn maint_sleep(mut self, time: Duration) -> Self {
        self.settings.maint_sleep = time;
        self
    }

    /// The limit of a connect, all addresses of a name together. Default 1 s.
    ///
    /// Old names: `setSocketConnectTO`, `SocketConnectTimeout`, `OPT_CONNECT_TIMEOUT`, `ConnectionTimeout`,
    /// `memcached.default_connect_timeout`.
    #[doc(alias = "setSocketConnectTO")]
    #[doc(alias = "SocketConnectTimeout")]
    #[doc(alias = "OPT_CONNECT_TIMEOUT")]
    #[doc(alias = "ConnectionTimeout")]
    #[doc(alias = "memcached.default_connect_timeout")]
    pub fn connect_timeout(mut self, time: Duration) -> Self {
        self.settings.socket.connect_timeout = time;
        self
    }

    /// The limit of each read and each write. Default 3 s.
    ///
    /// Old names: `setSocketTO`, `SocketTimeout`, `OPT_RECV_TIMEOUT`, `OPT_SEND_TIMEOUT`, `OPT_POLL_TIMEOUT`,
    /// `ReceiveTimeout`.
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
    ///
    /// Old names: `setMaxWait`, `QueueTimeout`.
    #[doc(alias = "setMaxWait")]
    #[doc(alias = "QueueTimeout")]
    pub fn operation_timeout(mut self, time: Duration) -> Self {
        self.settings.operation_timeout = time;
        self
    }

    /// The limit of waiting for a connection while all [`max_open`](Self::max_open) are lent.
    /// Default: what is left of the operation's time.
    ///
    /// Old names: `maxWait`, `setMaxWait`, `QueueTimeout`.
    #[doc(alias = "maxWait")]
    #[doc(alias = "setMaxWait")]
    #[doc(alias = "QueueTimeout")]
    pub fn wait_timeout(mut self, time: Duration) -> Self {
        self.settings.wait_timeout = time;
        self
    }

    /// How long a server that failed is left alone: `start`, then twice as long after each vain try, up to `limit`.
    /// Default 100 ms and 10 minutes.
    ///
    /// Old names: `hostDeadDur`, `MAX_RETRY_DELAY`, `OPT_RETRY_TIMEOUT`, `DeadTimeout`, `OPT_DEAD_TIMEOUT`,
    /// `retry_interval`.
    #[doc(alias = "hostDeadDur")]
    #[doc(alias = "MAX_RETRY_DELAY")]
    #[doc(alias = "OPT_RETRY_TIMEOUT")]
    #[doc(alias = "DeadTimeout")]
    #[doc(alias = "OPT_DEAD_TIMEOUT")]
    #[doc(alias = "retry_interval")]
    pub fn dead_backoff(mut self, start: Duration, limit: Duration) -> Self {
        (self.settings.dead_start, self.settings.dead_limit) = (start, limit);
        self
    }
}
