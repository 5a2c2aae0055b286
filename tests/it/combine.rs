//! Shared requests: who asks for whom, what each caller is told, and that nobody waits for another's deadline.

use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::Duration;

use sockio::{Error, ErrorKind, Expiry, FromValue, MemcachedClient, SockIoPool, Value};

use crate::support::child;
use crate::support::fake::{Act, Fake, Flag, answer};
use crate::support::wait::{eventually, in_time, ms, timed};

const SERVE: Act = Act::Serve(Duration::ZERO);

/// A client with one connection.
fn client<A: ToString>(servers: impl IntoIterator<Item = A>) -> MemcachedClient {
    let pool = SockIoPool::builder()
        .servers(servers.into_iter().map(|server| server.to_string()))
        .max_conn(1)
        .max_open(1)
        .combine(true)
        .build();
    MemcachedClient::new(pool.unwrap())
}

type Answer = Result<String, Error>;

/// A server that keeps the first caller waiting until `flag` is raised, and those who came after it.
struct Held {
    fake: Fake,
    client: MemcachedClient,
    flag: Flag,
}

/// After its first answer the first connection goes on with `then`, all others serve.
fn held(then: Vec<Act>) -> Held {
    let flag = Flag::default();
    let first = [
        Act::Request,
        Act::Await(flag.clone()),
        Act::Send(answer("get held")),
    ];
    let first = first.into_iter().chain(then).collect();
    let fake = Fake::new(vec![first, vec![SERVE]]);
    let client = client([fake.addr()]);
    Held { fake, client, flag }
}

impl Held {
    /// Starts the first caller, and the others one behind the other, so that they wait in this order.
    fn start<'s, const N: usize>(
        &'s self,
        scope: &'s Scope<'s, '_>,
        calls: [fn(&MemcachedClient) -> Answer; N],
    ) -> [ScopedJoinHandle<'s, Answer>; N] {
        let client = &self.client;
        scope.spawn(move || assert_eq!(get(client, "held").unwrap(), "held"));
        eventually("it asks", || self.fake.count("get held") == 1);
        let mut before = 0;
        calls.map(|call| {
            let handle = scope.spawn(move || call(client));
            before += 1;
            eventually("it waits", || client.pool().stats()[0].waiting == before);
            handle
        })
    }

    /// The requests of all connections, in order, without the first.
    fn requests(&self) -> Vec<String> {
        let seen = self.fake.seen().into_iter();
        seen.flat_map(|seen| seen.requests).skip(1).collect()
    }
}

fn get(client: &MemcachedClient, key: &str) -> Answer {
    Ok(client.get::<String>(key)?.unwrap_or_else(|| "-".to_owned()))
}

fn set(client: &MemcachedClient, key: &str) -> Answer {
    Ok(client.set(key, "v", Expiry::never())?.to_string())
}

fn all<const N: usize>(calls: [ScopedJoinHandle<'_, Answer>; N]) -> [Answer; N] {
    calls.map(|call| call.join().unwrap())
}

fn texts<const N: usize>(answers: [Answer; N]) -> [String; N] {
    answers.map(Result::unwrap)
}

#[test]
fn those_who_come_meanwhile_share_one_request() {
    let held = held(vec![SERVE]);
    thread::scope(|scope| {
        let calls = held.start(
            scope,
            [
                |client| get(client, "a"),
                |client| set(client, "s"),
                |client| get(client, "missing"),
                |client| get(client, "a"),
                |client| Ok(client.add("t", "v", Expiry::never())?.to_string()),
                |client| {
                    Ok(format!(
                        "{:?}",
                        client.gets::<String>("b")?.map(|item| item.cas)
                    ))
                },
                |client| {
                    let mut value = Vec::new();
                    let flags = client.get_into("c", &mut value)?;
                    assert_eq!(flags, Some(0));
                    Ok(String::from_utf8(value).unwrap())
                },
            ],
        );
        held.flag.raise();
        assert_eq!(
            texts(all(calls)),
            ["a", "true", "-", "a", "true", "Some(1)", "c"]
        );
    });
    assert_eq!(
        held.requests(),
        ["set s 0 0 1", "add t 0 0 1", "gets a missing a b c"]
    );
    assert_eq!(held.fake.connections(), 1);
    assert_eq!(held.client.pool().stats()[0].waiting, 0);
}

#[test]
fn what_does_not_combine_waits_for_the_connection_and_has_its_turn() {
    let held = held(vec![SERVE]);
    thread::scope(|scope| {
        let calls = held.start(
            scope,
            [
                |client| get(client, "a"),
                |client| Ok(client.incr("n", 5)?.unwrap_or(0).to_string()),
                |client| Ok(client.append("p", "v")?.to_string()),
                |client| {
                    Ok(client
                        .get_multi::<String, _>(["m", "n"])?
                        .hits()
                        .count()
                        .to_string())
                },
                |client| {
                    let large = vec![b'x'; 20_000];
                    Ok(client.set("l", large, Expiry::never())?.to_string())
                },
            ],
        );
        held.flag.raise();
        assert_eq!(texts(all(calls)), ["a", "5", "true", "2", "true"]);
    });
    assert_eq!(held.requests().len(), 5);
    assert_eq!(held.fake.connections(), 1);
}

#[test]
fn nothing_is_sent_for_a_member_whose_time_was_over() {
    let held = held(vec![SERVE]);
    thread::scope(|scope| {
        let [hasty, patient] = held.start(
            scope,
            [
                |client| set(&client.clone().with_timeout(ms(100)), "never"),
                |client| get(client, "a"),
            ],
        );
        let (answer, took) = timed(|| hasty.join().unwrap());
        in_time(took, ms(100));
        // Nothing was sent: the outcome is known.
        assert_eq!(answer.unwrap_err().kind(), ErrorKind::Timeout);
        held.flag.raise();
        assert_eq!(patient.join().unwrap().unwrap(), "a");
    });
    assert_eq!(held.requests(), ["get a"]);
    assert_eq!(held.client.pool().stats()[0].timeouts, 1);
}

#[test]
fn an_expired_leader_hands_over_half_an_answer() {
    let large = "x".repeat(100_000);
    for cut in [0, 10, 25, 30, 50_000, 100_030] {
        let reply = format!(
            "STORED\r\nVALUE a 0 1\r\nA\r\nVALUE large 0 {}\r\n{large}\r\nEND\r\n",
            large.len()
        );
        let (first, rest) = reply.as_bytes().split_at(cut);
        let go_on = Flag::default();
        let held = held(vec![
            Act::Request,
            Act::Request,
            Act::Send(first.to_vec()),
            Act::Await(go_on.clone()),
            Act::Send(rest.to_vec()),
            SERVE,
        ]);
        thread::scope(|scope| {
            // The first to wait is the first to be woken, and leads.
            let [hasty, setter, missing, reader] = held.start(
                scope,
                [
                    |client| get(&client.clone().with_timeout(ms(300)), "a"),
                    |client| set(client, "s"),
                    |client| get(client, "missing"),
                    |client| get(client, "large"),
                ],
            );
            held.flag.raise();
            let (answer, took) = timed(|| hasty.join().unwrap());
            in_time(took, ms(300));
            match answer {
                Ok(value) => assert!(value == "A" && cut >= 24, "{cut}"),
                Err(error) => assert_eq!(error.kind(), ErrorKind::Timeout),
            }
            go_on.raise();
            assert_eq!(setter.join().unwrap().unwrap(), "true");
            assert_eq!(missing.join().unwrap().unwrap(), "-");
            assert_eq!(reader.join().unwrap().unwrap(), large);
        });
        // The connection is as good as before.
        assert_eq!(get(&held.client, "next").unwrap(), "next");
        assert_eq!(held.fake.connections(), 1, "{cut}");
    }
}

#[test]
fn a_connection_that_went_stale_is_replaced_once_and_for_reads_only() {
    let held = held(vec![Act::Request, Act::Request, Act::Fin]);
    thread::scope(|scope| {
        let calls = held.start(
            scope,
            [
                |client| get(client, "a"),
                |client| set(client, "s"),
                |client| get(client, "b"),
            ],
        );
        held.flag.raise();
        let [a, s, b] = all(calls);
        assert_eq!((a.unwrap(), b.unwrap()), ("a".into(), "b".into()));
        let error = s.unwrap_err();
        assert!(error.is_ambiguous(), "{error}");
        assert_eq!(error.server(), Some(&*held.fake.addr()));
    });
    assert_eq!(held.requests(), ["set s 0 0 1", "get a b", "get a b"]);
    assert_eq!(held.fake.connections(), 2);
}

#[test]
fn a_batch_that_breaks_after_an_answer_fails_for_those_without_one() {
    let partial = b"STORED\r\nVALUE a 0 1\r\na\r\nVALUE b 0 1\r\n".to_vec();
    let held = held(vec![
        Act::Request,
        Act::Request,
        Act::Send(partial),
        Act::Rst,
    ]);
    thread::scope(|scope| {
        let calls = held.start(
            scope,
            [
                |client| get(client, "a"),
                |client| get(client, "b"),
                |client| set(client, "s"),
                |client| get(client, "c"),
            ],
        );
        held.flag.raise();
        let [a, b, s, c] = all(calls);
        assert_eq!(s.unwrap(), "true");
        // The reset may overtake what came before it.
        assert!(a.is_ok_and(|a| a == "a"));
        for error in [b.unwrap_err(), c.unwrap_err()] {
            assert_eq!(error.kind(), ErrorKind::Connection, "{error}");
        }
    });
    assert_eq!(get(&held.client, "next").unwrap(), "next");
}

#[test]
fn a_foreign_key_and_a_refused_store_close_the_connection() {
    for (reply, kinds) in [
        // Nobody asked for it.
        (
            "STORED\r\nVALUE z 0 1\r\nz\r\nEND\r\n",
            [None, Some(ErrorKind::Protocol)],
        ),
        // Nobody knows what the server takes the body for.
        (
            "CLIENT_ERROR bad data chunk\r\n",
            [Some(ErrorKind::Client), Some(ErrorKind::Connection)],
        ),
        (
            "STORED\r\nSERVER_ERROR out of memory\r\n",
            [None, Some(ErrorKind::Server)],
        ),
    ] {
        let reply = Act::Send(reply.as_bytes().to_vec());
        let held = held(vec![Act::Request, Act::Request, reply]);
        thread::scope(|scope| {
            let calls = held.start(
                scope,
                [|client| set(client, "s"), |client| get(client, "a")],
            );
            held.flag.raise();
            let found = all(calls).map(|answer| answer.err().map(|error| error.kind()));
            assert_eq!(found, kinds);
        });
        eventually("it is closed", || held.fake.seen()[0].closed);
        assert_eq!(get(&held.client, "next").unwrap(), "next");
    }
}

#[test]
fn the_members_of_a_dead_server_s_batch_go_where_failover_leads() {
    let flag = Flag::default();
    let script = vec![Act::Request, Act::Await(flag.clone()), Act::Fin];
    let (mut first, second) = (Fake::new(vec![script]), Fake::serving());
    let client = client([first.addr(), second.addr()]);
    // Keys of the first server.
    let of_first = |key: &String| client.pool().server_of(&**key).unwrap().name() == first.addr();
    let keys: Vec<String> = (0..)
        .map(|n| format!("k{n}"))
        .filter(of_first)
        .take(9)
        .collect();
    thread::scope(|scope| {
        let (lone, others) = keys.split_first().unwrap();
        let client = &client;
        scope.spawn(move || get(client, lone));
        eventually("it asks", || first.count("get") == 1);
        let calls: Vec<_> = others
            .iter()
            .map(|key| scope.spawn(move || (key, get(client, key))))
            .collect();
        eventually("all wait", || {
            client.pool().stats()[0].waiting == others.len()
        });
        first.down();
        flag.raise();
        for call in calls {
            let (key, value) = call.join().unwrap();
            assert_eq!(&value.unwrap(), key);
        }
    });
    assert!(client.pool().stats()[0].dead_until.is_some());
    assert!(second.count("get") >= 1);
}

/// Text whose decoding panics for one value.
struct Careful;

impl FromValue for Careful {
    fn from_value(value: Value<'_>) -> sockio::Result<Self> {
        let text = String::from_value(value)?;
        assert_ne!(text, "bomb", "as it was meant to be");
        Ok(Self)
    }
}

#[test]
fn a_decoder_that_panics_hurts_its_caller_only() {
    let held = held(vec![SERVE]);
    thread::scope(|scope| {
        let [a, bomb, b] = held.start(
            scope,
            [
                |client| get(client, "a"),
                |client| Ok(client.get::<Careful>("bomb")?.is_some().to_string()),
                |client| get(client, "b"),
            ],
        );
        held.flag.raise();
        assert!(bomb.join().is_err());
        assert_eq!(texts(all([a, b])), ["a", "b"]);
    });
    // Also alone.
    let client = &held.client;
    let alone = thread::scope(|scope| {
        let call = scope.spawn(|| client.get::<Careful>("bomb"));
        call.join().is_err()
    });
    assert!(alone);
    assert_eq!(get(client, "next").unwrap(), "next");
    assert_eq!(held.fake.connections(), 1);
    assert_eq!(client.pool().stats()[0].busy, 0);
}

#[test]
fn shutdown_wakes_those_who_wait() {
    let held = held(vec![SERVE]);
    thread::scope(|scope| {
        let calls = held.start(
            scope,
            [|client| get(client, "a"), |client| set(client, "s")],
        );
        held.client.pool().shutdown();
        let (answers, took) = timed(|| all(calls));
        in_time(took, ms(100));
        for answer in answers {
            assert_eq!(answer.unwrap_err().kind(), ErrorKind::Shutdown);
        }
        let late = get(&held.client, "late").unwrap_err();
        assert_eq!(late.kind(), ErrorKind::Shutdown);
        held.flag.raise();
    });
    assert_eq!(held.requests(), [""; 0]);
}

#[test]
fn where_answers_take_long_the_other_connections_are_used() {
    let fake = Fake::slow(ms(100));
    let pool = SockIoPool::builder()
        .servers([fake.addr()])
        .max_conn(3)
        .combine(true);
    let client = MemcachedClient::new(pool.build().unwrap());
    get(&client, "warm").unwrap();
    let (_, took) = timed(|| {
        thread::scope(|scope| {
            for number in 0..12 {
                let client = &client;
                scope.spawn(move || {
                    let key = format!("k{number}");
                    for _ in 0..3 {
                        assert_eq!(get(client, &key).unwrap(), key);
                    }
                });
            }
        });
    });
    // One caller after the other: 3.6 s on one connection, 1.2 s on three.
    in_time(took, ms(900));
    assert!(fake.connections() >= 2);
}

/// A logger that panics when a server is marked dead.
struct Bomb;

impl log::Log for Bomb {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        assert_ne!(record.level(), log::Level::Warn, "as it was meant to be");
    }

    fn flush(&self) {}
}

#[test]
fn a_leader_that_panics_takes_nobody_along() {
    if !child::runs_alone("combine::a_leader_that_panics_takes_nobody_along") {
        return;
    }
    log::set_logger(&Bomb).unwrap();
    log::set_max_level(log::LevelFilter::Info);
    let flag = Flag::default();
    let script = vec![
        Act::Request,
        Act::Await(flag.clone()),
        Act::Send(answer("get held")),
    ];
    let mut fake = Fake::new(vec![script, vec![SERVE]]);
    let client = client([fake.addr()]);
    thread::scope(|scope| {
        let client = &client;
        scope.spawn(move || get(client, "held"));
        eventually("it asks", || fake.count("get held") == 1);
        let calls = ["a", "b", "c"].map(|key| scope.spawn(move || get(client, key)));
        eventually("all wait", || client.pool().stats()[0].waiting == 3);
        flag.raise();
        eventually("one asks for all", || fake.seen()[0].requests.len() == 2);
        // The leader tries once more, in vain, and marks the server dead.
        fake.down();
        let ends = calls.map(|call| call.join());
        assert_eq!(ends.iter().filter(|end| end.is_err()).count(), 1);
        for answer in ends.into_iter().flatten() {
            assert_eq!(answer.unwrap_err().kind(), ErrorKind::Connection);
        }
    });
    fake.up();
    eventually("it lives again", || get(&client, "next").is_ok());
    assert_eq!(client.pool().stats()[0].busy, 0);
    let together = thread::scope(|scope| {
        let calls = ["d", "e", "f"].map(|key| scope.spawn(|| get(&client, key)));
        calls.map(|call| call.join().unwrap().unwrap())
    });
    assert_eq!(together, ["d", "e", "f"]);
}
