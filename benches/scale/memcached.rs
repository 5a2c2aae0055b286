//! A memcached of the bench's own, killed on drop. It knows nothing of who talks to it.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long it may take until it answers.
const PATIENCE: Duration = Duration::from_secs(5);

/// A running memcached on the loopback.
#[derive(Debug)]
pub(crate) struct Memcached {
    child: Child,
    port: u16,
}

impl Memcached {
    /// Starts one on a free port of the first `hosts` addresses of 127.0.0.0/8 that takes so many connections.
    pub(crate) fn start(hosts: usize, connections: usize) -> io::Result<Self> {
        // Another process may take the port between the search and the start.
        for _ in 0..10 {
            let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
            let listen: Vec<String> = (0..hosts).map(host).collect();
            let child = Command::new("memcached")
                .args(["-U", "0", "-m", "64", "-l", &listen.join(",")])
                .args(["-p", &port.to_string()])
                .args(["-c", &(connections + 64).to_string()])
                // As root it asks for a user to become; for all others this is of no effect.
                .args(["-u", "root"])
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .map_err(|error| io::Error::new(error.kind(), format!("memcached: {error}")))?;
            let mut server = Self { child, port };
            if server.answers()? {
                return Ok(server);
            }
        }
        Err(io::Error::other("memcached did not start"))
    }

    /// `127.0.0.1:port` for host 0, and so on.
    pub(crate) fn addr(&self, number: usize) -> String {
        format!("{}:{}", host(number), self.port)
    }

    /// False if it ended before it answered.
    fn answers(&mut self) -> io::Result<bool> {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if self.child.try_wait()?.is_some() {
                return Ok(false);
            }
            if let Ok(mut stream) = TcpStream::connect(self.addr(0)) {
                stream.set_read_timeout(Some(PATIENCE))?;
                stream.write_all(b"version\r\n")?;
                let mut answer = [0; 7];
                stream.read_exact(&mut answer)?;
                // It may be another process's, which took the port first.
                return Ok(&answer == b"VERSION" && self.child.try_wait()?.is_none());
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
    }
}

fn host(number: usize) -> String {
    format!("127.0.0.{}", number + 1)
}
