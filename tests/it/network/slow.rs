//! A line of 64 kbit/s: 8 kB in a second.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use sockio::{ErrorKind, Expiry, MemcachedClient};

use super::{Broken, Network};
use crate::servers::load::builder;
use crate::support::RealServer;
use crate::support::wait::{alone, eventually, in_time, ms, timed, within};

const ON: &str =
    "netns exec SERVER tc qdisc add dev veth0 root tbf rate 64kbit burst 1600 latency 60s";
const OFF: &str = "netns exec SERVER tc qdisc del dev veth0 root";

#[test]
#[ignore = "run by tests/netns.sh"]
fn a_slow_line_gives_what_the_deadline_allows() {
    alone(|| {
        let network = Network::mine();
        let servers = [network.far_server(), RealServer::start(&[])];
        let pool = builder(servers.iter().map(RealServer::addr)).connect_timeout(ms(1000));
        let client = MemcachedClient::new(pool.build().unwrap());
        let names = |number: usize| (0..).map(move |key| format!("{number}_{key}"));
        let far = |number: usize| {
            let lives_far =
                |key: &String| client.pool().server_of(key).unwrap().name() == servers[0].addr();
            names(number).find(lives_far).unwrap()
        };
        let near =
            names(0).find(|key| client.pool().server_of(key).unwrap().name() == servers[1].addr());
        let near = near.unwrap();
        let patient = client.clone().with_timeout(Duration::from_secs(10));
        // Each value tells whose it is.
        let large = |number: usize| format!("{number} ").repeat(10_000);
        for number in 0..4 {
            patient
                .set(far(number), large(number), Expiry::never())
                .unwrap();
        }
        patient.set(far(9), "small", Expiry::never()).unwrap();
        if let Err(reason) = network.ip(ON) {
            println!("a slow line: this kernel cannot: {reason}");
            return;
        }
        let line = Broken(&network, Some(OFF));

        let stop = AtomicBool::new(false);
        let (calls, others_longest) = thread::scope(|scope| {
            let others = scope.spawn(|| {
                let mut all = Vec::new();
                while !stop.load(Ordering::Relaxed) {
                    let (answer, took) = timed(|| client.set(&*near, "v", Expiry::never()));
                    assert!(answer.unwrap());
                    in_time(took, ms(0));
                    all.push(took);
                    thread::sleep(ms(1));
                }
                (all.len(), all.into_iter().max().unwrap())
            });
            let _stop = scope_end(&stop);

            // Who has the time gets it, however long it takes.
            let (value, took) = timed(|| patient.get::<String>(far(0)).unwrap());
            assert_eq!(value, Some(large(0)));
            println!("64 kbit/s: {} bytes in {took:.1?}", large(0).len());
            assert!(took > ms(1000), "{took:?}: the line is fast");

            // Who has not is told so in time, wherever the answer has got to.
            let hasty = client.clone().with_timeout(ms(700));
            for number in 1..4 {
                let (answer, took) = timed(|| hasty.get::<String>(far(number)));
                let error = answer.unwrap_err();
                in_time(took, ms(700));
                assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
                println!("64 kbit/s: {took:.1?} with a deadline of 700 ms: {error}");
                // What is on its way comes first: the line is busy for seconds. Then it reaches nobody.
                let (_, took) = timed(|| {
                    long("a small value comes through", || {
                        match hasty.get::<String>(far(9)) {
                            Ok(value) => {
                                assert_eq!(value.as_deref(), Some("small"));
                                true
                            }
                            Err(_) => false,
                        }
                    })
                });
                println!("64 kbit/s: good again after {took:.1?}");
            }

            // A value that the line does not take in time.
            line.heal();
            network.ip(&ON.replace("SERVER", "CLIENT")).unwrap();
            let line = Broken(
                &network,
                Some("netns exec CLIENT tc qdisc del dev veth0 root"),
            );
            let huge = vec![b'x'; 900_000];
            let error = within(ms(700), || {
                hasty.set(far(0), &huge[..], Expiry::never()).unwrap_err()
            });
            assert_eq!(error.kind(), ErrorKind::Ambiguous, "{error}");
            assert!(error.is_timeout(), "{error}");
            line.heal();
            let back = eventually("it is good again", || hasty.get::<String>(far(9)).is_ok());
            println!("64 kbit/s: good again {back:.1?} after the line is fast");
            stop.store(true, Ordering::Relaxed);
            others.join().unwrap()
        });
        println!(
            "64 kbit/s: the other server: {calls} calls, the longest {others_longest:.1?}, none failed"
        );
    });
}

/// Raises the flag also when an assertion fails.
fn scope_end(flag: &AtomicBool) -> impl Drop + '_ {
    struct End<'f>(&'f AtomicBool);
    impl Drop for End<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    End(flag)
}

/// Like [`eventually`], for longer.
#[track_caller]
fn long(what: &str, mut holds: impl FnMut() -> bool) {
    let start = std::time::Instant::now();
    while !holds() {
        assert!(start.elapsed() < ms(15_000), "never came true: {what}");
        thread::sleep(ms(2));
    }
}
