//! Every key of the captured data stands on the server where its client puts it.

use crate::golden::{self, Sets, compat};

#[test]
fn every_captured_key_is_placed_as_its_client_places_it() {
    let keys = golden::keys();
    let sets = Sets::read();
    for (client, rows) in golden::tables("placement") {
        if !["whalin", "whalin-1"].contains(&&*client) {
            continue;
        }
        let (mut placed, mut not_placed) = (0, 0);
        for row in &rows {
            let [algorithm, set, weights, corpus, expected] = &row[..] else {
                panic!("{client}: a row of {} fields", row.len());
            };
            assert_eq!((&**corpus, expected.chars().count()), ("open", keys.len()));
            let router = sets.router(compat(&client, algorithm), set, weights);
            for (key, expected) in keys.iter().zip(expected.chars()) {
                if expected == '-' {
                    not_placed += 1;
                    continue;
                }
                let server = router.first(key.as_bytes(), None).unwrap();
                assert_eq!(
                    golden::digit(server),
                    expected,
                    "{client}/{algorithm} {set} {weights} {key}"
                );
                placed += 1;
            }
        }
        assert!(placed > 0);
        println!(
            "{client}: {} rows, {placed} keys, {not_placed} that the client cannot place",
            rows.len()
        );
    }
}
