//! Names to addresses, within a time limit. std can only ask the resolver blocking, for as long as that likes;
//! so a name is looked up by a thread of its own, which ends with the answer. An IP address needs none of this.

use std::collections::HashMap;
use std::io;
use std::net::{Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded};
use socket2::SockAddr;

use crate::clock::Moment;
use crate::server::{Endpoint, ServerAddr};

/// What a look-up brings; the error is told to all who asked, so it is kept as text.
type Found = Result<Vec<SocketAddr>, String>;

/// A look-up that is under way or has ended.
#[derive(Debug)]
pub(super) enum Lookup {
    Known(Vec<SockAddr>),
    Asked(Receiver<Found>),
}

/// Who waits for which name: one thread per name, however many ask for it.
type Asking = HashMap<Name, Vec<Sender<Found>>>;

/// Host and port.
type Name = (String, u16);

/// The look-ups of one process, and those of a process that it forked off: that one has none of its threads, and may
/// have inherited the lock in the hands of one of them.
struct Book {
    /// 0 until somebody asks.
    process: AtomicU32,
    asking: Mutex<Option<Asking>>,
    next: OnceLock<Box<Book>>,
}

static BOOK: Book = Book::new();

impl Lookup {
    /// Begins to look up a server's address; never blocks.
    pub(super) fn begin(server: &ServerAddr) -> io::Result<Self> {
        let (host, port) = match server.endpoint() {
            Endpoint::Tcp { host, port, .. } => (&**host, *port),
            Endpoint::Unix { path } => return Ok(Self::Known(vec![SockAddr::unix(&**path)?])),
        };
        if let Some(address) = server.ip() {
            return Ok(Self::Known(vec![SocketAddr::new(address, port).into()]));
        }
        if has_zone(host) {
            let addresses = (host, port).to_socket_addrs()?;
            return Ok(Self::Known(addresses.map(SockAddr::from).collect()));
        }
        let (tell, told) = bounded(1);
        let name = (host.to_owned(), port);
        let mut asking = BOOK.of(process::id()).asking();
        let waiting = asking
            .get_or_insert_default()
            .entry(name.clone())
            .or_default();
        waiting.push(tell);
        if waiting.len() == 1 {
            let asked = name.clone();
            let spawned = thread::Builder::new()
                .name("sockio-dns".into())
                .spawn(move || answer(&asked));
            if let Err(error) = spawned {
                asking.get_or_insert_default().remove(&name);
                return Err(error);
            }
        }
        Ok(Self::Asked(told))
    }

    /// The addresses, if they are known by now.
    pub(super) fn poll(&mut self) -> io::Result<Option<&[SockAddr]>> {
        if let Self::Asked(told) = self {
            match told.try_recv() {
                Ok(found) => *self = Self::Known(addresses(found)?),
                Err(TryRecvError::Empty) => return Ok(None),
                Err(TryRecvError::Disconnected) => return Err(gone()),
            }
        }
        match self {
            Self::Known(addresses) => Ok(Some(addresses)),
            Self::Asked(_) => Ok(None),
        }
    }

    /// The addresses, waited for until `end`.
    pub(super) fn wait(self, end: Moment) -> io::Result<Vec<SockAddr>> {
        match self {
            Self::Known(addresses) => Ok(addresses),
            Self::Asked(told) => match told.recv_timeout(end.since(Moment::now())) {
                Ok(found) => addresses(found),
                Err(error) if error.is_timeout() => Err(io::ErrorKind::TimedOut.into()),
                Err(_) => Err(gone()),
            },
        }
    }
}

/// Whether this is an IPv6 address with a zone (`fe80::1%eth0`): the system resolves the zone without asking anybody.
fn has_zone(host: &str) -> bool {
    let address = host.split_once('%').map(|(address, _)| address);
    address.is_some_and(|address| address.parse::<Ipv6Addr>().is_ok())
}

/// The body of a thread: looks up one name and tells all who asked for it until then.
fn answer(name: &Name) {
    let found = (name.0.as_str(), name.1)
        .to_socket_addrs()
        .map(Iterator::collect)
        .map_err(|error| error.to_string());
    let mut asking = BOOK.of(process::id()).asking();
    let waiting = asking.as_mut().and_then(|asking| asking.remove(name));
    drop(asking);
    for tell in waiting.into_iter().flatten() {
        // Whoever waits no longer has given up.
        let _ = tell.send(Found::clone(&found));
    }
}

fn addresses(found: Found) -> io::Result<Vec<SockAddr>> {
    let found = found.map_err(io::Error::other)?;
    if found.is_empty() {
        let message = "the name has no address";
        return Err(io::Error::new(io::ErrorKind::NotFound, message));
    }
    Ok(found.into_iter().map(SockAddr::from).collect())
}

fn gone() -> io::Error {
    io::Error::other("the look-up of the name ended without an answer")
}

impl Book {
    const fn new() -> Self {
        Self {
            process: AtomicU32::new(0),
            asking: Mutex::new(None),
            next: OnceLock::new(),
        }
    }

    /// The one of this process, the first that is free if it has none yet.
    fn of(&self, process: u32) -> &Self {
        let mut book = self;
        loop {
            match book.process.compare_exchange(0, process, Relaxed, Relaxed) {
                Err(owner) if owner != process => {
                    book = book.next.get_or_init(|| Box::new(Self::new()));
                }
                _ => return book,
            }
        }
    }

    fn asking(&self) -> MutexGuard<'_, Option<Asking>> {
        self.asking.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn lookup(server: &str) -> Lookup {
        Lookup::begin(&server.parse().unwrap()).unwrap()
    }

    #[test]
    fn addresses_need_no_look_up() {
        for server in ["127.0.0.1:7", "[::1]:7", "/run/x.sock"] {
            assert!(matches!(lookup(server), Lookup::Known(known) if known.len() == 1));
        }
    }

    #[test]
    fn a_name_is_found_by_all_who_ask() {
        let asked: Vec<_> = (0..8).map(|_| lookup("localhost:7")).collect();
        let end = Moment::now() + Duration::from_secs(10);
        for lookup in asked {
            let found = lookup.wait(end).unwrap();
            assert!(
                found
                    .iter()
                    .all(|address| address.as_socket().unwrap().port() == 7)
            );
        }
        let mut polled = lookup("localhost:8");
        while polled.poll().unwrap().is_none() {
            assert!(Moment::now() < end);
            thread::yield_now();
        }
    }

    #[test]
    fn a_lock_that_was_held_at_a_fork_is_not_waited_for() {
        let book = Book::new();
        let parents = book.of(1);
        let _held = parents.asking();
        for process in [2, 3] {
            assert!(book.of(process).asking.try_lock().is_ok(), "{process}");
            assert!(std::ptr::eq(book.of(process), book.of(process)));
        }
        assert!(std::ptr::eq(book.of(1), parents));
    }

    #[test]
    fn a_name_that_is_none_says_so() {
        let end = Moment::now() + Duration::from_secs(10);
        for name in ["no-such-host.invalid:7", "no%zone.invalid:7"] {
            let lookup = lookup(name);
            assert!(matches!(lookup, Lookup::Asked(_)), "{name}");
            assert!(lookup.wait(end).is_err(), "{name}");
        }
    }
}
