//! The bars that are about a whole pool: servers asked at the same time, connections at rest, and who waits for one.

use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use sockio::{Expiry, MemcachedClient, SockIoPool};

use crate::files;
use crate::memcached::Memcached;

/// A bar, what was measured, and whether it is met.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) bar: &'static str,
    pub(crate) most: &'static str,
    pub(crate) measured: String,
    pub(crate) met: bool,
}

const SLOW: Duration = Duration::from_millis(50);
const ROUNDS: usize = 5;

const IDLE: usize = 1000;
const FEW_IDLE: usize = 100;
/// Buffers are given back after a second of rest.
const REST: Duration = Duration::from_millis(3500);
const IDLE_KIB: f64 = 4.5;

const THREADS: usize = 64;
const CONTENTION: Duration = Duration::from_secs(2);

/// Measures all of them.
pub(crate) fn measure() -> io::Result<Vec<Finding>> {
    let (spread, order) = spread()?;
    let mut findings = vec![spread, order];
    findings.extend(idle()?);
    findings.push(fair()?);
    Ok(findings)
}

/// Bar 5: `get_multi` over four servers that each answer after 50 ms.
fn spread() -> io::Result<(Finding, Finding)> {
    let listeners: Vec<TcpListener> = (0..4)
        .map(|_| TcpListener::bind(("127.0.0.1", 0)))
        .collect::<io::Result<_>>()?;
    let addrs = listeners.iter().map(TcpListener::local_addr);
    let addrs = addrs.map(|addr| addr.map(|addr| addr.to_string()));
    let addrs: Vec<String> = addrs.collect::<io::Result<_>>()?;
    let pool = SockIoPool::builder().servers(&addrs).build();
    let client = MemcachedClient::new(pool.map_err(io::Error::other)?);
    let keys: Vec<String> = (0..100).map(|number| format!("key {number}")).collect();
    let keys: Vec<String> = keys.iter().map(|key| key.replace(' ', "-")).collect();

    let (heard, answered) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let answer = |listener: &TcpListener| -> io::Result<()> {
        let (stream, _) = listener.accept()?;
        let mut lines = BufReader::new(&stream);
        let mut line = String::new();
        while lines.read_line(&mut line)? > 0 {
            heard.lock().map_err(poisoned)?.push(Instant::now());
            thread::sleep(SLOW);
            answered.lock().map_err(poisoned)?.push(Instant::now());
            (&stream).write_all(b"END\r\n")?;
            line.clear();
        }
        Ok(())
    };
    let (times, in_order) = thread::scope(|scope| {
        for listener in &listeners {
            scope.spawn(|| answer(listener));
        }
        let mut times = Vec::new();
        let mut in_order = true;
        for _ in 0..ROUNDS {
            let begun = Instant::now();
            let found = client
                .get_multi::<Vec<u8>, _>(&keys)
                .map_err(io::Error::other)?;
            times.push(begun.elapsed());
            let heard = std::mem::take(&mut *heard.lock().map_err(poisoned)?);
            let answered = std::mem::take(&mut *answered.lock().map_err(poisoned)?);
            in_order &= heard.len() == 4 && heard.iter().max() < answered.iter().min();
            in_order &= found.misses().count() == keys.len();
        }
        client.pool().shutdown();
        Ok::<_, io::Error>((times, in_order))
    })?;
    let least = times.into_iter().min().unwrap_or_default();
    let time = Finding {
        bar: "5: get_multi over 4 servers that answer after 50 ms",
        most: "< 90 ms",
        measured: format!("{:.1} ms", least.as_secs_f64() * 1e3),
        met: least < Duration::from_millis(90),
    };
    let order = Finding {
        bar: "5: its requests and the first answer",
        most: "all requests first",
        measured: if in_order {
            "all requests first"
        } else {
            "mixed"
        }
        .to_owned(),
        met: in_order,
    };
    Ok((time, order))
}

fn poisoned<T>(_: T) -> io::Error {
    io::Error::other("a server of the bench panicked")
}

/// Bar 12: what connections at rest take. Counted in processes of their own, 1,000 connections less 100.
fn idle() -> io::Result<[Finding; 2]> {
    let server = Memcached::start(1, IDLE)?;
    let measure = |count: usize| -> io::Result<(f64, f64)> {
        let output = Command::new(std::env::current_exe()?)
            .args(["--idle", &count.to_string(), &server.addr(0)])
            .output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let words: Vec<&str> = text.split_whitespace().collect();
        let ["KiB", kib, "threads", threads] = words[..] else {
            let errors = String::from_utf8_lossy(&output.stderr);
            return Err(io::Error::other(format!("--idle: {text}{errors}")));
        };
        let number = |digits: &str| digits.parse().map_err(io::Error::other);
        Ok((number(kib)?, number(threads)?))
    };
    let ((many, threads), (few, _)) = (measure(IDLE)?, measure(FEW_IDLE)?);
    let each = (many - few) / (IDLE - FEW_IDLE) as f64;
    Ok([
        Finding {
            bar: "12: memory of a connection at rest, of 1,000 that were all in use",
            most: "≤ 4.5 KiB",
            measured: format!("{each:.1} KiB"),
            met: each <= IDLE_KIB,
        },
        Finding {
            bar: "12: threads besides the program's own",
            most: "1",
            measured: format!("{}", threads - 1.0),
            met: threads == 2.0,
        },
    ])
}

/// The process that holds the connections: all are in use at the same time, then they rest.
pub(crate) fn hold(args: &[String]) -> io::Result<()> {
    let [count, server] = args else {
        return Err(io::Error::other("--idle CONNECTIONS SERVER"));
    };
    let count: usize = count.parse().map_err(io::Error::other)?;
    if files::limit()? < count + 50 {
        return Err(io::Error::other("`ulimit -n` is too low"));
    }
    let pool = SockIoPool::builder()
        .servers([server])
        .max_conn(count)
        .connect_timeout(Duration::from_secs(10));
    let client = MemcachedClient::new(pool.build().map_err(io::Error::other)?);
    let stored = client.set("key", [b'v'; 100], Expiry::never());
    stored.map_err(io::Error::other)?;
    // A stack of its own, which goes with its thread.
    let used = thread::scope(|scope| {
        let all = thread::Builder::new().stack_size(64 << 20);
        let all = all.spawn_scoped(scope, || use_all(&client, count))?;
        all.join().map_err(poisoned)
    })?;
    used.map_err(io::Error::other)?;
    thread::sleep(REST);
    let stats = client.pool().stats();
    if stats[0].idle != count {
        return Err(io::Error::other(format!("{} are idle", stats[0].idle)));
    }
    let status = fs::read_to_string("/proc/self/status")?;
    let field = |name: &str| {
        let mut lines = status.lines();
        let value = lines.find_map(|line| line.strip_prefix(name));
        let word = value.and_then(|value| value.split_whitespace().next());
        word.ok_or_else(|| io::Error::other(format!("no {name} in /proc")))
    };
    println!("KiB {} threads {}", field("VmRSS:")?, field("Threads:")?);
    Ok(())
}

/// Each call holds its connection while the next one is made.
fn use_all(client: &MemcachedClient, left: usize) -> sockio::Result<()> {
    let inner = client.get_with("key", |_, _| match left {
        1 => Ok(()),
        _ => use_all(client, left - 1),
    })?;
    inner.unwrap_or(Ok(()))
}

/// Bar 13: 64 threads that share one connection.
fn fair() -> io::Result<Finding> {
    let server = Memcached::start(1, THREADS)?;
    let pool = SockIoPool::builder().servers([server.addr(0)]);
    let pool = pool.max_conn(1).max_open(1).build();
    let client = MemcachedClient::new(pool.map_err(io::Error::other)?);
    let over = AtomicBool::new(false);
    let work = || {
        let mut count = 0_u64;
        while !over.load(Ordering::Relaxed) {
            client.get::<Vec<u8>>("key")?;
            count += 1;
        }
        Ok::<u64, sockio::Error>(count)
    };
    let counts = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        thread::sleep(CONTENTION);
        over.store(true, Ordering::Relaxed);
        let counts = threads.into_iter().map(|thread| {
            let count = thread.join().map_err(poisoned)?;
            count.map_err(io::Error::other)
        });
        counts.collect::<io::Result<Vec<u64>>>()
    })?;
    let most = counts.iter().max().copied().unwrap_or_default();
    let least = counts.iter().min().copied().unwrap_or_default().max(1);
    let ratio = most as f64 / least as f64;
    Ok(Finding {
        bar: "13: 64 threads on one connection, gets of the busiest for one of the laziest",
        most: "≤ 2",
        measured: format!("{ratio:.2}"),
        met: ratio <= 2.0,
    })
}
