#!/bin/sh
# SPDX-License-Identifier: MIT
# The page of --format html in a real browser: clicks, keys, filters, contrast and labels, hostile text, nothing loaded from
# elsewhere. Needs Chromium and the packages of tests/package.json: make FULL=1 check installs them.
cd "$(dirname "$0")/.." || exit 1
[ -x "${GRAPHLINT:-build/graphlint}" ] || { echo "1..0 # skip no program: make"; exit 0; }
if [ ! -f tests/node_modules/.package-lock.json ] || ! command -v node >/dev/null || ! command -v chromium >/dev/null; then
	[ -n "${FULL-}" ] && { echo "Bail out! Chromium or tests/node_modules is missing"; exit 1; }
	echo "1..0 # skip optional: a browser (make FULL=1 check installs it)"
	exit 0
fi
exec node tests/page.mjs
