#!/usr/bin/env bats
# Handoffs that are missing, that are of an earlier attempt, or that are meant for another phase.
load pipeline

@test "retry and --from say which handoff is missing, and run all the same" {
    handing_team
    run_ok
    is "" "$err"
    got retry $HEADLESS c
    succeeds
    rm .cliq/channels/b--c/handoff.json
    got retry $HEADLESS c
    code_is 0
    is "cliq: warning: $STATE/channels/b--c/handoff.json is missing: c runs without what b hands over (cliq retry b runs both)" "$err"
    has "$(<.cliq/orchestrator.log)" "channels/b--c/handoff.json is missing"
    got run $HEADLESS --from c --json
    code_is 0
    has "$err" "b--c/handoff.json is missing"
    has "$out" "b--c/handoff.json is missing"
    rm .cliq/channels/b--d/handoff.json # read by d, which runs again behind c
    got retry $HEADLESS c
    code_is 0
    has "$err" "b--c/handoff.json is missing"
    has "$err" "b--d/handoff.json is missing"
    got retry $HEADLESS b # makes both again
    succeeds
    got retry $HEADLESS c
    succeeds
}

@test "a phase that was skipped owes no handoff" {
    agent a <<<'ok; complete'
    team <<'END'
phases:
  - {name: one, agent: a, when: "1 == 2"}
  - {name: two, agent: a, depends_on: [one]}
END
    run_ok
    got retry $HEADLESS two
    succeeds
}

@test "what a phase handed to one is not read by another" {
    agent a <<'END'
ok
hand two '{"version":1,"phase_type":"standard","phase":"one","agent":"a","data":{"v":"for two"},"text":"t"}'
complete
END
    team <<'END'
phases:
  - {name: one, agent: a}
  - {name: two, agent: exec, depends_on: [one], commands: [{name: x, run: "echo $(handoff.one.v)"}]}
  - {name: three, agent: exec, depends_on: [one], commands: [{name: x, run: "touch ran; echo $(handoff.one.v)"}]}
END
    run_is 3
    has "$out" 'cannot resolve $(handoff.one.v)'
    [ ! -e ran ]
    got log two
    has "$out" "for two"
}

@test "a phase that is left out this time leaves no handoff of the last time" {
    agent a <<'END'
ok
for to in hot after; do
    [ ! -d "$CLIQ_STATE_DIR/channels/$P--$to" ] ||
        hand $to "{\"version\":1,\"phase_type\":\"standard\",\"phase\":\"$P\",\"agent\":\"a\",\"data\":{\"sev\":\"high\"},\"text\":\"t\"}"
done
complete
END
    team <<'END'
phases:
  - {name: triage, agent: a}
  - {name: hot, agent: a, depends_on: [triage], when: "$(handoff.triage.sev) == high"}
  - {name: after, agent: a, depends_on: [hot]}
END
    run_ok
    grep -q hot--after "$T/message.after.1"
    sed -i 's/high/low/' .cliq/channels/triage--hot/handoff.json
    got retry $HEADLESS hot
    code_is 0
    has "$out" skipped
    [ ! -e .cliq/channels/hot--after/handoff.json ]
    ! grep -q hot--after/handoff "$T/message.after.2"
}

@test "the verdict of the last iteration stands in the channel, however fast they follow each other" {
    agent g <<'END'
verdict ROUTE dev again
END
    team <<'END'
phases:
  - {name: dev, agent: exec, commands: [{name: x, run: "true"}]}
  - {name: gate, type: gate, agent: g, depends_on: [dev], max_iterations: 5}
END
    run_is 3
    is 5 "$(json .cliq/channels/gate--dev/handoff.json 'd["data"]["iteration"]')"
}
