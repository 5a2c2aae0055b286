//! The second try: at most one, and only where it can do no harm. A scripted server counts.

use std::sync::OnceLock;
use std::time::Duration;

use sockio::{ErrorKind, Expiry, FromValue, MemcachedClient, SockIoPool, Value};

use crate::support::fake::{Act, Fake, answer};
use crate::support::wait::{eventually, ms};

const SERVE: Act = Act::Serve(Duration::ZERO);

fn client(fake: &Fake) -> MemcachedClient {
    // Nobody but the caller opens a connection.
    let pool = SockIoPool::builder().servers([fake.addr()]).max_conn(1);
    MemcachedClient::new(pool.build().unwrap())
}

/// A connection that answers one `get`, takes another request, and then does this.
fn second_request(then: Vec<Act>) -> Vec<Act> {
    let mut script = vec![Act::Request, Act::Send(answer("get k")), Act::Request];
    script.extend(then);
    script
}

#[track_caller]
fn works(client: &MemcachedClient) {
    assert_eq!(client.get::<String>("k").unwrap().as_deref(), Some("k"));
}

#[test]
fn there_is_no_third_try() {
    let broken = vec![Act::Request, Act::Fin];
    let fake = Fake::new(vec![second_request(vec![Act::Fin]), broken, vec![SERVE]]);
    let client = client(&fake);
    works(&client);
    let error = client.get::<String>("twice").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Connection, "{error}");
    assert_eq!(error.server(), Some(&*fake.addr()));
    assert_eq!((fake.connections(), fake.count("get twice")), (2, 2));
    works(&client);
}

#[test]
fn a_new_connection_has_no_second_try() {
    let fake = Fake::only(vec![vec![Act::Request, Act::Fin]]);
    let pool = SockIoPool::builder()
        .servers([fake.addr()])
        .max_conn(1)
        .initial_conn(0);
    let client = MemcachedClient::new(pool.build().unwrap());
    let error = client.get::<String>("once").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Connection, "{error}");
    assert_eq!(fake.count("get once"), 1);
}

#[test]
fn after_a_byte_of_the_answer_there_is_no_second_try() {
    for (bytes, kind) in [
        (&b"V"[..], ErrorKind::Connection),
        (b"VALUE once 0 4\r\non", ErrorKind::Connection),
        (b"VALUE once 0 4\r\nonce\r\n", ErrorKind::Connection),
        (b"HTTP/1.1 400 Bad Request\r\n", ErrorKind::Protocol),
        (b"VALUE other 0 1\r\nx\r\nEND\r\n", ErrorKind::Protocol),
        (b"STORED\r\n", ErrorKind::Protocol),
        (b"\x81", ErrorKind::Protocol),
    ] {
        let script = second_request(vec![
            Act::Send(bytes.to_vec()),
            Act::Pause(ms(20)),
            Act::Fin,
        ]);
        let fake = Fake::new(vec![script, vec![SERVE]]);
        let client = client(&fake);
        works(&client);
        let error = client.get::<String>("once").unwrap_err();
        assert_eq!(error.kind(), kind, "{bytes:?}: {error}");
        assert_eq!(fake.count("get once"), 1);
        works(&client);
        assert_eq!(fake.connections(), 2);
    }
}

#[test]
fn after_a_timeout_there_is_no_second_try() {
    let fake = Fake::new(vec![second_request(vec![Act::Stall]), vec![SERVE]]);
    let client = client(&fake);
    works(&client);
    let hasty = client.clone().with_timeout(ms(200));
    let error = hasty.get::<String>("once").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
    eventually("it lives again", || client.get::<String>("k").is_ok());
    assert_eq!(fake.count("get once"), 1);
}

#[test]
fn a_refusal_is_an_answer() {
    // Other than after the first line, an old server may have taken the body for commands: what follows is not known.
    for (line, kind, connections) in [
        (
            "SERVER_ERROR out of memory storing object",
            ErrorKind::Server,
            1,
        ),
        ("SERVER_ERROR something else", ErrorKind::Server, 2),
        ("CLIENT_ERROR bad data chunk", ErrorKind::Client, 2),
        ("ERROR", ErrorKind::Client, 2),
    ] {
        let reply = format!("{line}\r\n").into_bytes();
        let script = second_request(vec![Act::Send(reply), SERVE]);
        let fake = Fake::new(vec![script, vec![SERVE]]);
        let client = client(&fake);
        works(&client);
        let error = client.set("once", "v", Expiry::never()).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert_eq!(fake.count("set once"), 1);
        assert!(client.pool().stats()[0].dead_until.is_none());
        works(&client);
        assert_eq!(fake.connections(), connections, "{line}");
    }
}

#[test]
fn a_write_that_was_taken_stays_ambiguous_when_no_second_try_is_possible() {
    let fake = Fake::only(vec![second_request(vec![Act::Fin])]);
    let pool = SockIoPool::builder()
        .servers([fake.addr()])
        .retry_writes(true);
    let client = MemcachedClient::new(pool.build().unwrap());
    works(&client);
    let error = client.set("once", "v", Expiry::never()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Ambiguous, "{error}");
    assert!(!error.is_connect());
    assert_eq!(fake.count("set once"), 1);
}

#[test]
fn what_was_sent_behind_a_refused_key_is_ambiguous() {
    let replies = b"STORED\r\nCLIENT_ERROR bad data chunk\r\n".to_vec();
    let asked = vec![Act::Request; 4];
    let script = [asked, vec![Act::Send(replies), SERVE]].concat();
    let fake = Fake::new(vec![script, vec![SERVE]]);
    let client = client(&fake);
    let entries = ["a", "b", "c", "d"].map(|key| (key, "v"));
    let many = client.set_multi(entries, Expiry::never()).unwrap();
    let answers: Vec<_> = many.iter().map(|(_, answer)| answer.copied()).collect();
    assert_eq!(answers, [Some(true), None, None, None]);
    let failures: Vec<_> = many.failures().iter().collect();
    let kinds = failures.iter().map(|failure| failure.error().kind());
    assert_eq!(
        kinds.collect::<Vec<_>>(),
        [ErrorKind::Client, ErrorKind::Ambiguous]
    );
    assert_eq!(
        (failures[0].keys(), failures[1].keys()),
        (&[1][..], &[2, 3][..])
    );
    for failure in failures {
        assert_eq!(failure.error().server(), Some(&*fake.addr()));
    }
    works(&client);
    assert_eq!((fake.connections(), fake.count("set")), (2, 4));
}

#[test]
fn an_error_line_that_breaks_off_a_reply_keeps_its_kind() {
    type Ask = fn(&MemcachedClient) -> ErrorKind;
    let value = "VALUE k 0 1\r\nx\r\n";
    let cases: [(&str, Ask); 3] = [
        (value, |c| c.get::<String>("k").unwrap_err().kind()),
        (value, |c| {
            let many = c.get_multi::<String, _>(["k", "l"]).unwrap();
            assert_eq!(many.get("k").map(String::as_str), Some("x"));
            many.failures()[0].error().kind()
        }),
        ("STAT a 1\r\n", |c| {
            let mut answers = c.stats(None).unwrap();
            answers.remove(0).1.unwrap_err().kind()
        }),
    ];
    for (begun, ask) in cases {
        for (line, kind) in [
            (
                "SERVER_ERROR out of memory writing get response",
                ErrorKind::Server,
            ),
            ("ERROR", ErrorKind::Client),
        ] {
            let reply = format!("{begun}{line}\r\n").into_bytes();
            let script = vec![Act::Request, Act::Send(reply), SERVE];
            let fake = Fake::new(vec![script, vec![SERVE]]);
            let client = client(&fake);
            assert_eq!(ask(&client), kind, "{begun:?} {line}");
            works(&client);
            assert_eq!(fake.connections(), 2, "{begun:?} {line}");
        }
    }
}

/// The client of another server, which a value asks while it is read.
static OTHER: OnceLock<MemcachedClient> = OnceLock::new();

#[derive(Debug)]
struct Asks;

impl FromValue for Asks {
    fn from_value(_: Value<'_>) -> sockio::Result<Self> {
        let other = OTHER.get().expect("the other client");
        other.get::<String>("k").map(|_| Asks)
    }
}

#[test]
fn another_server_s_failure_while_a_value_is_read_says_nothing_about_this_one() {
    let (silent, fake) = (Fake::new(vec![vec![Act::Stall]]), Fake::serving());
    let other = MemcachedClient::connect(silent.addr()).unwrap();
    OTHER.set(other.with_timeout(ms(100))).unwrap();
    let client = client(&fake);
    let error = client.get::<Asks>("k").unwrap_err();
    assert!(error.is_timeout(), "{error}");
    assert_eq!(error.server(), Some(&*silent.addr()));
    let stats = &client.pool().stats()[0];
    assert!(stats.dead_until.is_none(), "{stats:?}");
    assert_eq!(stats.idle, 1);
    works(&client);
    assert_eq!(fake.connections(), 1);
}
