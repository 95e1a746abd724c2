#!/usr/bin/env bats
# cliq settings --info: each value with the file that it comes from, secrets masked.
load ../lib/cli

@test "--info shows the value in force, its file, and that it stands for another one" {
    cliq init >/dev/null
    cliq settings default_agent codex --global
    cliq settings default_agent script
    cliq settings runs.keep 5 --global
    got settings --info default_agent
    succeeds
    has "$out" "    default_agent = \"script\"  ($T/work/.cliq/settings.json, instead of the user's own)"
    got settings --info runs
    has "$out" "    runs.keep = 5  ($CLIQ_HOME/settings.json)"
    cd /
    got settings --info default_agent
    has "$out" "    default_agent = \"codex\"  ($CLIQ_HOME/settings.json)"
}

@test "--info masks secrets, of agents of one's own, too, and of lists" {
    printf geheim-1 | cliq settings agents.codex.api_key - --global
    printf geheim-2 | cliq settings agents.mine.token - --global
    printf '{"headers":{"Authorization":"geheim-3"}}' | cliq settings agents.mine.extra - --global
    cliq settings agents.mine.depth 3 --global
    got settings --info
    succeeds
    lacks "$out" geheim
    has "$out" '    agents.codex.api_key = "********"'
    has "$out" '    agents.mine.depth = 3'
    has "$out" 'agents.mine.token = "********"'
    got settings --info agents.codex
    succeeds
    has "$out" agents.codex.api_key
    lacks "$out" agents.mine
    got settings --info --json
    lacks "$out" geheim
    $PY -c 'import json,sys
rows = json.load(open(sys.argv[1]))
v = {v["key"]: v for r in rows for v in r["values"]}
assert v["agents.codex.api_key"]["value"] == "********" and v["agents.mine.depth"]["value"] == 3, v
assert all(x["file"].endswith("/settings.json") for x in v.values()), v' "$T/out"
}

@test "without values --info lists keys only; an unknown key is not found" {
    got settings --info default_agent
    succeeds
    lacks "$out" " = "
    got settings --info defualt_agent
    refused 4 'did you mean default_agent?'
}
