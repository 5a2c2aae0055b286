//! The shape of the sources: layers, sizes, and a page and a changelog that keep up. It reads files and runs nothing.

use std::fs;
use std::path::{Path, PathBuf};

/// The modules from the top down: each uses only those that stand in a later line, and never one of its own line.
const LAYERS: &[&[&str]] = &[
    // Documentation only; nothing uses it.
    &["porting"],
    &["client"],
    &["pool"],
    &["compat", "sock"],
    &["router", "codec", "protocol"],
    &["hash"],
    &["key", "server", "expiry", "sync", "clock"],
    &["error"],
    // Shares nothing with the client, so that the two cannot share a misunderstanding.
    &["testing"],
];

/// No file is longer.
const MAX_LINES: usize = 500;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let mut folders = vec![root().join(folder)];
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(folder) else {
            continue;
        };
        for path in entries.map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                // What a build in a package of its own left there is nobody's source.
                if path.file_name().is_some_and(|name| name != "target") {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                sources.push((path.strip_prefix(root()).unwrap().to_owned(), text));
            }
        }
    }
    sources
}

/// The top-level module that a file of `src` belongs to; `None` for `lib.rs` and the programs.
fn module(path: &Path) -> Option<String> {
    let first = path.components().nth(1)?.as_os_str().to_str()?;
    let name = first.strip_suffix(".rs").unwrap_or(first);
    (!["lib", "main", "bin"].contains(&name)).then(|| name.to_owned())
}

/// The first words behind each `crate::`, those of a group in braces included.
fn uses(text: &str) -> Vec<String> {
    let code: String = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| [line, "\n"])
        .collect();
    let code = code.split("#[cfg(test)]\nmod tests").next().unwrap();
    let word = |text: &str| -> String {
        text.trim_start()
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect()
    };
    let mut found = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let before = code[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '$') {
            continue;
        }
        let rest = &code[at + "crate::".len()..];
        match rest.strip_prefix('{') {
            Some(group) => found.extend(group.split('}').next().unwrap().split(',').map(word)),
            None => found.push(word(rest)),
        }
    }
    found
}

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

#[test]
fn nothing_below_uses_a_thing_above() {
    let mut checked = 0;
    for (path, text) in sources("src") {
        let Some(from) = module(&path) else { continue };
        let own = layer(&from).unwrap_or_else(|| panic!("{from} has no layer"));
        for to in uses(&text).into_iter().filter(|to| *to != from) {
            let Some(below) = layer(&to) else {
                // `crate::Error` and the like: what lib.rs re-exports, whose home is the path to use.
                panic!("{}: use crate::{to} through its module", path.display());
            };
            let from = path.display();
            assert!(
                below > own && to != "testing",
                "{from} uses {to}, which is not below it"
            );
            checked += 1;
        }
    }
    assert!(checked > 50, "{checked} uses");
}

#[test]
fn files_are_short_and_say_what_they_are() {
    let mut checked = 0;
    for (path, text) in ["src", "tests", "examples", "benches"]
        .into_iter()
        .flat_map(sources)
    {
        let lines = text.lines().count();
        let path = path.display();
        assert!(lines <= MAX_LINES, "{path} has {lines} lines");
        assert!(text.starts_with("//! "), "{path} does not say what it is");
        checked += 1;
    }
    assert!(checked > 50, "{checked} files");
}

#[test]
fn the_crate_page_names_every_module() {
    let text = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let page: String = text
        .lines()
        .filter(|line| line.starts_with("//!"))
        .collect();
    let modules: Vec<&str> = text
        .lines()
        .filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod "))
        .filter_map(|line| line.strip_suffix(';'))
        .collect();
    assert!(modules.len() > 10);
    for module in modules {
        assert!(
            page.contains(&format!("`{module}`")),
            "the crate page does not name `{module}`"
        );
        assert!(layer(module).is_some(), "{module} has no layer");
    }
}

#[test]
fn the_changelog_has_this_version() {
    let text = fs::read_to_string(root().join("CHANGELOG.md")).unwrap();
    let heading = format!("## {}", env!("CARGO_PKG_VERSION"));
    let found = text
        .lines()
        .filter(|line| line.split(" - ").next() == Some(&heading));
    assert_eq!(found.count(), 1, "{heading}");
}
