//! The texts that rings hash for a server. It knows no hash.

use std::io::Write;

use crate::server::ServerAddr;

/// `host:port`, the port always written; a unix socket's path as it is.
pub(super) fn host_port(server: &ServerAddr) -> String {
    match server.port() {
        Some(port) => format!("{}:{port}", server.host()),
        None => server.host().to_owned(),
    }
}

/// A server's text with a number behind it, in one buffer for all numbers.
pub(super) struct PointNames {
    buffer: Vec<u8>,
    fixed: usize,
}

impl PointNames {
    pub(super) fn new(name: &str, separator: &str) -> Self {
        let buffer = [name, separator].concat().into_bytes();
        let fixed = buffer.len();
        Self { buffer, fixed }
    }

    pub(super) fn numbered(&mut self, number: u64) -> &[u8] {
        self.buffer.truncate(self.fixed);
        // Writing to a vector does not fail.
        let _ = write!(self.buffer, "{number}");
        &self.buffer
    }
}
