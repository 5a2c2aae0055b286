//! Input that cannot work is a clear error, and nothing is sent that was not meant.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use sockio::{Compat, ErrorKind, Expiry, MemcachedClient, RawEnd, Result, SockIoPool};

use crate::support::RealServer;

const NEVER: Expiry = Expiry::never();

/// Takes connections, keeps what they send, and answers every line with `END`.
struct Recorder {
    addr: String,
    heard: Arc<Mutex<Vec<u8>>>,
}

impl Recorder {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap().to_string();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let ears = Arc::clone(&heard);
        // Ends with the test's process: nobody waits for it.
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (mut stream, ears) = (stream.unwrap(), Arc::clone(&ears));
                thread::spawn(move || {
                    let mut bytes = [0; 1024];
                    while let Ok(read @ 1..) = stream.read(&mut bytes) {
                        ears.lock().unwrap().extend_from_slice(&bytes[..read]);
                        let _ = stream.write_all(b"END\r\n");
                    }
                });
            }
        });
        Self { addr, heard }
    }

    fn heard(&self) -> String {
        String::from_utf8_lossy(&self.heard.lock().unwrap()).into_owned()
    }
}

fn bad_keys() -> Vec<Vec<u8>> {
    let mut keys = vec![Vec::new(), vec![b'k'; 251], vec![b'k'; 100_000]];
    for byte in (0..=b' ').chain([0x7f]) {
        keys.push(vec![b'a', byte, b'b']);
    }
    keys.push(b"x\r\nflush_all\r\n".to_vec());
    keys
}

#[test]
fn a_bad_key_is_never_sent() {
    let recorder = Recorder::start();
    let client = MemcachedClient::connect(recorder.addr.as_str()).unwrap();
    for key in bad_keys() {
        let kinds = [
            client.get::<String>(&key).map(drop),
            client.gets::<String>(&key).map(drop),
            client.get_raw(&key).map(drop),
            client.get_into(&key, &mut Vec::new()).map(drop),
            client.get_with(&key, |_, _| ()).map(drop),
            client.get_and_touch::<String>(&key, NEVER).map(drop),
            client.gets_and_touch::<String>(&key, NEVER).map(drop),
            client.exists(&key).map(drop),
            client.set(&key, "x", NEVER).map(drop),
            client.add(&key, "x", NEVER).map(drop),
            client.replace(&key, "x", NEVER).map(drop),
            client.append(&key, "x").map(drop),
            client.prepend(&key, "x").map(drop),
            client.cas(&key, "x", NEVER, 1).map(drop),
            client.set_raw(&key, "x", 0, NEVER).map(drop),
            client.set_with_flags(&key, "x", 0, NEVER).map(drop),
            client.delete(&key).map(drop),
            client.touch(&key, NEVER).map(drop),
            client.incr(&key, 1).map(drop),
            client.decr(&key, 1).map(drop),
            client.store_counter(&key, 1, NEVER).map(drop),
            client.get_counter(&key).map(drop),
            client.add_or_incr(&key, 1, NEVER).map(drop),
            client.add_or_decr(&key, 1, NEVER).map(drop),
            client
                .raw(&key, b"version\r\n", RawEnd::FirstLine)
                .map(drop),
            client.pool().server_of(&key).map(drop),
        ]
        .map(|answer: Result<()>| answer.unwrap_err().kind());
        assert_eq!(kinds, [ErrorKind::Key; 26], "a key of {} bytes", key.len());
    }
    // A good key shows that the recorder hears, and that it heard nothing else.
    assert_eq!(client.get::<String>("good").unwrap(), None);
    assert_eq!(recorder.heard(), "get good\r\n");
}

#[test]
fn a_prefix_counts_towards_the_length() {
    let recorder = Recorder::start();
    let builder = || SockIoPool::builder().servers([&recorder.addr]);
    let client = MemcachedClient::new(builder().prefix("app:").build().unwrap());
    let error = client.get::<String>("k".repeat(247)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Key);
    assert!(error.to_string().contains("251 bytes"), "{error}");
    let key = "k".repeat(246);
    assert_eq!(client.get::<String>(&key).unwrap(), None);
    assert_eq!(recorder.heard(), format!("get app:{key}\r\n"));
    for prefix in [
        "a b".to_owned(),
        "\r\n".to_owned(),
        "p".repeat(250),
        "p".repeat(300),
    ] {
        let error = builder().prefix(prefix).build().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config);
    }
}

#[test]
fn a_longest_key_and_bytes_above_ascii_are_good() {
    let server = RealServer::start(&[]);
    let client = MemcachedClient::connect(server.addr().as_str()).unwrap();
    let bytes: Vec<u8> = (b'!'..b'\x7f').chain(0x80..=0xff).collect();
    for key in [vec![b'k'; 250], vec![0xff; 250], bytes, "키".into()] {
        assert!(client.set(&key, "x", NEVER).unwrap());
        assert_eq!(client.get::<String>(&key).unwrap().as_deref(), Some("x"));
    }
}

#[test]
fn values_over_the_limits_are_errors() {
    let server = RealServer::start(&["-I", "2m"]);
    let client = MemcachedClient::connect(server.addr().as_str()).unwrap();
    assert!(client.set("k", vec![0; 1_500_000], NEVER).unwrap());
    let error = client.set("k", vec![0; 2_500_000], NEVER).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Server);
    assert_eq!(client.get::<Vec<u8>>("k").unwrap(), None);
    assert_eq!(client.pool().stats()[0].connects, 1);

    client.set("k", vec![0; 10_000], NEVER).unwrap();
    let pool = SockIoPool::builder()
        .servers([server.addr()])
        .max_value_len(9_999)
        .build()
        .unwrap();
    let limited = MemcachedClient::new(pool);
    let error = limited.get::<Vec<u8>>("k").map(drop).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Protocol);
    assert!(error.to_string().contains("10000 bytes"), "{error}");
    // Nothing of that value is read as the answer to the next command.
    assert!(limited.set("k", vec![1; 9_999], NEVER).unwrap());
    assert_eq!(limited.get::<Vec<u8>>("k").unwrap(), Some(vec![1; 9_999]));
}

#[test]
fn a_pool_that_cannot_work_says_why() {
    let none: [&str; 0] = [];
    let builder = |servers: &[&str]| SockIoPool::builder().servers(servers);
    for (bad, why) in [
        (builder(&none), "server"),
        (SockIoPool::builder(), "server"),
        (builder(&["a:99999"]), "port"),
        (builder(&["a:0"]), "port"),
        (builder(&["a:x"]), "port"),
        (builder(&["a:-1"]), "port"),
        (builder(&[""]), "empty"),
        (builder(&["a,b"]), "','"),
        (builder(&["a:1:x"]), "weight"),
        (builder(&["::1:2"]), "brackets"),
        (builder(&["[::1"]), "']'"),
        (builder(&["unix:"]), "path"),
        (builder(&["a", "a"]), "a"),
        (builder(&["a", "b"]).weights([0, 0]), "weight"),
        (
            builder(&["a", "b"]).weights([1]),
            "1 weights were given for 2 servers",
        ),
        (
            builder(&["a", "b"]).weights([1, 2, 3]),
            "3 weights were given for 2 servers",
        ),
        (
            builder(&["a"]).initial_conn(0).min_conn(0).max_conn(0),
            "max_conn",
        ),
        (builder(&["a"]).max_open(0), "max_open is 0"),
        (builder(&["a"]).min_conn(40), "min_conn"),
        (
            builder(&["a"]).socket_timeout(Duration::ZERO),
            "socket_timeout",
        ),
        (
            builder(&["a"]).connect_timeout(Duration::ZERO),
            "connect_timeout",
        ),
        (
            builder(&["a"]).operation_timeout(Duration::ZERO),
            "operation_timeout",
        ),
        (
            builder(&["a"]).dead_backoff(Duration::from_secs(2), Duration::from_secs(1)),
            "dead_backoff",
        ),
    ] {
        let error = bad.build().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config);
        assert!(
            error.to_string().contains(why),
            "{error} does not say {why:?}"
        );
    }
}

#[test]
fn an_unknown_client_is_told_which_are_known() {
    for bad in ["", "whalin", "whalin/", "whalin/newcompat", "WHALIN/native"] {
        let error = bad.parse::<Compat>().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config);
        let message = error.to_string();
        assert!(
            message.contains("whalin/{native, old-compat, "),
            "{message}"
        );
    }
    let mut names = Compat::all().into_iter().map(Compat::name);
    assert!(names.any(|name| name == "whalin/new-compat"));
}

#[test]
fn a_name_stands_for_one_pool() {
    let recorder = Recorder::start();
    let build = || {
        SockIoPool::builder()
            .servers([&recorder.addr])
            .build_named("bad input")
    };
    assert!(SockIoPool::named("bad input").is_none());
    let pool = build().unwrap();
    assert_eq!(build().unwrap_err().kind(), ErrorKind::Config);
    assert!(SockIoPool::named("bad input").is_some());
    pool.shutdown();
    assert!(SockIoPool::named("bad input").is_none());
    let client = MemcachedClient::new(pool);
    assert_eq!(
        client.get::<String>("k").unwrap_err().kind(),
        ErrorKind::Shutdown
    );
    build().unwrap().shutdown();
}

#[test]
fn a_zero_timeout_times_out_at_once() {
    let recorder = Recorder::start();
    let client = MemcachedClient::connect(recorder.addr.as_str())
        .unwrap()
        .with_timeout(Duration::ZERO);
    let error = client.get::<String>("k").unwrap_err();
    assert!(error.is_timeout(), "{error}");
    assert_eq!(recorder.heard(), "");
}
