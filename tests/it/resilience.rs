//! What must not take the pool's own thread, and with it all servers, down: a name that nobody resolves, a logger that panics.

use std::net::UdpSocket;
use std::process::Command;
use std::time::{Duration, Instant};

use log::{LevelFilter, Log, Metadata, Record};
use sockio::testing::Server;
use sockio::{Expiry, MemcachedClient, SockIoPool};

use crate::support::child;
use crate::support::wait::{eventually, ms, within};

/// In namespaces of its own, where names are asked for at a resolver that never answers.
#[test]
fn a_name_that_hangs_harms_no_other_server() {
    const NAME: &str = "resilience::a_name_that_hangs_harms_no_other_server";
    if !child::is_child() {
        let id = Command::new("id").arg("-u").output().expect("id");
        if id.stdout.trim_ascii() != b"0" {
            println!("not run: only root can give a process a resolver of its own");
            return;
        }
        let folder = std::env::temp_dir().join(format!("sockio-names-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let resolver = folder.join("resolv.conf");
        std::fs::write(&resolver, "nameserver 127.0.0.1\noptions timeout:30\n").unwrap();
        let script = r#"ip link set lo up && mount --bind "$0" /etc/resolv.conf && exec "$@""#;
        let resolver = resolver.to_str().unwrap();
        let wrapper = ["unshare", "-m", "-n", "sh", "-c", script, resolver];
        let output = child::command(&wrapper, NAME, "1").output();
        std::fs::remove_dir_all(&folder).unwrap();
        return child::check(&output.expect("unshare is missing: apt-get install util-linux"));
    }
    let _silent = UdpSocket::bind("127.0.0.1:53").unwrap();
    let server = Server::start().unwrap();
    let builder = SockIoPool::builder()
        .servers(["cache.example.test:11211".to_owned(), server.addr()])
        .compat("libmemcached/ketama-weighted".parse().unwrap())
        .connect_timeout(ms(200))
        .operation_timeout(ms(300));
    let pool = within(ms(200), || builder.build().unwrap());
    let client = MemcachedClient::new(pool.clone());
    let lives_at = |name: &str| {
        let mut keys = (0..).map(|number| format!("key_{number}"));
        keys.find(|key| pool.server_of(key).unwrap().name() == name)
            .unwrap()
    };
    let (healthy, hung) = (
        lives_at(&server.addr()),
        lives_at("cache.example.test:11211"),
    );
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(2) {
        within(ms(300), || {
            client.set(&healthy, 1, Expiry::never()).unwrap()
        });
        within(ms(300), || client.get::<u8>(&healthy).unwrap().unwrap());
        // Its keys go to the other server.
        within(ms(300), || client.set(&hung, 1, Expiry::never()).unwrap());
        std::thread::sleep(ms(20));
    }
    within(ms(300), || pool.shutdown());
}

/// Panics once, when a server is told to be alive again.
struct Fragile;

impl Log for Fragile {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        use std::sync::atomic::{AtomicBool, Ordering};
        static BROKEN: AtomicBool = AtomicBool::new(false);
        let message = record.args().to_string();
        if message.contains("lives again") && !BROKEN.swap(true, Ordering::Relaxed) {
            panic!("the logger is broken");
        }
    }

    fn flush(&self) {}
}

#[test]
fn a_logger_that_panics_does_not_end_the_maintenance() {
    if !child::runs_alone("resilience::a_logger_that_panics_does_not_end_the_maintenance") {
        return;
    }
    log::set_logger(&Fragile).unwrap();
    log::set_max_level(LevelFilter::Trace);
    let mut server = Server::start().unwrap();
    let pool = SockIoPool::builder().servers([server.addr()]);
    let pool = pool.dead_backoff(ms(20), ms(20)).build().unwrap();
    let client = MemcachedClient::new(pool.clone());
    // The first return breaks the logger, the second needs the thread again.
    for _ in 0..2 {
        server.stop();
        eventually("the server is dead", || {
            let _ = client.set("a", 1, Expiry::never());
            pool.stats()[0].dead_until.is_some()
        });
        server.restart().unwrap();
        eventually("the server is back", || {
            client.set("a", 1, Expiry::never()).is_ok()
        });
    }
    let stats = &pool.stats()[0];
    assert!(stats.busy == 0 && stats.idle > 0, "{stats:?}");
}
