#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every graph that a file of the corpus prints as forward code is read: tests/graphs.list has the numbers, as TAP per folder.

GRAPHLINT_SHARED says where the corpus lies (../shared); without it the test is skipped.
"""
import collections
import concurrent.futures
import os
import re
import subprocess
import sys

SHARED = os.environ.get("GRAPHLINT_SHARED", "../shared")
PROGRAM = os.environ.get("GRAPHLINT", "build/graphlint")
FORMATS = os.path.join(SHARED, "corpus", "formats")
LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "graphs.list")


def listed(path):
    """file -> (graphs, nested bodies, graphs that are not whole), as printed and as read, which differ where the list says why"""
    printed, read = {}, {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            line, _, why = line.rstrip("\n").partition("  # ")
            if not line or line.startswith("#"):
                continue
            name, *counts = line.split("\t")
            printed[name] = tuple(map(int, counts[0].split()))
            read[name] = tuple(map(int, counts[1].split())) if len(counts) > 1 else printed[name] + (0,)
            assert len(counts) == 1 or why, "%s: a difference without a reason" % name
    return printed, read


def counted():
    """file -> (graphs, nested bodies) by the script that does not know how graphlint reads"""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "count-graphs.py")
    out = subprocess.run([sys.executable, script, FORMATS], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {name: (int(n), int(nested)) for name, n, nested in (line.split("\t") for line in out.splitlines())}


def program(name):
    """(graphs printed as forward code, bodies among them, graphs that are not whole) in a file"""
    env = dict(os.environ, ASAN_OPTIONS="exitcode=99")
    r = subprocess.run([PROGRAM, "--dump=ir", os.path.join(FORMATS, name)], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, env=env)
    if r.returncode not in (0, 1, 3):
        return "exit status %d" % r.returncode
    heads = re.findall(r"^graph \d+ .*", r.stdout.decode("utf-8", "replace"), re.M)
    heads = [h for h in heads if not re.search(r" tabular\b| stage=inductor\b", h)]
    return (len(heads), sum(" parent=" in h for h in heads), sum(bool(re.search(r" (?:truncated|incomplete)\b", h)) for h in heads))


def main():
    if not os.path.isdir(FORMATS) or not os.access(PROGRAM, os.X_OK):
        print("1..0 # skip no corpus or no program: GRAPHLINT_SHARED=%s" % SHARED)
        return
    printed, read = listed(LIST)
    count = counted()
    wrong = ["%s: listed %s, counted %s" % (n, printed.get(n), count.get(n)) for n in sorted(set(printed) | set(count))
             if printed.get(n) != count.get(n)]
    names = sorted(os.path.relpath(os.path.join(d, f), FORMATS) for d, _, files in os.walk(FORMATS) for f in files)
    folders = collections.defaultdict(list)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for name, got in zip(names, pool.map(program, names)):
            folders[name.split("/")[0]].append((name, got))
    print("1..%d" % (len(folders) + 1))
    print("%s 1 - the list is what tests/count-graphs.py counts" % ("not ok" if wrong else "ok"))
    for line in wrong[:20]:
        print("# " + line)
    for i, (folder, files) in enumerate(sorted(folders.items()), 2):
        bad = ["%s: read %s, listed %s" % (n, got, read.get(n, (0, 0, 0))) for n, got in files if got != read.get(n, (0, 0, 0))]
        total = sum(got[0] for _, got in files if isinstance(got, tuple))
        print("%s %d - %s: %d graphs" % ("not ok" if bad else "ok", i, folder, total))
        for line in bad[:20]:
            print("# " + line)
    print("# %d graphs, %d of them bodies" % tuple(map(sum, zip(*count.values()))))


main()
