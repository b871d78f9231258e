#!/bin/sh
# SPDX-License-Identifier: MIT
# The language server under clients that others wrote: Neovim, and the libraries of Visual Studio Code (make FULL=1 check
# installs both).
cd "$(dirname "$0")/.." || exit 1
export GRAPHLINT="${GRAPHLINT:-build/graphlint}"
[ -x "$GRAPHLINT" ] || { echo "1..0 # skip no program: make"; exit 0; }
have_nvim=$(command -v nvim)
have_node=
[ -d tests/node_modules/vscode-jsonrpc ] && have_node=$(command -v node)
if [ -n "${FULL-}" ] && { [ -z "$have_nvim" ] || [ -z "$have_node" ]; }; then
	echo "Bail out! Neovim or the packages of tests/package.json are missing"
	exit 1
fi
[ -n "$have_nvim$have_node" ] || { echo "1..0 # skip optional: Neovim and packages of npm (make FULL=1 check)"; exit 0; }
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT
if [ -n "$have_nvim" ]; then
	timeout 600 nvim --headless -u NONE -i NONE -n -c 'luafile tests/lsp_nvim.lua' >>"$out" 2>&1
fi
if [ -n "$have_node" ]; then
	timeout 600 node tests/lsp_node.mjs >>"$out" 2>&1 || echo "not ok 1 - node ended with $?" >>"$out"
fi
# two plans become one
awk '/^1\.\./ { next } /^(not )?ok / { n++; sub(/ok [0-9]+/, "ok " n) } { print } END { print "1.." n + 0 }' "$out"
