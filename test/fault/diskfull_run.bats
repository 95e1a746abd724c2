#!/usr/bin/env bats
# A disk that becomes full during a run: the run reports the end that the journal has, or FAILED and
# the reason. When there is room again, the run can be resumed.
load ../scenario/pipeline

# The agent's log has a free block before the disk is full, so its output is written.
full_disk_team() { # N HOW: after N short phases the last agent fills the disk, then HOW
    agent filler <<END
ok
cat /dev/zero >fill 2>/dev/null
$2
END
    {
        printf 'name: "@local/test"\ndescription: a team for a test\nagents:\n%sphases:\n' "$AGENTS"
        local i before=
        for ((i = 1; i <= $1; i++)); do
            echo "  - {name: p$i, agent: exec, ${before:+depends_on: [$before],} commands: [{name: x, run: 'true'}]}"
            before=p$i
        done
        echo "  - {name: last, agent: filler, depends_on: [$before]}"
    } >"$T/team/team.yml"
    AGENTS=
}

# save NAME COMMAND...: runs it, and saves its output, exit code and the run's files as $T/NAME.*,
# because the mounted disk ends with the process.
save() {
    local code=0
    "${@:2}" >"$T/$1.out" 2>"$T/$1.err" || code=$?
    echo $code >"$T/$1.code"
    cp .cliq/run/journal.jsonl "$T/$1.journal"
    cp .cliq/orchestrator.log "$T/$1.log"
    cat .cliq/signals/_pipeline_status >"$T/$1.status" 2>/dev/null || echo none >"$T/$1.status"
    "$CLIQ" status >"$T/$1.told" 2>&1 || true
}

# A run on a small disk that is full at its end; then makes room and resumes it twice.
run_it_full() {
    mount -t tmpfs -o size=3m cliq-test "$T/proj" 2>"$T/why" || return 99
    cd "$T/proj" && "$CLIQ" init >/dev/null && "$CLIQ" assemble ../team >/dev/null 2>&1 || return
    save full "$CLIQ" run --headless
    rm fill
    save room "$CLIQ" run --headless --resume
    save again "$CLIQ" run --headless --resume
}

run_full() { # N HOW
    local own=(unshare --mount) rc=0
    [ "$(id -u)" = 0 ] || own=(unshare --user --map-root-user --mount)
    "${own[@]}" true 2>/dev/null || skip "no mount namespaces here"
    full_disk_team "$@"
    export -f run_it_full save
    "${own[@]}" bash -c run_it_full || rc=$?
    [ $rc != 99 ] || skip "cannot mount: $(<"$T/why")"
    return $rc
}

ends() { grep -o '"ev":"end","status":"[A-Z]*"' "$T/$1.journal" | cut -d'"' -f8 | paste -sd' '; }
told() { grep -oE '^[A-Z]+ in' "$T/$1.out" | cut -d' ' -f1; }

# Checks the end of a run of N phases on a full disk; with room its end would be WANTED (CODE).
full_end_is_true() { # N WANTED CODE
    local n=$1 wanted=$2 code=$3 ended
    ended=$(ends full)
    if [ -z "$ended" ]; then
        is FAILED "$(told full)" && is 1 "$(<"$T/full.code")" || return 1
        grep -qE '^cliq: append to journal.jsonl: .*disk full' "$T/full.err" || complain "no reason" || return 1
        has "$(<"$T/full.err")" "cliq run --resume goes on when that is mended" || return 1
        has "$(<"$T/full.told")" INTERRUPTED || return 1
        unwritten=$((unwritten + 1))
    else
        is "$wanted" "$ended" && is "$wanted" "$(told full)" && is "$code" "$(<"$T/full.code")" || return 1
        written=$((written + 1))
    fi
    # There was no block for the status file: an error message says so.
    is none "$(<"$T/full.status")" || return 1
    has "$(<"$T/full.err")" "signals/_pipeline_status does not say that this run ended $(told full)" || return 1
    # With room: the end is in the journal once, and in the status file.
    is "$wanted" "$(ends room)" && is "$wanted" "$(told room)" && is "$code" "$(<"$T/room.code")" || return 1
    is "$wanted" "$(<"$T/room.status")" || return 1
    is 0 "$(wc -c <"$T/again.err")" && is "$code" "$(<"$T/again.code")" && cmp "$T/room.log" "$T/again.log"
}

# Different numbers of phases leave the journal's last block with room for the whole end, for a part
# of it, or for nothing.
all_ends_are_true() { # HOW WANTED CODE
    local n unwritten=0 written=0
    for ((n = 10; n < 30 && (n < 14 || !unwritten || !written); n++)); do
        run_full $n "$1"
        full_end_is_true $n "$2" "$3"
    done
    [ $unwritten -gt 0 ] || complain "the journal was never short of room"
    [ $written -gt 0 ] || complain "the journal was always short of room"
}

@test "an agent that dies on a full disk: ESCALATED in the journal, or FAILED and why" {
    all_ends_are_true 'exit 1' ESCALATED 3
}

@test "an agent that says error on a full disk: ESCALATED in the journal, or FAILED and why" {
    all_ends_are_true 'fail bad; exit 1' ESCALATED 3
}

@test "the last agent completes on a full disk: COMPLETED in the journal, or FAILED and why" {
    all_ends_are_true 'complete' COMPLETED 0
}
