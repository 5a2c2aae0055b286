//! `sockio decode` and `sockio encode`.

use super::{printed, refused};

#[test]
fn values_go_both_ways() {
    for (compat, kind, value, flags, payload, read_as) in [
        ("whalin/native", "i32", "42", "4", "0000002a", "i32"),
        ("whalin", "bool", "true", "8192", "01", "bool"),
        ("enyim", "string", "héllo", "274", "68c3a96c6c6f", "string"),
        ("php-memcached", "i64", "-7", "1", "2d37", "i64"),
        ("php-memcached", "bool", "true", "3", "31", "bool"),
        ("pecl-memcache", "bool", "true", "256", "31", "bool"),
        // Nothing tells what the bytes are.
        (
            "libmemcached/modula/md5",
            "string",
            "ab",
            "0",
            "6162",
            "bytes",
        ),
    ] {
        let line = printed(&["encode", "--compat", compat, "--type", kind, value], b"");
        assert_eq!(line, format!("{flags}\t{payload}\n"), "{compat} {kind}");
        let decode = ["decode", "--compat", compat, "--hex", "--flags", flags];
        let line = printed(&decode, payload.as_bytes());
        assert_eq!(line, format!("{read_as}\t{value}\n"), "{compat} {kind}");
    }
    let raw = ["--compat", "php-memcached", "--raw"];
    let encode = [&["encode", "--type", "string"], &raw[..]].concat();
    assert_eq!(printed(&encode, b"two\nlines\n"), "two\nlines\n");
    let decode = [&["decode", "--flags", "4"], &raw[..]].concat();
    assert_eq!(printed(&decode, b"a:0:{}"), "a:0:{}");
    let decode = ["decode", "--compat", "php-memcached", "--flags", "4"];
    assert_eq!(printed(&decode, b"a:0:{}"), "foreign/php\ta:0:{}\n");
}

#[test]
fn values_that_cannot_be_are_refused() {
    for (args, input, message) in [
        (
            &["decode", "--compat", "whalin", "--flags", "4"][..],
            "abc",
            "3 bytes are stored for a value of 4",
        ),
        (
            &["decode", "--compat", "whalin", "--flags", "4", "--hex"],
            "0x",
            "pairs of hex digits",
        ),
        (
            &["decode", "--compat", "whalin", "--flags", "-1"],
            "",
            "--flags",
        ),
        (
            &["decode", "--compat", "whale", "--flags", "0"],
            "",
            "Known are",
        ),
        (
            &["encode", "--compat", "whalin", "--type", "i8", "200"],
            "",
            "the 3 bytes given are no i8",
        ),
        (
            &["encode", "--compat", "whalin", "--type", "int", "2"],
            "",
            "possible values: null, bool, i8",
        ),
    ] {
        let (errors, out) = refused(args, input.as_bytes());
        assert!(errors.contains(message), "{errors}");
        assert_eq!(out, "");
    }
}
