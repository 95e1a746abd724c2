"""A client of `cliq mcp`, without a line of src/: it starts the server and speaks JSON-RPC.

    with Mcp("--as", "ruby") as m:
        m.handshake()
        ok, answer = m.tool("emit", signal_type="pulse")
"""
import json, os, queue, subprocess, threading

MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientInfo": {"name": "test client", "version": "1"},
          "io.modelcontextprotocol/clientCapabilities": {}}


class Mcp:
    def __init__(self, *args, env=None, cwd=None):
        self.p = subprocess.Popen([os.environ["CLIQ"], "mcp", *args], stdin=subprocess.PIPE, cwd=cwd,
                                  stdout=subprocess.PIPE, env={**os.environ, **(env or {})})
        self.n, self.lines, self.told = 0, queue.Queue(), []
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.p.stdout:
            self.lines.put(json.loads(line))  # only the protocol
        self.lines.put(None)

    def __enter__(self):
        return self

    def __exit__(self, *why):
        self.p.stdin.close()
        if self.p.wait(timeout=20) != 0 and why == (None, None, None):
            raise AssertionError(f"cliq mcp ended with {self.p.returncode}")

    def raw(self, text):
        self.p.stdin.write(text.encode() + b"\n")
        self.p.stdin.flush()

    def say(self, message):
        self.raw(json.dumps({"jsonrpc": "2.0", **message}))

    def take(self, timeout=20):
        return self.lines.get(timeout=timeout)

    def ask(self, method, params=None, modern=False):
        """Sends a request; returns its id."""
        self.n += 1
        params = dict(params or {})
        if modern:
            params["_meta"] = {**MODERN, **params.get("_meta", {})}
        self.say({"id": self.n, "method": method, "params": params})
        return self.n

    def answer(self, want, timeout=20):
        """The answer to that id; notifications before it are kept in self.told."""
        while True:
            m = self.take(timeout)
            assert m is not None, "the server ended"
            if m.get("id") == want:
                return m
            self.told.append(m)

    def notification(self, method, timeout=20):
        for m in self.told:
            if m.get("method") == method:
                self.told.remove(m)
                return m["params"]
        while True:
            m = self.take(timeout)
            assert m is not None, "the server ended"
            if m.get("method") == method:
                return m["params"]
            self.told.append(m)

    def call(self, method, params=None, modern=False):
        m = self.answer(self.ask(method, params, modern))
        assert "result" in m, m
        return m["result"]

    def error(self, method, params=None, modern=False):
        return self.answer(self.ask(method, params, modern))["error"]

    def handshake(self, version="2025-11-25", name="test client"):
        r = self.call("initialize", {"protocolVersion": version, "capabilities": {},
                                     "clientInfo": {"name": name, "version": "1"}})
        self.say({"method": "notifications/initialized"})
        return r

    def tool(self, tool, modern=False, **args):
        """(ok, the answer as JSON, or the sentence of a refusal)"""
        r = self.call("tools/call", {"name": tool, "arguments": args}, modern)
        text = r["content"][0]["text"]
        return (False, text) if r.get("isError") else (True, json.loads(text))
