//! What an operation asks of the kernel: one send and one receive, with all time limits on. Counted by strace.
#![cfg(target_os = "linux")]

use std::fs;
use std::io;

use sockio::{Expiry, MemcachedClient, SockIoPool, SockIoPoolBuilder};

use crate::support::RealServer;
use crate::support::child;

const COUNT: usize = 200;

type Operation = (&'static str, fn(&MemcachedClient));

const OPERATIONS: [Operation; 10] = [
    ("get", |client| {
        assert_eq!(
            client.get::<String>("there").unwrap().as_deref(),
            Some("value")
        );
    }),
    ("get of 10 KiB", |client| {
        let value = client.get_with("larger", |value, _| value.len()).unwrap();
        assert_eq!(value, Some(10_240));
    }),
    ("miss", |client| {
        assert_eq!(client.get::<String>("absent").unwrap(), None);
    }),
    ("set", |client| {
        assert!(client.set("there", "value", Expiry::never()).unwrap());
    }),
    ("set of 10 KiB", |client| {
        let value = [b'x'; 10_240];
        assert!(client.set("larger", &value[..], Expiry::never()).unwrap());
    }),
    ("add", |client| {
        assert!(!client.add("there", "value", Expiry::never()).unwrap());
    }),
    ("append", |client| {
        assert!(!client.append("absent", "value").unwrap());
    }),
    ("incr", |client| {
        assert!(client.incr("counter", 1).unwrap().is_some());
    }),
    ("delete", |client| {
        assert!(!client.delete("absent").unwrap());
    }),
    ("touch", |client| {
        assert!(client.touch("there", Expiry::never()).unwrap());
    }),
];

/// A system call that stands out in the list.
fn mark(operation: &str, end: &str) {
    assert!(fs::metadata(format!("/sockio mark/{operation}/{end}")).is_err());
}

#[test]
fn an_operation_is_one_send_and_one_receive() {
    count("an_operation_is_one_send_and_one_receive", |pool| pool, 0);
}

#[test]
fn a_lone_caller_of_those_who_share_requests_pays_no_more() {
    count(
        "a_lone_caller_of_those_who_share_requests_pays_no_more",
        |pool| pool.combine(true),
        0,
    );
}

#[test]
fn a_fork_is_looked_for_once_in_each_operation() {
    count(
        "a_fork_is_looked_for_once_in_each_operation",
        |pool| pool.fork_check(true),
        COUNT,
    );
}

/// Counts under strace, in the process of a test of this name. `asks` is how often the process is asked for.
fn count(test: &str, set: fn(SockIoPoolBuilder) -> SockIoPoolBuilder, asks: usize) {
    if child::is_child() {
        return under_strace(&child::argument(), set);
    }
    let server = RealServer::start(&[]);
    let list = format!("sockio-strace-{}-{test}", std::process::id());
    let list = std::env::temp_dir().join(list);
    let path = list.to_str().expect("a path");
    let test = format!("syscalls::{test}");
    let run = child::command(&["strace", "-f", "-o", path], &test, &server.addr()).output();
    let output = match run {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            panic!("strace is missing: apt-get install strace")
        }
        output => output.expect("strace"),
    };
    let text = fs::read_to_string(&list).unwrap_or_default();
    let _ = fs::remove_file(&list);
    child::check(&output);
    for (operation, _) in OPERATIONS {
        check(operation, &text, asks);
    }
}

fn under_strace(server: &str, set: fn(SockIoPoolBuilder) -> SockIoPoolBuilder) {
    // All limits are on: those of the operation, of each step, and of the loan.
    let pool = set(SockIoPool::builder().servers([server]));
    let pool = pool.build().unwrap();
    let client = MemcachedClient::new(pool);
    client.set("there", "value", Expiry::never()).unwrap();
    client
        .set("larger", vec![b'x'; 10_240], Expiry::never())
        .unwrap();
    assert!(client.store_counter("counter", 0, Expiry::never()).unwrap());
    client.get::<String>("there").unwrap();
    for (name, operation) in OPERATIONS {
        mark(name, "begin");
        for _ in 0..COUNT {
            operation(&client);
        }
        mark(name, "end");
    }
}

/// The thread between its two marks makes two calls for each operation; the others together hardly any.
fn check(operation: &str, text: &str, asks: usize) {
    let is_mark = |line: &str, end: &str| line.contains(&format!("/sockio mark/{operation}/{end}"));
    let lines: Vec<&str> = text
        .lines()
        .skip_while(|line| !is_mark(line, "begin"))
        .take_while(|line| !is_mark(line, "end"))
        // The second half of a call that another thread's interrupted on the page.
        .filter(|line| !line.contains(" resumed>"))
        .collect();
    let thread = lines[0].split(' ').next().unwrap();
    let (own, others): (Vec<&&str>, Vec<&&str>) = lines[1..]
        .iter()
        .partition(|line| line.split(' ').next() == Some(thread));
    let is_send = |line: &str| line.contains(" send") || line.contains(" write");
    let is_receive = |line: &str| line.contains(" recvfrom(") || line.contains(" read(");
    let sends = own.iter().filter(|line| is_send(line)).count();
    let receives = own.iter().filter(|line| is_receive(line)).count();
    assert_eq!(
        (sends, receives),
        (COUNT, COUNT),
        "{operation}: {:#?}",
        &own[..own.len().min(20)]
    );
    let is_ask = |line: &&&str| line.contains(" getpid(");
    let asked = own.iter().copied().filter(is_ask).count();
    assert_eq!(asked, asks, "{operation}");
    // Maintenance may hold the lock when the operation wants it, once a pass.
    let (locks, rest): (Vec<&&str>, Vec<&&str>) = own
        .into_iter()
        .filter(|line| !is_send(line) && !is_receive(line) && !is_ask(line))
        .partition(|line| line.contains(" futex("));
    assert!(rest.is_empty(), "{operation}: {rest:#?}");
    assert!(locks.len() <= COUNT / 20, "{operation}: {locks:#?}");
    println!(
        "{operation}: 2 calls each, {} of other threads",
        others.len()
    );
    assert!(others.len() < COUNT / 4, "{operation}: {others:#?}");
}
