#!/usr/bin/env bats
# The first five minutes: `cliq` alone says what to do next, and the tutorial works as it is written.
load ../lib/cli

# next COMMAND: cliq alone prints three lines, and the second one is this command.
next() {
    got
    succeeds
    is 3 "$(wc -l <"$T/out")"
    like "$(sed -n 2p "$T/out")" "^Next: $1( |$)"
}
team() { # a team whose one phase runs COMMAND
    mkdir -p team
    printf 'name: "@local/t"\ndescription: d\nphases:\n  - { name: only, agent: exec, commands: [ { name: c, run: "%s" } ] }\n' "$1" >team/team.yml
    cliq assemble ./team >/dev/null
}

@test "cliq alone: three lines that say where the project stands and which command comes next" {
    next "cliq init"
    has "$out" "cliq help tutorial"
    cliq init >/dev/null
    next "cliq assemble"
    team "echo up >$T/up; exec sleep 1000"
    next "cliq req"
    cliq req -m x >/dev/null
    next "cliq run"
    start run "$CLIQ" run --headless
    until_true test -s "$T/up"
    next "cliq status --watch"
    kill -KILL "$PID"
    wait "$PID" || true
    next "cliq run --resume"
    cliq cancel
    next "cliq status"
    has "$out" CANCELLED
    mkdir deep && cd deep
    next "cliq status"
}

@test "cliq alone writes nothing" {
    next "cliq init"
    is "" "$(ls -A)"
    [ ! -e "$CLIQ_HOME" ]
}

@test "the tutorial has ten steps, and every command of it works" {
    is 10 "$(cliq help --scdoc tutorial.7 | grep -cE '^# [0-9]+\. ')"
    cliq help --scdoc tutorial.7 | sed -n '/^```$/,/^```$/{/^```$/d;p}' >"$T/steps"
    [ "$(grep -c ^cliq "$T/steps")" -ge 15 ]
    mkdir "$T/bin"
    ln -s "$CLIQ" "$T/bin/cliq"
    printf '#!/bin/sh\necho "Cursor 0.45.0"\n' >"$T/bin/agent"
    chmod +x "$T/bin/agent"
    CURSOR_API_KEY=key-of-eve PATH=$T/bin:$PATH got_from bash -euo pipefail "$T/steps"
    code_is 0
    has "$out" "No problems"
    has "$out" "COMPLETED"
    has "$out" "Hello, Eve"
    has "$out" "Please look"
    has "$out" "Review the greeting"
    has "$(tail -n 3 "$T/out")" done
}

# readme HEADING: the shell commands of a part of the README, without those that build and install.
readme() {
    awk -v part="## $1" '/^## /{ is_in = $0 == part } !is_in { next }
        /^```sh$/ { is_code = 1; next } /^```$/ { is_code = 0 } is_code' "$ROOT/README.md" |
        grep -vE '^(make|export PATH=|mkdir -p /tmp/cliq-tour)|^cliq setup|^cliq install'
}

@test "the commands of the README work as they stand, each part by itself" {
    mkdir "$T/bin"
    ln -s "$CLIQ" "$T/bin/cliq"
    printf '#!/bin/sh\necho "Cursor 0.45.0"\n' >"$T/bin/agent"
    chmod +x "$T/bin/agent"
    export PATH=$T/bin:$PATH CURSOR_API_KEY=key-of-eve
    local part n
    while read -r n part; do
        mkdir "$T/$n" && cd "$T/$n"
        export CLIQ_HOME=$T/$n/home
        readme "$part" >"$T/$n/steps"
        [ "$(grep -c cliq "$T/$n/steps")" -ge "$n" ] || complain "no commands in the part $part"
        got_from timeout 60 bash -euo pipefail "$T/$n/steps" <<<sk-key
        code_is 0
    done <<'END'
10 A pipeline in two minutes
20 War-rooms in five minutes
21 Signals and tasks
END
}

@test "cliq init in a git repository keeps secrets and state out of it, and the team in it" {
    git init -q .
    cliq init >/dev/null
    team true
    cliq settings agents.x.api_key sk-secret
    cliq req -m x >/dev/null
    cliq run --headless >/dev/null
    git add -A
    local staged
    staged=$(git ls-files)
    has "$staged" .cliq/workflow.yml
    has "$staged" .cliq/.gitignore
    local name
    for name in settings.json run/ signals/ handoff.json orchestrator.log files/ task_board.md; do
        lacks "$staged" ".cliq/$name"
    done
    git -c user.name=eve -c user.email=eve@example.org commit -qm team
    cliq run --headless --force >/dev/null
    is "" "$(git status --short)" # a run leaves nothing to commit
    [ -z "$(git grep --cached -l sk-secret)" ]
}
