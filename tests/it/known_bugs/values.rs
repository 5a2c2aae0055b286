//! Values that were cut, refused, or took the server down with them.

use std::time::Duration;

use sockio::{ErrorKind, MemcachedClient, RawEnd, SockIoPool};

use super::{NEVER, SERVE, client, connects, forms, is_dead, real, single, text};
use crate::support::RealServer;
use crate::support::fake::{Act, Fake};
use crate::support::wait::{ms, within};

/// val-01 (3rd-Eden/memcached#45, elbart/node-memcache#18, seregazhuk/php-react-memcached#22): the reader looked for END
/// and found it in the value.
#[test]
fn a_value_may_look_like_an_answer() {
    const VALUE: &str = "END\r\nVALUE x 0 1\r\n1\r\nEN";
    let (_server, client) = real(&[]);
    assert!(client.set("k", VALUE, NEVER).unwrap());
    assert_eq!(text(&client, "k").as_deref(), Some(VALUE));
    assert_eq!(client.gets::<String>("k").unwrap().unwrap().value, VALUE);
    let many = client.get_multi::<String, _>(["x", "k"]).unwrap();
    assert_eq!(many.get("k").map(String::as_str), Some(VALUE));
    assert_eq!(many.misses().count(), 1);
    assert_eq!(connects(&client), 1);
}

/// val-02 (3rd-Eden/memcached#84, alexzel/iomem#36): a value was taken to come in one packet.
#[test]
fn a_large_value_comes_whole_in_whatever_pieces() {
    // Byte by byte as much as goes beyond 64 KiB: each is a system call of the server's.
    for (len, piece) in [(100_000, 1), (1_000_000, 1460), (1_000_000, 64 << 10)] {
        let value: Vec<u8> = (0..len).map(|at| (at % 251) as u8).collect();
        let head = format!("VALUE k 0 {len}\r\n").into_bytes();
        let reply = [&head[..], &value, b"\r\nEND\r\n"].concat();
        let mut script = vec![Act::Request];
        match piece {
            1 => script.push(Act::SendEach(reply, Duration::ZERO)),
            _ => script.extend(reply.chunks(piece).map(|chunk| Act::Send(chunk.to_vec()))),
        }
        let fake = Fake::new(vec![script]);
        let patient = single(&fake).operation_timeout(ms(60_000));
        let read = client(patient).get::<Vec<u8>>("k").unwrap().unwrap();
        assert!(read == value, "pieces of {piece}");
    }
}

/// val-04 (memcached/memcached#831, pinterest/pymemcache#377, grafana/loki#14067): that a value was too large could not be told
/// from a broken connection, and without an answer nobody heard of it.
#[test]
fn a_value_too_large_is_told_as_what_it_is() {
    let (_server, client) = real(&["-I", "1m"]);
    let value = vec![b'x'; 1_048_576];
    client.set("big", "old", NEVER).unwrap();
    let error = client.set("big", &value, NEVER).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Server);
    assert!(error.is_too_large(), "{error}");
    assert_eq!(text(&client, "big"), None);
    assert_eq!(connects(&client), 1);
    // The largest that fits, by the server's count.
    assert!(client.set("big", &value[..1_048_514], NEVER).unwrap());

    let noreply = [
        b"set big 0 0 1048576 noreply\r\n",
        &value[..],
        b"\r\nmn\r\n",
    ]
    .concat();
    let reply = client.raw("big", &noreply, RawEnd::AnyOf(&["MN"])).unwrap();
    assert_eq!(reply, b"MN\r\n");
    assert_eq!(text(&client, "big"), None);

    // What the server refuses for other reasons is no question of length.
    let busy = b"SERVER_ERROR out of memory storing object\r\n".to_vec();
    let fake = Fake::new(vec![vec![Act::Request, Act::Send(busy)]]);
    let error = super::client(single(&fake))
        .set("k", "v", NEVER)
        .unwrap_err();
    assert!(error.kind() == ErrorKind::Server && !error.is_too_large());
}

/// val-05 (linsomniac/python-memcached#97): many values that were all too large marked their servers dead.
#[test]
fn many_values_too_large_are_refused_one_by_one() {
    let (_server, client) = real(&["-I", "1m"]);
    let entries = ["a", "b", "c"].map(|key| (key, vec![b'x'; 1 << 20]));
    let stored = client.set_multi(entries, NEVER).unwrap();
    let failures = stored.failures();
    assert_eq!(failures.len(), 3);
    for (number, failure) in failures.iter().enumerate() {
        assert_eq!(failure.keys(), [number]);
        assert!(failure.error().is_too_large(), "{failure:?}");
    }
    assert!(!is_dead(&client));
    assert!(client.set("a", "v", NEVER).unwrap());
    assert_eq!(connects(&client), 1);
}

/// val-07 (enyim/EnyimMemcached 2.7): the client refused what the server was set to take.
#[test]
fn the_server_decides_what_is_too_large() {
    let (_server, client) = real(&["-I", "5m", "-m", "128"]);
    let value = vec![b'x'; 3 << 20];
    assert!(client.set("k", &value, NEVER).unwrap());
    assert!(client.get::<Vec<u8>>("k").unwrap().unwrap() == value);
}

/// val-08 (websupport-sk/pecl-memcache#18, 1.3): an empty value was a miss, and false came back as an empty text.
#[test]
fn empty_and_false_are_values() {
    let server = RealServer::start(&[]);
    for compat in forms() {
        let pool = SockIoPool::builder()
            .servers([server.addr()])
            .compat(compat);
        // Nothing is opened in advance for the many.
        let client: MemcachedClient = client(pool.initial_conn(0).min_conn(0));
        assert!(client.set("k", "", NEVER).unwrap());
        assert_eq!(text(&client, "k").as_deref(), Some(""), "{compat}");
        let many = client.get_multi::<String, _>(["k"]).unwrap();
        assert_eq!(many.get("k").map(String::as_str), Some(""), "{compat}");
        assert!(client.set("k", false, NEVER).unwrap());
        assert_eq!(client.get::<bool>("k").unwrap(), Some(false), "{compat}");
        assert!(client.delete("k").unwrap());
        assert_eq!(client.get::<bool>("k").unwrap(), None);
    }
}

/// val-10 (websupport-sk/pecl-memcache 3.0.2, PECL #14044): a write of which the kernel took only a part failed.
#[test]
fn a_write_goes_on_when_the_kernel_takes_only_a_part() {
    let fake = Fake::new(vec![vec![Act::Pause(ms(300)), SERVE]]);
    let client = client(single(&fake));
    let value = vec![b'x'; 24 << 20];
    let stored = within(ms(5000), || client.set("k", &value, NEVER));
    assert!(stored.unwrap());
    assert_eq!(fake.seen()[0].requests, ["set k 0 0 25165824"]);
    assert_eq!(text(&client, "next").as_deref(), Some("next"));
    assert_eq!(fake.connections(), 1);
}
