//! Times that the server understood otherwise than the caller.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sockio::{Expiry, MemcachedClient};

use super::{client, is_dead, real, single, text};
use crate::support::fake::Fake;

fn now() -> u64 {
    let time = SystemTime::now().duration_since(UNIX_EPOCH);
    time.unwrap().as_secs()
}

/// The time that goes out with a set, as the server reads it.
fn sent(expiry: impl Into<Expiry>) -> String {
    let fake = Fake::serving();
    let client: MemcachedClient = client(single(&fake));
    assert!(client.set("k", "v", expiry).unwrap());
    assert!(!is_dead(&client));
    let request = fake.seen()[0].requests[0].clone();
    request.split(' ').nth(3).unwrap().to_owned()
}

/// exp-01 (awesomized/libmemcached#125, lericson/pylibmc#154, memcached/memcached#142): a negative time went out as
/// 18446744073709551615.
#[test]
fn what_is_past_is_minus_one() {
    for past in [now() - 1, 1, 0].map(|seconds| UNIX_EPOCH + Duration::from_secs(seconds)) {
        assert_eq!(sent(past), "-1");
    }
    assert_eq!(sent(Duration::ZERO), "-1");
    let (_server, client) = real(&[]);
    let past = SystemTime::now() - Duration::from_secs(10);
    assert!(client.set("k", "v", past).unwrap());
    assert_eq!(text(&client, "k"), None);
    client.set("k", "v", Expiry::never()).unwrap();
    assert!(client.touch("k", past).unwrap());
    assert_eq!(text(&client, "k"), None);
}

/// exp-03 (petergoldstein/dalli#620): a point of time was taken for a long duration and moved by another fifty years.
#[test]
fn a_point_of_time_is_sent_as_it_is() {
    let before = now();
    let sent: u64 = sent(SystemTime::now() + Duration::from_secs(3600))
        .parse()
        .unwrap();
    assert!((before + 3600..=now() + 3601).contains(&sent), "{sent}");
}

/// exp-04 (lunant/mockcache#11): exactly 30 days were taken for a point of time.
#[test]
fn thirty_days_are_a_duration() {
    assert_eq!(sent(Duration::from_secs(2_592_000)), "2592000");
    let before = now();
    let more: u64 = sent(Duration::from_secs(2_592_001)).parse().unwrap();
    assert!(
        (before + 2_592_001..=now() + 2_592_002).contains(&more),
        "{more}"
    );
}

/// exp-06 (aisk/rust-memcache#152): a time beyond 2038 wraps in the server, and the item is gone at once.
#[test]
fn no_time_beyond_the_servers_is_sent() {
    const YEAR: u64 = 365 * 24 * 3600;
    for long in [20 * YEAR, 1000 * YEAR].map(Duration::from_secs) {
        assert_eq!(sent(long), "2147483647");
        assert_eq!(sent(SystemTime::now() + long), "2147483647");
        let (_server, client) = real(&[]);
        client.set("k", "v", long).unwrap();
        assert_eq!(text(&client, "k").as_deref(), Some("v"));
    }
}

/// exp-07 (pinterest/pymemcache#239): 1.5 went out as it was, and the server's complaint answered a later command.
#[test]
fn parts_of_seconds_are_rounded_up() {
    for (millis, seconds) in [(1500, "2"), (1, "1"), (1000, "1"), (999, "1")] {
        assert_eq!(sent(Duration::from_millis(millis)), seconds);
    }
}

/// exp-09 (petergoldstein/dalli 2.7.5): a time that is none counted as a failure of the server.
#[test]
fn an_endless_time_is_cut_and_no_fault_of_the_server() {
    // `sent` looks whether the server is dead.
    assert_eq!(sent(Duration::from_secs(u64::MAX)), "2147483647");
    assert_eq!(sent(Duration::MAX), "2147483647");
}
