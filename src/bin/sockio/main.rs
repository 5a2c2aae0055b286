//! `sockio`, the command-line tool: where keys live, what stored bytes mean, how evenly servers share. It opens no connection.
#![forbid(unsafe_code)]

mod balance;
mod compat;
mod decode;
mod encode;
mod escape;
mod explain;
mod failure;
mod form;
mod lines;
mod moves;
mod place;
mod svg;
mod tally;
mod values;
mod r#where;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use failure::Failure;

/// Places keys and reads values as the memcached clients of Java, .NET, PHP, Perl, Python, Ruby and Go do.
///
/// Programs in several languages can share one cache if each looks for a key on the server where the others put it, and reads
/// what they wrote. This tool answers both questions without a server: nothing is connected to, nothing is changed.
#[derive(Debug, Parser)]
#[command(name = "sockio", version, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Where(r#where::Args),
    Decode(decode::Args),
    Encode(encode::Args),
    Balance(balance::Args),
    Moves(moves::Args),
    Compat(compat::Args),
}

const EXAMPLES: &str = "\
First steps:
  sockio compat                      the names of the known clients and their settings
  sockio where --compat whalin/native --servers 10.0.0.1:11211,10.0.0.2:11211 user:582
  sockio help where                  more on one command

Errors go to standard error, with exit code 2.";

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Where(args) => r#where::run(&args),
        Command::Decode(args) => decode::run(&args),
        Command::Encode(args) => encode::run(args),
        Command::Balance(args) => balance::run(&args),
        Command::Moves(args) => moves::run(&args),
        Command::Compat(args) => compat::run(&args),
    };
    match outcome {
        Ok(()) | Err(Failure::Closed) => ExitCode::SUCCESS,
        Err(Failure::Told) => ExitCode::from(failure::CODE),
        Err(Failure::Message(message)) => {
            // If standard error is closed as well, the exit code still tells.
            let _ = writeln!(io::stderr(), "sockio: {message}");
            ExitCode::from(failure::CODE)
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_options_of_all_commands_are_consistent() {
        super::Cli::command().debug_assert();
    }
}
