//! Connections that broke while they rested in the pool.

use std::thread;
use std::time::Duration;

use sockio::{Error, ErrorKind, Expiry, MemcachedClient, SockIoPool, SockIoPoolBuilder};

use crate::support::fake::{Act, Fake, answer};
use crate::support::wait::{eventually, ms, within};

const SERVE: Act = Act::Serve(Duration::ZERO);

type Command = fn(&MemcachedClient) -> Result<bool, Error>;

/// A connection that has rested for longer than this is looked at before it is used.
const RESTED: Duration = ms(1050);

/// One connection at a time.
fn builder(fake: &Fake) -> SockIoPoolBuilder {
    SockIoPool::builder().servers([fake.addr()]).max_conn(1)
}

/// A client whose only connection answered one `get`, and was then ended by this.
fn ended_by(
    end: Act,
    set: impl FnOnce(SockIoPoolBuilder) -> SockIoPoolBuilder,
) -> (Fake, MemcachedClient) {
    let script = vec![
        Act::Expect(b"get k\r\n".to_vec()),
        Act::Send(answer("get k")),
        end,
    ];
    let fake = Fake::new(vec![script, vec![SERVE]]);
    let client = MemcachedClient::new(set(builder(&fake)).build().unwrap());
    assert_eq!(client.get::<String>("k").unwrap().as_deref(), Some("k"));
    eventually("it has ended", || fake.open() == 0);
    (fake, client)
}

#[test]
fn a_get_does_not_notice() {
    for end in [Act::Fin, Act::Rst] {
        let (fake, client) = ended_by(end.clone(), |pool| pool);
        let value = within(ms(0), || client.get::<String>("other")).unwrap();
        assert_eq!(value.as_deref(), Some("other"));
        assert_eq!(
            (fake.connections(), fake.count("get other")),
            (2, 1),
            "{end:?}"
        );
        // Neither the end nor the second try is a fault of the server.
        assert!(client.pool().stats()[0].dead_until.is_none());
    }
}

#[test]
fn a_write_right_after_the_end_is_ambiguous_and_sent_once() {
    let writes: [Command; 5] = [
        |client| client.set("w", "v", Expiry::never()),
        |client| client.delete("w"),
        |client| client.add("w", "v", Expiry::never()),
        |client| client.append("w", "v"),
        |client| Ok(client.incr("w", 1)?.is_some()),
    ];
    for write in writes {
        let (fake, client) = ended_by(Act::Fin, |pool| pool);
        let error = write(&client).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Ambiguous);
        assert!(!error.is_timeout() && !error.is_connect(), "{error}");
        assert_eq!((fake.connections(), fake.open()), (1, 0));
        // The next one is not concerned.
        assert!(write(&client).unwrap());
        assert_eq!(fake.seen()[1].requests.len(), 1);
    }
}

#[test]
fn a_write_of_which_no_byte_was_sent_is_sent_on_a_new_connection() {
    // After a reset the first write fails: also what must not be done twice is not lost.
    let (fake, client) = ended_by(Act::Rst, |pool| pool);
    assert!(client.append("w", "v").unwrap());
    assert_eq!((fake.connections(), fake.count("append w")), (2, 1));
}

#[test]
fn with_retry_writes_a_set_does_not_notice() {
    let (fake, client) = ended_by(Act::Fin, |pool| pool.retry_writes(true));
    assert!(client.set("w", "v", Expiry::never()).unwrap());
    assert_eq!((fake.connections(), fake.count("set w")), (2, 1));

    // What must not be done twice is not done twice.
    let (fake, client) = ended_by(Act::Fin, |pool| pool.retry_writes(true));
    let error = client.incr("w", 1).unwrap_err();
    assert_eq!(
        (error.kind(), fake.connections()),
        (ErrorKind::Ambiguous, 1)
    );
}

#[test]
fn after_a_rest_a_write_does_not_notice() {
    thread::scope(|scope| {
        for end in [Act::Fin, Act::Rst] {
            scope.spawn(move || {
                let (fake, client) = ended_by(end, |pool| pool);
                thread::sleep(RESTED);
                assert!(client.append("w", "v").unwrap());
                assert_eq!((fake.connections(), fake.count("append w")), (2, 1));
                assert_eq!(client.pool().stats()[0].evicted, 1);
            });
        }
    });
}

#[test]
fn after_a_rest_bytes_that_nobody_asked_for_are_found() {
    let script = vec![
        Act::Request,
        Act::Send(answer("get k")),
        Act::Pause(ms(100)),
        Act::Send(b"VALUE k 0 5\r\nwrong\r\nEND\r\n".to_vec()),
    ];
    let fake = Fake::new(vec![script, vec![SERVE]]);
    let client = MemcachedClient::new(builder(&fake).build().unwrap());
    assert_eq!(client.get::<String>("k").unwrap().as_deref(), Some("k"));
    thread::sleep(RESTED);
    assert_eq!(client.get::<String>("k").unwrap().as_deref(), Some("k"));
    assert_eq!((fake.connections(), fake.seen()[0].requests.len()), (2, 1));
}

#[test]
fn bytes_behind_a_reply_end_the_connection() {
    let both = [answer("get k"), b"VALUE k 0 5\r\nwrong\r\nEND\r\n".to_vec()].concat();
    let fake = Fake::new(vec![vec![Act::Request, Act::Send(both)], vec![SERVE]]);
    let client = MemcachedClient::new(builder(&fake).build().unwrap());
    assert_eq!(client.get::<String>("k").unwrap().as_deref(), Some("k"));
    assert_eq!(client.get::<String>("k").unwrap().as_deref(), Some("k"));
    assert_eq!((fake.connections(), fake.seen()[0].requests.len()), (2, 1));
}

#[test]
fn one_failure_makes_the_other_connections_suspect() {
    let mut fake = Fake::serving();
    let pool = builder(&fake).initial_conn(5).max_conn(5);
    let client = MemcachedClient::new(pool.build().unwrap());
    for number in 0..5 {
        assert!(
            client
                .set(format!("k{number}"), "v", Expiry::never())
                .unwrap()
        );
    }
    // A restart: all five are gone, none has rested.
    fake.down();
    fake.up();
    let failed: Vec<_> = (0..10)
        .filter_map(|_| client.set("w", "v", Expiry::never()).err())
        .collect();
    assert!(failed.len() <= 1, "{failed:?}");
    assert_eq!(fake.count("set w"), 10 - failed.len());
    assert_eq!(client.pool().stats()[0].evicted, 4);
}

#[test]
fn a_shared_write_of_which_no_byte_was_sent_is_sent_on_a_new_connection() {
    let script = vec![Act::Request, Act::Send(answer("get held")), Act::Rst];
    let fake = Fake::new(vec![script, vec![SERVE]]);
    let client = MemcachedClient::new(builder(&fake).combine(true).build().unwrap());
    let calls: [Command; 3] = [
        |client| client.set("s", "v", Expiry::never()),
        |client| client.add("a", "v", Expiry::never()),
        |client| Ok(client.get::<String>("g")?.is_some()),
    ];
    thread::scope(|scope| {
        let client = &client;
        let mut waiting = Vec::new();
        let held = client.get_with("held", |_, _| {
            for call in calls {
                waiting.push(scope.spawn(move || call(client)));
            }
            eventually("all wait", || client.pool().stats()[0].waiting == 3);
            eventually("it has ended", || fake.open() == 0);
        });
        assert!(held.unwrap().is_some());
        for call in waiting {
            assert!(call.join().unwrap().unwrap());
        }
    });
    assert_eq!(fake.connections(), 2);
    let counts = ["set s", "add a", "get g"].map(|command| fake.count(command));
    assert_eq!(counts, [1, 1, 1]);
}
