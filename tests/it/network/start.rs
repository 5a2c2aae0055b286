//! Servers that cannot be reached when the pool is built.

use std::thread;

use sockio::{Expiry, MemcachedClient};

use super::{Fault, Network};
use crate::servers::load::{BACK_OFF, builder};
use crate::support::RealServer;
use crate::support::wait::{MARGIN, alone, eventually, in_time, lost, ms, timed, within};

const BLACKHOLE: Fault = Fault {
    name: "answers vanish",
    on: "-n SERVER route add blackhole 10.222.0.1/32",
    off: "-n SERVER route del blackhole 10.222.0.1/32",
};

/// All in vain at the same time, each in its own way: answers that vanish, twice; nobody at the address; a route that
/// discards; one that forbids; one that knows no way.
#[test]
#[ignore = "run by tests/netns.sh"]
fn unreachable_servers_cost_one_connect_timeout_in_all() {
    alone(|| {
        let network = Network::mine();
        let far = [network.far_server(), network.far_server()];
        let near = RealServer::start(&[]);
        let routes = [
            ("blackhole", "10.223.0.0/24", "10.223.0.1:21490"),
            ("prohibit", "10.224.0.0/24", "10.224.0.1:21490"),
            ("unreachable", "10.225.0.0/24", "10.225.0.1:21490"),
        ];
        for (kind, net, _) in routes {
            network
                .ip(&format!("-n CLIENT route add {kind} {net}"))
                .unwrap();
        }
        let hole = network.breaks(&BLACKHOLE);
        let mut servers = vec![near.addr(), far[0].addr(), far[1].addr()];
        servers.push("10.222.0.77:21490".to_owned());
        servers.extend(routes.map(|(_, _, address)| address.to_owned()));
        let connect_timeout = ms(400);
        let builder = builder(servers.clone())
            .initial_conn(2)
            .connect_timeout(connect_timeout);
        let (pool, took) = timed(|| builder.build().unwrap());
        in_time(took, connect_timeout);
        let client = MemcachedClient::new(pool.clone());
        let key_of = |server: &str| {
            let mut keys = (0..).map(|number| format!("key_{number}"));
            keys.find(|key| pool.server_of(key).unwrap().name() == server)
                .unwrap()
        };
        // The one that is there is usable at once, and goes on to be.
        let key = key_of(&near.addr());
        let ((), longest) = (0..200)
            .map(|number| {
                thread::sleep(ms(2));
                timed(|| assert!(client.set(&*key, number, Expiry::never()).unwrap()))
            })
            .max_by_key(|(_, took)| *took)
            .unwrap();
        in_time(longest, ms(0));
        for server in &servers[1..] {
            let key = key_of(server);
            let error = within(ms(0), || client.get::<String>(&*key).unwrap_err());
            assert!(
                error.is_connect() && error.server() == Some(server),
                "{error}"
            );
        }
        let dead = pool
            .stats()
            .iter()
            .filter(|stats| stats.dead_until.is_some())
            .count();
        assert_eq!(dead, servers.len() - 1);

        hole.heal();
        let carried = network.is_back(&far[0]);
        let back = eventually("both are usable", || {
            far.iter()
                .all(|far| client.set(key_of(&far.addr()), 1, Expiry::never()).is_ok())
        });
        println!(
            "{} of {} servers unreachable at the start: built in {took:.1?}; no call stalled, the longest on the one that is there \
         {longest:.1?}; the network carries again {carried:.1?} after it was healed, the pool is good {back:.1?} later",
            servers.len() - 1,
            servers.len()
        );
        assert!(
            back <= BACK_OFF + connect_timeout + MARGIN + lost(back),
            "{back:?}"
        );
        for (kind, net, _) in routes {
            network
                .ip(&format!("-n CLIENT route del {kind} {net}"))
                .unwrap();
        }
    });
}
