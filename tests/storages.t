#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What Inductor's generated code returns, and which of its inputs it writes, as they were measured: corpus/formats/inductor-2.13
(NAME.storages.json beside NAME.inductor.log). As TAP, a test a program.

GRAPHLINT_SHARED says where the corpus lies (../shared); without it the test is skipped.
"""
import glob
import json
import os
import subprocess

FOLDER = os.path.join(os.environ.get("GRAPHLINT_SHARED", "../shared"), "corpus", "formats", "inductor-2.13")
PROGRAM = os.environ.get("GRAPHLINT", "build/graphlint")


def said(log):
    """AOT id -> what graphlint says of the graph"""
    env = dict(os.environ, ASAN_OPTIONS="exitcode=99")
    r = subprocess.run([PROGRAM, "--format=json", "--fail-on=never", log], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
    return {g["name"]: g for g in json.loads(r.stdout)["graphs"] if g["stage"] == "inductor"}


def differences(call, graph):
    names = [x["name"] for x in graph["inputs"]]
    if len(call["returns"]) != len(graph["outputs"]):
        yield "%d values returned, read %d" % (len(call["returns"]), len(graph["outputs"]))
        return
    for got, want in zip(graph["outputs"], call["returns"]):
        if not want.get("tensor", True):
            continue
        k = want["output"]
        of_inputs = [names[i] for i in got["of"]] if got["alias"] in ("input", "view_of_input") else []
        # inputs that came in on one storage are one to the program that measured; the code names one of them
        if bool(of_inputs) != bool(want["inputs"]) or not set(of_inputs) <= set(want["inputs"]):
            yield "output %d is on inputs %s, said %s %s" % (k, want["inputs"], got["alias"], of_inputs)
        if want["same_object_as"] and got["alias"] != "input":
            yield "output %d is the object %s, said %s" % (k, want["same_object_as"], got["alias"])
        if not want["inputs"]:
            others = sorted(got["of"]) if got["alias"] in ("output", "view_of_output") else []
            if others and not set(others) <= set(want["outputs"]) or bool(others) != bool(want["outputs"]) and got["alias"] != "fresh":
                yield "output %d shares with outputs %s, said %s %s" % (k, want["outputs"], got["alias"], others)
    written = [x["name"] for x in graph["inputs"] if x["mutated"] != "no"]
    missed = set(call["inputs_changed"]) - set(written)
    shared = {n for group in call["inputs_sharing"] for n in group if set(group) & set(written)}
    if missed - shared:
        yield "inputs %s changed, said written %s" % (call["inputs_changed"], written)


def main():
    measured = sorted(glob.glob(os.path.join(FOLDER, "*.storages.json")))
    if not measured or not os.access(PROGRAM, os.X_OK):
        print("1..0 # skip no corpus or no program: GRAPHLINT_SHARED=%s" % FOLDER)
        return
    print("1..%d" % len(measured))
    for i, path in enumerate(measured, 1):
        graphs = said(path.replace(".storages.json", ".inductor.log"))
        with open(path, encoding="utf-8") as f:
            calls = json.load(f)["inductor"]
        bad, n = [], 0
        for call in calls:
            graph = graphs.get(call["aot_id"])
            if not graph:
                bad.append("%s: not read" % call["aot_id"])
                continue
            n += len(call["returns"])
            bad += ["%s: %s" % (call["aot_id"], d) for d in differences(call, graph)]
        print("%s %d - %s: %d calls, %d returned values" % ("not ok" if bad else "ok", i, os.path.basename(path)[:-14], len(calls), n))
        for line in bad[:20]:
            print("# " + line)


main()
