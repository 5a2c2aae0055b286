//! Ruby's Dalli.

use super::run::run;
use super::script::Language;

const RUBY: Language = Language {
    command: &["ruby"],
    script: "live.rb",
    packages: "ruby ruby-dalli",
};

#[test]
fn dalli() {
    run(RUBY, "dalli/default");
}
