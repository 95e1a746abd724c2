# cases.bash - what is true of every CLI agent: load it in a .bats file that sets AGENT, and
# SETTINGS (key value …) in a function `agent_settings`. PHASE_ENV is the `env` of the agent's phases
# (a YAML map), for what makes its program start faster.
load agents

KEY=sk-fake-0123456789

# a_team PHASES…: of the agent $AGENT; every phase has a role.
a_team() { # TEAM on standard input
    local p
    llm
    mkdir -p "$T/team/roles"
    sed "s/agent: $AGENT\b/&${PHASE_ENV:+, env: $PHASE_ENV}/" >"$T/yaml"
    for p in $(sed -n 's/.*name: \([a-z]*\),.*/\1/p' "$T/yaml"); do echo "You are $p." >"$T/team/roles/$p.md"; done
    team <"$T/yaml"
    agent_settings
    "$CLIQ" req -m "Do the work" >/dev/null
}
develop() { # MORE FIELDS
    a_team <<<"phases:
  - {name: develop, agent: $AGENT${1:+, $1}}"
}
lines_of() { cat "$STATE/signals/$1.jsonl"; }
phase_log() { cat "$STATE/run/logs/$1."*.log; }

case_writes_a_file() {
    develop
    script <<END
[{"turns":[{"write":"$T/proj/made.txt","content":"hi\n","usage":{"input":1000,"output":20}},
           {"text":"I wrote it, with $KEY.\n\n\`\`\`json\n{\"file\":\"made.txt\"}\n\`\`\`","usage":{"input":1100,"output":30}}]}]
END
    run_ok
    is hi "$(<made.txt)"
    has "$(phase_log develop)" "I wrote it, with ***."
    has "$(phase_log develop)" "made.txt"
    like "$(lines_of develop)" 'progress[^}]*made.txt'
    like "$(lines_of develop)" '"status":"complete".*"input_tokens":2100,"output_tokens":50'
    # the stream as it came, for its owner only
    is 600 "$(stat -c %a "$STATE/run/logs/develop.1.raw")"
    has "$(<"$STATE/run/logs/develop.1.raw")" 'I wrote it, with ***.'
    # the key is nowhere but in the settings and the requests, although the model says it
    is "" "$(grep -rl "$KEY" "$STATE" | grep -v 'settings\|/\.cliq/run/message' || true)"
}

# The work is sent back; the developer remembers what it did.
case_continues_a_session() {
    a_team <<END
phases:
  - {name: develop, agent: $AGENT}
  - {name: review, agent: $AGENT, type: gate, depends_on: [develop], max_iterations: 3}
END
    script <<'END'
[{"when":"You are review.","turns":[
   {"text":"Not yet.\n\n```json\n{\"verdict\":{\"outcome\":\"ROUTE\",\"target\":\"develop\"},\"comment\":\"add a test\"}\n```"},
   {"text":"Good.\n\n```json\n{\"verdict\":{\"outcome\":\"PASS\"},\"comment\":\"fine\"}\n```"}]},
 {"turns":[{"text":"The first try.","usage":{"input":100,"output":10}},{"text":"The second try.","usage":{"input":300,"output":30}}]}]
END
    run_ok
    is 2 "$(asked 'len([r for r in q if r["rule"] == 1])')"
    has "$(asked '[json.dumps(r["body"]) for r in q if r["rule"] == 1][1]')" "The first try."
    has "$(asked '[json.dumps(r["body"]) for r in q if r["rule"] == 1][1]')" "add a test"
    # only what the second attempt used
    like "$(lines_of develop)" '"status":"complete".*"input_tokens":300,"output_tokens":30'
    # its cost, too: three times that of the first, where the model's price is known
    "$CLIQ" status --json >"$T/status"
    is ok "$($PY -c 'import json, sys
both, last = (json.load(open(f)) for f in sys.argv[1:])
both, last = both["phases"][0]["usage"].get("cost_usd"), last["data"]["usage"].get("cost_usd")
print("ok" if last is None or abs(both / last - 4 / 3) < 0.01 else (both, last))' \
        "$T/status" "$STATE/channels/develop--review/handoff.json")"
}

case_asks_again_for_a_verdict() {
    a_team <<END
phases:
  - {name: first, agent: exec, commands: [{name: ok, run: "true"}]}
  - {name: review, agent: $AGENT, type: gate, depends_on: [first]}
END
    script <<'END'
[{"turns":[{"text":"Looks good to me!"},{"text":"```json\n{\"verdict\":{\"outcome\":\"PASS\"},\"comment\":\"fine\"}\n```"}]}]
END
    run_ok
    has "$(asked 'json.dumps(q[-1]["body"])')" "Looks good to me!"
    has "$(lines_of review)" "asked again"
}

# The model calls a tool for ever; the budget ends it while it works.
case_is_stopped_by_its_budget() { # MORE FIELDS
    develop "budget: {tokens: 3500}, timeout: 60s${1:+, $1}"
    script <<END
[{"turns":[{"write":"$T/proj/1.txt","content":"x","usage":{"input":1000,"output":100}},{"write":"$T/proj/2.txt","content":"x","usage":{"input":1000,"output":100}},
           {"write":"$T/proj/3.txt","content":"x","usage":{"input":1000,"output":100}},{"write":"$T/proj/4.txt","content":"x","usage":{"input":1000,"output":100}},
           {"silence":true}]}]
END
    run_is 3
    # claude tells what a message's answer took only at the turn's end
    like "$(<"$STATE/orchestrator.log")" "budget of phase develop: 4[04]0[04] of 3500 tokens used"
    until_true no_program_left
}

case_a_bad_key_ends_at_once() {
    develop
    settings "$AGENT.api_key" sk-bad-0123456789
    SECONDS=0
    run_is 3
    [ $SECONDS -lt 30 ]
    has "$(lines_of develop)" "cliq settings agents.$AGENT.api_key -"
    [ "$(asked 'len(q)')" -le 3 ]
    is "" "$(grep -rl sk-bad-0123456789 "$STATE/signals" "$STATE/run/logs" "$T/err" "$T/out" || true)"
}

case_goes_on_after_a_rate_limit() { # [twice]
    local limit='{"status":429,"retry_after":1},'
    develop
    script <<END
[{"turns":[$limit${1:+$limit}{"text":"Late, but done."}]}]
END
    run_ok
    has "$(phase_log develop)" "Late, but done."
}

case_goes_on_after_a_cut_stream() { # MORE FIELDS
    develop "$1"
    script <<'END'
[{"turns":[{"text":"Half of this is lost. It is long enough to be cut in the middle.","cut":true},{"text":"Whole."}]}]
END
    run_ok
    has "$(phase_log develop)" "Whole."
}

case_a_prompt_that_is_too_long() {
    develop
    script <<'END'
[{"turns":[{"status":400,"message":"prompt is too long: 250000 tokens > 200000 maximum"}]}]
END
    run_is 3
    has "$(lines_of develop)" "too long for the model"
}

case_is_stopped_when_it_is_stuck() {
    develop "timeout: 6s"
    script <<'END'
[{"turns":[{"silence":true}]}]
END
    run_is 3
    has "$(lines_of develop; cat "$STATE/orchestrator.log")" "timed out"
    until_true no_program_left
}
no_program_left() { ! grep -lzs "^HOME=$HOME\$" /proc/[0-9]*/environ | while read -r f; do
    tr '\0' ' ' <"${f%environ}cmdline" 2>/dev/null; done | grep -qE "stream-json|exec --json|--format json"; }

case_a_denied_tool_is_told() { # [TOOL OPERAND [MORE FIELDS]]
    develop "$3"
    script <<END
[{"turns":[{"${1:-run}":"${2:-curl http://127.0.0.1:1/}","content":"x"},{"text":"I could not."}]}]
END
    run_ok
    has "$(lines_of develop)" "denied"
}

case_a_missing_program_is_named() {
    develop
    settings "$AGENT.binary" no-such-program
    run_is 3
    has "$(lines_of develop)" "there is no program no-such-program: install it ("
}

# Where the program keeps its conversations, from the project's directory.
case_begins_anew_when_its_conversation_is_gone() { # PATH
    agent judge <<END
ok
case \$N in 1) rm -rf "$1" && verdict ROUTE develop again ;; *) verdict PASS '' fine ;; esac
END
    a_team <<END
phases:
  - {name: develop, agent: $AGENT}
  - {name: review, agent: judge, type: gate, depends_on: [develop]}
END
    script <<'END'
[{"turns":[{"text":"The first try."},{"text":"The second try."}]}]
END
    [ -n "$1" ]
    run_ok
    has "$(lines_of develop)" "begins a new one"
    lacks "$(asked 'json.dumps(q[-1]["body"])')" "The first try."
}
