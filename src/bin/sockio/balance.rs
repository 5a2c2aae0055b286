//! `sockio balance`: how evenly servers share keys.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use crate::failure::{Failure, Result};
use crate::place::{self, Place};
use crate::svg;
use crate::tally::Keys;

/// Count the keys that each server gets
///
/// Makes up keys, places them as the client does, and prints for each server its keys, their share, the share that its weight
/// says, how far the one is from the other, and a bar.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    place: Place,

    #[command(flatten)]
    keys: Keys,

    /// Also draw the bars into this file, as a picture (SVG).
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Example:
  sockio balance --compat whalin/consistent \\
      --servers a:11211,b:11211,c:11211 --weights 2,1,3 --svg balance.svg";

/// The part of one server.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Part {
    pub(crate) server: String,
    pub(crate) keys: u64,
    /// Of all keys, from 0 to 1.
    pub(crate) share: f64,
    /// What its weight says, from 0 to 1.
    pub(crate) expected: f64,
}

impl Part {
    /// How far the share is from the expected one, in percent of that; `None` if none is expected.
    pub(crate) fn deviation(&self) -> Option<String> {
        let deviation = (self.share / self.expected - 1.0) * 100.0;
        (self.expected > 0.0).then(|| format!("{deviation:+.2} %"))
    }
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let router = args.place.router()?;
    let rules = args.place.client.compat.key_rules(b"")?;
    let counts = args
        .keys
        .tally(&rules, router.servers().len(), |hashed, counts| {
            counts[router.first(hashed, None)] += 1;
        })?;
    let total = args.keys.count;
    let expected = place::shares(router.servers());
    let parts: Vec<Part> = router
        .servers()
        .iter()
        .zip(counts)
        .zip(expected)
        .map(|((server, keys), expected)| Part {
            server: server.name().to_owned(),
            keys,
            share: keys as f64 / total as f64,
            expected,
        })
        .collect();

    if let Some(file) = &args.svg {
        let title = format!("{}: {total} keys", args.place.client.compat);
        fs::write(file, svg::draw(&title, &parts))
            .map_err(|error| Failure::new(format!("{}: {error}", file.display())))?;
    }
    let mut out = io::stdout().lock();
    out.write_all(table(&parts).as_bytes())?;
    Ok(out.flush()?)
}

/// Characters that the longest bar takes.
const BAR: usize = 40;

fn table(parts: &[Part]) -> String {
    let names = parts.iter().map(|part| part.server.chars().count());
    let width = names.max().unwrap_or(0).max("server".len());
    let longest = parts.iter().map(|part| part.share).fold(0.0, f64::max);
    let mut table = format!(
        "{:width$}  {:>12}  {:>8}  {:>8}  {:>10}\n",
        "server", "keys", "share", "expected", "deviation"
    );
    for part in parts {
        table.push_str(&format!(
            "{:width$}  {:>12}  {:>6.2} %  {:>6.2} %  {:>10}  {}\n",
            part.server,
            part.keys,
            part.share * 100.0,
            part.expected * 100.0,
            part.deviation().as_deref().unwrap_or("-"),
            bar(part.share / longest)
        ));
    }
    table
}

/// A bar of a length from 0 to 1, to an eighth of a character.
fn bar(length: f64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (length * (8 * BAR) as f64).round() as usize;
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(server: &str, keys: u64, share: f64, expected: f64) -> Part {
        Part {
            server: server.to_owned(),
            keys,
            share,
            expected,
        }
    }

    #[test]
    fn bars_are_measured_in_eighths() {
        assert_eq!(bar(1.0), "█".repeat(40));
        assert_eq!(bar(0.5), "█".repeat(20));
        assert_eq!(bar(1.0 / 320.0), "▏");
        assert_eq!(bar(15.0 / 320.0), "█▉");
        assert_eq!(bar(0.0), "");
    }

    #[test]
    fn a_line_for_each_server() {
        let parts = [
            part("10.0.0.1:11211", 3, 0.75, 0.5),
            part("b:1", 1, 0.25, 0.5),
            part("c:1", 0, 0.0, 0.0),
        ];
        let full = "█".repeat(40);
        let third = "█".repeat(13) + "▍";
        let expected = [
            "server                  keys     share  expected   deviation".to_owned(),
            format!("10.0.0.1:11211             3   75.00 %   50.00 %    +50.00 %  {full}"),
            format!("b:1                        1   25.00 %   50.00 %    -50.00 %  {third}"),
            "c:1                        0    0.00 %    0.00 %           -  ".to_owned(),
        ];
        assert_eq!(table(&parts).lines().collect::<Vec<_>>(), expected);
    }
}
