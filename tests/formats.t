#!/bin/sh
# SPDX-License-Identifier: MIT
# What reports are worth to those who read them: JSON against its schema, SARIF against the OASIS schema and Microsoft's
# validator, JUnit and GitLab through consumers, GitHub's commands as the runner takes them apart. Needs Node.js and the packages of
# tests/package.json: make FULL=1 check installs them.
cd "$(dirname "$0")/.." || exit 1
[ -x "${GRAPHLINT:-build/graphlint}" ] || { echo "1..0 # skip no program: make"; exit 0; }
if [ ! -f tests/node_modules/.package-lock.json ] || ! command -v node >/dev/null; then
	[ -n "${FULL-}" ] && { echo "Bail out! tests/node_modules is missing"; exit 1; }
	echo "1..0 # skip optional: validators of npm (make FULL=1 check installs them)"
	exit 0
fi
exec node tests/formats.mjs
