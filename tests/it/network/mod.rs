//! Networks that fail, between two network namespaces that `tests/netns.sh` makes: it runs these tests, which the rest leaves out.

mod cut;
mod loss;
mod slow;
mod start;

use std::net::{Ipv4Addr, SocketAddrV4, TcpStream};
use std::process::Command;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use crate::support::RealServer;
use crate::support::wait::ms;

/// The end of the script's pair of links that is not ours: ours is 10.222.0.1.
const SERVER: Ipv4Addr = Ipv4Addr::new(10, 222, 0, 2);

/// The names of the namespaces. This process lives in the first one.
struct Network {
    client: String,
    server: String,
}

/// What breaks the network, and what mends it: commands of the program `ip` without its name, `CLIENT` and `SERVER` for the
/// namespaces.
struct Fault {
    name: &'static str,
    on: &'static str,
    off: &'static str,
}

/// A fault that is there, until it is healed or dropped.
struct Broken<'n>(&'n Network, Option<&'static str>);

impl Network {
    fn mine() -> Self {
        let names = std::env::var("SOCKIO_NETWORK").expect("this test is run by tests/netns.sh");
        let (client, server) = names.split_once(' ').expect("two names");
        let (client, server) = (client.to_owned(), server.to_owned());
        Self { client, server }
    }

    /// A memcached at the other end.
    fn far_server(&self) -> RealServer {
        static PORT: AtomicU16 = AtomicU16::new(21490);
        let port = PORT.fetch_add(1, Ordering::Relaxed);
        RealServer::start_in(&self.server, SocketAddrV4::new(SERVER, port))
    }

    fn name(&self, command: &str) -> String {
        let command = command.replace("CLIENT", &self.client);
        command.replace("SERVER", &self.server)
    }

    /// Runs `ip` with these arguments; what it complains of if it fails.
    fn ip(&self, command: &str) -> Result<(), String> {
        let command = self.name(command);
        let output = Command::new("ip").args(command.split(' ')).output();
        let output = output.expect("ip is missing: apt-get install iproute2");
        match output.status.success() {
            true => Ok(()),
            false => Err(format!(
                "ip {command}: {}",
                String::from_utf8_lossy(&output.stderr).trim()
            )),
        }
    }

    #[track_caller]
    fn breaks(&self, fault: &Fault) -> Broken<'_> {
        self.ip(fault.on).unwrap();
        Broken(self, Some(fault.off))
    }

    /// Waits until the network carries a connect again; without the client under test.
    #[track_caller]
    fn is_back(&self, server: &RealServer) -> Duration {
        let start = Instant::now();
        let address = server.addr().parse().unwrap();
        while TcpStream::connect_timeout(&address, ms(50)).is_err() {
            assert!(start.elapsed() < ms(10_000), "the network stays away");
        }
        start.elapsed()
    }
}

impl Broken<'_> {
    fn heal(mut self) {
        self.mend();
    }

    fn mend(&mut self) {
        if let Some(off) = self.1.take() {
            self.0.ip(off).unwrap();
        }
    }
}

impl Drop for Broken<'_> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return self.mend();
        }
        let _ = self.1.take().map(|off| self.0.ip(off));
    }
}
