//! Tokens of cas, and the keys beside them.

use sockio::{Cas, SockIoPool};

use super::{NEVER, client, single};
use crate::support::RealServer;
use crate::support::fake::{Act, Fake};

/// cmd-03 (gwhalin/Memcached-Java-Client#6): whether a token has a sign was not known.
#[test]
fn a_token_has_64_bits_without_a_sign() {
    let script = vec![
        Act::Expect(b"gets k\r\n".to_vec()),
        Act::Send(b"VALUE k 0 1 18446744073709551615\r\nx\r\nEND\r\n".to_vec()),
        Act::Expect(b"cas k 0 0 1 18446744073709551615\r\ny\r\n".to_vec()),
        Act::Send(b"STORED\r\n".to_vec()),
    ];
    let fake = Fake::new(vec![script]);
    let client = client(single(&fake));
    let item = client.gets::<String>("k").unwrap().unwrap();
    assert_eq!(item.cas, u64::MAX);
    assert_eq!(client.cas("k", "y", NEVER, item.cas).unwrap(), Cas::Stored);
}

/// cmd-08 (3rd-Eden/memcached#309): a value with a token came back under its key with the prefix.
#[test]
fn keys_with_tokens_come_back_without_the_prefix() {
    let server = RealServer::start(&[]);
    let pool = SockIoPool::builder()
        .servers([server.addr()])
        .prefix("foo:");
    let client = client(pool);
    client.set("bar", "v", NEVER).unwrap();
    let item = client.gets::<String>("bar").unwrap().unwrap();
    let many = client.gets_multi::<String, _>(["bar"]).unwrap();
    let hits: Vec<_> = many.hits().map(|(key, item)| (*key, item.cas)).collect();
    assert_eq!(hits, [("bar", item.cas)]);
    assert_eq!(many.get("bar").unwrap().value, "v");
}
