#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One program, every form of dump: the findings about the boundaries of bigbird are the same from logs of every generation,
traces, tlparse, depyf, and damaged copies, up to positions, names of graphs and what a form cannot know. As TAP.

What must be found is told of the program (corpus/formats/README.md, spec 8.3): the graph `contiguous`, `view` hands back a
view of its input, and the next graph writes that view. How certain it is that somebody notices depends on the form:
    full     the frames are shown: both are errors
    partial  some frames are shown: at least one is an error, the other is told
    told     no frame that decides: both are told
GRAPHLINT_SHARED says where the corpus lies (../shared); without it the test is skipped.
"""
import glob
import json
import os
import subprocess

FORMATS = os.path.join(os.environ.get("GRAPHLINT_SHARED", "../shared"), "corpus", "formats")
PROGRAM = os.environ.get("GRAPHLINT", "build/graphlint")

# dump, what it can know
FORMS = [
    # no strides in the graphs up to 2.2: whether contiguous() copies cannot be told
    ("logs-2.0/bigbird.aot_eager.log", "partial"), ("logs-2.1/bigbird.aot_eager.log", "told"),
    ("logs-2.2/bigbird.aot_eager.log", "partial"), ("logs-2.4/bigbird.aot_eager.log", "full"),
    ("logs-2.6/bigbird.aot_eager.log", "full"), ("logs-2.9/bigbird.aot_eager.log", "full"),
    ("logs-2.13/bigbird.aot_eager.log", "full"), ("logs-2.15/bigbird.aot_eager.log", "full"),
    ("torch-trace/bigbird", "told"), ("torch-trace-2.13/bigbird", "told"), ("torch-trace-2.15/bigbird", "told"),
    ("tlparse-real/2.6-bigbird", "told"), ("tlparse-real/2.15-bigbird", "told"), ("torch-compile-debug-2.13/bigbird", "told"),
    ("depyf/bigbird", "told"), ("depyf-real/2.13-bigbird", "partial"),
]


def form_of_copy(path):
    """What a copy of the log of 2.6 can know: some are parts of it. None: a part without the two graphs."""
    with open(path, "rb") as f:
        data = f.read()
    text = data.decode("utf-16" if data[:2] == b"\xff\xfe" else "utf-8", "replace").replace("\r", "").replace("\xa0", " ")
    if "contiguous" not in text or ".mean()" not in text:
        return None
    frames = all("MODIFIED BYTECODE %s" % x in text for x in ("bigbird", "torch_dynamo_resume_in_bigbird_at_14", "torch_dynamo_resume_in_bigbird_at_16"))
    frames = frames and "ORIGINAL BYTECODE bigbird" in text and "..." not in text.split()
    return "full" if frames and "][2048, 32, 8, 1]" in text else "told"


def boundaries(path):
    """(rule, severity) of the output that is a view, (rule, severity) of the input that is written; None: not told"""
    env = dict(os.environ, ASAN_OPTIONS="exitcode=99")
    r = subprocess.run([PROGRAM, "--format=json", "--fail-on=never", "--contract=fresh", path], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, env=env)
    doc = json.loads(r.stdout)
    main = {(g["name"], g["compile_id"]) for g in doc["graphs"] if g["of"] is None and g["stage"] in ("dynamo", "fx")}
    view = write = None
    order = {"note": 0, "warning": 1, "error": 2}
    others = []
    for f in doc["findings"]:
        if f["rule"] not in ("GL101", "GL102", "GL103", "GL104") or (f["graph"], f["compile_id"]) not in main:
            continue
        if f["rule"] == "GL101" and f["output"] == 0 and f["input"] == 0:
            view = max(view or "note", f["severity"], key=order.get)
        elif f["rule"] == "GL103" and f["input"] in (1, 2):
            write = max(write or "note", f["severity"], key=order.get)
        else:
            others.append((f["rule"], f["graph"], f["output"], f["input"]))
    return view, write, others


def fault(form, view, write, others):
    if others:
        return "other boundaries are told: %s" % others
    if not view or not write:
        return "not told: %s" % ("the view" if not view else "the write")
    errors = (view == "error") + (write == "error")
    if form == "full" and errors != 2 or form == "partial" and errors < 1:
        return "the view is %s, the write %s" % (view, write)
    return None


def main():
    if not os.path.isdir(FORMATS) or not os.access(PROGRAM, os.X_OK):
        print("1..0 # skip no corpus or no program: GRAPHLINT_SHARED=%s" % FORMATS)
        return
    forms = list(FORMS)
    for path in sorted(glob.glob(os.path.join(FORMATS, "logs-derived", "*"))):
        name = os.path.basename(path)
        form = form_of_copy(path) if name != "README.md" else None
        if form:
            forms.append(("logs-derived/" + name, form))
    print("1..%d" % len(forms))
    for i, (name, form) in enumerate(forms, 1):
        view, write, others = boundaries(os.path.join(FORMATS, name))
        why = fault(form, view, write, others)
        print("%s %d - %s (%s): view %s, write %s" % ("not ok" if why else "ok", i, name, form, view, write))
        if why:
            print("# " + why)


main()
