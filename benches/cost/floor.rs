//! The floor: a bare socket with a prebuilt request, one send, and receives until the reply's known length. No client does less.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;

use crate::allocations;
use crate::one::Stage;
use crate::operations::Kind;

/// A socket, TCP or unix; which one is known when this is compiled.
trait Socket: Read + Write {}
impl<S: Read + Write> Socket for S {}

/// What is sent at once, and how long the reply to it is.
struct Exchange {
    request: Vec<u8>,
    reply: usize,
}

/// Does an operation with the servers so many times.
pub(crate) fn run(kind: Kind, stage: &Stage, servers: &[&str], times: usize) -> io::Result<()> {
    if let [server] = servers {
        if let Some(path) = server.strip_prefix("unix:") {
            return with(kind, stage, vec![UnixStream::connect(path)?], times);
        }
    }
    let streams = servers.iter().map(TcpStream::connect);
    with(kind, stage, streams.collect::<io::Result<_>>()?, times)
}

fn with<S: Socket>(kind: Kind, stage: &Stage, mut sockets: Vec<S>, times: usize) -> io::Result<()> {
    let steps = steps(kind, stage, sockets.len());
    // Each server's part of each step, and how long its reply is.
    let mut exchanges = Vec::new();
    let mut longest = 0;
    for step in steps {
        let mut parts = Vec::new();
        for (socket, (request, last)) in sockets.iter_mut().zip(step) {
            let reply = learn(socket, &request, &last)?;
            longest = longest.max(reply);
            parts.push(Exchange { request, reply });
        }
        exchanges.push(parts);
    }
    let mut buffer = vec![0; longest];
    allocations::begin();
    for _ in 0..times {
        for parts in &exchanges {
            for (socket, part) in sockets.iter_mut().zip(parts) {
                socket.write_all(&part.request)?;
            }
            for (socket, part) in sockets.iter_mut().zip(parts) {
                let mut missing = &mut buffer[..part.reply];
                while !missing.is_empty() {
                    match socket.read(missing)? {
                        0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                        read => missing = &mut missing[read..],
                    }
                }
            }
        }
    }
    Ok(())
}

/// The requests, step by step and server by server, each with what its reply ends in.
fn steps(kind: Kind, stage: &Stage, servers: usize) -> Vec<Vec<(Vec<u8>, Vec<u8>)>> {
    let Stage { key, keys, value } = stage;
    let end = b"END\r\n";
    let set = |key: &str| {
        let head = format!("set {key} 0 0 {}\r\n", value.len());
        [head.as_bytes(), value, b"\r\n"].concat()
    };
    let alone = |request: Vec<u8>, last: &[u8]| vec![vec![(request, last.to_vec())]];
    let stored = b"STORED\r\n";
    match kind {
        Kind::Get(_) | Kind::GetInto | Kind::GetWith | Kind::Miss | Kind::GetText => {
            alone(format!("get {key}\r\n").into(), end)
        }
        Kind::Set(_) | Kind::SetText => alone(set(key), stored),
        Kind::Incr => alone(format!("incr {key} 1\r\n").into(), b"\r\n"),
        Kind::Cas => {
            // No token is parsed: the server says that the item has another one.
            let head = format!("cas {key} 0 0 {} 1\r\n", value.len());
            let cas = [head.as_bytes(), value, b"\r\n"].concat();
            let gets = alone(format!("gets {key}\r\n").into(), end);
            [gets, alone(cas, b"EXISTS\r\n")].concat()
        }
        Kind::GetMulti(count) => {
            let of_one = count.div_ceil(servers);
            let parts = keys.chunks(of_one).map(|keys| {
                let request = format!("get {}\r\n", keys.join(" "));
                (request.into_bytes(), end.to_vec())
            });
            vec![parts.collect()]
        }
        Kind::SetMulti(count) => {
            let request = keys.iter().flat_map(|key| set(key)).collect();
            alone(request, &stored.repeat(count))
        }
    }
}

/// Asks once, to learn how long the reply is.
fn learn(socket: &mut impl Socket, request: &[u8], last: &[u8]) -> io::Result<usize> {
    socket.write_all(request)?;
    let mut reply = Vec::new();
    let mut piece = vec![0; 64 << 10];
    while !reply.ends_with(last) {
        match socket.read(&mut piece)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => reply.extend_from_slice(&piece[..read]),
        }
    }
    Ok(reply.len())
}
