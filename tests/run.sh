#!/usr/bin/env bash
# Runs every test, the doc tests and the examples. Installs what they need where it may; else it says what is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '\n== %s\n' "$*"; }

# need PROGRAM PACKAGE: the program, by the system's package manager if it is not there.
need() {
    command -v "$1" >/dev/null && return
    say "installing $2"
    if [ "$(id -u)" -ne 0 ]; then
        echo "$1 is missing: install the package $2, or run this as root" >&2
        exit 1
    fi
    if command -v apt-get >/dev/null; then
        DEBIAN_FRONTEND=noninteractive apt-get update -qq </dev/null
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$2" </dev/null
    elif command -v dnf >/dev/null; then
        dnf install -y -q "$2" </dev/null
    elif command -v apk >/dev/null; then
        apk add --quiet "$2" </dev/null
    fi
    command -v "$1" >/dev/null || { echo "$1 is missing: install the package $2" >&2; exit 1; }
}

need memcached memcached
need strace strace

say "tests, all features"
cargo test --locked --all-features

say "tests, no default features"
cargo test --locked --no-default-features --features testing --lib --test it

say "models: every interleaving of a few callers"
RUSTFLAGS="--cfg loom" cargo test --locked --release --target-dir target/loom --lib models

for example in examples/*.rs; do
    name=$(basename "$example" .rs)
    say "example $name"
    env -u SOCKIO_SERVERS timeout 60 cargo run --locked --quiet --features testing --example "$name"
done

say "all is well"
