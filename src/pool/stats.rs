//! What a pool tells about itself.

use std::time::Instant;

use crate::server::ServerAddr;

/// The state of one server's connections, and what happened to them since the pool was built.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerStats {
    /// The server.
    pub server: ServerAddr,
    /// Connections that rest.
    pub idle: usize,
    /// Connections that are lent or being opened.
    pub busy: usize,
    /// Callers that wait for a connection.
    pub waiting: usize,
    /// Until when nobody tries the server, if it is marked dead.
    pub dead_until: Option<Instant>,
    /// Connections opened.
    pub connects: u64,
    /// Connects that failed.
    pub connect_failures: u64,
    /// Connections closed because they were idle for too long or too many, too old, or found broken while they rested.
    pub evicted: u64,
    /// Operations that ended by a deadline: waiting for a connection, or for the server.
    pub timeouts: u64,
}
