//! A write that failed, and whose error does not say that its outcome is open, is never carried out, however little time it had.

use std::thread;
use std::time::{Duration, Instant};

use sockio::{Expiry, MemcachedClient, SockIoPool, SockIoPoolBuilder};

use crate::support::RealServer;
use crate::support::random::Random;
use crate::support::wait::ms;

const THREADS: u64 = 8;

/// How each caller writes: a key of its own each time.
type Write = fn(&MemcachedClient, &str) -> sockio::Result<bool>;

const WRITES: [Write; 4] = [
    |client, key| client.set(key, "v", Expiry::never()),
    |client, key| client.add(key, "v", Expiry::never()),
    |client, key| Ok(client.add_or_incr(key, 1, Expiry::never())? > 0),
    |client, key| {
        let many = client.set_multi([(key, "v")], Expiry::never())?;
        many.into_complete().map(|answers| answers[0].1)
    },
];

/// The keys whose write failed for sure.
fn failed(client: &MemcachedClient, random: &mut Random, end: Instant) -> Vec<String> {
    let mut failed = Vec::new();
    while Instant::now() < end {
        let key = format!("k{:x}", random.number());
        let write = random.pick(&WRITES);
        // A round trip takes about as long.
        let limit = Duration::from_micros(random.below(400));
        match write(&client.clone().with_timeout(limit), &key) {
            Err(error) if !error.is_ambiguous() => failed.push(key),
            _ => {}
        }
    }
    failed
}

#[track_caller]
fn are_never_there(set: impl FnOnce(SockIoPoolBuilder) -> SockIoPoolBuilder) {
    let server = RealServer::start(&["-m", "256"]);
    let builder = SockIoPool::builder().servers([server.addr()]);
    // One that is marked dead is no test.
    let builder = builder.dead_backoff(Duration::from_micros(1), ms(1));
    let client = MemcachedClient::new(set(builder).build().unwrap());
    let end = Instant::now() + ms(1500);
    let failed: Vec<String> = thread::scope(|scope| {
        let callers = (0..THREADS).map(|number| {
            let (client, mut random) = (&client, Random::of(number, &[]));
            scope.spawn(move || failed(client, &mut random, end))
        });
        let callers: Vec<_> = callers.collect();
        let all = callers.into_iter().map(|caller| caller.join().unwrap());
        all.flatten().collect()
    });
    // What was on its way has arrived when a later command has its answer, on every connection: that takes no time here.
    thread::sleep(ms(50));
    println!("{} writes failed for sure", failed.len());
    assert!(failed.len() > 10, "{}", failed.len());
    // One that has seen no failure.
    let client = MemcachedClient::connect(server.addr()).unwrap();
    let mut there = 0;
    for keys in failed.chunks(500) {
        let found = client.get_multi::<Vec<u8>, _>(keys).unwrap();
        assert!(found.is_complete());
        there += found.hits().count();
    }
    assert_eq!(there, 0, "of {}", failed.len());
}

#[test]
fn writes_that_had_no_time() {
    are_never_there(|builder| builder);
}

#[test]
fn writes_that_waited_for_a_connection() {
    are_never_there(|builder| builder.max_conn(2));
}

#[test]
fn shared_writes() {
    are_never_there(|builder| builder.max_conn(1).combine(true));
}

#[test]
fn shared_writes_that_may_be_repeated() {
    are_never_there(|builder| builder.max_conn(2).combine(true).retry_writes(true));
}
