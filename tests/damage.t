#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Damaged logs: every ninth line is taken away, or cut in the middle. All statements that are still whole are read as before,
and what is missing is said. A line that nothing else depends on leaves no trace when it is taken away, and some halves
of a statement are statements: `x = y + z_1` and `x = y + z`. So not every loss can be told.

The logs are those of tests/logs and samples, and the corpus's where GRAPHLINT_SHARED (../shared) has it: each with one
damage of nine, with FULL=1 with all.
"""
import collections
import concurrent.futures
import glob
import json
import os
import re
import subprocess
import tempfile

FORMATS = os.path.join(os.environ.get("GRAPHLINT_SHARED", "../shared"), "corpus", "formats")
PROGRAM = os.environ.get("GRAPHLINT", "build/graphlint")
STEP = 9
OWN = ("tests/logs/*.log", "samples/*/*.log")
ONE_GRAPH = ("samples/two_ops/two_ops.code.txt", "samples/two_ops/two_ops.graph.txt", "samples/module/mutation.readable.txt")
CORPUS = ("logs-[0-9].[0-9]*/*.aot_eager.log", "logs-2.15/hops/*.log", "seed-2022/logs/*.log")

tests = 0
PREFIX = re.compile(r"^(?:\[rank\d+\]:)?(?:[VIWEC]\d{4} \S+ \d+ \S+\](?: \[[^\]]*\])* ?|\[[^\]]*\](?: \[[\d/_]+\])? [\w.]+: \[\w+\] ?)")
MADE = re.compile(r"(?:^|; ) *(\w+)(?:: (?:\"[^\"]*\"|[^=;]*?))? = (?!None\b)")
DECLARED = re.compile(r"(\w+): \"")
ROW = re.compile(r"^(?:placeholder|get_attr|call_\w+|output) +(\w+) ")


def run(path, *args):
    env = dict(os.environ, ASAN_OPTIONS="exitcode=99")
    r = subprocess.run([PROGRAM, "--fail-on=never", *args, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
    return r.returncode, r.stdout.decode("utf-8", "replace")


def nodes(path):
    """The nodes of all graphs as --dump=ir prints them, without places and numbers."""
    lines = run(path, "--dump=ir")[1].splitlines()
    return collections.Counter(re.sub(r"%\d+", "%_", re.sub(r" @\S+:\d+$", "", x)) for x in lines if x.startswith("  %"))


def made(line):
    """Names of nodes that a line of a log makes."""
    body = PREFIX.sub("", line)
    if "def forward(" in body or "fx_pytree." in body:
        return set(re.findall(r"\w+", body))
    row = ROW.match(body)
    return {row.group(1)} if row else set(MADE.findall(body)) | set(DECLARED.findall(body))


def damage(lines, cut, phase):
    """-> the lines that are left, and of each damaged one: its number there (0: it is gone) and what it was"""
    out, hit = [], []
    for i, line in enumerate(lines):
        if i % STEP != phase or not line:
            out.append(line)
            continue
        if cut:
            head = PREFIX.match(line)
            at = head.end() if head else 0
            out.append(line[:at + (len(line) - at) // 2])
        hit.append((len(out) if cut else 0, line))
    return out, hit


def check(log, before, cut, phase, tmp):
    """-> statements that are lost although their line is whole; damaged ones that nothing tells; how many are damaged; statuses"""
    with open(log, encoding="utf-8", errors="surrogateescape", newline="") as f:
        out, hit = damage(f.read().split("\n"), cut, phase)
    path = os.path.join(tmp, "%s.%d.%d.log" % (re.sub(r"\W", "_", log), cut, phase))
    with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as f:
        f.write("\n".join(out))
    after = nodes(path)
    allowed = collections.Counter(name for _, line in hit for name in made(line))
    lost, gone = [], collections.Counter()
    for node, n in before.items():
        name, target = re.match(r"  %(\S+) = (?:placeholder (\w+))?", node).groups()
        missing = n - after[node]
        gone[name] += max(0, missing)
        if missing > allowed[name] + (allowed[target] if target else 0):
            lost.append("%s, phase %d: %s" % (log, phase, node.strip()))
    status, text = run(path, "--format=json")
    os.unlink(path)
    doc = json.loads(text)
    lines = {x["line"] for x in doc["unread"] + [f for f in doc["findings"] if f["rule"] == "GL903"]}
    words = {w for u in doc["unread"] for w in re.findall(r"\w+", u["why"])}
    silent = []
    for number, line in hit:
        names = made(line)
        body = PREFIX.sub("", line)
        if not any(gone[x] for x in names) or number in lines or words.intersection(re.findall(r"\w+", body)):
            continue
        silent.append("%s, phase %d, line %d: %s" % (log, phase, number, body.strip()[:150]))
    wrong = [] if status in ((3,) if doc["unread"] else (0, 3)) else ["%s, phase %d: status %d" % (log, phase, status)]
    return lost, silent, sum(any(gone[x] for x in made(line)) for _, line in hit), wrong


def cut_at_every_byte(path, pool):
    """Places at which a dump of one graph may be cut without a word."""
    with open(path, "rb") as f:
        data = f.read().rstrip()

    def status(n):
        env = dict(os.environ, ASAN_OPTIONS="exitcode=99")
        return subprocess.run([PROGRAM, "--fail-on=never", "-"], input=data[:n], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=env).returncode
    step = 1 if os.environ.get("FULL") else 3
    return ["byte %d: status %d" % (n, got) for n, got in zip(range(0, len(data), step), pool.map(status, range(0, len(data), step)))
            if got != 3]


def judge(name, jobs, least):
    lost, silent, hit, bad = [], [], 0, []
    for job in jobs:
        a, b, n, c = job.result()
        lost += a
        silent += b
        hit += n
        bad += c
    ok(not lost, "%s: all whole statements are read" % name, lost)
    ok(not bad, "%s: exit status 3 where something is missing" % name, bad)
    told = hit - len(silent)
    ok(told >= least * hit, "%s: %d of %d lost statements are told" % (name, told, hit), silent)


def ok(good, what, why):
    global tests
    tests += 1
    print("%s %d - %s" % ("ok" if good else "not ok", tests, what), flush=True)
    for line in [] if good else why[:20]:
        print("# " + line)


def main():
    if not os.access(PROGRAM, os.X_OK):
        print("1..0 # skip no program: make")
        return
    own = sorted(p for pattern in OWN for p in glob.glob(pattern))
    corpus = sorted(p for pattern in CORPUS for p in glob.glob(os.path.join(FORMATS, pattern)))
    cases = [(log, phase) for log in own for phase in range(STEP)]
    cases += [(log, phase) for k, log in enumerate(corpus) for phase in range(STEP) if os.environ.get("FULL") or phase == k % STEP]
    with tempfile.TemporaryDirectory() as tmp, concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        before = dict(zip(own + corpus, pool.map(nodes, own + corpus)))
        for cut, name, least in ((0, "every ninth line removed", 0.9), (1, "every ninth line cut", 0.98)):
            judge(name, [pool.submit(check, log, before[log], cut, phase, tmp) for log, phase in cases], least)
        for path in ONE_GRAPH:
            bad = cut_at_every_byte(path, pool)
            ok(not bad, "%s cut anywhere: exit status 3" % path, bad)
    print("# %d logs, %d times damaged in each way" % (len(before), len(cases)))
    print("1..%d" % tests)


main()
