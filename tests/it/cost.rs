//! What an operation asks of the kernel and of the heap: one send and one receive, with all time limits on, and the value.
//! System calls are counted by strace, allocations by the tests' allocator. A benchmark counts instructions: `benches/cost`.
#![cfg(target_os = "linux")]

use std::fs;
use std::io;

use sockio::{Cas, Expiry, MemcachedClient, SockIoPool, SockIoPoolBuilder};

use crate::support::RealServer;
use crate::support::allocations;
use crate::support::child;

const COUNT: usize = 200;

/// One kind of call and what it costs, exactly.
struct Operation {
    name: &'static str,
    /// Sends, and as many receives; the answers to many keys may come in pieces.
    exchanges: usize,
    allocations: usize,
    run: fn(&MemcachedClient, &mut Kept),
}

/// What is kept from one call to the next.
struct Kept {
    buffer: Vec<u8>,
    keys: Vec<String>,
}

const fn op(
    name: &'static str,
    exchanges: usize,
    allocations: usize,
    run: fn(&MemcachedClient, &mut Kept),
) -> Operation {
    Operation {
        name,
        exchanges,
        allocations,
        run,
    }
}

type Settings = fn(SockIoPoolBuilder) -> SockIoPoolBuilder;

const NEVER: Expiry = Expiry::never();

const OPERATIONS: [Operation; 21] = [
    op("get", 1, 1, |client, _| {
        let value = client.get::<String>("there").unwrap();
        assert_eq!(value.as_deref(), Some("value"));
    }),
    op("get of 10 KiB", 1, 1, |client, _| {
        let value = client.get::<Vec<u8>>("larger").unwrap();
        assert_eq!(value.map(|value| value.len()), Some(10_240));
    }),
    op("miss", 1, 0, |client, _| {
        assert_eq!(client.get::<String>("absent").unwrap(), None);
    }),
    op("get_into", 1, 0, |client, kept| {
        let flags = client.get_into("there", &mut kept.buffer).unwrap();
        assert_eq!((flags, &*kept.buffer), (Some(0), &b"value"[..]));
    }),
    op("get_with", 1, 0, |client, _| {
        let len = client.get_with("there", |value, _| value.len()).unwrap();
        assert_eq!(len, Some(5));
    }),
    op("get_with of 10 KiB", 1, 0, |client, _| {
        let value = client.get_with("larger", |value, _| value.len()).unwrap();
        assert_eq!(value, Some(10_240));
    }),
    op("get_and_touch", 1, 1, |client, _| {
        let value = client.get_and_touch::<String>("there", NEVER).unwrap();
        assert_eq!(value.as_deref(), Some("value"));
    }),
    op("gets", 1, 1, |client, _| {
        let item = client.gets::<String>("there").unwrap().unwrap();
        assert!(item.cas > 0);
    }),
    op("exists", 1, 0, |client, _| {
        assert!(client.exists("there").unwrap());
    }),
    op("set", 1, 0, |client, _| {
        assert!(client.set("there", "value", NEVER).unwrap());
    }),
    op("set of 10 KiB", 1, 0, |client, _| {
        let value = [b'x'; 10_240];
        assert!(client.set("larger", &value[..], NEVER).unwrap());
    }),
    op("add", 1, 0, |client, _| {
        assert!(!client.add("there", "value", NEVER).unwrap());
    }),
    op("replace", 1, 0, |client, _| {
        assert!(client.replace("there", "value", NEVER).unwrap());
    }),
    op("append", 1, 0, |client, _| {
        assert!(!client.append("absent", "value").unwrap());
    }),
    op("cas", 2, 1, |client, _| {
        let item = client.gets::<String>("there").unwrap().unwrap();
        let outcome = client.cas("there", "value", NEVER, item.cas).unwrap();
        assert_eq!(outcome, Cas::Stored);
    }),
    op("incr", 1, 0, |client, _| {
        assert!(client.incr("counter", 2).unwrap().is_some());
    }),
    op("decr", 1, 0, |client, _| {
        assert!(client.decr("counter", 1).unwrap().is_some());
    }),
    op("delete", 1, 0, |client, _| {
        assert!(!client.delete("absent").unwrap());
    }),
    op("touch", 1, 0, |client, _| {
        assert!(client.touch("there", NEVER).unwrap());
    }),
    // A vector each of the 100 values; the others hold the keys, their order, the answers.
    op("get_multi of 100 keys", 1, GET_MULTI, |client, kept| {
        let found = client.get_multi::<Vec<u8>, _>(&kept.keys).unwrap();
        assert_eq!(found.hits().count(), 100);
    }),
    op("set_multi of 100 keys", 1, SET_MULTI, |client, kept| {
        let entries = kept.keys.iter().map(|key| (key, "value"));
        assert!(client.set_multi(entries, NEVER).unwrap().is_complete());
    }),
];

const GET_MULTI: usize = 108;
const SET_MULTI: usize = 15;

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
        1,
    );
}

/// Counts under strace, in the process of a test of this name. An operation asks `asks` times which process it is in.
fn count(test: &str, set: Settings, asks: usize) {
    if child::is_child() {
        return under_strace(&child::argument(), set);
    }
    let server = RealServer::start(&[]);
    let list = format!("sockio-strace-{}-{test}", std::process::id());
    let list = std::env::temp_dir().join(list);
    let path = list.to_str().expect("a path");
    let test = format!("cost::{test}");
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
    for operation in OPERATIONS {
        check(&operation, &text, asks);
    }
}

fn under_strace(server: &str, set: Settings) {
    let (client, mut kept) = prepare(server, set);
    for operation in OPERATIONS {
        mark(operation.name, "begin");
        for _ in 0..COUNT {
            (operation.run)(&client, &mut kept);
        }
        mark(operation.name, "end");
    }
}

/// A client with all limits on, those of the operation, of each step, and of the loan; each operation has been done once.
fn prepare(server: &str, set: Settings) -> (MemcachedClient, Kept) {
    let pool = set(SockIoPool::builder().servers([server]));
    let client = MemcachedClient::new(pool.build().unwrap());
    let mut kept = Kept {
        buffer: Vec::new(),
        keys: (0..100).map(|number| format!("key-{number:03}")).collect(),
    };
    client.set("there", "value", NEVER).unwrap();
    client.set("larger", vec![b'x'; 10_240], NEVER).unwrap();
    assert!(client.store_counter("counter", 1_000, NEVER).unwrap());
    let entries = kept.keys.iter().map(|key| (key, "value"));
    assert!(client.set_multi(entries, NEVER).unwrap().is_complete());
    for operation in OPERATIONS {
        (operation.run)(&client, &mut kept);
    }
    (client, kept)
}

/// The thread between its two marks makes two calls for each exchange; the others together hardly any.
fn check(operation: &Operation, text: &str, asks: usize) {
    let exchanges = COUNT * operation.exchanges;
    let operation = operation.name;
    let pieces = match operation {
        "get_multi of 100 keys" => 2,
        // One answer each.
        "set_multi of 100 keys" => 100,
        _ => 1,
    };
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
    assert!(
        sends == exchanges && (exchanges..=exchanges * pieces).contains(&receives),
        "{operation}: {sends} sends, {receives} receives: {:#?}",
        &own[..own.len().min(20)]
    );
    let is_ask = |line: &str| line.contains(" getpid(");
    let asked = own.iter().filter(|line| is_ask(line)).count();
    assert_eq!(asked, exchanges * asks, "{operation}");
    // Maintenance may hold the lock when the operation wants it, once a pass.
    let (locks, rest): (Vec<&&str>, Vec<&&str>) = own
        .into_iter()
        .filter(|line| !is_send(line) && !is_receive(line) && !is_ask(line))
        .partition(|line| line.contains(" futex("));
    assert!(rest.is_empty(), "{operation}: {rest:#?}");
    assert!(locks.len() <= COUNT / 20, "{operation}: {locks:#?}");
    println!(
        "{operation}: no other call, {} of other threads",
        others.len()
    );
    assert!(others.len() < COUNT / 4, "{operation}: {others:#?}");
}

#[test]
fn an_operation_allocates_what_it_returns_and_nothing_else() {
    let server = RealServer::start(&[]);
    let (client, mut kept) = prepare(&server.addr(), |pool| pool);
    for operation in OPERATIONS {
        allocations::begin();
        for _ in 0..COUNT {
            (operation.run)(&client, &mut kept);
        }
        let times = allocations::asked().times;
        assert_eq!(times, COUNT * operation.allocations, "{}", operation.name);
    }
}

/// A prefix is put before the key on the stack.
#[test]
fn a_key_that_is_built_allocates_nothing() {
    let server = RealServer::start(&[]);
    let pool = SockIoPool::builder()
        .servers([server.addr()])
        .prefix("app:");
    let client = MemcachedClient::new(pool.build().unwrap());
    assert_eq!(client.get::<String>("absent").unwrap(), None);
    allocations::begin();
    for _ in 0..COUNT {
        assert_eq!(client.get::<String>("absent").unwrap(), None);
    }
    assert_eq!(allocations::asked().times, 0);
}
