//! How many connections a pool has: the start, batches, the way back. Counted by a scripted server.

use std::sync::Mutex;
use std::time::Instant;

use sockio::{ErrorKind, MemcachedClient, SockIoPool};

use crate::support::child;
use crate::support::fake::{Act, Fake};
use crate::support::logs;
use crate::support::wait::{eventually, in_time, ms, stays, timed, within};

/// Connections, idle and lent, of a pool of one server.
fn open(pool: &SockIoPool) -> usize {
    let stats = &pool.stats()[0];
    stats.idle + stats.busy
}

/// Holds one connection more, looks, and goes on until `expected` is over; then one call too many.
fn hold(client: &MemcachedClient, fake: &Fake, expected: &[usize]) {
    let Some((total, rest)) = expected.split_first() else {
        let error = client.get::<String>("k").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Timeout);
        assert!(error.to_string().contains("max_open"), "{error}");
        return;
    };
    let held = client.get_with("k", |value, _| {
        assert_eq!(value, b"k");
        eventually(&format!("{total} connections are open"), || {
            open(client.pool()) == *total && fake.connections() >= *total
        });
        stays("no connection more", ms(10), || {
            fake.connections() == *total
        });
        hold(client, fake, rest);
    });
    held.unwrap().expect("a value");
}

#[test]
fn callers_open_their_own_and_the_batches_double() {
    let fake = Fake::serving();
    let pool = SockIoPool::builder()
        .servers([fake.addr()])
        .initial_conn(0)
        .min_conn(0)
        .max_create(8)
        .max_open(25)
        .operation_timeout(ms(400))
        .build()
        .unwrap();
    assert_eq!(fake.connections(), 0);
    // A caller that finds none idle opens one; the batch behind it has 1, 2, 4, 8, 8 up to the limit of 25.
    let mut expected = Vec::new();
    for total in [2, 5, 10, 19, 25] {
        expected.resize(total, total);
    }
    let client = MemcachedClient::new(pool.clone());
    hold(&client, &fake, &expected);
    assert_eq!((pool.stats()[0].idle, pool.stats()[0].busy), (25, 0));
    assert_eq!(pool.stats()[0].connects, 25);
}

#[test]
fn many_callers_at_once_never_exceed_the_limit() {
    let fake = Fake::slow(ms(5));
    let pool = SockIoPool::builder()
        .servers([fake.addr()])
        .initial_conn(0)
        .max_open(7)
        .max_conn(7)
        .build()
        .unwrap();
    let client = MemcachedClient::new(pool.clone());
    std::thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| {
                for _ in 0..10 {
                    assert_eq!(client.get::<String>("k").unwrap().as_deref(), Some("k"));
                    assert!(open(&pool) <= 7);
                }
            });
        }
    });
    assert_eq!(fake.count("get "), 200);
    assert!((2..=7).contains(&fake.connections()));
}

/// The numbers of idle connections that were seen one after the other, until they are `last`.
fn shrinking(pool: &SockIoPool, last: usize) -> Vec<usize> {
    let mut seen = vec![pool.stats()[0].idle];
    eventually("the pool is small", || {
        let idle = pool.stats()[0].idle;
        if seen[seen.len() - 1] != idle {
            seen.push(idle);
        }
        idle == last
    });
    seen
}

/// `seen` leaves out none but what a busy machine may have hidden, and the times between the passes were kept.
#[track_caller]
fn is_part_of(seen: &[usize], all: &[usize]) {
    let mut rest = all.iter();
    assert!(
        seen.iter().all(|idle| rest.any(|step| step == idle)),
        "{seen:?}"
    );
    assert!(seen.len() > all.len() / 2, "{seen:?}");
}

#[test]
fn above_max_conn_each_pass_closes_a_quarter() {
    let fake = Fake::serving();
    let start = Instant::now();
    let pool = SockIoPool::builder()
        .servers([fake.addr()])
        .initial_conn(20)
        .min_conn(2)
        .max_conn(4)
        .max_open(20)
        .maint_sleep(ms(60))
        .build()
        .unwrap();
    let steps = [20, 16, 13, 11, 10, 9, 8, 4];
    is_part_of(&shrinking(&pool, 4), &steps);
    assert!(start.elapsed() >= ms(60) * 7);
    stays("four idle connections", ms(150), || {
        pool.stats()[0].idle == 4
    });
    assert_eq!(pool.stats()[0].evicted, 16);
    eventually("the server sees them closed", || fake.open() == 4);
}

#[test]
fn what_rests_too_long_goes_but_for_min_conn() {
    let fake = Fake::serving();
    let start = Instant::now();
    let pool = SockIoPool::builder()
        .servers([fake.addr()])
        .initial_conn(10)
        .min_conn(3)
        .max_idle(ms(100))
        .maint_sleep(ms(60))
        .build()
        .unwrap();
    is_part_of(&shrinking(&pool, 3), &[10, 9, 8, 7, 3]);
    assert!(start.elapsed() >= ms(100) + ms(60) * 3);
    stays("three idle connections", ms(200), || {
        pool.stats()[0].idle == 3
    });
    assert_eq!(fake.connections(), 10);
}

#[test]
fn passes_fill_up_to_min_conn() {
    let fake = Fake::serving();
    let pool = SockIoPool::builder()
        .servers([fake.addr()])
        .initial_conn(0)
        .min_conn(5)
        .maint_sleep(ms(50))
        .build()
        .unwrap();
    assert_eq!(pool.stats()[0].idle, 0);
    eventually("five idle connections", || {
        pool.stats()[0].idle == 5 && fake.connections() == 5
    });
    stays("five idle connections", ms(150), || {
        pool.stats()[0].idle == 5 && fake.connections() == 5
    });
}

#[test]
fn old_age_ends_connections_and_passes_replace_them() {
    let fake = Fake::serving();
    let pool = SockIoPool::builder()
        .servers([fake.addr()])
        .initial_conn(3)
        .min_conn(3)
        .max_lifetime(ms(200))
        .maint_sleep(ms(30))
        .build()
        .unwrap();
    eventually("two generations", || fake.connections() >= 9);
    eventually("the old ones are closed", || fake.open() <= 3);
    let stats = &pool.stats()[0];
    assert!(stats.evicted >= 6, "{stats:?}");

    // Between two passes it is the checkout that turns an old one away.
    let fake = Fake::serving();
    let pool = SockIoPool::builder()
        .servers([fake.addr()])
        .max_lifetime(ms(100))
        .build()
        .unwrap();
    std::thread::sleep(ms(110));
    let client = MemcachedClient::new(pool);
    assert_eq!(client.get::<String>("k").unwrap().as_deref(), Some("k"));
    assert!(fake.seen()[0].requests.is_empty() && fake.connections() >= 2);
}

#[test]
fn build_opens_the_initial_connections_of_all_servers() {
    let fakes = [Fake::serving(), Fake::serving(), Fake::serving()];
    let pool = SockIoPool::builder()
        .servers(fakes.iter().map(Fake::addr))
        .initial_conn(4)
        .build()
        .unwrap();
    for (stats, fake) in pool.stats().iter().zip(&fakes) {
        assert_eq!((stats.idle, stats.busy, stats.connects), (4, 0, 4));
        eventually("the server has them", || fake.connections() == 4);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn unreachable_servers_cost_build_one_connect_timeout_in_all() {
    let good = Fake::serving();
    let holes = [Fake::never_accepting(), Fake::never_accepting()];
    let servers = [holes[0].addr(), good.addr(), holes[1].addr()];
    let builder = SockIoPool::builder()
        .servers(servers)
        .initial_conn(3)
        .connect_timeout(ms(300));
    let pool = within(ms(300), || builder.build()).unwrap();
    let stats = pool.stats();
    assert_eq!(stats[1].idle, 3);
    for hole in [0, 2] {
        assert!(stats[hole].dead_until.is_some());
        assert_eq!((stats[hole].connect_failures, stats[hole].busy), (3, 0));
    }
    let client = MemcachedClient::new(pool.clone());
    for index in 0..30 {
        let key = format!("k{index}");
        // The keys of the dead servers fail over without a dial.
        let (value, took) = timed(|| client.get::<String>(&*key).unwrap());
        assert_eq!(value, Some(key));
        in_time(took, ms(0));
    }
}

#[test]
fn a_server_that_refuses_is_logged_and_marked_dead() {
    logs::listen();
    let (good, bad) = (Fake::serving(), Fake::refusing());
    let builder = SockIoPool::builder().servers([good.addr(), bad.addr()]);
    let pool = within(ms(0), || builder.build()).unwrap();
    let stats = &pool.stats()[1];
    assert!(stats.dead_until.is_some() && stats.connect_failures == 1);
    let lines = logs::about(&bad.addr());
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("WARN") && line.contains("dead")),
        "{lines:?}"
    );
    let client = MemcachedClient::new(pool);
    for index in 0..20 {
        let key = format!("k{index}");
        assert_eq!(client.get::<String>(&*key).unwrap(), Some(key));
    }
    assert_eq!(good.count("get "), 20);
}

#[test]
fn a_server_that_does_not_answer_is_named_in_the_log() {
    logs::listen();
    let silent = Fake::new(vec![vec![Act::Stall]]);
    let pool = SockIoPool::builder()
        .servers([silent.addr()])
        .operation_timeout(ms(200));
    let client = MemcachedClient::new(pool.build().unwrap());
    assert!(client.get::<String>("k").unwrap_err().is_timeout());
    let lines = logs::about(&silent.addr());
    let line = format!(
        "WARN {}: reading the reply: timed out; the server is marked dead",
        silent.addr()
    );
    assert!(lines.len() == 1 && lines[0].starts_with(&line), "{lines:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_thousand_idle_connections_cost_little() {
    const COUNT: usize = 1000;
    if !child::is_child() {
        let shell = ["sh", "-c", "ulimit -n 4096 && exec \"$@\"", "sh"];
        let name = "growth::a_thousand_idle_connections_cost_little";
        // A buffer that is given back goes back to the system, so that the size of the process shows it (glibc).
        let output = child::command(&shell, name, "1")
            .env("MALLOC_MMAP_THRESHOLD_", "2048")
            .output()
            .expect("a shell");
        return child::check(&output);
    }
    let server = crate::support::RealServer::start(&["-c", "2048"]);
    let threads = || std::fs::read_dir("/proc/self/task").unwrap().count();
    let resident = || {
        let text = std::fs::read_to_string("/proc/self/statm").unwrap();
        let pages: usize = text.split(' ').nth(1).unwrap().parse().unwrap();
        pages * 4096
    };
    let (threads_before, resident_before) = (threads(), resident());
    let pool = SockIoPool::builder()
        .servers([server.addr()])
        .initial_conn(COUNT)
        .max_conn(COUNT)
        .max_open(COUNT)
        .build()
        .unwrap();
    assert_eq!(pool.stats()[0].idle, COUNT);
    assert_eq!(threads(), threads_before + 1);
    let never_used = resident() - resident_before;
    assert!(never_used < COUNT * 4500, "{never_used}");

    // All at once have their buffers in use, and rest.
    let client = MemcachedClient::new(pool.clone());
    let deepest = Mutex::new(0);
    fn use_all(client: &MemcachedClient, left: usize, deepest: &Mutex<usize>) {
        client.get::<String>("k").unwrap();
        if left > 0 {
            client
                .get_with("there", |_, _| use_all(client, left - 1, deepest))
                .unwrap()
                .expect("a value");
        } else {
            *deepest.lock().unwrap() = client.pool().stats()[0].busy;
        }
    }
    client.set("there", "x", sockio::Expiry::never()).unwrap();
    std::thread::Builder::new()
        .stack_size(64 << 20)
        .spawn(move || {
            use_all(&client, COUNT - 1, &deepest);
            assert_eq!(*deepest.lock().unwrap(), COUNT - 1);
        })
        .unwrap()
        .join()
        .unwrap();
    let full = resident();
    eventually("the buffers are gone", || {
        resident() < resident_before + COUNT * 4500
    });
    println!(
        "{COUNT} connections: {never_used} bytes, {} in use, {} rested",
        full - resident_before,
        resident() - resident_before
    );
    assert_eq!(pool.stats()[0].idle, COUNT);
    eventually("one thread more", || threads() == threads_before + 1);
}
