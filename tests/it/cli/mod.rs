//! The command-line tool as a person or a pipe meets it: what it prints, and what it refuses.

mod captured;
mod counts;
mod values;
mod r#where;

use std::io::{Read, Write};
use std::process::{Command, Output, Stdio};
use std::thread;

use sockio::Compat;

const NATIVE: [&str; 5] = ["where", "--compat", "whalin/native", "--servers", "a:1,b:2"];

fn sockio(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sockio"));
    command
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs the tool to its end. The input has to fit where the tool reads it before it writes, or the pipes.
fn run(args: &[&str], input: &[u8]) -> Output {
    let mut child = sockio(args).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    thread::scope(|scope| {
        // The tool may end before it has read everything.
        scope.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output().unwrap()
    })
}

/// What it prints when all is well.
fn printed(args: &[&str], input: &[u8]) -> String {
    let output = run(args, input);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.success() && errors.is_empty(),
        "{args:?}: {errors}"
    );
    String::from_utf8(output.stdout).unwrap()
}

/// What it says when it refuses, and what it printed before.
fn refused(args: &[&str], input: &[u8]) -> (String, String) {
    let output = run(args, input);
    assert_eq!(output.status.code(), Some(2), "{args:?}");
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stderr), text(output.stdout))
}

#[test]
fn a_closed_pipe_ends_quietly() {
    for args in [
        &NATIVE[..],
        &["compat", "--verbose"],
        &["decode", "--compat", "enyim", "--flags", "0"],
    ] {
        let mut child = sockio(args).spawn().unwrap();
        drop(child.stdout.take());
        let mut stdin = child.stdin.take().unwrap();
        // More than a pipe holds: the tool has to notice while it writes.
        let _ = stdin.write_all(&b"key\n".repeat(100_000));
        drop(stdin);
        let mut errors = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut errors)
            .unwrap();
        assert!(child.wait().unwrap().success(), "{args:?}");
        assert_eq!(errors, "", "{args:?}");
    }
}

#[test]
fn compat_lists_every_name() {
    let (plain, verbose) = (
        printed(&["compat"], b""),
        printed(&["compat", "--verbose"], b""),
    );
    let all = Compat::all();
    assert_eq!(plain.lines().count(), all.len());
    for (line, compat) in plain.lines().zip(all) {
        assert_eq!(line.split_whitespace().next(), Some(compat.name()));
        assert!(line.ends_with(compat.description()), "{line}");
        assert!(verbose.contains(line), "{line}");
        let proof = line.split_whitespace().nth(1).unwrap();
        assert_eq!(proof, format!("{:?}", compat.proof()).to_lowercase());
    }
    assert!(verbose.contains("hash JavaString, distribution JavaBuckets"));
}

#[test]
fn every_command_has_help_with_an_example() {
    assert!(printed(&["--help"], b"").contains("sockio compat"));
    assert!(printed(&["--version"], b"").starts_with("sockio 0."));
    for command in ["where", "decode", "encode", "balance", "moves", "compat"] {
        let help = printed(&[command, "--help"], b"");
        assert!(help.contains("Example"), "{help}");
        assert!(
            help.contains(&format!("  sockio {command} "))
                || help.contains(&format!("| sockio {command} ")),
            "{help}"
        );
    }
}
