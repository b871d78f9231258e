#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the graphs that are printed as forward code, file by file, without knowing how graphlint reads.

A graph is a `def forward(` that starts its line, but for what logs, containers, mail and terminals put before it, and whose
body is what torch.fx prints: flat statements that delete names after their last use, and a return of names. A forward
that somebody wrote has calls in its return, control flow, or no deletions. A nested body is one whose def stands deeper
than that of a graph above it, with nothing less deep between them.

usage: tests/count-graphs.py FOLDER    prints: path, graphs, nested bodies among them; files without a graph are left out
"""
import gzip
import os
import re
import sys

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
# What may stand before the text of a line: a torch record of any generation, and what other programs add. All of it ends
# in one of these; what follows is indentation.
PREFIX = re.compile(r"(?:.*?\] (?:\[__\w+\] ?|(?:[\w.]+): \[[A-Z]+\] ?)|.*?\.py:\d+\] (?:\[\S+\] )*|\t|> ?|\+|.*(?: \| |: |Z )(?=\s))?")
DEF = re.compile(r"def forward\(\s*(?:self\b|$)")
CONTROL = re.compile(r"(?:if|elif|else|for|while|with|try|async|raise|yield|lambda)\b")
CLASS = re.compile(r"(?:^|\s)class \S+\(torch\.nn\.Module\):\s*$")
DELETION = re.compile(r"(?:^|[ ;])\w+ = None\b")
UNFLATTEN = re.compile(r"return \S*(?:unflatten|_out_shuffle_graph)\(")
RETURN = re.compile(r"return(?: (?:\w+|[(\[{].*))?$")


def text_of(path):
    with open(path, "rb") as f:
        data = f.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8-sig", "replace")


def strip(line):
    """A line without colours, carriage returns and prefixes, and whether a record of a log holds it."""
    line = COLOUR.sub("", line).rstrip("\r").split("\r")[-1].replace("\xa0", " ")
    end = PREFIX.match(line).end() if "] " in line or line[:1] in "\t>+" else 0
    return line[end:], end > 1


def printed_by_fx(lines, at, indent):
    """Whether the forward that begins at lines[at] is generated code. What is cut off is judged by what is there."""
    assigns = deletes = False
    above = CLASS.search(lines[at - 1][0]) is not None if at else False
    for line, logged in lines[at + 1:]:
        body = line.strip()
        if not body or body[0] in "#)" or logged != lines[at][1]:
            continue
        if DEF.match(body) or CLASS.search(body) or body.startswith("====="):
            break
        if len(line) - len(line.lstrip()) <= indent and indent and not body.startswith(("return", "self,")):
            break
        if CONTROL.match(body):
            return False
        deletes = deletes or bool(DELETION.search(body))
        assigns = assigns or re.match(r"[\w, ]+(?:: ?\S.*?)? = ", body) is not None
        if body.startswith("return"):
            if not UNFLATTEN.match(body) and (not RETURN.match(body) or re.search(r"\w\(", body)):
                return False
            return deletes or not assigns or body.endswith(",)") or body == "return ("
    return deletes or above


def count(path):
    lines = [strip(x) for x in text_of(path).split("\n")]
    graphs = nested = 0
    outer = 0  # indentation of the def of the graph that is open
    for i, (line, _) in enumerate(lines):
        body = line.lstrip()
        indent = len(line) - len(body)
        if body and indent < outer:
            outer = 0
        if DEF.match(body) and printed_by_fx(lines, i, indent):
            graphs += 1
            if outer and indent > outer:
                nested += 1
            else:
                outer = indent
    return graphs, nested


def main():
    top = sys.argv[1]
    for folder, subfolders, files in os.walk(top):
        subfolders.sort()
        for name in sorted(files):
            path = os.path.join(folder, name)
            graphs, nested = count(path)
            if graphs:
                print("%s\t%d\t%d" % (os.path.relpath(path, top), graphs, nested))


if __name__ == "__main__":
    main()
