//! `sockio decode`: what a stored payload is.

use std::io::{self, Write};

use crate::failure::Result;
use crate::form::{self, Form};
use crate::values;

/// Tell the type and the value of a stored payload
///
/// Reads a payload from standard input, as a server returns it for `get` (without the line end behind it), and prints its type and
/// its value, separated by a tab: what the client would have read. Line ends, tabs, control characters and bytes that are no
/// UTF-8 are written as \n, \t, \x.., and a backslash as \\. An object that only its own language can read shows as it is stored.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Who stored it: a client (whalin, enyim, php-memcached ...) or a name that `sockio compat` lists.
    #[arg(long, value_name = "NAME")]
    compat: Form,

    /// The flags beside it: the second number of the server's VALUE line.
    #[arg(long, value_name = "N")]
    flags: u32,

    /// Standard input holds the payload in hex digits.
    #[arg(long)]
    hex: bool,

    /// Write the value's bytes only, as they are.
    #[arg(long)]
    raw: bool,
}

const EXAMPLES: &str = "\
Examples:
  echo 0000002a | sockio decode --compat whalin --flags 4 --hex
      prints i32 and 42
  sockio decode --compat php-memcached --flags 4 < payload";

pub(crate) fn run(args: &Args) -> Result<()> {
    let payload = form::read_payload(args.hex)?;
    let value = args.compat.0.decode(args.flags, payload.into())?;
    let mut out = io::stdout().lock();
    if args.raw {
        out.write_all(&values::content(&value))?;
    } else {
        let (name, text) = (values::type_name(&value), values::line(&value));
        writeln!(out, "{name}\t{text}")?;
    }
    Ok(out.flush()?)
}
