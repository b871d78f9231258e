#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The same dump in other clothes: encodings, line ends, colours, the prefixes of every generation of torch, and what other
programs put before a line. The findings stay, but for their positions.

The dumps are samples and tests/logs; the corpus's (GRAPHLINT_SHARED, ../shared) are added where they are.
"""
import concurrent.futures
import gzip
import json
import os
import re
import subprocess
import tempfile

FORMATS = os.path.join(os.environ.get("GRAPHLINT_SHARED", "../shared"), "corpus", "formats")
PROGRAM = os.environ.get("GRAPHLINT", "build/graphlint")
LOGS = ("samples/bigbird/bigbird.aot_eager.log", "samples/bigbird/hazard.graph_code.log", "tests/logs/2.4.cond.log",
        "tests/logs/2.9.cond.log", os.path.join(FORMATS, "logs-2.6/mutation.aot_eager.log"),
        os.path.join(FORMATS, "logs-2.15/cache.aot_eager.log"), os.path.join(FORMATS, "logs-2.13/train.aot_eager.log"),
        os.path.join(FORMATS, "logs-2.15/hops/autofunc.aot_eager.log"))
HEAD = re.compile(r"^((?:\[rank\d+\]:)?[VIWEC]\d{4} (\S+) \d+ (\S+)\](?: \[([^\]]*)\])? \[__(\w+)\]) ?(.*)$")
ANNOTATION = re.compile(r'(: ")(\w+)(\[[^]"]*\])((?:\[[^]"]*\])?)([a-z]*)(")')


def findings(data, tmp, name):
    """All findings without their places, sorted, and the aliases and writes of each graph."""
    path = os.path.join(tmp, re.sub(r"\W", "_", name))
    with open(path, "wb") as f:
        f.write(data)
    env = dict(os.environ, ASAN_OPTIONS="exitcode=99")
    r = subprocess.run([PROGRAM, "--format=json", "--fail-on=never", "--contract=fresh", "--torch=2.6", path],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
    os.unlink(path)
    try:
        doc = json.loads(r.stdout.decode("utf-8"))
    except ValueError:
        return ["exit status %d: %s" % (r.returncode, r.stderr[-300:])]
    keep = ("rule", "severity", "message", "graph", "output", "input", "other_output", "attribute", "certainty", "condition",
            "observable", "suggestion", "source")
    out = []
    for f in doc["findings"]:
        steps = [(e["role"], e["text"]) for e in f["evidence"]]
        out.append(repr([f[k] for k in keep] + steps))
    for g in doc["graphs"]:
        out.append(repr((g["name"], g["attributes"], g["inputs"], [(o["name"], o["alias"], o["of"], o["condition"]) for o in g["outputs"]])))
    return sorted(out)


# ---- bytes ----

def colour(text):
    """As torch colours annotations: the type red, sizes blue, strides and devices dim."""
    return ANNOTATION.sub(lambda m: "%s\x1b[31m%s\x1b[0m\x1b[34m%s\x1b[0m\x1b[2m\x1b[34m%s\x1b[0m\x1b[2m\x1b[32m%s\x1b[0m%s" % m.groups(), text)


def nbsp(text):
    return re.sub(r"(?m)(\] \[__(?:graph_code|aot_graphs)\] )( +)", lambda m: m[1] + "\xa0" * len(m[2]), text)


def noise(text):
    """Lines of the program between those of a record."""
    lines = text.split("\n")
    return "\n".join(x + ("\nstep %d loss 0.25" % i if i % 7 == 3 and HEAD.match(x) and i + 1 < len(lines) and HEAD.match(lines[i + 1])
                          else "") for i, x in enumerate(lines))


BYTES = {
    "CRLF": lambda t: t.replace("\n", "\r\n").encode(),
    "BOM": lambda t: b"\xef\xbb\xbf" + t.encode(),
    "UTF-16, little end": lambda t: b"\xff\xfe" + t.encode("utf-16-le"),
    "UTF-16, big end, CRLF": lambda t: b"\xfe\xff" + t.replace("\n", "\r\n").encode("utf-16-be"),
    "gzip": lambda t: gzip.compress(t.encode(), mtime=0),
    "colours": lambda t: colour(t).encode(),
    "caret colours": lambda t: colour(t).replace("\x1b", "^[").encode(),
    "blanks at line ends taken away": lambda t: re.sub(r"(?m) +$", "", t).encode(),
    "no-break spaces": lambda t: nbsp(t).encode(),
    "progress bars": lambda t: re.sub(r"(?m)^(V\d{4} .*__bytecode\] (?:ORIG|MODI).*)$", "\r 10%|#  | 1/9\r 20%|## | 2/9\r\\1", t).encode(),
    "the program's lines between": lambda t: noise(t).encode(),
    "prose before and behind": lambda t: ("Hello,\n\nthis is what I see:\n\n" + t + "\n\nThanks\n").encode(),
    "a Markdown fence": lambda t: ("# Title\n\n```\n" + t + "```\n\nText\n").encode(),
    "200 empty lines before": lambda t: ("\n" * 200 + t).encode(),
}

# ---- prefixes of other programs ----

FOREIGN = {
    "CI service": "2026-12-01T01:41:59.3790000Z ", "container runtime": "2026-12-01T01:41:59.379Z stderr F ",
    "compose": "trainer-0  | ", "elastic launcher": "[default0]:", "srun": "0: ", "MPI": "[1,0]<stderr>:", "mail": "> ",
    "mail in mail": "> > ", "diff": "+", "CI service before a launcher": "2026-12-01T01:41:59.3790000Z [default0]:",
    "rank": "[rank1]:", "a fence that is indented": "    ",
}


def foreign(prefix, text):
    return "\n".join(prefix + x if x or prefix not in ("    ",) else x for x in text.split("\n")[:-1]) + "\n"


# ---- prefixes of torch ----

def records(text):
    """Graphs that Dynamo printed last: (compile id, name, lines)"""
    out, seen = [], None
    for line in text.split("\n"):
        m = HEAD.match(line)
        if not m or m[5] != "graph_code":
            continue
        key = (m[2], m[3], m[4])
        if key != seen:
            out.append((m[4], []))
            seen = key
        out[-1][1].append(m[6])
    for compile_id, lines in out:
        name = next((x for x in lines if x.startswith(" =====")), "")
        if re.match(r" ===== __compiled_fn_\w+ =====$", name):
            yield compile_id, name.strip(" ="), lines


def one_line(name, lines):
    """Up to 2.1 the graph's name stands in the line of the class."""
    body = lines[2:]
    return [" %s <eval_with_key>.1 %s" % (name, body[0][body[0].index("class "):])] + body[1:]


GENERATIONS = {
    "2.3 and later": (lambda i: "V1201 02:01:38.90%d000 8725 torch/_dynamo/output_graph.py:1353] [%d/0] [__graph_code] " % (i, i), True, False),
    "2.3 and later, installed": (lambda i: "V1201 02:01:38.90%d000 8725 site-packages/torch/_dynamo/output_graph.py:13] [%d/0_1] [__graph_code] " % (i, i), True, False),
    "2.3 and later, a rank": (lambda i: "[rank0]:V1201 02:01:38.90%d000 8725 torch/_dynamo/output_graph.py:1353] [%d/0] [__graph_code] " % (i, i), True, False),
    "2.2": (lambda i: "[2023-12-14 10:02:03,45%d] [%d/0_1] torch._dynamo.output_graph.__graph_code: [DEBUG] " % (i, i), True, False),
    "2.1": (lambda i: "[2023-10-14 10:02:03,45%d] [%d/0] torch._dynamo.output_graph.__graph_code: [DEBUG] " % (i, i), True, False),
    "2.0": (lambda i: "[2023-03-16 10:02:03,45%d] torch._dynamo.output_graph: [INFO] " % i, False, True),
    "October 2022": (lambda i: "[2022-10-14 10:02:03,45%d] torchdynamo.output_graph: [Level 15] " % i, False, True),
    "September 2022": (lambda i: "torchdynamo.output_graph: [INFO] ", False, True),
    "TORCH_LOGS_FORMAT=short": (lambda i: "DEBUG:torch._dynamo.output_graph.__graph_code:", False, False),
    "pytest": (lambda i: "DEBUG    torch._dynamo.output_graph.__graph_code:output_graph.py:1346 ", False, False),
    "none": (lambda i: "", False, False),
}


def generation(how, graphs):
    prefix, every, old = how
    out = []
    for i, (_, name, lines) in enumerate(graphs):
        body = [lines[0]] + (one_line(name, lines) if old else lines[1:])
        p = prefix(i % 10)
        out += [p + x if every or k == 0 else x for k, x in enumerate(body)]
    return ("\n".join(out) + "\n").encode()


def main():
    if not os.access(PROGRAM, os.X_OK):
        print("1..0 # skip no program: make")
        return
    tests = []  # name, text as it is, in other clothes
    for log in filter(os.path.exists, LOGS):
        with open(log, encoding="utf-8", newline="") as f:
            text = f.read()
        short = "/".join(log.split("/")[-2:])
        tests += [("%s: %s" % (short, k), text.encode(), f(text)) for k, f in BYTES.items()]
        tests += [("%s: %s" % (short, k), text.encode(), foreign(p, text).encode()) for k, p in FOREIGN.items()]
        graphs = list(records(text))[:9]
        tests += [("%s: prefix %s" % (short, k), generation(GENERATIONS["2.3 and later"], graphs), generation(g, graphs))
                  for k, g in GENERATIONS.items()]
    print("1..%d" % len(tests))
    with tempfile.TemporaryDirectory() as tmp, concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        def run(test):
            name, plain, other = test
            return findings(plain, tmp, name + " a"), findings(other, tmp, name + " b")
        for i, ((name, _, _), (want, got)) in enumerate(zip(tests, pool.map(run, tests)), 1):
            good = want == got and len(want) > 0
            print("%s %d - %s" % ("ok" if good else "not ok", i, name))
            for sign, lines in () if good else (("-", set(want) - set(got)), ("+", set(got) - set(want))):
                for line in sorted(lines)[:6]:
                    print("# %s %s" % (sign, line[:400]))


main()
