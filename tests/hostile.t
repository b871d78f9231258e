#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hostile dumps: deep, long, many, damaged. Each ends by itself with a status of its own, in less than a gigabyte; what
could not be read is told, and the good statement behind it is still read. Nothing is asserted on speed: a time limit
only keeps the tests from hanging.

Under sanitizers (SAN=1) the inputs are smaller and memory is not limited.
"""
import concurrent.futures
import os
import random
import resource
import subprocess
import tempfile

PROGRAM = os.environ.get("GRAPHLINT", "build/graphlint")
SAN = bool(os.environ.get("SAN")) or "/san/" in PROGRAM or "/fuzz/" in PROGRAM
MEMORY = 1 << 30
HEAD = "class GraphModule(torch.nn.Module):\n    def forward(self, x : torch.Tensor):\n"
TYPED = 'class GraphModule(torch.nn.Module):\n    def forward(self, x: "f32[4, 6][6, 1]cpu"):\n'
GOOD = "        good = x.view(-1);  x = None\n        return (good,)\n"
LOG = "V1201 02:01:38.906000 8725 torch/_dynamo/output_graph.py:1353] [%d/0] [__graph_code] "
FAULT, WHOLE, ANY = "told", "whole", "any"   # what is expected: something is told as unread, nothing is, either


def one(statement):
    """A graph with one hostile statement before a good one."""
    return HEAD + "        bad = " + statement + "\n" + GOOD


def lines(n, line, head=HEAD, tail=GOOD):
    return head + "        first = x + 1;  first = None\n" + "".join("        " + (line(i) if callable(line) else line) + "\n" for i in range(n)) + tail


def chain(n, operation, kind=""):
    body = "".join("        v%d%s = %s;  v%d = None\n" % (i, kind, operation % (i - 1), i - 1) for i in range(1, n))
    return (TYPED if kind else HEAD) + "        v0%s = x + 1;  x = None\n" % kind + body + "        return (v%d,)\n" % (n - 1)


def returned(n, value, head=HEAD, before="        base = x + 1\n"):
    made = "".join("        v%d = %s\n" % (i, value % {"i": i}) for i in range(n))
    return head + before + made + "        return (%s,)\n" % ", ".join("v%d" % i for i in range(n))


def nested(n):
    out = ""
    for d in range(n):
        p = "    " * d
        out += (p + "class b%d(torch.nn.Module):\n" % d + p + "    def forward(self, x):\n" + p + "        b%d = self.b%d\n" % (d + 1, d + 1) +
                p + "        r = torch.ops.higher_order.wrap(b%d, x)\n" % (d + 1) +
                p + "        s = torch.ops.higher_order.wrap(b%d, x);  b%d = x = None\n" % (d + 1, d + 1) + p + "        return (r, s)\n")
    return out


def bodies(n):
    calls = "".join("        b%d = self.b%d\n        r%d = torch.ops.higher_order.wrap(b%d, x);  b%d = r%d = None\n" % ((i,) * 6) for i in range(n))
    return HEAD + calls + GOOD + "".join("    class b%d(torch.nn.Module):\n        def forward(self, t):\n            return (t,)\n" % i
                                         for i in range(n))


def record(i, name, compile_id, body="y = x.view(-1);  x = None"):
    p = LOG % compile_id
    text = ["TRACED GRAPH", " ===== %s =====" % name, " f.py class GraphModule(torch.nn.Module):", "    def forward(self, x):",
            "        " + body, "        return (y,)", ""]
    return "".join(p + x + "\n" for x in text)


def noise(n, seed=1):
    return random.Random(seed).randbytes(n)


def table(cell):
    return ("TRACED GRAPH\n __compiled_fn_0 <eval_with_key>.1 opcode  name  target  args  kwargs\n---  ---  ---  ---  ---\n"
            "placeholder  x  x  ()  {}\ncall_function  bad  <built-in function add>  %s  {}\ncall_method  good  view  (x, -1)  {}\n"
            "output  output  output  ((good,),)  {}\n" % cell)


def graph_text(args):
    return ("graph():\n    %%x : [num_users=1] = placeholder[target=x]\n    %%bad : [num_users=1] = call_function[target=operator.add](args = %s, "
            "kwargs = {})\n    %%good : [num_users=1] = call_method[target=view](args = (%%x, -1), kwargs = {})\n    return (good,)\n" % args)


# name, text of size n, n, n under sanitizers, what is expected; with "good" the last output is a view of the input
CASES = [
    ("an input of NUL bytes", lambda n: b"\0" * n, 1 << 20, 1 << 16, ANY),
    ("0xff bytes", lambda n: b"\xff" * n, 1 << 20, 1 << 16, ANY),
    ("random bytes", lambda n: noise(n), 1 << 20, 1 << 16, ANY),
    ("a line of 16 MB", lambda n: "a" * n, 16 << 20, 1 << 20, ANY),
    ("a line of a log of 16 MB", lambda n: LOG % 0 + "a" * n + "\n", 16 << 20, 1 << 20, ANY),
    ("a statement of 16 MB, good", lambda n: one('torch.foo(x, "%s")' % ("b" * n)), 16 << 20, 5 << 20, FAULT),
    ("a comment of 16 MB, good", lambda n: lines(1, "# File: " + "1:1 " * n), 4 << 20, 1 << 16, WHOLE),
    ("empty lines", lambda n: "\n" * n, 4 << 20, 1 << 20, ANY),
    ("carriage returns", lambda n: "a\r" * n, 2 << 20, 1 << 16, ANY),
    ("escapes", lambda n: "\x1b[" * n, 2 << 20, 1 << 16, ANY),
    ("opening brackets before anything", lambda n: "[" * n, 2 << 20, 1 << 16, ANY),
    ("NUL bytes in statements, good", lambda n: lines(n, "bad\0 = torch.foo(x, \0)"), 15, 15, FAULT),
    ("NUL bytes in many statements", lambda n: lines(n, "bad\0 = torch.foo(x, \0)"), 2000, 200, FAULT),
    ("NUL bytes behind a header", lambda n: HEAD + "\0\n" * n, 2000, 200, FAULT),
    ("invalid UTF-8 in strings, good", lambda n: lines(n, "bad%d = torch.foo(x, '\udcff\udcfe\udcc3(')" % 0), 2000, 200, ANY),
    ("a class of 1 MB, good", lambda n: HEAD.replace("GraphModule", "G" * n) + "        first = x + 1;  first = None\n" + GOOD, 1 << 20, 1 << 17, WHOLE),
    ("an attribute of 1 MB, good", lambda n: one("self.%s;  bad = None" % ("w" * n)), 1 << 20, 1 << 17, WHOLE),
    ("a source of 1 MB, good", lambda n: lines(1, "# File: %s.py:1 in %s, code: %s" % (("f" * n,) * 3)), 1 << 20, 1 << 17, WHOLE),
    ("a graph's name of 1 MB", lambda n: record(0, "n" * n, 0), 1 << 20, 1 << 17, WHOLE),
    ("names of 1 MB", lambda n: HEAD.replace("self, x ", "self, %s " % ("a" * n)) + "        good = %s.view(-1);  %s = None\n        return (good,)\n"
     % ("a" * n, "a" * n), 1 << 20, 1 << 17, WHOLE),
    ("a target of 1 MB, good", lambda n: one("torch.%s(x)" % ".".join(["a"] * (n // 2))), 1 << 20, 1 << 17, ANY),
    ("a method's name of 1 MB, good", lambda n: one("x.%s()" % ("b" * n)), 1 << 20, 1 << 17, ANY),
    ("an annotation of 1 MB: sizes, good", lambda n: TYPED.replace("4, 6", ", ".join(["2"] * (n // 3))) + GOOD, 1 << 20, 1 << 17, WHOLE),
    ("an annotation of 1 MB: symbols, good", lambda n: TYPED.replace("4, 6", ", ".join("s%d" % i for i in range(n // 8))) + GOOD, 1 << 20, 1 << 17, WHOLE),
    ("an annotation of 1 MB: nested, good", lambda n: TYPED.replace("4, 6", "(" * (n // 5) + "s0" + "//2)" * (n // 5)) + GOOD, 1 << 20, 1 << 17, WHOLE),
    ("an annotation of 1 MB: a product, good", lambda n: TYPED.replace("4, 6", "*".join("(s%d + 1)" % i for i in range(n // 9))) + GOOD, 1 << 20, 1 << 16, WHOLE),
    ("an annotation of 1 MB: a power, good", lambda n: TYPED.replace("4, 6", "(s0 + s1 + s2 + 1)**%d" % n) + GOOD, 1 << 20, 1 << 16, WHOLE),
    ("an annotation that never closes, good", lambda n: TYPED.replace("cpu", "[" * n) + GOOD, 1 << 20, 1 << 17, ANY),
    ("numbers of 1 MB, good", lambda n: TYPED.replace("4, 6", "9" * n) + "        bad = torch.foo(x, %s, 1e%s, -%s)\n" % (("9" * n,) * 3) + GOOD,
     1 << 20, 1 << 17, ANY),
    ("sizes beyond 64 bits, good", lambda n: TYPED.replace("4, 6", "9223372036854775807, 9223372036854775807").replace("6, 1", "%d, %d" % (1 << 63, 1 << 62)) +
     lines(n, "bad%d = x.reshape(9223372036854775807, -9223372036854775808, -1)" % 0, head="") , 100, 10, ANY),
    ("stairs of indentation", lambda n: "".join(" " * i + "class A(torch.nn.Module):\n" for i in range(n)), 3000, 500, ANY),
    ("strings that never close, good", lambda n: lines(n, lambda i: 'v%d = foo("abc, x' % i), 20000, 1000, FAULT),
    ("brackets that never close, good", lambda n: lines(n, lambda i: "v%d = foo(x, [" % i), 20000, 1000, FAULT),
    ("triple quotes, good", lambda n: lines(n, '"""'), 15, 15, FAULT),
    ("many triple quotes", lambda n: lines(n, '"""'), 20001, 1001, FAULT),
    ("def lines", lambda n: "def forward(\n" * n, 100000, 5000, ANY),
    ("returns that never close", lambda n: HEAD + "        return (\n" * n, 100000, 5000, FAULT),
    ("names that nothing makes, good", lambda n: lines(n, lambda i: "v%d = y%d + z%d;  v%d = None" % (i, i, i, i)), 20000, 1000, FAULT),
    ("names that make themselves, good", lambda n: lines(n, "a = a.view(-1)"), 20000, 1000, FAULT),
    ("names in a circle, good", lambda n: lines(n, lambda i: "a%d = a%d.view(-1)" % (i, (i + 1) % n)), 20000, 1000, FAULT),
    ("a graph of 200,000 nodes", lambda n: chain(n, "v%d + 1"), 200000, 10000, WHOLE),
    ("a graph of 200,000 nodes with types", lambda n: chain(n, "v%d + 1", ': "f32[4, 6][6, 1]cpu"'), 200000, 10000, WHOLE),
    ("100,000 outputs of one storage", lambda n: returned(n, "base.view(-1)"), 100000, 5000, ANY),
    ("100,000 outputs of one input", lambda n: returned(n, "x.view(-1)"), 100000, 5000, ANY),
    ("100,000 outputs that may share", lambda n: returned(n, "x.reshape(-1)"), 100000, 5000, ANY),
    ("one output 100,000 times", lambda n: HEAD + "        v = x + 1;  x = None\n        return (%s,)\n" % ", ".join(["v"] * n), 100000, 5000, WHOLE),
    ("100,000 conditional operators in a chain", lambda n: chain(n, "v%d.contiguous()"), 100000, 5000, WHOLE),
    ("100,000 conditional operators in a chain, typed", lambda n: chain(n, "v%d.reshape(4, 6)", ': "f32[4, 6][6, 1]cpu"'), 100000, 5000, WHOLE),
    ("100,000 unknown operators in a chain", lambda n: chain(n, "torch.ops.my.op(v%d)"), 50000, 3000, WHOLE),
    ("100,000 writes, good", lambda n: lines(n, "w = x.add_(1);  w = None"), 100000, 5000, WHOLE),
    ("100,000 views that are written, good", lambda n: lines(n, lambda i: "v%d = x.view(-1)\n        w%d = v%d.add_(1);  v%d = w%d = None" % ((i,) * 5)),
     100000, 5000, WHOLE),
    ("100,000 changes of one layout, good", lambda n: lines(n, 'w: "f32[4, 6][6, 1]cpu" = x.t_();  w = None', head=TYPED), 100000, 5000, WHOLE),
    ("100,000 sizes that grow", lambda n: chain(n, "v%d.unsqueeze(0)", ': "f32[4, 6][6, 1]cpu"'), 50000, 3000, ANY),
    ("20,000 inputs", lambda n: HEAD.replace("x :", "%s, x :" % ", ".join("x%d" % i for i in range(n))) + GOOD, 20000, 2000, WHOLE),
    ("20,000 arguments of one call, good", lambda n: HEAD.replace("x :", "%s, x :" % ", ".join("x%d" % i for i in range(n))) +
     "        c = torch.ops.my.op([%s])\n" % ", ".join("x%d" % i for i in range(n)) + GOOD, 20000, 2000, ANY),
    ("20,000 pieces of a chunk", lambda n: returned(n, "c[%(i)d]", before="        c = x.chunk(%d);  x = None\n" % n), 20000, 2000, ANY),
    ("20,000 nested bodies, good", bodies, 20000, 1000, WHOLE),
    ("bodies that call the next one twice", nested, 60, 60, ANY),
    ("bodies deeper than any limit", nested, 1000, 200, ANY),
    ("a body with its own name", lambda n: HEAD + "        a = self.a\n        r = torch.ops.higher_order.wrap(a, x)\n" + GOOD +
     ("    class a(torch.nn.Module):\n        def forward(self, x):\n            a = self.a\n            r = torch.ops.higher_order.wrap(a, x);  a = x = None\n"
      "            return (r,)\n") * n, 100, 20, ANY),
    ("20,000 records", lambda n: "".join(record(i, "__compiled_fn_%d" % i, i) for i in range(n)), 20000, 1000, WHOLE),
    ("20,000 records of one name", lambda n: "".join(record(i, "__compiled_fn_1", 0) for i in range(n)), 20000, 1000, WHOLE),
    ("20,000 compiles of one frame", lambda n: "".join(record(i, "__compiled_fn_%d" % i, 0).replace("[0/0]", "[0/%d]" % i) for i in range(n)), 20000, 1000, WHOLE),
    ("2,000 ranks", lambda n: "".join(record(i, "__compiled_fn_1", 0).replace("V1201", "[rank%d]:V1201" % i) for i in range(n)), 2000, 200, WHOLE),
    ("ranks line by line", lambda n: "".join((LOG % 0).replace("V1201", "[rank%d]:V1201" % (i % 50)) + "    y%d = x.view(-1)\n" % i for i in range(n)), 50000, 3000, ANY),
    ("AOT metadata that nests", lambda n: LOG.replace("graph_code", "aot_graphs") % 0 + "aot_config id: 0, fw_metadata=ViewAndMutationMeta(" + "a=B(" * n + ")" * n + ")\n",
     1 << 20, 1 << 16, ANY),
    ("a module tree that nests", lambda n: "GraphModule(\n" + "".join("  " * (i + 1) + "(m%d): A(\n" % i for i in range(n)) +
     "".join("  " * (i + 1) + ")\n" for i in range(n - 1, -1, -1)) + ")\n\n\n\n" + GOOD.replace("        ", "    ").join(["def forward(self, x):\n", ""]), 2000, 300, ANY),
    ("a table of 100,000 rows", lambda n: table("(x, 1)").replace("call_function  bad", "call_function  bad  <built-in function add>  (x, 1)  {}\n" * n +
                                                                   "call_function  bad"), 100000, 5000, ANY),
]
for _name, _open, _close in (("parentheses", "(", ")"), ("square brackets", "[", "]"), ("curly brackets", "{", "}")):
    CASES += [
        ("nested %s, good" % _name, lambda n, a=_open, b=_close: one("torch.foo(x, " + a * n + b * n + ")"), 1 << 20, 1 << 16, FAULT),
        ("open %s, good" % _name, lambda n, a=_open: one("torch.foo(x, " + a * n), 1 << 20, 1 << 16, FAULT),
        ("nested %s in a return" % _name, lambda n, a=_open, b=_close: HEAD + "        return " + a * n + "x" + b * n + "\n", 1 << 20, 1 << 16, FAULT),
        ("nested %s in a signature, good" % _name, lambda n, a=_open, b=_close: HEAD.replace("x :", "y = " + a * n + b * n + ", x :") + GOOD, 1 << 20, 1 << 16, ANY),
        ("nested %s in a table, good" % _name, lambda n, a=_open, b=_close: table("(x, " + a * n + b * n + ")"), 1 << 20, 1 << 16, FAULT),
        ("nested %s in graph(), good" % _name, lambda n, a=_open, b=_close: graph_text("(%x, " + a * n + b * n + ")"), 1 << 20, 1 << 16, FAULT),
    ]
for _name, _before, _after in (("calls", "f(", ")"), ("minus signs", "-", ""), ("tildes", "~", ""), ("not", "not ", ""), ("lambdas", "lambda: ", ""),
                               ("subscripts", "x[", "]"), ("conditions", "x if x else ", ""), ("stars", "*", ""), ("powers", "x**", ""), ("sums", "x+", ""),
                               ("attributes", "", ".a"), ("indices", "", "[0]"), ("strings", '"" ', ""), ("comparisons", "x<", "")):
    CASES.append(("a chain of %s, good" % _name, lambda n, a=_before, b=_after: one(a * n + "x" + b * n), 200000, 10000, FAULT))


def limits():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def run(path, *args):
    env = dict(os.environ, ASAN_OPTIONS="exitcode=99")
    try:
        r = subprocess.run([PROGRAM, "--fail-on=never", "--contract=fresh", *args, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           env=env, timeout=600 if SAN else 60, preexec_fn=None if SAN else limits)
    except subprocess.TimeoutExpired:
        return None, b"", b"did not end"
    return r.returncode, r.stdout, r.stderr


def check(number, case, tmp):
    name, make, n, small, want = case
    text = make(small if SAN else n)
    path = os.path.join(tmp, "%d.txt" % number)
    with open(path, "wb") as f:
        f.write(text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape"))
    faults = []
    status, out, err = run(path)
    if status not in (0, 3):
        faults.append("status %s: %s" % (status, err[-300:].decode("utf-8", "replace").strip()))
    elif (want == FAULT and status != 3) or (want == WHOLE and status != 0):
        faults.append("status %d: %s" % (status, err[-300:].decode("utf-8", "replace").strip()))
    if status == 3 and b"incomplete: " not in err and b"no graph" not in err:
        faults.append("nothing is said on standard error")
    if max(map(len, out.split(b"\n"))) > 4096:
        faults.append("a line of the report has %d bytes" % max(map(len, out.split(b"\n"))))
    if name.endswith(", good"):
        status, out, err = run(path, "--dump=alias")
        if b" good: view_of_input of " not in out:
            faults.append("the good statement: %s" % (out[-200:] or err[-200:]))
    os.unlink(path)
    return faults


def main():
    if not os.access(PROGRAM, os.X_OK):
        print("1..0 # skip no program: make")
        return
    print("1..%d" % len(CASES))
    with tempfile.TemporaryDirectory() as tmp, concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        jobs = [pool.submit(check, i, case, tmp) for i, case in enumerate(CASES, 1)]
        for i, (case, job) in enumerate(zip(CASES, jobs), 1):
            faults = job.result()
            print("%s %d - %s" % ("not ok" if faults else "ok", i, case[0]), flush=True)
            for fault in faults:
                print("# " + fault[:500].replace("\n", " "))


main()
