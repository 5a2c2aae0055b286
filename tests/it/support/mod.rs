//! What several tests need: a real memcached, started and ended by the test. It knows nothing of the client under test.

pub(crate) mod allocations;
pub(crate) mod child;
pub(crate) mod fake;
pub(crate) mod logs;
pub(crate) mod proxy;
pub(crate) mod random;
pub(crate) mod wait;
mod wire;

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use socket2::Socket;

/// How long a server may take until it answers.
const PATIENCE: Duration = Duration::from_secs(5);

/// A `memcached` of this test alone; it is killed on drop.
#[derive(Debug)]
pub(crate) struct RealServer {
    process: Process,
    place: Place,
    args: Vec<String>,
    /// Bound, never listening: nobody else gets the port while the server is down.
    _reserved: Option<Socket>,
}

#[derive(Clone, Debug)]
enum Place {
    Port(u16),
    /// In a network namespace, by its name.
    Namespace(String, SocketAddrV4),
    Socket(PathBuf),
}

impl RealServer {
    /// Starts one on a free port of the loopback with these arguments, and waits until it answers.
    pub(crate) fn start(args: &[&str]) -> Self {
        let reserved = fake::socket(Ipv4Addr::LOCALHOST, 0);
        let address = reserved.local_addr().expect("its address");
        let port = address.as_socket().expect("an IP address").port();
        let (place, args) = (Place::Port(port), owned(args));
        let Some(process) = Process::start(&place, &args) else {
            panic!("memcached {args:?} did not start");
        };
        Self {
            process,
            place,
            args,
            _reserved: Some(reserved),
        }
    }

    /// Starts one on this port of the loopback; `None` if another process has it.
    pub(crate) fn start_at(port: u16, args: &[&str]) -> Option<Self> {
        let (place, args) = (Place::Port(port), owned(args));
        Some(Self {
            process: Process::start(&place, &args)?,
            place,
            args,
            _reserved: None,
        })
    }

    /// Starts one that listens on a unix socket only.
    #[cfg(unix)]
    pub(crate) fn start_unix(args: &[&str]) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("sockio-{}-{count}.sock", std::process::id());
        let (place, args) = (Place::Socket(std::env::temp_dir().join(name)), owned(args));
        let process = Process::start(&place, &args).expect("memcached on a unix socket");
        Self {
            process,
            place,
            args,
            _reserved: None,
        }
    }

    /// Starts one that listens at this address of another network namespace, which nobody else uses.
    pub(crate) fn start_in(namespace: &str, address: SocketAddrV4) -> Self {
        let place = Place::Namespace(namespace.to_owned(), address);
        Self {
            process: Process::start(&place, &[]).expect("memcached in a namespace"),
            place,
            args: Vec::new(),
            _reserved: None,
        }
    }

    /// The address as the client takes it: `127.0.0.1:port` or `unix:/path`.
    pub(crate) fn addr(&self) -> String {
        match &self.place {
            Place::Port(port) => format!("127.0.0.1:{port}"),
            Place::Namespace(_, address) => address.to_string(),
            Place::Socket(path) => format!("unix:{}", path.display()),
        }
    }

    /// Its port; `None` for one that listens on a unix socket.
    pub(crate) fn port(&self) -> Option<u16> {
        match self.place {
            Place::Port(port) => Some(port),
            Place::Namespace(_, address) => Some(address.port()),
            Place::Socket(_) => None,
        }
    }

    /// Ends the server at once; its connections break.
    pub(crate) fn kill(&mut self) {
        self.process.end();
    }

    /// Ends the server, if it runs, and starts an empty one at the same place.
    pub(crate) fn restart(&mut self) {
        self.kill();
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if let Some(process) = Process::start(&self.place, &self.args) {
                self.process = process;
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("memcached did not start again at {}", self.addr());
    }

    /// `SIGSTOP`: the kernel still accepts connections and bytes, nothing answers.
    #[cfg(unix)]
    pub(crate) fn stop_signal(&self) {
        self.signal("-STOP");
        // The signal has been sent; its threads stop one by one.
        let tasks = format!("/proc/{}/task", self.process.0.id());
        let Ok(_) = std::fs::read_dir(&tasks) else {
            return; // no Linux
        };
        wait::eventually("every thread of the server stands still", || {
            let states = std::fs::read_dir(&tasks)
                .unwrap()
                .flatten()
                .map(|task| std::fs::read_to_string(task.path().join("stat")).unwrap_or_default());
            let mut states =
                states.map(|stat| stat.rsplit(") ").next().map(|rest| rest.starts_with('T')));
            states.all(|stopped| stopped == Some(true))
        });
    }

    /// `SIGCONT`: what had stopped goes on, late answers included.
    #[cfg(unix)]
    pub(crate) fn cont_signal(&self) {
        self.signal("-CONT");
    }

    #[cfg(unix)]
    fn signal(&self, signal: &str) {
        let pid = self.process.0.id().to_string();
        let status = Command::new("kill").args([signal, &pid]).status();
        assert!(status.expect("the program `kill`").success());
    }
}

impl Drop for RealServer {
    fn drop(&mut self) {
        self.process.end();
        if let Place::Socket(path) = &self.place {
            let _ = std::fs::remove_file(path);
        }
    }
}

#[derive(Debug)]
struct Process(Child);

impl Process {
    /// `None` if the server ended before it answered: its place was taken.
    fn start(place: &Place, args: &[String]) -> Option<Self> {
        let mut command = match place {
            // `ip` becomes memcached: the process stays the same.
            Place::Namespace(name, _) => {
                let mut command = Command::new("ip");
                command.args(["netns", "exec", name, "memcached"]);
                command
            }
            _ => Command::new("memcached"),
        };
        match place {
            Place::Port(port) => listen(&mut command, Ipv4Addr::LOCALHOST, *port),
            Place::Namespace(_, address) => listen(&mut command, *address.ip(), address.port()),
            Place::Socket(path) => command.arg("-s").arg(path),
        };
        // As root it asks for a user to become; for all others `-u` is of no effect.
        command.args(["-u", "root", "-t", "2"]).args(args);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut process = match command.spawn() {
            Ok(child) => Self(child),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                panic!("memcached is missing: apt-get install memcached")
            }
            Err(error) => panic!("memcached: {error}"),
        };
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if process.0.try_wait().expect("its state").is_some() {
                return None;
            }
            if process.answers(place, args) {
                return Some(process);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("memcached {args:?} does not answer");
    }

    /// Whether this very process answers, and not one that took its port. One that asks for a login first has it right too.
    fn answers(&self, place: &Place, args: &[String]) -> bool {
        let binary = args.iter().any(|arg| arg == "binary");
        let ask = |address: SocketAddrV4| {
            let stream = TcpStream::connect(address)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            first_stat(stream, binary)
        };
        let answer = match place {
            Place::Port(port) => ask(SocketAddrV4::new(Ipv4Addr::LOCALHOST, *port)),
            Place::Namespace(_, address) => ask(*address),
            #[cfg(unix)]
            Place::Socket(path) => {
                std::os::unix::net::UnixStream::connect(path).and_then(|stream| {
                    stream.set_read_timeout(Some(PATIENCE))?;
                    first_stat(stream, binary)
                })
            }
            #[cfg(not(unix))]
            Place::Socket(_) => return false,
        };
        let pid = format!("STAT pid {}", self.0.id());
        answer.is_ok_and(|stat| stat == pid || stat == "CLIENT_ERROR unauthenticated")
    }

    fn end(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

fn listen(command: &mut Command, ip: Ipv4Addr, port: u16) -> &mut Command {
    command.args(["-l", &ip.to_string(), "-p", &port.to_string(), "-U", "0"])
}

/// The first line of `stats`, or the first packet of the binary protocol's as such a line.
fn first_stat(mut stream: impl Read + Write, binary: bool) -> io::Result<String> {
    if binary {
        let mut header = [0; 24];
        (header[0], header[1]) = (0x80, 0x10);
        stream.write_all(&header)?;
        stream.read_exact(&mut header)?;
        let (name, all) = (header[3].into(), header[11].into());
        let mut stat = vec![0; all];
        stream.read_exact(&mut stat)?;
        let (name, value) = stat.split_at(name);
        let [name, value] = [name, value].map(String::from_utf8_lossy);
        return Ok(format!("STAT {name} {value}"));
    }
    stream.write_all(b"stats\r\n")?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line)?;
    Ok(line.trim_end().to_owned())
}

fn owned(args: &[&str]) -> Vec<String> {
    args.iter().map(|arg| (*arg).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(server: &RealServer, request: &str) -> io::Result<String> {
        let Place::Port(port) = server.place else {
            panic!("no port");
        };
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(Duration::from_millis(200)))?;
        stream.write_all(request.as_bytes())?;
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line)?;
        Ok(line)
    }

    #[test]
    fn a_restarted_server_is_empty_and_where_it_was() {
        let mut server = RealServer::start(&["-m", "16"]);
        let addr = server.addr();
        assert_eq!(ask(&server, "set a 0 0 1\r\nx\r\n").unwrap(), "STORED\r\n");
        assert_eq!(ask(&server, "get a\r\n").unwrap(), "VALUE a 0 1\r\n");
        server.kill();
        assert!(ask(&server, "get a\r\n").is_err());
        server.restart();
        assert_eq!(ask(&server, "get a\r\n").unwrap(), "END\r\n");
        assert_eq!(server.addr(), addr);
    }

    #[cfg(unix)]
    #[test]
    fn a_stopped_server_accepts_and_is_silent() {
        let server = RealServer::start(&[]);
        server.stop_signal();
        assert!(ask(&server, "mn\r\n").is_err());
        server.cont_signal();
        assert_eq!(ask(&server, "mn\r\n").unwrap(), "MN\r\n");
    }

    #[cfg(unix)]
    #[test]
    fn a_unix_socket_goes_with_its_server() {
        let mut server = RealServer::start_unix(&[]);
        server.restart();
        let path = PathBuf::from(server.addr().strip_prefix("unix:").unwrap());
        assert!(path.exists());
        drop(server);
        assert!(!path.exists());
    }
}
