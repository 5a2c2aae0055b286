//! A server that the network cuts off while calls are under way, each in another way, and brings back.

use std::thread;

use sockio::{ErrorKind, MemcachedClient};

use super::{Fault, Network};
use crate::servers::load::{BACK_OFF, LIMIT, builder, under_load};
use crate::support::RealServer;
use crate::support::wait::{MARGIN, alone, eventually, lost, ms};

const THREADS: usize = 4;

const FAULTS: &[Fault] = &[
    Fault {
        name: "answers vanish",
        on: "-n SERVER route add blackhole 10.222.0.1/32",
        off: "-n SERVER route del blackhole 10.222.0.1/32",
    },
    Fault {
        name: "requests vanish",
        on: "-n CLIENT neigh replace 10.222.0.2 lladdr 02:00:00:00:00:99 dev veth0 nud permanent",
        off: "-n CLIENT neigh del 10.222.0.2 dev veth0",
    },
    Fault {
        name: "a route that discards",
        on: "-n CLIENT route add blackhole 10.222.0.2/32",
        off: "-n CLIENT route del blackhole 10.222.0.2/32",
    },
    Fault {
        name: "a route that says unreachable",
        on: "-n CLIENT route add unreachable 10.222.0.2/32",
        off: "-n CLIENT route del unreachable 10.222.0.2/32",
    },
    Fault {
        name: "the server's link is down",
        on: "-n SERVER link set veth0 down",
        off: "-n SERVER link set veth0 up",
    },
    Fault {
        name: "the client's link is down",
        on: "-n CLIENT link set veth0 down",
        off: "-n CLIENT link set veth0 up",
    },
    Fault {
        name: "the server's address is gone",
        on: "-n SERVER addr del 10.222.0.2/24 dev veth0",
        off: "-n SERVER addr add 10.222.0.2/24 dev veth0",
    },
];

#[test]
#[ignore = "run by tests/netns.sh"]
fn a_server_cut_off_costs_one_call_of_each_thread_and_comes_back_with_the_network() {
    alone(|| {
        let network = Network::mine();
        for (number, fault) in FAULTS.iter().enumerate() {
            let servers = [network.far_server(), RealServer::start(&[])];
            // With a connection for each, and where they share requests.
            let (combine, connections) = [(false, THREADS), (true, 2)][number % 2];
            let pool = builder(servers.iter().map(RealServer::addr))
                .initial_conn(connections)
                .max_open(connections)
                .combine(combine);
            let client = MemcachedClient::new(pool.build().unwrap());
            under_load(&client, THREADS, |load| {
                load.warm();
                let broken = network.breaks(fault);
                eventually("the server is dead", || {
                    client.pool().stats()[0].dead_until.is_some()
                });
                thread::sleep(ms(900));
                let good = load.of(0).good;
                thread::sleep(ms(100));
                assert_eq!(load.of(0).good, good, "{}: not cut off", fault.name);
                broken.heal();
                let carried = network.is_back(&servers[0]);
                let back = load.good_again(0);
                let cut = load.of(0);
                println!(
                    "{}: {cut}; the network carries again {carried:.1?} after it was healed, the pool is good {back:.1?} \
                 later; the other server: {}",
                    fault.name,
                    load.others_are_unaffected(0)
                );
                assert!(cut.stalled <= THREADS as u64, "{cut}");
                assert!(cut.longest <= LIMIT + MARGIN + lost(ms(10_000)), "{cut}");
                let unexpected = cut.errors_beside(&[
                    ErrorKind::Timeout,
                    ErrorKind::Ambiguous,
                    ErrorKind::Connect,
                    ErrorKind::NoServer,
                ]);
                assert_eq!(unexpected, [], "{cut}");
                // The try under way may have begun before.
                assert!(back <= BACK_OFF + ms(200) + MARGIN + lost(back), "{back:?}");
            });
        }
    });
}
