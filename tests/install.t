#!/bin/sh
# SPDX-License-Identifier: MIT
# What `make install` writes, `make uninstall` takes away.
[ -x "${GRAPHLINT:-build/graphlint}" ] || { echo "1..0 # skip no program: make"; exit 0; }
unset MAKEFLAGS MAKELEVEL SAN
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
out=
say() {
	[ "$1" = 0 ] && echo "ok $2" && return
	echo "not ok $2"
	[ -z "$out" ] || printf '%s\n' "$out" | tail -n 8 | sed 's/^/# /'
}
echo 1..4
out=$(make install DESTDIR="$dir" PREFIX=/usr 2>&1)
say $? "1 - make install"
[ -x "$dir/usr/bin/graphlint" ] && "$dir/usr/bin/graphlint" --version >/dev/null 2>&1
say $? "2 - the installed program says its version"
out=$(make uninstall DESTDIR="$dir" PREFIX=/usr 2>&1)
say $? "3 - make uninstall"
[ -z "$(find "$dir" -type f)" ]
say $? "4 - nothing is left"
