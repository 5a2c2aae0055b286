//! Other clients, counted in the same way.

use std::io;
use std::process::Command;

use crate::client_programs;
use crate::count::Contender;

/// Some wait 40 ms for the server in each operation (Nagle's algorithm is on): they do a fifth of what the others do.
const SHARE: usize = 5;

/// Builds the program that drives them; each client with the names of its operations.
pub(crate) fn contenders() -> io::Result<Vec<(Contender, Vec<String>)>> {
    let program = client_programs::build()?;
    let contender = |name: String| {
        let operations = client_programs::lines(Command::new(&program).args(["ops", &name]))?;
        let contender = Contender {
            program: program.clone(),
            args: vec!["one".to_owned(), name.clone()],
            share: SHARE,
            name,
        };
        Ok((contender, operations))
    };
    let names = client_programs::names(&program)?;
    names.into_iter().map(contender).collect()
}
