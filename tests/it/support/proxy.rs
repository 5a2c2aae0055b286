//! A TCP proxy in front of a server that cuts, loses, stalls, delays and splits as it is told. It knows no protocol.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use socket2::SockRef;

use super::wait::eventually;

/// What befalls a connection in one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fault {
    /// Both sides see the end.
    Fin,
    /// The receiving side alone sees the end.
    HalfFin,
    /// Both sides see the connection broken.
    Rst,
    /// What follows is lost, and after a time both sides see the end.
    Lose(Duration),
    /// Nothing goes on for a long time.
    Stall(Duration),
    /// What follows comes a little later.
    Delay(Duration),
    /// So many bytes come one by one, with a time between.
    Split(usize, Duration),
}

impl Fault {
    pub(crate) const NAMES: [&str; 7] =
        ["fin", "half fin", "rst", "lose", "stall", "delay", "split"];

    fn kind(self) -> usize {
        match self {
            Self::Fin => 0,
            Self::HalfFin => 1,
            Self::Rst => 2,
            Self::Lose(_) => 3,
            Self::Stall(_) => 4,
            Self::Delay(_) => 5,
            Self::Split(..) => 6,
        }
    }
}

/// A fault, and when it comes: so many bytes after the last one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Due {
    pub(crate) after: usize,
    /// Already before the piece that has that byte: a reply, most often, of which nothing goes on then.
    pub(crate) before_piece: bool,
    pub(crate) fault: Fault,
}

/// The faults of one direction.
pub(crate) type Schedule = Box<dyn Iterator<Item = Due> + Send>;

/// What befalls one connection.
pub(crate) struct Plan {
    /// Before any byte goes either way.
    pub(crate) at_accept: Option<Fault>,
    /// From the client to the server.
    pub(crate) requests: Schedule,
    /// From the server to the client.
    pub(crate) replies: Schedule,
}

/// A proxy on a free port of the loopback. On drop it ends, and its connections with it.
pub(crate) struct Proxy {
    shared: Arc<Shared>,
    port: u16,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    server: SocketAddr,
    over: AtomicBool,
    calm: AtomicBool,
    links: Mutex<Vec<Weak<Link>>>,
    /// The threads of connections.
    threads: AtomicUsize,
    connections: AtomicUsize,
    faults: [AtomicUsize; Fault::NAMES.len()],
}

/// One connection through the proxy. Its sockets close when both directions have ended.
struct Link {
    client: TcpStream,
    server: TcpStream,
    over: AtomicBool,
}

impl Proxy {
    /// `plan` is asked for each connection, by its number from 0 on.
    pub(crate) fn start(server: &str, plan: impl Fn(u64) -> Plan + Send + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = listener.local_addr().expect("its number").port();
        let shared = Arc::new(Shared {
            server: server.parse().expect("an address and a port"),
            over: AtomicBool::new(false),
            calm: AtomicBool::new(false),
            links: Mutex::default(),
            threads: AtomicUsize::new(0),
            connections: AtomicUsize::new(0),
            faults: Default::default(),
        });
        let accepting = Arc::clone(&shared);
        let thread = thread::spawn(move || accepting.accept(&listener, plan));
        Self {
            shared,
            port,
            thread: Some(thread),
        }
    }

    /// The address as the client takes it.
    pub(crate) fn addr(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// From here on nothing befalls any connection.
    pub(crate) fn calm(&self) {
        self.shared.calm.store(true, Ordering::Relaxed);
    }

    /// How many connections were made.
    pub(crate) fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::Relaxed)
    }

    /// How many are open, by either side.
    pub(crate) fn open(&self) -> usize {
        let links = self.shared.links();
        links.iter().filter(|link| link.strong_count() > 0).count()
    }

    /// What befell the connections so far, in the order of [`Fault::NAMES`].
    pub(crate) fn faults(&self) -> [usize; Fault::NAMES.len()] {
        let faults = self.shared.faults.each_ref();
        faults.map(|count| count.load(Ordering::Relaxed))
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Relaxed);
        // Wakes the thread that accepts.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
        let ended = self.thread.take().map(JoinHandle::join);
        for link in self.shared.links().iter().filter_map(Weak::upgrade) {
            link.end();
        }
        if !thread::panicking() {
            assert!(matches!(ended, Some(Ok(()))), "the proxy failed");
            eventually("the proxy's threads end", || {
                self.shared.threads.load(Ordering::Relaxed) == 0
            });
        }
    }
}

impl Shared {
    fn links(&self) -> std::sync::MutexGuard<'_, Vec<Weak<Link>>> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn accept(self: Arc<Self>, listener: &TcpListener, plan: impl Fn(u64) -> Plan) {
        for (number, client) in listener.incoming().enumerate() {
            if self.over.load(Ordering::Relaxed) {
                return;
            }
            // A client that has gone again before it was accepted.
            let Ok(client) = client else { continue };
            self.connections.fetch_add(1, Ordering::Relaxed);
            let plan = plan(number as u64);
            let shared = Arc::clone(&self);
            self.spawn(move || shared.carry(client, plan));
        }
    }

    fn spawn(self: &Arc<Self>, run: impl FnOnce() + Send + 'static) {
        self.threads.fetch_add(1, Ordering::Relaxed);
        let shared = Arc::clone(self);
        thread::spawn(move || {
            run();
            shared.threads.fetch_sub(1, Ordering::Relaxed);
        });
    }

    fn carry(self: Arc<Self>, client: TcpStream, plan: Plan) {
        let Ok(server) = TcpStream::connect(self.server) else {
            return;
        };
        for stream in [&client, &server] {
            let _ = stream.set_nodelay(true);
            let _ = stream.set_write_timeout(Some(Duration::from_secs(2)));
        }
        let link = Arc::new(Link {
            client,
            server,
            over: AtomicBool::new(false),
        });
        let mut links = self.links();
        links.retain(|link| link.strong_count() > 0);
        links.push(Arc::downgrade(&link));
        drop(links);
        if let Some(fault) = plan.at_accept {
            let _ = self.befall(fault, &link, &link.client, &[]);
        }
        let (shared, twin) = (Arc::clone(&self), Arc::clone(&link));
        self.spawn(move || shared.pump(&twin, &twin.server, &twin.client, plan.replies));
        self.pump(&link, &link.client, &link.server, plan.requests);
    }

    /// Carries bytes until one side ends, and tells the other of that.
    fn pump(&self, link: &Link, from: &TcpStream, to: &TcpStream, mut faults: Schedule) {
        let mut next = faults.next();
        let mut room = [0; 16 * 1024];
        loop {
            let mut bytes = match { from }.read(&mut room) {
                Ok(0) => break,
                Ok(read) => &room[..read],
                Err(_) => return link.end(),
            };
            while !bytes.is_empty() && !link.is_over() {
                let due = next.filter(|due| due.after < bytes.len());
                let (gap, fault) = match due {
                    Some(due) if due.before_piece => (0, Some(due.fault)),
                    Some(due) => (due.after, Some(due.fault)),
                    None => (bytes.len(), None),
                };
                let (head, tail) = bytes.split_at(gap);
                if { to }.write_all(head).is_err() {
                    return link.end();
                }
                bytes = tail;
                match fault {
                    None => {
                        if let Some(due) = &mut next {
                            due.after -= gap;
                        }
                    }
                    Some(fault) => {
                        next = faults.next();
                        match self.befall(fault, link, to, bytes) {
                            Ok(sent) => bytes = &bytes[sent..],
                            Err(_) => return,
                        }
                    }
                }
            }
        }
        if !link.is_over() {
            let _ = to.shutdown(Shutdown::Write);
        }
    }

    /// One fault; how many of `bytes` have gone out with it, or that this direction has ended.
    fn befall(&self, fault: Fault, link: &Link, to: &TcpStream, bytes: &[u8]) -> io::Result<usize> {
        if self.calm.load(Ordering::Relaxed) {
            return Ok(0);
        }
        self.faults[fault.kind()].fetch_add(1, Ordering::Relaxed);
        let ended = || Err(io::ErrorKind::ConnectionAborted.into());
        match fault {
            Fault::Fin => link.end(),
            Fault::HalfFin => {
                let _ = to.shutdown(Shutdown::Write);
            }
            Fault::Rst => link.reset(),
            Fault::Lose(time) => {
                link.sleep(time);
                link.end();
            }
            Fault::Stall(time) | Fault::Delay(time) => {
                link.sleep(time);
                return Ok(0);
            }
            Fault::Split(count, gap) => {
                let single = &bytes[..count.min(bytes.len())];
                for byte in single {
                    { to }.write_all(&[*byte])?;
                    link.sleep(gap);
                }
                return Ok(single.len());
            }
        }
        ended()
    }
}

impl Link {
    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
        for stream in [&self.client, &self.server] {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// The sockets close when both directions have ended; to let them read no more tells the peers nothing.
    fn reset(&self) {
        self.over.store(true, Ordering::Relaxed);
        for stream in [&self.client, &self.server] {
            let _ = SockRef::from(stream).set_linger(Some(Duration::ZERO));
            let _ = stream.shutdown(Shutdown::Read);
        }
    }

    fn sleep(&self, time: Duration) {
        let mut left = time;
        while !left.is_zero() && !self.is_over() {
            let slice = left.min(Duration::from_millis(10));
            thread::sleep(slice);
            left -= slice;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::fake::Fake;
    use std::iter;

    /// What a client gets that asks for `version` through a proxy with one fault in the reply, after 3 bytes or before it.
    fn reply_with(fault: Fault, before_piece: bool) -> (io::Result<usize>, Vec<u8>, Duration) {
        let fake = Fake::serving();
        let proxy = Proxy::start(&fake.addr(), move |_| Plan {
            at_accept: None,
            requests: Box::new(iter::empty()),
            replies: Box::new(iter::once(Due {
                after: 3,
                before_piece,
                fault,
            })),
        });
        let mut stream = TcpStream::connect(proxy.addr()).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_millis(300)))
            .unwrap();
        stream.write_all(b"version\r\n").unwrap();
        let start = std::time::Instant::now();
        let mut reply = Vec::new();
        let answer = (&stream).take(16).read_to_end(&mut reply);
        let took = start.elapsed();
        assert_eq!(proxy.faults().iter().sum::<usize>(), 1);
        drop(stream);
        eventually("nothing is open", || proxy.open() == 0);
        eventually("nothing is open behind it", || fake.open() == 0);
        (answer, reply, took)
    }

    #[test]
    fn each_fault_is_what_it_says() {
        let ms = Duration::from_millis;
        for fault in [Fault::Fin, Fault::HalfFin, Fault::Lose(ms(50))] {
            let (answer, reply, _) = reply_with(fault, false);
            assert_eq!((answer.unwrap(), &reply[..]), (3, &b"VER"[..]), "{fault:?}");
        }
        let (answer, reply, _) = reply_with(Fault::Fin, true);
        assert_eq!((answer.unwrap(), &reply[..]), (0, &b""[..]));
        let broken = reply_with(Fault::Rst, false).0.unwrap_err();
        assert_eq!(broken.kind(), io::ErrorKind::ConnectionReset);
        let silent = reply_with(Fault::Stall(ms(1000)), false).0.unwrap_err();
        assert_eq!(silent.kind(), io::ErrorKind::WouldBlock);
        for fault in [Fault::Delay(ms(40)), Fault::Split(4, ms(10))] {
            let (_, reply, took) = reply_with(fault, false);
            assert_eq!(reply, b"VERSION 1.6.18\r\n", "{fault:?}");
            assert!(took >= ms(30), "{fault:?}: {took:?}");
        }
    }
}
