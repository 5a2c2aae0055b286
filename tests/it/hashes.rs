//! Every captured hash comes out the same.

use sockio::KeyTransform;

use crate::golden::{self, compat};

#[test]
fn every_captured_hash_is_the_same() {
    let keys = golden::keys();
    for (client, rows) in golden::tables("hash") {
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

#[test]
fn documented_dotnet_hashes() {
    let json = golden::json("hash/dotnet-strings.json");
    let mut hashes = 0;
    let mut check = |runtime: &str, string: &str, expected: &serde_json::Value| {
        let algorithm = match runtime {
            "netcore_nonrandomized" => "native-netcore".to_owned(),
            "mono68_marvin" => "native-mono".to_owned(),
            "old_compat" | "new_compat" => runtime.replace('_', "-"),
            runtime => format!("native-{runtime}"),
        };
        let hash = compat("memcacheddotnet", &algorithm)
            .hashing()
            .hash(string.as_bytes());
        assert_eq!(hash, expected.as_i64().unwrap(), "{runtime} {string:?}");
        hashes += 1;
    };
    for (runtime, documented) in json["documented"].as_object().unwrap() {
        for (string, expected) in documented.as_object().unwrap() {
            check(runtime, string, expected);
        }
    }
    for case in json["cases"].as_array().unwrap() {
        for (runtime, expected) in case.as_object().unwrap() {
            if runtime != "string" {
                check(runtime, case["string"].as_str().unwrap(), expected);
            }
        }
    }
    assert!(hashes > 0);
    println!("dotnet-strings.json: {hashes} hashes");
}

#[test]
fn sanitized_keys_are_the_java_clients() {
    let transform = compat("whalin", "native+sanitize").key_transform();
    let mut keys = 0;
    let json = golden::json("whalin-sanitized-keys.json");
    for pair in json["cases"].as_array().unwrap() {
        let (key, sent) = (pair[0].as_str().unwrap(), pair[1].as_str().unwrap());
        assert_eq!(*transform.transform(key.as_bytes()), *sent.as_bytes());
        keys += 1;
    }
    assert!(keys > 0);
    println!("whalin-sanitized-keys.json: {keys} keys");
}

#[test]
fn transformed_keys_are_enyims() {
    let transforms = [
        (1, KeyTransform::Raw),
        (2, KeyTransform::Base64),
        #[cfg(feature = "sha1")]
        (3, KeyTransform::Sha1),
        #[cfg(feature = "tiger")]
        (4, KeyTransform::Tiger),
    ];
    let mut keys = 0;
    let json = golden::json("enyim-key-transformers.json");
    for case in json["cases"].as_array().unwrap() {
        let key = case[0].as_str().unwrap().as_bytes();
        for (column, transform) in transforms {
            let sent = case[column].as_str().unwrap().as_bytes();
            assert_eq!(*transform.transform(key), *sent, "{transform:?}");
        }
        keys += 1;
    }
    assert!(keys > 0);
    println!(
        "enyim-key-transformers.json: {keys} keys, {} forms",
        transforms.len()
    );
}
