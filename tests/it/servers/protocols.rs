//! Servers that speak another protocol, or not to everybody: `-B ascii`, `-B binary`, `-Y`.

use sockio::{Error, ErrorKind, Expiry, MemcachedClient};

use super::load::{LIMIT, builder, under_load};
use crate::support::RealServer;
use crate::support::wait::{alone, eventually, ms, within};

fn client(server: &RealServer) -> MemcachedClient {
    MemcachedClient::new(builder([server.addr()]).build().unwrap())
}

/// For answers that come.
fn patient(server: &RealServer) -> MemcachedClient {
    client(server).with_timeout(ms(5000))
}

#[test]
fn a_server_of_the_text_protocol_alone_is_all_that_is_needed() {
    alone(|| {
        let servers = [0; 2].map(|_| RealServer::start(&["-B", "ascii"]));
        let pool = builder(servers.iter().map(RealServer::addr)).build();
        let client = MemcachedClient::new(pool.unwrap());
        under_load(&client, 4, |load| {
            load.warm();
            let figures = load.others_are_unaffected(usize::MAX);
            println!("-B ascii: {figures}");
        });
        assert!(client.versions().iter().all(|(_, version)| version.is_ok()));
    });
}

#[test]
fn a_server_of_the_binary_protocol_alone_is_an_error_in_time() {
    let server = RealServer::start(&["-B", "binary"]);
    // It waits for the 24 bytes of a header, and then closes.
    let client = client(&server);
    let error = within(LIMIT, || client.get::<String>("k").unwrap_err());
    assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
    // Nor does it answer to `version`: nobody waits for it again.
    for _ in 0..20 {
        let error = within(ms(0), || client.get::<String>("k").unwrap_err());
        assert_eq!(error.kind(), ErrorKind::NoServer, "{error}");
        std::thread::sleep(ms(20));
    }
    println!(
        "-B binary: 1 call stalled; then {}",
        client.get::<String>("k").unwrap_err()
    );
    let client = patient(&server);
    let error = within(ms(0), || {
        client
            .set("k", "24 bytes and some more", Expiry::never())
            .unwrap_err()
    });
    assert_eq!(error.kind(), ErrorKind::Ambiguous, "{error}");
    println!("-B binary, a set: {error}");
    assert_eq!(client.pool().stats()[0].idle, 0);
}

#[test]
fn a_server_that_asks_for_a_login_says_so() {
    alone(|| {
        let file = std::env::temp_dir().join(format!("sockio-login-{}", std::process::id()));
        std::fs::write(&file, "user:secret\n").unwrap();
        let servers = [
            RealServer::start(&["-Y", file.to_str().unwrap()]),
            RealServer::start(&[]),
        ];
        std::fs::remove_file(&file).unwrap();
        let client = patient(&servers[0]);
        type Command = fn(&MemcachedClient) -> Result<bool, Error>;
        let commands: [Command; 5] = [
            |client| client.get::<String>("k").map(|value| value.is_some()),
            |client| client.delete("k"),
            |client| Ok(client.incr("k", 1)?.is_some()),
            |client| client.touch("k", Expiry::never()),
            |client| {
                client
                    .get_multi::<String, _>(["k", "l"])?
                    .into_complete()
                    .map(|all| all.is_empty())
            },
        ];
        for command in commands.iter().chain(&commands) {
            let error = within(ms(0), || command(&client).unwrap_err());
            assert_eq!(error.kind(), ErrorKind::Client, "{error}");
            assert!(
                error.to_string().ends_with("CLIENT_ERROR unauthenticated"),
                "{error}"
            );
        }
        // The server takes a set for the login.
        let error = within(ms(0), || client.set("k", "v", Expiry::never()).unwrap_err());
        assert_eq!(error.kind(), ErrorKind::Client, "{error}");
        assert!(error.to_string().contains("authentication"), "{error}");
        println!("-Y, a set: {error}");
        let stats = &client.pool().stats()[0];
        assert!(
            stats.dead_until.is_none() && stats.timeouts == 0,
            "{stats:?}"
        );
        assert!(
            client.versions()[0]
                .1
                .as_ref()
                .is_err_and(|error| error.kind() == ErrorKind::Client)
        );

        // Beside one that asks for none.
        let pool = builder(servers.iter().map(RealServer::addr)).build();
        let client = MemcachedClient::new(pool.unwrap());
        under_load(&client, 4, |load| {
            eventually("the other server answers", || load.of(1).good >= 100);
            let figures = load.of(0);
            println!(
                "-Y: {figures}; the other server: {}",
                load.others_are_unaffected(0)
            );
            // It breaks off without a word where a value is longer than a login could be.
            let kinds = [ErrorKind::Client, ErrorKind::Ambiguous];
            assert_eq!(figures.errors_beside(&kinds), [], "{figures}");
        });
    });
}
