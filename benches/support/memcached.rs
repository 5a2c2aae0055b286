//! A memcached of the bench's own, killed on drop. It knows nothing of who talks to it.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long it may take until it answers.
const PATIENCE: Duration = Duration::from_secs(5);

/// A running memcached.
#[derive(Debug)]
pub(crate) struct Memcached {
    child: Child,
    place: Place,
}

#[derive(Debug)]
enum Place {
    Port(u16),
    Socket(PathBuf),
}

impl Memcached {
    /// Starts one on a free port of the first `hosts` addresses of 127.0.0.0/8 that takes so many connections.
    pub(crate) fn start(hosts: usize, connections: usize) -> io::Result<Self> {
        // Another process may take the port between the search and the start.
        for _ in 0..10 {
            let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
            let listen: Vec<String> = (0..hosts).map(host).collect();
            let mut command = Command::new("memcached");
            command
                .args(["-U", "0", "-l", &listen.join(",")])
                .args(["-p", &port.to_string()])
                .args(["-c", &(connections + 64).to_string()]);
            if let Some(server) = Self::run(command, Place::Port(port))? {
                return Ok(server);
            }
        }
        Err(io::Error::other("memcached did not start"))
    }

    /// Starts one on a unix socket.
    #[allow(dead_code)] // not every bench needs one
    pub(crate) fn start_unix() -> io::Result<Self> {
        static STARTED: AtomicUsize = AtomicUsize::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let name = format!("sockio-bench-{}-{number}.sock", std::process::id());
        let path = std::env::temp_dir().join(name);
        let mut command = Command::new("memcached");
        command.arg("-s").arg(&path);
        Self::run(command, Place::Socket(path))?
            .ok_or_else(|| io::Error::other("memcached did not start on a unix socket"))
    }

    /// `None` if it ended before it answered.
    fn run(mut command: Command, place: Place) -> io::Result<Option<Self>> {
        let child = command
            // As root it asks for a user to become; for all others this is of no effect.
            .args(["-m", "1024", "-u", "root"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| {
                let message = format!("memcached: {error}; apt-get install memcached");
                io::Error::new(error.kind(), message)
            })?;
        let mut server = Self { child, place };
        Ok(server.answers()?.then_some(server))
    }

    /// The address as the client takes it. That of host 0 is `127.0.0.1:port`, and so on; a unix socket has but one.
    pub(crate) fn addr(&self, number: usize) -> String {
        match &self.place {
            Place::Port(port) => format!("{}:{port}", host(number)),
            Place::Socket(path) => format!("unix:{}", path.display()),
        }
    }

    /// False if it ended before it answered.
    fn answers(&mut self) -> io::Result<bool> {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if self.child.try_wait()?.is_some() {
                return Ok(false);
            }
            let version = match &self.place {
                Place::Port(port) => TcpStream::connect((host(0), *port)).and_then(version),
                Place::Socket(path) => UnixStream::connect(path).and_then(version),
            };
            if let Ok(version) = version {
                // It may be another process's, which took the port first.
                return Ok(version && self.child.try_wait()?.is_none());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(false)
    }
}

impl Drop for Memcached {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Place::Socket(path) = &self.place {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Whether it answers as memcached does.
fn version(mut stream: impl Read + Write) -> io::Result<bool> {
    stream.write_all(b"version\r\n")?;
    let mut answer = [0; 7];
    stream.read_exact(&mut answer)?;
    Ok(&answer == b"VERSION")
}

fn host(number: usize) -> String {
    format!("127.0.0.{}", number + 1)
}
