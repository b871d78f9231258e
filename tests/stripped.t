#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The answers when all annotations but those of the placeholders are taken out of the corpus's dumps: the types are
then computed, and the answers have to stay what they are with the annotations.

GRAPHLINT_SHARED says where the corpus lies (../shared); without it the test is skipped.
"""
import concurrent.futures
import glob
import gzip
import json
import os
import re
import subprocess
import tempfile

SHARED = os.environ.get("GRAPHLINT_SHARED", "../shared")
PROGRAM = os.environ.get("GRAPHLINT", "build/graphlint")
CORPUS = os.path.join(SHARED, "corpus")
LOGS = ("oracle/dev/*/log.txt", "oracle/dev2/*/log.txt", "oracle/dev-versions/*/log.txt", "models/*/*/log.txt*",
        "models-hf/*/*/log.txt*")
BAR_ANSWERS = 0.97   # share of outputs with the same answer
BAR_TYPES = 0.96     # share of nodes whose printed type is computed in full
BATCH = 16 << 20     # bytes of input for one process

QUOTED = re.compile(r'(^|[^\w.])(\w+): "(?:\x1b\[[0-9;]*m)*(?:[a-z]\w*\[|Sym\(|[A-Z]\w*\()[^"]*" = ')
BARE = re.compile(r'^((?:.*?\] )?\s*)(\w+): (?:[a-z]+\d+\w*\[[^=]*?|Sym\([^=]*?) = ')


def strip(text):
    """Annotations stand before " = " in a body; a signature keeps its own."""
    def line(s):
        return s if "def forward" in s else BARE.sub(r"\1\2 = ", QUOTED.sub(r"\1\2 = ", s))
    return "\n".join(map(line, text.split("\n")))


def batches():
    out, size = [[]], 0
    for log in sorted(p for pattern in LOGS for p in glob.glob(os.path.join(CORPUS, pattern))):
        n = os.path.getsize(log) * (12 if log.endswith(".gz") else 1)
        if out[-1] and size + n > BATCH:
            out.append([])
            size = 0
        out[-1].append(log)
        size += n
    return out


def program(*args):
    env = dict(os.environ, ASAN_OPTIONS="exitcode=99")
    r = subprocess.run([PROGRAM, "--fail-on", "never", "--contract", "fresh", *args], stdout=subprocess.PIPE, env=env)
    assert r.returncode in (0, 3), r.returncode
    return r.stdout.decode("utf-8", "replace")


def outputs(paths):
    doc = json.loads(program("--format", "json", *paths))
    return [[(o["alias"], o["of"]) for o in g["outputs"]] for g in doc["graphs"]]


def types(paths):
    """[(name, type, printed or inferred)] of every node, in order"""
    lines = program("--dump=types", *paths).splitlines()
    return [re.match(r"  (.*?): (.*?)(?: (printed|inferred))?$", s).groups() for s in lines if s.startswith("  ")]


def compare(batch):
    """-> outputs, outputs with the same answer, certain answers that became other certain ones, printed types of calls, those
    computed alike"""
    with tempfile.TemporaryDirectory() as tmp:
        plain, bare = [], []
        for i, log in enumerate(batch):
            opened = gzip.open if log.endswith(".gz") else open
            with opened(log, "rt", encoding="utf-8", errors="replace") as f:
                text = f.read()
            for paths, name, body in ((plain, "plain", text), (bare, "bare", strip(text))):
                paths.append(os.path.join(tmp, "%s%d.txt" % (name, i)))
                with open(paths[-1], "w", encoding="utf-8") as f:
                    f.write(body)
        a, b = outputs(plain), outputs(bare)
        ta, tb = types(plain), types(bare)
    assert len(a) == len(b) and len(ta) == len(tb), "other graphs without annotations"
    pairs = [(x, y) for g, h in zip(a, b) for x, y in zip(g, h)]
    nodes = [(x[1], y[1]) for x, y in zip(ta, tb) if x[2] == "printed" and y[2] != "printed"]
    turned = sum(x != y and is_certain(x) and is_certain(y) for x, y in pairs)
    return len(pairs), sum(x == y for x, y in pairs), turned, len(nodes), sum(x == y for x, y in nodes)


def is_certain(answer):
    return answer[0] != "unknown" and not answer[0].startswith("maybe_")


def main():
    if not os.path.isdir(CORPUS) or not os.access(PROGRAM, os.X_OK):
        print("1..0 # skip no corpus or no program: GRAPHLINT_SHARED=%s" % SHARED)
        return
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        n, same, turned, typed, alike = (sum(x) for x in zip(*pool.map(compare, batches())))
    print("1..3")
    print("# %d of %d outputs have the same answer; %d of %d types are the same" % (same, n, alike, typed))
    print("%s 1 - answers without annotations" % ("ok" if n and same >= BAR_ANSWERS * n else "not ok"))
    print("%s 2 - no certain answer turns into another certain one (%d)" % ("not ok" if turned else "ok", turned))
    print("%s 3 - types without annotations" % ("ok" if typed and alike >= BAR_TYPES * typed else "not ok"))


main()
