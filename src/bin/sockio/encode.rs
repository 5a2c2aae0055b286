//! `sockio encode`: how a client stores a value.

use std::ffi::OsString;
use std::io::{self, Write};

use crate::escape;
use crate::failure::{Failure, Result};
use crate::form::{self, Form};
use crate::values::Kind;

/// Tell the flags and the payload with which a client stores a value
///
/// Prints the flags and the payload in hex digits, separated by a tab. Without a VALUE, it is read from standard input: text and
/// bytes to the last byte, a line end included; of all other types blanks around the value do not count.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Who is to read it: a client (whalin, enyim, php-memcached ...) or a name that `sockio compat` lists.
    #[arg(long, value_name = "NAME")]
    compat: Form,

    /// The value's type.
    #[arg(long = "type", value_name = "TYPE")]
    kind: Kind,

    /// The value is given in hex digits: for bytes that cannot be typed.
    #[arg(long)]
    hex: bool,

    /// Write the payload's bytes only, as they are.
    #[arg(long)]
    raw: bool,

    /// The value; write `--` before a text that begins with a hyphen.
    #[arg(value_name = "VALUE", allow_negative_numbers = true)]
    value: Option<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  sockio encode --compat whalin --type i32 42
      prints 4 and 0000002a
  sockio encode --compat enyim --type string --raw < text > payload";

pub(crate) fn run(args: Args) -> Result<()> {
    let bytes = match args.value {
        Some(value) => form::payload(value.into_encoded_bytes(), args.hex)?,
        None if args.kind == Kind::Null => Vec::new(),
        None => form::read_payload(args.hex)?,
    };
    let value = args.kind.read(&bytes).map_err(Failure::new)?;
    let encoded = args.compat.0.encode(value)?;
    let mut out = io::stdout().lock();
    if args.raw {
        out.write_all(&encoded.data)?;
    } else {
        writeln!(out, "{}\t{}", encoded.flags, escape::hex(&encoded.data))?;
    }
    Ok(out.flush()?)
}
