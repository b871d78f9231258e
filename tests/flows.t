#!/bin/sh
# SPDX-License-Identifier: MIT
# Which outputs enter which graphs, on dumps of real models: edges that were seen when they ran, as the corpus has them. The
# numbers are floors (found) and ceilings (false, errors on boundaries where nothing changes).
set -u
top=$(cd "$(dirname "$0")/.." && pwd) || exit 1
cd "$top" || exit 1
program=${GRAPHLINT:-build/graphlint}
models=${GRAPHLINT_SHARED:-../shared}/corpus/models
if [ ! -f "$models/score_models.py" ]; then
	echo '1..0 # SKIP no corpus'
	exit 0
fi
count=0
score() { # score FOLDER: the numbers as "name value" lines
	python3 "$models/score_models.py" "$1" --json --cmd "$program --format json --fail-on never --contract fresh {log}" |
		sed -n 's/^ *"\(.*\)": \([0-9]*\),\{0,1\}$/\1=\2/p'
}
value() { # value NAME: its number, 0 when there is none
	v=$(printf '%s\n' "$numbers" | sed -n "s/^$1=//p")
	echo "${v:-0}"
}
check() { # check WHAT VALUE TEST LIMIT
	count=$((count + 1))
	if [ "$2" "$3" "$4" ]; then echo "ok $count - $1: $2"; else echo "not ok $count - $1: $2, not $3 $4"; fi
}
numbers=$(score "$models")
check 'models: flow found' "$(value 'flow: found')" -ge 215
check 'models: flow false' "$(value 'flow: FALSE')" -le 8
check 'models: errors where nothing changes' "$(value 'label none: error')" -eq 0
numbers=$(score "$models-hf")
check 'transformers: flow found' "$(value 'flow: found')" -ge 140
check 'transformers: flow false' "$(value 'flow: FALSE')" -le 8
check 'transformers: errors where nothing changes' "$(value 'label none: error')" -eq 0
echo "1..$count"
