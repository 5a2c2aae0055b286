#!/usr/bin/env bash
# Runs every test, the doc tests and the examples. Installs what they need where it may; else it says what is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '\n== %s\n' "$*"; }

# What the tests run for real: how to see that it is there, and Debian's package that brings it.
needs() {
    cat <<'EOF'
command -v memcached|memcached
command -v strace|strace
type -P kill|procps
php -r 'exit(extension_loaded("memcached") ? 0 : 1);'|php-cli php-memcached
php -r 'exit(extension_loaded("memcache") ? 0 : 1);'|php-cli php-memcache
perl -MCache::Memcached -e 1|perl libcache-memcached-perl
perl -MCache::Memcached::Fast -e 1|libcache-memcached-fast-perl
/usr/bin/python3 -c 'import pylibmc'|python3-pylibmc
/usr/bin/python3 -c 'import memcache'|python3-memcache
/usr/bin/python3 -c 'import pymemcache'|python3-pymemcache
ruby -e 'require "dalli"'|ruby ruby-dalli
command -v javac|default-jdk-headless
test -e /usr/share/java/spymemcached.jar|libspymemcached-java
command -v memccat|libmemcached-tools
EOF
    # For tests/netns.sh, which only root can run.
    [ "$(id -u)" -ne 0 ] || cat <<'EOF'
command -v ip && command -v tc|iproute2
command -v nft|nftables
EOF
}

missing() {
    needs | while IFS='|' read -r check packages; do
        bash -c "$check" </dev/null >/dev/null 2>&1 || echo "$packages"
    done
}

packages=$(missing | tr '\n' ' ')
if [ -n "$packages" ]; then
    if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
        echo "These are missing (by the names of Debian's packages); install them, or run this as root on Debian: $packages" >&2
        exit 1
    fi
    say "installing $packages"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq </dev/null
    # shellcheck disable=SC2086 # a list of words
    apt-get install -y -qq --no-install-recommends $packages </dev/null
    still=$(missing | tr '\n' ' ')
    [ -z "$still" ] || { echo "still missing: $still" >&2; exit 1; }
fi

say "tests, all features"
cargo test --locked --all-features

say "tests, no default features"
cargo test --locked --no-default-features --features testing --lib --test it

say "networks that fail"
bash tests/netns.sh

say "models: every interleaving of a few callers"
RUSTFLAGS="--cfg loom" cargo test --locked --release --target-dir target/loom --lib models

for example in examples/*.rs; do
    name=$(basename "$example" .rs)
    say "example $name"
    env -u SOCKIO_SERVERS timeout 60 cargo run --locked --quiet --features testing --example "$name"
done

say "all is well"
