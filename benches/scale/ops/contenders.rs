//! The floor and the crate, each behind the same small shape. It measures nothing.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Mutex;

use sockio::{MemcachedClient, SockIoPool};

use super::slice::{Get, Slice};
use super::{MOST_THREADS, VALUE, key};

/// A slice with so many threads.
pub(super) type Play = Box<dyn Fn(usize) -> io::Result<Slice>>;

/// From a server's address and a number of connections.
pub(super) type Open = Box<dyn Fn(&str, usize) -> io::Result<Play>>;

/// Who takes part.
pub(super) struct Contender {
    pub(super) name: String,
    pub(super) colour: &'static str,
    pub(super) open: Open,
}

/// In the order of [`FLOOR`](super::FLOOR), [`PLAIN`](super::PLAIN) and [`COMBINING`](super::COMBINING).
pub(super) fn own() -> Vec<Contender> {
    vec![
        here("floor", "#8b949e", floor),
        here("sockio", "#0969da", |addr, connections| {
            client(addr, connections, false)
        }),
        here("sockio, combining", "#d1242f", |addr, connections| {
            client(addr, connections, true)
        }),
    ]
}

fn here(name: &str, colour: &'static str, get: fn(&str, usize) -> io::Result<Get>) -> Contender {
    Contender {
        name: name.to_owned(),
        colour,
        open: Box::new(move |addr, connections| {
            let get = get(addr, connections)?;
            Ok(Box::new(move |threads| Ok(Slice::run(&get, threads))))
        }),
    }
}

/// Bare sockets with a prebuilt request and no parsing; threads share one by a mutex where there are more threads.
fn floor(addr: &str, connections: usize) -> io::Result<Get> {
    let requests = (0..MOST_THREADS).map(|thread| format!("get {}\r\n", key(thread)));
    let requests: Vec<String> = requests.collect();
    let answer = format!("VALUE {} 0 100\r\n\r\nEND\r\n", key(0)).len() + VALUE.len();
    let connect = |_| -> io::Result<Mutex<TcpStream>> {
        let stream = TcpStream::connect(addr)?;
        stream.set_nodelay(true)?;
        Ok(Mutex::new(stream))
    };
    let streams = (0..connections).map(connect);
    let streams: Vec<Mutex<TcpStream>> = streams.collect::<io::Result<_>>()?;
    Ok(Box::new(move |thread| {
        let mut stream = streams[thread % connections].lock().expect("no panic");
        stream
            .write_all(requests[thread].as_bytes())
            .expect("a write");
        let mut buffer = [0; 1024];
        let mut read = 0;
        while read < answer {
            let more = stream.read(&mut buffer[read..]).expect("a read");
            assert!(more > 0, "the server closed");
            read += more;
        }
        assert_eq!(read, answer);
    }))
}

/// The crate as the builder has it, but for the number of connections and whether callers share requests.
fn client(addr: &str, connections: usize, combine: bool) -> io::Result<Get> {
    let pool = SockIoPool::builder()
        .servers([addr])
        .initial_conn(connections)
        .min_conn(connections)
        .max_conn(connections)
        .max_open(connections)
        .combine(combine)
        .build()
        .map_err(io::Error::other)?;
    let client = MemcachedClient::new(pool);
    let keys: Vec<String> = (0..MOST_THREADS).map(key).collect();
    Ok(Box::new(move |thread| {
        let value: Option<Vec<u8>> = client.get(&keys[thread]).expect("a get");
        assert_eq!(value.expect("a hit").len(), VALUE.len());
    }))
}
