//! Reads the captured data under `tests/golden/compat`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sockio::router::Router;
use sockio::{Compat, ServerAddr};

pub(crate) fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden/compat")
        .join(name)
}

pub(crate) fn text(name: &str) -> String {
    let path = path(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub(crate) fn json(name: &str) -> Value {
    serde_json::from_str(&text(name)).unwrap()
}

/// The keys, one a line.
pub(crate) fn keys() -> Vec<String> {
    let keys: Vec<String> = text("keys.txt").lines().map(str::to_owned).collect();
    assert_eq!(keys.len(), 399);
    keys
}

/// The rows of a table: its fields, split at tabs.
pub(crate) fn rows(name: &str) -> Vec<Vec<String>> {
    let rows: Vec<Vec<String>> = text(name)
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split('\t').map(str::to_owned).collect())
        .collect();
    assert!(!rows.is_empty(), "{name} has no rows");
    rows
}

/// The tables in a folder, as client and its rows.
pub(crate) fn tables(folder: &str) -> Vec<(String, Vec<Vec<String>>)> {
    let mut names: Vec<String> = fs::read_dir(path(folder))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| name.strip_suffix(".tsv").map(str::to_owned))
        .collect();
    names.sort();
    assert!(!names.is_empty());
    let rows = |name: &str| rows(&format!("{folder}/{name}.tsv"));
    names
        .into_iter()
        .map(|name| (name.clone(), built(&name, rows(&name))))
        .filter(|(_, rows)| !rows.is_empty())
        .collect()
}

/// The server sets, by name.
pub(crate) struct Sets(BTreeMap<String, Vec<(String, u32)>>);

impl Sets {
    pub(crate) fn read() -> Self {
        let json = json("servers.json");
        let sets = json.as_object().unwrap().iter().map(|(name, servers)| {
            let servers = servers.as_array().unwrap().iter();
            let servers = servers.map(|pair| {
                let weight = pair[1].as_u64().unwrap() as u32;
                (pair[0].as_str().unwrap().to_owned(), weight)
            });
            (name.clone(), servers.collect())
        });
        Self(sets.collect())
    }

    /// The servers of a set, with their weights for `w` and without for `n`.
    pub(crate) fn servers(&self, set: &str, weights: &str) -> Vec<ServerAddr> {
        let servers = self.0[set].iter().map(|(name, weight)| {
            let server: ServerAddr = name.parse().unwrap();
            match weights {
                "w" => server.with_weight(*weight),
                "n" => server,
                other => panic!("weights {other:?}"),
            }
        });
        servers.collect()
    }

    pub(crate) fn router(&self, compat: Compat, set: &str, weights: &str) -> Router {
        compat.router(self.servers(set, weights)).unwrap()
    }
}

/// Servers of a JSON list of names.
pub(crate) fn unweighted(names: &[Value]) -> Vec<ServerAddr> {
    names
        .iter()
        .map(|name| name.as_str().unwrap().parse().unwrap())
        .collect()
}

/// Servers of a JSON list of names and one of weights.
pub(crate) fn weighted(names: &[Value], weights: &[Value]) -> Vec<ServerAddr> {
    assert_eq!(names.len(), weights.len());
    unweighted(names)
        .into_iter()
        .zip(weights)
        .map(|(server, weight)| server.with_weight(weight.as_u64().unwrap() as u32))
        .collect()
}

/// Leaves out the rows that this build has no hash for.
fn built(client: &str, rows: Vec<Vec<String>>) -> Vec<Vec<String>> {
    let needs_sha1 = ["dalli/default", "enyim/ketama/sha1"];
    let is_built = |row: &Vec<String>| {
        let name = format!("{client}/{}", row[0]);
        cfg!(feature = "sha1") || !needs_sha1.contains(&name.as_str())
    };
    rows.into_iter().filter(is_built).collect()
}

/// The row of the compat table for a client and an algorithm.
pub(crate) fn compat(client: &str, algorithm: &str) -> Compat {
    format!("{client}/{algorithm}")
        .parse()
        .unwrap_or_else(|error| panic!("{error}"))
}

/// A base-36 digit for a server number.
pub(crate) fn digit(server: usize) -> char {
    char::from_digit(server as u32, 36).unwrap()
}

/// The server numbers of base-36 digits.
pub(crate) fn digits(text: &str) -> Vec<usize> {
    text.chars()
        .map(|digit| digit.to_digit(36).unwrap() as usize)
        .collect()
}
