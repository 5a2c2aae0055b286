//! PHP's two extensions and this crate's transcoders at one real memcached: what one stores, the other reads.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;
use sockio::codec::php::{self, Php};
use sockio::codec::{PhpCompression, PhpMemcache, PhpMemcached};
use sockio::{ToValue, Transcoder, Value};

use super::php_values::{hex, sha256};

const INSTALL: &str = "apt-get install -y memcached php-cli php-memcached php-memcache";
const PEER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/interop/php_peer.php");

const COMPRESSED: u32 = 0x10;
const FASTLZ: u32 = 0x40;

#[test]
fn php_memcached_strings_in_both_directions() {
    let server = Server::start();
    let (mut php, mut wire) = (server.php("memcached"), server.wire());
    let (mut level_1, mut level_2, mut zlib, mut plain) = (0, 0, 0, 0);
    for (name, compression) in [
        ("fastlz", Some(PhpCompression::FastLz)),
        ("zlib", Some(PhpCompression::Zlib)),
        ("off", None),
    ] {
        let coder = PhpMemcached::new().compression(compression);
        assert_eq!(php.ask(&format!("compression {name}")), "done");
        for len in [1999, 2000, 65_535, 65_536, 70_000, 200_000] {
            for (kind, data) in strings(len) {
                let what = format!("{kind}, {len} bytes, {name}");
                let value = Value::Bytes(data.as_slice().into());
                let serialized = serialized_string(&data);

                assert_eq!(php.set("from-php", &serialized), "stored", "{what}");
                let (flags, payload) = wire.get("from-php");
                match flags & !COMPRESSED {
                    FASTLZ if payload[4] >> 5 == 0 => level_1 += 1,
                    FASTLZ => level_2 += 1,
                    0 => plain += 1,
                    _ => zlib += 1,
                }
                let encoded = coder.encode(value.to_value()).unwrap();
                assert_eq!(encoded.flags, flags, "{what}");
                assert!(
                    compression == Some(PhpCompression::Zlib) || *encoded.data == *payload,
                    "{what}: other bytes than PHP's"
                );
                assert!(
                    coder.decode(flags, payload.into()).unwrap() == value,
                    "{what}"
                );

                wire.set("from-rust", encoded.flags, &encoded.data);
                assert_eq!(php.ask("get from-rust"), sha256(&serialized), "{what}");
            }
        }
    }
    println!("level 1: {level_1}, level 2: {level_2}, zlib: {zlib}, not compressed: {plain}");
    assert!(level_1 >= 5 && level_2 >= 15 && zlib >= 20 && plain >= 36);
}

#[test]
fn pecl_memcache_strings_in_both_directions() {
    let server = Server::start();
    let (mut php, mut wire) = (server.php("memcache"), server.wire());
    let mut compressed = 0;
    for len in [19_999, 20_000, 70_000, 200_000] {
        for (kind, data) in strings(len) {
            let what = format!("{kind}, {len} bytes");
            let value = Value::Bytes(data.as_slice().into());
            let serialized = serialized_string(&data);
            let coder = PhpMemcache::new();

            assert_eq!(php.set("from-php", &serialized), "stored", "{what}");
            let (flags, payload) = wire.get("from-php");
            compressed += usize::from(flags != 0);
            let encoded = coder.encode(value.to_value()).unwrap();
            assert_eq!(encoded.flags, flags, "{what}");
            assert!(
                coder.decode(flags, payload.into()).unwrap() == value,
                "{what}"
            );

            wire.set("from-rust", encoded.flags, &encoded.data);
            assert_eq!(php.ask("get from-rust"), sha256(&serialized), "{what}");
        }
    }
    assert!(compressed >= 12, "{compressed}");
}

#[test]
fn typed_values_in_both_directions() {
    #[derive(Serialize)]
    struct Cart<'a> {
        id: u32,
        owner: &'a str,
        prices: Vec<f64>,
        note: Option<&'a str>,
    }
    let cart = || Cart {
        id: 7,
        owner: "Zoë",
        prices: vec![1.5, 0.1, -0.0],
        note: None,
    };
    let many: Vec<Cart<'_>> = (0..2000).map(|_| cart()).collect();

    let server = Server::start();
    let mut wire = server.wire();
    let coders: [(&str, &dyn Transcoder); 2] = [
        ("memcached", &PhpMemcached::new()),
        ("memcache", &PhpMemcache::new()),
    ];
    for (extension, coder) in coders {
        let mut php = server.php(extension);
        let mut exchange = |value: &dyn ToValue, serialized: Vec<u8>| {
            assert_eq!(php.set("from-php", &serialized), "stored");
            let stored = wire.get("from-php");
            let encoded = coder.encode(value.to_value()).unwrap();
            assert_eq!(encoded.flags, stored.0, "{extension}");
            let read = coder.decode(stored.0, stored.1.into()).unwrap();
            let own = coder.decode(encoded.flags, encoded.data.clone()).unwrap();
            assert!(read == own, "{extension}: {read:?}, {own:?}");

            wire.set("from-rust", encoded.flags, &encoded.data);
            assert_eq!(php.ask("get from-rust"), sha256(&serialized), "{extension}");
        };
        for value in [0, 1, -1, 42, i64::MAX, i64::MIN] {
            exchange(&value, php::to_vec(&value).unwrap());
        }
        for value in [
            0.0,
            -0.0,
            0.1,
            -2.25,
            1e15,
            1e100,
            f64::INFINITY,
            f64::NEG_INFINITY,
        ] {
            exchange(&value, php::to_vec(&value).unwrap());
        }
        exchange(&true, php::to_vec(&true).unwrap());
        exchange(&false, php::to_vec(&false).unwrap());
        exchange(&None::<bool>, php::to_vec(&()).unwrap());
        exchange(&"Zoë", php::to_vec("Zoë").unwrap());
        exchange(&"", php::to_vec("").unwrap());
        exchange(&Php(cart()), php::to_vec(&cart()).unwrap());
        exchange(
            &Php([(1, "x"), (2, "y")]),
            php::to_vec(&[(1, "x"), (2, "y")]).unwrap(),
        );
        // Long enough to be compressed by both: serialized values are, too.
        exchange(&Php(&many), php::to_vec(&many).unwrap());
    }
}

/// What the extensions write for a float, and what `serialize` does, for thousands of floats.
#[test]
fn floats_are_written_digit_for_digit() {
    let server = Server::start();
    let mut wire = server.wire();
    let floats = floats();
    assert!(floats.len() > 4000);
    let coders: [(&str, &dyn Transcoder); 2] = [
        ("memcached", &PhpMemcached::new()),
        ("memcache", &PhpMemcache::new()),
    ];
    for (extension, coder) in coders {
        let mut php = server.php(extension);
        for &float in &floats {
            let serialized = php::to_vec(&float).unwrap();
            assert_eq!(php.set("float", &serialized), "stored");
            let (flags, payload) = wire.get("float");
            let encoded = coder.encode(Value::F64(float)).unwrap();
            let text = String::from_utf8_lossy(&payload);
            assert_eq!(
                String::from_utf8_lossy(&encoded.data),
                text,
                "{extension}, {float:e}"
            );
            assert_eq!(encoded.flags, flags);
            // PHP's own reading and writing of what it was given: 17 digits at most, as here.
            if extension == "memcached" {
                assert_eq!(php.ask("get float"), sha256(&serialized), "{float:e}");
                let read = coder.decode(flags, payload.into()).unwrap();
                assert!(matches!(read, Value::F64(read) if read.to_bits() == float.to_bits()));
            }
        }
    }
}

fn floats() -> Vec<f64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let any = std::iter::repeat_with(|| f64::from_bits(next()));
    let mut floats: Vec<f64> = any.filter(|float| float.is_finite()).take(700).collect();
    // Short decimals and integers on both sides of every border between the two notations.
    for exponent in -25..=25 {
        for digits in [
            1.0,
            1.5,
            9.99,
            1.234_567,
            9.999_999_999_999_99,
            1.234_567_890_123_456_7,
        ] {
            let float = digits * 10_f64.powi(exponent);
            floats.extend([float, -float]);
        }
    }
    // Where doubles lie less dense on one side.
    floats.extend((-1074..1024).map(|power| 2_f64.powi(power)));
    // Halves in the fifteenth digit, which `%.14g` must round to even.
    for n in 0..200 {
        floats.push(f64::from(n).mul_add(2.0, 1_000_000_000_001.0) + 0.25);
        floats.push(f64::from(n) + 10_000_000_000_000.5);
        floats.push(f64::from(n) * 10.0 + 100_000_000_000_005.0);
        // And in the seventeenth, where two texts of 17 digits are equally near.
        floats.push(f64::from(n) + 0.25 + 1_658_206_780_088_562.0);
    }
    floats.extend([f64::MAX, f64::MIN_POSITIVE, 5e-324]);
    floats
}

/// Strings of several kinds that compress well, little, and not at all.
fn strings(len: usize) -> [(&'static str, Vec<u8>); 6] {
    let mut state = 0x2545_f491_u32;
    let mut noise = |len: usize| -> Vec<u8> {
        let next = || {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            (state >> 24) as u8
        };
        std::iter::repeat_with(next).take(len).collect()
    };
    let cycle = |unit: &[u8]| unit.iter().copied().cycle().take(len).collect::<Vec<u8>>();
    let words = (0_u32..).flat_map(|n| format!("row {} of {}; ", n * 7919, n % 13).into_bytes());
    // Far apart, with a run between: level 2's long distances.
    let far = [noise(3000), vec![0; 40_000]].concat();
    let mut hex_digits = hex(&noise(len / 2 + 1)).into_bytes();
    hex_digits.truncate(len);
    [
        ("one byte", vec![b'a'; len]),
        ("words", words.take(len).collect()),
        ("a period of 9,000", cycle(&noise(9000))),
        ("far repeats", cycle(&far)),
        ("hexadecimal digits", hex_digits),
        ("noise", noise(len)),
    ]
}

fn serialized_string(data: &[u8]) -> Vec<u8> {
    [format!("s:{}:\"", data.len()).as_bytes(), data, b"\";"].concat()
}

/// A memcached of this test's own.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start() -> Self {
        // Another process may take the port between the two steps.
        (0..5)
            .find_map(|_| Self::try_start())
            .expect("memcached does not start")
    }

    fn try_start() -> Option<Self> {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let arguments = ["-l", "127.0.0.1", "-U", "0", "-u", "root", "-t", "1", "-p"];
        let mut command = Command::new("memcached");
        command
            .args(arguments)
            .arg(port.to_string())
            .stderr(Stdio::null());
        let mut server = Self {
            child: spawn(command),
            port,
        };
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(10)
            && server.child.try_wait().unwrap().is_none()
        {
            if TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok() {
                let own = server.wire().pid() == server.child.id();
                return own.then_some(server);
            }
            thread::sleep(Duration::from_millis(5));
        }
        None
    }

    fn wire(&self) -> Wire {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).unwrap();
        stream.set_nodelay(true).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        Wire(BufReader::new(stream))
    }

    fn php(&self, extension: &str) -> Peer {
        let mut command = Command::new("php");
        command
            .args(["-d", "serialize_precision=-1", PEER, extension])
            .arg(self.port.to_string());
        let mut child = spawn({
            command.stdin(Stdio::piped()).stdout(Stdio::piped());
            command
        });
        let mut peer = Peer {
            stdin: child.stdin.take().unwrap(),
            stdout: BufReader::new(child.stdout.take().unwrap()),
            child,
        };
        assert_eq!(
            peer.answer(),
            "ready",
            "PHP cannot use {extension}: {INSTALL}"
        );
        peer
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(mut command: Command) -> Child {
    command.spawn().unwrap_or_else(|error| match error.kind() {
        ErrorKind::NotFound => panic!("{:?} is not installed: {INSTALL}", command.get_program()),
        _ => panic!("{:?}: {error}", command.get_program()),
    })
}

/// A PHP process with one of the extensions.
struct Peer {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Peer {
    fn ask(&mut self, line: &str) -> String {
        self.stdin
            .write_all(format!("{line}\n").as_bytes())
            .unwrap();
        self.answer()
    }

    fn set(&mut self, key: &str, serialized: &[u8]) -> String {
        self.ask(&format!("set {key} {}", hex(serialized)))
    }

    fn answer(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `get` and `set` of the classic protocol, by hand.
struct Wire(BufReader<TcpStream>);

impl Wire {
    fn get(&mut self, key: &str) -> (u32, Vec<u8>) {
        self.send(format!("get {key}\r\n").as_bytes());
        let line = self.line();
        let words: Vec<&str> = line.split(' ').collect();
        let ["VALUE", found, flags, len] = words[..] else {
            panic!("no value: {line}")
        };
        assert_eq!(found, key);
        let mut data = vec![0; len.parse::<usize>().unwrap() + 2];
        self.0.read_exact(&mut data).unwrap();
        data.truncate(data.len() - 2);
        assert_eq!(self.line(), "END");
        (flags.parse().unwrap(), data)
    }

    fn set(&mut self, key: &str, flags: u32, data: &[u8]) {
        let head = format!("set {key} {flags} 0 {}\r\n", data.len());
        self.send(&[head.as_bytes(), data, b"\r\n"].concat());
        assert_eq!(self.line(), "STORED");
    }

    fn pid(&mut self) -> u32 {
        self.send(b"stats\r\n");
        let mut pid = 0;
        loop {
            match self.line() {
                end if end == "END" => return pid,
                line => {
                    if let Some(number) = line.strip_prefix("STAT pid ") {
                        pid = number.parse().unwrap();
                    }
                }
            }
        }
    }

    fn send(&mut self, bytes: &[u8]) {
        self.0.get_mut().write_all(bytes).unwrap();
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }
}
