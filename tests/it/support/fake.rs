//! A server that does what a script says, fault by fault, and tells what it saw. It knows nothing of the client under test.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, SocketAddrV4, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use socket2::{Domain, SockRef, Socket, Type};

pub(crate) use super::wire::answer;
use super::wire::{line_of, request_len};

/// What a connection does, one after the other. A script that ends before the connection goes on as [`Act::Stall`].
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Reads one request, which must be these very bytes.
    Expect(Vec<u8>),
    /// Reads one request, whatever it is.
    Request,
    Send(Vec<u8>),
    /// Sends byte by byte, with this time before each.
    SendEach(Vec<u8>, Duration),
    Pause(Duration),
    /// Waits until the flag is raised.
    Await(Flag),
    /// Tells that all before it was done.
    Raise(Flag),
    /// Answers every request in the right way (see [`answer`]), each so late, until the peer goes.
    Serve(Duration),
    /// The same, once the flag is raised.
    ServeAfter(Flag),
    /// Notes what comes and answers nothing until the peer goes.
    Stall,
    /// Takes nothing more from the socket.
    NeverRead,
    /// Closes.
    Fin,
    /// Breaks off.
    Rst,
}

/// Raised once, by the test or by the server.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flag(Arc<AtomicBool>);

impl Flag {
    pub(crate) fn raise(&self) {
        self.0.store(true, Ordering::Release);
    }

    pub(crate) fn is_raised(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// A scripted server on a port of the loopback that stays its own until it is dropped, up or down.
#[derive(Debug)]
pub(crate) struct Fake {
    host: Ipv4Addr,
    port: u16,
    /// Bound, never listening: connects are refused while nothing listens beside it, and nobody else gets the port.
    _reserved: Socket,
    scripts: Vec<Vec<Act>>,
    receive_buffer: Option<usize>,
    /// It listens no more after so many connections.
    accepts: usize,
    seen: Arc<Mutex<Vec<Seen>>>,
    running: Option<Running>,
    /// Those that fill the queue of a server that never accepts.
    fillers: Vec<TcpStream>,
}

/// What came over one connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// The command lines of the requests that came whole.
    pub(crate) requests: Vec<String>,
    /// The bytes behind the last whole request.
    pub(crate) trailing: Vec<u8>,
    /// Whether the peer has closed it, or the script.
    pub(crate) closed: bool,
    fault: Option<String>,
}

#[derive(Debug)]
struct Running {
    stop: Flag,
    thread: JoinHandle<()>,
}

const NEVER: Duration = Duration::ZERO;

/// Where it listens. On Linux that is an address of its own: the port of a real server that was ended stays without an
/// answer, however many scripted ones take ports meanwhile.
const HOST: Ipv4Addr = if cfg!(target_os = "linux") {
    Ipv4Addr::new(127, 0, 0, 2)
} else {
    Ipv4Addr::LOCALHOST
};

impl Fake {
    /// The first connection plays the first script, and so on; those beyond the last one play the last.
    pub(crate) fn new(scripts: Vec<Vec<Act>>) -> Self {
        let mut fake = Self::down_with(scripts);
        fake.up();
        fake
    }

    /// One connection for each script; further ones are refused.
    pub(crate) fn only(scripts: Vec<Vec<Act>>) -> Self {
        let mut fake = Self::down_with(scripts);
        fake.accepts = fake.scripts.len();
        fake.up();
        fake
    }

    /// Answers every request.
    pub(crate) fn serving() -> Self {
        Self::new(vec![vec![Act::Serve(NEVER)]])
    }

    /// Likewise, where `localhost` leads.
    pub(crate) fn serving_at_localhost() -> Self {
        let mut fake = Self::down_at(Ipv4Addr::LOCALHOST, vec![vec![Act::Serve(NEVER)]]);
        fake.up();
        fake
    }

    /// Answers every request, each so late.
    pub(crate) fn slow(after: Duration) -> Self {
        Self::new(vec![vec![Act::Serve(after)]])
    }

    /// Closes each connection as soon as it is accepted.
    pub(crate) fn accept_and_close() -> Self {
        Self::new(vec![vec![Act::Fin]])
    }

    /// Reads not a byte, and the kernel takes few for it.
    pub(crate) fn never_reading() -> Self {
        Self::with_small_buffers(vec![vec![Act::NeverRead]])
    }

    /// The kernel takes few bytes for connections that do not read.
    pub(crate) fn with_small_buffers(scripts: Vec<Vec<Act>>) -> Self {
        let mut fake = Self::down_with(scripts);
        fake.receive_buffer = Some(4096);
        fake.up();
        fake
    }

    /// Answers every request once it is brought [`up`](Self::up); until then connects are refused.
    pub(crate) fn refusing() -> Self {
        Self::down_with(vec![vec![Act::Serve(NEVER)]])
    }

    /// Connects to it hang: the queue of the listening socket is full (measured on Linux: other systems refuse).
    /// Once it was taken [`down`](Self::down) and brought [`up`](Self::up) again, it answers every request.
    pub(crate) fn never_accepting() -> Self {
        let mut fake = Self::refusing();
        let address = fake.address();
        let listener = socket(fake.host, fake.port);
        listener.listen(0).expect("a listening socket");
        for _ in 0..8 {
            match TcpStream::connect_timeout(&address, Duration::from_millis(100)) {
                Ok(filler) => fake.fillers.push(filler),
                Err(_) => {
                    let stop = Flag::default();
                    let ended = stop.clone();
                    let thread = thread::spawn(move || {
                        wait_for(&ended, None);
                        drop(listener);
                    });
                    fake.running = Some(Running { stop, thread });
                    return fake;
                }
            }
        }
        panic!("the queue of a socket that listens for none does not fill");
    }

    fn down_with(scripts: Vec<Vec<Act>>) -> Self {
        Self::down_at(HOST, scripts)
    }

    fn down_at(host: Ipv4Addr, scripts: Vec<Vec<Act>>) -> Self {
        let reserved = socket(host, 0);
        let address = reserved.local_addr().expect("its address");
        let port = address.as_socket_ipv4().expect("an IPv4 address").port();
        Self {
            host,
            port,
            _reserved: reserved,
            scripts,
            receive_buffer: None,
            accepts: usize::MAX,
            seen: Arc::default(),
            running: None,
            fillers: Vec::new(),
        }
    }

    /// The address as the client takes it.
    pub(crate) fn addr(&self) -> String {
        self.address().to_string()
    }

    fn address(&self) -> SocketAddr {
        SocketAddrV4::new(self.host, self.port).into()
    }

    /// Listens, if it does not.
    pub(crate) fn up(&mut self) {
        if self.running.is_some() {
            return;
        }
        let socket = socket(self.host, self.port);
        if let Some(size) = self.receive_buffer {
            socket.set_recv_buffer_size(size).expect("a small buffer");
        }
        socket.listen(128).expect("a listening socket");
        let stop = Flag::default();
        let listening = Listening {
            listener: socket.into(),
            scripts: self.scripts.clone(),
            accepts: self.accepts,
            seen: Arc::clone(&self.seen),
            stop: stop.clone(),
        };
        let thread = thread::spawn(move || listening.run());
        self.running = Some(Running { stop, thread });
    }

    /// Closes all connections and listens no more.
    pub(crate) fn down(&mut self) {
        let Some(Running { stop, thread }) = self.running.take() else {
            return;
        };
        stop.raise();
        // Wakes the thread that accepts; one whose queue is full does not wait there.
        let _ = TcpStream::connect_timeout(&self.address(), Duration::from_millis(100));
        thread.join().expect("the fake's thread");
    }

    /// What came over each connection, in the order of the connections.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().expect("the books").clone()
    }

    pub(crate) fn connections(&self) -> usize {
        self.seen().len()
    }

    /// How many connections the peer holds open.
    pub(crate) fn open(&self) -> usize {
        self.seen().iter().filter(|seen| !seen.closed).count()
    }

    /// How many whole requests began with this.
    pub(crate) fn count(&self, command: &str) -> usize {
        let seen = self.seen();
        let requests = seen.iter().flat_map(|seen| &seen.requests);
        requests
            .filter(|request| request.starts_with(command))
            .count()
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.down();
        let faults: Vec<_> = self
            .seen()
            .into_iter()
            .filter_map(|seen| seen.fault)
            .collect();
        if !thread::panicking() {
            assert!(faults.is_empty(), "unexpected requests: {faults:?}");
        }
    }
}

/// A socket bound beside others of this port. `SO_REUSEADDR` also allows a port that has old connections.
pub(super) fn socket(host: Ipv4Addr, port: u16) -> Socket {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
    socket.set_reuse_address(true).expect("a shared port");
    let address = SocketAddrV4::new(host, port);
    socket.bind(&address.into()).expect("a port");
    socket
}

/// Waits for a flag; true if the other one was raised before it.
fn wait_for(flag: &Flag, or: Option<&Flag>) -> bool {
    while !flag.is_raised() {
        if or.is_some_and(Flag::is_raised) {
            return true;
        }
        thread::sleep(Duration::from_millis(2));
    }
    false
}

struct Listening {
    listener: TcpListener,
    scripts: Vec<Vec<Act>>,
    accepts: usize,
    seen: Arc<Mutex<Vec<Seen>>>,
    stop: Flag,
}

impl Listening {
    fn run(self) {
        let over = Flag::default();
        let mut players = Vec::new();
        for stream in self.listener.incoming().take(self.accepts) {
            let stream = stream.expect("a connection");
            if self.stop.is_raised() {
                break;
            }
            let index = {
                let mut seen = self.seen.lock().expect("the books");
                seen.push(Seen::default());
                seen.len() - 1
            };
            let script = self
                .scripts
                .get(index)
                .or(self.scripts.last())
                .expect("a script")
                .clone();
            let mut player = Player {
                stream,
                index,
                seen: Arc::clone(&self.seen),
                stop: over.clone(),
            };
            players.push(thread::spawn(move || player.play(script)));
        }
        // No new connection finds its way in between the ends of the others.
        drop(self.listener);
        wait_for(&self.stop, None);
        over.raise();
        for player in players {
            player.join().expect("the thread of a connection");
        }
    }
}

struct Player {
    stream: TcpStream,
    index: usize,
    seen: Arc<Mutex<Vec<Seen>>>,
    stop: Flag,
}

/// The peer closed, or the test is over.
struct Over;

impl Player {
    fn play(&mut self, script: Vec<Act>) {
        // Without answers of its own to wait for, it looks at the flag so often.
        let timer = self
            .stream
            .set_read_timeout(Some(Duration::from_millis(10)));
        timer.expect("a timer");
        self.stream.set_nodelay(true).expect("no delay");
        for act in script.into_iter().chain([Act::Stall]) {
            if self.act(act).is_err() {
                break;
            }
        }
        let _ = self.stream.shutdown(Shutdown::Both);
        self.note(|seen| seen.closed = true);
    }

    fn act(&mut self, act: Act) -> Result<(), Over> {
        match act {
            Act::Expect(bytes) => {
                let (_, request) = self.request()?;
                if request != bytes {
                    let texts = [&bytes, &request].map(|bytes| String::from_utf8_lossy(bytes));
                    let fault = format!("{:?} for {:?}", texts[1], texts[0]);
                    self.note(|seen| seen.fault = Some(fault));
                    return Err(Over);
                }
                Ok(())
            }
            Act::Request => self.request().map(drop),
            Act::Send(bytes) => self.send(&bytes),
            Act::SendEach(bytes, gap) => bytes.iter().try_for_each(|byte| {
                self.pause(gap)?;
                self.send(&[*byte])
            }),
            Act::Pause(time) => self.pause(time),
            Act::Await(flag) => match wait_for(&flag, Some(&self.stop)) {
                true => Err(Over),
                false => Ok(()),
            },
            Act::Raise(flag) => {
                flag.raise();
                Ok(())
            }
            Act::Serve(after) => loop {
                let (line, _) = self.request()?;
                self.pause(after)?;
                self.send(&answer(&line))?;
            },
            Act::ServeAfter(flag) => loop {
                let (line, _) = self.request()?;
                if wait_for(&flag, Some(&self.stop)) {
                    return Err(Over);
                }
                self.send(&answer(&line))?;
            },
            Act::Stall => loop {
                self.request()?;
            },
            Act::NeverRead => {
                wait_for(&self.stop, None);
                Err(Over)
            }
            Act::Fin => Err(Over),
            Act::Rst => {
                let linger = SockRef::from(&self.stream).set_linger(Some(Duration::ZERO));
                linger.expect("a hard end");
                // The end comes with the last descriptor, not with a shutdown.
                let twin = TcpStream::from(Socket::new(Domain::IPV4, Type::STREAM, None).unwrap());
                drop(std::mem::replace(&mut self.stream, twin));
                Err(Over)
            }
        }
    }

    fn pause(&self, time: Duration) -> Result<(), Over> {
        let mut left = time;
        while !left.is_zero() {
            if self.stop.is_raised() {
                return Err(Over);
            }
            let slice = left.min(Duration::from_millis(20));
            thread::sleep(slice);
            left -= slice;
        }
        Ok(())
    }

    fn send(&mut self, bytes: &[u8]) -> Result<(), Over> {
        self.stream.write_all(bytes).map_err(|_| Over)
    }

    /// The next whole request: its command line, and all its bytes.
    fn request(&mut self) -> Result<(String, Vec<u8>), Over> {
        loop {
            let mut whole = None;
            self.note(|seen| {
                if let Some(len) = request_len(&seen.trailing) {
                    let rest = seen.trailing.split_off(len);
                    let request = std::mem::replace(&mut seen.trailing, rest);
                    let line = line_of(&request).expect("its line");
                    seen.requests.push(line.clone());
                    whole = Some((line, request));
                }
            });
            if let Some(whole) = whole {
                return Ok(whole);
            }
            let mut bytes = vec![0; 64 * 1024];
            match self.stream.read(&mut bytes) {
                Ok(0) => return Err(Over),
                Ok(read) => self.note(|seen| seen.trailing.extend_from_slice(&bytes[..read])),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == std::io::ErrorKind::TimedOut => {}
                Err(_) => return Err(Over),
            }
            if self.stop.is_raised() {
                return Err(Over);
            }
        }
    }

    fn note(&self, note: impl FnOnce(&mut Seen)) {
        note(&mut self.seen.lock().expect("the books")[self.index]);
    }
}
