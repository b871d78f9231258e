#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a terminal gets and a pipe does not: links, colour, a line of progress; and what is left when somebody presses Ctrl-C."""
import json, os, pty, re, signal, subprocess, sys, tempfile

os.chdir(os.path.dirname(os.path.abspath(__file__)) + "/..")
program = os.path.abspath(os.environ.get("GRAPHLINT", "build/graphlint"))
if not os.access(program, os.X_OK):
    print("1..0 # skip no program: make")
    sys.exit()
base = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "NO_TERM_HYPERLINKS", "COLUMNS")}
base.update(LC_ALL="C.UTF-8", TERM="xterm")
n = 0


def ok(good, name, why=""):
    global n
    n += 1
    print(f"{'ok' if good else 'not ok'} {n} - {name}")
    if not good:
        print("# " + repr(why)[:600])


def on_terminal(args, env=(), cwd=None, both=True):
    """Runs with standard output (and error) on a terminal; returns what it got."""
    master, slave = pty.openpty()
    p = subprocess.Popen([program, *args], stdin=subprocess.DEVNULL, stdout=slave, stderr=slave if both else subprocess.DEVNULL,
                         env={**base, **dict(env)}, cwd=cwd)
    os.close(slave)
    got = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:
            break
        if not part:
            break
        got += part
    p.wait()
    os.close(master)
    return got.decode("utf-8", "replace")


with tempfile.TemporaryDirectory() as tmp:
    with open(tmp + "/my dump.txt", "w") as f:
        f.write("def forward(self, x : torch.Tensor):\n    view = x.view(-1);  x = None\n    return (view,)\n")
    text = on_terminal(["my dump.txt"], cwd=tmp)
    ok("\x1b[1;33mwarning[GL101]" in text, "colour", text)
    link = re.search(r"\x1b\]8;;(file://[^\x1b]*)\x1b\\my dump.txt:2:5\x1b\]8;;\x1b\\", text)
    ok(link and link.group(1).endswith("/my%20dump.txt") and " " not in link.group(1), "places are links", text)
    ok("\x1b]8" not in on_terminal(["my dump.txt"], [("NO_TERM_HYPERLINKS", "1")], tmp), "NO_TERM_HYPERLINKS")
    ok("\x1b" not in on_terminal(["my dump.txt"], [("NO_COLOR", "1")], tmp), "NO_COLOR: no links either")
    ok("\x1b" not in on_terminal(["my dump.txt"], [("TERM", "dumb")], tmp), "a terminal that can nothing")
    ok("\x1b" not in on_terminal(["--color=never", "my dump.txt"], cwd=tmp), "--color=never")

    # Long work: a line of progress, on a terminal alone, and it is gone at the end.
    big = tmp + "/big.txt"
    with open(big, "w") as f:
        for i in range(12000):
            f.write(f"def forward(self, x{i} : torch.Tensor):\n" + "".join(f"    a{k} = torch.sin(x{i});\n" for k in range(30)) +
                    f"    view = x{i}.view(-1, {i})\n    return (view,)\n\n")
    text = on_terminal(["--format=concise", big])
    lines = re.findall(r"\r\x1b\[K(graphlint: [^\r\x1b]*)", text)
    ok(lines and any("MB" in l for l in lines), "a line of progress", text[:300])
    ok(any(re.search(r"\d+ of \d+ (files|parts|graphs)", l) for l in lines), "it says how far it is", lines[:5])
    ok(not lines or re.search(r"\r\x1b\[K(?!graphlint)", text), "it is taken away", text[-300:])
    ok("\r" not in on_terminal(["--format=concise", "--quiet", big]).replace("\r\n", ""), "--quiet: none")
    r = subprocess.run([program, "--format=concise", big], capture_output=True, env=base)
    ok(b"\r" not in r.stderr and b"\x1b" not in r.stdout + r.stderr, "none in a pipe", r.stderr)
    whole = subprocess.run([program, "--format=json", big], capture_output=True, env=base).stdout

    # Ctrl-C at many moments: the old file, the new one, or none; nothing beside it.
    out = tmp + "/out/report.json"
    os.mkdir(tmp + "/out")
    seen, faults = set(), []
    for moment in range(12):
        if moment % 2:
            with open(out, "w") as f:
                f.write("old")
        elif os.path.exists(out):
            os.unlink(out)
        p = subprocess.Popen([program, "--format=concise", "--output=json:" + out, big], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=base)
        try:
            p.wait(timeout=0.2 * moment)
        except subprocess.TimeoutExpired:
            p.send_signal(signal.SIGINT if moment % 3 else signal.SIGTERM)
        p.wait()
        left = os.listdir(tmp + "/out")
        text = open(out, "rb").read() if os.path.exists(out) else None
        state = "none" if text is None else "old" if text == b"old" else "whole" if text == whole else "half"
        seen.add(state)
        if state == "half" or left not in ([], ["report.json"]):
            faults.append((moment, state, left))
    ok(not faults, "Ctrl-C leaves no half-written file", faults)
    ok("old" in seen or "none" in seen, "some runs were broken off", seen)

    # Statistics and what was read, on standard error; the report stays as it is.
    plain = subprocess.run([program, "my dump.txt"], capture_output=True, cwd=tmp, env=base)
    r = subprocess.run([program, "--statistics", "my dump.txt"], capture_output=True, cwd=tmp, env=base)
    ok(r.stdout == plain.stdout and b"findings by rule:\n  GL101" in r.stderr and b"verdict" in r.stderr, "--statistics", r.stderr)
    r = subprocess.run([program, "-v", "my dump.txt"], capture_output=True, cwd=tmp, env=base)
    ok(r.stdout == plain.stdout and re.search(rb"my dump.txt +0.0 MB, 3 lines, 1 graph, 0 listings", r.stderr), "--verbose", r.stderr)
print(f"1..{n}")
