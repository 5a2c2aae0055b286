//! First steps: values, expiry, cas, counters, many keys at once, and a server that dies and comes back.
//!
//! `cargo run --features testing --example quickstart` starts two small servers of its own. With other servers named in
//! the environment, `SOCKIO_SERVERS=127.0.0.1:11211,127.0.0.1:11212`, it goes on for ten seconds: end and start one of them.

use std::error::Error;
use std::thread;
use std::time::{Duration, Instant};

use sockio::testing::Server;
use sockio::{Cas, Expiry, MemcachedClient, SockIoPool};

fn main() -> Result<(), Box<dyn Error>> {
    let mut own = Vec::new();
    let servers: Vec<String> = match std::env::var("SOCKIO_SERVERS") {
        Ok(names) => names
            .split(',')
            .map(|name| name.trim().to_owned())
            .collect(),
        Err(_) => {
            own = vec![Server::start()?, Server::start()?];
            println!("SOCKIO_SERVERS is not set: two servers are started here");
            own.iter().map(Server::addr).collect()
        }
    };
    println!("servers: {}", servers.join(", "));
    let pool = SockIoPool::builder().servers(&servers).build()?;
    let client = MemcachedClient::new(pool);

    values(&client)?;
    counters(&client)?;
    many_keys(&client)?;
    match own.first_mut() {
        Some(server) => death_and_return(&client, server)?,
        None => watch(&client),
    }
    client.pool().shutdown();
    Ok(())
}

fn values(client: &MemcachedClient) -> sockio::Result<()> {
    client.set("greeting", "hello", Expiry::never())?;
    let greeting: Option<String> = client.get("greeting")?;
    assert_eq!(greeting.as_deref(), Some("hello"));
    // A miss is `None`, and no error.
    assert_eq!(client.get::<String>("no-such-key")?, None);
    println!("set and get: {greeting:?}");

    client.set("short-lived", 42, Duration::from_secs(1))?;
    assert_eq!(client.get::<i32>("short-lived")?, Some(42));
    thread::sleep(Duration::from_millis(2_100));
    assert_eq!(client.get::<i32>("short-lived")?, None);
    println!("expiry: gone after its second");

    let item = client.gets::<String>("greeting")?.expect("it is there");
    assert_eq!(
        client.cas("greeting", "hi", Expiry::never(), item.cas)?,
        Cas::Stored
    );
    assert_eq!(
        client.cas("greeting", "hey", Expiry::never(), item.cas)?,
        Cas::Exists
    );
    println!("cas: the second writer is told that the first was faster");
    Ok(())
}

fn counters(client: &MemcachedClient) -> sockio::Result<()> {
    client.delete("visits")?;
    assert_eq!(client.incr("visits", 1)?, None);
    assert_eq!(client.add_or_incr("visits", 1, Expiry::never())?, 1);
    assert_eq!(client.add_or_incr("visits", 1, Expiry::never())?, 2);
    assert_eq!(client.get_counter("visits")?, Some(2));
    println!("counter: 2");
    Ok(())
}

fn many_keys(client: &MemcachedClient) -> sockio::Result<()> {
    let entries = (0..100).map(|n| (format!("square-{n}"), n * n));
    assert!(
        client
            .set_multi(entries, Duration::from_secs(60))?
            .is_complete()
    );
    // One round trip per server, whatever the number of keys.
    let squares = client.get_multi::<i32, _>((0..101).map(|n| format!("square-{n}")))?;
    assert!(squares.is_complete());
    assert_eq!(squares.get("square-12"), Some(&144));
    assert_eq!(squares.hits().count(), 100);
    assert_eq!(squares.misses().collect::<Vec<_>>(), ["square-100"]);
    println!("many keys: 100 hits and 1 miss");
    Ok(())
}

/// The keys of a dead server go to the other one; when it answers again it gets them back.
fn death_and_return(client: &MemcachedClient, server: &mut Server) -> Result<(), Box<dyn Error>> {
    let home = server.addr();
    let key = (0..).map(|n| format!("key-{n}")).find(|key| {
        let found = client.pool().server_of(key);
        found.is_ok_and(|found| found.name() == home)
    });
    let key = key.expect("each server has keys");
    client.set(&key, "before", Expiry::never())?;
    server.stop();
    println!("{home} has died");
    // The first to notice may get an error, since the outcome of what was sent is not known.
    while let Err(error) = client.set(&key, "meanwhile", Expiry::never()) {
        println!("  {error}");
    }
    assert_eq!(client.get::<String>(&key)?.as_deref(), Some("meanwhile"));
    println!("  its keys live on the other server now");

    server.restart()?;
    let patience = Instant::now() + Duration::from_secs(5);
    let is_dead = || {
        client
            .pool()
            .stats()
            .iter()
            .any(|server| server.dead_until.is_some())
    };
    while is_dead() && Instant::now() < patience {
        thread::sleep(Duration::from_millis(20));
    }
    assert!(!is_dead());
    println!("{home} is back, found by the maintenance thread");
    client.set(&key, "after", Expiry::never())?;
    assert_eq!(client.get::<String>(&key)?.as_deref(), Some("after"));
    Ok(())
}

/// Stores and reads for ten seconds, and says each second how the keys of each server fared.
fn watch(client: &MemcachedClient) {
    let servers: Vec<String> = client
        .pool()
        .servers()
        .iter()
        .map(|it| it.name().to_owned())
        .collect();
    println!("ten seconds of set and get; end and start a server to see what happens");
    for second in 1..=10 {
        let mut good = vec![0; servers.len()];
        let mut last_error = None;
        let end = Instant::now() + Duration::from_secs(1);
        for number in (0..1_000).cycle() {
            if Instant::now() >= end {
                break;
            }
            let key = format!("watch-{number}");
            let stored = client.set(&key, number, Duration::from_secs(60));
            match stored.and_then(|_| client.get::<i32>(&key)) {
                Ok(read) => {
                    let home = client.pool().server_of(&key).ok();
                    let home =
                        home.and_then(|home| servers.iter().position(|it| it == home.name()));
                    if let (Some(home), Some(_)) = (home, read) {
                        good[home] += 1;
                    }
                }
                Err(error) => last_error = Some(error),
            }
            thread::sleep(Duration::from_millis(1));
        }
        let states = client
            .pool()
            .stats()
            .into_iter()
            .zip(&good)
            .map(|(server, good)| {
                let state = if server.dead_until.is_some() {
                    "dead"
                } else {
                    "up"
                };
                format!("{} {state}, {good} of its keys good", server.server.name())
            });
        println!("{second:2} s: {}", states.collect::<Vec<_>>().join("; "));
        if let Some(error) = last_error {
            println!("      {error}");
        }
    }
}
