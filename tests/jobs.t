#!/bin/sh
# SPDX-License-Identifier: MIT
# The same bytes for any number of processes, from one run to the next, whatever the format.
set -u
cd "$(dirname "$0")/.." || exit 1
program=${GRAPHLINT:-build/graphlint}
[ -x "$program" ] || { echo "1..0 # skip no program: make"; exit 0; }
shared=${GRAPHLINT_SHARED:-../shared}
export LC_ALL=C
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
n=0
same() { # same NAME ARGS...
	name=$1
	shift
	for jobs in 1 3; do
		"$program" -j "$jobs" --contract=fresh --format=json --output="html:$tmp/$jobs.html" --output="sarif:$tmp/$jobs.sarif" "$@" >"$tmp/$jobs.json" 2>"$tmp/$jobs.err"
		echo "$?" >"$tmp/$jobs.status"
	done
	for jobs in 3; do
		n=$((n + 1))
		why=
		for what in json html sarif err status; do
			cmp -s "$tmp/1.$what" "$tmp/$jobs.$what" || why="$why $what"
		done
		if [ -z "$why" ] && [ -s "$tmp/1.json" ]; then echo "ok $n - $name, -j $jobs"; else echo "not ok $n - $name, -j $jobs:$why"; fi
	done
}
same samples samples
same cases tests/cases
if [ -d "$shared/corpus/models" ]; then
	same 'a model of many graphs' "$shared/corpus/models/fasterrcnn_mobilenet/aot_infer/log.txt"
	same 'logs of several runs' "$shared/corpus/models/bigbird_like"
	same 'a log in which limits are reached' "$shared/corpus/models/scale/long_log_real.txt.gz"
fi
same 'little memory' --max-memory=60M samples
"$program" -j 0 samples >"$tmp/out" 2>"$tmp/err"
status=$?
n=$((n + 1))
if [ "$status" = 2 ] && grep -q 'above 0' "$tmp/err"; then echo "ok $n - no process at all"; else echo "not ok $n - no process at all"; fi
echo "1..$n"
