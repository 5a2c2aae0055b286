//! Java's spymemcached.

use super::fleet::Fleet;
use super::run::{run, run_placement};
use super::script::Language;

const JAVA: Language = Language {
    command: &[
        "java",
        "-XX:TieredStopAtLevel=1",
        "-cp",
        "/usr/share/java/spymemcached.jar",
    ],
    script: "Live.java",
    packages: "default-jdk-headless libspymemcached-java",
};

#[test]
fn spymemcached_ketama() {
    run(JAVA, "spymemcached/ketama");
}

/// Its ring holds a name together with the address that it resolved to.
#[test]
fn spymemcached_ketama_over_names() {
    let mut fleet = Fleet::start(&[1, 1, 1]);
    fleet.call_localhost();
    run_placement(JAVA, "spymemcached/ketama", &mut fleet);
}

#[test]
fn spymemcached_array_mod() {
    run(JAVA, "spymemcached/arraymod/native");
}
