//! Keys: whatever is accepted, with any prefix and by any client's rules, makes one line for each command; all else sends nothing.

use std::time::Duration;

use proptest::prelude::*;
use sockio::{
    Compat, ErrorKind, Expiry, Key, KeyTransform, MemcachedClient, Result, Room, SockIoPool, ToKey,
};

use super::inputs;
use crate::support::fake::{Act, Fake};

const NEVER: Expiry = Expiry::never();

/// A value that would be commands, if its length did not count.
const VALUE: &str = "x\r\nflush_all\r\nset k 0 0 1\r\ny";

type Call = fn(&MemcachedClient, &Key<'_>) -> Result<()>;

/// Each command, how its line begins, and the answer to it. Those with two keys have a line for each, or one for both.
const CALLS: [(Call, &[&str], &str); 29] = [
    (|c, k| c.get::<String>(k).map(drop), &["get"], "END"),
    (|c, k| c.gets::<String>(k).map(drop), &["gets"], "END"),
    (|c, k| c.get_raw(k).map(drop), &["gets"], "END"),
    (
        |c, k| c.get_into(k, &mut Vec::new()).map(drop),
        &["get"],
        "END",
    ),
    (|c, k| c.get_with(k, |_, _| ()).map(drop), &["get"], "END"),
    (
        |c, k| c.get_and_touch::<String>(k, NEVER).map(drop),
        &["gat 0"],
        "END",
    ),
    (
        |c, k| c.gets_and_touch::<String>(k, NEVER).map(drop),
        &["gats 0"],
        "END",
    ),
    (|c, k| c.exists(k).map(drop), &["mg"], "EN"),
    (|c, k| c.set(k, VALUE, NEVER).map(drop), &["set"], "STORED"),
    (|c, k| c.add(k, VALUE, NEVER).map(drop), &["add"], "STORED"),
    (
        |c, k| c.replace(k, VALUE, NEVER).map(drop),
        &["replace"],
        "NOT_STORED",
    ),
    (
        |c, k| c.append(k, VALUE).map(drop),
        &["append"],
        "NOT_STORED",
    ),
    (|c, k| c.prepend(k, VALUE).map(drop), &["prepend"], "STORED"),
    (
        |c, k| c.cas(k, VALUE, NEVER, 1).map(drop),
        &["cas"],
        "EXISTS",
    ),
    (
        |c, k| c.set_raw(k, VALUE, 0, NEVER).map(drop),
        &["set"],
        "STORED",
    ),
    (
        |c, k| c.set_with_flags(k, VALUE, 7, NEVER).map(drop),
        &["set"],
        "STORED",
    ),
    (|c, k| c.delete(k).map(drop), &["delete"], "DELETED"),
    (
        |c, k| c.touch(k, Duration::from_secs(1)).map(drop),
        &["touch"],
        "TOUCHED",
    ),
    (|c, k| c.incr(k, 1).map(drop), &["incr"], "1"),
    (|c, k| c.decr(k, 1).map(drop), &["decr"], "NOT_FOUND"),
    (
        |c, k| c.store_counter(k, 1, NEVER).map(drop),
        &["set"],
        "STORED",
    ),
    (|c, k| c.get_counter(k).map(drop), &["get"], "END"),
    (
        |c, k| c.add_or_incr(k, 1, NEVER).map(drop),
        &["add"],
        "STORED",
    ),
    (
        |c, k| c.add_or_decr(k, 1, NEVER).map(drop),
        &["add"],
        "STORED",
    ),
    (
        |c, k| c.get_multi::<String, _>([k, k]).map(drop),
        &["get"],
        "END",
    ),
    (
        |c, k| c.gets_multi::<String, _>([k, k]).map(drop),
        &["gets"],
        "END",
    ),
    (
        |c, k| c.set_multi([(k, VALUE), (k, VALUE)], NEVER).map(drop),
        &["set", "set"],
        "STORED",
    ),
    (
        |c, k| c.delete_multi([k, k]).map(drop),
        &["delete", "delete"],
        "DELETED",
    ),
    (|c, _| c.stats(Some("items")).map(drop), &["stats"], "END"),
];

/// One row for each way in which a client changes keys.
fn compats() -> Vec<Compat> {
    let mut seen: Vec<KeyTransform> = Vec::new();
    let new = |compat: &Compat| {
        let known = seen.contains(&compat.key_transform());
        seen.push(compat.key_transform());
        !known
    };
    Compat::all().into_iter().filter(new).collect()
}

/// Plain keys, keys of any bytes, and those that are commands behind a line end.
fn bytes(longest: usize) -> impl Strategy<Value = Vec<u8>> {
    let plain = prop::collection::vec(b'!'..=b'~', 1..40);
    let above = prop::collection::vec(0x80_u8.., 1..20);
    let wild = prop::collection::vec(any::<u8>(), 0..40);
    let long = (0..=longest, any::<u8>()).prop_map(|(len, byte)| vec![byte; len]);
    let breaks = prop::sample::select(vec![
        "\r\n", "\n", "\r", " ", "\0", "\t", "\x7f", "\u{85}", "\u{2028}", "\u{a0}",
    ]);
    let smuggled = ("[a-z]{0,3}", breaks, "[a-z]{0,3}")
        .prop_map(|(head, end, tail)| format!("{head}{end}flush_all{end}{tail}").into_bytes());
    prop_oneof![4 => plain, 1 => above, 1 => wild, 1 => long, 2 => smuggled]
}

/// The lines that came, by all connections.
fn lines(fake: &Fake) -> Vec<String> {
    fake.seen()
        .into_iter()
        .flat_map(|seen| seen.requests)
        .collect()
}

fn script() -> Vec<Act> {
    let answers = CALLS.iter().flat_map(|(_, lines, answer)| {
        lines.iter().flat_map(move |_| {
            [
                Act::Request,
                Act::Send(format!("{answer}\r\n").into_bytes()),
            ]
        })
    });
    answers.collect()
}

fn check(
    compat: Compat,
    prefix: &[u8],
    key: &[u8],
    route: &[u8],
) -> std::result::Result<(), TestCaseError> {
    let fake = Fake::new(vec![script()]);
    let builder = SockIoPool::builder()
        .servers([fake.addr()])
        .key_transform(compat.key_transform())
        .prefix(prefix)
        .initial_conn(0)
        .min_conn(0)
        .max_conn(1);
    let (pool, rules) = match (builder.build(), compat.key_rules(prefix)) {
        (Ok(pool), Ok(rules)) => (pool, rules),
        (pool, rules) => {
            let kinds = [pool.map(drop), rules.map(drop)]
                .map(|answer| answer.map_err(|error| error.kind()));
            prop_assert_eq!(kinds, [Err(ErrorKind::Config), Err(ErrorKind::Config)]);
            return Ok(());
        }
    };
    let client = MemcachedClient::new(pool);
    // What decides where the key lives is hashed, and never sent.
    let routed = Key::new(key).routed_by(route);
    let mut room = Room::default();
    let Ok(wire) = rules.apply(key.to_key(), &mut room) else {
        // The last one has no key.
        for (call, ..) in &CALLS[..CALLS.len() - 1] {
            prop_assert_eq!(call(&client, &routed).unwrap_err().kind(), ErrorKind::Key);
        }
        prop_assert_eq!(fake.connections(), 0);
        return Ok(());
    };
    let sent = String::from_utf8_lossy(wire.bytes()).into_owned();
    let mut expected = Vec::new();
    for (call, begins, _) in CALLS {
        call(&client, &routed).unwrap();
        expected.extend_from_slice(begins);
    }
    let lines = lines(&fake);
    prop_assert_eq!(lines.len(), expected.len(), "{:?}", lines);
    for (line, begin) in lines.iter().zip(expected) {
        prop_assert!(!line.contains(['\n', '\r', '\0', '\x7f']), "{:?}", line);
        let rest = line.strip_prefix(begin).unwrap();
        let words: Vec<&str> = rest.split(' ').skip(1).collect();
        let keys = words.iter().filter(|word| **word == sent).count();
        // `stats` names no key.
        prop_assert!(
            begin == "stats" || keys >= 1 && words[0] == sent,
            "{:?}",
            line
        );
        prop_assert!(line.split(' ').count() <= 6, "{:?}", line);
    }
    prop_assert_eq!((fake.connections(), fake.seen()[0].trailing.len()), (1, 0));
    Ok(())
}

proptest! {
    #![proptest_config(inputs(96))]

    #[test]
    fn a_command_is_one_line(
        compat in prop::sample::select(compats()),
        prefix in prop_oneof![2 => Just(Vec::new()), 2 => "[a-z]{1,8}:".prop_map(String::into_bytes), 1 => bytes(251)],
        key in bytes(300),
        route in bytes(300),
    ) {
        check(compat, &prefix, &key, &route)?;
    }
}

proptest! {
    #![proptest_config(inputs(1_000))]

    #[test]
    fn what_the_rules_let_pass_no_server_takes_for_more(
        compat in prop::sample::select(compats()),
        prefix in prop_oneof![Just(Vec::new()), bytes(251)],
        key in bytes(300),
    ) {
        let Ok(rules) = compat.key_rules(&prefix) else { return Ok(()) };
        let mut room = Room::default();
        if let Ok(wire) = rules.apply(key.to_key(), &mut room) {
            let wire = wire.bytes();
            prop_assert!((1..=250).contains(&wire.len()));
            prop_assert!(wire.iter().all(|byte| *byte > b' ' && *byte != 0x7f), "{:?}", wire);
            prop_assert!(wire.starts_with(&prefix));
        }
    }
}
