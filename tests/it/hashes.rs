//! Every captured hash comes out the same.

use crate::golden::{self, compat};

#[test]
fn every_captured_hash_is_the_same() {
    let keys = golden::keys();
    for (client, rows) in golden::tables("hash") {
        if !["whalin", "whalin-1"].contains(&&*client) {
            continue;
        }
        let mut hashed = 0;
        for row in &rows {
            let [algorithm, corpus, hashes] = &row[..] else {
                panic!("{client}: a row of {} fields", row.len());
            };
            let hashes: Vec<&str> = hashes.split(' ').collect();
            assert_eq!((&**corpus, hashes.len()), ("open", keys.len()));
            let hashing = compat(&client, algorithm).hashing();
            for (key, expected) in keys.iter().zip(hashes) {
                assert_eq!(
                    hashing.hash(key.as_bytes()).to_string(),
                    expected,
                    "{client}/{algorithm} {key}"
                );
                hashed += 1;
            }
        }
        assert!(hashed > 0);
        println!("{client}: {} hashes, {hashed} keys", rows.len());
    }
}
