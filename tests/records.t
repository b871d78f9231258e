#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What each file of the corpus holds is found: graphs in every form, bytecode listings, records of each kind, by
`graphlint inventory`. tests/records.list has the numbers, as TAP per folder.

GRAPHLINT_SHARED says where the corpus lies (../shared); without it the test is skipped.
usage: tests/records.t [--update]    with it, writes what tests/count-records.py counts; reasons of differences are kept
"""
import collections
import json
import os
import subprocess
import sys

SHARED = os.environ.get("GRAPHLINT_SHARED", "../shared")
PROGRAM = os.environ.get("GRAPHLINT", "build/graphlint")
CORPUS = os.path.join(SHARED, "corpus")
FOLDERS = ("formats", "models", "models-hf")
HERE = os.path.dirname(os.path.abspath(__file__))
LIST = os.path.join(HERE, "records.list")
HEAD = """# What the files of the corpus hold: file, numbers of each kind, as tests/count-records.py counts them. Where graphlint reads
# something else: the numbers that differ, and why. Files that are not named hold none of it.
"""


def numbers(text):
    return {k: int(v) for k, v in (x.split("=") for x in text.split())}


def words(n):
    return " ".join("%s=%d" % x for x in sorted(n.items()))


def listed():
    """file -> what it holds; file -> (what is read otherwise, why)"""
    printed, other = {}, {}
    if os.path.exists(LIST):
        with open(LIST, encoding="utf-8") as f:
            for line in f:
                line, _, why = line.rstrip("\n").partition("  # ")
                if not line or line.startswith("#"):
                    continue
                name, *counts = line.split("\t")
                printed[name] = numbers(counts[0])
                if len(counts) > 1:
                    assert why, "%s: a difference without a reason" % name
                    other[name] = (numbers(counts[1]), why)
    return printed, other


def counted():
    script = os.path.join(HERE, "count-records.py")
    out = subprocess.run([sys.executable, script] + [os.path.join(CORPUS, x) for x in FOLDERS], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {name: numbers(n) for name, n in (line.split("\t") for line in out.splitlines())}


def read():
    """file -> what graphlint says that it holds"""
    env = dict(os.environ, ASAN_OPTIONS="exitcode=99")
    r = subprocess.run([PROGRAM, "inventory", "--format=json"] + [os.path.join(CORPUS, x) for x in FOLDERS], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, env=env)
    out = {}
    for f in json.loads(r.stdout)["files"]:
        n = collections.Counter()
        for kind, k in f["artifacts"].items():
            if kind not in ("graph-code", "module-tree"):
                n["bytecode" if kind.startswith("bytecode") else kind] += k
        n["compilation"] = f["compilations"]
        n["body"] = f["bodies"]
        n["graph"] = f["graphs"] - f["bodies"] - n["graph-text"] - n["graph-table"] - n["output-code"]
        out[os.path.relpath(f["path"], CORPUS)] = {k: v for k, v in n.items() if v}
    return out


def update():
    count, (_, other) = counted(), listed()
    with open(LIST, "w", encoding="utf-8") as f:
        f.write(HEAD)
        for name, n in sorted(count.items()):
            why = "\t%s  # %s" % (words(other[name][0]), other[name][1]) if name in other else ""
            f.write("%s\t%s%s\n" % (name, words(n), why))


def main():
    if not os.path.isdir(CORPUS) or not os.access(PROGRAM, os.X_OK):
        print("1..0 # skip no corpus or no program: GRAPHLINT_SHARED=%s" % SHARED)
        return
    if sys.argv[1:] == ["--update"]:
        update()
        return
    (printed, other), count, got = listed(), counted(), read()
    wrong = ["%s: listed %s, counted %s" % (n, words(printed.get(n, {})), words(count.get(n, {})))
             for n in sorted(set(printed) | set(count)) if printed.get(n) != count.get(n)]
    folders = collections.defaultdict(list)
    for name in sorted(set(got) | set(printed)):
        want = dict(printed.get(name, {}))
        want.update(other.get(name, ({}, ""))[0])
        want = {k: v for k, v in want.items() if v}
        folders["/".join(name.split("/")[:2])].append((name, got.get(name, {}), want))
    print("1..%d" % (len(folders) + 1))
    print("%s 1 - the list is what tests/count-records.py counts" % ("not ok" if wrong else "ok"))
    for line in wrong[:20]:
        print("# " + line)
    for i, (folder, files) in enumerate(sorted(folders.items()), 2):
        bad = ["%s: read %s, listed %s" % (n, words(g), words(w)) for n, g, w in files if g != w]
        print("%s %d - %s: %d files, %d records" % ("not ok" if bad else "ok", i, folder, len(files), sum(sum(g.values()) for _, g, _ in files)))
        for line in bad[:20]:
            print("# " + line)


main()
