#!/usr/bin/env bats
# The conversation with a model that the next attempt of a phase goes on with: payload.session.
load pipeline

# An agent of that name that tells a session of its own, and takes `session` as a field.
talker() {
    agent "$1" <<END
ok
line '"status":"progress","result":{"usage":{"model":"gpt-5","input_tokens":100,"output_tokens":10,"session_id":"'\$P'-by-$1"}}'
$(cat)
END
    printf '{"name":"%s","version":"1.0.0","description":"talks","entry":"agent.sh","capabilities":["phase:standard","phase:gate"],"schema":{"session":{"type":"string"}}}\n' \
        "$1" >"$T/team/agents/$1/manifest.json"
}

session() { # PHASE.N: id and input tokens of the message's session
    json "$T/message.$1" "(lambda s: s and s['id'] + ' ' + str(s['usage']['input_tokens']))(d['payload'].get('session'))"
}

@test "work that a gate sends back goes on with its conversation; the gate judges afresh" {
    talker a <<'END'
case $P.$N in gate.1 | gate.2) verdict ROUTE work more ;; gate.*) verdict PASS ;; *) complete ;; esac
END
    team <<'END'
phases:
  - {name: work, agent: a}
  - {name: gate, type: gate, agent: a, depends_on: [work]}
END
    run_ok
    is None "$(session work.1)"
    is "work-by-a 100" "$(session work.2)"
    is "work-by-a 200" "$(session work.3)"
    is None "$(session gate.2)"
}

@test "the field session decides: fresh never goes on, continue does at a gate, too" {
    talker a <<'END'
case $P.$N in gate.1) verdict ROUTE work more ;; gate.*) verdict PASS ;; *) complete ;; esac
END
    team <<'END'
phases:
  - {name: work, agent: a, session: fresh}
  - {name: gate, type: gate, agent: a, depends_on: [work], session: continue}
END
    run_ok
    is None "$(session work.2)"
    is "gate-by-a 100" "$(session gate.2)"
}

@test "an attempt after an error, a crash, cliq retry and --resume goes on with it" {
    hold go
    talker a <<'END'
case $N in
1) fail "try again" ;;
2) exit 1 ;;
3) fail "and again" ;;
4) complete ;;
5) echo $$ >"$T/pid"; await go; kill -KILL $$ ;;
*) complete ;;
esac
END
    team <<<'phases: [{name: work, agent: a, retries: 2}]'
    run_is 3
    is "work-by-a 100" "$(session work.2)"
    is "work-by-a 200" "$(session work.3)"
    run_ok --from work
    is "work-by-a 300" "$(session work.4)"
    start_run killed --from work
    until_true exists "$T/pid"
    kill -KILL "$PID"
    until_true gone "$PID"
    start again "$CLIQ" run $HEADLESS --resume
    until_true says .cliq/orchestrator.log resumed
    release go
    ended again "$PID"
    code_is 0
    is "work-by-a 400" "$(session work.5)"
    is "work-by-a 500" "$(session work.6)"
}

@test "another agent does not get the conversation of the one before" {
    talker a <<<'fail "no"'
    talker b <<<'complete'
    mkdir "$T/team/roles"
    echo "Do the work, and say what you have done in a few words." >"$T/team/roles/work.md"
    team <<<'phases: [{name: work}]'
    run_is 3 --agent a
    run_ok --from work --agent b
    is None "$(session work.2)"
}
