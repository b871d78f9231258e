#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""TAP: --dump=link against the links of the corpus: for each file there, the indented lines of each listing, in order.

usage: tests/links.t [NAME...]    only the files whose path contains one of the words
"""
import os
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHARED = os.path.join(TOP, os.environ.get("GRAPHLINT_SHARED", "../shared"))
PROGRAM = os.path.join(TOP, os.environ.get("GRAPHLINT", "build/graphlint"))
FORMATS = os.path.join(SHARED, "corpus", "formats")
LINKS = os.path.join(FORMATS, "links")
END = ".links.txt"
# Files that are wrong themselves, and why.
WRONG = {
    "2.13/comp.nested": "of CALL with both places filled (3.11) the file calls the iterator, not the function below it",
}


def listings(lines):
    """-> one list of event lines for each heading"""
    out = []
    for line in lines:
        if line.startswith("== "):
            out.append([])
        elif line.startswith("   ") and out:
            out[-1].append(line[3:].rstrip())
    return out


def source(folder, name):
    """The dump of a file with links, or None."""
    if folder == "":
        if name.startswith("bytecode."):
            return os.path.join(FORMATS, "bytecode", name[len("bytecode."):] + ".txt")
        return os.path.join(FORMATS, "logs-2.6", name + ".log")
    logs = "seed-2022/logs" if folder == "2022" else "logs-" + folder
    for sub in ("", "nested", "hops"):
        path = os.path.join(FORMATS, logs, sub, name + ".log")
        if os.path.exists(path):
            return path
    return None


def files():
    """(folder, name) of every file with links; the folder is "" for those of 2.6 and of single listings"""
    for folder, _, names in sorted(os.walk(LINKS)):
        for name in sorted(names):
            if name.endswith(END):
                yield "" if folder == LINKS else os.path.basename(folder), name[:-len(END)]


def difference(want, got):
    """-> lines that say where two dumps part; none when they are equal"""
    if len(want) != len(got):
        return ["%d listings expected, %d printed" % (len(want), len(got))]
    for i, (w, g) in enumerate(zip(want, got)):
        for k in range(max(len(w), len(g))):
            a, b = w[k] if k < len(w) else "(no more)", g[k] if k < len(g) else "(no more)"
            if a != b:
                return ["listing %d, line %d" % (i + 1, k + 1), "expected: " + a, "printed:  " + b]
    return []


def main():
    if not os.path.isdir(LINKS):
        print("1..0 # skip no links: GRAPHLINT_SHARED=%s" % SHARED)
        return
    if not os.access(PROGRAM, os.X_OK):
        print("1..0 # skip no program: make")
        return
    words = sys.argv[1:]
    tests = failed = lines = 0
    for folder, name in files():
        label = os.path.join(folder, name)
        if words and not any(w in label for w in words):
            continue
        tests += 1
        path = source(folder, name)
        with open(os.path.join(LINKS, folder, name + END), encoding="utf-8") as f:
            want = listings(f.read().splitlines())
        r = subprocess.run([PROGRAM, "--dump=link", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        why = difference(want, listings(r.stdout.decode("utf-8", "replace").splitlines()))
        if r.returncode not in (0, 1, 3):
            why = ["exit status %d" % r.returncode] + r.stderr.decode("utf-8", "replace").splitlines()[-4:]
        lines += sum(map(len, want))
        known = WRONG.get(label) if why else None
        failed += bool(why)
        print("%s %d - links: %s%s" % ("not ok" if why else "ok", tests, label, " # TODO " + known if known else ""))
        for line in why:
            print("# " + line)
    print("# %d files, %d lines, %d files differ" % (tests, lines, failed))
    print("1..%d" % tests)


main()
