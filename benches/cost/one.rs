//! One operation, done so many times by this process: by the crate's client as a program uses it, or by the floor.

use std::io;

use sockio::codec::Whalin;
use sockio::{Cas, Expiry, MemcachedClient, SockIoPool};

use crate::allocations;
use crate::floor;
use crate::operations::{self, Form, Kind, Operation, SHORT};
use crate::text::text;

/// Counters of as many digits before as after.
const COUNT: u64 = 1_000_000_000_000;

/// What it works on.
pub(crate) struct Stage {
    pub(crate) key: String,
    pub(crate) keys: Vec<String>,
    pub(crate) value: Vec<u8>,
}

/// `floor` or `sockio`, the operation, how often, and the servers.
pub(crate) fn run(args: &[String]) -> io::Result<()> {
    let [contender, operation, times, servers] = args else {
        return Err(io::Error::other("--one CONTENDER OPERATION TIMES SERVERS"));
    };
    let operation = operations::find(operation)
        .ok_or_else(|| io::Error::other(format!("{operation:?} is no operation")))?;
    let times: usize = times.parse().map_err(io::Error::other)?;
    let servers: Vec<&str> = servers.split(',').collect();

    let client = client(operation, &servers).map_err(io::Error::other)?;
    let stage = prepare(operation, &client).map_err(io::Error::other)?;
    if contender == "floor" {
        client.pool().shutdown();
        floor::run(operation.kind, &stage, &servers, times)?;
    } else {
        repeat(operation.kind, &stage, &client, times).map_err(io::Error::other)?;
    }
    let asked = allocations::asked();
    println!("allocations {} bytes {}", asked.times, asked.bytes);
    Ok(())
}

/// Nothing is set but the servers and the form of values.
fn client(operation: &Operation, servers: &[&str]) -> sockio::Result<MemcachedClient> {
    let pool = SockIoPool::builder().servers(servers);
    let pool = match operation.form {
        Form::Raw => pool,
        Form::Whalin => pool.transcoder(Whalin::v2()),
    };
    Ok(MemcachedClient::new(pool.build()?))
}

/// Keys of 16 bytes, other ones in each process, and what is stored beforehand.
fn prepare(operation: &Operation, client: &MemcachedClient) -> sockio::Result<Stage> {
    let process = std::process::id() % 10_000_000;
    let key = |number: usize| format!("k{process:07}-{number:07}");
    let count = match operation.kind {
        Kind::GetMulti(keys) | Kind::SetMulti(keys) => keys,
        _ => 1,
    };
    let keys: Vec<String> = (0..count).map(key).collect();
    let value = match operation.kind {
        Kind::Get(len) | Kind::Set(len) => vec![b'v'; len],
        Kind::GetText | Kind::SetText => text().map(<[u8]>::to_vec).unwrap_or_default(),
        _ => vec![b'v'; SHORT],
    };
    match operation.kind {
        Kind::Miss => {}
        Kind::Incr => drop(client.store_counter(&keys[0], COUNT, Expiry::never())?),
        Kind::GetText | Kind::SetText => {
            let text = String::from_utf8_lossy(&value);
            client.set(&keys[0], &*text, Expiry::never())?;
        }
        _ => {
            let entries = keys.iter().map(|key| (key, &value));
            client
                .set_multi(entries, Expiry::never())?
                .into_complete()?;
        }
    }
    Ok(Stage {
        key: keys[0].clone(),
        keys,
        value,
    })
}

fn repeat(kind: Kind, stage: &Stage, client: &MemcachedClient, times: usize) -> sockio::Result<()> {
    let Stage { key, keys, value } = stage;
    let never = Expiry::never();
    // By name: one loop for each, so that each is compiled as in a program of its own.
    match kind {
        Kind::Get(_) => each(times, || {
            let found = client.get::<Vec<u8>>(key)?;
            assert_eq!(found.map(|found| found.len()), Some(value.len()));
            Ok(())
        }),
        Kind::GetInto => {
            let mut found = Vec::with_capacity(value.len());
            each(times, || {
                assert_eq!(client.get_into(key, &mut found)?, Some(0));
                Ok(())
            })
        }
        Kind::GetWith => each(times, || {
            let found = client.get_with(key, |found, _| found.len())?;
            assert_eq!(found, Some(value.len()));
            Ok(())
        }),
        Kind::Miss => each(times, || {
            assert_eq!(client.get::<Vec<u8>>(key)?, None);
            Ok(())
        }),
        Kind::Set(_) => each(times, || {
            assert!(client.set(key, value, never)?);
            Ok(())
        }),
        Kind::Incr => each(times, || {
            assert!(client.incr(key, 1)?.is_some());
            Ok(())
        }),
        Kind::Cas => each(times, || {
            let token = client.gets::<Vec<u8>>(key)?.map(|item| item.cas);
            let outcome = client.cas(key, value, never, token.unwrap_or_default())?;
            assert_eq!(outcome, Cas::Stored);
            Ok(())
        }),
        Kind::GetMulti(_) => each(times, || {
            let found = client.get_multi::<Vec<u8>, _>(keys)?;
            assert_eq!(found.hits().count(), keys.len());
            Ok(())
        }),
        Kind::SetMulti(_) => each(times, || {
            let stored = client.set_multi(keys.iter().map(|key| (key, value)), never)?;
            assert!(stored.is_complete());
            Ok(())
        }),
        Kind::GetText => each(times, || {
            let found = client.get::<String>(key)?;
            assert_eq!(found.map(|found| found.len()), Some(value.len()));
            Ok(())
        }),
        Kind::SetText => {
            let text = String::from_utf8_lossy(value);
            each(times, || {
                assert!(client.set(key, &*text, never)?);
                Ok(())
            })
        }
    }
}

/// Does it once, then counts.
fn each(times: usize, mut operation: impl FnMut() -> sockio::Result<()>) -> sockio::Result<()> {
    operation()?;
    allocations::begin();
    (0..times).try_for_each(|_| operation())
}
