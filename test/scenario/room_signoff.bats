#!/usr/bin/env bats
# The sign-off of a release: roles are asked once every room passed; silence and failure are refusals.
load ../lib/cli
load ../lib/room

# Two rooms that pass at once, and what qa says when it is asked to sign.
rooms_and_qa() { # SHELL
    role engineer <<<'cat >/dev/null; echo fine'
    role qa <<END
[ "\$CLIQ_STATE" = release ] || { cat >/dev/null; echo "VERDICT: PASS"; exit; }
$1
END
    cliq settings release.require_signoffs '["qa"]' >/dev/null
    a_room room-001 --timeout 2s
    a_room room-002 --timeout 2s
}

@test "a role that approves signs every room; the notes are in its message" {
    rooms_and_qa 'python3 -c "import json,sys; m=json.load(sys.stdin); print(m[\"type\"], \"Release notes\" in m[\"body\"])"; echo "VERDICT: APPROVED"'
    got room run
    code_is 0
    is "task done pass release signoff" "$(types room-001)"
    is "task done pass release signoff" "$(types room-002)"
    has "$(cliq channel read --room room-001 --type signoff | json 'd[0]["body"]')" "release True"
    is "['qa']" "$(cliq room status room-001 --json | json 'd["signed"]')"
    has "$(<.war-rooms/RELEASE.md)" "Status: Draft" # the engineer has not signed
    got room run # nobody is asked twice
    code_is 0
    is "task done pass release signoff" "$(types room-001)"
}

@test "while a room has not passed no role is asked" {
    rooms_and_qa 'echo "VERDICT: APPROVED"'
    got room run room-001
    code_is 0
    is "task done pass" "$(types room-001)"
}

@test "another verdict, none, an exit code, a crash and silence are refusals" {
    local answer n=0
    for answer in 'echo "VERDICT: REJECTED"' 'echo "Looks APPROVED to me"' 'echo "VERDICT: APPROVED"; exit 1' 'kill -9 $$' 'sleep 1000'; do
        rm -rf .war-rooms
        rooms_and_qa "cat >/dev/null; $answer"
        got room run
        code_is 3 || return 1
        has "$err" "qa has not signed it off" || return 1
        lacks "$(types room-001)" signoff || return 1
    done
}

@test "a manager that is killed while a role signs: the next takes over its process, or its answer" {
    local how
    for how in runs ended; do
        rm -rf .war-rooms "$T/go" "$T/pid"
        mkfifo "$T/go"
        : >"$T/starts"
        rooms_and_qa 'cat >/dev/null; echo $$ >"$T/pid"; read -r _ <"$T/go"; echo VERDICT: APPROVED'
        cliq room archive room-002 >/dev/null
        sed -i 's/"timeout_seconds": 2/"timeout_seconds": 60/' .war-rooms/room-001/config.json
        a_manager
        until_true test -s "$T/pid" || return 1
        kill -KILL "$PID"
        until_true gone "$PID"
        if [ $how = ended ]; then
            : >"$T/go"
            until_true gone "$(<"$T/pid")"
        fi
        start manager "$CLIQ" room run
        until_true listening "$PID" || [ $how = ended ] || return 1
        [ $how = ended ] || : >"$T/go"
        ended manager "$PID"
        code_is 0 || return 1
        is "engineer=1 qa=2" "$(starts)" || return 1
        is "task done pass release signoff" "$(types room-001)" || return 1
    done
}

@test "a person who has to sign is named; once it is signed the next run is content" {
    role engineer <<<'cat >/dev/null; echo fine'
    role qa <<<'cat >/dev/null; echo VERDICT: PASS'
    cliq settings release.require_signoffs '["manager", "engineer"]' >/dev/null
    cliq settings roles.engineer.command >/dev/null
    a_room room-001
    cliq settings release.require_signoffs '["lead"]' >/dev/null
    got room run
    code_is 0 # no room has that role
    cliq settings release.require_signoffs '[7]' >"$T/out" 2>"$T/err" && return 1
    has "$(<"$T/err")" "a list of roles"
    cliq settings release.require_signoffs '["engineer"]' >/dev/null
    cliq settings --unset roles.engineer.command >/dev/null
    got room run
    code_is 3
    has "$err" "cliq room signoff room-001 --from engineer"
    cliq room signoff room-001 --from engineer -m ok >/dev/null
    got room run
    code_is 0
}
