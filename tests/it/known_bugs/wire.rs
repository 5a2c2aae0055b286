//! What goes over the wire, and what its answers mean.

use sockio::SockIoPool;

use super::{NEVER, SERVE, client, real, single, text};
use crate::support::fake::{Act, Fake};
use crate::support::wait::{eventually, ms};

/// cmd-02 (aisk/rust-memcache#75): an add that had stored nothing was a success.
#[test]
fn what_was_not_stored_is_told() {
    let (_server, client) = real(&[]);
    assert!(!client.replace("k", "x", NEVER).unwrap());
    assert!(!client.append("k", "x").unwrap());
    assert!(!client.prepend("k", "x").unwrap());
    assert!(client.add("k", "first", NEVER).unwrap());
    assert!(!client.add("k", "second", NEVER).unwrap());
    assert_eq!(text(&client, "k").as_deref(), Some("first"));
}

/// A server that takes these very bytes and gives these answers.
fn strict(pairs: &[(&str, &str)]) -> Fake {
    let acts = pairs
        .iter()
        .flat_map(|(request, reply)| [Act::Expect((*request).into()), Act::Send((*reply).into())]);
    Fake::new(vec![acts.collect()])
}

/// cmd-05 (facebook/mcrouter#52, pinterest/pymemcache 3.4.2): a blank at the end of `stats` was refused by strict servers.
#[test]
fn no_command_has_a_blank_too_many() {
    let fake = strict(&[
        ("stats\r\n", "STAT pid 1\r\nEND\r\n"),
        ("stats items\r\n", "END\r\n"),
        ("version\r\n", "VERSION 1.6.18\r\n"),
        ("flush_all\r\n", "OK\r\n"),
        ("verbosity 1\r\n", "OK\r\n"),
        ("get a b\r\n", "END\r\n"),
        ("set a 0 0 1\r\nx\r\n", "STORED\r\n"),
        ("touch a 1\r\n", "TOUCHED\r\n"),
        ("incr a 1\r\n", "1\r\n"),
    ]);
    let client = client(single(&fake));
    assert_eq!(client.stats(None).unwrap()[0].1.as_ref().unwrap().len(), 1);
    assert!(client.stats(Some("items")).unwrap()[0].1.is_ok());
    assert!(client.versions()[0].1.is_ok());
    assert!(client.flush_all(None)[0].1.is_ok());
    assert!(client.verbosity(1)[0].1.is_ok());
    assert!(
        client
            .get_multi::<String, _>(["a", "b"])
            .unwrap()
            .is_complete()
    );
    assert!(client.set("a", "x", NEVER).unwrap());
    assert!(client.touch("a", ms(1000)).unwrap());
    assert_eq!(client.incr("a", 1).unwrap(), Some(1));
    // Without a `quit`: the end of the connection says as much.
    drop(client);
    eventually("it is closed", || fake.open() == 0);
    assert_eq!((fake.connections(), fake.seen()[0].requests.len()), (1, 9));
    assert_eq!(fake.seen()[0].trailing, b"");
}

/// cmd-06 (petergoldstein/dalli 3.1.1, PECL #17566): the delay of a flush was dropped, and a delete had a time that servers refuse.
#[test]
fn a_flush_has_its_delay_and_a_delete_no_time() {
    let fake = strict(&[
        ("flush_all 10\r\n", "OK\r\n"),
        ("flush_all 2\r\n", "OK\r\n"),
        ("delete k\r\n", "DELETED\r\n"),
    ]);
    let client = client(single(&fake));
    assert!(client.flush_all(Some(ms(10_000)))[0].1.is_ok());
    assert!(client.flush_all(Some(ms(1500)))[0].1.is_ok());
    assert!(client.delete("k").unwrap());
}

/// limit-02 (aisk/rust-memcache#129): a proxy that knows the text protocol alone could not make sense of the binary one.
#[test]
fn a_client_with_default_settings_speaks_text() {
    let fake = Fake::new(vec![vec![
        Act::Expect(b"get k\r\n".to_vec()),
        Act::Send(b"END\r\n".to_vec()),
        SERVE,
    ]]);
    let client = client(SockIoPool::builder().servers([fake.addr()]));
    assert_eq!(text(&client, "k"), None);
    assert!(client.set("k", "v", NEVER).unwrap());
    assert_eq!(fake.seen()[0].requests, ["get k", "set k 0 0 1"]);
}
