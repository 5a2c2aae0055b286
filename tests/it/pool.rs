//! Lending: the limit of open connections, the queue, connections held too long, callers that panic.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use sockio::{
    ErrorKind, Expiry, FromValue, MemcachedClient, Result, SockIoPool, SockIoPoolBuilder, Value,
};

use crate::support::RealServer;
use crate::support::fake::{Act, Fake, answer};
use crate::support::wait::{eventually, in_time, ms, timed, within};

/// One connection in all.
fn single(fake: &Fake) -> SockIoPoolBuilder {
    SockIoPool::builder()
        .servers([fake.addr()])
        .max_conn(1)
        .max_open(1)
}

fn client(builder: SockIoPoolBuilder) -> MemcachedClient {
    MemcachedClient::new(builder.build().unwrap())
}

#[track_caller]
fn works(client: &MemcachedClient) {
    let value = client.get::<String>("works").unwrap();
    assert_eq!(value.as_deref(), Some("works"));
}

fn waiting(client: &MemcachedClient) -> usize {
    client.pool().stats()[0].waiting
}

#[test]
fn a_wait_that_times_out_names_its_cause_and_is_forgotten() {
    let fake = Fake::serving();
    let client = client(single(&fake).operation_timeout(ms(300)));
    let held = client.get_with("held", |_, _| {
        let (error, took) = timed(|| client.get::<String>("k").unwrap_err());
        assert_eq!(error.kind(), ErrorKind::Timeout);
        assert!(error.to_string().contains("max_open"), "{error}");
        assert_eq!(error.server(), Some(&*fake.addr()));
        assert!(took >= ms(300), "{took:?}");
        in_time(took, ms(300));
        assert_eq!(waiting(&client), 0);
        // Nothing was sent: the outcome of a write is known.
        let error = client.set("k", "v", Expiry::never()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Timeout);
    });
    held.unwrap().unwrap();
    assert_eq!(client.pool().stats()[0].timeouts, 2);
    let client = client.with_timeout(ms(5000));
    for _ in 0..3 {
        works(&client);
    }
    let stats = &client.pool().stats()[0];
    assert_eq!((stats.idle, stats.busy, stats.waiting), (1, 0, 0));
    assert!(stats.dead_until.is_none());
    assert_eq!(fake.connections(), 1);
}

#[test]
fn waiters_that_leave_and_waiters_that_stay_lose_nothing() {
    let fake = Fake::slow(ms(1));
    let client = client(single(&fake).dead_backoff(ms(20), ms(20)));
    thread::scope(|scope| {
        for thread in 0..12_u64 {
            // A third of them gives up while it waits.
            let patience = if thread % 3 == 0 { ms(2) } else { ms(5000) };
            let client = client.clone().with_timeout(patience);
            scope.spawn(move || {
                for _ in 0..15 {
                    match client.get::<String>("k") {
                        Ok(value) => assert_eq!(value.as_deref(), Some("k")),
                        // One that gave up on the answer, not on the wait, may have marked the server dead.
                        Err(error) if error.kind() == ErrorKind::NoServer => thread::sleep(ms(2)),
                        Err(error) => {
                            assert_eq!((error.kind(), thread % 3), (ErrorKind::Timeout, 0));
                        }
                    }
                }
            });
        }
    });
    eventually("all is back", || {
        let stats = &client.pool().stats()[0];
        (stats.busy, stats.waiting) == (0, 0)
    });
    eventually("it works", || client.get::<String>("k").is_ok());
    assert!(client.pool().stats()[0].idle <= 1);
}

#[test]
fn a_connect_that_fails_strands_nobody() {
    // The one connection breaks off under its holder, and no other can be opened.
    let mut fake = Fake::serving();
    let client = client(single(&fake));
    works(&client);
    thread::scope(|scope| {
        let held = client.get_with("held", |_, _| {
            for _ in 0..6 {
                scope.spawn(|| {
                    let (error, took) = timed(|| client.get::<String>("k").unwrap_err());
                    assert!(error.is_connect(), "{error}");
                    in_time(took, ms(1000));
                });
            }
            eventually("six wait", || waiting(&client) == 6);
            fake.down();
        });
        held.unwrap().unwrap();
    });
    let stats = &client.pool().stats()[0];
    assert_eq!((stats.busy, stats.waiting), (0, 0));
    assert!(stats.connect_failures >= 1);
    fake.up();
    eventually("it lives again", || client.get::<String>("k").is_ok());
}

#[test]
fn a_connection_held_too_long_is_shut_down_under_its_holder() {
    let fake = Fake::serving();
    let client = client(
        SockIoPool::builder()
            .servers([fake.addr()])
            .initial_conn(2)
            .max_busy(ms(200)),
    );
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let (_, took) = timed(|| works(&client));
                in_time(took, ms(200));
            }
        });
        // The answer was complete before the callback: it counts.
        let held = client.get_with("held", |value, _| {
            let cut = eventually("the server sees the end", || {
                fake.seen().iter().any(|seen| seen.closed)
            });
            assert!(cut >= ms(150), "{cut:?}");
            in_time(cut, ms(200));
            value.to_vec()
        });
        assert_eq!(held.unwrap().as_deref(), Some(&b"held"[..]));
        done.store(true, Ordering::Relaxed);
    });
    let stats = &client.pool().stats()[0];
    assert_eq!(stats.busy, 0);
    assert!(stats.dead_until.is_none(), "{stats:?}");
    works(&client);
    assert!(fake.seen().iter().any(|seen| !seen.closed));
}

#[test]
fn an_answer_that_takes_longer_than_max_busy_is_a_timeout() {
    let fake = Fake::new(vec![
        vec![Act::Request, Act::Stall],
        vec![Act::Serve(Duration::ZERO)],
    ]);
    let client = client(single(&fake).max_busy(ms(200)).dead_backoff(ms(50), ms(50)));
    let error = within(ms(200), || client.get::<String>("k").unwrap_err());
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert!(error.to_string().contains("shut down"), "{error}");
    eventually("it lives again", || client.get::<String>("k").is_ok());
}

struct Bomb;

impl FromValue for Bomb {
    fn from_value(_: Value<'_>) -> Result<Self> {
        panic!("the caller's own")
    }
}

#[test]
fn a_caller_that_panics_costs_no_permit_and_leaves_no_answer() {
    let fake = Fake::serving();
    let client = client(single(&fake).operation_timeout(ms(2000)));
    for _ in 0..3 {
        let panic = catch_unwind(AssertUnwindSafe(|| {
            client.get_with("loud", |_, _| panic!("the caller's own"))
        }));
        assert!(panic.is_err());
        works(&client);
        let panic = catch_unwind(AssertUnwindSafe(|| client.get::<Bomb>("loud")));
        assert!(panic.is_err());
        works(&client);
        let panic = catch_unwind(AssertUnwindSafe(|| client.gets::<Bomb>("loud")));
        assert!(panic.is_err());
        works(&client);
    }
    let stats = &client.pool().stats()[0];
    assert_eq!((stats.idle, stats.busy), (1, 0));
}

#[test]
fn a_panic_over_a_large_value_leaves_no_answer() {
    let body = "x".repeat(100_000);
    let reply = format!("VALUE large 0 {}\r\n{body}\r\nEND\r\n", body.len());
    let script = vec![
        Act::Request,
        Act::Send(reply.into_bytes()),
        Act::Serve(Duration::ZERO),
    ];
    let fake = Fake::new(vec![script, vec![Act::Serve(Duration::ZERO)]]);
    let client = client(single(&fake).operation_timeout(ms(2000)));
    let panic = catch_unwind(AssertUnwindSafe(|| {
        client.get_with("large", |value, _| {
            assert_eq!(value, body.as_bytes());
            panic!("the caller's own")
        })
    }));
    assert!(panic.is_err());
    works(&client);
}

#[test]
fn an_alive_check_replaces_a_dead_connection() {
    let script = vec![
        Act::Expect(b"version\r\n".to_vec()),
        Act::Send(answer("version")),
        Act::Expect(b"get k\r\n".to_vec()),
        Act::Send(answer("get k")),
        Act::Fin,
    ];
    let fake = Fake::new(vec![script, vec![Act::Serve(Duration::ZERO)]]);
    let client = client(single(&fake).alive_check(true));
    assert_eq!(client.get::<String>("k").unwrap().as_deref(), Some("k"));
    eventually("it is closed", || fake.open() == 0);
    // Also a command that may never be sent twice.
    assert!(client.add("k", "v", Expiry::never()).unwrap());
    works(&client);
    assert_eq!(fake.connections(), 2);
    // A connection that was just opened needs no proof.
    assert_eq!(fake.seen()[1].requests[0], "add k 0 0 1");
    assert_eq!(fake.seen()[1].requests[1], "version");
    assert_eq!(fake.count("add "), 1);
}

#[test]
fn an_alive_check_is_part_of_the_operation_s_time() {
    let script = vec![
        Act::Request,
        Act::Pause(ms(290)),
        Act::Send(answer("version")),
        Act::Stall,
    ];
    let fake = Fake::new(vec![script]);
    let client = client(single(&fake).alive_check(true).operation_timeout(ms(300)));
    let (error, took) = timed(|| client.get::<String>("k").unwrap_err());
    assert_eq!(error.kind(), ErrorKind::Timeout);
    in_time(took, ms(300));
}

#[test]
fn an_alive_check_without_an_answer_marks_the_server_dead() {
    let fake = Fake::new(vec![vec![Act::Stall]]);
    let client = client(single(&fake).alive_check(true).operation_timeout(ms(200)));
    let error = within(ms(200), || client.get::<String>("k").unwrap_err());
    assert_eq!(error.kind(), ErrorKind::Timeout);
    let error = within(ms(0), || client.get::<String>("k").unwrap_err());
    assert_eq!(error.kind(), ErrorKind::NoServer);
    assert_eq!(fake.count("get "), 0);
}

#[test]
fn an_alive_check_without_an_answer_leads_elsewhere_once_the_server_is_out() {
    for (failure_limit, moves) in [(1, true), (2, false)] {
        let fakes = [Fake::new(vec![vec![Act::Stall]]), Fake::serving()];
        let client = client(
            SockIoPool::builder()
                .servers(fakes.iter().map(Fake::addr))
                .alive_check(true)
                .failure_limit(failure_limit)
                .socket_timeout(ms(100))
                .dead_backoff(ms(5000), ms(5000)),
        );
        let keys = (0..).map(|number| format!("k{number}"));
        let at_first = |key: &String| {
            let server = client.pool().server_of(&**key).unwrap();
            server.name() == fakes[0].addr()
        };
        let key = { keys }.find(at_first).unwrap();
        match client.get::<String>(&*key) {
            Ok(value) => assert_eq!((value, moves), (Some(key), true)),
            Err(error) => assert_eq!((error.kind(), moves), (ErrorKind::Timeout, false)),
        }
    }
}

#[test]
fn a_call_without_time_says_nothing_about_the_server() {
    let fake = Fake::serving();
    let client = client(single(&fake).initial_conn(0));
    let hasty = client.clone().with_timeout(Duration::ZERO);
    for _ in 0..2 {
        // Without a connection, and with one that rests.
        let error = hasty.get::<String>("k").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
        assert!(client.pool().stats()[0].dead_until.is_none());
        works(&client);
    }
    // Nothing was sent: the connection that rested is as good as before.
    assert_eq!(fake.connections(), 1);
}

#[test]
fn a_name_with_several_addresses_is_reached_at_the_one_that_answers() {
    // Where `localhost` has an IPv6 address, nothing listens there.
    let fake = Fake::serving_at_localhost();
    let name = fake.addr().replace("127.0.0.1", "localhost");
    for initial_conn in [0, 1] {
        let pool = SockIoPool::builder()
            .servers([&name])
            .initial_conn(initial_conn);
        let client = client(pool);
        works(&client);
        assert_eq!(client.pool().stats()[0].connect_failures, 0);
    }
}

#[cfg(unix)]
#[test]
fn a_unix_socket_is_a_server_like_any_other() {
    let mut server = RealServer::start_unix(&[]);
    let pool = SockIoPool::builder().servers([server.addr()]).max_conn(1);
    let client = client(pool);
    assert!(client.set("works", "works", Expiry::never()).unwrap());
    works(&client);
    server.kill();
    let error = client.get::<String>("works").unwrap_err();
    assert!(error.is_connect(), "{error}");
    server.restart();
    eventually("it lives again", || client.get::<String>("works").is_ok());
}

#[test]
fn clones_share_the_connections() {
    let fake = Fake::serving();
    let client = Arc::new(client(single(&fake)));
    for _ in 0..3 {
        let clone = MemcachedClient::clone(&client);
        thread::spawn(move || works(&clone)).join().unwrap();
    }
    assert_eq!((fake.connections(), fake.count("get ")), (1, 3));
}
