//! A PHP program with `Memcached` and two servers, line by line: above each new line stands the old one. One server stops
//! and comes back.

use std::error::Error;
use std::thread::sleep;
use std::time::{Duration, Instant};

use sockio::codec::PhpMemcached;
use sockio::testing::Server;
use sockio::{Compat, Expiry, MemcachedClient, SockIoPool};

fn main() -> Result<(), Box<dyn Error>> {
    let (first, mut second) = (Server::start()?, Server::start()?);

    // $m = new Memcached();
    // $m->setOption(Memcached::OPT_LIBKETAMA_COMPATIBLE, true);
    // $m->setOption(Memcached::OPT_SERIALIZER, Memcached::SERIALIZER_PHP);
    let php: Compat = "libmemcached/ketama-weighted+php".parse()?;
    let pool = SockIoPool::builder()
        .compat(php)
        // $m->addServers([['cache1', 11211], ['cache2', 11211]]);
        .servers([first.addr(), second.addr()])
        // $m->setOption(Memcached::OPT_REMOVE_FAILED_SERVERS, true);
        .failover(true)
        // $m->setOption(Memcached::OPT_SERVER_FAILURE_LIMIT, 1);
        .failure_limit(1)
        // $m->setOption(Memcached::OPT_RETRY_TIMEOUT, 1);
        // $m->setOption(Memcached::OPT_DEAD_TIMEOUT, 1);  // without it the server stayed out until PHP ended
        .dead_backoff(Duration::from_millis(100), Duration::from_secs(1))
        // $m->setOption(Memcached::OPT_CONNECT_TIMEOUT, 200);
        .connect_timeout(Duration::from_millis(200))
        // $m->setOption(Memcached::OPT_POLL_TIMEOUT, 500);
        .socket_timeout(Duration::from_millis(500))
        // $m->setOption(Memcached::OPT_STORE_RETRY_COUNT, 2);
        .retry_writes(true)
        .build()?;
    let m = MemcachedClient::new(pool);

    // $m->set('greeting', 'Grüezi', 60);
    assert!(m.set("greeting", "Grüezi", Duration::from_secs(60))?);
    // $m->get('greeting');  // false for a miss, an error and a stored false alike
    assert_eq!(m.get::<String>("greeting")?.as_deref(), Some("Grüezi"));
    assert_eq!(m.get::<String>("nothing")?, None);

    // $m->set('count', 41); $m->set('price', 9.75); $m->set('ready', true);
    m.set("count", 41, Expiry::never())?;
    m.set("price", 9.75, Expiry::never())?;
    m.set("ready", true, Expiry::never())?;
    // $m->increment('count');
    assert_eq!(m.incr("count", 1)?, Some(42));
    // [$m->get('count'), $m->get('price'), $m->get('ready')];
    assert_eq!(m.get::<i64>("count")?, Some(42));
    assert_eq!(m.get::<f64>("price")?, Some(9.75));
    assert_eq!(m.get::<bool>("ready")?, Some(true));
    println!("values keep their types");

    // $m->setMulti($users);
    let names: Vec<String> = (0..100).map(|number| format!("user:{number}")).collect();
    m.set_multi(names.iter().map(|name| (name, "here")), Expiry::never())?;
    // $m->getServerByKey('user:7');
    let home = |name: &&String| {
        m.pool()
            .server_of(*name)
            .map(|server| server.name() == second.addr())
    };
    let lost: Vec<&String> = names
        .iter()
        .filter(|name| home(name).unwrap_or(false))
        .collect();
    println!(
        "{} of {} users live on the second server",
        lost.len(),
        names.len()
    );

    second.stop();
    println!("the second server is stopped");
    // $m->get($name);  // false, and again, and RES_SERVER_MARKED_DEAD, before the keys moved
    for name in &lost {
        assert_eq!(m.get::<String>(*name)?, None);
        // $m->set($name, 'moved');
        assert!(m.set(*name, "moved", Expiry::never())?);
        assert_eq!(m.get::<String>(*name)?.as_deref(), Some("moved"));
    }
    // $m->delete($lost[0]);
    assert!(m.delete(lost[0])?);
    // $m->getMulti($names);
    let users = m.get_multi::<String, _>(&names)?;
    assert!(users.is_complete());
    assert_eq!(users.hits().count(), names.len() - 1);
    println!("set, get and delete go on, with the first server alone");

    second.restart()?;
    // Nothing to do for the program. It waits here only to see it happen: what was stored on the other server is not asked for any more.
    let until = Instant::now() + Duration::from_secs(5);
    while m.get::<String>(lost[1])?.is_some() {
        assert!(
            Instant::now() < until,
            "the second server is not used again"
        );
        sleep(Duration::from_millis(20));
    }
    assert!(m.set(lost[1], "home", Expiry::never())?);
    let alone = MemcachedClient::connect(second.addr())?.with_transcoder(PhpMemcached::new());
    assert_eq!(alone.get::<String>(lost[1])?.as_deref(), Some("home"));
    println!("the second server is used again");

    // $m->quit();
    m.pool().shutdown();
    Ok(())
}
