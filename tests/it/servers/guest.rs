//! Somebody else's connection to a server, that takes one of its places and asks what the server counts.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::support::RealServer;
use crate::support::wait::ms;

pub(super) struct Guest(TcpStream);

impl Guest {
    /// `None` if the server has none left.
    pub(super) fn connect(server: &RealServer) -> Option<Self> {
        let address = server.addr().parse().unwrap();
        let mut guest = Self(TcpStream::connect_timeout(&address, ms(1000)).ok()?);
        guest.0.set_read_timeout(Some(ms(1000))).unwrap();
        (guest.ask("mn\r\n")? == "MN\r\n").then_some(guest)
    }

    fn ask(&mut self, command: &str) -> Option<String> {
        self.0.write_all(command.as_bytes()).ok()?;
        let mut answer = [0; 8192];
        let len = self.0.read(&mut answer).ok()?;
        Some(String::from_utf8_lossy(&answer[..len]).into_owned())
    }

    /// One of its statistics that is a number.
    pub(super) fn stat(&mut self, name: &str) -> u64 {
        let stats = self.ask("stats\r\n").unwrap();
        let mut lines = stats.lines();
        let value = lines.find_map(|line| line.strip_prefix(&format!("STAT {name} ")));
        value.unwrap().parse().unwrap()
    }
}
