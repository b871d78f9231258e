#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every rule fires where it has to and is silent where it has to be, as TAP: the golden cases GLxxx-fires* and GLxxx-silent*
by rule id, one of each for every rule there is, and the corpus's cases where GRAPHLINT_SHARED (../shared) has them.
"""
import glob
import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys

CORPUS = os.path.join(os.environ.get("GRAPHLINT_SHARED", "../shared"), "corpus", "rules")
PROGRAM = os.environ.get("GRAPHLINT", "build/graphlint")
CASES = "tests/cases"
# Cases of the corpus that fail today, and why. Passing by surprise fails the test.
KNOWN = {}

tests = 0


def ok(good, what, why="", directive=""):
    global tests
    tests += 1
    print("%s %d - %s%s" % ("ok" if good else "not ok", tests, what, directive))
    if not good and not directive:
        print("# " + why)


def rules_there_are():
    return sorted({m.group() for p in glob.glob("rules/GL*.yaml") for m in [re.search(r"GL\d+", os.path.basename(p))] if m})


def found(folder):
    """Rules that fire in a case, under the contract, the version and the rules that its arguments name."""
    env = dict(os.environ, ASAN_OPTIONS="exitcode=99")
    inputs = sorted(os.path.basename(p) for p in glob.glob(os.path.join(folder, "input*")))
    path = os.path.join(folder, "args")
    words = shlex.split(open(path).read()) if os.path.exists(path) else []
    asked = [w for w in words if w.startswith(("--contract=", "--torch=", "--rules=", "--max-match"))]
    r = subprocess.run([os.path.abspath(PROGRAM), "--format=json", "--fail-on=never", "--contract=fresh", *asked, *inputs],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, cwd=folder)
    return [f["rule"] for f in json.loads(r.stdout)["findings"]]


def check_cases(rules):
    for rule in rules:
        for kind in ("fires", "silent"):
            folders = sorted(glob.glob(os.path.join(CASES, "%s-%s*" % (rule, kind))))
            wrong = [f for f in folders if (rule in found(f)) != (kind == "fires")]
            ok(folders and not wrong, "%s: golden cases, %s" % (rule, kind), "no case" if not folders else " ".join(wrong))


def check_own_tests(folder):
    """`graphlint test`: every rule names dumps on which it fires and dumps on which it is silent, and they do."""
    r = subprocess.run([PROGRAM, "test", "--negate", "--format=json", folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        said = json.loads(r.stdout)
    except ValueError:
        ok(False, "graphlint test %s" % folder, r.stderr.decode(errors="replace"))
        return
    failed = ["%s:%d %s" % (t["file"], t["line"], t["why"]) for t in said["tests"] if not t["passed"]]
    ok(not failed and r.returncode == 0, "graphlint test %s" % folder, "\n# ".join(failed))
    ok(said["conditions_unseen"] == 0, "graphlint test --negate %s: some test sees each condition" % folder,
       "graphlint test --negate %s says which" % folder)
    ok(said["rules_without_both"] == 0, "graphlint test %s: every rule has both" % folder,
       "a rule has no `fires:` or no `silent:` list: name its golden cases there; graphlint test %s says which" % folder)


def check_corpus(rules):
    sys.dont_write_bytecode = True
    spec = importlib.util.spec_from_file_location("score_rules", os.path.join(CORPUS, "score_rules.py"))
    score = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(score)

    def report(rule, kind, name, dump):
        return score.report("'%s' --format json --fail-on never {dump}" % PROGRAM, dump, 300)
    rows, wrong = score.score(CORPUS, report, rules)
    wrong = {"%s %s/%s" % w[:3]: "%s: %s" % (w[3], w[5]) for w in wrong}
    for rule, kind, name, _, _ in score.cases(CORPUS):
        case = "%s %s/%s" % (rule, kind, name)
        if rule not in rules:
            continue
        if case in KNOWN:
            if case in wrong:
                ok(False, case, directive=" # TODO " + KNOWN[case])
            else:
                ok(False, case + " passes although it is known to fail", "take it out of KNOWN")
        else:
            ok(case not in wrong, case, wrong.get(case, ""))


def main():
    if not os.access(PROGRAM, os.X_OK):
        print("1..0 # skip no program: make")
        return
    rules = rules_there_are()
    check_cases(rules)
    for folder in ("rules", "samples/rules"):
        check_own_tests(folder)
    if os.path.isdir(CORPUS):
        check_corpus(rules)
    print("1..%d" % tests)


main()
