//! A Java program of the SockIOPool days, line by line: above each new line stands the old one.

use std::collections::HashMap;
use std::error::Error;
use std::time::Duration;

use sockio::testing::Server;
use sockio::{Compat, Expiry, MemcachedClient, SockIoPool};

fn main() -> Result<(), Box<dyn Error>> {
    let (first, second) = (Server::start()?, Server::start()?);

    // String[] servers = { "cache1:11211", "cache2:11211" };
    let servers = [first.addr(), second.addr()];
    // Keys live, and values look, as with the Java client. It URL-encoded keys unless told
    // `setSanitizeKeys(false)`: then the name is "whalin/new-compat".
    let java: Compat = "whalin/new-compat+sanitize".parse()?;

    // SockIOPool pool = SockIOPool.getInstance("main");
    let pool = SockIoPool::builder()
        // pool.setHashingAlg(SockIOPool.NEW_COMPAT_HASH);
        .compat(java)
        // The Java pool's own sizes and times, where no line below says otherwise.
        .defaults_of(java)
        // pool.setServers(servers);
        .servers(&servers)
        // pool.setWeights(new Integer[] { 3, 1 });
        .weights([3, 1])
        // pool.setInitConn(5);
        .initial_conn(5)
        // pool.setMinConn(5);
        .min_conn(5)
        // pool.setMaxConn(250);
        .max_conn(250)
        // pool.setMaxIdle(1000 * 60 * 60 * 6);
        .max_idle(Duration::from_secs(60 * 60 * 6))
        // pool.setMaintSleep(30);  // milliseconds; most programs that wrote 30 meant seconds
        .maint_sleep(Duration::from_secs(30))
        // pool.setNagle(false);  // which turned it on
        .nagle(false)
        // pool.setSocketTO(3000);
        .socket_timeout(Duration::from_millis(3000))
        // pool.setSocketConnectTO(0);  // for ever; here every wait ends
        .connect_timeout(Duration::from_secs(1))
        // pool.setAliveCheck(true);  // a round trip before each use; broken connections are found without
        .alive_check(false)
        // pool.initialize();
        .build_named("main")?;

    // MemCachedClient mc = new MemCachedClient("main");
    let mc = MemcachedClient::new(pool);

    // boolean ok = mc.set("foo", "This is a test String");
    assert!(mc.set("foo", "This is a test String", Expiry::never())?);
    // String bar = (String) mc.get("foo");  // null for a miss and for an error alike
    let bar: Option<String> = mc.get("foo")?;
    assert_eq!(bar.as_deref(), Some("This is a test String"));
    println!("foo is {bar:?}");

    // mc.set("answer", new Integer(42), new Date(10000));  // ten seconds from now
    mc.set("answer", 42_i32, Duration::from_secs(10))?;
    // int answer = ((Integer) mc.get("answer")).intValue();
    assert_eq!(mc.get::<i32>("answer")?, Some(42));

    // if (!mc.add("foo", "x")) ...
    assert!(!mc.add("foo", "x", Expiry::never())?);
    // mc.replace("foo", "y");
    assert!(mc.replace("foo", "y", Expiry::never())?);
    // if (mc.keyExists("user 1")) ...  // sent as "user+1"
    assert!(!mc.exists("user 1")?);
    // mc.delete("foo");
    assert!(mc.delete("foo")?);

    // mc.storeCounter("visits", new Long(100));
    mc.store_counter("visits", 100, Expiry::never())?;
    // long now = mc.incr("visits", 5);  // -1 if it is not there
    assert_eq!(mc.incr("visits", 5)?, Some(105));
    // now = mc.decr("visits", 6);  // the server stores "99 ", which getCounter could not read
    assert_eq!(mc.decr("visits", 6)?, Some(99));
    // now = mc.getCounter("visits");
    assert_eq!(mc.get_counter("visits")?, Some(99));
    // now = mc.addOrIncr("hits", 1);
    assert_eq!(mc.add_or_incr("hits", 1, Expiry::never())?, 1);
    println!("counters count");

    for number in 1..=3 {
        mc.set(
            format!("user:{number}"),
            format!("name {number}"),
            Expiry::never(),
        )?;
    }
    // Map<String, Object> users = mc.getMulti(new String[] { "user:1", "user:2", "user:9" });
    let users = mc.get_multi::<String, _>(["user:1", "user:2", "user:9"])?;
    // Whether some keys are missing because a server failed, the Java client did not say.
    assert!(users.is_complete());
    let users: HashMap<&str, String> = users.into_map();
    assert_eq!(users["user:2"], "name 2");
    assert_eq!(users.len(), 2);
    println!("{} users of 3 are there", users.len());

    // mc.get("user:1", new Integer(7));  // on the server that the hash 7 names
    let elsewhere = sockio::Key::new("user:1").with_hash(7);
    println!(
        "hash 7 leads to {}",
        mc.pool().server_of(&elsewhere)?.name()
    );

    // Map<String, Map<String, String>> stats = mc.stats();
    for (server, stats) in mc.stats(None)? {
        let stats: HashMap<String, String> = stats?.into_iter().collect();
        println!("{} holds {} items", server.name(), stats["curr_items"]);
    }
    // mc.flushAll();
    assert!(
        mc.flush_all(None)
            .iter()
            .all(|(_, flushed)| flushed.is_ok())
    );
    assert_eq!(mc.get::<i32>("answer")?, None);

    // pool.shutDown();
    mc.pool().shutdown();
    Ok(())
}
