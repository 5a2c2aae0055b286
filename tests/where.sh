#!/bin/sh
# Pipes the captured keys through `sockio where` for every captured placement, and compares the servers.
# Usage: tests/where.sh            builds the tool (release) and checks every row
#        SOCKIO=PATH tests/where.sh  takes a tool that is built already
set -eu

cd "$(dirname "$0")/.."
golden=tests/golden/compat
keys=$golden/keys.txt

if [ -z "${SOCKIO:-}" ]; then
    cargo build --quiet --release --features cli --bin sockio
    SOCKIO=${CARGO_TARGET_DIR:-target}/release/sockio
fi

# servers.json as lines `set names weights`, both lists with commas.
sets=$(tr -d ' \n' < $golden/servers.json | sed 's/]],*/\n/g' | tr -d '{}[' | tr ']' ' ' |
    awk -F'"' 'NF > 3 {
        names = $4
        for (i = 6; i <= NF; i += 2) names = names "," $i
        weights = ""
        for (i = 5; i <= NF; i += 2) { gsub(/[^0-9]/, "", $i); weights = weights (i > 5 ? "," : "") $i }
        print $2, names, weights
    }')

# Reads the output of `where`; says which keys are not on the server that their digit names (`-`: the client cannot place it).
compare='
BEGIN {
    FS = "\t"
    count = split(names, name, ",")
    for (i = 1; i <= count; i++) digit[name[i]] = substr("0123456789abcdefghijklmnopqrstuvwxyz", i, 1)
}
{
    want = substr(digits, NR, 1)
    if (want == "-") next
    placed++
    if (digit[$3] != want) { print row ": line " NR " is on " $3 > "/dev/stderr"; wrong++ }
}
END {
    if (NR != length(digits)) { print row ": " NR " lines for " length(digits) " keys" > "/dev/stderr"; wrong++ }
    print placed + 0
    exit wrong > 0
}'

rows=0 placed=0 failed=0
tab=$(printf '\t')
for table in "$golden"/placement/*.tsv; do
    client=$(basename "$table" .tsv)
    before=$rows
    while IFS=$tab read -r algorithm set weights corpus digits; do
        case $algorithm in '#'*) continue ;; esac
        [ "$corpus" = open ] || { echo "$table: unknown keys $corpus" >&2; exit 1; }
        # shellcheck disable=SC2086 # three words
        set -- $(printf '%s\n' "$sets" | awk -v set="$set" '$1 == set')
        [ $# -eq 3 ] || { echo "$table: unknown servers $set" >&2; exit 1; }
        names=$2
        options="--compat $client/$algorithm --servers $names"
        [ "$weights" = n ] || options="$options --weights $3"
        # shellcheck disable=SC2086 # no option has a blank in it
        on_their_server=$("$SOCKIO" where $options < "$keys" |
            awk -v names="$names" -v digits="$digits" -v row="$client/$algorithm $set $weights" "$compare") ||
            failed=$((failed + 1))
        rows=$((rows + 1)) placed=$((placed + on_their_server))
    done < "$table"
    echo "$client: $((rows - before)) rows"
done

echo "$rows rows checked, $placed keys placed, $failed rows wrong"
[ "$rows" -gt 0 ] && [ "$failed" -eq 0 ]
