#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Baselines outlive a recapture, as TAP: the baseline of each model's own log holds for the same model's part of a long log in
which ids, numbers and order differ. Needs the corpus in GRAPHLINT_SHARED (../shared).
"""
import json
import os
import re
import subprocess
import sys
import tempfile

MODELS = os.path.join(os.environ.get("GRAPHLINT_SHARED", "../shared"), "corpus", "models")
LONG = os.path.join(MODELS, "scale", "long_log_real.txt.gz")
# Notes that the long log has for other reasons than names and numbers, and why.
OTHER = {
    "GL605": "a number that goes from one call to the next: the model's own log stops before the second call",
    "GL106": "whether a dropout is the argument itself: the model's own log says that gradients are off",
    "GL601": "scalars are captured in the model's own log and break it in the long one",
    "GL604": "the same",
}
PROGRAM = os.environ.get("GRAPHLINT", "build/graphlint")


def own_log(subject):
    name, _, variant = subject.partition("@")
    for run in ("aot_infer",):
        folder = os.path.join(MODELS, name, (variant + "_" if variant else "") + run)
        for log in ("log.txt", "log.txt.gz"):
            if os.path.exists(os.path.join(folder, log)):
                return os.path.join(folder, log)
    return None


def run(*args):
    return subprocess.run([PROGRAM, "--fail-on=never", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def number(graph):
    m = re.search(r"__compiled_fn_(\d+)", graph or "")
    return int(m.group(1)) if m else None


def new_findings(findings, old, first, last):
    """Findings of the model's part that its own baseline does not hold; the program itself is asked once, below."""
    new = []
    for f in findings:
        n = number(f["graph"])
        if n is None or not first <= n < last:
            continue
        if f["severity"] == "note" and f["rule"] in OTHER:
            continue
        entry = old.get(f["fingerprint"])
        if not entry or entry["rule"] != f["rule"] or (f["severity"] == "error" and entry["severity"] != "error"):
            new.append("%s line %d %s %s" % (f["rule"], f["line"], f["severity"], f["graph"]))
    return new


def all_baselines(files, contract):
    """The program with the baselines of all models in one file finds nothing new in any of their parts."""
    merged = None
    for name in files:
        one = json.load(open(name))
        if not merged:
            merged = one
            continue
        known = {f["fingerprint"]: f for f in merged["findings"]}
        for f in one["findings"]:
            old = known.get(f["fingerprint"])
            if not old:
                merged["findings"].append(f)
            else:
                old["count"] = max(old["count"], f["count"])
                old["severity"] = max(old["severity"], f["severity"], key=["note", "warning", "error"].index)
    path = files[0] + ".all"
    json.dump(merged, open(path, "w"))
    r = run("--baseline", path, "--contract", contract, "--format=json", LONG)
    return ["%s line %d %s %s" % (f["rule"], f["line"], f["severity"], f["graph"])
            for f in json.loads(r.stdout)["findings"]
            if not f["suppressed"] and not (f["severity"] == "note" and f["rule"] in OTHER)]


def main():
    if not os.path.exists(LONG):
        print("1..0 # skip no corpus")
        return
    subjects = json.load(open(os.path.join(MODELS, "scale", "long_log_real.json")))
    firsts = [number(s["first_graph"]) for s in subjects] + [1 << 31]
    tests = 0
    with tempfile.TemporaryDirectory() as tmp:
        for contract in ("fresh", "auto"):
            found = json.loads(run("--contract", contract, "--format=json", LONG).stdout)["findings"]
            files = []
            for i, s in enumerate(subjects):
                tests += 1
                log = own_log(s["subject"])
                if not log:
                    print("ok %d - %s # skip no log of its own" % (tests, s["subject"]))
                    continue
                baseline = os.path.join(tmp, "%s-%d.json" % (contract, i))
                run("--write-baseline", baseline, "--contract", contract, log)
                files.append(baseline)
                new = new_findings(found, {f["fingerprint"]: f for f in json.load(open(baseline))["findings"]},
                                   firsts[i], firsts[i + 1])
                tell(tests, "%s, %s" % (s["subject"], contract), new)
            tests += 1
            tell(tests, "all of them, %s" % contract, all_baselines(files, contract))
    print("1..%d" % tests)


def tell(number_, what, new):
    print("%s %d - %s" % ("not ok" if new else "ok", number_, what))
    for line in new:
        print("# new: " + line)


main()
