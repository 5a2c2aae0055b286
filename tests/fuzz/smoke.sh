#!/usr/bin/env bash
# Runs each target for a while: `bash tests/fuzz/smoke.sh [SECONDS [TARGET…]]`, 60 by default (or FUZZ_SECONDS), and all of them.
# Uses a nightly compiler where there is one, else the stable one as if it were. Installs cargo-fuzz if it is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
seconds=${1:-${FUZZ_SECONDS:-60}}
targets=("${@:2}")
if [ ${#targets[@]} -eq 0 ]; then
    targets=(client config fastlz php_serialize replies server_addr transcoders)
fi

cargo fuzz --version >/dev/null 2>&1 || cargo install --quiet --locked cargo-fuzz

if command -v rustup >/dev/null && rustup toolchain list | grep -q '^nightly'; then
    export RUSTUP_TOOLCHAIN=nightly
else
    # The sanitizer is behind an option that stable compilers have, but keep to themselves.
    export RUSTC_BOOTSTRAP=1
fi

# The captured replies and values, to begin with; what is found is kept beside the targets, and not checked in.
python3 seeds.py corpus

for target in "${targets[@]}"; do
    printf '\n== %s, %d s\n' "$target" "$seconds"
    # cargo-fuzz seeks its project in `fuzz/` unless told.
    cargo fuzz run --fuzz-dir . "$target" -- -max_total_time="$seconds" -max_len=4096 -rss_limit_mb=2048 -timeout=30 -print_final_stats=1
done
