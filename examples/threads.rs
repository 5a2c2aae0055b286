//! Sixteen threads share a pool of four connections, which grows when they come and shrinks when they are gone.

use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use sockio::testing::Server;
use sockio::{Expiry, MemcachedClient, SockIoPool};

const THREADS: u64 = 16;
const ROUNDS: u64 = 500;

fn main() -> Result<(), Box<dyn Error>> {
    let server = Server::start()?;
    let pool = SockIoPool::builder()
        .servers([server.addr()])
        .initial_conn(1)
        .min_conn(1)
        // Never more than four at a time: the other threads wait for their turn.
        .max_conn(4)
        // Short, to see it shrink soon.
        .max_idle(Duration::from_millis(300))
        .maint_sleep(Duration::from_millis(100))
        .build()?;
    let client = MemcachedClient::new(pool);
    show("at the start", &client);

    let (most, begun) = (AtomicU64::new(0), Instant::now());
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (client, most) = (&client, &most);
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let key = format!("thread-{thread}");
                    client.set(&key, round, Expiry::never()).expect("a set");
                    assert_eq!(client.get::<u64>(&key).expect("a get"), Some(round));
                    client
                        .add_or_incr("total", 1, Expiry::never())
                        .expect("a count");
                    if round % 50 == 0 {
                        let stats = &client.pool().stats()[0];
                        most.fetch_max((stats.idle + stats.busy) as u64, Ordering::Relaxed);
                    }
                }
            });
        }
        thread::sleep(Duration::from_millis(30));
        show("at work", &client);
    });
    let (operations, took) = (THREADS * ROUNDS * 3, begun.elapsed());
    show("just after", &client);
    println!("{operations} operations of {THREADS} threads took {took:?}");
    assert_eq!(client.get_counter("total")?, Some(THREADS * ROUNDS));
    let most = most.into_inner();
    assert!((2..=4).contains(&most), "{most} connections");

    let patience = Instant::now() + Duration::from_secs(10);
    while client.pool().stats()[0].idle > 1 && Instant::now() < patience {
        thread::sleep(Duration::from_millis(50));
    }
    show("after a rest", &client);
    assert_eq!(client.pool().stats()[0].idle, 1);
    Ok(())
}

fn show(when: &str, client: &MemcachedClient) {
    for server in client.pool().stats() {
        println!(
            "{when:12} {}: {} idle, {} lent, {} callers waiting, {} opened so far",
            server.server.name(),
            server.idle,
            server.busy,
            server.waiting,
            server.connects,
        );
    }
}
