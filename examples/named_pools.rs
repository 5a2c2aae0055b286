//! Two pools by name: a program's parts find theirs without handing it around, as with `SockIOPool.getInstance(name)`.

use std::error::Error;

use sockio::testing::Server;
use sockio::{ErrorKind, Expiry, MemcachedClient, SockIoPool};

fn main() -> Result<(), Box<dyn Error>> {
    let (users, pages) = (Server::start()?, Server::start()?);
    // Where the program starts:
    SockIoPool::builder()
        .servers([users.addr()])
        .max_conn(4)
        .build_named("users")?;
    SockIoPool::builder()
        .servers([pages.addr()])
        .prefix("page:")
        .build_named("pages")?;

    remember("ada", "Lovelace")?;
    let pages = SockIoPool::named("pages").ok_or("no pool of this name")?;
    let pages = MemcachedClient::new(pages);
    assert_eq!(pages.get::<String>("ada")?, None);
    println!("what is in one pool is not in the other");

    // A name stands for one pool at a time.
    let again = SockIoPool::builder()
        .servers(["127.0.0.1"])
        .build_named("users");
    let error = again.err().ok_or("two pools of one name")?;
    assert_eq!(error.kind(), ErrorKind::Config);
    println!("{error}");

    // The name keeps the pool alive until somebody shuts it down.
    let users = SockIoPool::named("users").ok_or("no pool of this name")?;
    users.shutdown();
    assert!(SockIoPool::named("users").is_none());
    let late = MemcachedClient::new(users).get::<String>("ada");
    assert_eq!(late.map_err(|error| error.kind()), Err(ErrorKind::Shutdown));
    pages.pool().shutdown();
    println!("both are shut down");
    Ok(())
}

/// A part of the program that knows only the name.
fn remember(user: &str, name: &str) -> Result<(), Box<dyn Error>> {
    let pool = SockIoPool::named("users").ok_or("no pool of this name")?;
    let client = MemcachedClient::new(pool);
    client.set(user, name, Expiry::never())?;
    assert_eq!(client.get::<String>(user)?.as_deref(), Some(name));
    Ok(())
}
