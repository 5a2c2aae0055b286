//! Several real servers, and what each of them holds, asked by a socket of its own. It knows no client.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::support::RealServer;

/// Servers that share the keys of one test.
pub(crate) struct Fleet {
    servers: Vec<RealServer>,
    weights: Vec<u32>,
    /// What stands before the IP addresses.
    name: &'static str,
    /// A connection to each server that runs.
    wires: Vec<Option<Wire>>,
}

/// An item as a server holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) server: usize,
    /// The bytes that are stored.
    pub(crate) len: usize,
}

struct Wire(BufReader<TcpStream>);

impl Fleet {
    /// One server for each weight.
    pub(crate) fn start(weights: &[u32]) -> Self {
        let servers = weights.iter().map(|_| RealServer::start(&[])).collect();
        Self::of(servers, weights)
    }

    pub(crate) fn of(servers: Vec<RealServer>, weights: &[u32]) -> Self {
        let wires = servers
            .iter()
            .map(|server| Some(Wire::connect(server)))
            .collect();
        Self {
            servers,
            weights: weights.to_vec(),
            name: "",
            wires,
        }
    }

    pub(crate) fn set_weights(&mut self, weights: &[u32]) {
        assert_eq!(weights.len(), self.servers.len());
        self.weights = weights.to_vec();
    }

    /// Gives the servers the name `localhost`, with their IP address behind it.
    pub(crate) fn call_localhost(&mut self) {
        self.name = "localhost/";
    }

    /// `127.0.0.1:port:weight` of each server; without the weights where all are equal, as some clients tell "1" from none.
    pub(crate) fn addrs(&self) -> Vec<String> {
        let equal = self.weights.iter().all(|weight| *weight == 1);
        let addr = |(server, weight): (&RealServer, &u32)| match equal {
            true => format!("{}{}", self.name, server.addr()),
            false => format!("{}{}:{weight}", self.name, server.addr()),
        };
        self.servers.iter().zip(&self.weights).map(addr).collect()
    }

    /// Who holds `key`: every server that runs is asked.
    pub(crate) fn held(&mut self, key: &str) -> Vec<Held> {
        let wires = self.wires.iter_mut().enumerate();
        wires
            .filter_map(|(server, wire)| {
                let len = wire.as_mut()?.len(key)?;
                Some(Held { server, len })
            })
            .collect()
    }

    /// Empties the servers that run.
    pub(crate) fn flush(&mut self) {
        for wire in self.wires.iter_mut().flatten() {
            assert_eq!(wire.ask("flush_all"), "OK");
        }
    }

    pub(crate) fn kill(&mut self, server: usize) {
        self.wires[server] = None;
        self.servers[server].kill();
    }

    pub(crate) fn restart(&mut self, server: usize) {
        self.servers[server].restart();
        self.wires[server] = Some(Wire::connect(&self.servers[server]));
    }
}

impl Wire {
    fn connect(server: &RealServer) -> Self {
        let stream = TcpStream::connect(server.addr()).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(5)))
            .unwrap();
        Self(BufReader::new(stream))
    }

    fn ask(&mut self, line: &str) -> String {
        let line = format!("{line}\r\n");
        self.0.get_mut().write_all(line.as_bytes()).unwrap();
        let mut answer = String::new();
        self.0.read_line(&mut answer).unwrap();
        answer.trim_end().to_owned()
    }

    /// The length of an item; `None` if it is not there.
    fn len(&mut self, key: &str) -> Option<usize> {
        let answer = self.ask(&format!("mg {key} s"));
        match answer.strip_prefix("HD s") {
            Some(len) => Some(len.parse().unwrap()),
            None => {
                assert_eq!(answer, "EN");
                None
            }
        }
    }
}
