//! A connected socket, TCP or unix; nothing else knows which. It knows no protocol and no deadline.

use std::io::{self, IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::net::{Shutdown, TcpStream};
#[cfg(unix)]
use std::os::unix::net::UnixStream;
use std::time::Duration;

use socket2::{SockRef, Socket};

/// A connected socket in blocking mode. All methods take `&self`: another thread may shut it down.
#[derive(Debug)]
pub(crate) enum Stream {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
}

/// What a socket's timer is set to for a wait of `limit`. The system counts microseconds, and takes none for an endless wait.
pub(super) fn timer(limit: Duration) -> Option<Duration> {
    Some(limit.max(Duration::from_micros(1)))
}

/// What a look at a resting socket shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    /// Nothing came: it is as it was left.
    Quiet,
    /// The peer closed it, or sent bytes that nobody asked for.
    Spoiled,
}

impl Stream {
    pub(crate) fn tcp(socket: Socket) -> Self {
        Self::Tcp(socket.into())
    }

    #[cfg(unix)]
    pub(crate) fn unix(socket: Socket) -> Self {
        Self::Unix(socket.into())
    }

    pub(crate) fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => (&*stream).read(buffer),
            #[cfg(unix)]
            Self::Unix(stream) => (&*stream).read(buffer),
        }
    }

    /// Reads up to `len` bytes into the spare room of `buffer`, until they are there, the peer closes, or an error comes;
    /// what came before an error stays. The room is not zeroed first: std reads straight into it.
    pub(crate) fn read_many(&self, len: usize, buffer: &mut Vec<u8>) -> io::Result<usize> {
        let len = len as u64;
        match self {
            Self::Tcp(stream) => stream.take(len).read_to_end(buffer),
            #[cfg(unix)]
            Self::Unix(stream) => stream.take(len).read_to_end(buffer),
        }
    }

    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => (&*stream).write(bytes),
            #[cfg(unix)]
            Self::Unix(stream) => (&*stream).write(bytes),
        }
    }

    pub(crate) fn write_vectored(&self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => (&*stream).write_vectored(parts),
            #[cfg(unix)]
            Self::Unix(stream) => (&*stream).write_vectored(parts),
        }
    }

    pub(crate) fn set_read_timeout(&self, limit: Duration) -> io::Result<()> {
        self.socket().set_read_timeout(timer(limit))
    }

    pub(crate) fn set_write_timeout(&self, limit: Duration) -> io::Result<()> {
        self.socket().set_write_timeout(timer(limit))
    }

    pub(crate) fn set_nonblocking(&self, on: bool) -> io::Result<()> {
        self.socket().set_nonblocking(on)
    }

    /// Looks without taking anything and without waiting.
    pub(crate) fn look(&self) -> Rest {
        let socket = self.socket();
        if socket.set_nonblocking(true).is_err() {
            return Rest::Spoiled;
        }
        let seen = socket.peek(&mut [MaybeUninit::uninit()]);
        let quiet = matches!(&seen, Err(error) if error.kind() == io::ErrorKind::WouldBlock);
        if quiet && socket.set_nonblocking(false).is_ok() {
            Rest::Quiet
        } else {
            Rest::Spoiled
        }
    }

    /// Ends both directions: whoever reads or writes gets an answer at once.
    pub(crate) fn shutdown(&self) {
        // A socket that the peer has already closed refuses; it has ended all the same.
        let _ = self.socket().shutdown(Shutdown::Both);
    }

    fn socket(&self) -> SockRef<'_> {
        match self {
            Self::Tcp(stream) => SockRef::from(stream),
            #[cfg(unix)]
            Self::Unix(stream) => SockRef::from(stream),
        }
    }
}
