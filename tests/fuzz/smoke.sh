#!/usr/bin/env bash
# Runs each target for a while: `bash tests/fuzz/smoke.sh [SECONDS]`, 60 by default. Needs a nightly compiler; installs cargo-fuzz if it is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
seconds=${1:-60}

cargo fuzz --version >/dev/null 2>&1 || cargo install --quiet --locked cargo-fuzz

for target in php_serialize transcoders server_addr; do
    printf '\n== %s, %d s\n' "$target" "$seconds"
    # cargo-fuzz seeks its project in `fuzz/` unless told.
    cargo +nightly fuzz run --fuzz-dir . "$target" -- -max_total_time="$seconds" -max_len=4096 -rss_limit_mb=2048 -timeout=20 -print_final_stats=1
done
