//! A connection in the hands of one caller, and the one place that decides what becomes of it then.

use super::host::{FAIR_TRY, Host, Pooled, Refusal};
use crate::error::{Error, ErrorKind};
use crate::sock::SockIo;

/// A connection in the hands of one caller. Dropping it decides what becomes of the connection: the one place that does.
#[derive(Debug)]
pub(crate) struct Lease<'h> {
    pub(super) host: &'h Host,
    /// Empty only when a reconnect failed.
    pub(super) connection: Option<Box<Pooled>>,
    pub(super) reused: bool,
}

impl Lease<'_> {
    pub(crate) fn host(&self) -> &Host {
        self.host
    }

    pub(crate) fn io(&mut self) -> &mut SockIo {
        // Only `reconnect` empties it, and it consumes the lease when it does.
        &mut self
            .connection
            .as_mut()
            .expect("a lease holds a connection")
            .io
    }

    /// Whether the connection was opened for an earlier operation.
    pub(crate) fn is_reused(&self) -> bool {
        self.reused
    }

    /// Books a failure on this connection: an I/O timeout marks the server dead, an end of the connection raises doubts
    /// about the others.
    pub(crate) fn failed(&mut self, error: &Error) {
        // The failure of a clean connection is none of the server's: it has answered all, and in time. What its answers
        // are for came too late, or the reading of a value asked another server.
        let clean = self.is_clean();
        match error.kind() {
            ErrorKind::Timeout => {
                self.host.count_timeout();
                if !clean && self.was_fair() && !self.host.postpones_judgement() {
                    self.host.mark_dead(error);
                }
            }
            _ if clean => {}
            ErrorKind::Connection => self.host.doubt.connection_ended(),
            ErrorKind::Server | ErrorKind::Protocol => self.host.doubt.connection_refused(),
            _ => {}
        }
    }

    fn is_clean(&self) -> bool {
        let connection = self.connection.as_ref();
        connection.is_some_and(|connection| connection.io.is_clean())
    }

    /// Whether the server had something to answer, and time for it: one that had not may be in good health.
    fn was_fair(&self) -> bool {
        let Some(connection) = &self.connection else {
            return false;
        };
        connection.io.has_written()
            && connection.io.waited() >= FAIR_TRY.min(self.host.settings.socket.socket_timeout)
    }

    /// Closes the connection and opens another on the same permit.
    pub(crate) fn reconnect(mut self) -> std::result::Result<Self, Refusal> {
        let deadline = self.io().deadline();
        self.connection = None;
        self.connection = Some(self.host.connect(deadline)?);
        self.reused = false;
        Ok(self)
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        let connection = self.connection.take();
        if self.host.is_left() {
            // Its permit is none of this process.
            return drop(connection);
        }
        let Some(connection) = connection else {
            return self.host.gate().forfeit();
        };
        if connection.io.line().give_back() && connection.io.is_clean() {
            if !self.reused && connection.io.has_heard() {
                self.host.doubt.new_one_is_good();
            }
            // Closed here, outside of the gate's lock, if the gate hands it back.
            drop(self.host.gate().put(connection));
        } else {
            drop(connection);
            self.host.gate().forfeit();
        }
    }
}
