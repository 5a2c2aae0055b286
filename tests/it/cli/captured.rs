//! Every captured placement and hash, and some failovers, through `sockio where`.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use sockio::ServerAddr;

use super::printed;
use crate::golden::{self, Sets};

#[test]
fn every_captured_placement_comes_out_of_where() {
    let (keys, sets) = (golden::keys(), Sets::read());
    let placed = AtomicUsize::new(0);
    let tables = golden::tables("placement");
    assert_eq!(tables.len(), 12);
    let rows: Vec<(String, Vec<String>)> = tables
        .into_iter()
        .flat_map(|(client, rows)| rows.into_iter().map(move |row| (client.clone(), row)))
        .collect();
    for_each(&rows, |(client, row)| {
        let compat = format!("{client}/{}", row[0]);
        let tool = Where::new(&compat, &sets.servers(&row[1], &row[2]));
        let lines = tool.rows(&[], &keys);
        assert_eq!(row[4].chars().count(), lines.len());
        for (line, expected) in lines.iter().zip(row[4].chars()) {
            assert_eq!(line.len(), 3);
            // `-`: the client cannot place it.
            if expected != '-' {
                assert_eq!(tool.digit(&line[2]), expected, "{compat} {row:?} {line:?}");
                placed.fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    let placed = placed.into_inner();
    assert!(placed > 300 * rows.len());
    println!("where: {} rows, {placed} keys", rows.len());
}

#[test]
fn every_captured_hash_is_the_second_column() {
    let (keys, sets) = (golden::keys(), Sets::read());
    let mut rows = 0;
    for (client, table) in golden::tables("hash") {
        for row in &table {
            let compat = format!("{client}/{}", row[0]);
            let tool = Where::new(&compat, &sets.servers("three", "n"));
            let lines = tool.rows(&[], &keys);
            let hashes: Vec<&str> = lines.iter().map(|line| &*line[1]).collect();
            assert_eq!(hashes.join(" "), row[2], "{compat}");
            rows += 1;
        }
    }
    assert!(rows > 0);
    println!("where: the hashes of {rows} algorithms");
}

#[test]
fn captured_failovers_come_out_of_where() {
    let (keys, sets) = (golden::keys(), Sets::read());
    let mut groups: BTreeMap<Vec<String>, Vec<Vec<String>>> = BTreeMap::new();
    for row in golden::rows("failover.tsv") {
        groups.entry(row[..5].to_vec()).or_default().push(row);
    }
    let walks = AtomicUsize::new(0);
    // The walks are checked one by one elsewhere; here, how they are printed.
    let groups: Vec<_> = groups.into_iter().step_by(7).collect();
    for_each(&groups, |(group, rows)| {
        let compat = format!("{}/{}", group[0], group[1]);
        let tool = Where::new(&compat, &sets.servers(&group[2], &group[3]));
        let dead: Vec<&str> = golden::digits(&group[4])
            .into_iter()
            .map(|number| &*tool.names[number])
            .collect();
        let asked: Vec<String> = rows
            .iter()
            .map(|row| keys[row[8].parse::<usize>().unwrap()].clone())
            .collect();
        let lines = tool.rows(&["--dead", &dead.join(",")], &asked);
        for (line, row) in lines.iter().zip(rows) {
            assert_eq!(tool.digit(&line[2]).to_string(), row[5], "{row:?}");
            if row[6] != "-" {
                let tried = line[3].split(',').map(|name| tool.digit(name));
                assert_eq!(tried.collect::<String>(), row[6], "{row:?}");
                walks.fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    let walks = walks.into_inner();
    assert!(walks > 0);
    println!("where --dead: {} lists, {walks} walks", groups.len());
}

/// `where` and its options for a list of servers.
struct Where {
    args: Vec<String>,
    names: Vec<String>,
}

impl Where {
    fn new(compat: &str, servers: &[ServerAddr]) -> Self {
        let names: Vec<String> = servers.iter().map(|it| it.name().to_owned()).collect();
        let weights: Vec<String> = servers
            .iter()
            .filter_map(|it| it.weight().map(|weight| weight.to_string()))
            .collect();
        let mut args = vec!["where", "--compat", compat, "--servers"]
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>();
        args.push(names.join(","));
        if !weights.is_empty() {
            args.extend(["--weights".to_owned(), weights.join(",")]);
        }
        Self { args, names }
    }

    /// The columns of each line.
    fn rows(&self, more: &[&str], keys: &[String]) -> Vec<Vec<String>> {
        let args = self.args.iter().map(String::as_str);
        let args: Vec<&str> = args.chain(more.iter().copied()).collect();
        let rows: Vec<Vec<String>> = printed(&args, keys.join("\n").as_bytes())
            .lines()
            .map(|line| line.split('\t').map(str::to_owned).collect())
            .collect();
        assert_eq!(rows.len(), keys.len(), "{args:?}");
        for (row, key) in rows.iter().zip(keys) {
            assert_eq!(row[0], *key);
        }
        rows
    }

    /// The base-36 digit of a server's name; `-` for itself.
    fn digit(&self, name: &str) -> char {
        let number = self.names.iter().position(|it| it == name);
        number.map_or('-', golden::digit)
    }
}

/// Calls `check` for each item, on a few threads.
fn for_each<T: Sync>(items: &[T], check: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            check(item);
        }
    };
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(work);
        }
    });
}
