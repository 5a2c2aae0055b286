//! How many files, sockets among them, this process may have open. It knows nothing of what they are for.

use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Set in a process that has all that it may have.
const RAISED: &str = "SOCKIO_BENCH_FILES_RAISED";

/// Raises the limit as far as the system lets it: a shell can, where std cannot, so this process begins anew behind one.
pub(crate) fn raise() -> io::Result<()> {
    if std::env::var_os(RAISED).is_some() {
        return Ok(());
    }
    Err(Command::new("sh")
        .args(["-c", "ulimit -n \"$(ulimit -Hn)\"; exec \"$@\"", "sh"])
        .args(std::env::args_os())
        .env(RAISED, "1")
        .exec())
}

/// The limit now.
pub(crate) fn limit() -> io::Result<usize> {
    let limits = fs::read_to_string("/proc/self/limits")?;
    let mut lines = limits.lines();
    let line = lines.find_map(|line| line.strip_prefix("Max open files"));
    let soft = line.and_then(|line| line.split_whitespace().next());
    Ok(soft
        .and_then(|number| number.parse().ok())
        .unwrap_or(usize::MAX))
}
