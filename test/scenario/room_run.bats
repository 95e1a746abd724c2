#!/usr/bin/env bats
# cliq room run: rooms carried by commands and people. Retries are exact, stale verdicts do not count.
load ../lib/cli
load ../lib/room

@test "the walk: task, done, review, fail, fix, done, pass, signoff, each from its sender to its receiver" {
    three_roles
    REF=EPIC-001 a_room room-001
    got room run
    code_is 0
    has "$out" "1 of 1 room passed"
    cliq room signoff room-001 --from qa -m "QA approves release. All rooms passed." >/dev/null
    is "manager>engineer:task engineer>qa:done qa>engineer:review qa>manager:fail manager>engineer:fix engineer>qa:done qa>manager:pass qa>manager:signoff" "$(talk room-001)"
    is "engineer=2 qa=2" "$(starts)"
    is "passed 1" "$(cat .war-rooms/room-001/status .war-rooms/room-001/retries | paste -sd' ')"
    is "pending developing review optimize review passed" "$(awk '{print $NF}' .war-rooms/room-001/audit.log | paste -sd' ')"
    has "$(cliq channel read --room room-001 --type fix | json 'd[0]["body"]')" "no test"
    is "['EPIC-001']" "$(cliq channel read --room room-001 | json 'sorted({m["ref"] for m in d})')"
}

# Each row of the page's table of types: who sends it to whom, and what it starts.
@test "every type of message: its sender, its receiver, and the role that it starts" {
    local start='python3 -c "import json,sys; m=json.load(sys.stdin); print(m[\"from\"], m[\"to\"], m[\"type\"])" >>"$T/began"'
    role engineer <<END
$start
[ \$(grep -c engineer "$T/starts") != 2 ] || { echo stuck >&2; exit 1; }
echo "did it"
END
    role qa <<END
$start
[ "\$CLIQ_STATE" != release ] || { echo "VERDICT: APPROVED"; exit; }
[ -e "$T/failed" ] && echo "VERDICT: PASS" && exit
: >"$T/failed"
echo "VERDICT: FAIL"
END
    cliq settings release.require_signoffs '["qa"]' >/dev/null
    a_room room-001
    got room run
    code_is 0
    cat >want <<'END'
manager>engineer:task
engineer>qa:done
qa>engineer:review
qa>manager:fail
manager>engineer:fix
engineer>manager:error
manager>engineer:fix
engineer>qa:done
qa>manager:pass
manager>qa:release
qa>manager:signoff
END
    is "$(paste -sd' ' want)" "$(talk room-001)"
    # done starts the reviewer; task and fix the worker, a fix after an error, too; release the one who signs
    is "$(printf '%s\n' 'manager engineer task' 'engineer qa done' 'manager engineer fix' 'manager engineer fix' 'engineer qa done' 'manager qa release')" "$(<"$T/began")"
}

@test "a role's command gets the message that starts it, the room and the role" {
    role engineer <<'END'
printf '%s %s %s ' "$CLIQ_ROOM" "$CLIQ_ROLE" "$CLIQ_REF"
python3 -c 'import json,sys; m=json.load(sys.stdin); print(m["from"], m["type"])'
END
    role qa <<'END'
python3 -c 'import json,sys; print(json.load(sys.stdin)["body"])'
echo VERDICT: PASS
END
    REF=EPIC-7 a_room room-001
    got room run
    code_is 0
    is "room-001 engineer EPIC-7 manager task" "$(cliq channel read --room room-001 --type done | json 'd[0]["body"]')"
    has "$(cliq channel read --room room-001 --type pass | json 'd[0]["body"]')" "room-001 engineer EPIC-7 manager task"
}

@test "max_retries 3 is three failed reviews, then failed-final and exit code 3" {
    role engineer <<<'cat >/dev/null; echo again'
    role qa <<<'cat >/dev/null; echo VERDICT: FAIL'
    a_room room-001
    got room run
    code_is 3
    is failed-final "$(state room-001)"
    is "engineer=3 qa=3" "$(starts)"
    is 3 "$(cat .war-rooms/room-001/retries)"
    got room run
    code_is 3
    is "engineer=3 qa=3" "$(starts)"
}

@test "an exit code, a missing verdict and a program that is not there are errors, and failed tries" {
    role engineer <<<'cat >/dev/null; echo partial; echo broken >&2; exit 7'
    a_room room-001 --max-retries 2
    got room run
    code_is 3
    is "task error fix error" "$(types room-001)"
    has "$(cliq channel read --room room-001 --type error | json 'd[0]["body"]')" "exit code 7"
    has "$(cliq channel read --room room-001 --type error | json 'd[0]["body"]')" "broken"
    role engineer <<<'cat >/dev/null; echo fine'
    role qa <<<'cat >/dev/null; echo I like it'
    a_room room-002 --max-retries 1
    got room run room-002
    code_is 3
    is "task done error" "$(types room-002)"
    has "$(cliq channel read --room room-002 --type error | json 'd[0]["body"]')" "VERDICT: PASS"
    cliq settings roles.qa.command /nowhere/program >/dev/null
    a_room room-003 --max-retries 1
    got room run room-003
    code_is 3
    has "$(cliq channel read --room room-003 --type error | json 'd[0]["body"]')" "exit code 127"
}

@test "a process that is killed is started again three times, then it is an error" {
    role engineer <<<'cat >/dev/null; kill -9 $$'
    a_room room-001 --max-retries 1
    got room run
    code_is 3
    is "engineer=4" "$(starts)"
    is "task error" "$(types room-001)"
    has "$(cliq channel read --room room-001 --type error | json 'd[0]["body"]')" "crashed 4 times"
}

@test "a state that takes too long is a failed try, and its processes are gone" {
    role engineer <<'END'
cat >/dev/null
[ "$(grep -c engineer "$T/starts")" = 1 ] && { echo $$ >"$T/pid"; sleep 1000; }
echo done
END
    role qa <<<'cat >/dev/null; echo VERDICT: PASS'
    a_room room-001 --timeout 1s
    got room run
    code_is 0
    is "task fix done pass" "$(types room-001)"
    has "$(cliq channel read --room room-001 --type fix | json 'd[0]["body"]')" "timed out after 1 s"
    is 1 "$(cat .war-rooms/room-001/retries)"
    gone "$(<"$T/pid")"
}

@test "a person plays a role: status says so, and what the person posts counts" {
    role engineer <<<'cat >/dev/null; echo fine'
    a_room room-001
    a_manager
    until_true told "waits for a person as qa"
    has "$(cliq room status room-001)" "a person as qa"
    is person "$(cliq room status room-001 --json | json 'd["player"]')"
    post room-001 "no" qa manager fail >/dev/null
    until_true has_lines "$T/starts" 2
    until_true eval '[ "$(grep -c "waits for a person" "$T/manager.out")" = 2 ]'
    post room-001 "yes" qa manager pass >/dev/null
    ended manager "$PID"
    code_is 0
    is "task done fail fix done pass" "$(types room-001)"
}

@test "--once ends when only people are awaited; the next manager goes on" {
    role engineer <<<'cat >/dev/null; echo fine'
    a_room room-001
    got room run --once
    code_is 3
    is "review" "$(state room-001)"
    post room-001 "yes" qa manager pass >/dev/null
    got room run --once
    code_is 0
    is "engineer=1" "$(starts)"
}

@test "a second manager is refused, and names the first" {
    a_room room-001
    a_manager
    until_true told "waits for a person"
    got room run
    refused 5 "pid $PID"
    got room archive room-001
    refused 5 "pid $PID"
    kill -TERM "$PID"
    ended manager "$PID"
    code_is 130
    got room archive room-001
    succeeds
}

@test "only the role of the state moves it; the latest of several verdicts counts" {
    a_room room-001
    post room-001 "not mine" qa manager pass >/dev/null
    post room-001 "wrong sender" qa qa done >/dev/null
    got room run --once
    code_is 3
    is "developing" "$(state room-001)"
    post room-001 "here" engineer qa done >/dev/null
    got room run --once
    is "review" "$(state room-001)"
    post room-001 "good" qa manager pass >/dev/null
    post room-001 "no, bad" qa manager fail >/dev/null
    got room run --once
    is "optimize" "$(state room-001)"
    has "$(cliq channel read --room room-001 --type fix | json 'd[0]["body"]')" "no, bad"
}

@test "a verdict before the line that opened the state is stale, within the same second, too" {
    a_room room-001
    post room-001 "early" qa manager pass >/dev/null
    post room-001 "here" engineer qa done >/dev/null
    got room run --once
    code_is 3
    is "review" "$(state room-001)"
    # fail, then an old pass that comes before the fix is answered
    post room-001 "bad" qa manager fail >/dev/null
    got room run --once
    is "optimize" "$(state room-001)"
    post room-001 "of the work before" qa manager pass >/dev/null
    post room-001 "mended" engineer qa done >/dev/null
    got room run --once
    is "review" "$(state room-001)"
}

@test "one process per role: a slow reviewer is not started twice" {
    role engineer <<<'cat >/dev/null; echo fine'
    role qa <<'END'
cat >/dev/null
until [ -e "$T/go" ]; do sleep 0.05; done
echo VERDICT: PASS
END
    a_room room-001
    a_manager
    until_true has_lines "$T/starts" 2
    for n in 1 2 3; do post room-001 "still there?" engineer qa progress >/dev/null; done
    post room-001 "another done" engineer qa done >/dev/null
    until_true eval '[ "$(grep -c "progress" "$T/manager.out")" = 3 ]'
    : >"$T/go"
    ended manager "$PID"
    code_is 0
    is "engineer=1 qa=1" "$(starts)"
}

@test "a role that posts by itself has answered; what its process prints is not posted again" {
    role engineer <<'END'
cat >/dev/null
"$CLIQ" channel post --room "$CLIQ_ROOM" --from engineer --to qa --type done --ref x --body "by myself" >/dev/null
echo "and this"
END
    role qa <<<'cat >/dev/null; echo VERDICT: PASS'
    a_room room-001
    got room run
    code_is 0
    is "task done pass" "$(types room-001)"
    is "by myself" "$(cliq channel read --room room-001 --type done | json 'd[0]["body"]')"
}

@test "escalate leads to triage: a person redesigns, the notes go to the brief, or rejects" {
    role engineer <<<'cat >/dev/null; echo fine'
    role qa <<<'cat >/dev/null; echo VERDICT: ESCALATE'
    a_room room-001
    got room run --once
    code_is 3
    is triage "$(state room-001)"
    cliq channel post --room room-001 --from manager --to engineer --type redesign --any-type --ref x --body "Use a table." >/dev/null
    got room run --once
    has "$(<.war-rooms/room-001/brief.md)" "Use a table."
    is "task done escalate redesign task done escalate" "$(types room-001)"
    has "$(cliq channel read --room room-001 --type task | json 'd[1]["body"]')" "Use a table."
    cliq channel post --room room-001 --from manager --to engineer --type reject --any-type --ref x --body "No." >/dev/null
    got room run --once
    code_is 3
    is failed-final "$(state room-001)"
}

@test "SIGTERM stops the processes; their attempts do not count" {
    role engineer <<'END'
cat >/dev/null
[ -e "$T/go" ] || { echo $$ >"$T/pid"; sleep 1000; }
echo fine
END
    role qa <<<'cat >/dev/null; echo VERDICT: PASS'
    a_room room-001
    a_manager
    until_true test -s "$T/pid"
    kill -TERM "$PID"
    ended manager "$PID"
    code_is 130
    gone "$(<"$T/pid")"
    : >"$T/go"
    got room run
    code_is 0
    is "0 engineer=2 qa=1" "$(cat .war-rooms/room-001/retries) $(starts)"
}

@test "a damaged channel is told, and the room goes on" {
    role engineer <<<'cat >/dev/null; echo fine'
    a_room room-001
    a_manager
    until_true told "waits for a person as qa"
    printf 'garbage\n{"v":1,"id":"torn' >>.war-rooms/room-001/channel.jsonl
    post room-001 "yes" qa manager pass >/dev/null
    ended manager "$PID"
    code_is 0
    has "$err" "passed over"
}

@test "a channel that another program has locked does not keep the other rooms waiting" {
    three_roles
    a_room room-001
    a_room room-002
    # held from before the manager starts until the other room has passed
    mkfifo "$T/free"
    ( exec 9>>.war-rooms/room-001/channel.jsonl; flock 9; : >"$T/held"; read -r _ <"$T/free" || true ) &
    PIDS+=($!)
    until_true test -e "$T/held"
    a_manager
    until_true told "room-002  review -> passed"
    told "room-001: waits for the lock of its channel"
    is "task" "$(types room-001)"
    : >"$T/free"
    ended manager "$PID"
    code_is 0
    is "task done review fail fix done pass" "$(types room-001)"
    is "engineer=4 qa=4" "$(starts)"
}

@test "a lifecycle.json of its own changes the states" {
    cat >life.json <<'END'
{"version":2,"initial_state":"drafting","max_retries":2,"states":{
 "drafting":{"role":"writer","type":"work","signals":{"done":{"target":"reading"}}},
 "reading":{"role":"reader","type":"review","signals":{"pass":{"target":"passed"},"fail":{"target":"drafting","actions":["increment_retries","post_fix"]},"error":{"target":"failed-final"}}},
 "passed":{"type":"terminal"},"failed-final":{"type":"terminal"}}}
END
    role writer <<<'cat >/dev/null; echo text'
    role reader <<<'cat >/dev/null; echo VERDICT: FAIL'
    a_room room-001 --lifecycle life.json
    got room run
    code_is 3
    is "task done review fail fix done review fail" "$(types room-001)"
    is "writer=2 reader=2" "$(starts | awk '{print $2, $1}')"
}

@test "a role that never says what its state answers to does not keep the room for ever" {
    cat >life.json <<'END'
{"version":2,"initial_state":"drafting","max_retries":2,"states":{
 "drafting":{"role":"writer","type":"work","signals":{"pass":{"target":"passed"}}},
 "passed":{"type":"terminal"},"failed-final":{"type":"terminal"}}}
END
    role writer <<<'cat >/dev/null; echo text'
    a_room room-001 --lifecycle life.json
    got room run
    code_is 3
    is failed-final "$(state room-001)"
    is "writer=4" "$(starts)"
}

@test "writers of the original, in Python and in shell, work on a room that runs" {
    a_room room-001
    a_manager
    until_true told "waits for a person as engineer"
    $PY - <<'PY'
import fcntl, json, os, time
for kind, sender in [("progress", "engineer")] * 20 + [("done", "engineer")]:
    with open('.war-rooms/room-001/channel.jsonl', 'a') as f:
        fcntl.flock(f.fileno(), fcntl.LOCK_EX)
        f.write(json.dumps({"v": 1, "id": f"{sender}-{kind}-{time.time_ns()}-{os.getpid()}", "ts": "2026-04-03T11:19:34Z",
                            "from": sender, "to": "qa", "type": kind, "ref": "room-001", "body": "ü"}) + '\n')
        f.flush()
        fcntl.flock(f.fileno(), fcntl.LOCK_UN)
PY
    until_true told "waits for a person as qa"
    ( flock 9; printf '{"v":1,"id":"qa-pass-1-1","ts":"2026-04-03T11:19:34Z","from":"qa","to":"manager","type":"pass","ref":"room-001","body":"ok"}\n' >&9 ) 9>>.war-rooms/room-001/channel.jsonl
    ended manager "$PID"
    code_is 0
    is 23 "$(wc -l <.war-rooms/room-001/channel.jsonl)"
}

@test "--json prints an event a line" {
    three_roles
    a_room room-001
    got room run --json
    code_is 0
    is "message start message move start" "$(json '" ".join(e["ev"] for e in [json.loads(l) for l in open("'"$T/out"'")][:5])' <<<'{}')"
    is '{"ev":"end","total":1,"passed":1}' "$(tail -1 "$T/out")"
}

@test "every message is a signal, once, although command and manager publish it" {
    mkdir -p "$CLIQ_HOME/signals"
    three_roles
    a_room room-001
    got room run
    code_is 0
    is "task done review fail fix done pass" "$(cliq signal events --json | json '" ".join(e["type"][14:] for e in d if e["type"].startswith("room:room-001:"))')"
    is "$(cliq channel read --room room-001 | json '[m["id"] for m in d]')" "$(cliq signal events --json | json '[e["data"]["id"] for e in d if e["type"].startswith("room:")]')"
}
