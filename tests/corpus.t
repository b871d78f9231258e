#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The answers on the corpus of real dumps, scored by the corpus's own programs, against the bars of the project.

GRAPHLINT_SHARED says where the corpus lies (../shared); without it the test is skipped.
"""
import collections
import concurrent.futures
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile

SHARED = os.environ.get("GRAPHLINT_SHARED", "../shared")
PROGRAM = os.environ.get("GRAPHLINT", "build/graphlint")
CORPUS = os.path.join(SHARED, "corpus")
ORACLE = ("dev", "dev2", "dev-versions")
MODELS = ("models", "models-hf")
BAR = 0.995           # least share of outputs with the right memory, and of inputs with a decided answer
BATCH = 24 << 20      # bytes of input for one process: few processes, and no file far from its neighbours
ASAN = "exitcode=99"  # a sanitizer's report is not a finding

tests = 0


def ok(good, what, why=()):
    global tests
    tests += 1
    print("%s %d - %s" % ("ok" if good else "not ok", tests, what), flush=True)
    if not good:
        for line in list(why)[:20]:
            print("# " + line)


def python(*args):
    r = subprocess.run([sys.executable, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return r.returncode, r.stdout, r.stderr


def score_models():
    spec = importlib.util.spec_from_file_location("score_models", os.path.join(CORPUS, "models", "score_models.py"))
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    spec.loader.exec_module(module)
    return module


def oracle_logs(name):
    """name of the result -> log"""
    root = os.path.join(CORPUS, "oracle", name)
    logs = {p: os.path.join(root, p, "log.txt") for p in sorted(os.listdir(root))}
    return {p: log for p, log in logs.items() if os.path.exists(log)}


def model_logs(name):
    return {"%s__%s" % (model, run): log for model, run, log, _ in score_models().runs(os.path.join(CORPUS, name), None)}


def batches(logs):
    """Lists of (result, log) of about BATCH bytes."""
    out, size = [[]], 0
    for item in logs.items():
        n = os.path.getsize(item[1]) * (12 if item[1].endswith(".gz") else 1)
        if out[-1] and size + n > BATCH:
            out.append([])
            size = 0
        out[-1].append(item)
        size += n
    return out


def analyse(logs):
    """Runs the program once over the logs -> (exit status, text of the JSON, standard error)."""
    env = dict(os.environ, ASAN_OPTIONS=ASAN)
    r = subprocess.run([PROGRAM, "--format", "json", "--fail-on", "never", "--contract", "fresh", *logs],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
    return r.returncode, r.stdout, r.stderr.decode("utf-8", "replace")


def split(batch, text, folder):
    """One JSON file for each log, as the scorers want them."""
    doc = json.loads(text)
    parts = {log: dict(doc, findings=[], graphs=[], frames=[], unread=[]) for _, log in batch}
    for key in ("findings", "graphs", "frames", "unread"):
        for item in doc[key]:
            if item.get("file") in parts:
                parts[item["file"]][key].append(item)
    for result, log in batch:
        with open(os.path.join(folder, result + ".json"), "w", encoding="utf-8") as f:
            json.dump(parts[log], f)


def run_batch(name, n, batch, tmp):
    """-> faults of the run; a batch that fails is repeated file by file, to name the file."""
    def once(part, keep):
        status, text, err = analyse([log for _, log in part])
        if status not in (0, 3):
            return "exit status %d: %s" % (status, " | ".join(err.strip().splitlines()[-4:]))
        try:
            split(part, text, os.path.join(tmp, name))
        except (ValueError, KeyError, TypeError) as e:
            return "no JSON as agreed: %r" % e
        if keep:
            with open(os.path.join(tmp, "%s.%d.json" % (name, n)), "wb") as f:
                f.write(text)
        return None
    fault = once(batch, True)
    if fault is None:
        return []
    faults = ["%s: %s" % (log, f) for item in batch for log in [item[1]] for f in [once([item], False)] if f]
    return faults or ["%d files of %s in one run: %s" % (len(batch), name, fault)]


def bars(name, zero, share):
    for what, value, why in zero:
        ok(value == 0, "%s: %s 0" % (name, what), ["is %s" % value, *why()])
    for what, part, whole in share:
        good = whole > 0 and part >= BAR * whole
        ok(good, "%s: %s at least %.1f %%" % (name, what, 100 * BAR), ["%d of %d" % (part, whole)])


def judge_oracle(name, folder):
    args = (os.path.join(CORPUS, "oracle", "score.py"), os.path.join(CORPUS, "oracle", name), folder)
    _, out, err = python(*args, "--json")
    try:
        res = json.loads(out)
    except ValueError:
        ok(False, "%s: scored" % name, err.splitlines()[-5:])
        return {}
    a, w = res["alias"], res["writes"]

    def wrong():
        text = python(*args, "--list", "alias")[1]
        return [x for x in text.splitlines() if x.startswith("alias ") and not x.startswith("alias kind")]
    bars(name, [("wrong", a["wrong"], wrong), ("unknown", a["unknown"], list), ("absent", a["absent"], list),
                ("writes missed", w["missed"], wrong), ("writes false", w["false"], wrong), ("writes absent", w["absent"], list)],
         [("outputs with the right memory", a["exact"] + a["same_memory"], a["outputs"])])
    print("# %s: %d of %d outputs exact, %d the right memory, %d undecided; %d of %d inputs right" % (
        name, a["exact"], a["outputs"], a["same_memory"], a["undecided"], w["right"], sum(w.values())))
    return w


def judge_models(name, folder):
    args = (os.path.join(CORPUS, "models", "score_models.py"), os.path.join(CORPUS, name), "--findings", folder)
    _, out, err = python(*args, "--json")
    try:
        t = collections.Counter(json.loads(out))
    except ValueError:
        ok(False, "%s: scored" % name, err.splitlines()[-5:])
        return

    def listed(kind, side):
        return lambda: [x for x in python(*args, "--list", kind)[1].splitlines() if re.search(r" %s \d+(:|$)" % side, x)]
    bars(name, [("runs failed", t["runs failed"], err.splitlines),
                ("MISSED", t["alias: MISSED"], listed("missed", "output")), ("FALSE", t["alias: FALSE"], listed("false", "output")),
                ("other kind", t["alias: other kind"], listed("missed", "output")),
                ("absent", t["alias: graph or output absent"], listed("graphs", "output")),
                ("writes MISSED", t["writes: MISSED"], listed("missed", "input")), ("writes FALSE", t["writes: FALSE"], listed("false", "input")),
                ("writes absent", t["writes: absent"], listed("graphs", "input"))],
         [("outputs with the right memory", t["alias: exact"] + t["alias: right memory"], t["outputs"]),
          ("inputs decided", t["writes: right"], t["inputs"])])
    print("# %s: %d of %d outputs exact, %d the right memory, %d undecided; %d of %d inputs right" % (
        name, t["alias: exact"], t["outputs"], t["alias: right memory"], t["alias: undecided"], t["writes: right"], t["inputs"]))


def check_contract(tmp):
    """The JSON of the first run over each set, against the contract."""
    for name in ORACLE + MODELS:
        path = os.path.join(tmp, name + ".0.json")
        if os.path.exists(path):
            status, out, err = python(os.path.join(SHARED, "spec", "check_json.py"), path)
            ok(status == 0, "%s: JSON as agreed" % name, [x.replace(path + ": ", "") for x in (out + err).splitlines()])
        else:
            ok(False, "%s: JSON as agreed" % name, ["no JSON"])


def main():
    if not os.path.isdir(CORPUS):
        print("1..0 # skip no corpus: GRAPHLINT_SHARED=%s" % SHARED)
        return
    if not os.access(PROGRAM, os.X_OK):
        print("1..0 # skip no program: make")
        return
    with tempfile.TemporaryDirectory() as tmp, concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        jobs = []
        for name, logs in [(n, oracle_logs(n)) for n in ORACLE] + [(n, model_logs(n)) for n in MODELS]:
            os.mkdir(os.path.join(tmp, name))
            jobs += [(name, pool.submit(run_batch, name, n, batch, tmp)) for n, batch in enumerate(batches(logs))]
        faults = collections.defaultdict(list)
        for name, job in jobs:
            faults[name] += job.result()
        for name in ORACLE + MODELS:
            ok(not faults[name], "%s: every log gives JSON" % name, faults[name])
        check_contract(tmp)
        writes = collections.Counter()
        for name in ORACLE:
            writes.update(judge_oracle(name, os.path.join(tmp, name)))
        # Of all sets together: the class of a module that a 2.4 log only calls by name is not in the dump, so whether it writes in
        # place stays open.
        bars("oracle", [], [("inputs decided", writes["right"], sum(writes.values()))])
        for name in MODELS:
            judge_models(name, os.path.join(tmp, name))
    print("1..%d" % tests)


main()
