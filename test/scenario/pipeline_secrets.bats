#!/usr/bin/env bats
# Secrets of agents: what they are given is in no file of a run, in no argument and in no signal.
load pipeline

# canaries NAME: 50 secrets of the agent NAME: of its settings, of its environment, of its phase. $CANARIES
# is a file with one a line.
canaries() {
    local i
    CANARIES=$T/canaries
    : >"$CANARIES"
    for i in $(seq 1 30); do
        echo "canary-$i-setting-\"quoted\"" >>"$CANARIES"
        "$CLIQ" settings "agents.$1.api_key_$i" "canary-$i-setting-\"quoted\"" --global
    done
    mkdir -p "$T/team/agents/$1"
    printf '{"name":"%s","version":"1.0.0","description":"d","entry":"agent.sh","capabilities":["phase:standard","notify"],"settings":{"optional":[%s]}}\n' \
        "$1" "$(seq -s, -f '"api_key_%g"' 30)" >"$T/team/agents/$1/manifest.json"
    for i in $(seq 1 10); do
        echo "canary-$i-environment" >>"$CANARIES"
        export "CANARY_TOKEN_$i=canary-$i-environment"
    done
    for i in $(seq 1 10); do
        echo "canary-$i-of-phase" >>"$CANARIES"
    done
    ENV_NAMES=$(seq -s, -f 'CANARY_TOKEN_%g' 1 10)
    PHASE_ENV="{$(seq 10 | sed 's/.*/CANARY_PASSWORD_&: canary-&-of-phase/' | paste -sd,)}"
}

# No file below these directories has a canary, but for the settings.
none_kept() {
    local kept
    kept=$(grep -rlFf "$CANARIES" "$@" | grep -v -e /settings.json -e /workflow.yml -e /req_spec.md || true)
    [ -z "$kept" ] || {
        grep -rFf "$CANARIES" $kept | cut -c1-300 >&2
        return 1
    }
}

# An agent that tells all it has, in every way it can, and ends as its phase is called.
blabber() {
    agent a <<END
ok
cat "\$T/message.\$P.\$N"
env | tee "\$T/environment.\$P"
all=\$(paste -sd' ' "$CANARIES" | sed 's/"/\\\\"/g')
progress "\$all"
line '"status":"notify","result":{"agent":"a","event":"e","payload":{"message":"'"\$all"'"}}'
case \$P in *notify*) exit ;; esac
hand end '{"version":1,"phase_type":"standard","phase":"'\$P'","agent":"a","text":"'"\$all"'"}' 2>/dev/null
ps -eo args | grep canary- | grep -v grep >"\$T/args.\$P"
echo "\$all" >&2
case \$P in
good) complete '{"summary":"'"\$all"'"}' ;;
bad) fail "\$all" ;;
dead) kill -KILL \$\$ ;;
late) sleep \$NAP ;;
esac
END
}

secret_team() {
    canaries a
    blabber
    {
        printf 'name: "@local/test"\ndescription: a team for a test\n'
        printf 'agents:\n  a: {entry: agents/a/agent.sh, env: [%s]}\n' "$ENV_NAMES"
        printf 'phases:\n  - {name: good, agent: a, env: %s}\n' "$PHASE_ENV"
        printf '  - {name: %s, agent: a, timeout: 1s, env: '"$PHASE_ENV"'}\n' bad dead late
        printf '  - {name: end, agent: a, depends_on: [good, bad, dead, late]}\n'
    } >"$T/team/team.yml"
    cd "$T/proj" || return
    "$CLIQ" init >/dev/null && "$CLIQ" assemble ../team >/dev/null
}

@test "after success, failure, crash and timeout no file of a run has any of 50 secrets" {
    secret_team
    run_is 3
    is "bad.1 dead.1 good.1 late.1" "$(tr ' ' '\n' <<<"$(starts)" | sort | paste -sd' ')"
    lacks "$out" canary-
    lacks "$err" canary-
    has "$(<.cliq/run/logs/good.1.log)" '***'
    has "$(<.cliq/orchestrator.log)" '***'
    none_kept .cliq "$CLIQ_HOME"
    is "" "$(cat "$T"/args.*)"
    is 50 "$(sed 's/\\"/"/g' "$T/message.good.1" "$T/environment.good" | grep -ohF -f "$CANARIES" | sort -u | wc -l)" # they were given
    run_is 3 # the run before this one is kept
    none_kept .cliq "$CLIQ_HOME"
    got log good --run "$("$CLIQ" runs --json | $PY -c 'import json,sys; print(json.load(sys.stdin)[1]["run"])')"
    lacks "$out" canary-
}

@test "while an agent runs, only its message has the secrets, readable by nobody else" {
    hold go
    canaries a
    agent a <<<'ok; await go; complete'
    team <<<'phases: [{name: one, agent: a}]'
    start_run run
    until_true says .cliq/signals/one.jsonl ok
    is "600 .cliq/run/messages/one.1.json" "$(stat -c '%a %n' .cliq/run/messages/one.1.json)"
    has "$(<.cliq/run/messages/one.1.json)" canary-1-setting
    is ".cliq/run/messages/one.1.json" "$(grep -rlF canary- .cliq)"
    kill -KILL "$PID" # the orchestrator; then the run is cancelled from outside
    until_true gone "$PID"
    got cancel
    code_is 0
    none_kept .cliq
    has "$(<.cliq/run/messages/one.1.json)" '"api_key_1":"***"'
}

@test "handoffs, lines and signals written with the SDK have no secrets at any time" {
    hold go
    canaries a
    agent a <<'END'
set -e
eval "$(cliq sdk begin <"$T/message.$P.$N")"
all=$(cat "$T/canaries")
cliq sdk progress "$all"
echo "$all" | cliq sdk send --to two -
cliq sdk signal mine "{\"all\":\"canary-1-environment\"}"
touch "$T/told"
await go
cliq sdk fail "$all"
END
    AGENTS="  a: {entry: agents/a/agent.sh, env: [$ENV_NAMES]}
"
    team <<END
phases: [{name: one, agent: a, env: $PHASE_ENV}, {name: two, agent: a, depends_on: [one]}]
END
    PATH=$(dirname "$CLIQ"):$PATH start_run run
    until_true exists "$T/told"
    none_kept .cliq/signals .cliq/channels
    has "$(<.cliq/channels/one--two/handoff.json)" '***'
    release go
    ended run "$PID"
    code_is 3
    lacks "$(<"$T/run.out")" canary-
}

# A program behind a built-in agent that prints its key wherever it can, split over two writes too, and ends
# as its phase is called.
@test "a program and an ACP agent that print their keys: nothing of a run has them, however they end" {
    mkdir -p "$T/bin" "$T/team/roles"
    printf 'canary-claude-key\ncanary-openai-key\n' >"$T/canaries"
    CANARIES=$T/canaries
    cat >"$T/bin/claude" <<'END'
#!/bin/sh
cat >/dev/null
k=$ANTHROPIC_API_KEY
ps -eo args | grep -F -e canary-claude-key -e canary-openai-key | grep -v -e grep -e acp_agent.py >>"$T/args"
printf '{"type":"system","subtype":"init","session_id":"%s","model":"%s"}\n' "$k" "$k"
printf '{"type":"assistant","message":{"id":"m","model":"m","content":[{"type":"text","text":"it is %s"},{"type":"tool_use","name":"%s","input":{"command":"echo %s"}}]}}\n' "$k" "$k" "$k"
printf 'not JSON: canary-cla'
printf 'ude-key\n'
printf 'errors: %s\n' "$k" >&2
case $PWD/$CLIQ_PHASE in
*/dead) kill -KILL $$ ;;
*/late) exec sleep 30 ;;
*/bad) printf '{"type":"result","subtype":"success","is_error":true,"result":"no: %s","session_id":"s"}\n' "$k" ;;
*) printf '{"type":"result","subtype":"success","is_error":false,"result":"done with %s\\n```json\\n{\\"key\\":\\"%s\\"}\\n```","session_id":"s"}\n' "$k" "$k" ;;
esac
END
    cat >"$T/bin/goose" <<END
#!/bin/sh
exec $PY "$BATS_TEST_DIRNAME/acp_agent.py" tool t execute "echo \$OPENAI_API_KEY" - may t say "it is \$OPENAI_API_KEY" \\
    write "$T/proj/made.txt" ok run '{"command":"echo canary-openai; echo \$OPENAI_API_KEY"}' say end
END
    chmod +x "$T"/bin/*
    export PATH=$T/bin:$PATH ANTHROPIC_API_KEY=canary-claude-key OPENAI_API_KEY=canary-openai-key
    for p in good bad dead late acp; do echo "Do what the requirement asks for, and say what you did." >"$T/team/roles/$p.md"; done
    team <<END
phases:
  - {name: good, agent: claude-code, env: {T: "$T"}}
  - {name: bad, agent: claude-code}
  - {name: dead, agent: claude-code}
  - {name: late, agent: claude-code, timeout: 2s}
  - {name: acp, agent: goose}
  - {name: end, agent: exec, depends_on: [good, acp], commands: [{name: t, run: "true"}]}
END
    touch "$T/args"
    run_is 3
    lacks "$out$err" canary-claude-key
    has "$(cat .cliq/run/logs/good.1.log)" '***'
    has "$(cat .cliq/run/logs/acp.1.log)" 'it is ***'
    has "$(cat .cliq/channels/good--end/handoff.json)" '***'
    none_kept .cliq "$CLIQ_HOME"
    is "" "$(<"$T/args")"
}

# service_settings URL: settings of the built-in agents that speak to a service; its keys are the lines of $CANARIES.
service_settings() {
    $PY - "$1" "$CANARIES" <<'END'
import json, sys
url, canaries = sys.argv[1], []
def key(name, begin=""):
    canaries.append(f"{begin}canary{len(canaries)}{name}")
    return canaries[-1]
agents = {
    "s3": {"access_key_id": "AKIAEXAMPLE", "secret_access_key": key("s3"), "session_token": key("session")},
    "zendesk": {"email": "e@x.org", "api_token": key("zendesk")},
    "hubspot": {"api_key": key("hubspot")},
    "datadog": {"api_key": key("datadog"), "app_key": key("application")},
    "slack": {"bot_token": key("slack"), "channels": {"ops": {"webhook_url": f"{url}/services/{key('hook')}"}, "bot": {"channel": "C1"}}},
    "webhook": {"channels": {"ops": {"url": f"{url}/{key('url')}", "secret": "whsec_" + key("signature")}}},
    "email": {"host": "127.0.0.1", "port": 1, "tls": "none", "from": "x@y.z", "user": "u", "password": key("mail"), "channels": {"ops": {"to": "a@b.c"}}},
}
for name in ("jira", "confluence"):
    agents[name] = {"email": "e@x.org", "api_token": key(name)}
agents["jira"]["channels"] = {"ops": {"issue": "P-1"}}
for name in ("claude-api", "openai-api", "gemini-api"):
    agents[name] = {"api_key": key(name)}
for name in agents:
    if name not in ("webhook", "email"):
        agents[name]["base_url"] = url
events = ("on_start", "on_phase_complete", "on_escalate", "on_complete")
told = ["slack:ops", "slack:bot", "webhook:ops", "email:ops", "jira:ops"]
json.dump({"agents": agents, "run": {"notify_timeout": "1s"}, "notifications": {e: told for e in events}}, open(".cliq/settings.json", "w"))
open(sys.argv[2], "w").write("\n".join(canaries) + "\n")
END
}

@test "models, connectors and notifiers whose services repeat their keys: nothing of a run has them, however it ends" {
    mkdir -p "$T/team/roles"
    CANARIES=$T/canaries
    start service "$PY" "$ROOT/test/services/parrot.py"
    mkfifo "$T/go"
    until_true exists "$T/port"
    {
        echo 'phases:'
        for a in claude-api openai-api gemini-api; do
            echo "Do what the requirement asks for, and say what you did, in a few words." >"$T/team/roles/$a.md"
            echo "  - {name: $a, agent: $a, timeout: 2s}"
        done
        while read -r a ref action; do
            echo "  - {name: $a, agent: $a, timeout: 2s, sources: [{name: got, ref: \"$ref\", action: $action}]}"
        done <<END
s3 bucket/key get
jira P-1 get_issue
confluence 12 get_page
zendesk 3 get_ticket
hubspot contacts/1 get
datadog metric query_metrics
END
    } >"$T/phases"
    team <"$T/phases"
    service_settings "http://127.0.0.1:$(<"$T/port")"
    for mode in 200 401 silent; do
        echo $mode >"$T/mode"
        got run --headless --force --jobs 16
        code_is 3
        lacks "$out$err" canary
        rm -rf .cliq/files/s3 # a file is kept byte for byte
        none_kept .cliq "$CLIQ_HOME"
    done
    is 10 "$(grep -ohFf "$CANARIES" "$T/requests" | sort -u | wc -l)" # they were sent as they are; four in base64, two sign, one is the mail's
}
