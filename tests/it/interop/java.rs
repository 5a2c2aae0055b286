//! Java's spymemcached.

use super::run::run;
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

#[test]
fn spymemcached_array_mod() {
    run(JAVA, "spymemcached/arraymod/native");
}
