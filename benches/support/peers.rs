//! The program that drives other clients: `benches/peers`, a package of its own so that this one needs none of them.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds it, in its own folder if no other is set.
pub(crate) fn build() -> io::Result<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers");
    if !folder.exists() {
        return Err(io::Error::other("benches/peers is in the repository alone"));
    }
    let target = match std::env::var_os("CARGO_TARGET_DIR") {
        Some(target) => std::path::absolute(target)?.join("peers"),
        None => folder.join("target"),
    };
    let status = Command::new(env!("CARGO"))
        .args(["build", "--release", "--locked", "--quiet", "--target-dir"])
        .arg(&target)
        .current_dir(folder)
        .status()?;
    if !status.success() {
        return Err(io::Error::other("benches/peers was not built"));
    }
    Ok(target.join("release/peers"))
}

/// The clients that it knows.
pub(crate) fn names(program: &Path) -> io::Result<Vec<String>> {
    lines(Command::new(program).arg("list"))
}

/// What it prints, if it ends well, line by line.
pub(crate) fn lines(command: &mut Command) -> io::Result<Vec<String>> {
    // Backtraces make errors dear, and with one of the clients a miss is an error.
    let output = command.env_remove("RUST_BACKTRACE").output()?;
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(io::Error::other(error));
    }
    let text = String::from_utf8(output.stdout).map_err(io::Error::other)?;
    Ok(text.lines().map(str::to_owned).collect())
}
