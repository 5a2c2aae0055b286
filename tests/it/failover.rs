//! Every captured failover leads where its client goes.

use std::collections::BTreeMap;

use sockio::router::Router;

use crate::golden::{self, Sets, compat};

#[test]
fn every_captured_walk_is_walked() {
    let keys = golden::keys();
    let sets = Sets::read();
    let mut routers: BTreeMap<Vec<String>, Router> = BTreeMap::new();
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for row in golden::rows("failover.tsv") {
        let [
            client,
            algorithm,
            set,
            weights,
            dead,
            used,
            tried,
            corpus,
            key,
        ] = &row[..]
        else {
            panic!("a row of {} fields", row.len());
        };
        assert_eq!(corpus, "open");
        let router = routers
            .entry(row[..4].to_vec())
            .or_insert_with(|| sets.router(compat(client, algorithm), set, weights));
        let dead = golden::digits(dead);
        let key = &keys[key.parse::<usize>().unwrap()];
        let walked = router.walk(key.as_bytes(), None, |server| dead.contains(&server));
        let server = walked.server.map_or('-', golden::digit);
        assert_eq!(server.to_string(), *used, "{row:?}");
        let count = counts.entry(client.clone()).or_default();
        count.0 += 1;
        if tried != "-" {
            assert_eq!(walked.tried, golden::digits(tried), "{row:?}");
            count.1 += 1;
        }
    }
    let clients: Vec<&str> = counts.keys().map(String::as_str).collect();
    assert_eq!(
        clients,
        ["memcacheddotnet", "pecl-memcache", "whalin", "whalin-1"]
    );
    for (client, (rows, tried)) in &counts {
        assert!(*rows > 0);
        println!("{client}: {rows} failovers, {tried} with every server tried");
    }
}
