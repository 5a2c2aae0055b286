//! `sockio where`, by hand.

use std::io::{Read, Write};

use super::{NATIVE, printed, refused, run, sockio};

#[test]
fn keys_are_bytes_from_arguments_or_lines() {
    let args = |more: &[&'static str]| [&NATIVE, more].concat();
    // "a".hashCode() is 97, "b"'s 98.
    let both = "a\t97\tb:2\nb\t98\ta:1\n";
    assert_eq!(printed(&args(&["a", "b"]), b"never read"), both);
    assert_eq!(printed(&NATIVE, b"a\nb\n"), both);
    assert_eq!(printed(&NATIVE, b"a\nb"), both);
    assert_eq!(printed(&NATIVE, b""), "");
    assert_eq!(printed(&args(&["--", "-"]), b""), "-\t45\tb:2\n");

    let crc = [
        "where",
        "--compat",
        "gomemcache/default",
        "--servers",
        "a:1",
    ];
    let output = run(&crc, b"\xff\xfe\n");
    assert!(output.status.success());
    assert!(output.stdout.starts_with(b"\xff\xfe\t") && output.stdout.ends_with(b"\ta:1\n"));
}

#[test]
fn a_prefix_is_hashed_where_the_client_hashes_it() {
    let hash = |compat: &str, prefix: &str, key: &str| {
        let args = ["where", "--compat", compat, "--servers", "a:1,b:2"];
        let line = printed(&[&args[..], &["--prefix", prefix, key]].concat(), b"");
        line.split('\t').nth(1).unwrap().to_owned()
    };
    for (compat, same_as) in [
        ("libmemcached/ketama-weighted", "k"),
        ("pecl-memcache/standard/crc32", "app:k"),
    ] {
        assert_eq!(hash(compat, "app:", "k"), hash(compat, "", same_as));
    }
}

#[test]
fn keys_that_cannot_be_sent_are_named_by_line() {
    let long = "k".repeat(251);
    let input = format!("a\n\nsecret key\n{long}\nb\n");
    let (errors, out) = refused(&NATIVE, input.as_bytes());
    assert_eq!(out, "a\t97\tb:2\nb\t98\ta:1\n");
    let lines: Vec<&str> = errors.lines().collect();
    assert_eq!(lines.len(), 3, "{errors}");
    for (line, number) in lines.iter().zip(2..) {
        let head = format!("sockio: line {number}: ");
        assert!(line.starts_with(&head), "{errors}");
    }
    assert!(!errors.contains("secret"), "{errors}");
    let (errors, _) = refused(&[&NATIVE[..], &["a", "b c"]].concat(), b"");
    assert!(errors.starts_with("sockio: key 2: "), "{errors}");
    // The client's own rule comes first.
    let pecl = ["where", "--compat", "pecl-memcache/standard/crc32"];
    let pecl = [&pecl[..], &["--servers", "a:1", "b c"]].concat();
    assert!(printed(&pecl, b"").starts_with("b c\t"));
}

#[test]
fn explain_tells_the_steps() {
    let args = [&NATIVE[..], &["--explain", "--dead", "b:2", "a"]].concat();
    let expected = "key       a\nwire key  a\nhash      97\nbucket    2 of 2\nserver    b:2\nwalk      b:2 (dead), a:1\n\n";
    assert_eq!(printed(&args, b""), expected);
}

#[test]
fn what_is_wrong_is_said_on_standard_error() {
    let ask = |compat: &'static str, servers: &'static str, more: &[&'static str]| {
        let args = ["where", "--compat", compat, "--servers", servers];
        let (errors, out) = refused(&[&args[..], more, &["k"]].concat(), b"");
        assert_eq!(out, "");
        errors
    };
    for (errors, message) in [
        (ask("whalin/nativ", "a:1", &[]), "Known are: whalin/{native"),
        (
            ask("whalin/native", "a:x", &[]),
            "the port must be a number",
        ),
        (ask("whalin/native", "a:1,,b:1", &[]), "it is empty"),
        (ask("whalin/native", "a:1,a:1", &[]), "stands twice"),
        (
            ask("spymemcached/ketama", "cache.example:1", &[]),
            "write both, as name/ip:port",
        ),
        (
            ask("spymemcached/ketama", "[::1]:1", &[]),
            "depends on the version of Java",
        ),
        (ask("whalin/native", "a/b:1", &[]), "as in name/10.0.0.1"),
        (
            ask("whalin/native", "a:1,b:2", &["--weights", "5"]),
            "2 servers, but 1 weights",
        ),
        (
            ask("whalin/native", "a:1:5", &["--weights", "5"]),
            "one in the list of weights",
        ),
        (ask("whalin/native", "a:1", &["--weights=-1"]), "--weights"),
        (
            ask("whalin/native", "a:1", &["--dead", "b:2"]),
            "\"b:2\", which is none of the servers",
        ),
    ] {
        assert!(errors.contains(message), "{errors}");
        assert!(!errors.contains('\x1b'), "colours off a terminal: {errors}");
    }
    let (errors, _) = refused(&["where", "k"], b"");
    assert!(errors.contains("--compat <NAME>"), "{errors}");
    refused(&["whither"], b"");
    refused(&[], b"");
}

#[test]
fn an_answer_comes_before_the_next_key_is_asked_for() {
    let mut child = sockio(&NATIVE).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    for (key, answer) in [("a\n", "a\t97\tb:2\n"), ("b\n", "b\t98\ta:1\n")] {
        stdin.write_all(key.as_bytes()).unwrap();
        let mut line = vec![0; answer.len()];
        stdout.read_exact(&mut line).unwrap();
        assert_eq!(line, answer.as_bytes());
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}
