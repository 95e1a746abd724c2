#!/usr/bin/env bats
# What a run finds on its machine: limits of open files, and files of the wrong kind, owner or name.
load pipeline

@test "parts of a state directory that are of the wrong kind are told with their path" {
    agent a <<<'ok; complete'
    team <<<'phases:
  - {name: one, agent: a}
  - {name: two, agent: a, depends_on: [one]}'
    local part
    for part in signals run channels run/logs; do
        rm -rf "$STATE/$part"
        echo x >"$STATE/$part"
        got run --headless
        refused 2 "$STATE/$part is not a directory"
        rm "$STATE/$part"
    done
    for part in workflow.yml agents.json inputs.json run/journal.jsonl; do
        [ ! -e "$STATE/$part" ] || mv "$STATE/$part" "$T/kept"
        mkdir -p "$STATE/$part"
        got run --headless --force
        [ "$code" != 0 ] || complain "$part as a directory is taken"
        has "$err" "$STATE/$part is a directory, not a regular file"
        rmdir "$STATE/$part"
        [ ! -e "$T/kept" ] || mv "$T/kept" "$STATE/$part"
    done
    [ ! -e "$T/starts" ]
    run_ok
    mkdir -p "$CLIQ_HOME"
    rm -rf "$CLIQ_HOME/signals"
    echo x >"$CLIQ_HOME/signals"
    got signal generate a:b
    refused 2 "$CLIQ_HOME/signals is not a directory"
    got signal events
    refused 2 "$CLIQ_HOME/signals is not a directory"
    rm "$CLIQ_HOME/signals"
    mkdir -p "$CLIQ_HOME/signals/events.jsonl"
    got signal generate a:b
    refused 2 "$CLIQ_HOME/signals/events.jsonl is a directory, not a regular file"
}

# So many phases at once, each of which tells its own limit of open files.
wide_team() {
    agent limit <<'END'
ok
ulimit -Sn >"$T/limit.$P"
complete
END
    team < <(
        echo 'phases:'
        for i in $(seq "$1"); do echo "  - {name: p$i, agent: limit}"; done
    )
}

@test "a run takes the files that it needs, and leaves the agents the limit that they had" {
    [ -n "$HEADLESS" ] || skip "in a pane it is the limit of tmux"
    wide_team 30
    (
        ulimit -Sn 100
        run_ok
    )
    is 30 "$(cat "$T"/limit.* | grep -cx 100)"
}

@test "a run that may not open enough files says how many, and begins nothing" {
    wide_team 30
    got_limited() { # FILES ARGS...
        got_from bash -c 'ulimit -n "$1"; shift; exec "$@"' limited "$1" "$CLIQ" run $HEADLESS "${@:2}"
    }
    got_limited 30
    refused 1 "a run opens up to 68 files, and may open 30: ulimit -n 184"
    got_limited 100
    refused 1 "30 phases may run at a time, which takes 184 open files, and the limit is 100: say --jobs 9"
    is "" "$(starts)"
    [ ! -e .cliq/run/journal.jsonl ]
    got_limited 100 --jobs 9
    code_is 0
}

@test "a phase that failed before it was started is told so, and its log says why" {
    agent a <<<'ok; complete'
    team <<'END'
phases:
  - {name: one, agent: a}
  - {name: two, agent: a, depends_on: [one], when: "$(handoff.one.x) == y"}
END
    run_is 3
    is "one.1" "$(starts)"
    has "$out" "Why: phase two could not be started: "
    lacks "$out" "agent error"
    has "$out" "Next: cliq retry two (mend the cause first: cliq log two shows what it said)"
    got log two
    succeeds
    has "$out" "cliq: not started: "
    has "$out" "handoff.one.x"
}

@test "a .cliq/ of another user is refused with its owner, and left as it is" {
    [ "$(id -u)" = 0 ] || skip "needs root"
    agent a <<<'ok; complete'
    team <<<'phases: [{name: one, agent: a}]'
    chown -R nobody .cliq
    local c
    for c in run graph status log cancel init "assemble ../team" "req -m x" "settings default_agent a"; do
        got $c
        refused 7 "$T/proj/.cliq belongs to the user nobody, not to you: "
    done
    is "" "$(find .cliq ! -user nobody)"
    [ ! -e "$T/starts" ]
    chown 12345 .cliq
    got run
    refused 7 "$T/proj/.cliq belongs to the user with the id 12345, "
    got settings # the user's own
    succeeds
    mkdir below
    cd below
    got graph
    refused 7 "$T/proj/.cliq belongs to"
    got assemble ../../team
    code_is 0
    exists .cliq/workflow.yml
}

@test "a project whose path is not UTF-8 is refused before anything is made or run" {
    agent a <<<'ok; complete'
    team <<<'phases: [{name: one, agent: a}]'
    mkdir "$T"/$'bad\xff\xfe'
    cd "$T"/$'bad\xff\xfe'
    local c
    for c in init "assemble ../team"; do
        got $c
        refused 2 "is not UTF-8" "Rename that directory"
        is "" "$(ls -A)"
    done
    cp -a "$T/proj/.cliq" .
    for c in run "run --dry-run" "assemble ../team"; do
        got $c
        refused 2 "is not UTF-8"
    done
    [ ! -e "$T/starts" ]
    mkdir "$T/sø" && cd "$T/sø"
    cp -a "$T/proj/.cliq" .
    got run $HEADLESS
    code_is 0
}

@test "a log that is a FIFO holds nobody up" {
    team <<'END'
phases:
  - {name: one, agent: exec, commands: [{name: x, run: "true"}]}
END
    rm -f .cliq/orchestrator.log
    mkfifo .cliq/orchestrator.log
    timeout 20 "$CLIQ" run $HEADLESS
    got log
    code_is 1
    has "$err" "not a regular file"
}
