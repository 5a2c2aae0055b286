//! `sockio compat`: the known clients.

use std::io::{self, BufWriter, Write};

use sockio::Compat;

use crate::failure::Result;

/// List the known clients and their settings
///
/// Prints a line for each: the name to write behind --compat, what it rests on, and what it is. What it rests on is one of
/// `captured` (compared key by key with data from the running client), `computed` (with an independent implementation of the
/// published algorithm) and `source` (it follows the client's source).
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Also name the hash function, the distribution, the failover walk, the form of keys, and whether a prefix is hashed.
    #[arg(long, short)]
    verbose: bool,
}

const EXAMPLES: &str = "\
Example:
  sockio compat | grep PHP";

pub(crate) fn run(args: &Args) -> Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    let all = Compat::all();
    let width = all.iter().map(|compat| compat.name().len()).max();
    for compat in all {
        write!(
            out,
            "{:width$}  {:8}  {}",
            compat.name(),
            format!("{:?}", compat.proof()).to_lowercase(),
            compat.description(),
            width = width.unwrap_or(0)
        )?;
        if args.verbose {
            let prefix = if compat.hashes_prefix() { "" } else { "not " };
            write!(
                out,
                "\n    hash {:?}, distribution {:?}, walk {:?}, keys {:?}, prefix {prefix}hashed",
                compat.hashing(),
                compat.distribution(),
                compat.walk(),
                compat.key_transform(),
            )?;
        }
        writeln!(out)?;
    }
    Ok(out.flush()?)
}
