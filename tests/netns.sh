#!/usr/bin/env bash
# Runs the tests of tests/it/network between two network namespaces made for them, joined by a pair of virtual links: servers
# that cannot be reached, that are cut off, behind a slow line or one that loses packets. Needs root, iproute2 and nftables.
# The machine's own interfaces and routes are not touched, and nothing is left behind.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

leave_out() {
    echo "LEFT OUT, the tests of networks that fail: $*"
    exit 0
}

[ "$(uname)" = Linux ] || leave_out "they need Linux"
[ "$(id -u)" -eq 0 ] || leave_out "they need root, which may make network namespaces"
for program in ip tc nft memcached; do
    command -v "$program" >/dev/null || { echo "$program is missing: apt-get install iproute2 nftables memcached" >&2; exit 1; }
done

client=sockio-client-$$
server=sockio-server-$$
log=$(mktemp)

clean() {
    rm -f "$log"
    for namespace in "$client" "$server"; do
        [ -e "/run/netns/$namespace" ] || continue
        # Only what this script started lives there.
        ip netns pids "$namespace" | xargs -r kill -9 2>/dev/null || true
        ip netns del "$namespace" || true
    done
}
trap clean EXIT
trap 'exit 130' HUP INT TERM

cargo test --locked --all-features --test it --no-run

reason=$(ip netns add "$client" 2>&1 && ip netns add "$server" 2>&1) || leave_out "this root may not make network namespaces: $reason"
ip -n "$client" link add veth0 type veth peer name veth0 netns "$server"
ip -n "$client" addr add 10.222.0.1/24 dev veth0
ip -n "$server" addr add 10.222.0.2/24 dev veth0
for namespace in "$client" "$server"; do
    ip -n "$namespace" link set lo up
    ip -n "$namespace" link set veth0 up
done

# One after the other: they share the network.
ip netns exec "$client" env SOCKIO_NETWORK="$client $server" \
    cargo test --locked --offline --all-features --test it -- --ignored network:: --test-threads=1 --nocapture | tee "$log"
grep '^test result: ok. [1-9]' "$log" >/dev/null || { echo "no test ran" >&2; exit 1; }
