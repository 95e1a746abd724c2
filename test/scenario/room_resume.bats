#!/usr/bin/env bats
# A manager that is killed: the next one finds the same, starts no role twice, posts nothing twice.
load ../lib/cli
load ../lib/room

# Kills the manager at the k-th call of a kind, for every second k (ROOM_KILLS_STEP=1: every), and compares with an undisturbed run.
killed_at_every() { # CALLS LEAST [TYPES STARTS]
    local k n=0
    command -v strace >/dev/null || skip "no strace"
    export ASAN_OPTIONS=detect_leaks=0 # which does not work beside strace
    three_roles
    for ((k = 1; ; k += ${ROOM_KILLS_STEP:-2})); do
        rm -rf .war-rooms "$T"/failed.*
        : >"$T/starts"
        a_room room-001
        code=0
        strace -o /dev/null -e "trace=$1" -e "inject=$1:signal=KILL:when=$k" "$CLIQ" room run >"$T/out" 2>"$T/err" || code=$?
        [ $code != 0 ] || break
        n=$((n + 1))
        got room run
        code_is 0 || { complain "killed at $1 $k" "$(<.war-rooms/room-001/journal.jsonl)"; return 1; }
        is "${3:-task done review fail fix done pass}" "$(types room-001)" || { complain "killed at $1 $k"; return 1; }
        is "${4:-engineer=2 qa=2}" "$(starts)" || { complain "killed at $1 $k" "$(<.war-rooms/room-001/journal.jsonl)"; return 1; }
        is "passed 1" "$(state room-001) $(<.war-rooms/room-001/retries)"
    done
    [ $n -ge "$2" ] || complain "only $n kills"
}

@test "killed before and after every line of journal and channel" {
    killed_at_every flock 15
}

@test "killed at every start of a process" {
    killed_at_every vfork,clone3 2 # one of them, as the machine allows
}

@test "killed at every write, sync and new name of a file" {
    killed_at_every write,fdatasync,fsync,renameat2,linkat,mkdirat 20
}

@test "killed while agents play the roles" {
    cat >worker.sh <<END
eval "\$("$CLIQ" sdk begin)"
echo engineer >>"$T/starts"
"$CLIQ" sdk send "did it"
"$CLIQ" sdk complete
END
    cat >judge.sh <<END
eval "\$("$CLIQ" sdk begin)"
echo qa >>"$T/starts"
[ ! -e "$T/failed.room-001" ] || { "$CLIQ" sdk verdict PASS -m fine; exit; }
: >"$T/failed.room-001"
"$CLIQ" sdk verdict ROUTE --target engineer -m "no test"
END
    sed -i '1i #!/bin/sh' worker.sh judge.sh
    chmod +x worker.sh judge.sh
    cliq settings agents.worker.entry "$PWD/worker.sh" >/dev/null
    cliq settings agents.judge.entry "$PWD/judge.sh" >/dev/null
    cliq settings roles.engineer.agent worker >/dev/null
    cliq settings roles.qa.agent judge >/dev/null
    three_roles() { :; }
    ROOM_KILLS_STEP=${ROOM_KILLS_STEP:-5} killed_at_every flock,mkdirat,linkat,renameat2,vfork,clone3,fdatasync 10
}

@test "killed at any of these while a role signs off: it is asked once" {
    cliq settings release.require_signoffs '["qa"]' >/dev/null
    # three_roles makes a qa that reviews; as a signer it approves
    eval "reviewed_$(declare -f three_roles)"
    three_roles() {
        reviewed_three_roles
        sed -i '2i [ "$CLIQ_STATE" != release ] || { cat >/dev/null; echo VERDICT: APPROVED; exit; }' "$T/role-qa"
    }
    killed_at_every flock,mkdirat,linkat 20 "task done review fail fix done pass release signoff" "engineer=2 qa=3"
}

@test "a process that runs on is taken over, and what it says counts" {
    role engineer <<'END'
cat >/dev/null
echo $$ >"$T/pid"
until [ -e "$T/go" ]; do sleep 0.05; done
echo "after all"
END
    role qa <<<'cat >/dev/null; echo VERDICT: PASS'
    a_room room-001
    a_manager
    until_true test -s "$T/pid"
    kill -KILL "$PID"
    until_true gone "$PID"
    kill -0 "$(<"$T/pid")"
    start manager "$CLIQ" room run
    until_true listening "$PID"
    : >"$T/go"
    ended manager "$PID"
    code_is 0
    is "engineer=1 qa=1" "$(starts)"
    is "after all" "$(cliq channel read --room room-001 --type done | json 'd[0]["body"]')"
}

@test "a process that ended meanwhile counts as it ended" {
    role engineer <<'END'
cat >/dev/null
: >"$T/began"
until [ -e "$T/go" ]; do sleep 0.05; done
echo "alone"
END
    role qa <<<'cat >/dev/null; echo VERDICT: PASS'
    a_room room-001
    a_manager
    until_true test -e "$T/began"
    kill -KILL "$PID"
    until_true gone "$PID"
    : >"$T/go"
    until_true test -s .war-rooms/room-001/attempts/1.1/exit
    got room run
    code_is 0
    is "engineer=1 qa=1" "$(starts)"
}

@test "a time limit that passed while no manager was there counts" {
    role engineer <<'END'
cat >/dev/null
[ "$(grep -c engineer "$T/starts")" = 1 ] && { echo $$ >"$T/pid"; sleep 1000; }
echo fine
END
    role qa <<<'cat >/dev/null; echo VERDICT: PASS'
    a_room room-001 --timeout 1s
    a_manager
    until_true test -s "$T/pid"
    kill -KILL "$PID"
    until_true gone "$PID"
    got room run
    code_is 0
    is "1 engineer=2 qa=1" "$(cat .war-rooms/room-001/retries) $(starts)"
    gone "$(<"$T/pid")"
}

@test "messages that came while no manager was there count, in their order" {
    a_room room-001
    got room run --once
    post room-001 here engineer qa done >/dev/null
    post room-001 bad qa manager fail >/dev/null
    got room run --once
    is optimize "$(state room-001)" # the fix was not there yet
    post room-001 mended engineer qa done >/dev/null
    post room-001 good qa manager pass >/dev/null
    got room run --once
    code_is 0
}
