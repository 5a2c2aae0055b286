//! The sizes and times that a client's own pool has by default.

use std::time::Duration;

use super::Compat;

/// See [`SockIoPoolBuilder::defaults_of`](crate::SockIoPoolBuilder::defaults_of).
#[derive(Clone, Copy, Debug)]
pub(crate) struct PoolDefaults {
    pub(crate) initial_conn: usize,
    pub(crate) min_conn: usize,
    pub(crate) max_conn: usize,
    pub(crate) max_open: usize,
    /// `poolMultiplier`: the divisor of the largest batch and of the closing steps.
    pub(crate) multiplier: usize,
    pub(crate) max_idle: Duration,
    pub(crate) max_busy: Duration,
    pub(crate) maint_sleep: Duration,
    pub(crate) connect_timeout: Duration,
    pub(crate) socket_timeout: Duration,
    /// The first delay and the longest.
    pub(crate) dead_backoff: (Duration, Duration),
}

/// What stands for "no limit" of open connections: as many as a server takes by default (memcached `-c`), but for a few.
const UNLIMITED: usize = 1000;

/// What stands for "no limit" of a delay.
const NO_LIMIT: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// Java client 2.x, the last version of the line (`com.meetup.memcached`, `SockIOPool.java`).
const WHALIN: PoolDefaults = PoolDefaults {
    initial_conn: 10,
    min_conn: 5,
    max_conn: 100,
    max_open: UNLIMITED,
    multiplier: 3,
    max_idle: Duration::from_millis(300_000),
    max_busy: Duration::from_millis(30_000),
    maint_sleep: Duration::from_millis(30_000),
    connect_timeout: Duration::from_millis(3_000),
    socket_timeout: Duration::from_millis(3_000),
    dead_backoff: (Duration::from_millis(1_000), Duration::from_millis(600_000)),
};

/// Java client 1.6 (`com.danga.MemCached`, `SockIOPool.java`).
const WHALIN_1: PoolDefaults = PoolDefaults {
    initial_conn: 3,
    min_conn: 3,
    max_conn: 10,
    multiplier: 4,
    max_idle: Duration::from_millis(180_000),
    max_busy: Duration::from_millis(300_000),
    maint_sleep: Duration::from_millis(5_000),
    socket_timeout: Duration::from_millis(10_000),
    ..WHALIN
};

/// memcacheddotnet, SVN trunk of 2007-06-07 (`SockIOPool.cs`). Its 50 ms to connect were 25 ms in effect.
const MEMCACHEDDOTNET: PoolDefaults = PoolDefaults {
    connect_timeout: Duration::from_millis(50),
    dead_backoff: (Duration::from_millis(100), NO_LIMIT),
    ..WHALIN_1
};

/// EnyimMemcached 2.x (`SocketPoolConfiguration.cs`): a hard limit, no shrinking, a fixed time of death.
const ENYIM: PoolDefaults = PoolDefaults {
    initial_conn: 10,
    min_conn: 10,
    max_conn: 20,
    max_open: 20,
    multiplier: 4,
    max_idle: NO_LIMIT,
    max_busy: Duration::from_millis(30_000),
    maint_sleep: Duration::from_millis(30_000),
    connect_timeout: Duration::from_millis(10_000),
    socket_timeout: Duration::from_millis(10_000),
    dead_backoff: (Duration::from_millis(10_000), Duration::from_millis(10_000)),
};

impl Compat {
    /// `None` for a client that keeps no pool: one connection per server, opened at the first use.
    pub(crate) fn pool_defaults(self) -> Option<PoolDefaults> {
        match self.client() {
            "whalin" => Some(WHALIN),
            "whalin-1" => Some(WHALIN_1),
            "memcacheddotnet" => Some(MEMCACHEDDOTNET),
            "enyim" => Some(ENYIM),
            _ => None,
        }
    }
}
