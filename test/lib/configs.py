"""Configurations of agents' clients as people have them, for test/cli/install.bats: ten for each client,
broken ones with the place that is to be named, and what must be true after each command."""
import json, os, subprocess

HOOKED = {"claude": "SessionStart UserPromptSubmit PreToolUse PostToolUse Stop SessionEnd",
          "codex": "SessionStart UserPromptSubmit PreToolUse PostToolUse Stop SessionEnd",
          "gemini": "SessionStart BeforeAgent BeforeTool AfterTool AfterAgent SessionEnd"}


def servers(key):
    """Ten files that hold MCP servers under this key; the last two are of no server."""
    big = {key: {f"s{i}": {"command": f"/opt/s{i}", "args": ["-x", str(i)], "env": {"K": "ä\u2028"}} for i in range(200)},
           "projects": {f"/home/ann/p{i}": {"history": ["x" * 500]} for i in range(200)}}
    return {
        "other servers": json.dumps({key: {"github": {"command": "gh-mcp", "args": ["stdio"]}}, "theme": "dark"}, indent=2) + "\n",
        "four spaces": json.dumps({"a": 1, key: {"x": {"command": "x"}}}, indent=4) + "\n",
        "tabs": json.dumps({key: {"x": {"command": "x"}}, "z": [1, 2]}, indent="\t") + "\n",
        "one line": json.dumps({key: {"x": {"command": "x"}}, "b": True}) + "\n",
        "compact, no line end": json.dumps({key: {"x": {"command": "x"}}}, separators=(",", ":")),
        "comments": "// of ann\n{\n  /* which\n     model */\n  \"model\": \"m\", // fast, \"quoted\": {\n  \"" + key +
                    "\": {\n    // work\n    \"x\": { \"command\": \"x\" } // the only one\n    // the end\n  }\n  // really\n}\n// bye\n",
        "trailing commas": "{\n  \"" + key + "\": {\n    \"x\": {\n      \"command\": \"x\",\n    },\n  },\n  \"y\": [1, 2,],\n}\n",
        "Windows lines": json.dumps({key: {"x": {"command": "x"}}, "y": 1}, indent=2).replace("\n", "\r\n") + "\r\n",
        "no servers": json.dumps({"n": 1.50, "big": 12345678901234567890, "u": "\u00fc \\u00fc \\/", "o": {"k": []}}, indent=2, ensure_ascii=False) + "\n",
        "two megabytes": json.dumps(big, indent=2) + "\n",
    }


HOOKS = {
    "hooks of others": json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}],
                                             "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "guard"}]}]},
                                   "permissions": {"allow": ["Bash(ls:*)"]}}, indent=2) + "\n",
    "hooks in one line": '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "a"}, {"type": "command", "command": "b"}]}]}}\n',
    "hooks with comments": '{\n  "hooks": {\n    // quiet\n    "Stop": [ // nothing yet\n    ],\n    "Notification": [],\n  },\n}\n',
}

TOML = {
    "other servers": 'model = "o3"\n\n[mcp_servers.github]\ncommand = "gh-mcp"\nargs = ["stdio"]\n\n[mcp_servers.github.env]\nTOKEN = "x"\n',
    "comments": '# of ann\nmodel = "m" # fast\n\n# servers\n[mcp_servers.x] # mine\ncommand = "x"\n# the end\n',
    "no line end": 'model = "m"\n[profiles.p]\nmodel = "n"',
    "Windows lines": 'model = "m"\r\n\r\n[tools]\r\nweb_search = true\r\n',
    "texts": 'a = "\\u00fc \\\\ \\" # no comment"\nb = \'C:\\x\'\nc = """\n[mcp_servers.cliq]\n"quoted" \\\n   end"""\nd = \'\'\'\n[x]\n\'\'\'\n',
    "lists of tables": '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "say"\n\n[[hooks.Stop]]\n',
    "values": 'i = 1_000\nf = -1.5e3\nx = 0xFF\nt = true\nd = 1979-05-27T07:32:00Z\ne = 1979-05-27 07:32:00\nl = [\n  1, # one\n  2,\n]\nn = { a = 1, b.c = "x" }\n"q k".\'l\' = 1\ninf = +inf\n',
    "dotted server": 'mcp_servers.x.command = "x"\nmodel = "m"\n',
    "quoted header": '[mcp_servers."my server"]\ncommand = "x"\n\n[projects."/home/ann/shop"]\ntrust_level = "trusted"\n',
    "many": "".join(f'[projects."/p/{i}"]\ntrust_level = "trusted"\n\n' for i in range(5000)),
}

BROKEN_JSON = [('{\n  "mcpServers": {\n    "x": { "command": "x" }\n', ":4:1:"), ('{"a": 1,, "b": 2}', ":1:9:"), ('{\n "a" 1\n}\n', ":2:6:"),
               ("[]\n", ":1:1: an object"), ('{"a": 1} x', ":1:10:"), ('{ /* no end\n "a": 1 }', ":1:3:"), ('{"a": 1, "a": 2}\n', ":1:10: duplicate"),
               ("{\n  'a': 1\n}\n", ":2:3:"), ('{"a": "\\x"}', ":1:9:"), ("\xff{}", ":1:1:")]
BROKEN_TOML = [("model = m\n", ":1:9:"), ("[a\nb = 1\n", ":1:3:"), ('a = "x\nb = 1\n', ":1:7:"), ("a = [1, 2\n", ":2:1:"), ("a = 1 b = 2\n", ":1:7:"),
               ('x = """\nno end\n', ":1:5:"), ("= 1\n", ":1:1:"), ('a = "\\q"\n', ":1:7:"), ("a = {b = 1, }\n", ":1:13:"), ("a\n", ":1:2:")]


def plain(text):
    """JSONC as JSON, by a way of its own: character by character."""
    out, i = [], 0
    while i < len(text):
        if text[i] == '"':
            j = i + 1
            while text[j] != '"':
                j += 2 if text[j] == "\\" else 1
            out.append(text[i:j + 1])
            i = j + 1
        elif text.startswith("//", i):
            while i < len(text) and text[i] not in "\r\n":
                i += 1
        elif text.startswith("/*", i):
            i = text.index("*/", i) + 2
        else:
            out.append(text[i])
            i += 1
    text, out, last = "".join(out), [], -1
    in_text = False
    for i, c in enumerate(text):
        if c == '"' and (i == 0 or text[i - 1] != "\\" or text[i - 2] == "\\"):
            in_text = not in_text
        if not in_text and c in "}]" and last >= 0:
            out[last] = ""
        if not c.isspace():
            last = i if c == "," and not in_text else -1
        out.append(c)
    return json.loads("".join(out))


def put(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", newline="", encoding="utf-8", errors="surrogateescape") as f:
        f.write(text)


def get(path):
    with open(path, newline="", encoding="utf-8", errors="surrogateescape") as f:
        return f.read()


def install(*args):
    p = subprocess.run([os.environ["CLIQ"], "install", *args], capture_output=True, text=True)
    return p.returncode, p.stdout, p.stderr


def both_commands():
    """Twice: with another cliq on PATH, or none, so that install writes a path, and with this one, so that it writes plain cliq."""
    path = os.environ["PATH"]
    for first in "/nowhere", os.path.dirname(os.environ["CLIQ"]):
        os.environ["PATH"] = first + ":" + path
        yield "cliq" if first != "/nowhere" else os.environ["CLIQ"]
    os.environ["PATH"] = path


def is_subsequence(old, new):
    """Every character of old stands in new, in its order."""
    it = iter(new)
    return all(c in it for c in old)


def without_ours(tree, key):
    """The tree without what cliq adds, and without the containers that this leaves empty."""
    tree = json.loads(json.dumps(tree))
    entry = tree.get(key, {}).pop("cliq", None)
    if key in tree and not tree[key]:
        del tree[key]
    n = 0
    for event, groups in list(tree.get("hooks", {}).items()):
        kept = []
        for g in groups:
            hooks = [h for h in g["hooks"] if " hook --client " not in h["command"]]
            n += len(g["hooks"]) - len(hooks)
            if hooks:
                kept.append({**g, "hooks": hooks})
        tree["hooks"][event] = kept
        if not kept:
            del tree["hooks"][event]
    if "hooks" in tree and not tree["hooks"]:
        del tree["hooks"]
    return tree, entry, n
