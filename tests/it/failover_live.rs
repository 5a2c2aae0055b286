//! Servers that die and come back, under load: who notices, for how long, and where the keys go meanwhile.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use sockio::{Compat, Error, ErrorKind, Expiry, MemcachedClient, SockIoPool, SockIoPoolBuilder};

use crate::support::RealServer;
use crate::support::fake::{Act, Fake};
use crate::support::wait::{MARGIN, eventually, in_time, lost, ms, stays, timed, within};

const SERVE: Act = Act::Serve(Duration::ZERO);

fn builder(fakes: &[Fake]) -> SockIoPoolBuilder {
    SockIoPool::builder().servers(fakes.iter().map(Fake::addr))
}

fn three() -> [Fake; 3] {
    [Fake::serving(), Fake::serving(), Fake::serving()]
}

fn keys() -> Vec<String> {
    (0..60).map(|number| format!("key_{number}")).collect()
}

/// The number of the server that a key lives on.
fn home(pool: &SockIoPool, key: &str) -> usize {
    let server = pool.server_of(key).unwrap();
    let mut servers = pool.servers().iter();
    servers.position(|other| other == server).unwrap()
}

fn is_dead(pool: &SockIoPool, server: usize) -> bool {
    pool.stats()[server].dead_until.is_some()
}

#[track_caller]
fn has(client: &MemcachedClient, key: &str) {
    assert_eq!(client.get::<String>(key).unwrap().as_deref(), Some(key));
}

#[test]
fn the_keys_of_a_dead_server_go_where_the_walk_leads() {
    for name in ["", "whalin/native", "whalin/consistent"] {
        let compat = match name {
            "" => Compat::default(),
            name => name.parse().unwrap(),
        };
        let mut fakes = three();
        let pool = builder(&fakes).compat(compat).build().unwrap();
        let router = compat.router(pool.servers().to_vec()).unwrap();
        let client = MemcachedClient::new(pool.clone());
        fakes[1].down();
        let mut moved = 0;
        for key in keys() {
            let walked = router.walk(key.as_bytes(), None, |server| server == 1);
            let server = walked.server.expect("a living server");
            has(&client, &key);
            let command = format!("get {key}");
            let asked = fakes.each_ref().map(|fake| fake.count(&command));
            let mut expected = [0; 3];
            expected[server] = 1;
            assert_eq!(asked, expected, "{name} {key} {walked:?}");
            moved += usize::from(home(&pool, &key) == 1);
        }
        assert!(moved >= 5, "{moved}");
    }
}

#[test]
fn refusals_do_not_mark_a_server_dead() {
    let mut script = Vec::new();
    let lines = [
        "SERVER_ERROR out of memory writing get response",
        "SERVER_ERROR something else",
        "CLIENT_ERROR bad command line format",
        "ERROR",
    ];
    for line in lines {
        script.extend([Act::Request, Act::Send(format!("{line}\r\n").into_bytes())]);
    }
    // Whatever closes the connection: the next one goes on with the next line.
    let scripts = (0..lines.len()).map(|from| script[2 * from..].to_vec());
    let fake = Fake::new(scripts.chain([vec![SERVE]]).collect());
    let client = MemcachedClient::new(
        SockIoPool::builder()
            .servers([fake.addr()])
            .max_conn(1)
            .build()
            .unwrap(),
    );
    for _ in lines {
        let error = client.get::<String>("k").unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::Server | ErrorKind::Client),
            "{error}"
        );
        let stats = &client.pool().stats()[0];
        assert!(stats.dead_until.is_none() && stats.timeouts == 0);
    }
}

/// When the connects of a pool of one dead server failed, since before it was built.
pub(crate) fn failures(limit: Duration, count: usize) -> Vec<Duration> {
    let fake = Fake::refusing();
    let start = Instant::now();
    let pool = SockIoPool::builder()
        .servers([fake.addr()])
        .dead_backoff(ms(50), limit)
        .build()
        .unwrap();
    let mut moments = Vec::new();
    eventually("it was tried", || {
        let failed = pool.stats()[0].connect_failures as usize;
        moments.resize(failed.max(moments.len()), start.elapsed());
        failed >= count
    });
    moments
}

#[test]
fn the_tries_come_after_a_delay_that_doubles_up_to_a_limit() {
    thread::scope(|scope| {
        for (limit, expected) in [
            (ms(10_000), [0, 50, 150, 350, 750]),
            (ms(100), [0, 50, 150, 250, 350]),
        ] {
            scope.spawn(move || {
                let (moments, took) = timed(|| failures(limit, expected.len()));
                let late = MARGIN + lost(took);
                for (moment, expected) in moments.iter().zip(expected.map(ms)) {
                    assert!(
                        (expected..=expected + late).contains(moment),
                        "{moments:?}, up to {late:?} late"
                    );
                }
            });
        }
    });
}

#[test]
fn while_a_server_is_dead_no_caller_dials_and_only_version_proves_life() {
    // It accepts, takes commands, and never answers.
    let silent = Fake::new(vec![vec![Act::Stall]]);
    let fakes = [silent, Fake::serving()];
    let pool = builder(&fakes)
        .connect_timeout(ms(100))
        .dead_backoff(ms(50), ms(50))
        .build()
        .unwrap();
    let client = MemcachedClient::new(pool.clone());
    let key = keys()
        .into_iter()
        .find(|key| home(&pool, key) == 0)
        .unwrap();
    let hasty = client.clone().with_timeout(ms(200));
    let error = hasty.get::<String>(&*key).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert!(is_dead(&pool, 0));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let start = Instant::now();
                while start.elapsed() < ms(600) {
                    let (_, took) = timed(|| has(&client, &key));
                    in_time(took, ms(0));
                }
            });
        }
        stays("it is dead", ms(600), || is_dead(&pool, 0));
    });
    let seen = fakes[0].seen();
    assert_eq!(seen[0].requests, [format!("get {key}")]);
    // One try after the other, each of 50 + 100 ms, and all by `version`.
    assert!((3..=6).contains(&seen.len()), "{}", seen.len());
    assert!(
        seen[1..].iter().all(|seen| seen.requests == ["version"]),
        "{seen:?}"
    );
}

#[test]
fn wrong_answers_to_version_do_not_revive() {
    let hello = |reply: &[u8]| vec![Act::Request, Act::Send(reply.to_vec())];
    let fake = Fake::new(vec![
        vec![Act::Request, Act::Stall],
        hello(b"ERROR\r\n"),
        hello(b"HTTP/1.1 400 Bad Request\r\n"),
        hello(b"VERSION 1\r\nVERSION 2\r\n"),
        vec![Act::Request, Act::Fin],
        vec![Act::Fin],
        vec![SERVE],
    ]);
    let pool = SockIoPool::builder()
        .servers([fake.addr()])
        .dead_backoff(ms(20), ms(20))
        .build()
        .unwrap();
    let client = MemcachedClient::new(pool.clone());
    let hasty = client.clone().with_timeout(ms(100));
    assert!(hasty.get::<String>("k").is_err());
    eventually("it lives again", || !is_dead(&pool, 0));
    assert!(fake.connections() >= 7, "{}", fake.connections());
    has(&client, "k");
    assert_eq!(fake.seen()[6].requests[0], "version");
}

#[test]
fn a_server_is_revived_without_any_call() {
    let mut fake = Fake::refusing();
    let pool = SockIoPool::builder()
        .servers([fake.addr()])
        .dead_backoff(ms(100), ms(100))
        .build()
        .unwrap();
    assert!(is_dead(&pool, 0));
    thread::sleep(ms(150));
    fake.up();
    let (_, took) = timed(|| eventually("it lives again", || !is_dead(&pool, 0)));
    in_time(took, ms(100));
    assert_eq!(fake.seen()[0].requests, ["version"]);
    // The connection of the proof is the first of the new ones.
    eventually("it rests", || pool.stats()[0].idle == 1);
    has(&MemcachedClient::new(pool), "k");
    assert_eq!(fake.connections(), 1);
}

#[test]
fn without_failover_a_dead_server_s_keys_fail_at_once() {
    let mut fakes = three();
    let pool = builder(&fakes).failover(false).build().unwrap();
    let client = MemcachedClient::new(pool.clone());
    fakes[2].down();
    let mut failed = 0;
    for key in keys() {
        if home(&pool, &key) == 2 {
            let error = within(ms(0), || client.get::<String>(&*key).unwrap_err());
            assert!(error.is_connect(), "{error}");
            assert_eq!(error.server(), Some(&*fakes[2].addr()));
            failed += 1;
        } else {
            has(&client, &key);
        }
    }
    assert!(failed >= 5);
    let asked: usize = fakes.iter().map(|fake| fake.count("get ")).sum();
    assert_eq!(asked, keys().len() - failed);
    // The first failure found out; from then on nobody dialled for a caller's sake.
    let stats = &pool.stats()[2];
    assert!(stats.connect_failures <= 1 + 4, "{stats:?}");
}

#[test]
fn keys_move_when_a_server_has_failed_often_enough() {
    let fakes = [Fake::serving(), Fake::refusing()];
    let pool = builder(&fakes)
        .failure_limit(3)
        .dead_backoff(ms(150), ms(150))
        .build()
        .unwrap();
    let client = MemcachedClient::new(pool.clone());
    let key = keys()
        .into_iter()
        .find(|key| home(&pool, key) == 1)
        .unwrap();
    let mut refused = 0;
    let took = eventually("it goes to the other one", || {
        match client.get::<String>(&*key) {
            Ok(value) => value.as_ref() == Some(&key),
            Err(error) => {
                refused += 1;
                assert_eq!(error.kind(), ErrorKind::NoServer);
                assert_eq!(fakes[0].count("get "), 0);
                false
            }
        }
    });
    assert!(
        refused > 0 && took + ms(50) >= ms(300),
        "{refused}, {took:?}"
    );
    assert!(pool.stats()[1].connect_failures >= 3);
}

#[test]
fn without_failback_a_server_stays_out() {
    let mut fakes = [Fake::serving(), Fake::refusing()];
    let pool = builder(&fakes)
        .failback(false)
        .dead_backoff(ms(20), ms(20))
        .build()
        .unwrap();
    assert!(is_dead(&pool, 1));
    fakes[1].up();
    let client = MemcachedClient::new(pool.clone());
    stays("it is out", ms(300), || is_dead(&pool, 1));
    assert_eq!(pool.stats()[1].connect_failures, 1);
    keys().iter().for_each(|key| has(&client, key));
    assert_eq!(
        (fakes[1].connections(), fakes[0].count("get ")),
        (0, keys().len())
    );

    let alone = Fake::refusing();
    let pool = builder(std::slice::from_ref(&alone)).failback(false);
    let client = MemcachedClient::new(pool.build().unwrap());
    let error = client.get::<String>("k").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoServer);
    assert!(error.to_string().contains("stays out"), "{error}");
}

#[test]
fn a_killed_server_costs_one_failed_call_per_connection_at_the_most() {
    const CONNECTIONS: usize = 4;
    const BACK_OFF: Duration = ms(100);
    let mut fakes = three();
    let pool = builder(&fakes)
        .initial_conn(CONNECTIONS)
        .dead_backoff(BACK_OFF, BACK_OFF)
        .build()
        .unwrap();
    let client = MemcachedClient::new(pool.clone());
    let (stop, failed) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    let back = thread::scope(|scope| {
        for thread in 0..CONNECTIONS {
            let (client, stop, failed) = (&client, &stop, &failed);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    for key in keys() {
                        // Odd threads write: a write that was sent is not sent again.
                        let (answer, took) = timed(|| match thread % 2 {
                            0 => client.get::<String>(&*key).map(drop),
                            _ => client.set(&*key, "v", Expiry::never()).map(drop),
                        });
                        in_time(took, ms(0));
                        failed.lock().unwrap().extend(answer.err());
                    }
                }
            });
        }
        thread::sleep(ms(100));
        assert_eq!(failed.lock().unwrap().len(), 0);
        fakes[0].down();
        eventually("it is dead", || is_dead(&pool, 0));
        thread::sleep(ms(250));
        fakes[0].up();
        let back = eventually("it is good again", || !is_dead(&pool, 0));
        in_time(back, BACK_OFF);
        let asked = fakes[0].count("get ") + fakes[0].count("set ");
        eventually("it is asked again", || {
            fakes[0].count("get ") + fakes[0].count("set ") > asked
        });
        stop.store(true, Ordering::Relaxed);
        back
    });
    let failed = failed.into_inner().unwrap();
    println!(
        "killed: {} failed calls {:?}, good again {back:?} after the restart",
        failed.len(),
        failed.iter().map(Error::kind).collect::<Vec<_>>()
    );
    assert!(failed.len() <= CONNECTIONS, "{failed:?}");
}

#[cfg(unix)]
#[test]
fn a_stopped_server_among_three_stalls_few_calls_and_none_of_the_others() {
    const THREADS: usize = 4;
    const LIMIT: Duration = ms(300);
    let servers = [0; 3].map(|_| RealServer::start(&[]));
    let pool = SockIoPool::builder()
        .servers(servers.iter().map(RealServer::addr))
        .initial_conn(THREADS)
        .connect_timeout(ms(200))
        .build()
        .unwrap();
    let client = MemcachedClient::new(pool.clone());
    for key in keys() {
        client.set(&*key, &*key, Expiry::never()).unwrap();
    }
    let stop = AtomicBool::new(false);
    let hasty = client.clone().with_timeout(LIMIT);
    // Each failed or slow call: the number of its key's server, and its duration.
    let stalls = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    for key in keys() {
                        let (answer, took) = timed(|| hasty.get::<String>(&*key));
                        // The servers that stand in do not have the key.
                        if let Ok(Some(value)) = &answer {
                            assert_eq!(*value, key);
                        }
                        let failed = answer.is_err_and(|error| !error.is_timeout());
                        if failed || took >= LIMIT / 2 + lost(took) {
                            stalls.lock().unwrap().push((home(&pool, &key), took));
                        }
                        thread::sleep(ms(1));
                    }
                }
            });
        }
        thread::sleep(ms(100));
        servers[1].stop_signal();
        eventually("it is dead", || is_dead(&pool, 1));
        stays("it is dead", ms(1000), || is_dead(&pool, 1));
        servers[1].cont_signal();
        eventually("it lives again", || !is_dead(&pool, 1));
        stop.store(true, Ordering::Relaxed);
    });
    let stalls = stalls.into_inner().unwrap();
    let longest = stalls.iter().map(|(_, took)| *took).max();
    let longest = longest.unwrap_or_default();
    println!(
        "stopped: {} stalled calls, the longest {longest:?}",
        stalls.len()
    );
    assert!(stalls.len() <= THREADS, "{stalls:?}");
    assert!(stalls.iter().all(|(server, _)| *server == 1), "{stalls:?}");
    assert!(longest <= LIMIT + MARGIN + lost(ms(3000)));
    keys().iter().for_each(|key| has(&client, key));
}

#[test]
fn a_server_that_closes_every_connection_at_once_is_no_endless_loop() {
    let fake = Fake::accept_and_close();
    let client = MemcachedClient::new(
        SockIoPool::builder()
            .servers([fake.addr()])
            .max_conn(1)
            .build()
            .unwrap(),
    );
    for _ in 0..5 {
        let error = within(ms(0), || client.get::<String>("k").unwrap_err());
        assert_eq!(error.kind(), ErrorKind::Connection, "{error}");
    }
    assert!(fake.connections() <= 1 + 2 * 5, "{}", fake.connections());
}
