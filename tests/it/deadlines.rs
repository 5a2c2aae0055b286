//! Servers that hang, drip or do not read: each call ends in time, with the right kind of error, and its connection with it.

use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use sockio::{Error, ErrorKind, Expiry, MemcachedClient, SockIoPool, SockIoPoolBuilder};

use crate::support::RealServer;
use crate::support::fake::{Act, Fake, Flag, answer};
use crate::support::wait::{eventually, in_time, lost, ms, stays, timed};

const LIMIT: Duration = ms(300);
const SERVE: Act = Act::Serve(Duration::ZERO);

type Command = fn(&MemcachedClient) -> Result<bool, Error>;

fn client(fake: &Fake) -> MemcachedClient {
    build(SockIoPool::builder().servers([fake.addr()]))
}

fn build(builder: SockIoPoolBuilder) -> MemcachedClient {
    MemcachedClient::new(builder.operation_timeout(LIMIT).build().unwrap())
}

/// For servers that answer, and a busy machine.
fn patient(client: &MemcachedClient) -> MemcachedClient {
    client.clone().with_timeout(ms(5000))
}

/// Fails when the limit is over, not before and not later.
#[track_caller]
fn times_out<R: std::fmt::Debug>(call: impl FnOnce() -> Result<R, Error>) -> Error {
    let (answer, took) = timed(call);
    let error = answer.unwrap_err();
    assert!(error.is_timeout(), "{error}");
    assert!(took + ms(25) >= LIMIT, "{took:?}");
    in_time(took, LIMIT);
    error
}

/// The next call has a new connection and the right answer.
#[track_caller]
fn recovers(client: &MemcachedClient, fake: &Fake) {
    let client = patient(client);
    eventually("it lives again", || match client.get::<String>("next") {
        Ok(value) => {
            assert_eq!(value.as_deref(), Some("next"));
            true
        }
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::NoServer, "{error}");
            false
        }
    });
    let seen = fake.seen();
    assert!(seen.len() >= 2);
    assert!(!seen[0].requests.contains(&"get next".to_owned()));
    eventually("the old one is closed", || fake.seen()[0].closed);
}

/// A reply to `get` with a body of this many bytes.
fn reply(len: usize) -> Vec<u8> {
    format!("VALUE k 0 {len}\r\n{}\r\nEND\r\n", "x".repeat(len)).into_bytes()
}

#[test]
fn a_get_ends_in_time_wherever_the_reply_stops_or_drips() {
    const GAP: Duration = ms(50);
    let (small, large) = (reply(10), reply(100 * 1024));
    let after = |bytes: &[u8], count: usize, act: Act| {
        vec![Act::Request, Act::Send(bytes[..count].to_vec()), act]
    };
    let drip = |bytes: &[u8], from: usize| Act::SendEach(bytes[from..].to_vec(), GAP);
    let cases = [
        ("nothing comes", vec![Act::Request, Act::Stall]),
        ("a stall in the first line", after(&small, 7, Act::Stall)),
        ("a stall in a small body", after(&small, 20, Act::Stall)),
        ("a stall before END", after(&small, 30, Act::Stall)),
        ("a stall in a large body", after(&large, 50_000, Act::Stall)),
        (
            "a stall at the end of a large body",
            after(&large, large.len() - 3, Act::Stall),
        ),
        ("a drip from the start", after(&small, 0, drip(&small, 0))),
        (
            "a drip in a small body",
            after(&small, 18, drip(&small, 18)),
        ),
        (
            "a drip in a large body",
            after(&large, 50_000, drip(&large, 50_000)),
        ),
        (
            "a drip of a whole large value",
            after(&large, 20, drip(&large, 20)),
        ),
    ];
    thread::scope(|scope| {
        for (case, script) in cases {
            scope.spawn(move || {
                println!("{case}");
                let fake = Fake::new(vec![script, vec![SERVE]]);
                let client = client(&fake);
                let error = times_out(|| client.get::<String>("k"));
                assert_eq!(error.kind(), ErrorKind::Timeout, "{case}: {error}");
                let text = format!("{}: reading the reply: timed out", fake.addr());
                assert_eq!(error.to_string(), text, "{case}");
                assert_eq!(error.server(), Some(&*fake.addr()));
                assert_eq!(client.pool().stats()[0].timeouts, 1);
                recovers(&client, &fake);
                assert_eq!(fake.count("get k"), 1, "{case}");
            });
        }
    });
}

#[test]
fn every_way_to_read_a_value_ends_in_time() {
    let large = reply(100 * 1024);
    let script = vec![
        Act::Request,
        Act::Send(large[..50_000].to_vec()),
        Act::SendEach(large[50_000..].to_vec(), ms(50)),
    ];
    let ways: [Command; 4] = [
        |client| client.get_with("k", |_, _| ()).map(|value| value.is_some()),
        |client| client.get_raw("k").map(|value| value.is_some()),
        |client| {
            client
                .get_into("k", &mut Vec::new())
                .map(|value| value.is_some())
        },
        |client| {
            let found = client.get_and_touch::<String>("k", Expiry::never())?;
            Ok(found.is_some())
        },
    ];
    thread::scope(|scope| {
        for way in ways {
            let fake = Fake::new(vec![script.clone(), vec![SERVE]]);
            scope.spawn(move || {
                let client = client(&fake);
                // `get_raw` asks for a token, so its reply is foreign at once: all others time out.
                let (answer, took) = timed(|| way(&client));
                let error = answer.unwrap_err();
                assert!(error.is_timeout() || error.kind() == ErrorKind::Protocol);
                in_time(took, LIMIT);
                eventually("it is closed", || fake.seen()[0].closed);
            });
        }
    });
}

/// Commands that change something, each without an answer.
fn writes() -> Vec<(&'static str, Command)> {
    vec![
        ("set k", |client| client.set("k", "v", Expiry::never())),
        ("add k", |client| client.add("k", "v", Expiry::never())),
        ("replace k", |client| {
            client.replace("k", "v", Expiry::never())
        }),
        ("append k", |client| client.append("k", "v")),
        ("prepend k", |client| client.prepend("k", "v")),
        ("cas k", |client| {
            let answer = client.cas("k", "v", Expiry::never(), 1)?;
            Ok(answer == sockio::Cas::Stored)
        }),
        ("incr k", |client| Ok(client.incr("k", 1)?.is_some())),
        ("decr k", |client| Ok(client.decr("k", 1)?.is_some())),
        ("delete k", |client| client.delete("k")),
        ("touch k", |client| client.touch("k", Expiry::never())),
    ]
}

#[test]
fn a_write_without_an_answer_is_ambiguous() {
    thread::scope(|scope| {
        for (request, write) in writes() {
            scope.spawn(move || {
                let fake = Fake::new(vec![vec![Act::Request, Act::Stall], vec![SERVE]]);
                let client = client(&fake);
                let error = times_out(|| write(&client));
                assert_eq!(error.kind(), ErrorKind::Ambiguous, "{request}: {error}");
                assert!(error.is_ambiguous() && !error.is_connect());
                recovers(&client, &fake);
                assert_eq!(fake.count(request), 1);
            });
        }
    });
}

#[test]
fn a_set_that_nobody_reads_ends_in_time() {
    let fake = Fake::never_reading();
    let client = client(&fake);
    let value = vec![b'x'; 5 << 20];
    let error = times_out(|| client.set("k", &value[..], Expiry::never()));
    assert_eq!(error.kind(), ErrorKind::Ambiguous, "{error}");
    assert_eq!(client.pool().stats()[0].idle, 0);
}

#[test]
fn a_set_that_is_read_late_has_no_more_time_for_its_answer() {
    // What the kernel does not take waits in the write until shortly before the deadline.
    let script = vec![Act::Pause(ms(280)), Act::Stall];
    let fake = Fake::new(vec![script, vec![SERVE]]);
    let client = client(&fake);
    let value = vec![b'x'; 24 << 20];
    let error = times_out(|| client.set("k", &value[..], Expiry::never()));
    assert_eq!(error.kind(), ErrorKind::Ambiguous, "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_connect_that_hangs_ends_in_time_and_sends_nothing() {
    let hole = Fake::never_accepting();
    for connect_timeout in [ms(1000), LIMIT] {
        let client = build(
            SockIoPool::builder()
                .servers([hole.addr()])
                .initial_conn(0)
                .connect_timeout(connect_timeout),
        );
        // Nothing was sent: even for a write nothing is open.
        let error = times_out(|| client.set("k", "v", Expiry::never()));
        assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
        let (error, took) = timed(|| client.get::<String>("k").unwrap_err());
        assert_eq!(error.kind(), ErrorKind::NoServer, "{error}");
        in_time(took, ms(0));
    }
}

#[test]
fn a_read_has_a_limit_of_its_own() {
    let fake = Fake::new(vec![vec![Act::Request, Act::Stall], vec![SERVE]]);
    let pool = SockIoPool::builder()
        .servers([fake.addr()])
        .socket_timeout(LIMIT)
        .build();
    let client = MemcachedClient::new(pool.unwrap());
    assert_eq!(
        times_out(|| client.get::<String>("k")).kind(),
        ErrorKind::Timeout
    );
}

#[test]
fn a_client_has_its_own_deadline() {
    let fake = Fake::slow(ms(150));
    let patient = MemcachedClient::new(
        SockIoPool::builder()
            .servers([fake.addr()])
            .build()
            .unwrap(),
    );
    assert_eq!(patient.get::<String>("k").unwrap().as_deref(), Some("k"));
    let hasty = patient.clone().with_timeout(ms(60));
    let (error, took) = timed(|| hasty.get::<String>("k").unwrap_err());
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert!(took >= ms(55), "{took:?}");
    in_time(took, ms(60));
}

#[test]
fn a_late_answer_reaches_nobody() {
    let late = Flag::default();
    let script = vec![
        Act::Request,
        Act::Await(late.clone()),
        Act::Send(answer("get first")),
        SERVE,
    ];
    let fake = Fake::new(vec![script, vec![SERVE]]);
    let client = client(&fake);
    times_out(|| client.get::<String>("first"));
    late.raise();
    recovers(&client, &fake);
    for number in 0..50 {
        let key = format!("k{number}");
        assert_eq!(patient(&client).get::<String>(&*key).unwrap(), Some(key));
    }
}

#[cfg(unix)]
#[test]
fn a_late_answer_of_a_real_server_reaches_nobody() {
    let server = RealServer::start(&[]);
    let client = build(SockIoPool::builder().servers([server.addr()]));
    let keys: Vec<_> = (0..20).map(|number| format!("k{number}")).collect();
    for key in &keys {
        patient(&client)
            .set(&**key, &**key, Expiry::never())
            .unwrap();
    }
    server.stop_signal();
    // It stops a little later.
    thread::sleep(ms(50));
    times_out(|| client.get::<String>("k0"));
    server.cont_signal();
    let client = patient(&client);
    eventually("it lives again", || client.get::<String>("k1").is_ok());
    for key in keys.iter().chain(&keys) {
        assert_eq!(client.get::<String>(&**key).unwrap().as_ref(), Some(key));
    }
}

/// Keys, at least five on each server.
fn keys() -> Vec<String> {
    (0..60).map(|number| format!("key_{number}")).collect()
}

#[test]
fn many_keys_are_asked_of_all_servers_before_any_answer_is_read() {
    // None answers before all of them were asked.
    let asked = Flag::default();
    let fakes = [0; 4].map(|_| Fake::new(vec![vec![Act::ServeAfter(asked.clone())]]));
    let client = build(SockIoPool::builder().servers(fakes.iter().map(Fake::addr)));
    let keys = keys();
    let many = thread::scope(|scope| {
        let call = scope.spawn(|| patient(&client).get_multi::<String, _>(&keys).unwrap());
        eventually("all are asked", || {
            fakes.iter().all(|fake| fake.count("get ") == 1)
        });
        asked.raise();
        call.join().unwrap()
    });
    assert_eq!((many.hits().count(), many.failures().len()), (60, 0));
}

#[test]
fn slow_servers_are_slow_at_the_same_time() {
    let fakes = [0; 4].map(|_| Fake::slow(ms(100)));
    let client = build(SockIoPool::builder().servers(fakes.iter().map(Fake::addr)));
    let keys = keys();
    let (many, took) = timed(|| patient(&client).get_multi::<String, _>(&keys).unwrap());
    assert_eq!(many.hits().count(), 60);
    println!("four servers, each 100 ms late: {took:?}");
    // One after the other they would take 400 ms.
    assert!(took < ms(300) + lost(took), "{took:?}");
}

#[test]
fn several_hung_servers_cost_one_deadline_in_all_and_only_their_own_keys() {
    let fakes = [0, 1, 2, 3, 4, 5].map(|number| match number {
        1 | 4 => Fake::serving(),
        _ => Fake::new(vec![vec![Act::Stall]]),
    });
    let client = build(SockIoPool::builder().servers(fakes.iter().map(Fake::addr)));
    let keys = keys();
    let (many, took) = timed(|| client.get_multi::<String, _>(&keys).unwrap());
    assert!(took + ms(25) >= LIMIT, "{took:?}");
    in_time(took, LIMIT);
    let servers: Vec<_> = fakes.iter().map(Fake::addr).collect();
    let good = keys.iter().filter(|key| {
        let server = client.pool().server_of(&***key).unwrap().name();
        server == servers[1] || server == servers[4]
    });
    let good = good.count();
    assert!(good >= 5);
    assert_eq!(many.hits().count(), good);
    assert_eq!(many.failures().len(), 4);
    assert!(
        many.failures()
            .iter()
            .all(|failure| failure.error().is_timeout())
    );
}

#[test]
fn many_hung_servers_cost_no_more_than_a_few() {
    // Connects end in the queue of the system, and nobody reads what is sent.
    let silent: Vec<TcpListener> = (0..100)
        .map(|_| TcpListener::bind("127.0.0.1:0").unwrap())
        .collect();
    let servers = silent.iter().map(|server| server.local_addr().unwrap());
    let client = build(SockIoPool::builder().servers(servers.map(|server| server.to_string())));
    let keys: Vec<String> = (0..2000).map(|number| format!("key_{number}")).collect();
    let (many, took) = timed(|| client.get_multi::<String, _>(&keys).unwrap());
    in_time(took, LIMIT);
    assert_eq!(many.failures().len(), silent.len());
    assert_eq!(many.hits().count() + many.misses().count(), 0);
}

#[test]
fn times_shorter_than_any_timer_are_not_endless() {
    const SHORT: Duration = Duration::from_nanos(500);
    let ends = |client: MemcachedClient| {
        let (answer, took) = timed(|| client.get::<String>("k"));
        let error = answer.unwrap_err();
        assert!(error.is_timeout(), "{error}");
        in_time(took, ms(0));
    };
    let fake = Fake::new(vec![vec![Act::Stall]]);
    let builder = || {
        SockIoPool::builder()
            .servers([fake.addr()])
            .max_busy(ms(3000))
    };
    ends(build(builder()).with_timeout(SHORT));
    ends(build(builder().socket_timeout(SHORT)));
}

#[test]
fn nothing_is_sent_after_the_deadline() {
    let fake = Fake::new(vec![vec![
        Act::Request,
        Act::Send(answer("get k")),
        Act::Request,
        Act::Pause(LIMIT - ms(6)),
        Act::Send(b"NOT_STORED\r\n".to_vec()),
    ]]);
    let client = client(&fake);
    // The timer that this sets is near enough to the next one to stay: the next read may end a little late.
    assert!(client.get::<String>("k").unwrap().is_some());
    let late = client.clone().with_timeout(LIMIT - ms(12));
    let error = late.add_or_incr("n", 1, Expiry::never()).unwrap_err();
    assert!(error.is_ambiguous() && error.is_timeout(), "{error}");
    assert_eq!(fake.count("add "), 1);
    stays("nothing more is asked", ms(100), || {
        fake.count("incr ") == 0
    });
}

#[test]
fn an_answer_later_than_a_short_deadline_reaches_nobody() {
    // Too short to judge the server by: it is not marked dead, so nothing else closes the connection.
    let first = vec![
        Act::Request,
        Act::Pause(ms(60)),
        Act::Send(b"7\r\n".to_vec()),
    ];
    let fake = Fake::new(vec![first, vec![SERVE]]);
    let client = client(&fake);
    let hasty = client.clone().with_timeout(ms(20));
    let error = hasty.incr("a", 1).unwrap_err();
    assert!(error.is_timeout() && error.is_ambiguous(), "{error}");
    eventually("it is asked again", || {
        match patient(&client).incr("b", 5) {
            Ok(sum) => {
                assert_eq!(sum, Some(5));
                true
            }
            // On a machine that stood still the time was long enough.
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::NoServer, "{error}");
                false
            }
        }
    });
    assert_eq!(fake.seen()[0].requests, ["incr a 1"]);
}
