//! Any bytes as the answer to a command: never a panic, never more memory than the limit, never the value of another key.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use sockio::{Expiry, MemcachedClient, RawEnd, SockIoPool};

use super::inputs;
use crate::support::allocations;
use crate::support::fake::{Act, Fake};

const LIMIT: usize = 1 << 20;
const NEVER: Expiry = Expiry::never();
/// Buffers, and what is shown of an error.
const BESIDES: usize = 128 * 1024;

type Call = fn(&MemcachedClient) -> Option<Vec<u8>>;

/// Each kind of command; of those that read a value, what they read.
const CALLS: [Call; 18] = [
    |c| c.get("k").ok().flatten(),
    |c| c.gets("k").ok().flatten().map(|item| item.value),
    |c| c.get_raw("k").ok().flatten().map(|item| item.value),
    |c| c.get_and_touch("k", NEVER).ok().flatten(),
    |c| c.get_with("k", |bytes, _| bytes.to_vec()).ok().flatten(),
    |c| {
        let mut value = Vec::new();
        let found = c.get_into("k", &mut value).ok().flatten();
        found.map(|_| value)
    },
    |c| {
        let found = c.get_multi::<Vec<u8>, _>(["k", "l"]).unwrap();
        found.get("k").cloned()
    },
    |c| nothing(c.exists("k")),
    |c| nothing(c.set("k", "v", NEVER)),
    |c| nothing(c.add("k", "v", NEVER)),
    |c| nothing(c.cas("k", "v", NEVER, 1)),
    |c| nothing(c.delete("k")),
    |c| nothing(c.touch("k", NEVER)),
    |c| nothing(c.incr("k", 1)),
    |c| nothing(c.set_multi([("k", "v"), ("l", "v")], NEVER)),
    |c| nothing(c.versions()),
    |c| nothing(c.stats(None)),
    |c| nothing(c.raw("k", b"mn\r\n", RawEnd::AnyOf(&["END"]))),
];

fn nothing<T>(_: T) -> Option<Vec<u8>> {
    None
}

/// Bytes of any kind, and pieces of replies in any order.
fn reply() -> impl Strategy<Value = Vec<u8>> {
    let pieces: Vec<&[u8]> = vec![
        b"VALUE k 0 5\r\nhello\r\n",
        b"VALUE k 0 5 7\r\nhello\r\n",
        b"VALUE l 1 0\r\n\r\n",
        b"VALUE kk 0 1\r\nx\r\n",
        b"END\r\n",
        b"VALUE k ",
        b"VALUE ",
        b"k ",
        b"0 ",
        b"5",
        b"-1",
        b"1048576\r\n",
        b"1048577\r\n",
        b"4294967296 ",
        b"18446744073709551615\r\n",
        b"\r\n",
        b"\n",
        b" ",
        b"\0",
        b"hello",
        b"STORED\r\n",
        b"NOT_STORED\r\n",
        b"EXISTS\r\n",
        b"NOT_FOUND\r\n",
        b"DELETED\r\n",
        b"TOUCHED\r\n",
        b"OK\r\n",
        b"HD\r\n",
        b"EN\r\n",
        b"ERROR\r\n",
        b"CLIENT_ERROR x\r\n",
        b"SERVER_ERROR out of memory\r\n",
        b"VERSION 1\r\n",
        b"STAT a b\r\n",
        b"ITEM k [5 b; 0 s]\r\n",
        b"VA 3 t0\r\n",
        b"7\r\n",
    ];
    let pieces = prop::collection::vec(prop::sample::select(pieces), 0..8);
    let long = (0..3 * LIMIT, 1_usize..3 * LIMIT).prop_map(|(announced, len)| {
        [
            format!("VALUE k 0 {announced}\r\n").into_bytes(),
            vec![b'x'; len],
            b"\r\nEND\r\n".to_vec(),
        ]
        .concat()
    });
    prop_oneof![
        8 => pieces.prop_map(|pieces| pieces.concat()),
        4 => prop::collection::vec(any::<u8>(), 0..200),
        1 => long,
    ]
}

proptest! {
    #![proptest_config(inputs(256))]

    #[test]
    fn any_reply_is_an_answer_or_an_error(
        call in 0..CALLS.len(),
        reply in reply(),
        combine in any::<bool>(),
    ) {
        let fake = Fake::new(vec![vec![Act::Request, Act::Send(reply.clone()), Act::Fin]]);
        let pool = SockIoPool::builder()
            .servers([fake.addr()])
            .initial_conn(0)
            .min_conn(0)
            .max_conn(1)
            .max_value_len(LIMIT)
            .combine(combine)
            .operation_timeout(Duration::from_secs(30));
        let client = MemcachedClient::new(pool.build().unwrap());
        let begun = Instant::now();
        allocations::begin();
        let value = CALLS[call](&client);
        let asked = allocations::asked();
        prop_assert!(begun.elapsed() < Duration::from_secs(31), "{:?}", begun.elapsed());
        // A raw reply, of which nothing says how long it is, grows with what comes: a vector that doubles.
        let doubled = if call == CALLS.len() - 1 { 2 } else { 1 };
        prop_assert!(asked.largest <= doubled * LIMIT + BESIDES, "{:?}", asked);
        if let Some(value) = value {
            prop_assert!(value.len() <= LIMIT);
            // Many values come in any order.
            let whole = [format!(" {}\r\n", value.len()).as_bytes(), &value, b"\r\n"].concat();
            let with_cas = [b"\r\n".as_slice(), &value, b"\r\n"].concat();
            let told = |line: &[u8]| reply.windows(line.len()).any(|part| part == line);
            prop_assert!(told(b"VALUE k ") && (told(&whole) || told(&with_cas)), "{} bytes", value.len());
        }
    }
}
