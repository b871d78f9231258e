#!/bin/sh
# SPDX-License-Identifier: MIT
# An allocation that fails, whoever asked for it: the program ends with status 4 and says so, or did without and says what
# it says else. A part of all allocations, the last ones, which are the analysis, one by one; FULL=1: all of them.
# GRAPHLINT names the program (build/graphlint).
set -u
cd "$(dirname "$0")/.." || exit 1
program=${GRAPHLINT:-build/graphlint}
[ -x "$program" ] || { echo "1..0 # skip no program: make"; exit 0; }
case $program in */san/* | */fuzz/*) echo "1..0 # skip sanitizers have an allocator of their own: tests/unit/test_memory.c"; exit 0 ;; esac
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
if ! ${CC:-cc} -shared -fPIC -o "$tmp/fail_at.so" tests/fail_at.c 2>"$tmp/why" || ! LD_PRELOAD=$tmp/fail_at.so FAIL_COUNT=$tmp/n true; then
	echo "1..0 # skip no library to load before the C library: $(head -n 1 "$tmp/why")"
	exit 0
fi
input=samples/two_ops

# with N: the program where allocation N fails; 0: none
with() {
	LD_PRELOAD=$tmp/fail_at.so FAIL_AT=$1 "$program" --format json --fail-on never $input >"$tmp/out" 2>"$tmp/err"
}
FAIL_COUNT=$tmp/n with 0
status=$? calls=$(cat "$tmp/n")
cp "$tmp/out" "$tmp/want"
echo 1..2
[ "$status" -eq 0 ] && [ "$calls" -gt 100 ] && echo "ok 1 - $calls allocations" || echo "not ok 1 - status $status, $calls allocations"

faults='' tried=0 at=1
while [ "$at" -le "$calls" ]; do
	with "$at"
	status=$?
	tried=$((tried + 1))
	if [ "$status" -eq 4 ]; then
		grep -q '^graphlint: ' "$tmp/err" && ! grep -q 'internal error' "$tmp/err" || faults="$faults $at(nothing said)"
	elif [ "$status" -ne 0 ] || ! cmp -s "$tmp/out" "$tmp/want"; then
		faults="$faults $at(status $status)"
	fi
	if [ -n "${FULL-}" ] || [ "$at" -ge $((calls - 150)) ]; then
		at=$((at + 1))
	else
		at=$((at + 97))
	fi
done
[ -z "$faults" ] && echo "ok 2 - $tried of them fail, one at a time" || echo "not ok 2 - of $tried that failed:$faults"
