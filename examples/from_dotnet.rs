//! A .NET program with memcacheddotnet, line by line: above each new line stands the old one.
//! Its waits of 15 and 30 seconds are one and two seconds here.

use std::error::Error;
use std::thread;
use std::time::Duration;

use sockio::testing::Server;
use sockio::{Compat, Expiry, FromValue, MemcachedClient, SockIoPool, ToValue, Value};

/// The program's class, which was `[Serializable]`. Its form is its own here: no `BinaryFormatter`.
#[derive(Debug, PartialEq)]
struct Person {
    name: String,
    age: u32,
}

impl ToValue for Person {
    fn to_value(&self) -> Value<'_> {
        Value::Text(format!("{}\n{}", self.age, self.name).into())
    }
}

impl FromValue for Person {
    fn from_value(value: Value<'_>) -> sockio::Result<Self> {
        let text = String::from_value(value)?;
        let (age, name) = text.split_once('\n').ok_or_else(no_person)?;
        Ok(Self {
            name: name.to_owned(),
            age: age.parse().map_err(|_| no_person())?,
        })
    }
}

fn no_person() -> sockio::Error {
    sockio::Error::decode("no person")
}

fn main() -> Result<(), Box<dyn Error>> {
    let running = [
        Server::start()?,
        Server::start()?,
        Server::start()?,
        Server::start()?,
    ];

    // string[] serverlist = { "10.0.0.1:11211", "10.0.0.2:11211", "10.0.0.3:11211", "10.0.0.4:11211" };
    let serverlist = running.each_ref().map(Server::addr);
    let dotnet: Compat = "memcacheddotnet/new-compat".parse()?;

    // SockIOPool pool = SockIOPool.GetInstance();
    let pool = SockIoPool::builder()
        // pool.HashingAlgorithm = HashingAlgorithm.NewCompatibleHash;
        .compat(dotnet)
        .defaults_of(dotnet)
        // pool.SetServers(serverlist);
        .servers(&serverlist)
        // pool.SetWeights(new int[] { 2, 1, 3, 4 });
        .weights([2, 1, 3, 4])
        // pool.InitConnections = 3;
        .initial_conn(3)
        // pool.MinConnections = 3;
        .min_conn(3)
        // pool.MaxConnections = 5;
        .max_conn(5)
        // pool.SocketConnectTimeout = 1000;
        .connect_timeout(Duration::from_millis(1000))
        // pool.SocketTimeout = 3000;  // which was never used
        .socket_timeout(Duration::from_millis(3000))
        // pool.MaintenanceSleep = 30;  // milliseconds
        .maint_sleep(Duration::from_secs(30))
        // pool.Failover = true;
        .failover(true)
        // pool.Nagle = false;  // which was never used
        .nagle(false)
        // pool.Initialize();
        .build()?;

    // MemcachedClient mc = new MemcachedClient();
    // mc.EnableCompression = false;
    let mc = MemcachedClient::new(pool);

    // mc.Set("key_1", "A".PadRight(20, 'A'));
    mc.set("key_1", "A".repeat(20), Expiry::never())?;
    // string text = (string)mc.Get("key_1");
    assert_eq!(mc.get::<String>("key_1")?, Some("A".repeat(20)));

    expiry(&mc)?;

    // mc.Set("person", new Person("Ada", 36));
    let ada = Person {
        name: "Ada".into(),
        age: 36,
    };
    mc.set("person", &ada, Expiry::never())?;
    // Person person = (Person)mc.Get("person");
    assert_eq!(mc.get::<Person>("person")?, Some(ada));
    println!("an object was stored and read");

    // Hashtable found = mc.GetMultiple(new string[] { "key_1", "person", "none" });
    let found = mc.get_multi::<Value<'static>, _>(["key_1", "person", "none"])?;
    assert_eq!(found.hits().count(), 2);
    println!("2 of 3 keys were there");

    balance(&mc)?;

    // SockIOPool.GetInstance().Shutdown();
    mc.pool().shutdown();
    Ok(())
}

fn expiry(mc: &MemcachedClient) -> sockio::Result<()> {
    // mc.Set("short", "x", DateTime.Now.AddSeconds(15));
    mc.set("short", "x", Duration::from_secs(1))?;
    // mc.Set("long", "x", DateTime.Now.AddSeconds(30));
    mc.set("long", "x", Duration::from_secs(2))?;
    // Thread.Sleep(16000);
    thread::sleep(Duration::from_millis(1_200));
    // mc.KeyExists("short") is false, mc.KeyExists("long") is true
    assert_eq!((mc.exists("short")?, mc.exists("long")?), (false, true));
    // mc.Add("short", "again");  // true, since it has expired
    assert!(mc.add("short", "again", Expiry::never())?);
    // Thread.Sleep(15000);
    thread::sleep(Duration::from_secs(1));
    // mc.Get("long") is null
    assert_eq!(mc.get::<String>("long")?, None);
    println!("items expired when they should");
    Ok(())
}

/// How many of a million keys each server gets.
fn balance(mc: &MemcachedClient) -> sockio::Result<()> {
    let servers = mc.pool().servers();
    let mut counts = vec![0_u32; servers.len()];
    for number in 0..1_000_000 {
        // string host = pool.GetSock("key" + i).Host;  // which took a connection for it
        let home = mc.pool().server_of(format!("key{number}"))?;
        if let Some(index) = servers.iter().position(|server| server == home) {
            counts[index] += 1;
        }
    }
    for ((server, count), share) in servers.iter().zip(&counts).zip([2, 1, 3, 4]) {
        println!(
            "{}: {count} of 1000000 keys for {share} tenths",
            server.name()
        );
        assert!(count.abs_diff(share * 100_000) < 5_000);
    }
    assert_eq!(counts.iter().sum::<u32>(), 1_000_000);
    Ok(())
}
