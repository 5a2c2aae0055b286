//! Answers that reached the wrong call.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use sockio::{ErrorKind, FromValue, MemcachedClient, Result, SockIoPool, Value};

use super::{NEVER, SERVE, client, connects, is_dead, real, recovers, single, text};
use crate::support::RealServer;
use crate::support::fake::{Act, Fake};
use crate::support::wait::{eventually, ms, within};

/// desync-01 (php-memcached-dev/php-memcached#531, GHSA-wwmh-39wj-fx59): the answer to a get that had timed out
/// answered the next one.
#[test]
fn an_answer_that_comes_too_late_is_nobodys() {
    let late = vec![
        Act::Expect(b"get k1\r\n".to_vec()),
        Act::Pause(ms(400)),
        Act::Send(b"VALUE k1 0 1\r\nA\r\nEND\r\n".to_vec()),
    ];
    let fake = Fake::new(vec![late, vec![SERVE]]);
    let pool = single(&fake).socket_timeout(ms(200));
    let client = client(pool.dead_backoff(ms(20), ms(20)));
    let error = client.get::<String>("k1").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
    eventually("the connection is closed", || fake.seen()[0].closed);
    recovers(&client);
    assert_eq!(fake.seen()[0].requests, ["get k1"]);
}

struct Bomb;

impl FromValue for Bomb {
    fn from_value(_: Value<'_>) -> Result<Self> {
        panic!("the caller's own")
    }
}

/// desync-02 (petergoldstein/dalli#956, #963, #1136): a call that was interrupted put its connection back with the rest
/// of its answer still to come.
#[test]
fn a_call_that_panics_in_the_middle_takes_its_answer_along() {
    let fake = Fake::serving();
    let client = client(single(&fake).max_open(1));
    let panic = catch_unwind(AssertUnwindSafe(|| {
        client.get_multi::<Bomb, _>(["a", "b", "c"]).is_ok()
    }));
    assert!(panic.is_err());
    assert_eq!(text(&client, "other").as_deref(), Some("other"));
    assert_eq!(fake.connections(), 2);
    assert_eq!(fake.seen()[0].requests, ["get a b c"]);
    eventually("the first is closed", || fake.open() == 1);
}

/// desync-04 (enyim/EnyimMemcached#94): a connection was drained of what had come so far and used again,
/// and the rest came later.
#[test]
fn half_a_value_ends_the_connection_and_not_the_server() {
    const LEN: usize = 1 << 20;
    let head = format!("VALUE k 0 {LEN}\r\n").into_bytes();
    let script = vec![
        Act::Request,
        Act::Send([head, vec![b'x'; LEN / 2]].concat()),
        Act::Pause(ms(50)),
        Act::Send([&vec![b'x'; LEN / 2][..], b"\r\nEND\r\n"].concat()),
    ];
    let fake = Fake::new(vec![script, vec![SERVE]]);
    let client = client(single(&fake).max_value_len(LEN - 1));
    // An error in the middle of a value that is no error of the network.
    let error = client.get::<Vec<u8>>("k").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Protocol, "{error}");
    assert!(!is_dead(&client));
    thread::sleep(ms(100));
    assert_eq!(text(&client, "next").as_deref(), Some("next"));
    assert_eq!((fake.connections(), fake.count("get next")), (2, 1));
    assert_eq!(fake.seen()[0].requests.len(), 1);
}

/// desync-05 (memcachier/memjs#9, #20): two callers on one connection got each other's answers.
#[test]
fn callers_on_one_connection_get_their_own_answers() {
    let server = RealServer::start(&[]);
    for combine in [false, true] {
        let pool = SockIoPool::builder().servers([server.addr()]).max_conn(1);
        let client = client(pool.combine(combine));
        thread::scope(|scope| {
            for thread in 0..4 {
                let client = &client;
                scope.spawn(move || {
                    let own = format!("own_{thread}");
                    for _ in 0..100 {
                        assert_eq!(client.get::<String>("missing").unwrap(), None);
                        assert!(client.set(&own, &own, NEVER).unwrap());
                        let value = client.get::<String>(&own).unwrap();
                        assert_eq!(value.as_deref(), Some(&*own));
                    }
                });
            }
        });
        assert_eq!(connects(&client), 1);
    }
}

/// desync-08 (php-memcached-dev/php-memcached#75): a get read its value and left the end of the answer to the next command.
#[test]
fn a_get_reads_the_end_of_its_answer_too() {
    let (_server, client) = real(&[]);
    client.set("a", "x", NEVER).unwrap();
    for _ in 0..3 {
        assert_eq!(text(&client, "a").as_deref(), Some("x"));
        assert!(client.set("a", "x", NEVER).unwrap());
        assert_eq!(text(&client, "a").as_deref(), Some("x"));
        assert!(client.versions()[0].1.is_ok());
    }
    assert_eq!(connects(&client), 1);
}

/// desync-10 (memcached/memcached#997): a read that ended between value and END was an error.
#[test]
fn an_answer_in_three_pieces_is_the_same_answer() {
    const REPLY: &[u8] = b"VALUE k 0 4\r\ndata\r\nEND\r\n";
    let cuts = || {
        (1..REPLY.len())
            .flat_map(|first| (first + 1..REPLY.len()).map(move |second| (first, second)))
    };
    let acts = cuts().flat_map(|(first, second)| {
        [
            Act::Expect(b"get k\r\n".to_vec()),
            Act::Send(REPLY[..first].to_vec()),
            Act::Pause(ms(1)),
            Act::Send(REPLY[first..second].to_vec()),
            Act::Pause(ms(1)),
            Act::Send(REPLY[second..].to_vec()),
        ]
    });
    let fake = Fake::new(vec![acts.collect()]);
    let client = client(single(&fake));
    for cut in cuts() {
        assert_eq!(text(&client, "k").as_deref(), Some("data"), "{cut:?}");
    }
    assert_eq!(fake.connections(), 1);
}

/// desync-11 (gwhalin/Memcached-Java-Client#34, #53): the third word of CLIENT_ERROR was read as the flags of a value.
#[test]
fn a_client_error_is_no_value() {
    let refusal = b"CLIENT_ERROR bad command line format\r\n".to_vec();
    let script = vec![Act::Request, Act::Send(refusal), SERVE];
    let fake = Fake::new(vec![script, vec![SERVE]]);
    let client = client(single(&fake));
    let error = client.get::<String>("k").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Client);
    assert!(
        error.to_string().contains("bad command line format"),
        "{error}"
    );
    assert_eq!(text(&client, "next").as_deref(), Some("next"));
    assert!(!is_dead(&client));
}

/// desync-13 (grafana/gomemcache#36): every value that was too large cost a connection, though the server stays in step.
#[test]
fn a_value_too_large_costs_no_connection() {
    let (_server, client) = real(&["-I", "1m"]);
    for _ in 0..10 {
        let error = client.set("k", vec![b'x'; 1 << 20], NEVER).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Server, "{error}");
        assert_eq!(text(&client, "k"), None);
    }
    assert_eq!(connects(&client), 1);
}

/// desync-14 (awesomized/libmemcached#130, #124): a count of answers fell below zero, and the client read for ever.
#[test]
fn an_answer_too_many_ends_the_connection() {
    let script = vec![Act::Request, Act::Send(b"STORED\r\nSTORED\r\n".to_vec())];
    let fake = Fake::new(vec![script, vec![SERVE]]);
    let client: MemcachedClient = client(single(&fake));
    assert!(client.set("k", "v", NEVER).unwrap());
    let value = within(ms(0), || text(&client, "next"));
    assert_eq!(value.as_deref(), Some("next"));
    assert_eq!((fake.connections(), fake.seen()[0].requests.len()), (2, 1));
}
