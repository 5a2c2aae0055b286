//! smoke
use sockio::*;
use std::time::Duration;
fn main() -> Result<()> {
    let server = std::env::var("SOCKIO_SERVERS").unwrap();
    let pool = SockIoPool::builder().servers([server.as_str()]).build()?;
    let client = MemcachedClient::new(pool);
    client.set("key_1", "A".repeat(20), Expiry::never())?;
    client.set(
        "key_2",
        &b"bytes"[..],
        Expiry::after(Duration::from_secs(30)),
    )?;
    let text: Option<String> = client.get("key_1")?;
    println!("{text:?}");
    let item = client.gets::<Vec<u8>>("key_2")?;
    println!("{item:?} {:?}", client.exists("nope")?);
    client.set("big", vec![7u8; 900_000], Expiry::never())?;
    println!("{:?}", client.get::<Vec<u8>>("big")?.map(|b| b.len()));
    println!(
        "{:?}",
        client.set("big", vec![7u8; 2_000_000], Expiry::never())
    );
    println!("{:?}", client.get::<Vec<u8>>("big")?.map(|b| b.len()));
    let n: usize = std::env::var("N")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(0);
    for _ in 0..n {
        client.get::<Vec<u8>>("key_1")?;
    }
    println!("{:?}", client.pool().stats());
    client.pool().shutdown();
    println!("{:?}", client.get::<Vec<u8>>("big"));
    Ok(())
}
