//! Keys, values and credentials: no record of the log names one, nor does what a type or an error shows.

use std::error::Error as StdError;
use std::fmt::Debug;

use sockio::codec::{Compression, Encoded, PhpMemcached, Raw, Transcoder, Whalin};
use sockio::{
    Compat, Error, Expiry, FromValue, Key, MemcachedClient, RawEnd, Room, SockIoPool, ToKey,
    ToValue, Value, session,
};

use crate::support::RealServer;
use crate::support::fake::{Act, Fake};
use crate::support::logs;
use crate::support::wait::{eventually, ms};

const KEY: &str = "secret_key_4711";
const VALUE: &str = "secret value 0815";
const NEVER: Expiry = Expiry::never();

/// What must not be seen, in any of the forms in which bytes are shown.
fn forms() -> Vec<String> {
    let texts = [KEY, VALUE, "secret"];
    let shown = |text: &str| {
        let bytes = text.as_bytes();
        let hex = |upper: bool| -> String {
            let pairs = bytes.iter().map(|byte| match upper {
                true => format!("{byte:02X}"),
                false => format!("{byte:02x}"),
            });
            pairs.collect()
        };
        let numbers = format!("{bytes:?}");
        [
            text.to_owned(),
            hex(true),
            hex(false),
            numbers.trim_matches(['[', ']']).to_owned(),
        ]
    };
    texts.into_iter().flat_map(shown).collect()
}

#[track_caller]
fn assert_hidden(shown: &str) {
    for form in forms() {
        assert!(!shown.contains(&form), "{form:?} in {shown:?}");
    }
}

#[track_caller]
fn assert_error_hidden(error: &Error) {
    assert_hidden(&format!("{error} {error:?} {error:#?}"));
    let mut source = StdError::source(error);
    while let Some(cause) = source {
        assert_hidden(&format!("{cause} {cause:?}"));
        source = cause.source();
    }
}

/// A value of a type that it is none of, which fails to be read.
#[derive(Debug)]
struct Unreadable;

impl FromValue for Unreadable {
    fn from_value(value: Value<'_>) -> sockio::Result<Self> {
        u8::from_value(value).map(|_| Self)
    }
}

/// Every command once, with the key and the value; what went wrong.
fn every_command(client: &MemcachedClient) -> Vec<Error> {
    let key = KEY;
    let mut errors: Vec<Error> = [
        client.get::<String>(key).map(drop),
        client.get::<Unreadable>(key).map(drop),
        client.gets::<u64>(key).map(drop),
        client.get_raw(key).map(drop),
        client.get_into(key, &mut Vec::new()).map(drop),
        client.get_with(key, |_, _| ()).map(drop),
        client.get_and_touch::<bool>(key, NEVER).map(drop),
        client.gets_and_touch::<String>(key, NEVER).map(drop),
        client.exists(key).map(drop),
        client.set(key, VALUE, NEVER).map(drop),
        client.set(key, VALUE.repeat(2_000), NEVER).map(drop),
        client.add(key, VALUE, NEVER).map(drop),
        client.replace(key, VALUE, NEVER).map(drop),
        client.append(key, VALUE).map(drop),
        client.prepend(key, VALUE).map(drop),
        client.cas(key, VALUE, NEVER, 1).map(drop),
        client.set_raw(key, VALUE, 2, NEVER).map(drop),
        client.set_with_flags(key, VALUE, 7, NEVER).map(drop),
        client.get::<String>(key).map(drop),
        client.delete(key).map(drop),
        client.touch(key, NEVER).map(drop),
        client.set(key, VALUE, NEVER).map(drop),
        client.incr(key, 1).map(drop),
        client.decr(key, 1).map(drop),
        client.get_counter(key).map(drop),
        client.add_or_incr(key, 1, NEVER).map(drop),
        client
            .raw(key, format!("mg {key} v\r\n").as_bytes(), RawEnd::FirstLine)
            .map(drop),
        client
            .raw(key, format!("bad {key}").as_bytes(), RawEnd::FirstLine)
            .map(drop),
        // Keys that cannot be sent.
        client.get::<String>(format!("{key} {key}")).map(drop),
        client.set(format!("{key}\r\n"), VALUE, NEVER).map(drop),
        client.delete(key.repeat(20)).map(drop),
        // Values that have no form.
        client.set(key, Value::Null, NEVER).map(drop),
        client.stats(Some(&format!("{key}\r\n"))).map(drop),
    ]
    .into_iter()
    .filter_map(Result::err)
    .collect();
    let many = client.get_multi::<u64, _>([key, "other"]).unwrap();
    assert_hidden(&format!("{many:?} {:?}", many.failures()));
    errors.extend(many.into_complete().err());
    let many = client
        .set_multi([(key, VALUE), ("other", VALUE)], NEVER)
        .unwrap();
    assert_hidden(&format!("{many:?}"));
    errors.extend(many.into_complete().err());
    let many = client.delete_multi([key, "other"]).unwrap();
    assert_hidden(&format!("{many:?}"));
    errors.extend(many.into_complete().err());
    errors
}

fn client(server: &str, combine: bool) -> MemcachedClient {
    let pool = SockIoPool::builder()
        .servers([server])
        .max_conn(2)
        .initial_conn(0)
        .min_conn(0)
        .operation_timeout(ms(150))
        .socket_timeout(ms(100))
        .connect_timeout(ms(100))
        .max_busy(ms(400))
        .maint_sleep(ms(20))
        .dead_backoff(ms(10), ms(40))
        .combine(combine);
    MemcachedClient::new(pool.build().unwrap())
}

/// The records about a server; none names the key or a value.
#[track_caller]
fn assert_logged_nothing(server: &str) -> usize {
    let lines = logs::all_about(server);
    lines.iter().for_each(|line| assert_hidden(line));
    lines.len()
}

#[test]
fn a_server_in_good_health_leaves_no_trace() {
    logs::listen();
    let server = RealServer::start(&[]);
    for combine in [false, true] {
        let client = client(&server.addr(), combine);
        let errors = every_command(&client);
        assert!(errors.len() >= 10, "{errors:?}");
        errors.iter().for_each(assert_error_hidden);
        let java = client.clone().with_transcoder(Whalin::v2());
        every_command(&java).iter().for_each(assert_error_hidden);
        let php = client.clone().with_transcoder(PhpMemcached::new());
        every_command(&php).iter().for_each(assert_error_hidden);
    }
    assert_logged_nothing(&server.addr());
}

/// What a server does with each request.
fn faults() -> Vec<(&'static str, Vec<Act>)> {
    let send = |text: &str| vec![Act::Request, Act::Send(text.as_bytes().to_vec())];
    vec![
        ("silence", vec![Act::Stall]),
        ("end", vec![Act::Request, Act::Fin]),
        ("reset", vec![Act::Request, Act::Rst]),
        ("closed at once", vec![Act::Fin]),
        ("never reads", vec![Act::NeverRead]),
        ("out of step", send(&format!("{KEY} {VALUE}\r\n"))),
        (
            "another key",
            send(&format!("VALUE x{KEY} 0 3\r\nabc\r\nEND\r\n")),
        ),
        (
            "cut value",
            [
                send(&format!("VALUE {KEY} 0 500\r\n{VALUE}")),
                vec![Act::Fin],
            ]
            .concat(),
        ),
        (
            "unending value",
            send(&format!("VALUE {KEY} 0 500\r\n{VALUE}")),
        ),
        (
            "too long",
            send(&format!("VALUE {KEY} 0 99999999999\r\n{VALUE}")),
        ),
        (
            "wrong end",
            send(&format!("VALUE {KEY} 0 17\r\n{VALUE}XXEND\r\n")),
        ),
        (
            "wrong flags",
            send(&format!("VALUE {KEY} 6 17\r\n{VALUE}\r\nEND\r\n")),
        ),
        (
            "drips",
            vec![
                Act::Request,
                Act::SendEach(format!("VALUE {KEY} 0 9999\r\n").into_bytes(), ms(30)),
            ],
        ),
    ]
}

#[test]
fn no_fault_of_a_server_brings_a_key_or_value_to_light() {
    logs::listen();
    let mut logged = 0;
    for (name, script) in faults() {
        for combine in [false, true] {
            let fake = Fake::new(vec![script.clone()]);
            let client = client(&fake.addr(), combine).on_error(assert_error_hidden);
            let errors = every_command(&client);
            assert!(errors.len() >= 20, "{name}: {}", errors.len());
            errors.iter().for_each(assert_error_hidden);
            for (server, stats) in client.stats(None).unwrap() {
                assert_hidden(&format!("{server:?} {:?}", stats.err()));
            }
            assert_hidden(&format!(
                "{:?} {client:?} {:?}",
                client.pool(),
                client.pool().stats()
            ));
            logged += assert_logged_nothing(&fake.addr());
        }
    }
    assert!(logged >= 10, "{logged} records");
}

/// A read that only the maintenance thread can end, and a server that comes back: both are logged.
#[test]
fn what_maintenance_logs_names_the_server_alone() {
    logs::listen();
    let long = [
        Act::Request,
        Act::Send(format!("VALUE {KEY} 0 99999\r\n").into_bytes()),
        Act::SendEach(VALUE.repeat(1_000).into_bytes(), ms(5)),
    ];
    let fake = Fake::new(vec![long.to_vec()]);
    let dripped = client(&fake.addr(), false);
    dripped.get::<String>(KEY).map(drop).unwrap_err();
    eventually("the cut is logged", || {
        !logs::about(&fake.addr()).is_empty()
    });
    assert_logged_nothing(&fake.addr());

    let mut fake = Fake::refusing();
    let revived = client(&fake.addr(), false);
    revived.set(KEY, VALUE, NEVER).unwrap_err();
    fake.up();
    eventually("the return is logged", || {
        logs::about(&fake.addr())
            .iter()
            .any(|line| line.starts_with("INFO"))
    });
    assert!(assert_logged_nothing(&fake.addr()) >= 2);
}

#[test]
fn no_type_shows_a_key_or_a_value() {
    let shown: Vec<Box<dyn Debug>> = vec![
        Box::new(Key::new(KEY)),
        Box::new(Key::new("k").routed_by(KEY)),
        Box::new(Value::from(VALUE)),
        Box::new(Value::from(VALUE.as_bytes())),
        Box::new(Encoded {
            flags: 0,
            data: VALUE.as_bytes().into(),
        }),
        Box::new(session::php_memcached("", KEY)),
        Box::new(session::pecl_memcache(KEY)),
    ];
    for shown in shown {
        assert_hidden(&format!("{shown:?} {shown:#?}"));
    }
    assert_hidden(&format!("{:?}", KEY.to_key()));
    let rules = Compat::default().key_rules(b"").unwrap();
    let mut room = Room::default();
    let wire = rules.apply(KEY.to_key(), &mut room).unwrap();
    assert_hidden(&format!("{wire:?}"));
    assert_hidden(&format!("{room:?}"));
    // What a prefix is, may be told: it stands before all keys and is a setting. Keys and values are no settings.
    let pool = SockIoPool::builder()
        .servers(["127.0.0.1:1"])
        .prefix("app:");
    assert_hidden(&format!("{pool:?}"));
}

#[test]
fn what_cannot_be_written_or_read_is_not_shown() {
    let forms: [&dyn Transcoder; 4] = [
        &Raw::new().compression(Compression::new()),
        &Whalin::v1(),
        &Whalin::v2(),
        &PhpMemcached::new(),
    ];
    let mut errors = Vec::new();
    for form in forms {
        for flags in 0..600 {
            errors.extend(form.decode(flags, VALUE.as_bytes().into()).err());
        }
    }
    let wrong = || Value::from(VALUE);
    errors.extend([
        u64::from_value(wrong()).unwrap_err(),
        f64::from_value(wrong()).unwrap_err(),
        bool::from_value(wrong()).unwrap_err(),
        char::from_value(wrong()).unwrap_err(),
        std::time::SystemTime::from_value(wrong()).unwrap_err(),
        u8::from_value(4711_u64.to_value()).unwrap_err(),
    ]);
    assert!(errors.len() > 500, "{}", errors.len());
    errors.iter().for_each(assert_error_hidden);
}
