//! Tests that count what belongs to a whole process, each in a process of its own. It knows nothing of what they count.

use std::path::PathBuf;
use std::process::{Command, Output};

const MARK: &str = "SOCKIO_TEST_CHILD";

/// Whether this process was started for one test.
pub(crate) fn is_child() -> bool {
    std::env::var_os(MARK).is_some()
}

/// The command that runs one test of this binary, named as `cargo test` names it, in a process of its own.
/// `argument` is what [`argument`] gives there. Behind `wrapper`, a program that runs another one.
pub(crate) fn command(wrapper: &[&str], test: &str, argument: &str) -> Command {
    let me: PathBuf = std::env::current_exe().expect("this binary");
    let mut command = match wrapper {
        [] => Command::new(me),
        [program, args @ ..] => {
            let mut command = Command::new(program);
            command.args(args).arg(me);
            command
        }
    };
    command
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(MARK, argument);
    command
}

/// Whether to go on here: true in a process that runs this test alone. Elsewhere such a process is started and must succeed.
#[track_caller]
pub(crate) fn runs_alone(test: &str) -> bool {
    if is_child() {
        return true;
    }
    let output = command(&[], test, "1").output().expect("this binary");
    check(&output);
    false
}

/// What the parent gave to this process.
pub(crate) fn argument() -> String {
    std::env::var(MARK).unwrap_or_default()
}

/// The child ran exactly one test, and it passed.
#[track_caller]
pub(crate) fn check(output: &Output) {
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{}\n{text}\n{errors}",
        output.status
    );
    print!("{text}");
}
