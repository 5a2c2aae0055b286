//! A memcached stand-in for tests and first steps.
//!
//! It shares no code with the client, so that the two cannot share a misunderstanding; it is held to exchanges recorded
//! with memcached 1.6.18. It is no cache for production: nothing is evicted, one lock guards all items, and each
//! connection has a thread.

mod commands;
mod number;
mod replies;
mod session;
mod state;
mod storage;
mod store;

use std::collections::HashMap;
use std::fmt;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

use session::Session;
use state::{MAX_CONNECTIONS, State};

/// What a connection's thread needs is little.
const STACK: usize = 256 << 10;

/// Bytes read at once; it decides, as with memcached, how much of a long line may arrive together.
const READ: usize = 16 << 10;

/// How long a port that was given up may be in the hands of others.
const PATIENCE: Duration = Duration::from_secs(2);

/// A server on a free port of the loopback that speaks memcached's text protocol, with real expiry.
///
/// It knows `get gets gat gats set add replace append prepend cas delete touch incr decr flush_all version stats
/// verbosity mn quit` and `mg` with the flags `c f k O q s t v`, and answers errors as memcached 1.6.18 does: so the body
/// of a store whose line was refused is read as commands. An item may have 1 MiB, a key 250 bytes, all items together
/// 64 MiB; more than 1,024 connections are turned away. Where memcached counts whole seconds it counts exactly.
///
/// Drop ends it: its connections break, its threads are joined.
///
/// ```
/// use std::io::{Read, Write};
///
/// let server = sockio::testing::Server::start()?;
/// let mut stream = std::net::TcpStream::connect(server.addr())?;
/// stream.write_all(b"set a 0 0 1\r\nx\r\nget a\r\nquit\r\n")?;
/// let mut answer = String::new();
/// stream.read_to_string(&mut answer)?;
/// assert_eq!(answer, "STORED\r\nVALUE a 0 1\r\nx\r\nEND\r\n");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Server {
    port: u16,
    running: Option<Running>,
}

impl Server {
    /// Starts a server without items.
    pub fn start() -> io::Result<Self> {
        let running = Running::start(0)?;
        let port = running.shared.state.port;
        Ok(Self {
            port,
            running: Some(running),
        })
    }

    /// `127.0.0.1:port`: the same while stopped and after a restart.
    pub fn addr(&self) -> String {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.port)).to_string()
    }

    /// Ends all connections, drops all items and refuses new connections until [`restart`](Self::restart).
    pub fn stop(&mut self) {
        self.running = None;
    }

    /// Starts without items on the same port, having stopped before. An error says that another program took the port.
    pub fn restart(&mut self) -> io::Result<()> {
        self.stop();
        let until = Instant::now() + PATIENCE;
        loop {
            match Running::start(self.port) {
                Ok(running) => {
                    self.running = Some(running);
                    return Ok(());
                }
                Err(error) if Instant::now() > until => return Err(error),
                Err(_) => thread::sleep(Duration::from_millis(20)),
            }
        }
    }

    /// How many connections are open now.
    pub fn connections(&self) -> usize {
        self.running.as_ref().map_or(0, |running| {
            running.shared.state.connections.load(Ordering::Relaxed)
        })
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("addr", &self.addr())
            .field("running", &self.running.is_some())
            .field("connections", &self.connections())
            .finish()
    }
}

/// From the bind of the port to the join of the threads.
struct Running {
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

struct Shared {
    state: State,
    ending: AtomicBool,
    open: Mutex<Open>,
    /// Told whenever a connection has ended.
    ended: Condvar,
}

/// The connections that are open, and the threads of those that were.
#[derive(Default)]
struct Open {
    connections: HashMap<u64, Connection>,
    ended: Vec<JoinHandle<()>>,
}

/// The second handle of a stream, by which it can be ended from without.
struct Connection {
    stream: TcpStream,
    thread: JoinHandle<()>,
}

impl Running {
    fn start(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let shared = Arc::new(Shared {
            state: State::new(listener.local_addr()?.port()),
            ending: AtomicBool::new(false),
            open: Mutex::default(),
            ended: Condvar::new(),
        });
        let acceptor = thread::Builder::new()
            .name("sockio-testing-accept".into())
            .stack_size(STACK)
            .spawn({
                let shared = Arc::clone(&shared);
                move || shared.accept(&listener)
            })?;
        Ok(Self {
            shared,
            acceptor: Some(acceptor),
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let shared = &self.shared;
        shared.ending.store(true, Ordering::SeqCst);
        if let Some(acceptor) = self.acceptor.take() {
            // It waits for connections: it gets one. Where that fails it has others, and will look at the flag as well.
            while !acceptor.is_finished() {
                let addr = SocketAddr::from((Ipv4Addr::LOCALHOST, shared.state.port));
                let _ = TcpStream::connect_timeout(&addr, PATIENCE);
                thread::sleep(Duration::from_millis(1));
            }
            let _ = acceptor.join();
        }
        let mut open = shared.lock();
        for connection in open.connections.values() {
            let _ = connection.stream.shutdown(Shutdown::Both);
        }
        // A thread takes the lock on its way out: none may be joined under it.
        while !open.connections.is_empty() {
            open = shared
                .ended
                .wait(open)
                .unwrap_or_else(PoisonError::into_inner);
        }
        drop(open);
        shared.join_ended();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn accept(self: &Arc<Self>, listener: &TcpListener) {
        for id in 0.. {
            let accepted = listener.accept();
            if self.ending.load(Ordering::SeqCst) {
                return;
            }
            match accepted.and_then(|(stream, _)| self.open(id, stream)) {
                Ok(()) => {}
                // Out of files or threads: others may end.
                Err(_) => thread::sleep(Duration::from_millis(10)),
            }
            self.join_ended();
        }
    }

    fn join_ended(&self) {
        let ended = std::mem::take(&mut self.lock().ended);
        for thread in ended {
            let _ = thread.join();
        }
    }

    fn open(self: &Arc<Self>, id: u64, mut stream: TcpStream) -> io::Result<()> {
        let state = &self.state;
        state.total_connections.fetch_add(1, Ordering::Relaxed);
        if state.connections.load(Ordering::Relaxed) >= MAX_CONNECTIONS {
            return stream.write_all(b"ERROR Too many open connections\r\n");
        }
        stream.set_nodelay(true)?;
        let twin = stream.try_clone()?;
        let shared = Arc::clone(self);
        // Under the lock, so that the thread cannot look for its entry before it is there.
        let mut open = self.lock();
        // Counted before it answers, so that who got an answer finds itself counted.
        state.connections.fetch_add(1, Ordering::Relaxed);
        let thread = thread::Builder::new()
            .name("sockio-testing".into())
            .stack_size(STACK)
            .spawn(move || {
                shared.serve(&stream);
                shared.close(id);
            })
            .inspect_err(|_| {
                state.connections.fetch_sub(1, Ordering::Relaxed);
            })?;
        let connection = Connection {
            stream: twin,
            thread,
        };
        open.connections.insert(id, connection);
        Ok(())
    }

    fn serve(&self, mut stream: &TcpStream) {
        let mut session = Session::new(stream);
        let mut buffer = vec![0; READ];
        loop {
            let piece = match stream.read(&mut buffer) {
                Ok(0) => return,
                Ok(count) => buffer.get(..count).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return,
            };
            match session.feed(piece, &self.state, SystemTime::now()) {
                Ok(true) => {}
                Ok(false) | Err(_) => return,
            }
        }
    }

    /// Both handles of the stream must go, or the peer would see no end: this one here, the other with the thread.
    fn close(&self, id: u64) {
        let mut open = self.lock();
        self.state.connections.fetch_sub(1, Ordering::Relaxed);
        if let Some(connection) = open.connections.remove(&id) {
            open.ended.push(connection.thread);
        }
        self.ended.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};

    fn ask(server: &Server, request: &str) -> io::Result<String> {
        let mut stream = TcpStream::connect(server.addr())?;
        stream.write_all(request.as_bytes())?;
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line)?;
        Ok(line)
    }

    #[test]
    fn a_restarted_server_is_empty_and_where_it_was() {
        let mut server = Server::start().unwrap();
        let addr = server.addr();
        let mut stream = TcpStream::connect(&addr).unwrap();
        assert_eq!(ask(&server, "set a 0 0 1\r\nx\r\n").unwrap(), "STORED\r\n");
        assert_eq!(ask(&server, "get a\r\n").unwrap(), "VALUE a 0 1\r\n");

        server.stop();
        let end = stream.read(&mut [0; 8]);
        assert!(matches!(end, Ok(0) | Err(_)), "the connection goes on");
        assert!(ask(&server, "get a\r\n").is_err());
        assert_eq!(server.connections(), 0);

        server.restart().unwrap();
        assert_eq!(ask(&server, "get a\r\n").unwrap(), "END\r\n");
        assert_eq!(server.addr(), addr);
    }

    #[test]
    fn connections_are_counted() {
        let server = Server::start().unwrap();
        let mut streams: Vec<TcpStream> = Vec::new();
        for count in 1..=3 {
            let mut stream = TcpStream::connect(server.addr()).unwrap();
            stream.write_all(b"mn\r\n").unwrap();
            stream.read_exact(&mut [0; 4]).unwrap();
            streams.push(stream);
            assert_eq!(server.connections(), count);
        }
        streams.truncate(1);
        let until = Instant::now() + PATIENCE;
        while server.connections() != 1 {
            assert!(Instant::now() < until, "{} are open", server.connections());
            thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn one_connection_too_many_is_turned_away() {
        let server = Server::start().unwrap();
        let state = &server.running.as_ref().unwrap().shared.state;
        state
            .connections
            .fetch_add(MAX_CONNECTIONS, Ordering::Relaxed);
        let line = ask(&server, "").unwrap();
        state
            .connections
            .fetch_sub(MAX_CONNECTIONS, Ordering::Relaxed);
        assert_eq!(line, "ERROR Too many open connections\r\n");
        assert_eq!(ask(&server, "mn\r\n").unwrap(), "MN\r\n");
    }
}
