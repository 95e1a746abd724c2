#!/usr/bin/env bats
# Rooms that depend on rooms: order, the limit of processes, blocked rooms, circles.
load ../lib/cli
load ../lib/room

@test "20 rooms, 4 at a time, a third of which fail once: the order and the counts" {
    local n on
    role engineer <<'END'
cat >/dev/null
echo "begin $CLIQ_ROOM" >>"$T/trace"
ls "$T/busy" | wc -l >>"$T/most"
: >"$T/busy/$CLIQ_ROOM"
sleep 0.02
rm "$T/busy/$CLIQ_ROOM"
echo fine
END
    role qa <<'END'
cat >/dev/null
n=${CLIQ_ROOM#room-}
if [ $((n % 3)) = 0 ] && [ ! -e "$T/failed.$n" ]; then : >"$T/failed.$n"; echo VERDICT: FAIL; exit; fi
echo "end $CLIQ_ROOM" >>"$T/trace"
echo VERDICT: PASS
END
    mkdir "$T/busy"
    for ((n = 1; n <= 20; n++)); do
        on=()
        ((n <= 4)) || on=(--depends-on "room-$((n - 4))" --depends-on "room-$((n - 3))")
        a_room "room-$n" "${on[@]}"
    done
    got room run --jobs 4
    code_is 0
    has "$out" "20 of 20 rooms passed"
    is "engineer=26 qa=26" "$(starts)"
    (($(sort -n "$T/most" | tail -1) <= 3)) # besides itself
    $PY - "$T/trace" <<'PY'
import sys
ended, bad = set(), []
for line in open(sys.argv[1]):
    what, room = line.split()
    n = int(room[5:])
    if what == "end":
        ended.add(n)
    elif n > 4 and not {n - 4, n - 3} <= ended:
        bad.append(room)
assert not bad and len(ended) == 20, (bad, ended)
PY
}

@test "what depends on a room that failed for good is blocked, and goes on when it is made anew" {
    role engineer <<<'cat >/dev/null; echo fine'
    role qa <<<'cat >/dev/null; [ -e "$T/good" ] && echo VERDICT: PASS || echo VERDICT: FAIL'
    a_room room-001 --max-retries 1
    a_room room-002 --depends-on room-001
    a_room room-003 --depends-on room-002
    got room run
    code_is 3
    is "failed-final blocked blocked" "$(state room-001) $(state room-002) $(state room-003)"
    is "engineer=1 qa=1" "$(starts)"
    : >"$T/good"
    cliq room archive room-001 >/dev/null
    a_room room-001
    got room run
    code_is 0
    is "passed passed passed" "$(state room-001) $(state room-002) $(state room-003)"
}

@test "a circle is refused and named, when the room is made and when rooms are run" {
    a_room room-001 --depends-on room-002 2>/dev/null
    got room create room-002 -m x --depends-on room-001
    refused 2 "room-002 -> room-001 -> room-002"
    [ ! -e .war-rooms/room-002 ]
    a_room room-002
    sed -i 's/"depends_on": \[\]/"depends_on": ["room-001"]/' .war-rooms/room-002/config.json # by hand
    got room run
    refused 2 "room-001 -> room-002 -> room-001"
}

@test "a room that waits for one that does not exist is told, and the manager ends" {
    a_room room-002 --depends-on room-001
    got room run
    code_is 3
    has "$err" "waits for rooms that nothing carries on"
}

@test "a room that waits for a reference begins when the room that has it is made and has passed" {
    role engineer <<<'cat >/dev/null; echo fine'
    role qa <<<'cat >/dev/null; echo VERDICT: PASS'
    role writer <<<'cat >/dev/null; echo text'
    a_room room-001 --roles writer,reader # a person's, so that the manager stays
    a_room room-002 --depends-on EPIC-007 2>/dev/null
    a_manager
    until_true told "waits for a person as reader"
    is pending "$(state room-002)"
    REF=EPIC-007 a_room room-003
    until_true told "room-002  review -> passed"
    post room-001 fine reader manager pass >/dev/null
    ended manager "$PID"
    code_is 0
}

@test "with a name, what it depends on runs, too; nothing else" {
    three_roles
    a_room room-001
    a_room room-002 --depends-on room-001
    a_room room-003
    got room run room-002
    code_is 0
    is "passed passed pending" "$(state room-001) $(state room-002) $(state room-003)"
}

@test "a room that is made meanwhile runs, too" {
    role writer <<<'cat >/dev/null; echo fine'
    a_room room-001 # a person's
    a_manager
    until_true told "waits for a person"
    a_room room-002 --roles writer,reader
    until_true told "room-002  waits for a person as reader"
    kill -TERM "$PID"
    ended manager "$PID"
}

@test "a room that is removed leaves, and one that is made anew under its name runs" {
    role writer <<<'cat >/dev/null; echo fine'
    a_room room-001 # a person's
    a_room room-002 # the same
    a_manager
    until_true told "room-002  waits for a person"
    rm -r .war-rooms/room-002
    until_true told "room-002: its directory was removed"
    a_room room-002 --roles writer,reader
    until_true told "room-002  waits for a person as reader"
    rm -r .war-rooms/room-001 .war-rooms/room-002
    ended manager "$PID"
    code_is 0
}

@test "a room that cannot be read does not keep the others from running" {
    three_roles
    a_room room-001
    mkdir .war-rooms/room-002
    echo '{"depends_on":7}' >.war-rooms/room-002/config.json
    got room run
    code_is 3
    has "$err" "room-002: left out"
    is passed "$(state room-001)"
}
