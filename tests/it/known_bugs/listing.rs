//! The list of reports and the tests keep up with each other: each report has a named test or a reason why it has none, and not both.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

fn folder(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Number and source of each report.
fn reports() -> BTreeMap<String, String> {
    let text = fs::read_to_string(folder("tests/golden/bug-reports.jsonl")).unwrap();
    let rows = text.lines().map(|line| {
        let row: Value = serde_json::from_str(line).unwrap();
        let field = |name: &str| row[name].as_str().unwrap().to_owned();
        (field("id"), field("source"))
    });
    let rows: Vec<_> = rows.collect();
    let count = rows.len();
    let reports: BTreeMap<_, _> = rows.into_iter().collect();
    assert_eq!(reports.len(), count, "a number stands twice");
    reports
}

/// `desync-01`: what a report is called.
fn is_number(word: &str) -> bool {
    let Some((class, digits)) = word.split_once('-') else {
        return false;
    };
    !class.is_empty()
        && class.bytes().all(|byte| byte.is_ascii_lowercase())
        && digits.len() == 2
        && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The comments of tests that begin with the number of a report, each with that number.
fn tested() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder("tests/it/known_bugs")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let Some(comment) = line.strip_prefix("/// ") else {
                continue;
            };
            let number = comment.split(' ').next().unwrap();
            if !is_number(number) {
                continue;
            }
            let rest = &lines[at..];
            let comment: Vec<&str> = { rest.iter() }
                .map_while(|line| line.strip_prefix("/// "))
                .collect();
            let mut attributes = rest[comment.len()..]
                .iter()
                .take_while(|line| line.starts_with("#["));
            assert!(
                attributes.any(|line| *line == "#[test]"),
                "{}: {number} is no comment of a test",
                path.display()
            );
            assert!(
                comment.len() <= 3,
                "{number}: a comment of one or two lines"
            );
            found.push((number.to_owned(), comment.join(" ")));
        }
    }
    found
}

/// The table of those that need no test, with the reason of each.
fn not_applicable() -> BTreeMap<String, String> {
    let text = fs::read_to_string(folder("tests/it/known_bugs/not_applicable.md")).unwrap();
    let rows = text.lines().filter_map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        match cells[..] {
            [number, _source, reason] if is_number(number) => {
                assert!(reason.len() > 10, "{number} has no reason");
                Some((number.to_owned(), reason.to_owned()))
            }
            _ => None,
        }
    });
    rows.collect()
}

#[test]
fn each_report_has_a_test_or_a_reason() {
    let reports = reports();
    let mut tested: BTreeSet<String> = tested().into_iter().map(|(number, _)| number).collect();
    // A subject of its own, with more than one test.
    if fs::read_to_string(folder("tests/it/fork.rs")).is_ok_and(|text| text.contains("`fork-01`")) {
        tested.insert("fork-01".to_owned());
    }
    let excused: BTreeSet<String> = not_applicable().into_keys().collect();
    for number in tested.union(&excused) {
        assert!(reports.contains_key(number), "{number} is no report");
    }
    let both: Vec<_> = tested.intersection(&excused).collect();
    assert!(both.is_empty(), "tested and not applicable: {both:?}");
    let neither: Vec<_> = reports
        .keys()
        .filter(|number| !tested.contains(*number) && !excused.contains(*number))
        .collect();
    assert!(
        neither.is_empty(),
        "neither tested nor excused: {neither:?}"
    );
    println!(
        "{} reports: {} tested, {} not applicable",
        reports.len(),
        tested.len(),
        excused.len()
    );
}

#[test]
fn each_test_names_the_project_that_had_the_fault() {
    let reports = reports();
    for (number, comment) in tested() {
        let source = &reports[&number];
        // `owner/project#12 https://…`, or a page without a project.
        let project = source
            .split(' ')
            .next()
            .unwrap()
            .trim_end_matches([',', ';']);
        let is_project = project.contains('/') && !project.starts_with('/');
        assert!(
            !is_project || comment.contains(project),
            "{number} does not name {project}"
        );
    }
}
