# SPDX-License-Identifier: MIT
"""A small client of the language server, for tests."""
import json
import queue
import subprocess
import threading

CAPABILITIES = {
    "textDocument": {
        "publishDiagnostics": {"relatedInformation": True, "codeDescriptionSupport": True, "dataSupport": True},
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
    },
}
PATIENCE = 120


class Ended(Exception):
    pass


class Client:
    def __init__(self, program, capabilities=None, options=None, root=None, start=True, wrapper=()):
        self.process = subprocess.Popen([*wrapper, program, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.messages = queue.Queue()
        self.last = 0
        self.others = []
        self.answers = {}
        threading.Thread(target=self._read, daemon=True).start()
        if start:
            self.server = self.request("initialize", {
                "processId": None, "rootUri": root, "capabilities": capabilities or CAPABILITIES,
                "initializationOptions": options or {}})["result"]
            self.notify("initialized", {})

    def _read(self):
        out = self.process.stdout
        while True:
            length = None
            while True:
                line = out.readline()
                if not line:
                    self.messages.put(None)
                    return
                line = line.strip()
                if not line:
                    break
                name, value = line.split(b":", 1)
                if name.lower() == b"content-length":
                    length = int(value)
            self.messages.put(json.loads(out.read(length)))

    def raw(self, data):
        try:
            self.process.stdin.write(data)
            self.process.stdin.flush()
        except BrokenPipeError:
            pass

    def send(self, message):
        body = json.dumps(message, ensure_ascii=False).encode()
        self.raw(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def notify(self, method, params):
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def begin(self, method, params):
        self.last += 1
        self.send({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        return self.last

    def _next(self):
        message = self.messages.get(timeout=PATIENCE)
        if message is None:
            raise Ended()
        if "method" in message:
            self.others.append(message)
        else:
            self.answers[message["id"]] = message

    def answer(self, number):
        while number not in self.answers:
            self._next()
        return self.answers.pop(number)

    def request(self, method, params):
        return self.answer(self.begin(method, params))

    def until(self, wanted):
        while True:
            for message in self.others:
                if wanted(message):
                    self.others.remove(message)
                    return message
            self._next()

    def open(self, uri, text, version=1, language="log"):
        self.notify("textDocument/didOpen", {"textDocument": {
            "uri": uri, "languageId": language, "version": version, "text": text}})

    def change(self, uri, version, changes):
        self.notify("textDocument/didChange", {
            "textDocument": {"uri": uri, "version": version}, "contentChanges": changes})

    def diagnostics(self, uri, version):
        """What was published for this version of the document."""
        return self.until(lambda m: m["method"] == "textDocument/publishDiagnostics" and m["params"]["uri"] == uri
                          and m["params"].get("version") == version)["params"]["diagnostics"]

    def at(self, method, uri, line, character, **more):
        return self.request("textDocument/" + method, {
            "textDocument": {"uri": uri}, "position": {"line": line, "character": character}, **more})["result"]

    def stats(self):
        return self.request("graphlint/stats", {})["result"]

    def stop(self):
        """Status of the process after shutdown and exit."""
        self.request("shutdown", None)
        self.notify("exit", None)
        return self.process.wait(timeout=PATIENCE)
