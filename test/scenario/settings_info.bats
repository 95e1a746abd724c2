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

@test "a key that nothing reads is stored with a warning and the nearest one; one that is read has none" {
    cliq init >/dev/null
    mkdir -p "$CLIQ_HOME/agents/mine"
    printf '#!/bin/sh\n' >"$CLIQ_HOME/agents/mine/a.sh"
    echo '{"name":"mine","version":"1.0.0","description":"d","entry":"a.sh","settings":{"required":["depth"],
        "optional":[{"key":"server"}]}}' >"$CLIQ_HOME/agents/mine/manifest.json"
    local key want
    while read -r key want; do
        got settings "$key" 3
        code_is 0
        has "$err" "$want"
        is 3 "$(cliq settings "$key")"
    done <<'END'
run.comand_timeout cliq itself knows no setting "run.comand_timeout" (did you mean run.command_timeout?)
hub.retnetion cliq itself knows no setting "hub.retnetion" (did you mean hub.retention?)
roles.qa.comand cliq itself knows no setting "roles.qa.comand" (did you mean roles.qa.command?)
agnets.codex.model cliq itself knows no setting "agnets.codex.model" (did you mean agents?)
other.thing cliq itself knows no setting "other.thing"
agents.codex.modle the agent codex knows no setting "modle" (did you mean model?)
agents.cdex.model there is no agent "cdex" here (did you mean codex?)
agents.mine.deepth the agent mine knows no setting "deepth" (did you mean depth?)
agents.mine.sever.port the agent mine knows no setting "sever" (did you mean server?)
END
    while read -r key want; do
        got settings "$key" "$want"
        code_is 0
        is "" "$err"
    done <<'END'
run.command_timeout 3m
roles.qa.command cat
agents.codex.model m
agents.mine.server.port 80
agents.later.depth 3
agents.later.entry bin/a.sh
agents.slack.channels.ops.webhook_url https://example.org/x
prices.gpt-5.1-mini {"input":1,"output":2}
notifications {"on_start":["slack:ops"]}
END
}

@test "settings that were written by hand are shown with a warning for each key that nothing reads" {
    cliq init >/dev/null
    echo '{"hub":{"retnetion":"30d"},"agents":{"codex":{"modle":"x","model":"y"}},"runs":{"keep":3}}' >.cliq/settings.json
    got settings
    code_is 0
    is 2 "$(wc -l <"$T/err")"
    has "$err" 'cliq itself knows no setting "hub.retnetion" (did you mean hub.retention?)'
    has "$err" 'the agent codex knows no setting "modle" (did you mean model?)'
    has "$out" '"keep": 3'
}
