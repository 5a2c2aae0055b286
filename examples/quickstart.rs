//! smoke
use sockio::*;
use std::time::{Duration, Instant};
fn main() -> Result<()> {
    let servers = std::env::var("SOCKIO_SERVERS").unwrap();
    let pool = SockIoPool::builder().servers(servers.split(',')).build()?;
    let client = MemcachedClient::new(pool);
    let keys: Vec<String> = (0..100).map(|i| format!("key_{i}")).collect();
    let r = client.set_multi(
        keys.iter().map(|k| (k, format!("value of {k}"))),
        Expiry::never(),
    )?;
    println!("{r:?}");
    client.delete("key_7")?;
    let many = client.get_multi::<String, _>(&keys)?;
    println!(
        "{many:?} {:?} {:?} {}",
        many.get("key_3"),
        many.get("key_7"),
        many.hits().count()
    );
    println!(
        "{:?}",
        client.delete_multi(["key_7", "key_8"])?.into_complete()
    );
    client.set("big", vec![7u8; 900_000], Duration::from_secs(20))?;
    println!(
        "{:?}",
        client
            .set_multi(
                [
                    ("a", vec![1u8; 2_000_000]),
                    ("b", vec![1u8; 20_000]),
                    ("c", vec![2u8; 3])
                ],
                Expiry::never()
            )?
            .failures()
    );
    println!(
        "{:?}",
        client
            .get_multi::<Vec<u8>, _>(["big", "a", "b", "c", "big"])?
            .hits()
            .map(|(k, v)| (k.to_string(), v.len()))
            .collect::<Vec<_>>()
    );
    let n: usize = std::env::var("N")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(0);
    let t = Instant::now();
    for _ in 0..n {
        client.get_multi::<Vec<u8>, _>(&keys)?;
    }
    println!("{:?}", t.elapsed() / (n.max(1) as u32));
    Ok(())
}
