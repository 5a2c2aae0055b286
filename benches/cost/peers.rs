//! Other clients, counted in the same way: the programs of `benches/peers`, a package of its own so that this one needs none of them.

use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::count::Contender;

const PACKAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/peers");

/// Builds the programs; each client with the names of its operations.
pub(crate) fn build() -> io::Result<Vec<(Contender, Vec<String>)>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("peers");
    let status = Command::new(cargo)
        .args(["build", "--release", "--locked", "--quiet"])
        .current_dir(PACKAGE)
        .env("CARGO_TARGET_DIR", &target)
        .status()?;
    if !status.success() {
        return Err(io::Error::other(format!("{PACKAGE} could not be built")));
    }
    let program = target.join("release").join("peers");
    let contender = |name: String| {
        let operations = lines(&program, &["ops", &name])?;
        let contender = Contender {
            program: program.clone(),
            args: vec!["one".to_owned(), name.clone()],
            name,
        };
        Ok((contender, operations))
    };
    lines(&program, &["list"])?
        .into_iter()
        .map(contender)
        .collect()
}

fn lines(program: &PathBuf, args: &[&str]) -> io::Result<Vec<String>> {
    let output = Command::new(program)
        .args(args)
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err(io::Error::other(format!(
            "peers {args:?}: {}",
            output.status
        )));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().map(str::to_owned).collect())
}
