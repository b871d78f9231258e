#!/bin/sh
# SPDX-License-Identifier: MIT
# TAP: rules/ops.tsv and rules/params.tsv are what rules/make-facts.py makes of the operator tables, byte for byte.
tables=${GRAPHLINT_SHARED:-../shared}/facts
echo 1..2
if [ ! -r "$tables/ops.tsv" ] || ! command -v python3 >/dev/null; then
	echo 'ok 1 - ops.tsv # SKIP no operator tables, or no python3'
	echo 'ok 2 - params.tsv # SKIP no operator tables, or no python3'
	exit 0
fi
made=$(mktemp -d) || exit 1
trap 'rm -rf "$made"' EXIT
python3 rules/make-facts.py "$tables" "$made" | sed 's/^/# /'
n=0
for file in ops.tsv params.tsv; do
	n=$((n + 1))
	if cmp "rules/$file" "$made/$file" >&2; then echo "ok $n - $file"; else echo "not ok $n - $file"; fi
done
