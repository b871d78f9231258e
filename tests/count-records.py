#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts what files hold besides graphs as code, file by file, without knowing how graphlint reads: lines by which each
kind of record begins, behind whatever logs, containers, mail and terminals put before them.

usage: tests/count-records.py FOLDER...    prints: path, then KIND=N for each kind that is there
"""
import importlib.util
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
spec = importlib.util.spec_from_file_location("count_graphs", os.path.join(HERE, "count-graphs.py"))
graphs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(graphs)

RECORD = re.compile(r"[VIWEC]\d{4} \d\d:\d\d:\d\d\.\d{6} \d+ [^\]]*:\d+\] (\{.*\})$")
HEADS = (
    ("graph-text", re.compile(r"graph\(.*\):$")),
    ("graph-table", re.compile(r"(?:__compiled_fn_\d+ \S+ |compiled_fn_\d+ \S+ )?opcode +name +target +args +kwargs$")),
    ("bytecode", re.compile(r"(?:ORIGINAL|MODIFIED) BYTECODE(?: .* line \d+| \S+ \S+ \d+)?$")),
    ("graph-break", re.compile(r"Graph break(?: \(.*\))? in user code at |Graph break: |Unimplemented - causing graph break: ")),
    ("guards", re.compile(r"GUARDS:$")),
    ("recompile", re.compile(r"\(?'?Recompiling function ")),
    ("aot-metadata", re.compile(r"aot_config id: \d+, fw_metadata=")),
    ("output-code", re.compile(r"Output code: ?$")),
    ("repro-args", re.compile(r"def load_args\(reader\):$|args = \[\(\(")),
    ("export-signature", re.compile(r"Graph [sS]ignature:|(?:Export)?GraphSignature\(|# inputs$")),
    ("side-effects", re.compile(r"Mutating object of type ")),
    ("python-modified", re.compile(r"def __transformed_code_\d+_for_\w+\(")),
    ("python-original", re.compile(r"def (?:__resume_at_\d+_\d+|(?!__|transformed_)[a-z]\w*)\((?=.*:$)")),
    ("graph-sizes", re.compile(r"TRACED GRAPH TENSOR SIZES$")),
)
# Payloads of a trace by the kind of their record, or the name of the artifact.
PAYLOADS = (
    ("bytecode", re.compile(r".*_(?:ORIGINAL|MODIFIED)_BYTECODE$")),
    ("graph-break", re.compile(r"dynamo_graph_break_reason$")),
    ("guards", re.compile(r"dynamo_cpp_guards_str$")),
    ("recompile", re.compile(r"recompile_reasons$")),
    ("aot-metadata", re.compile(r"aot_forward_graph_fw_metadata$")),
    ("output-code", re.compile(r"inductor_output_code$")),
    ("side-effects", re.compile(r"dynamo_side_effects$")),
    ("aot-wrapper", re.compile(r"aot_autograd_runtime_wrappers$|.*_wrapper$|runtime_wrapper_orchestration$|mutation_epilogue$|backward_(?:pro|epi)logue$|"
                               r"compiled_function_(?:for|back)ward$")),
)
OLD = re.compile(r"(?:\[\d{4}-[^\]]*\] )?torch(?:dynamo|inductor)[\w.]*: \[[^\]]*\] ?")
INSTRUCTION = re.compile(r"\s*\d+ +\d+ [A-Z][A-Z_]+ ")
SKIPPED_TAGS = re.compile(r"\[__(?:trace_source|trace_call|trace_bytecode|graph_region_expansion|cudagraph_static_inputs)\]")


def of_kind(name):
    return next((kind for kind, what in PAYLOADS if what.match(name)), None)


def records_of_trace(lines):
    """The kind of each record, with the number of its payload's lines."""
    out = []
    for line in lines:
        m = RECORD.match(line)
        if m:
            meta = json.loads(m[1])
            key = next(k for k in meta if k not in ("rank", "frame_id", "frame_compile_id", "attempt", "compiled_autograd_id", "has_payload"))
            out.append([meta["artifact"]["name"] if key == "artifact" else key, 0])
        elif line.startswith("\t") and out:
            out[-1][1] += 1
    return out


def count(path):
    text = graphs.text_of(path)
    lines = text.split("\n")
    n, last = {}, ""

    def add(kind):
        n[kind] = n.get(kind, 0) + 1
    trace = records_of_trace(lines) if RECORD.match(lines[0]) else []
    for name, payload in trace:
        if name == "dynamo_start":
            add("compilation")
        if payload and of_kind(name):
            add(of_kind(name))
    if lines[0].startswith('{"string_table"'):
        n["compilation"] = text.count('"dynamo_start"')
    role = re.match(r"(.+?)_\d+\.(?:txt|json)$", os.path.basename(path))
    folder = os.path.basename(os.path.dirname(path))
    if role and re.match(r"(?:-|\d+)_(?:-|\d+)_(?:-|\d+)(?:_(?:-|\d+))?$", folder) and of_kind(role[1]):
        return {of_kind(role[1]): 1}
    if lines[0].startswith("# AOT ID: ["):
        add("output-code")
    for at, line in enumerate(lines if not trace or any(p for _, p in trace) else ()):
        if trace and not line.startswith("\t"):
            continue
        if SKIPPED_TAGS.search(line):
            continue
        plain = graphs.strip(line)[0]
        body = OLD.sub("", plain, count=1).strip()
        if body.startswith("WON'T CONVERT ") and any(INSTRUCTION.match(x) for x in lines[at + 1:at + 3]):
            add("bytecode")
        for kind, what in HEADS:
            if not what.match(body) or (trace and kind in ("graph-break", "guards", "output-code", "recompile", "side-effects")):
                continue
            if kind == "side-effects" and last == "********" or kind == "export-signature" and n.get(kind) and body[0] in "E#":
                continue # goes on with the record before it
            if kind.startswith("python-") and (plain[0] in " \t" or "__transformed_code_" not in text):
                continue
            add(kind)
        last = body or last
    graph, nested = graphs.count(path)
    n.update({"graph": graph - nested, "body": nested})
    return {k: v for k, v in n.items() if v}


def main():
    for top in sys.argv[1:]:
        for folder, subfolders, files in os.walk(top):
            subfolders.sort()
            for name in sorted(files):
                path = os.path.join(folder, name)
                if name.startswith("README") or name.endswith((".storages.json", ".links.txt")):
                    continue
                found = count(path)
                if found:
                    print("%s\t%s" % (os.path.relpath(path, os.path.dirname(os.path.abspath(top))), " ".join("%s=%d" % x for x in sorted(found.items()))))


if __name__ == "__main__":
    main()
