#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The language server, as TAP: lifecycle, answers, edits, damage. Real editors are tested in lsp-clients.t."""
import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, "tests")
from lsp_client import CAPABILITIES, Client, Ended  # noqa: E402

PROGRAM = os.environ.get("GRAPHLINT", "build/graphlint")
SAMPLE = "samples/bigbird/bigbird.aot_eager.log"
URI = "file:///srv/dump.log"
tests = 0


def ok(good, what, why=""):
    global tests
    tests += 1
    print("%s %d - %s" % ("ok" if good else "not ok", tests, what))
    if not good:
        for line in str(why)[:2000].splitlines():
            print("# " + line)


def place(lines, marker, within="", after=0):
    """Line and column of a marker in the first line that has both."""
    for number, line in enumerate(lines):
        if number >= after and marker in line and within in line:
            return number, line.index(marker)
    raise KeyError(marker)


def units(text, encoding):
    """Length of a text as the client counts it."""
    return {"utf-8": len(text.encode()), "utf-16": len(text.encode("utf-16-le")) // 2, "utf-32": len(text)}[encoding]


def lifecycle():
    c = Client(PROGRAM, start=False)
    ok(c.request("textDocument/hover", {})["error"]["code"] == -32002, "before initialize every request is refused")
    c.notify("textDocument/didOpen", {"textDocument": {"uri": URI, "languageId": "log", "version": 1, "text": "x"}})
    r = c.request("initialize", {"capabilities": {}})
    ok(r["result"]["capabilities"]["positionEncoding"] == "utf-16", "utf-16 where the client offers nothing", r)
    ok(c.request("initialize", {"capabilities": {}})["error"]["code"] == -32600, "initialize comes once")
    ok(c.request("no/such", {})["error"]["code"] == -32601, "an unknown method is an error")
    c.notify("no/such", {})
    ok(c.request("shutdown", None)["result"] is None, "shutdown is answered")
    ok(c.request("textDocument/hover", {})["error"]["code"] == -32600, "after shutdown every request is refused")
    c.notify("exit", None)
    ok(c.process.wait(timeout=60) == 0, "exit after shutdown: status 0")
    c = Client(PROGRAM)
    c.notify("exit", None)
    ok(c.process.wait(timeout=60) == 1, "exit without shutdown: status 1")
    c = Client(PROGRAM)
    c.process.stdin.close()
    ok(c.process.wait(timeout=60) == 1, "the input ends: status 1")


def answers():
    text = open(SAMPLE).read()
    lines = text.split("\n")
    c = Client(PROGRAM, options={"contract": "fresh"})
    c.open(URI, text)
    found = c.diagnostics(URI, 1)
    errors = [d for d in found if d["severity"] == 1 and d["code"] == "GL101"]
    ok(len(errors) == 1, "the founding case is an error", found)
    d = errors[0]
    ok("view" in lines[d["range"]["start"]["line"]], "at the line that makes the alias", d["range"])
    ok(len(d["relatedInformation"]) >= 4 and any("write" in r["message"] for r in d["relatedInformation"]),
       "with the way to the write", d["relatedInformation"])
    ok(d.get("codeDescription", {}).get("href", "").startswith("https://") and d["data"]["graph"] == "__compiled_fn_6",
       "and data for actions", d)

    line, column = place(lines, ".view(1, 64", "contiguous.")
    hover = c.at("hover", URI, line, column + 1)["contents"]["value"]
    ok("`view`" in hover and "view" in hover, "hover of an operator is its facts", hover)
    line, column = place(lines, "ctx:", "f32", place(lines, "===== __compiled_fn_6")[0])
    hover = c.at("hover", URI, line, column)["contents"]["value"]
    ok("is in the memory of" in hover and "output 0" in hover, "hover of a value: type, memory, boundary", hover)
    header = place(lines, "===== __compiled_fn_6 =====")[0]
    line, column = place(lines, "__compiled_fn_6", "LOAD_GLOBAL")
    where = c.at("definition", URI, line, column + 4)
    ok(where and where[0]["range"]["start"]["line"] == header, "from the bytecode to the graph", where)
    line, column = place(lines, "__resume_at_", "LOAD_GLOBAL")
    where = c.at("definition", URI, line, column + 4)
    ok(where and "torch_dynamo_resume" in lines[where[0]["range"]["start"]["line"]], "from a resume call to its frame", where)
    line, column = place(lines, "__compiled_fn_6", "LOAD_GLOBAL")
    item = c.at("prepareCallHierarchy", URI, line, column)
    calls = c.request("callHierarchy/incomingCalls", {"item": item[0]})["result"]
    ok(calls and calls[0]["from"]["name"].startswith("torch_dynamo_resume_in_bigbird"), "who calls a graph", calls)
    out = c.request("callHierarchy/outgoingCalls", {"item": calls[0]["from"]})["result"]
    ok(any(o["to"]["name"] == "__compiled_fn_6" for o in out), "whom a frame calls", out)
    symbols = c.request("textDocument/documentSymbol", {"textDocument": {"uri": URI}})["result"]
    ok(any(s["name"] == "__compiled_fn_6" and s["children"] for s in symbols), "symbols of the document")
    found = c.request("workspace/symbol", {"query": "compfn6"})["result"]
    ok(any(s["name"] == "__compiled_fn_6" for s in found), "symbols by the letters of a query", found)
    folds = c.request("textDocument/foldingRange", {"textDocument": {"uri": URI}})["result"]
    ok(any(f["startLine"] == header for f in folds), "a graph folds", folds)
    everything = {"start": {"line": 0, "character": 0}, "end": {"line": len(lines), "character": 0}}
    hints = c.request("textDocument/inlayHint", {"textDocument": {"uri": URI}, "range": everything})["result"]
    ok(any(h["label"] == "= input 0's memory" for h in hints) and any(h["label"].startswith("writes ") for h in hints),
       "hints tell memory and writes", hints)
    none = c.request("textDocument/inlayHint", {"textDocument": {"uri": URI}, "range": {
        "start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 0}}})["result"]
    ok(none == [], "and only in the range that was asked for", none)
    actions = c.request("textDocument/codeAction", {"textDocument": {"uri": URI}, "range": d["range"], "context": {
        "diagnostics": [d]}})["result"]
    edit = [a for a in actions if "edit" in a][0]["edit"]["changes"][URI][0]
    ok(edit["newText"].strip() == "# graphlint: ignore[GL101]", "a comment that ignores the finding", actions)
    told = c.request("workspace/executeCommand", {"command": "graphlint.explain", "arguments": ["GL101"]})["result"]
    ok("output-aliases-input" in told, "the help of a rule", told)
    ok("error" in c.request("workspace/executeCommand", {"command": "rm", "arguments": []}), "no other commands")
    line, column = place(lines, "__compiled_fn_6", "LOAD_GLOBAL")
    uses = c.at("references", URI, header, lines[header].index("__compiled") + 2, context={"includeDeclaration": True})
    ok(any(0 <= u["range"]["start"]["line"] - line < 8 for u in uses), "uses of a graph are its calls", uses)
    ok(c.stop() == 0, "and it ends")


def sources():
    text = open(SAMPLE).read()
    program = "\n" * 14 + "    ctx = h.contiguous().view(1, 64, -1)\n"
    c = Client(PROGRAM, options={"contract": "fresh"})
    c.open("file:///home/me/scenarios.py", program, language="python")
    c.open(URI, text)
    found = c.diagnostics("file:///home/me/scenarios.py", 1)
    ok(any(d["code"] == "GL101" and d["severity"] == 1 for d in found) and found[0]["range"]["start"] == {"line": 14, "character": 4},
       "a finding stands on the user's own line too", found)
    ok(found and found[0]["relatedInformation"][0]["location"]["uri"] == URI, "and leads to the dump", found)
    c.change("file:///home/me/scenarios.py", 2, [{"text": program.replace("ctx", "cty")}])
    c.change(URI, 2, [{"text": text + "\n"}])
    c.diagnostics(URI, 2)
    ok(c.diagnostics("file:///home/me/scenarios.py", 2) == [], "not on a line that says something else")
    c.stop()


def on_disk():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "dumps", "a.log")
        os.mkdir(os.path.dirname(path))
        with open(path, "w") as f:
            f.write("nothing\n")
        c = Client(PROGRAM, options={"contract": "fresh", "paths": ["dumps"]}, root="file://" + folder)
        while c.stats()["busy"]:
            pass
        ok(c.request("workspace/symbol", {"query": "compiled"})["result"] == [], "a folder without graphs")
        with open(path, "w") as f:
            f.write(open(SAMPLE).read())
        c.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": "file://" + path, "type": 2}]})
        while c.stats()["busy"]:
            pass
        found = c.request("workspace/symbol", {"query": "compiled"})["result"]
        ok(found and found[0]["location"]["uri"] == "file://" + path, "a dump that was captured anew is read", found)
        c.open("file://" + folder + "/b.log", open(SAMPLE).read())
        before = c.diagnostics("file://" + folder + "/b.log", 1)
        with open(os.path.join(folder, ".graphlint.yaml"), "w") as f:
            f.write("baseline: known.json\nrules:\n  GL103: off\n")
        with open(os.path.join(folder, "known.json"), "w") as f:
            f.write('{"tool": "graphlint", "baseline": 1, "contract": "fresh", "findings": []}')
        c.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": "file://" + folder + "/.graphlint.yaml", "type": 1}]})
        after = c.diagnostics("file://" + folder + "/b.log", 1)
        ok({d["code"] for d in before} - {d["code"] for d in after} == {"GL103"}, "a configuration that changes is read again", after)
        d = [d for d in after if d["code"] == "GL101"][0]
        actions = c.request("textDocument/codeAction", {"textDocument": {"uri": "file://" + folder + "/b.log"},
                                                         "range": d["range"], "context": {"diagnostics": [d]}})["result"]
        off = [a for a in actions if "documentChanges" in a.get("edit", {})][0]["edit"]["documentChanges"][0]["edits"][0]
        ok(off["newText"] == "  GL101: off\n" and off["range"]["start"]["line"] == 2, "an action turns a rule off there", actions)
        add = [a["command"] for a in actions if a.get("command", {}).get("command") == "graphlint.baseline"]
        c.request("workspace/executeCommand", {"command": add[0]["command"], "arguments": add[0]["arguments"]})
        after = c.diagnostics("file://" + folder + "/b.log", 1)
        ok(not any(d["code"] == "GL101" for d in after), "another puts a finding into the baseline", after)
        c.open("file://" + path, "text in the editor\n")
        ok(c.diagnostics("file://" + path, 1) == [], "text in the editor wins over the file")
        c.notify("workspace/didChangeConfiguration", {"settings": {"graphlint": {"contract": "nonsense"}}})
        said = c.until(lambda m: m["method"] == "window/showMessage")["params"]["message"]
        ok("nonsense" in said, "settings that cannot be understood are told", said)
        c.stop()


def pull():
    capabilities = json.loads(json.dumps(CAPABILITIES))
    capabilities["textDocument"]["diagnostic"] = {}
    c = Client(PROGRAM, capabilities, {"contract": "fresh"})
    c.open(URI, open(SAMPLE).read())
    full = c.request("textDocument/diagnostic", {"textDocument": {"uri": URI}})["result"]
    ok(full["kind"] == "full" and any(d["code"] == "GL101" for d in full["items"]), "a pull waits for the analysis", full)
    same = c.request("textDocument/diagnostic", {"textDocument": {"uri": URI}, "previousResultId": full["resultId"]})["result"]
    ok(same["kind"] == "unchanged", "nothing is sent twice", same)
    all_ = c.request("workspace/diagnostic", {"previousResultIds": []})["result"]["items"]
    ok(len(all_) == 1 and all_[0]["uri"] == URI, "the whole workspace", all_)
    c.change(URI, 2, [{"text": open(SAMPLE).read() * 40}])
    number = c.begin("textDocument/diagnostic", {"textDocument": {"uri": URI}})
    c.notify("$/cancelRequest", {"id": number})
    code = c.answer(number).get("error", {}).get("code")
    ok(code == -32800, "a pull that waits can be cancelled", code)
    c.stop()


def fresh(text, contract="fresh"):
    """What a run of the command line says of the same text: places in code points."""
    out = subprocess.run([PROGRAM, "--format=json", "--fail-on=never", "--contract=" + contract, "--stdin-filename=x", "-"],
                         input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    shown = [f for f in json.loads(out.stdout)["findings"] if f["severity"] != "note" and not f["suppressed"]]
    return sorted((f["rule"], f["line"] - 1, f["column"] - 1, f["endLine"] - 1, f["endColumn"] - 1) for f in shown)


def seen(found, text, encoding):
    """Diagnostics in the same form."""
    lines = text.split("\n")
    result = []
    for d in found:
        row = [d["code"]]
        for end in ("start", "end"):
            p = d["range"][end]
            line = lines[p["line"]]
            column = next(i for i in range(len(line) + 1) if units(line[:i], encoding) >= p["character"])
            row += [p["line"], column]
        result.append(tuple(row))
    return sorted(result)


PIECES = ["", "x", "\n", "\t", "\U0001f600", "\u00e4\n", "# \U0001f600 \u00e9\n", "    ", ".clone()", "def forward(self, a):\n    return (a,)\n",
          "\r\n", "]", "\"", "V1201 ", "return (", "LOAD_FAST 0 (x)\n"]


def edit_session(encoding, edits):
    rng = random.Random(encoding)
    text = open("samples/bigbird/hazard.graph_code.log").read() + "\n" + open("samples/module/mutation.readable.txt").read()
    capabilities = json.loads(json.dumps(CAPABILITIES))
    capabilities["general"] = {"positionEncodings": [encoding]}
    c = Client(PROGRAM, capabilities, {"contract": "fresh"})
    ok(c.server["capabilities"]["positionEncoding"] == encoding, "%s is agreed on" % encoding)
    c.open(URI, text)
    bad, most = None, 0
    for version in range(1, edits + 1):
        if version > 1:
            changes = []
            for _ in range(rng.choice([1, 1, 1, 2, 3])):
                lines = text.split("\n")
                at = rng.randrange(len(text) + 1)
                end = min(len(text), at + rng.choice([0, 0, 0, 1, 3, 30]))
                if "\r" in text[max(0, at - 1):end + 1]:
                    continue
                spots = []
                for offset in (at, end):
                    before = text[:offset].split("\n")
                    spots.append({"line": len(before) - 1, "character": units(before[-1], encoding)})
                piece = rng.choice(PIECES)
                text = text[:at] + piece + text[end:]
                changes.append({"range": {"start": spots[0], "end": spots[1]}, "text": piece})
            c.change(URI, version, changes)
        got, want = seen(c.diagnostics(URI, version), text, encoding), fresh(text)
        if version > 1:
            most = max(most, c.stats()["rereadArtifacts"])
        if got != want and bad is None:
            bad = "version %d: %s, not %s" % (version, got, want)
    ok(bad is None, "%d edits, %s: after each the diagnostics of a fresh run" % (edits, encoding), bad)
    c.stop()


def one_line():
    text = open(SAMPLE).read()
    lines = text.split("\n")
    c = Client(PROGRAM, options={"contract": "fresh"})
    c.open(URI, text)
    c.diagnostics(URI, 1)
    line, column = place(lines, ".contiguous()", "_ph.contiguous() " if "_ph.contiguous() " in text else "= l_h_.contiguous()")
    c.change(URI, 2, [{"range": {"start": {"line": line, "character": column}, "end": {
        "line": line, "character": column + len(".contiguous()")}}, "text": ".clone()"}])
    c.diagnostics(URI, 2)
    ok(c.stats()["rereadArtifacts"] == 1, "a change of one line reads one artifact again", c.stats())
    c.change(URI, 3, [{"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}, "text": "note\n"}])
    c.diagnostics(URI, 3)
    ok(c.stats()["rereadArtifacts"] == 0, "a line above everything: none", c.stats())
    c.stop()


def damage():
    frame = b"Content-Length: %d\r\n\r\n%s"
    bodies = [b"", b"{", b"[]", b"3", b"null", b"\xff\xfe", b'{"jsonrpc":"2.0"}', b'{"id":{},"method":"x"}', b'{"id":1,"method":3}',
              b'{"id":1.5,"method":"shutdown"}', b'{"id":9,"method":"textDocument/hover","params":7}', b"[" * 100000,
              b'{"method":"textDocument/didOpen","params":{"textDocument":7}}', b'{"method":"textDocument/didChange","params":[]}',
              b'{"method":"textDocument/didOpen","params":{"textDocument":{"uri":"","text":3}}}',
              b'{"id":8,"method":"textDocument/hover","params":{"textDocument":{"uri":"file:///srv/dump.log"},"position":{"line":-1}}}',
              b'{"id":8,"method":"callHierarchy/incomingCalls","params":{"item":{"data":{"unit":99,"run":1,"graph":-4,"frame":1e9}}}}',
              b'{"id":"' + b"x" * 10000 + b'","method":"' + b"y" * 10000 + b'"}',
              b'{"method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///srv/nul.log","text":"a\\u0000b"}}}']
    frames = [b"Content-Length: x\r\n\r\n", b"Content-Length: -5\r\n\r\n", b"\r\n\r\n", b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
              b"x" * 20000, b"Content-Length: 99999999999999999999\r\n\r\n"]
    c = Client(PROGRAM, options={"contract": "fresh"})
    c.open(URI, open(SAMPLE).read())
    for body in bodies:
        c.raw(frame % (len(body), body))
    for bad in frames:
        c.raw(bad)
        c.raw(frame % (41, b'{"jsonrpc":"2.0","method":"initialized"}\n'))
    try:
        ok(c.stats()["runs"] >= 0, "damaged frames and bodies are answered and passed over")
        c.change(URI, 2, [{"range": {"start": {"line": 10 ** 9, "character": 10 ** 9}, "end": {"line": 5, "character": 0}}, "text": "q"},
                          {"range": 7, "text": "z"}, {"text": 4}, {}])
        ok(c.stats()["runs"] >= 0, "so are changes that mean nothing")
        ok(c.stop() == 0, "and it still ends as it should")
    except Ended:
        ok(False, "the server ended", c.process.wait())


def main():
    lifecycle()
    answers()
    sources()
    on_disk()
    pull()
    one_line()
    damage()
    for encoding in ("utf-16", "utf-8", "utf-32"):
        edit_session(encoding, 120 if os.environ.get("FULL") else 40)
    print("1..%d" % tests)


if __name__ == "__main__":
    main()
