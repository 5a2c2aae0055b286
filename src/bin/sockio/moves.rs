//! `sockio moves`: the keys that change server when the list of servers, or the client, changes.

use std::collections::BTreeMap;
use std::io::{self, Write};

use sockio::router::Router;
use sockio::{Compat, ServerAddr};

use crate::failure::{Failure, Result};
use crate::place::{self, Client};
use crate::tally::Keys;

/// Tell which share of the keys changes server when the servers change
///
/// Servers may be added, removed, weighted anew or reordered. Makes up keys, places them before and after the change, and prints
/// how many move, how many would have to if keys were shared exactly by weight, and for each server the keys before and after,
/// those lost and those gained. A server is known by its name.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    client: Client,

    /// The name of another client that places the keys after the change.
    #[arg(long, value_name = "NAME")]
    to_compat: Option<Compat>,

    /// The servers before the change, as --servers of `sockio where`.
    #[arg(long, value_name = "LIST", value_delimiter = ',', required = true)]
    from: Vec<ServerAddr>,

    /// Their weights.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    from_weights: Vec<u32>,

    /// The servers after the change.
    #[arg(long, value_name = "LIST", value_delimiter = ',', required = true)]
    to: Vec<ServerAddr>,

    /// Their weights.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    to_weights: Vec<u32>,

    #[command(flatten)]
    keys: Keys,
}

const EXAMPLES: &str = "\
Example:
  sockio moves --compat libmemcached/ketama-weighted \\
      --from a:11211,b:11211 --to a:11211,b:11211,c:11211";

pub(crate) fn run(args: &Args) -> Result<()> {
    let (from_compat, to_compat) = (
        args.client.compat,
        args.to_compat.unwrap_or(args.client.compat),
    );
    let from = place::router(from_compat, &args.from, &args.from_weights)?;
    let to = place::router(to_compat, &args.to, &args.to_weights)?;
    let rules = from_compat.key_rules(b"")?;
    if to_compat.key_transform() != from_compat.key_transform() {
        return Err(Failure::new(format!(
            "{from_compat} and {to_compat} send the same key in different forms, so that neither finds what the other stored"
        )));
    }
    let names = Names::new(&from, &to);
    let counts = args
        .keys
        .tally(&rules, 4 * names.all.len(), |hashed, counts| {
            names.count(from.first(hashed, None), to.first(hashed, None), counts);
        })?;
    let report = report(args.keys.count, least(&from, &to), &names.all, &counts);
    let mut out = io::stdout().lock();
    out.write_all(report.as_bytes())?;
    Ok(out.flush()?)
}

/// The servers of both lists, each once, and where they stand in each.
struct Names<'a> {
    all: Vec<&'a str>,
    from: Vec<usize>,
    to: Vec<usize>,
}

/// The counters of one server, which follow each other.
const BEFORE: usize = 0;
const AFTER: usize = 1;
const LOST: usize = 2;
const GAINED: usize = 3;

impl<'a> Names<'a> {
    fn new(from: &'a Router, to: &'a Router) -> Self {
        let mut all = Vec::new();
        let mut numbers = BTreeMap::new();
        let mut number_all = |router: &'a Router| -> Vec<usize> {
            let names = router.servers().iter().map(ServerAddr::name);
            let number = |name| {
                *numbers.entry(name).or_insert_with(|| {
                    all.push(name);
                    all.len() - 1
                })
            };
            names.map(number).collect()
        };
        let (from, to) = (number_all(from), number_all(to));
        Self { all, from, to }
    }

    fn count(&self, source: usize, target: usize, counts: &mut [u64]) {
        let (source, target) = (4 * self.from[source], 4 * self.to[target]);
        counts[source + BEFORE] += 1;
        counts[target + AFTER] += 1;
        if source != target {
            counts[source + LOST] += 1;
            counts[target + GAINED] += 1;
        }
    }
}

/// The share of keys that has to move if both lists are shared exactly by weight: what the losers lose.
fn least(from: &Router, to: &Router) -> f64 {
    let by_name = |router: &Router| -> BTreeMap<String, f64> {
        let names = router.servers().iter().map(|it| it.name().to_owned());
        names.zip(place::shares(router.servers())).collect()
    };
    let after = by_name(to);
    let lost = |(name, before): (&String, &f64)| {
        let after = after.get(name).copied().unwrap_or(0.0);
        (before - after).max(0.0)
    };
    by_name(from).iter().map(lost).sum()
}

fn report(keys: u64, least: f64, names: &[&str], counts: &[u64]) -> String {
    let moved: u64 = counts.chunks(4).map(|server| server[LOST]).sum();
    let width = names.iter().map(|name| name.chars().count()).max();
    let width = width.unwrap_or(0).max("server".len());
    let mut report = format!(
        "{moved} of {keys} keys change server: {:.2} %\nshared exactly by weight, it would be at least {:.2} %\n\n{:width$}  {:>12}  {:>12}  {:>12}  {:>12}\n",
        moved as f64 / keys as f64 * 100.0,
        least * 100.0,
        "server",
        "before",
        "after",
        "lost",
        "gained",
    );
    for (name, server) in names.iter().zip(counts.chunks(4)) {
        report.push_str(&format!(
            "{name:width$}  {:>12}  {:>12}  {:>12}  {:>12}\n",
            server[BEFORE], server[AFTER], server[LOST], server[GAINED]
        ));
    }
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    fn router(servers: &[&str]) -> Router {
        let servers: Vec<ServerAddr> = servers.iter().map(|name| name.parse().unwrap()).collect();
        place::router(Compat::default(), &servers, &[]).unwrap()
    }

    #[test]
    fn the_fewest_that_can_move() {
        for (from, to, share) in [
            (&["a:1", "b:1"][..], &["a:1", "b:1", "c:1"][..], 1.0 / 3.0),
            (&["a:1", "b:1"], &["b:1", "a:1"], 0.0),
            (&["a:1", "b:1"], &["c:1", "d:1"], 1.0),
            (&["a:1:1", "b:1:3"], &["a:1:3", "b:1:1"], 0.5),
        ] {
            assert!((least(&router(from), &router(to)) - share).abs() < 1e-9);
        }
    }

    #[test]
    fn servers_are_matched_by_name() {
        let (from, to) = (router(&["a:1", "b:1"]), router(&["b:1", "c:1"]));
        let names = Names::new(&from, &to);
        assert_eq!(names.all, ["a:1", "b:1", "c:1"]);
        let mut counts = vec![0; 12];
        // a to b, b to b, b to c.
        for (source, target) in [(0, 0), (1, 0), (1, 1)] {
            names.count(source, target, &mut counts);
        }
        assert_eq!(counts, [1, 0, 1, 0, 2, 2, 1, 1, 0, 1, 0, 1]);
        let report = report(3, 0.5, &names.all, &counts);
        assert!(
            report.starts_with(
                "2 of 3 keys change server: 66.67 %\nshared exactly by weight, it would be at least 50.00 %\n"
            ),
            "{report}"
        );
        let line = "b:1                2             2             1             1\n";
        assert!(
            report.contains(&format!("\n{:8}{}", "b:1", &line[3 + 5..])),
            "{report}"
        );
    }
}
