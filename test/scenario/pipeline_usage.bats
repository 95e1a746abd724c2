#!/usr/bin/env bats
# What models used: summed over attempts and phases, shown, kept, and stopped by budgets.
load pipeline

# An agent whose words also have: used TOKENS [MEMBERS], a progress line with usage of gpt-5 (1 million
# tokens cost $1.25).
model() {
    agent "$1" <<END
used() { line '"status":"progress","result":{"usage":{"model":"'\${MODEL:-gpt-5}'","input_tokens":'\$1',"output_tokens":0'"\$2"'}}'; }
$(cat)
END
}

# A member of the usage that `status --json` tells.
usage_of() { # PHASE MEMBER; the phase run: of all
    "$CLIQ" status --json >"$T/status.json"
    json "$T/status.json" "([d] if '$1' == 'run' else [p for p in d['phases'] if p['phase'] == '$1'])[0].get('usage', {}).get('$2')"
}

@test "usage is summed over the attempts of a phase and over phases, live and at the end" {
    hold go
    model a <<'END'
ok
used 100000
[ "$P.$N" != one.1 ] || { used 200000; fail "try again"; }
[ "$P" != two ] || { used 300000; await go; }
complete '{"usage":{"model":"gpt-5","input_tokens":400000,"output_tokens":0}}'
END
    agent script_like <<<'ok; complete'
    team <<'END'
phases:
  - {name: one, agent: a, retries: 1}
  - {name: two, agent: a, depends_on: [one]}
  - {name: three, agent: script_like, depends_on: [two]}
END
    start_run run
    until_true says .cliq/signals/two.jsonl 300000
    is 600000 "$(usage_of one input_tokens)" # 200000 of the first attempt, 400000 of the second
    is 0.75 "$(usage_of one cost_usd)"
    is 300000 "$(usage_of two input_tokens)" # while it runs
    is 900000 "$(usage_of run input_tokens)"
    release go
    ended run "$PID"
    code_is 0
    has "$(<"$T/run.out")" "Used: 1.0M in, 0 out, \$1.25"
    is 1.25 "$(usage_of run cost_usd)"
    is None "$(usage_of three input_tokens)"
    got status
    like "$out" 'one +done +2 .* \$0.75'
    has "$out" "Used: 1.0M in, 0 out, \$1.25"
    run_ok --json --from two
    is 1.75 "$(tail -1 <<<"$out" | $PY -c 'import json,sys; print(json.load(sys.stdin)["usage"]["cost_usd"])')"
    is 1 "$(grep '"event":"completed".*"phase":"two"' <<<"$out" | $PY -c 'import json,sys; print(json.load(sys.stdin)["usage"]["cost_usd"])')"
    run_is 0 # a new run begins at zero, and the one before keeps its sum
    got runs
    like "$out" 'USED'
    is '$1.25 $1.75' "$(grep -o '\$[0-9.]*' <<<"$out" | paste -sd' ')"
}

@test "a model without a price has tokens and no cost; the setting prices gives it one" {
    model a <<<'ok; MODEL=house-1.5-pro; used 100000; complete'
    team <<<'phases: [{name: one, agent: a, budget: {usd: 1}}]'
    run_ok
    is None "$(usage_of one cost_usd)"
    has "$out" "Used: 100.0k in, 0 out"
    lacks "$out" '$0'
    is 1 "$(grep -c "cliq settings prices.house-1.5-pro" .cliq/orchestrator.log)"
    got settings prices.house-1.5-pro '{"input":10}'
    code_is 2
    "$CLIQ" settings prices.house-1.5-pro '{"input":10,"output":10}'
    has "$("$CLIQ" settings prices.house-1.5-pro)" '"input": 10'
    run_is 0
    is 1 "$(usage_of one cost_usd)"
    "$CLIQ" settings prices.house-1.5-pro --unset
    run_is 0
    is None "$(usage_of one cost_usd)"
}

@test "a budget that cannot be checked says of which phase, and what to do" {
    agent a <<<'ok; complete '"'"'{"usage":{"input_tokens":600,"output_tokens":0}}'"'"
    agent b <<<'ok; complete '"'"'{"usage":{"model":"gpt-5","input_tokens":600,"output_tokens":0}}'"'"
    team <<'END'
budget: {usd: 5}
phases:
  - {name: one, agent: b}
  - {name: two, agent: a, depends_on: [one]}
END
    run_ok
    has "$out" "the usd of the run's budget cannot be checked in full: the agent of phase two does not say which model it used: name one with \`model\` of the phase"
    lacks "$out" 'settings prices'
    has "$out" "Used: 1.2k in, 0 out, \$0.0008 or more"
}

@test "a budget counts what a model costs at least, where its price depends on the length of prompts" {
    model a <<<'ok; MODEL=gpt-5.5; used 100000; used 700000; sleep $NAP'
    team <<<'phases: [{name: one, agent: a, budget: {usd: 2}}]'
    run_is 3
    none_left
    has "$out" "the usd of this phase's budget cannot be checked in full: the price of what gpt-5.5 used is not known"
    has "$out" "budget of phase one: \$3.50 of \$2.00 used"
    has "$out" "Used: 700.0k in, 0 out, \$3.50 or more"
    is "3.5 None" "$(usage_of run cost_usd_min) $(usage_of run cost_usd)"
}

@test "from 80 % of a budget there is one warning; more than it stops the agent's tree and escalates" {
    model a <<'END'
ok
sleep $NAP &
used 500000; used 850000; used 870000
used 960000
wait
END
    team <<<'phases: [{name: develop, agent: a, retries: 3, budget: {usd: 1.1}}, {name: after, agent: a, depends_on: [develop]}]'
    run_is 3
    status_is ESCALATED
    none_left
    is develop.1 "$(starts)"
    is 1 "$(grep -c '80 %' .cliq/orchestrator.log)"
    has "$out" "budget of phase develop: \$1.06 of \$1.10 used, 80 % or more"
    like "$out" "Why: budget of phase develop: \\\$1.20 of \\\$1.10 used; to go on"
    is "ESCALATED failed waiting" "$(states)"
    # What it used counts: without a higher budget the next attempt does not begin.
    run_is 3 --from develop
    is develop.1 "$(starts)"
    has "$out" "budget of phase develop: \$1.20 of \$1.10"
    agent a <<<'ok; complete' # it may be another one by now
    sed -i 's/usd: 1.1/usd: 5/' "$T/team/team.yml"
    assemble
    run_ok --from develop
    is "develop.1 develop.3 after.1" "$(starts)"
    is 1.2 "$(usage_of run cost_usd)"
}

@test "the budget of a run counts all phases, and what a phase that completes used" {
    agent a <<<'ok; complete '"'"'{"usage":{"model":"gpt-5","input_tokens":600,"output_tokens":0}}'"'"
    team <<'END'
budget: {tokens: 1000}
phases:
  - {name: one, agent: a}
  - {name: two, agent: a, depends_on: [one]}
  - {name: three, agent: a, depends_on: [two]}
END
    run_is 3
    has "$out" "Why: budget of the run: 1200 of 1000 tokens used"
    is "one.1 two.1" "$(starts)"
    sed -i 's/tokens: 1000/tokens: 10000/' "$T/team/team.yml"
    assemble
    run_ok --from three
    is 1800 "$(usage_of run input_tokens)"
}

@test "what was used before the orchestrator was killed counts after --resume" {
    hold go
    model a <<'END'
ok
[ "$P" != one ] || { used 700; complete; exit; }
used 200
echo $$ >"$T/pid"
await go
used 400
sleep $NAP
END
    team <<'END'
budget: {tokens: 1000}
phases: [{name: one, agent: a}, {name: two, agent: a, depends_on: [one]}]
END
    start_run run
    until_true says .cliq/signals/two.jsonl 200
    kill -KILL "$PID"
    until_true gone "$PID"
    is 900 "$(usage_of run input_tokens)"
    start again "$CLIQ" run $HEADLESS --resume
    until_true says .cliq/orchestrator.log "80 %"
    release go
    ended again "$PID"
    code_is 3
    has "$(<"$T/again.out")" "budget of the run: 1100 of 1000 tokens used"
    none_left
}

@test "a budget that cannot be read is an error at its place" {
    agent a <<<'ok; complete'
    team <<'END' || true
budget: {usd: $5}
phases:
  - name: one
    agent: a
    budget: {tokens: many, usdd: 1}
  - {name: two, agent: a, budget: {}}
END
    got team validate ../team
    code_is 1
    like "$out" 'team.yml:[0-9]+:15: error: usd must be a number above 0, like 2.50, not "\$5"'
    like "$out" 'team.yml:[0-9]+:22: error: tokens must be a whole number above 0, not "many" \(phase one'
    like "$out" 'unknown key "usdd" in a budget \(usd:, tokens:\) \(did you mean "usd"\?\)'
    like "$out" 'error: a budget needs usd: or tokens: \(phase two'
}
