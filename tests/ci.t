#!/bin/sh
# SPDX-License-Identifier: MIT
# The commands that README.md tells for CI do what they say.
set -u
cd "$(dirname "$0")/.." || exit 1
program=${GRAPHLINT:-build/graphlint}
case $program in /*) ;; *) program=$PWD/$program ;; esac
[ -x "$program" ] || { echo "1..0 # skip no program: make"; exit 0; }
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
top=$PWD n=0
mkdir "$tmp/bin" "$tmp/job" && ln -s "$program" "$tmp/bin/graphlint"
cp samples/bigbird/bigbird.aot_eager.log "$tmp/job/graphs.log"
ok() {
	n=$((n + 1))
	if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; fi
}
# Lines of a YAML block that begin a command of ours, with those that go on behind a backslash.
sed -n '/^## In CI/,/^## In the editor/p' README.md | sed -e ':a' -e '/\\$/N; s/\\\n *//; ta' |
	sed -n 's/^ *\(- \)\{0,1\}\(graphlint graphs.log .*\)/\2/p' >"$tmp/commands"
[ "$(wc -l <"$tmp/commands")" = 2 ]
ok $? 'README has two commands'
while read -r command; do
	(cd "$tmp/job" && PATH=$tmp/bin:$PATH sh -c "$command" >"$tmp/out" 2>"$tmp/err")
	status=$?
	[ $status = 0 ] || [ $status = 1 ]
	ok $? "$command"
	for file in $(printf '%s\n' "$command" | tr ' ' '\n' | sed -n 's/^--output=[a-z]*://p'); do
		[ -s "$tmp/job/$file" ]
		ok $? "  writes $file"
	done
done <"$tmp/commands"
if command -v pre-commit >/dev/null && command -v git >/dev/null; then
	mkdir -p "$tmp/repo/dumps" && cd "$tmp/repo" && git init -q . && git config user.email t@example.invalid && git config user.name t
	sed -n '/^repos:$/,/^```$/p' "$top/README.md" | sed '$d' >.pre-commit-config.yaml
	cp "$top/samples/two_ops/two_ops.code.txt" dumps/founding.txt && git add .
	PATH=$tmp/bin:$PATH pre-commit run >"$tmp/out" 2>&1
	[ $? = 1 ] && grep -q 'GL101' "$tmp/out"
	ok $? 'the hook stops a commit'
	printf 'def forward(self, x : torch.Tensor):\n    add = x + 1;  x = None\n    return (add,)\n' >dumps/founding.txt && git add .
	PATH=$tmp/bin:$PATH pre-commit run >"$tmp/out" 2>&1
	ok $? 'the hook lets one pass'
	cd "$top" || exit 1
else
	n=$((n + 1))
	echo "ok $n - the hook # skip no pre-commit"
fi
echo "1..$n"
