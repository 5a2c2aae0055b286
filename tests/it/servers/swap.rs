//! Another server at the place of the one that was there: an empty memcached, and something that is none.

use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use sockio::{ErrorKind, Expiry, MemcachedClient};

use super::load::{BACK_OFF, builder, under_load};
use crate::support::RealServer;
use crate::support::fake::{Act, Fake};
use crate::support::wait::{MARGIN, alone, eventually, lost, ms, within};

/// Python's web server.
struct Website(Child);

impl Website {
    fn start_at(port: u16) -> Self {
        let mut command = Command::new("/usr/bin/python3");
        let command = command.args(["-m", "http.server", "--bind", "127.0.0.1"]);
        let command = command
            .arg(port.to_string())
            .current_dir(std::env::temp_dir());
        let command = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let site = Self(
            command
                .spawn()
                .expect("python3 is missing: apt-get install python3"),
        );
        eventually("the web server listens", || {
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        site
    }
}

impl Drop for Website {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start_at(port: u16) -> RealServer {
    let mut server = None;
    eventually("memcached starts", || {
        server = RealServer::start_at(port, &["-m", "16"]);
        server.is_some()
    });
    server.unwrap()
}

#[test]
fn values_of_the_server_before_are_misses() {
    alone(|| {
        const THREADS: usize = 4;
        let mut servers = [0; 3].map(|_| RealServer::start(&[]));
        let pool = builder(servers.iter().map(RealServer::addr)).initial_conn(THREADS);
        let client = MemcachedClient::new(pool.build().unwrap());
        let port = servers[2].port().unwrap();
        under_load(&client, THREADS, |load| {
            load.warm();
            let before = load.of(2);
            servers[2].kill();
            let other = start_at(port);
            let back = load.good_again(2);
            let swapped = load.of(2);
            println!(
                "swapped for another: {swapped}; good again after {back:.1?}; the other servers: {}",
                load.others_are_unaffected(2)
            );
            assert!(swapped.misses > before.misses);
            assert!(back <= BACK_OFF + MARGIN + lost(back), "{back:?}");
            drop(other);
        });
    });
}

#[test]
fn something_else_in_its_place_is_found_out_and_left_alone_until_it_is_gone() {
    alone(|| {
        const THREADS: usize = 4;
        let mut servers = [0; 3].map(|_| RealServer::start(&[]));
        let pool = builder(servers.iter().map(RealServer::addr)).initial_conn(THREADS);
        let client = MemcachedClient::new(pool.build().unwrap());
        let port = servers[2].port().unwrap();
        under_load(&client, THREADS, |load| {
            load.warm();
            servers[2].kill();
            let site = Website::start_at(port);
            std::thread::sleep(ms(500));
            let swapped = load.of(2);
            std::thread::sleep(ms(200));
            assert_eq!(load.of(2).good, swapped.good, "a web server answered");
            drop(site);
            let server = start_at(port);
            let back = load.good_again(2);
            println!(
                "swapped for a web server: {swapped}; good again after {back:.1?}; the other servers: {}",
                load.others_are_unaffected(2)
            );
            assert_eq!(swapped.stalled, 0);
            assert!(back <= BACK_OFF + MARGIN + lost(back), "{back:?}");
            drop(server);
        });
    });
}

#[test]
fn a_web_server_is_out_of_step_at_once() {
    let port = RealServer::start(&[]).port().unwrap();
    let _site = Website::start_at(port);
    let pool = builder([format!("127.0.0.1:{port}")]).build().unwrap();
    let client = MemcachedClient::new(pool);
    for _ in 0..5 {
        let error = within(ms(0), || client.get::<String>("k").unwrap_err());
        assert_eq!(error.kind(), ErrorKind::Protocol, "{error}");
        let error = within(ms(0), || client.set("k", "v", Expiry::never()).unwrap_err());
        assert_eq!(error.kind(), ErrorKind::Ambiguous, "{error}");
    }
    // None of the connections that answered is used again.
    let stats = &client.pool().stats()[0];
    assert!(
        stats.connects >= 10 && stats.dead_until.is_none(),
        "{stats:?}"
    );
    println!("a web server: {}", client.get::<String>("k").unwrap_err());
}

/// Others speak before they are asked.
#[test]
fn a_server_that_speaks_first_is_out_of_step_at_once() {
    for banner in [
        "SSH-2.0-OpenSSH_9.2p1\r\n",
        "220 mail.example.test ESMTP\r\n",
        "\0\0\0\u{1}",
    ] {
        let script = vec![Act::Send(banner.into()), Act::Stall];
        let fake = Fake::new(vec![script]);
        let client = MemcachedClient::new(builder([fake.addr()]).build().unwrap());
        const CALLS: usize = 20;
        for _ in 0..CALLS {
            let error = within(ms(0), || client.get::<String>("k").unwrap_err());
            assert_eq!(error.kind(), ErrorKind::Protocol, "{error}");
        }
        // None is opened in advance: the first, one for each call, and those under way when the first answer came.
        assert!(
            fake.connections() <= 1 + CALLS + 2,
            "{}",
            fake.connections()
        );
    }
}
