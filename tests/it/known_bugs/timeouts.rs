//! Calls that took longer than they were allowed to, or for ever.

use std::fs;
use std::path::Path;

use sockio::{ErrorKind, SockIoPool};

use super::{NEVER, SERVE, client, connects, is_dead, key_on, recovers, single, text};
use crate::support::fake::{Act, Fake};
use crate::support::wait::{eventually, in_time, ms, timed, within};
use crate::support::{RealServer, child};

/// time-01 (3rd-Eden/memcached#162, #273, #152): a get from a server that was down took a minute and a half.
#[test]
fn a_get_from_a_server_that_is_down_costs_a_connect_timeout_at_most() {
    let closed = Fake::refusing();
    let pool = single(&closed).initial_conn(0);
    let error = within(ms(0), || client(pool).get::<String>("k").unwrap_err());
    assert_eq!(error.kind(), ErrorKind::Connect, "{error}");
    #[cfg(target_os = "linux")]
    {
        let hole = Fake::never_accepting();
        let client = client(single(&hole).initial_conn(0));
        let error = within(ms(1000), || client.get::<String>("k").unwrap_err());
        assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
        assert!(within(ms(0), || client.get::<String>("k")).is_err());
    }
}

/// time-02 (lericson/pylibmc#89, 3rd-Eden/memcached#88): the limit of a connect held for reads alone.
#[cfg(target_os = "linux")]
#[test]
fn a_connect_that_nobody_answers_ends_at_its_limit() {
    let hole = Fake::never_accepting();
    let pool = single(&hole).initial_conn(0).connect_timeout(ms(400));
    let client = client(pool);
    let (answer, took) = timed(|| client.get::<String>("k"));
    assert!(answer.unwrap_err().is_timeout());
    assert!(took >= ms(320), "{took:?}");
    in_time(took, ms(400));
}

/// time-04 (aisk/rust-memcache#128, #24): what was set for writes was set for reads.
#[test]
fn writes_and_reads_have_their_limits_each() {
    let fake = Fake::never_reading();
    let hasty = client(single(&fake).socket_timeout(ms(200)));
    let value = vec![b'x'; 64 << 20];
    // Of the first writes the kernel takes a part; the one of which it takes nothing is at its limit.
    let error = within(ms(1500), || hasty.set("k", &value, NEVER).unwrap_err());
    assert!(error.is_ambiguous() && error.is_timeout(), "{error}");

    let fake = Fake::new(vec![vec![Act::Stall]]);
    let hasty = client(single(&fake).socket_timeout(ms(200)));
    let (answer, took) = timed(|| hasty.get::<String>("k"));
    assert_eq!(answer.unwrap_err().kind(), ErrorKind::Timeout);
    assert!(took >= ms(175), "{took:?}");
    in_time(took, ms(200));
}

/// time-05 (aisk/rust-memcache#132, #127): the pool tried a closed port again and again, for half a minute.
#[test]
fn a_refused_connect_is_told_at_once() {
    let fake = Fake::refusing();
    let client = client(single(&fake).initial_conn(0).min_conn(0));
    let error = within(ms(50), || client.get::<String>("k").unwrap_err());
    assert_eq!(error.kind(), ErrorKind::Connect, "{error}");
    assert!(error.to_string().contains("refused"), "{error}");
}

/// time-07 (php-memcached-dev/php-memcached#346): the end of a time limit began the next one.
#[test]
fn a_hung_server_hangs_nobody_with_default_settings() {
    let fake = Fake::new(vec![vec![Act::Stall]]);
    let pool = SockIoPool::builder().servers([fake.addr()]);
    let client = client(pool);
    let error = within(ms(3000), || client.get::<String>("k").unwrap_err());
    assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
    assert_eq!(fake.count("get "), 1);
}

/// time-08 (gwhalin/Memcached-Java-Client#63, #23): with the cable pulled, open connections were waited for without a limit.
#[cfg(unix)]
#[test]
fn a_server_that_falls_silent_costs_one_read_timeout() {
    let servers = [RealServer::start(&[]), RealServer::start(&[])];
    let pool = SockIoPool::builder().servers(servers.iter().map(RealServer::addr));
    let pool = pool.socket_timeout(ms(300)).failover(false);
    let client = client(pool.dead_backoff(ms(5000), ms(5000)));
    let [silent, other] = [0, 1].map(|at| key_on(&client, &servers[at].addr()));
    for key in [&silent, &other] {
        client.set(key, key, NEVER).unwrap();
    }
    servers[0].stop_signal();
    let error = within(ms(300), || client.get::<String>(&silent).unwrap_err());
    assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
    assert!(is_dead(&client));
    let error = within(ms(0), || client.get::<String>(&silent).unwrap_err());
    assert_eq!(error.kind(), ErrorKind::NoServer, "{error}");
    let value = within(ms(0), || text(&client, &other));
    assert_eq!(value, Some(other));
}

/// time-10 (gwhalin/Memcached-Java-Client 0.9.6): the end of the connection was read again and again.
#[test]
fn an_end_in_the_middle_of_a_line_is_an_error() {
    let script = vec![Act::Request, Act::Send(b"VAL".to_vec()), Act::Fin];
    let fake = Fake::new(vec![script, vec![SERVE]]);
    let client = client(single(&fake));
    let error = within(ms(0), || client.get::<String>("k").unwrap_err());
    assert_eq!(error.kind(), ErrorKind::Connection, "{error}");
    recovers(&client);
}

/// time-11 (spotify/folsom#63): each call that timed out left its connection open.
#[cfg(target_os = "linux")]
#[test]
fn calls_that_time_out_leave_nothing_open() {
    const MOST: usize = 4;
    if !child::runs_alone("known_bugs::timeouts::calls_that_time_out_leave_nothing_open") {
        return;
    }
    let count = || fs::read_dir("/proc/self/fd").unwrap().count();
    let server = RealServer::start(&[]);
    let build = || {
        let pool = SockIoPool::builder().servers([server.addr()]);
        client(pool.max_conn(MOST)).with_timeout(ms(5))
    };
    let before = count();
    server.stop_signal();
    let (mut client, mut timed_out, mut most) = (build(), 0, 0);
    while timed_out < 500 {
        match client.get::<String>("k").unwrap_err().kind() {
            ErrorKind::Timeout => timed_out += 1,
            // So short a time says nothing about the server, unless a busy machine made it longer.
            ErrorKind::NoServer => client = build(),
            other => panic!("{other:?}"),
        }
        most = most.max(count());
    }
    assert!(most <= before + MOST, "{most} and {before} before");
    drop(client);
    eventually("all is closed", || count() == before);
}

/// time-13 (memcached/memcached#244): every so often a connect took seconds, and each get had one.
#[test]
fn gets_need_no_connects() {
    let (_server, client) = super::real(&[]);
    for _ in 0..1000 {
        assert_eq!(text(&client, "k"), None);
    }
    assert_eq!(connects(&client), 1);
}

/// time-14 (petergoldstein/dalli 5.0.1): deadlines went by a clock that people set.
#[test]
fn only_the_end_of_an_item_goes_by_the_clock_on_the_wall() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut checked = 0;
    for folder in ["pool", "pool/combine", "pool/config", "sock", "router"] {
        for entry in fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let text = fs::read_to_string(&path).unwrap();
                assert!(!text.contains("SystemTime"), "{}", path.display());
                checked += 1;
            }
        }
    }
    let clock = fs::read_to_string(root.join("clock.rs")).unwrap();
    assert!(clock.contains("Instant") && !clock.contains("SystemTime"));
    assert!(checked > 30, "{checked}");
    // Where the client asks for it, it is for an expiry.
    for entry in fs::read_dir(root.join("client")).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        let asked = text.matches("SystemTime::now").count();
        assert_eq!(asked, text.matches("exptime(SystemTime::now)").count());
    }
}
