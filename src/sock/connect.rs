//! Opening sockets: blocking for a caller, and step by step for whoever opens many at a time. It knows no pool.

use std::io;
use std::time::Duration;

use socket2::{Domain, Protocol, SockAddr, Socket, TcpKeepalive, Type};

use super::resolve::Lookup;
use super::stream::{Stream, timer};
use crate::clock::Moment;
use crate::error::{Error, Result};
use crate::protocol::{Decoded, Expect, Reply, Request, text};
use crate::server::ServerAddr;

/// The settings of a socket.
#[derive(Clone, Debug)]
pub(crate) struct SocketSettings {
    /// For the connect as a whole: all addresses of a name share it.
    pub(crate) connect_timeout: Duration,
    /// For each read and each write.
    pub(crate) socket_timeout: Duration,
    pub(crate) nagle: bool,
    pub(crate) keep_alive: Option<Duration>,
}

/// The longest answer to `version` that is awaited.
const GREETING_LIMIT: usize = 256;

/// Connects, waiting until `deadline` or for the connect timeout, whichever ends first.
pub(crate) fn connect(
    server: &ServerAddr,
    settings: &SocketSettings,
    deadline: Moment,
) -> Result<Stream> {
    let end = deadline.min(Moment::now() + settings.connect_timeout);
    let addresses = Lookup::begin(server).and_then(|lookup| lookup.wait(end));
    let addresses = addresses.map_err(Error::connect)?;
    let mut failure = io::Error::from(io::ErrorKind::TimedOut);
    for (tried, address) in addresses.iter().enumerate() {
        let Some(limit) = share(end, Moment::now(), addresses.len() - tried) else {
            break;
        };
        match open(address, settings)
            .and_then(|socket| socket.connect_timeout(address, limit).map(|()| socket))
        {
            Ok(socket) => return finish(socket, address).map_err(Error::connect),
            Err(error) => failure = error,
        }
    }
    Err(Error::connect(failure))
}

/// A connect under way that never blocks.
#[derive(Debug)]
pub(crate) struct Dial {
    addresses: Vec<SockAddr>,
    next: usize,
    settings: SocketSettings,
    end: Moment,
    verify: bool,
    step: Step,
}

#[derive(Debug)]
enum Step {
    /// The addresses of the name are awaited.
    Resolving(Lookup),
    /// To begin with the next address.
    Begin,
    Connecting {
        socket: Socket,
        until: Moment,
    },
    /// Connected; the answer to `version` is awaited.
    Greeting {
        stream: Stream,
        answer: Vec<u8>,
    },
}

/// The state of a [`Dial`].
#[derive(Debug)]
pub(crate) enum Progress {
    Pending,
    Connected(Stream),
    Failed(Error),
}

impl Dial {
    /// Begins. With `verify` the server must also answer `version` before the end of the connect timeout.
    pub(crate) fn begin(
        server: &ServerAddr,
        settings: &SocketSettings,
        verify: bool,
    ) -> Result<Self> {
        Ok(Self {
            addresses: Vec::new(),
            next: 0,
            settings: settings.clone(),
            end: Moment::now() + settings.connect_timeout,
            verify,
            step: Step::Resolving(Lookup::begin(server).map_err(Error::connect)?),
        })
    }

    /// Goes on as far as it can without waiting.
    pub(crate) fn poll(&mut self, now: Moment) -> Progress {
        let mut failure = None;
        loop {
            match std::mem::replace(&mut self.step, Step::Begin) {
                Step::Resolving(mut lookup) => match lookup.poll() {
                    Ok(Some(addresses)) => self.addresses = addresses.to_vec(),
                    Ok(None) if now < self.end => {
                        self.step = Step::Resolving(lookup);
                        return Progress::Pending;
                    }
                    Ok(None) => {
                        let message = "the look-up of the name took too long";
                        return Progress::Failed(Error::timeout(message));
                    }
                    Err(error) => return Progress::Failed(Error::connect(error)),
                },
                Step::Begin => {
                    let left = self.addresses.len() - self.next;
                    let limit = if left == 0 {
                        None
                    } else {
                        share(self.end, now, left)
                    };
                    let Some(limit) = limit else {
                        let failure = failure.unwrap_or_else(|| io::ErrorKind::TimedOut.into());
                        return Progress::Failed(Error::connect(failure));
                    };
                    let address = &self.addresses[self.next];
                    self.next += 1;
                    match open(address, &self.settings).and_then(|socket| start(socket, address)) {
                        Ok(socket) => {
                            self.step = Step::Connecting {
                                socket,
                                until: now + limit,
                            }
                        }
                        Err(error) => failure = Some(error),
                    }
                }
                Step::Connecting { socket, until } => match connected(&socket) {
                    Ok(true) => match self.greet(socket) {
                        Ok(Step::Greeting { stream, .. }) if !self.verify => return ready(stream),
                        Ok(step) => self.step = step,
                        Err(error) => failure = Some(error),
                    },
                    Ok(false) if now < until => {
                        self.step = Step::Connecting { socket, until };
                        return Progress::Pending;
                    }
                    Ok(false) => failure = Some(io::ErrorKind::TimedOut.into()),
                    Err(error) => failure = Some(error),
                },
                Step::Greeting { stream, mut answer } => match hear(&stream, &mut answer) {
                    Ok(true) => return ready(stream),
                    Ok(false) if now < self.end => {
                        self.step = Step::Greeting { stream, answer };
                        return Progress::Pending;
                    }
                    Ok(false) => {
                        return Progress::Failed(Error::timeout("no answer to version came"));
                    }
                    Err(error) => return Progress::Failed(error),
                },
            }
        }
    }

    fn greet(&self, socket: Socket) -> io::Result<Step> {
        let stream = finish(socket, &self.addresses[self.next - 1])?;
        stream.set_nonblocking(true)?;
        if self.verify {
            let mut request = Vec::new();
            text::encode(&Request::Version, &mut request);
            // Nine bytes always find room in the buffer of a new socket.
            stream.write(&request)?;
        }
        Ok(Step::Greeting {
            stream,
            answer: Vec::new(),
        })
    }
}

fn ready(stream: Stream) -> Progress {
    match stream.set_nonblocking(false) {
        Ok(()) => Progress::Connected(stream),
        Err(error) => Progress::Failed(Error::connect(error)),
    }
}

/// Whether the whole answer to `version` is there and nothing follows it.
fn hear(stream: &Stream, answer: &mut Vec<u8>) -> Result<bool> {
    let mut buffer = [0; GREETING_LIMIT];
    match stream.read(&mut buffer) {
        Ok(0) => return Err(Error::connect(io::ErrorKind::UnexpectedEof.into())),
        Ok(read) => answer.extend_from_slice(&buffer[..read]),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
            ) => {}
        Err(error) => return Err(Error::connect(error)),
    }
    match text::decode(Expect::Version, answer) {
        Ok(Decoded::Reply {
            reply: Reply::Version(_),
            used,
        }) if used == answer.len() => Ok(true),
        Ok(Decoded::Need(_)) if answer.len() < GREETING_LIMIT => Ok(false),
        _ => Err(Error::protocol("the answer to version was none")),
    }
}

/// The part of the time left that one of `addresses` may take, so that the last one is tried too.
fn share(end: Moment, now: Moment, addresses: usize) -> Option<Duration> {
    let left = end.since(now);
    let addresses = u32::try_from(addresses).unwrap_or(u32::MAX);
    Some(left / addresses).filter(|share| !share.is_zero())
}

fn open(address: &SockAddr, settings: &SocketSettings) -> io::Result<Socket> {
    let tcp = address.domain() != Domain::UNIX;
    let socket = Socket::new(address.domain(), Type::STREAM, tcp.then_some(Protocol::TCP))?;
    if tcp {
        socket.set_tcp_nodelay(!settings.nagle)?;
        if let Some(idle) = settings.keep_alive {
            socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(idle))?;
        }
    }
    socket.set_read_timeout(timer(settings.socket_timeout))?;
    socket.set_write_timeout(timer(settings.socket_timeout))?;
    Ok(socket)
}

fn start(socket: Socket, address: &SockAddr) -> io::Result<Socket> {
    socket.set_nonblocking(true)?;
    match socket.connect(address) {
        Ok(()) => Ok(socket),
        Err(error) if is_under_way(&error) => Ok(socket),
        Err(error) => Err(error),
    }
}

/// `EINPROGRESS` has an `ErrorKind` of its own only on nightly; it is what is left of the non-blocking answers.
fn is_under_way(error: &io::Error) -> bool {
    #[cfg(unix)]
    const IN_PROGRESS: &[i32] = &[115, 36, 150]; // Linux; macOS and the BSDs; illumos
    #[cfg(not(unix))]
    const IN_PROGRESS: &[i32] = &[10036]; // WSAEINPROGRESS
    error.kind() == io::ErrorKind::WouldBlock && cfg!(not(unix))
        || error
            .raw_os_error()
            .is_some_and(|code| IN_PROGRESS.contains(&code))
}

/// Without `poll(2)`, which std does not offer: a socket has a peer once it is connected, and an error once it has failed.
fn connected(socket: &Socket) -> io::Result<bool> {
    if let Some(error) = socket.take_error()? {
        return Err(error);
    }
    match socket.peer_addr() {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(false),
        Err(error) => Err(error),
    }
}

fn finish(socket: Socket, address: &SockAddr) -> io::Result<Stream> {
    socket.set_nonblocking(false)?;
    #[cfg(unix)]
    if address.domain() == Domain::UNIX {
        return Ok(Stream::unix(socket));
    }
    let _ = address;
    Ok(Stream::tcp(socket))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_address_gets_its_share() {
        let now = Moment::now();
        let end = now + Duration::from_millis(900);
        assert_eq!(share(end, now, 3), Some(Duration::from_millis(300)));
        assert_eq!(
            share(end, now + Duration::from_millis(300), 2),
            Some(Duration::from_millis(300))
        );
        assert_eq!(share(end, end, 1), None);
    }
}
