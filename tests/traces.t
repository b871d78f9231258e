#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The same process as a log and as a trace: programs of the oracle that have both. Which boundaries alias or are written is the
same from the trace alone; whether somebody notices needs the outermost frame, which a trace does not hold. And which inputs a
trace puts into one storage is what was measured. As TAP, a test a set.

GRAPHLINT_SHARED says where the corpus lies (../shared); without it the test is skipped.
"""
import concurrent.futures
import glob
import json
import os
import re
import subprocess

ORACLE = os.path.join(os.environ.get("GRAPHLINT_SHARED", "../shared"), "corpus", "oracle")
PROGRAM = os.environ.get("GRAPHLINT", "build/graphlint")
ENV = dict(os.environ, ASAN_OPTIONS="exitcode=99")


def boundaries(path):
    r = subprocess.run([PROGRAM, "--format=json", "--fail-on=never", "--contract=fresh", path], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, env=ENV)
    doc = json.loads(r.stdout)
    captured = {(g["name"], g["compile_id"]) for g in doc["graphs"] if g["stage"] == "dynamo"}
    graphs = {g["compile_id"]: ([(x["name"], x["mutated"]) for x in g["inputs"]], [(x["alias"], x["of"]) for x in g["outputs"]])
              for g in doc["graphs"] if g["stage"] == "dynamo"}
    found = {(f["rule"], f["compile_id"], f["output"], f["input"] if f["output"] is None else None, f["attribute"])
             for f in doc["findings"] if f["rule"] in ("GL101", "GL102", "GL103") and (f["graph"], f["compile_id"]) in captured}
    return graphs, found


def places(path):
    """graphs of Dynamo in order: names of inputs, storage of each that the trace tells"""
    r = subprocess.run([PROGRAM, "--dump=ir", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV, text=True)
    out, keep = [], None
    for line in r.stdout.splitlines():
        if line.startswith("graph "):
            keep = "stage=dynamo" in line and not re.search(r" (?:superseded|printing_of=|parent=)", line)
            if keep:
                out.append(([], {}))
        m = keep and re.match(r"  (\S+) = placeholder ", line)
        if m:
            out[-1][0].append(m[1])
        m = keep and re.match(r"  place (\S+) storage (\d+)", line)
        if m:
            out[-1][1][m[1]] = int(m[2])
    return out


def shared_wrongly(folder):
    """pairs of inputs that the trace says share, or do not, against what was measured"""
    with open(os.path.join(folder, "truth.json"), encoding="utf-8") as f:
        truth = json.load(f)["graphs"]
    for graph, (names, storage) in zip(truth, places(os.path.join(folder, "trace.log"))):
        for i, x in enumerate(graph["inputs"]):
            for j in range(i):
                a, b = (storage.get(names[k]) if k < len(names) else None for k in (i, j))
                if a and b and (a == b) != (j in x["alias_inputs"]):
                    yield "%s: inputs %d and %d" % (graph["name"], j, i)


def check(folder):
    log_graphs, log = boundaries(os.path.join(folder, "log.txt"))
    graphs, trace = boundaries(os.path.join(folder, "trace.log"))
    bad = list(shared_wrongly(folder))
    if not graphs or log_graphs != graphs:
        bad.append("aliases and writes differ: %s" % [k for k in set(log_graphs) | set(graphs) if log_graphs.get(k) != graphs.get(k)])
    # what a frame proves harmless is no finding of the log; a trace does not show that frame
    if log - trace:
        bad.append("not told from the trace: %s" % sorted(log - trace, key=str))
    return bad


def main():
    folders = sorted(os.path.dirname(x) for x in glob.glob(os.path.join(ORACLE, "*", "*", "trace.log")))
    if not folders or not os.access(PROGRAM, os.X_OK):
        print("1..0 # skip no corpus or no program: GRAPHLINT_SHARED=%s" % ORACLE)
        return
    sets = sorted({os.path.dirname(x) for x in folders})
    print("1..%d" % len(sets))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        found = dict(zip(folders, pool.map(check, folders)))
    for i, s in enumerate(sets, 1):
        mine = [f for f in folders if os.path.dirname(f) == s]
        bad = [(f, b) for f in mine for b in found[f]]
        print("%s %d - %s: %d programs" % ("not ok" if bad else "ok", i, os.path.basename(s), len(mine)))
        for f, b in bad[:20]:
            print("# %s: %s" % (os.path.basename(f), b))


main()
