#!/usr/bin/env bats
# A team as a phase of another: what it gets, what it hands over, and how it is stopped, timed,
# tried again, cancelled and resumed.
load pipeline

# sub NAME < YAML: a team in teams/NAME of the team of `team`; its agents are those of `agent`.
sub() {
    local dir=$T/team/teams/$1
    mkdir -p "$dir"
    [ ! -d "$T/team/agents" ] || cp -r "$T/team/agents" "$dir/"
    {
        printf 'name: "@local/%s"\ndescription: a team in a team\n' "$1"
        [ -z "$AGENTS" ] || printf 'agents:\n%s' "$AGENTS"
        cat
    } >"$dir/team.yml"
}
role() { mkdir -p "$T/team/roles" && cat >"$T/team/roles/$1.md"; } # PHASE < TEXT
FRAME=.cliq/frames/build

# a, then the team of two phases, then z
two_levels() {
    agent w <<'END'
ok
complete
END
    sub inner <<'END'
phases: [{name: one, agent: w}, {name: two, agent: w, depends_on: [one]}]
END
    role build <<<"Build what the plan says, please."
    team <<END
phases:
  - {name: a, agent: w}
  - {name: build, type: team, team: ./teams/inner, depends_on: [a]${1:+, $1}}
  - {name: z, agent: w, depends_on: [build]}
END
}

@test "a team runs as a phase, and its leaves are the phase's outputs" {
    agent w <<'END'
ok
case $P in
a) hand build '{"version":1,"phase_type":"standard","phase":"a","agent":"w","data":{"lang":"C"},"text":"the plan"}' ;;
one) cp "$CLIQ_STATE_DIR/channels/in--one/handoff.json" "$T/in" ;;
two | three) hand out "{\"version\":1,\"phase_type\":\"standard\",\"phase\":\"$P\",\"agent\":\"w\",\"data\":{\"n\":\"$P\"},\"text\":\"text of $P\"}" ;;
esac
complete
END
    sub inner <<'END'
inputs: [{name: lang, required: true}, {name: depth, default: "3"}]
phases:
  - {name: one, agent: w, env: {L: "$(inputs.lang) $(inputs.depth)"}}
  - {name: two, agent: w, depends_on: [one]}
  - {name: three, agent: w, depends_on: [one]}
END
    role build <<<'Build it in $(handoff.a.lang), by the plan.'
    team <<'END'
phases:
  - {name: a, agent: w}
  - {name: build, type: team, team: ./teams/inner, depends_on: [a], inputs: {lang: "x$(handoff.a.lang)"}}
  - {name: z, agent: exec, depends_on: [build], commands: [{name: c, run: "echo $(handoff.build.outputs.two.n) $(handoff.build.status) >../said"}]}
END
    run_ok
    is "a.1 one.1 " "$(cut -d' ' -f1,2 <<<"$(starts)") "
    is "Build it in C, by the plan." "$(<$FRAME/req_spec.md)"
    is "{'lang': 'xC', 'depth': '3'}" "$(json $FRAME/inputs.json d)"
    is "two COMPLETED" "$(<"$T/said")"
    is "{'lang': 'C'} team" "$(json "$T/in" 'str(d["data"]["a"])+" "+d["phase_type"]')"
    has "$(json "$T/in" 'd["text"]')" "the plan"
    is "team COMPLETED ['three', 'two']" "$(json .cliq/channels/build--z/handoff.json 'd["phase_type"]+" "+d["data"]["status"]+" "+str(sorted(d["data"]["outputs"]))')"
    has "$(json .cliq/channels/build--z/handoff.json 'd["text"]')" "text of two"
    is "['$PWD/$FRAME/channels/two--out']" "$(json "$T/message.two.1" 'd["handoff_dirs"]')"
    is "$PWD/$FRAME" "$(json "$T/message.two.1" 'd["payload"]["state_dir"]')"
    is COMPLETED "$(<$FRAME/signals/_pipeline_status)"
    has "$out" "build/two"
}

@test "an error in the team escalates the phase, with the phase that failed in its reason" {
    agent w <<<'ok; [ "$P" != two ] || { fail "no disk"; exit 1; }; complete'
    sub inner <<<'phases: [{name: one, agent: w}, {name: two, agent: w, depends_on: [one]}]'
    role build <<<"Build what the plan says, please."
    team <<'END'
phases: [{name: build, type: team, team: ./teams/inner}, {name: z, agent: w, depends_on: [build]}]
END
    run_is 3
    status_is ESCALATED
    has "$out" "phase build: phase two: agent error: no disk"
    has "$out" "Next: cliq retry build/two (mend the cause first: cliq log build/two shows what it said)"
    got status
    has "$out" "Next: cliq retry build/two (mend"
    is "one.1 two.1" "$(starts)"
    is ESCALATED "$(<$FRAME/signals/_pipeline_status)"
}

@test "retries of a team phase run its team anew, and the attempts before are kept" {
    agent w <<'END'
ok
[ "$P" != two ] || [ -e "$T/again" ] || { : >"$T/again"; fail "no disk"; exit 1; }
complete
END
    sub inner <<<'phases: [{name: one, agent: w}, {name: two, agent: w, depends_on: [one]}]'
    role build <<<"Build what the plan says, please."
    team <<'END'
phases: [{name: build, type: team, team: ./teams/inner, retries: 1}, {name: z, agent: w, depends_on: [build]}]
END
    run_ok
    is "one.1 two.1 one.1 two.1 z.1" "$(starts)"
    is 1 "$(ls $FRAME/runs | wc -l)"
    has "$(cat $FRAME/runs/*/run/journal.jsonl)" "no disk"
    has "$(cat $FRAME/run/journal.jsonl)" '/build.2"'
}

@test "the time limit of a team phase stops all of it; it has none by default" {
    agent w <<<'ok; echo $$ >"$T/pid"; sleep $NAP; complete'
    sub inner <<<'phases: [{name: one, agent: w}]'
    role build <<<"Build what the plan says, please."
    team <<'END'
phases: [{name: build, type: team, team: ./teams/inner, timeout: 1s}]
END
    run_is 3
    has "$out" "phase build timed out: no end after"
    has "$out" "at work: one"
    until_true none_left
    is CANCELLED "$(<$FRAME/signals/_pipeline_status)"
}

@test "cancel stops what runs in a team phase, whether the orchestrator lives or not" {
    agent w <<<'ok; echo $$ >"$T/pid"; sleep $NAP; complete'
    sub inner <<<'phases: [{name: one, agent: w}]'
    role build <<<"Build what the plan says, please."
    team <<'END'
phases: [{name: build, type: team, team: ./teams/inner}]
END
    start_run run
    until_true exists "$T/pid"
    got cancel
    is CANCELLED "$out"
    ended run "$PID"
    code_is 130
    until_true none_left
    is "CANCELLED CANCELLED" "$(<.cliq/signals/_pipeline_status) $(<$FRAME/signals/_pipeline_status)"
    rm "$T/pid"
    start_run again
    until_true exists "$T/pid"
    kill -KILL "$PID"
    until_true gone "$PID"
    got cancel
    is CANCELLED "$out"
    until_true none_left
    has "$(tail -n1 $FRAME/run/journal.jsonl)" CANCELLED
}

@test "a gate outside sends a whole team back; the team reads why" {
    agent w <<'END'
ok
[ "$P" != one ] || cat "$CLIQ_STATE_DIR/channels/in--one/handoff.json" >"$T/in.$(wc -l <"$T/starts")" 2>/dev/null
complete
END
    agent g <<<'ok; if [ "$N" = 1 ]; then verdict ROUTE build "too slow"; else verdict PASS "" fine; fi'
    sub inner <<<'phases: [{name: one, agent: w}, {name: two, agent: w, depends_on: [one]}]'
    role build <<<"Build what the plan says, please."
    team <<'END'
phases:
  - {name: build, type: team, team: ./teams/inner}
  - {name: check, type: gate, agent: g, depends_on: [build]}
END
    run_ok
    is "one.1 two.1 check.1 one.1 two.1 check.2" "$(starts)"
    is "too slow" "$(json "$T/in.4" 'd["data"]["check"]["verdict"]["reason"]')"
    is 1 "$(ls $FRAME/runs | wc -l)"
}

@test "gates inside: ROUTE goes round in the team, ESCALATE is the phase's error, PASS is an output" {
    agent w <<<'ok; complete'
    agent g <<<'ok; if [ "$N" = 1 ]; then verdict ROUTE one again; elif [ -e "$T/bad" ]; then verdict ESCALATE "" "ask ann"; else verdict PASS "" fine; fi'
    sub inner <<<'phases: [{name: one, agent: w}, {name: check, type: gate, agent: g, depends_on: [one]}]'
    role build <<<"Build what the plan says, please."
    team <<'END'
phases: [{name: build, type: team, team: ./teams/inner}, {name: z, agent: w, depends_on: [build]}]
END
    run_ok
    is "one.1 check.1 one.2 check.2 z.1" "$(starts)"
    is "PASS" "$(json .cliq/channels/build--z/handoff.json 'd["data"]["outputs"]["check"]["verdict"]["outcome"]')"
    : >"$T/bad"
    run_is 3
    has "$out" "phase build: gate check escalated: ask ann"
}

@test "people decide a gate inside: the review is where all reviews are" {
    agent w <<<'ok; complete'
    sub inner <<'END'
phases:
  - {name: one, agent: w}
  - {name: accept, type: gate, agent: hug, depends_on: [one], review: {reviewer: ann}}
END
    role build <<<"Build what the plan says, please."
    team <<'END'
phases: [{name: build, type: team, team: ./teams/inner}, {name: z, agent: w, depends_on: [build]}]
END
    start_run run
    waits() { "$CLIQ" review list --json 2>/dev/null | grep -q '"open"'; }
    until_true waits
    got status
    has "$out" "waits for ann"
    got review
    like "$out" "accept-1-[0-9a-f]+ +build/accept +open +ann"
    has "$("$CLIQ" inbox --as ann)" "Review gate build/accept of @local/inner"
    got review approve "$("$CLIQ" review list --json | $PY -c 'import json,sys; print(json.load(sys.stdin)[0]["id"])')" --as ann
    code_is 0
    ended run "$PID"
    code_is 0
    is "one.1 z.1" "$(starts)"
}

@test "a detached run that awaits people in a team sleeps, and the answer starts it again" {
    agent w <<<'ok; complete'
    sub inner <<<'phases: [{name: accept, type: gate, agent: hug, review: {reviewer: ann}}]'
    role build <<<"Build what the plan says, please."
    team <<'END'
phases: [{name: build, type: team, team: ./teams/inner}, {name: z, agent: w, depends_on: [build]}]
END
    got run --detach --headless
    code_is 0
    until_true exists .cliq/run/asleep
    got review approve "$("$CLIQ" review list --json | $PY -c 'import json,sys; print(json.load(sys.stdin)[0]["id"])')" --as ann
    code_is 0
    until_true says .cliq/signals/_pipeline_status COMPLETED
    is "z.1" "$(starts)"
}

@test "one --jobs limit holds for all levels" {
    agent w <<'END'
ok
mkdir "$T/slot" || echo "$P" >>"$T/together"
sleep 0.05
rmdir "$T/slot"
complete
END
    sub inner <<<'phases: [{name: one, agent: w}, {name: two, agent: w}, {name: three, agent: w}]'
    role left <<<"Build what the plan says, please."
    role right <<<"Build what the plan says, please."
    team <<'END'
phases:
  - {name: left, type: team, team: ./teams/inner}
  - {name: right, type: team, team: ./teams/inner}
  - {name: z, agent: w}
END
    run_ok --jobs 1
    [ ! -e "$T/together" ]
    is 7 "$(wc -l <"$T/starts")"
    sed -i 's/mkdir.*/ls "$T"\/at 2>\/dev\/null | wc -l >>"$T\/most"; mkdir -p "$T\/at\/$CLIQ_RUN_ID.$P"/; s/rmdir.*/rmdir "$T\/at\/$CLIQ_RUN_ID.$P"/' "$T"/team/teams/inner/agents/w/agent.sh "$T/team/agents/w/agent.sh"
    assemble
    run_ok --jobs 2
    [ "$(sort -n "$T/most" | tail -n1)" -le 1 ]
}

@test "eight teams in each other run, nine are refused" {
    agent w <<<'ok; complete'
    local dir=$T/team/teams/t1 n
    for n in 1 2 3 4 5 6 7 8; do
        mkdir -p "$dir/roles"
        cp -r "$T/team/agents" "$dir/"
        echo "Run the next one of these teams." >"$dir/roles/down.md"
        {
            printf 'name: "@local/t%s"\ndescription: one of eight\nagents:\n%sphases:\n  - {name: work, agent: w}\n' $n "$AGENTS"
            [ $n = 8 ] || printf '  - {name: down, type: team, team: ./teams/t%s, depends_on: [work]}\n' $((n + 1))
        } >"$dir/team.yml"
        [ $n = 8 ] || dir=$dir/teams/t$((n + 1))
    done
    role down <<<"Run the next one of these teams."
    team <<<'phases: [{name: down, type: team, team: ./teams/t1}]'
    run_ok
    is 8 "$(wc -l <"$T/starts")"
    has "$out" "down/down/down/down/down/down/down/down/work"
    got status
    has "$out" "down/down/down/down/down/down/down/down/work"
    mkdir -p "$dir/teams/t9/roles" "$dir/roles"
    sed 's/t8/t9/; s/eight/nine/' "$dir/team.yml" >"$dir/teams/t9/team.yml"
    cp -r "$T/team/agents" "$dir/teams/t9/"
    echo '  - {name: down, type: team, team: ./teams/t9, depends_on: [work]}' >>"$dir/team.yml"
    got assemble ../team
    code_is 1
    has "$err" "more than 8 teams are in each other"
}

@test "a second run keeps the frames of the first, and retry runs a team phase again" {
    two_levels
    run_ok
    local first
    first=$("$CLIQ" runs --json | $PY -c 'import json,sys; print(json.load(sys.stdin)[0]["run"])')
    run_ok
    exists ".cliq/runs/$first/frames/build/run/journal.jsonl"
    exists ".cliq/runs/$first/frames/build/run/logs/one.1.log"
    got log build/one --run "$first"
    code_is 0
    got status --run "$first"
    has "$out" "build/two"
    got retry build --headless
    code_is 0
    is "a.1 one.1 two.1 z.1 a.1 one.1 two.1 z.1 one.1 two.1 z.2" "$(starts)"
}

@test "retry goes on within a team phase, and keeps what is done in it" {
    agent w <<'END'
ok
[ "$P" != two ] || [ -e "$T/mended" ] || { fail "no disk"; exit 1; }
[ "$P" != two ] || await go
complete
END
    sub inner <<'END'
phases: [{name: one, agent: w}, {name: two, agent: w, depends_on: [one]}, {name: three, agent: w, depends_on: [two]}]
END
    role build <<<"Build what the plan says, please."
    team <<'END'
phases: [{name: a, agent: w}, {name: build, type: team, team: ./teams/inner, depends_on: [a]}, {name: z, agent: w, depends_on: [build]}]
END
    run_is 3
    got retry a/one --headless
    refused 4 "phase a runs no team"
    got retry build/twoo --headless
    refused 4 'did you mean "two"?'
    : >"$T/mended"
    got retry build/two --headless
    code_is 0
    is "a.1 one.1 two.1 two.2 three.1 z.1" "$(starts)"
    has "$(<$FRAME/run/journal.jsonl)" '/build.2"'
    has "$(<.cliq/run/journal.jsonl)" '"below":"two"'
    got status
    like "$out" "build/one +done +1"
    # and so does the run that was killed meanwhile
    hold go
    start_run again --from build/two
    until_true has_lines "$T/starts" 7
    kill -KILL "$PID"
    until_true gone "$PID"
    release go
    run_ok --resume
    is "two.3 three.2 z.2" "$(tail -n 3 "$T/starts" | paste -sd' ')"
    is 9 "$(wc -l <"$T/starts")"
}

@test "a retry within a team phase that was killed before the team went on goes on there" {
    two_levels
    run_ok
    got retry build/two --headless
    code_is 0
    # what the journals would be then: above the start is written, below nothing yet
    rm $FRAME/run/attempts/two.2 .cliq/run/attempts/z.2
    sed -i '/"rerun"/,$d' $FRAME/run/journal.jsonl
    sed -i '/"started","phase":"build","attempt":2/q' .cliq/run/journal.jsonl
    run_ok --resume
    is "a.1 one.1 two.1 z.1 two.2 z.2 two.2 z.2" "$(starts)"
}

@test "status --watch shows what happens in a team phase" {
    hold go
    agent w <<<'ok; [ "$P" != two ] || await go; complete'
    sub inner <<<'phases: [{name: one, agent: w}, {name: two, agent: w, depends_on: [one]}]'
    role build <<<"Build what the plan says, please."
    team <<'END'
phases: [{name: build, type: team, team: ./teams/inner}]
END
    start_run run
    local run=$PID
    until_true has_lines "$T/starts" 1
    start watch "$CLIQ" status --watch
    until_true grep -qE 'build/two +running' "$T/watch.out"
    release go
    ended watch "$PID"
    code_is 0
    like "$out" "build/two +done"
    ended run "$run"
}

@test "status, log and graph show all levels" {
    two_levels
    run_ok
    got status
    like "$out" "build/one +done +1"
    got status --json
    is "build done one two" "$(json "$T/out" '" ".join([d["phases"][1]["phase"],d["phases"][1]["state"]]+[p["phase"] for p in d["phases"][1]["run"]["phases"]])')"
    got log build/one
    code_is 0
    got log build
    refused 4 "cliq log build/one"
    got graph
    has "$out" "build/one"
    got graph --format mermaid
    has "$out" "subgraph"
    got graph --format dot
    has "$out" "cluster"
    got graph --format svg
    has "$out" "two"
    got run --dry-run
    code_is 0
    has "$out" "build/two"
    got run --dry-run --json
    is "one" "$(json "$T/out" '[p for p in d if p["phase"]=="build"][0]["team"]["phases"][0]["phase"]')"
}

@test "the hub hears of the phases in a team by their way, and once of the run" {
    two_levels
    run_ok
    got signal events --json
    has "$out" ":build/one:completed"
    has "$out" ":build:completed"
    is 1 "$(grep -o ':completed"' "$T/out" | wc -l | sed 's/[0-9]*/1/')"
    is 1 "$(grep -o '"pipeline:[^"]*:completed"' "$T/out" | wc -l)"
}

@test "what models use in a team counts for the phase, the run and their budgets" {
    agent w <<'END'
ok
line '"status":"progress","message":"","result":{"usage":{"model":"m","input_tokens":600,"output_tokens":0}}'
complete '{"usage":{"model":"m","input_tokens":600,"output_tokens":0}}'
END
    sub inner <<<'phases: [{name: one, agent: w}, {name: two, agent: w, depends_on: [one]}]'
    role build <<<"Build what the plan says, please."
    team <<'END'
phases: [{name: build, type: team, team: ./teams/inner}, {name: z, agent: w, depends_on: [build]}]
END
    run_ok
    is "1200 1800" "$(got status --json; json "$T/out" 'str(d["phases"][0]["usage"]["input_tokens"])+" "+str(d["usage"]["input_tokens"])')"
    sed -i 's/^phases:/budget: {tokens: 1000}\nphases:/' "$T/team/team.yml"
    assemble
    run_is 3
    has "$out" "budget of the run"
    is "one.1 two.1" "$(tail -n +4 "$T/starts" | paste -sd' ')"
}

@test "what is wrong with a team in a team is told with its file; circles with their way" {
    agent w <<<'ok; complete'
    sub inner <<'END'
inputs: [{name: lang, required: true}]
phases: [{name: one, agent: w, depends_on: [tow]}, {name: two, agent: w, env: {A: "$(inputs.lang)"}}, {name: out, agent: w}]
END
    role build <<<"Build what the plan says, please."
    got init
    { printf 'name: "@local/test"\ndescription: x\n'; echo 'phases: [{name: build, type: team, team: ./teams/inner, inputs: {langg: C}}, {name: b, type: team, team: ../other}, {name: c, type: team, team: "@acme/none"}]'; } >"$T/team/team.yml"
    cp "$T/team/roles/build.md" "$T/team/roles/b.md"
    cp "$T/team/roles/build.md" "$T/team/roles/c.md"
    got team validate "$T/team"
    code_is 1
    has "$out" "$T/team/teams/inner/team.yml:"
    has "$out" "tow"
    has "$out" 'has no input "langg" (did you mean "lang"?)'
    has "$out" 'needs the input "lang"'
    has "$out" 'cannot be called out'
    has "$out" '"../other": a team phase runs ./teams/NAME'
    has "$out" "cliq team install DIR, or hub://@acme/none"
    for n in a b; do
        mkdir -p "$T/$n/roles"
        echo "Run the other of these teams." >"$T/$n/roles/down.md"
        printf 'name: "@local/%s"\ndescription: a circle\nphases: [{name: one, agent: exec, commands: [{name: c, run: "true"}]}]\n' $n >"$T/$n/team.yml"
        "$CLIQ" team install "$T/$n" >/dev/null
    done
    printf 'name: "@local/a"\ndescription: a circle\nphases: [{name: down, type: team, team: "@local/b"}]\n' >"$CLIQ_HOME/teams/@local/a/team.yml"
    printf 'name: "@local/b"\ndescription: a circle\nphases: [{name: down, type: team, team: "@local/a"}]\n' >"$CLIQ_HOME/teams/@local/b/team.yml"
    mkdir -p "$CLIQ_HOME/teams/@local/a/roles" "$CLIQ_HOME/teams/@local/b/roles"
    cp "$T/a/roles/down.md" "$CLIQ_HOME/teams/@local/a/roles/"
    cp "$T/a/roles/down.md" "$CLIQ_HOME/teams/@local/b/roles/"
    got assemble @local/a
    code_is 1
    has "$err" "@local/a → @local/b → @local/a"
}

@test "what others read of a team's handoff has to be there, before anything runs" {
    agent w <<<'ok; complete'
    sub inner <<'END'
phases: [{name: one, agent: w}, {name: last, agent: w, depends_on: [one]}, {name: other, agent: w, depends_on: [one]}]
END
    role build <<<"Build what the plan says, please."
    reads() { # EXPRESSION...: in a command and in a role
        printf 'Take %s and go on from there, please.\n' "${2:-nothing}" >"$T/team/roles/use.md"
        printf 'name: "@local/test"\ndescription: x\nagents:\n%sphases: [{name: build, type: team, team: ./teams/inner}, {name: use, agent: w, depends_on: [build], env: {A: "%s"}}]\n' "$AGENTS" "$1" >"$T/team/team.yml"
        got team validate "$T/team"
    }
    reads '$(handoff.build.status) $(handoff.build.text) $(handoff.build.outputs)' '$(handoff.build.outputs.last.x[0]) $(handoff.build.outputs.other) $(handoff.build.data)'
    succeeds
    got team info "$T/team"
    like "$out" "PHASE +TYPE +AGENT +DEPENDS ON +TEAM"
    like "$out" "build +team +team +./teams/inner"
    has "$("$CLIQ" team info "$T/team" --json)" '"agent":"team","team":"./teams/inner"'
    reads '$(handoff.build.outputs.lats.x)'
    code_is 1
    has "$out" '$(handoff.build.outputs.lats.x): the team @local/inner has no phase "lats" (did you mean "last"?) (phase use, field env)'
    reads '$(handoff.build.output.last)'
    code_is 1
    has "$out" 'a team hands over status, outputs, text and data (did you mean "outputs"?)'
    reads '' '$(handoff.build.outputs.one)'
    code_is 1
    has "$out" '"one" is not one of the last phases of the team @local/inner, and only those hand over to others (phase use, field role)'
}

@test "a run that was assembled with other teams is refused: trust covers them" {
    two_levels
    echo '# changed' >>$FRAME/workflow.yml
    run_is 7
    has "$err" "cliq team trust"
}

@test "an installed team inside is not trusted by naming the outer one" {
    agent w <<<'ok; complete'
    sub inner <<<'phases: [{name: one, agent: w}]'
    "$CLIQ" team install "$T/team/teams/inner" >/dev/null
    role build <<<"Build what the plan says, please."
    mkdir -p "$T/proj" && cd "$T/proj"
    printf 'name: "@local/test"\ndescription: x\nphases: [{name: build, type: team, team: inner}]\n' >"$T/team/team.yml"
    rm -rf "$T/team/teams" "$T/team/agents"
    "$CLIQ" init >/dev/null
    got assemble ../team
    code_is 0
    has "$err" "until you trust it"
    run_is 7
    got team trust
    run_ok
    is one.1 "$(starts)"
}
