#!/usr/bin/env bats
# cliq install: cliq in the configuration of other programs, and nothing of theirs lost.
load ../lib/cli
unset CLAUDE_CONFIG_DIR CODEX_HOME GEMINI_CLI_HOME XDG_CONFIG_HOME

py() { PYTHONPATH=$BATS_TEST_DIRNAME/../lib $PY - "$@"; }

# ten_files CLIENT KEY FILE: the files that the client's servers are in.
ten_files() {
    py "$@" <<'PY'
import sys
from configs import *
client, key, name = sys.argv[1:]
path = os.environ["HOME"] + "/" + name
cases = servers(key)
if client == "gemini":
    cases.update({k: v.replace("Stop", "AfterAgent").replace("PreToolUse", "BeforeTool") for k, v in HOOKS.items()})
assert len(cases) >= 10
plain_or_path = "cliq" if client in ("gemini", "opencode") else os.environ["CLIQ"]
for what, old in cases.items():
    put(path, old)
    code, out, err = install("--client", client)
    assert code == 0, (what, err)
    new = get(path)
    tree, entry, n = without_ours(plain(new), key)
    want = without_ours(plain(old), key)[0]
    assert tree == want, (what, new)
    command = entry["command"] if isinstance(entry["command"], list) else [entry["command"], *entry["args"]]
    assert command[0] == plain_or_path and command[1:] == ["mcp"], entry
    assert n == (6 if client == "gemini" else 0), (what, n)
    assert is_subsequence(old, new), what  # comments, order, numbers as they were written
    assert ("\r\n" in old) == ("\r\n" in new) and new.count("\n") == new.count("\r\n") or "\r\n" not in old, what
    assert get(path + ".before-cliq") == old, what
    code, out, err = install("--client", client)
    assert code == 0 and get(path) == new and "is as it should be" in out, (what, out)
    code, out, err = install("--client", client, "--uninstall")
    assert code == 0 and get(path) == old, (what, get(path))
    assert get(path + ".before-cliq") == new, what
PY
}

@test "claude: ten configurations keep everything, and uninstall gives them back" { ten_files claude mcpServers .claude.json; }
@test "gemini: ten configurations keep everything, and uninstall gives them back" { PATH=$BIN:$PATH ten_files gemini mcpServers .gemini/settings.json; }
@test "cursor: ten configurations keep everything, and uninstall gives them back" { ten_files cursor mcpServers .cursor/mcp.json; }
@test "opencode: ten configurations keep everything, and uninstall gives them back" { PATH=$BIN:$PATH ten_files opencode mcp .config/opencode/opencode.json; }

@test "codex: ten config.toml keep every line, and uninstall gives them back" {
    py <<'PY'
from configs import *
path = os.environ["HOME"] + "/.codex/config.toml"
assert len(TOML) >= 10
for name, (what, old) in ((n, c) for n in both_commands() for c in TOML.items()):
    put(path, old)
    code, out, err = install("--client", "codex")
    assert code == 0, (what, err)
    new = get(path)
    head = old if old.endswith("\n") else old + "\n"
    assert new.startswith(head), what
    mine = new[len(head):].replace("\r\n", "\n").strip().split("\n")
    assert mine[0] == "[mcp_servers.cliq]" and mine[1] == f'command = "{name}"' and mine[2] == 'args = ["mcp"]', mine
    assert "CLIQ_IDENTITY" in mine[3] and len(mine) == 4, mine
    assert ("\r\n" in old) == ("\r\n" in new[len(head):]), what
    code, out, err = install("--client", "codex")
    assert code == 0 and get(path) == new, what
    code, out, err = install("--client", "codex", "--uninstall")
    assert code == 0 and get(path) == head, (what, get(path))
# as a person writes it
for command, code_of in ("'cliq'", 0), ('"/opt/cliq"', 0), ('"cliqs"', 5), ('"xcliq"', 5), ('""', 5), ('"\'', 2):
    put(path, f"[mcp_servers.cliq]\ncommand = {command}\n")
    assert install("--client", "codex")[0] == code_of, command
PY
}

@test "hooks of others stay, in claude's settings and in codex's hooks.json" {
    py <<'PY'
from configs import *
for client, name in ("claude", ".claude/settings.json"), ("codex", ".codex/hooks.json"):
    path = os.environ["HOME"] + "/" + name
    for what, old in HOOKS.items():
        put(path, old)
        assert install("--client", client)[0] == 0
        new = get(path)
        assert is_subsequence(old, new), (what, new)
        tree = plain(new)
        for event in HOOKED[client].split():
            ours = [h for g in tree["hooks"][event] for h in g["hooks"] if h["command"].endswith(f"cliq hook --client {client} || true")]
            assert len(ours) == 1, (what, event, new)
        assert without_ours(tree, "x")[0] == without_ours(plain(old), "x")[0], (what, new)
        assert install("--client", client)[0] == 0 and get(path) == new
        assert install("--client", client, "--uninstall")[0] == 0
        assert without_ours(plain(get(path)), "x") == without_ours(plain(old), "x"), (what, get(path))
    # in a group together with another command, and a second time by hand: only ours go
    put(path, json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"},
        {"type": "command", "command": f"/opt/cliq hook --client {client}"}]}, {"hooks": [{"type": "command", "command": f"cliq hook --client {client} || true"}]}]}}, indent=2))
    assert install("--client", client, "--uninstall")[0] == 0
    assert plain(get(path)) == {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}}, get(path)
PY
}

@test "a broken file is refused with its line and column, and then no file is changed" {
    py <<'PY'
from configs import *
home = os.environ["HOME"]
for client, main, cases in (("claude", ".claude.json", BROKEN_JSON), ("claude", ".claude/settings.json", BROKEN_JSON), ("gemini", ".gemini/settings.json", BROKEN_JSON),
                            ("cursor", ".cursor/mcp.json", BROKEN_JSON), ("opencode", ".config/opencode/opencode.json", BROKEN_JSON), ("codex", ".codex/config.toml", BROKEN_TOML),
                            ("codex", ".codex/hooks.json", BROKEN_JSON)):
    assert len(cases) >= 10
    for text, place in cases:
        put(f"{home}/{main}", text)
        for args in ("--client", client), ("--client", client, "--uninstall"), ("--client", client, "--print"):
            code, out, err = install(*args)
            assert code == 2 and f"{home}/{main}{place}" in err, (client, text, err)
        assert get(f"{home}/{main}") == text
        assert sum(len(f) for _, _, f in os.walk(home)) == 1, list(os.walk(home))
    os.remove(f"{home}/{main}")
PY
}

@test "what is in the way is refused with what to do" {
    mkdir -p "$HOME/.codex"
    echo '{"mcpServers": []}' >"$HOME/.claude.json"
    got install --client claude
    refused 5 '"mcpServers" is no object'
    echo '{"mcpServers": {"cliq": {"command": "/opt/other"}}}' >"$HOME/.claude.json"
    got install --client claude
    refused 5 "mcpServers.cliq is there already and does not run cliq"
    got install --client claude --uninstall
    succeeds
    has "$(<"$HOME/.claude.json")" /opt/other
    echo '{"mcpServers": {"cliq": {"command": "cliq", "args": ["mcp", "--as", "ruby"]}}, "hooks": 7}' >"$HOME/.claude.json"
    got install --client claude # an entry that a person made stays as it is
    succeeds
    has "$(<"$HOME/.claude.json")" '"--as", "ruby"'
    mkdir -p "$HOME/.claude"
    echo '{"hooks": {"Stop": {}}}' >"$HOME/.claude/settings.json"
    got install --client claude
    refused 5 "settings.json" '"Stop" is no list'
    echo 'mcp_servers = { x = { command = "x" } }' >"$HOME/.codex/config.toml"
    got install --client codex
    refused 5 "config.toml:1: mcp_servers is written in one line"
    got install --client claud
    refused 2 "did you mean claude"
    got install --client claude --scope here
    refused 2 "--scope is user or project"
    got install --print
    refused 2 "--client is missing"
}

@test "--print shows each line that comes, once, as diff does" {
    mkdir -p "$HOME/.gemini"
    printf '{\n  "mcpServers": {\n    "x": {"command": "x"}\n  },\n  "hooks": {\n    "AfterTool": []\n  },\n  "z": 1\n}\n' >"$HOME/.gemini/settings.json"
    cp "$HOME/.gemini/settings.json" old
    got install --client gemini --print
    succeeds
    is "$HOME/.gemini/settings.json" "$(head -1 "$T/out")"
    tail -n +2 "$T/out" >shown
    cmp old "$HOME/.gemini/settings.json"
    cliq install --client gemini >/dev/null
    diff -U0 old "$HOME/.gemini/settings.json" | tail -n +3 >want || true
    diff want shown
}

@test "nothing there: files are made, and removed with the entry; links and permissions stay" {
    for client in claude codex gemini cursor opencode; do
        got install --client $client --print
        succeeds
        has "$out" cliq
        is "" "$(find "$HOME" -type f)"
        got install --client $client
        succeeds
        got install --client $client --uninstall
        succeeds
        is "" "$(find "$HOME" -type f ! -name '*.before-cliq')"
        rm -rf "$HOME" && mkdir "$HOME"
    done
    mkdir "$T/dotfiles" "$HOME/.cursor"
    echo '{}' >"$T/dotfiles/mcp.json"
    chmod 640 "$T/dotfiles/mcp.json"
    ln -s "$T/dotfiles/mcp.json" "$HOME/.cursor/mcp.json"
    got install --client cursor
    succeeds
    [ -L "$HOME/.cursor/mcp.json" ]
    has "$(<"$T/dotfiles/mcp.json")" cliq
    is 640 "$(stat -c %a "$T/dotfiles/mcp.json")"
    is 640 "$(stat -c %a "$T/dotfiles/mcp.json.before-cliq")"
}

@test "--scope project: in the project's root, with plain cliq; without a client a list of all" {
    git init -q shop
    mkdir shop/src
    cd shop/src
    got install --client claude --scope project
    succeeds
    is cliq "$($PY -c 'import json; print(json.load(open("../.mcp.json"))["mcpServers"]["cliq"]["command"])')"
    has "$(<../.claude/settings.json)" '"cliq hook --client claude || true"'
    got install --client codex --scope project
    succeeds
    has "$(<../.codex/config.toml)" 'command = "cliq"'
    mkdir -p "$HOME/.gemini"
    echo '{' >"$HOME/.gemini/settings.json"
    got install
    succeeds
    is "claude project yes nothing" "$(awk '$1 == "claude" && $3 == "project" { print $1, $3, $4, $5 }' <<<"$out")"
    is "claude user no" "$(awk '$1 == "claude" && $3 == "user" { print $1, $3, $4 }' <<<"$out")"
    has "$out" ".gemini/settings.json:2:1"
    got install --json
    succeeds
    $PY - "$T/out" <<'PY'
import json, os, sys
rows = {(r["client"], r["scope"]): r for r in json.load(open(sys.argv[1]))}
assert len(rows) == 10
root = os.path.dirname(os.getcwd())
assert rows["claude", "project"]["cliq"] == "yes" and rows["claude", "project"]["would_change"] == []
assert rows["cursor", "project"] == {"client": "cursor", "has_program": False, "scope": "project", "cliq": "no", "would_change": [root + "/.cursor/mcp.json"]}
assert "cliq" not in rows["gemini", "user"] and "2:1" in rows["gemini", "user"]["error"] and rows["gemini", "user"]["would_change"] == []
PY
    PATH=$BIN:$PATH got install --client cursor --print --json
    succeeds
    has "$($PY -c 'import json, sys; d = json.load(open(sys.argv[1])); print(d["is_written"], d["files"][0]["diff"])' "$T/out")" 'False @@ -0,0 +1,10 @@
+{
+  "mcpServers": {'
    PATH=$BIN:$PATH got install --client cursor
    succeeds
    is cliq "$($PY -c 'import json, os; print(json.load(open(os.environ["HOME"] + "/.cursor/mcp.json"))["mcpServers"]["cliq"]["command"])')"
}
