//! A connection in the hands of one caller, and what becomes of it afterwards.

use std::sync::atomic::Ordering;

use super::host::{Counts, FAIR_TRY, Host, Pooled, Refusal};
use crate::clock::Moment;
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

    /// Books a failure on this connection: an I/O timeout marks the server dead, an end of the connection
    /// makes the other idle ones suspect.
    pub(crate) fn failed(&mut self, error: &Error) {
        match error.kind() {
            ErrorKind::Timeout => {
                Counts::add(&self.host.counts.timeouts);
                if self.was_fair() && !self.host.postpones_judgement() {
                    self.host.mark_dead(error);
                }
            }
            ErrorKind::Connection => {
                let now = Moment::now().number();
                self.host.suspect_until.fetch_max(now, Ordering::Relaxed);
            }
            _ => {}
        }
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
        let Some(connection) = self.connection.take() else {
            return self.host.gate.forfeit();
        };
        if connection.io.line().give_back() && connection.io.is_clean() {
            // Closed here, outside of the gate's lock, if the gate hands it back.
            drop(self.host.gate.put(connection));
        } else {
            drop(connection);
            self.host.gate.forfeit();
        }
    }
}
