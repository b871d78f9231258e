#!/bin/sh
# SPDX-License-Identifier: MIT
# Our C is free of warnings with gcc and with clang.
[ -n "${FULL-}" ] || { echo "1..0 # skip optional: FULL=1"; exit 0; }
flags="-std=c11 -O2 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -D_DEFAULT_SOURCE -Ianalyzer
	-Igrammar/node_modules/tree-sitter/vendor/tree-sitter/lib/include
	$(${PKG_CONFIG:-pkg-config} --cflags libpcre2-8 jansson yaml-0.1 zlib cmocka)"
set -- analyzer/*.c tests/unit/*.c tests/fuzz/*.c tests/bench/*.c
echo "1..$(($# * 2))"
n=0
for cc in gcc "${CLANG:-clang}"; do
	for file; do
		n=$((n + 1))
		if ! [ -f "$file" ]; then
			echo "ok $n - no $file"
		elif out=$($cc $flags "$file" 2>&1); then
			echo "ok $n - $cc $file"
		else
			echo "not ok $n - $cc $file"
			printf '%s\n' "$out" | head -n 20 | sed 's/^/# /'
		fi
	done
done
