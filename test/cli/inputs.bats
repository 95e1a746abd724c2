#!/usr/bin/env bats
# What people give that is not what it should be: files of another kind, files they may not
# read, names that do not exist, texts that are none.
load ../scenario/pipeline

project() {
    team <<<'phases: [{name: plan, agent: exec, commands: [{name: t, run: "true"}]}]'
}

# Puts something of that kind at the path.
put() { # KIND PATH
    rm -rf "$2"
    case $1 in
    directory) mkdir "$2" ;;
    FIFO) mkfifo "$2" ;;
    socket) (cd "$(dirname "$2")" && $PY -c 'import socket,sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$(basename "$2")") ;;
    esac
}

@test "a directory, a FIFO or a socket in place of a file is exit 2, and is called what it is" {
    project
    mkdir "$T/other"
    local kind words
    for kind in directory FIFO socket; do
        put $kind .cliq/workflow.yml
        for words in run status graph "req -m x"; do
            start it "$CLIQ" $words
            ended it "$PID"
            refused 2 "workflow.yml is a $kind, not a regular file"
        done
        put $kind "$T/other/team.yml"
        for words in "team validate" "team info" assemble; do
            start it "$CLIQ" $words "$T/other"
            ended it "$PID"
            refused 2 "team.yml is a $kind, not a regular file"
        done
    done
    assemble
    for kind in directory FIFO socket; do
        put $kind "$T/req"
        start it "$CLIQ" req -f "$T/req"
        ended it "$PID"
        refused 2 "$T/req is a $kind, not a regular file"
    done
    [ ! -e .cliq/req_spec.md ]
}

@test "what a user may not read is exit 7, with the file's name" {
    project
    echo text >"$T/req"
    chmod 0 "$T/req" .cliq/workflow.yml "$T/team/team.yml"
    local words
    for words in status graph run "req -m x"; do
        meekly $words
        refused 7 "open workflow.yml: Permission denied"
    done
    meekly team validate ../team
    refused 7 "team.yml: Permission denied"
    meekly assemble ../team
    refused 7 "team.yml: Permission denied"
    chmod 600 .cliq/workflow.yml
    meekly req -f "$T/req"
    refused 7 "open $T/req: Permission denied"
}
