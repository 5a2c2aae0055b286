//! A network that loses packets: answers come late, and reach nobody else.

use std::thread;

use sockio::{ErrorKind, MemcachedClient};

use super::{Fault, Network};
use crate::servers::load::{BACK_OFF, LIMIT, builder, under_load};
use crate::support::RealServer;
use crate::support::wait::{MARGIN, alone, lost, ms};

const THREADS: usize = 4;

/// For moments nothing comes through: what was lost is sent again later, and is answered when its caller may be gone.
const BLINK: Fault = Fault {
    name: "a network that blinks",
    on: "-n CLIENT neigh replace 10.222.0.2 lladdr 02:00:00:00:00:99 dev veth0 nud permanent",
    off: "-n CLIENT neigh del 10.222.0.2 dev veth0",
};

/// One packet in ten, both ways.
const LOSS: Fault = Fault {
    name: "one packet in ten lost",
    on: "netns exec SERVER nft -f tests/it/network/loss.nft",
    off: "netns exec SERVER nft delete table ip loss",
};

fn allowed() -> [ErrorKind; 4] {
    use ErrorKind::{Ambiguous, Connect, NoServer, Timeout};
    [Ambiguous, Connect, NoServer, Timeout]
}

#[test]
#[ignore = "run by tests/netns.sh"]
fn late_answers_reach_no_other_call() {
    alone(|| {
        let network = Network::mine();
        let servers = [network.far_server(), RealServer::start(&[])];
        let pool = builder(servers.iter().map(RealServer::addr)).initial_conn(THREADS);
        let client = MemcachedClient::new(pool.build().unwrap());
        const BLINKS: usize = 12;
        under_load(&client, THREADS, |load| {
            load.warm();
            let mut longest = ms(0);
            for blink in 0..BLINKS {
                let broken = network.breaks(&BLINK);
                thread::sleep([ms(30), ms(150), LIMIT, LIMIT + ms(200)][blink % 4]);
                broken.heal();
                network.is_back(&servers[0]);
                longest = longest.max(load.good_again(0));
            }
            let lossy = load.of(0);
            println!(
                "{}, {BLINKS} times: {lossy}; good again after {longest:.1?} at most; the other server: {}",
                BLINK.name,
                load.others_are_unaffected(0)
            );
            assert_eq!(lossy.errors_beside(&allowed()), [], "{lossy}");
            assert!(lossy.stalled <= (THREADS * BLINKS) as u64, "{lossy}");
            let bound = BACK_OFF + ms(200) + MARGIN + lost(ms(20_000));
            assert!(longest <= bound, "{longest:?}");
        });
    });
}

#[test]
#[ignore = "run by tests/netns.sh"]
fn packets_lost_by_chance_make_calls_late_and_no_answer_wrong() {
    alone(|| {
        let network = Network::mine();
        let servers = [network.far_server(), RealServer::start(&[])];
        let pool = builder(servers.iter().map(RealServer::addr)).initial_conn(THREADS);
        let client = MemcachedClient::new(pool.build().unwrap());
        under_load(&client, THREADS, |load| {
            load.warm();
            if let Err(reason) = network.ip(LOSS.on) {
                println!("{}: this kernel cannot: {reason}", LOSS.name);
                return;
            }
            let broken = super::Broken(&network, Some(LOSS.off));
            let before = load.of(0);
            thread::sleep(ms(4000));
            let during = load.of(0);
            assert!(during.good > before.good, "nothing came through");
            assert!(during.stalled > before.stalled, "nothing was lost");
            broken.heal();
            let back = load.good_again(0);
            let lossy = load.of(0);
            println!(
                "{}: {lossy}; good again after {back:.1?}; the other server: {}",
                LOSS.name,
                load.others_are_unaffected(0)
            );
            assert_eq!(lossy.errors_beside(&allowed()), [], "{lossy}");
            assert!(back <= BACK_OFF + ms(200) + MARGIN + lost(back), "{back:?}");
        });
    });
}
