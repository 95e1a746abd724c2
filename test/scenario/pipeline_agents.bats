#!/usr/bin/env bats
# Agents that misbehave, ends from outside, and what an agent gets: output, environment.
load pipeline

one() { # [FIELDS]: a team of one phase whose agent stands on standard input
    AGENTS=
    agent a
    team <<<"phases: [{name: one, agent: a${1:+, $1}}]"
}
ms() { date +%s%3N; }

# ---- the signal file ------------------------------------------------------------------

@test "a half-written line is not taken for a whole one" {
    one <<'END'
ok
printf '{"version":1,"type":"phase","status":"comp' >>"$S"
sleep 0.2
[ ! -e "$T/too-early" ] || exit 1
printf 'lete"}\n' >>"$S"
END
    run_ok
    has "$(<.cliq/signals/one.jsonl)" '"complete"'
}

@test "a line torn by an agent that died does not hide the next attempt's" {
    one "retries: 1" <<'END'
ok
[ "$N" = 2 ] || { printf '{"version":1,"status":"complete' >>"$S"; exit 1; }
complete
END
    run_ok
    is "one.1 one.2" "$(starts)"
}

@test "the first of two terminal lines wins" {
    one <<<'ok; complete; fail "too late"'
    run_ok
    one <<<'ok; fail "first"; complete'
    run_is 3
    has "$out" "agent error: first"
}

@test "unknown statuses, other versions, bad lines and foreign fields are passed over" {
    one <<'END'
line '"status":"finished"'
line '"status":"complete "'
echo 'not json' >>"$S"
echo '[1,2]' >>"$S"
echo '' >>"$S"
echo '{"version":2,"type":"phase","status":"complete"}' >>"$S"
echo '{"version":1,"status":["complete"]}' >>"$S"
sleep 0.1
echo '{ "status" : "error" , "extra" : {"a":[1]} , "error" : "the \u00e9nd", "version": 1 }' >>"$S"
END
    run_is 3
    has "$out" "agent error: the énd"
}

@test "a line of 10 MB is passed over, and the run goes on" {
    one <<'END'
ok
{ printf '{"version":1,"status":"complete","result":"'; head -c 10000000 /dev/zero | tr '\0' x; echo '"}'; } >>"$S"
progress "after the flood"
fail "as it should"
END
    run_is 3
    has "$out" "after the flood"
    has "$out" "agent error: as it should"
}

@test "control bytes of an agent do not reach the terminal" {
    one <<<'ok; fail "red\\u001b[31m\\u0007 alert"'
    run_is 3
    lacks "$out" $'\e'
    lacks "$out" $'\a'
}

# ---- processes -------------------------------------------------------------------------

@test "an agent that lingers after complete is stopped after 5 seconds; the next phase did not wait" {
    agent a <<'END'
ok
complete
[ "$P" = two ] || sleep $NAP
END
    team <<'END'
phases: [{name: one, agent: a}, {name: two, agent: a, depends_on: [one]}]
END
    local began
    began=$(ms)
    run_ok
    none_left
    has "$out" "what still runs of it, 5 s after its last line, is stopped"
    local took=$(($(ms) - began))
    ((took > 4800 && took < 8000)) || complain "took $took ms"
    $PY - .cliq/run/journal.jsonl <<'END'
import json, sys
from datetime import datetime as d
at = {(e["ev"], e.get("phase")): d.fromisoformat(e["at"][:-1]) for e in map(json.loads, open(sys.argv[1]))}
assert (at["started", "two"] - at["result", "one"]).total_seconds() < 1
END
}

@test "daemons are found: double fork, own session, cleared environment, after success and after a crash" {
    one <<'END'
ok
setsid sh -c "sleep $NAP & sleep $NAP &" &
env -i PATH="$PATH" setsid sh -c "(sleep $NAP &) &" &
(setsid env -i /bin/sleep $NAP &) &
sleep 0.1
[ -e crash ] && exit 9
complete
END
    run_ok
    none_left || complain "left: $(left)"
    touch crash
    local began
    began=$(ms)
    run_is 3
    none_left || complain "left: $(left)"
    (($(ms) - began < 3000))
}

@test "an agent that ignores SIGTERM is killed after the grace" {
    [ -n "$HEADLESS" ] || skip "ten seconds for the same code"
    one "timeout: 1s" <<'END'
ok
trap '' TERM
while :; do sleep $NAP; done
END
    local began
    began=$(ms)
    run_is 3
    none_left
    local took=$(($(ms) - began))
    ((took > 10500 && took < 14000)) || complain "took $took ms"
}

@test "kill -9 of an agent is noticed at once" {
    one <<<'ok; echo $$ >"$T/pid"; exec sleep $NAP'
    start_run run
    local run=$PID began
    until_true exists "$T/pid"
    until_true says .cliq/signals/one.jsonl ok
    began=$(ms)
    kill -KILL "$(<"$T/pid")"
    ended run "$run"
    code_is 3
    (($(ms) - began < 500)) || complain "took $(($(ms) - began)) ms"
    has "$out" "phase one crashed: was killed by signal 9"
}

@test "an agent that cannot be started is an error of its phase, at once" {
    one <<<'ok; complete'
    printf '#!/no/such/interpreter\n' >"$T/agent"
    chmod +x "$T/agent"
    "$CLIQ" settings agents.a.entry "$T/agent"
    run_is 3
    has "$out" "interpreter"
}

# ---- what it gets ------------------------------------------------------------------------

@test "output of an agent, both streams, is in run/logs and shown by cliq log" {
    one "retries: 1" <<'END'
echo "out of $N"; echo "err of $N" >&2
[ "$N" = 2 ] && complete || fail no
END
    run_ok
    is "out of 1
err of 1" "$(<.cliq/run/logs/one.1.log)"
    got log one
    is "out of 2
err of 2" "$out"
    got log one --attempt 1
    is "out of 1
err of 1" "$out"
    got log nobody
    refused 4 nobody
}

@test "the environment is the small base, what is declared, and CLIQ_*; nothing else" {
    agent a <<<'env | sed "s/=.*//" | sort >"$T/env"; printf %s "$DECLARED$PHASE_VAR$HOME" >"$T/values"; complete'
    AGENTS="  a: {entry: agents/a/agent.sh, env: [DECLARED]}
"
    team <<<'phases: [{name: one, agent: a, env: {PHASE_VAR: "p$(phase)", HOME: /elsewhere, CLIQ_ATTEMPT: mine}}]'
    export SECRET=s DECLARED=d LANG=C.UTF-8 AWS_SECRET_ACCESS_KEY=x
    run_ok
    is "CLIQ_AGENT CLIQ_ATTEMPT CLIQ_ATTEMPT_NUMBER CLIQ_HOME CLIQ_PHASE CLIQ_PROJECT_DIR CLIQ_RUN_ID CLIQ_STATE_DIR DECLARED HOME LANG PATH PHASE_VAR PWD PYTHONDONTWRITEBYTECODE TERM" \
        "$(grep -vE '^(OLDPWD|SHLVL|_|TMPDIR)$' "$T/env" | paste -sd' ')"
    is "dpone/elsewhere" "$(<"$T/values")"
    none_left
}

@test "no descriptor of the orchestrator leaks into an agent" {
    one <<<'ls -l /proc/self/fd >"$T/fds"; ls /proc/$$/fd | wc -l >"$T/count"; complete'
    run_ok
    lacks "$(<"$T/fds")" journal
    lacks "$(<"$T/fds")" "run/lock"
    lacks "$(<"$T/fds")" inotify
}

@test "an agent works in the project's directory, whatever directory cliq was started in" {
    one <<<'pwd >"$T/pwd"; complete'
    mkdir -p deep/er
    cd deep/er
    run_ok
    is "$T/proj" "$(<"$T/pwd")"
}

# ---- the end from outside ------------------------------------------------------------------

# Two agents that sleep; the run is in the background as $RUN.
sleepers() {
    one <<'END'
ok
sleep $NAP &
wait
complete
END
    start_run run "$@"
    RUN=$PID
    until_true says .cliq/signals/one.jsonl ok
}
cancelled_soon() { # BEGAN
    ended run "$RUN"
    code_is 130 || return
    status_is CANCELLED || return
    none_left || return
    local took=$(($(ms) - $1)) # neither the grace (10 s) nor the time for an agent that lingers (5 s)
    ((took < 4500)) || complain "took $took ms" || return
    got status
    has "$out" CANCELLED
}

@test "cliq cancel from another process" {
    sleepers
    local began
    began=$(ms)
    got cancel
    succeeds
    is CANCELLED "$out"
    cancelled_soon "$began"
    got status
    like "$out" " cancelled .* the run was cancelled"
    lacks "$out$(<.cliq/orchestrator.log)$(<"$(journal)")" "killed by signal"
    got cancel
    is "nothing was running" "$out"
}

@test "SIGINT, SIGTERM and SIGHUP cancel" {
    local s began
    for s in INT TERM HUP; do
        rm -rf "$T/proj/.cliq" "$T/starts"
        sleepers
        began=$(ms)
        kill -$s "$RUN"
        cancelled_soon "$began"
    done
}

@test "CANCELLED written to the status file by anybody cancels" {
    sleepers
    local began
    began=$(ms)
    echo CANCELLED >.cliq/signals/_pipeline_status
    cancelled_soon "$began"
}

@test "a cancelled phase did not fail: --from runs it again, what was done stays" {
    agent a <<'END'
ok
[ "$P" = one ] || [ "$N" = 2 ] || { sleep $NAP & wait; }
complete
END
    team <<<'phases: [{name: one, agent: a}, {name: two, agent: a, depends_on: [one]}]'
    start_run run
    RUN=$PID
    until_true says .cliq/signals/two.jsonl ok
    got cancel
    ended run "$RUN"
    got status --json
    is "done cancelled" "$(json "$T/out" '" ".join(p["state"] for p in d["phases"])')"
    run_ok --from two
    is "one.1 two.1 two.2" "$(starts)"
}

@test "a second SIGINT does not wait for the grace" {
    one <<'END'
trap '' TERM
ok
while :; do sleep $NAP; done
END
    start_run run
    RUN=$PID
    until_true says .cliq/signals/one.jsonl ok
    local began
    began=$(ms)
    kill -INT "$RUN"
    until_true says .cliq/signals/_pipeline_status CANCELLED
    until_true says .cliq/run/journal.jsonl cancel
    kill -INT "$RUN"
    cancelled_soon "$began"
}

@test "exec says that it has its message while its first command runs, and before it says what is wrong" {
    team <<'END'
phases:
  - {name: one, agent: exec, commands: [{name: go, run: "cat go"}, {name: bad, run: "exit 3", escalate_on_fail: true}]}
END
    mkfifo go
    start_run run
    until_true says .cliq/signals/one.jsonl '"ok"'
    is 1 "$(wc -l <.cliq/signals/one.jsonl)"
    : >go
    ended run "$PID"
    code_is 3
    is "ok error" "$($PY -c 'import json,sys; print(*[json.loads(l)["status"] for l in sys.stdin])' <.cliq/signals/one.jsonl)"
}

@test "cancel during the checks of a gate: its agent is not started any more" {
    agent g <<<'ok; verdict PASS'
    team <<'END'
phases:
  - {name: one, agent: exec, commands: [{name: go, run: "true"}]}
  - {name: gate, type: gate, agent: g, depends_on: [one], commands: [{name: t, run: "trap 'exit 0' TERM; touch started; while :; do sleep 0.05; done"}]}
END
    start_run run
    RUN=$PID
    until_true exists started
    local began
    began=$(ms)
    kill -TERM "$RUN"
    cancelled_soon "$began"
    is "" "$(starts)"
}

@test "cancel ends what a killed orchestrator left behind" {
    sleepers
    kill -KILL "$RUN"
    until_true gone "$RUN"
    [ -n "$(left)" ]
    got cancel
    succeeds
    is CANCELLED "$out"
    none_left
    status_is CANCELLED
    got run $HEADLESS --resume
    code_is 130
    got cancel
    is "nothing was running" "$out"
}

@test "cancel needs no workflow: it may be broken or gone" {
    sleepers
    cp .cliq/workflow.yml "$T/good"
    echo 'phases: [{name:' >.cliq/workflow.yml
    got cancel
    succeeds
    is CANCELLED "$out"
    ended run "$RUN"
    code_is 130
    none_left
    cp "$T/good" .cliq/workflow.yml
    rm -r "$T/starts"
    # the same with an orchestrator that is dead
    start_run run
    RUN=$PID
    until_true says "$T/starts" one.1
    until_true says .cliq/signals/one.jsonl ok
    kill -KILL "$RUN"
    until_true gone "$RUN"
    rm .cliq/workflow.yml
    [ -n "$(left)" ]
    got cancel
    succeeds
    is CANCELLED "$out"
    none_left
    status_is CANCELLED
    got cancel
    is "nothing was running" "$out"
    cp "$T/good" .cliq/workflow.yml
    got status
    has "$out" CANCELLED
}

@test "cancel needs no journal that can be read" {
    local what
    for what in garbage directory gone_then_garbage gone_then_directory gone_then_no; do
        rm -rf "$T/proj/.cliq" "$T/starts"
        sleepers
        case $what in gone*)
            kill -KILL "$RUN"
            until_true gone "$RUN"
            ;;
        esac
        case $what in
        *garbage) printf 'no journal\n{"ev":' >.cliq/run/journal.jsonl ;;
        *no) rm .cliq/run/journal.jsonl ;;
        *directory) rm .cliq/run/journal.jsonl && mkdir .cliq/run/journal.jsonl ;;
        esac
        [ -n "$(left)" ]
        got cancel
        code_is 0
        is CANCELLED "$out"
        case $what in gone*directory) has "$err" "everything is stopped, but the journal cannot tell" ;; *) is "" "$err" ;; esac
        until_true gone "$RUN"
        none_left
        status_is CANCELLED
    done
}

@test "a reader of the output that goes away does not end the run" {
    one <<<'for i in 1 2 3 4 5; do progress $i; sleep 0.02; done; complete'
    "$CLIQ" run $HEADLESS | head -1 >/dev/null
    status_is COMPLETED
    got status
    has "$out" COMPLETED
}

@test "a reader of the output that does not read holds up neither the run nor its end" {
    agent talk <<'END'
ok
for i in $(seq 200); do progress "$(printf 'x%.0s' $(seq 1000))"; done
touch "$T/talked"
[ "$P" = one ] || sleep $NAP
complete
END
    team <<<'phases: [{name: one, agent: talk}, {name: two, agent: talk, depends_on: [one], timeout: 2s}, {name: three, agent: talk}]'
    mkfifo "$T/fifo"
    exec 7<>"$T/fifo" # nobody reads it
    "$CLIQ" run $HEADLESS --json >"$T/fifo" 2>"$T/err" 7>&- 3>&- &
    RUN=$!
    until_true says .cliq/run/journal.jsonl '"two".*timeout'
    got cancel
    is CANCELLED "$out"
    ended_soon() { ! kill -0 "$RUN" 2>/dev/null; }
    until_true ended_soon
    exec 7>&-
    none_left
    has "$(<"$T/err")" "bytes of standard output were lost"
}

@test "children that cliq was started with are not its to stop" {
    one <<<'complete'
    sh -c "sleep $NAP & echo \$! >$T/relative; exec $CLIQ run $HEADLESS" >/dev/null
    local relative
    relative=$(<"$T/relative")
    kill -0 "$relative"
    kill -KILL "$relative"
}

@test "when the journal cannot be written the run FAILED (1), stops everything, and can be resumed" {
    command -v strace >/dev/null || skip "no strace"
    hold two
    agent a <<'END'
ok
[ "$P" = two ] && [ ! -e "$T/healed" ] && { release two; sleep $NAP; }
[ "$P" = one ] && await two
complete
END
    team <<<'phases: [{name: one, agent: a}, {name: two, agent: a}, {name: three, agent: a, depends_on: [one]}]'
    code=0
    ASAN_OPTIONS=detect_leaks=0 strace -o /dev/null -P "$PWD/.cliq/run/journal.jsonl" -e trace=write -e inject=write:error=EIO:when=2+ "$CLIQ" run $HEADLESS >"$T/out" 2>"$T/err" || code=$?
    slurp
    code_is 1
    status_is FAILED
    none_left
    has "$out" "journal"
    lacks "$(starts)" three
    touch "$T/healed"
    run_is 3 --resume # what was killed had begun: it is not begun again by itself
    got retry two $HEADLESS
    code_is 0
    is 1 "$(grep -c '^one' "$T/starts")"
}

@test "the message of a shell agent that is killed stays in the run's directory, until the next run" {
    agent sh </dev/null
    cat >"$T/team/agents/sh/agent.sh" <<END
#!/bin/sh
PATH=$(dirname "$CLIQ"):\$PATH
eval "\$(cliq sdk begin --trap)"
echo "\$CLIQ_SDK_MESSAGE" >$T/where
[ ! -e $T/die ] || kill -9 \$\$
cliq sdk complete
END
    team <<<'phases: [{name: one, agent: sh}]'
    mkdir "$T/tmp"
    export TMPDIR=$T/tmp
    touch "$T/die"
    run_is 3
    is "" "$(ls -A "$T/tmp")"
    is "$STATE/run/messages" "$(dirname "$(<"$T/where")")"
    is 600 "$(stat -c %a "$(<"$T/where")")"
    rm "$T/die"
    run_ok
    is "one.1.json" "$(ls -A .cliq/run/messages)"
    is "" "$(ls -A "$T/tmp")"
}

@test "exec phases one after the other share nothing" {
    team <<'END'
phases:
  - {name: one, agent: exec, env: {COLOUR: red}, commands: [{name: go, run: "cd /; env | sort; pwd"}]}
  - {name: two, agent: exec, depends_on: [one], commands: [{name: go, run: "env | sort; pwd; ls -l /proc/self/fd | wc -l"}]}
  - {name: three, agent: exec, depends_on: [two], commands: [{name: go, run: "readlink /proc/self/fd/0; ls -l /proc/self/fd | wc -l"}]}
END
    run_ok
    has "$(<.cliq/run/logs/one.1.log)" "COLOUR=red"
    lacks "$(<.cliq/run/logs/two.1.log)" "COLOUR="
    has "$(<.cliq/run/logs/two.1.log)" "CLIQ_PHASE=two"
    like "$(<.cliq/run/logs/two.1.log)" "CLIQ_ATTEMPT=[^ ]*/two.1"
    has "$(<.cliq/run/logs/two.1.log)" "$T/proj"
    lacks "$(<.cliq/run/logs/one.1.log)" "CLIQ_PHASE=two"
    has "$(<.cliq/run/logs/three.1.log)" /dev/null
    is "$(tail -n 1 .cliq/run/logs/two.1.log)" "$(tail -n 1 .cliq/run/logs/three.1.log)"
}

@test "a child that a command made for the agent (CLONE_PARENT) is stopped, too" {
    cat >"$T/foster" <<'END'
import ctypes, os, signal, sys
CLONE_PARENT, SYS_clone = 0x8000, {"x86_64": 56}.get(os.uname().machine, 220)
if ctypes.CDLL(None).syscall(SYS_clone, CLONE_PARENT | signal.SIGCHLD, 0, 0, 0, 0) == 0:
    os.execvp("sh", ["sh", "-c", "exec >/dev/null 2>&1; exec sleep " + sys.argv[1]])
END
    team <<END
phases:
  - {name: one, agent: exec, commands: [{name: go, run: "exec $PY $T/foster $NAP"}]}
  - {name: two, agent: exec, depends_on: [one], commands: [{name: go, run: "true"}]}
END
    run_ok
    none_left
}

@test "why an attempt failed stands in its own log, and in no other" {
    team <<'END'
phases:
  - {name: one, agent: script, retries: 1, commands: [{name: go, run: "exit 4$CLIQ_ATTEMPT_NUMBER"}]}
END
    run_is 3
    like "$(<.cliq/run/logs/one.1.log)" '^cliq: the command ended with exit code 41 after [0-9.]+ s and printed nothing$'
    like "$(<.cliq/run/logs/one.2.log)" '^cliq: the command ended with exit code 42 after [0-9.]+ s and printed nothing$'
}

@test "many at a time: no attempt begins twice, none has another's output" {
    $PY - "$T/team/team.yml.part" <<'END'
import sys
with open(sys.argv[1], "w") as f:
    print("phases:", file=f)
    for i in range(60):
        after = f", depends_on: [p{i - 6}]" if i >= 6 else ""
        print(f'  - {{name: p{i}, agent: exec{after}, commands: [{{name: go, run: "echo I am $CLIQ_PHASE; echo p{i} >>all"}}]}}', file=f)
END
    team <"$T/team/team.yml.part"
    run_ok --jobs 5
    is 60 "$(sort -u all | wc -l)"
    is 60 "$(wc -l <all)"
    local i
    for i in $(seq 0 59); do
        grep -qx "I am p$i" ".cliq/run/logs/p$i.1.log"
    done
}

@test "once an agent wrote its attempt_id, lines without it, or with another, are ignored" {
    agent a <<'END'
mine() { line "\"attempt_id\":\"$CLIQ_ATTEMPT\",$1"; }
progress before
mine '"status":"ok"'
progress stale
complete
line '"status":"complete","attempt_id":"another/one.1"'
mine '"status":"progress","message":"at work"'
mine '"status":"error","error":"my own end"'
END
    team <<<'phases: [{name: one, agent: a}]'
    run_is 3
    has "$out" "my own end"
    has "$out" "at work"
    has "$out" "before"
    lacks "$out" "stale"
    is 1 "$(grep -c 'not of this attempt' .cliq/orchestrator.log)"
    is "$(json .cliq/run/messages/one.1.json 'd["payload"]["attempt_id"]')" \
        "$(sed -n 's/.*attempt_id":"\([^"]*\)","status":"ok.*/\1/p' .cliq/signals/one.jsonl)"
}

@test "a line with the attempt_id of another attempt never counts" {
    agent a <<<'ok; line "\"status\":\"complete\",\"attempt_id\":\"old/one.1\""; exit 0'
    team <<<'phases: [{name: one, agent: a}]'
    run_is 3
    has "$out" "phase one crashed: "
    has "$out" "lines without the attempt_id"
}

@test "the SDKs and the built-in agents write their attempt_id into every line" {
    agent sh <<'END'
eval "$(printf '%s' "$(cat "$T/message.$P.$N")" | "$CLIQ" sdk begin)"
"$CLIQ" sdk progress "half way"
"$CLIQ" sdk complete
END
    sed -i "2i CLIQ=$CLIQ" "$T/team/agents/sh/agent.sh"
    team <<'END'
phases:
  - {name: one, agent: sh}
  - {name: two, agent: exec, depends_on: [one], commands: [{name: a, run: "true"}]}
  - {name: three, agent: checks, type: gate, depends_on: [two], commands: [{name: a, run: "true"}]}
  - {name: four, agent: sh, type: gate, depends_on: [two], commands: [{name: a, run: "true"}]}
END
    run_is 3 # a gate needs a verdict
    local p
    for p in one two three four; do
        grep -q "attempt_id\":\"[^\"]*/$p.1\"" .cliq/signals/$p.jsonl || complain "$p" || return
        ! grep -v "attempt_id\":\"[^\"]*/$p.1\"" .cliq/signals/$p.jsonl || complain "$p" || return
    done
    ! grep -v 'attempt_id":"[^"]*/four.1.checks"' .cliq/run/checks/four.jsonl
}

# What people read when something fails: exit code, duration, last line.
@test "an agent that crashes: the reason has its exit code, the time, and its last line" {
    agent a <<<'ok; echo first; printf "\033[31mno such model\033[0m\n\n" >&2; exit 3'
    team <<<'phases: [{name: one, agent: a}]'
    run_is 3
    like "$out" 'phase one crashed: exit code 3 after [0-9.]+ m?s without a terminal line: no such model'
    says .cliq/orchestrator.log 'crashed.*exit code 3 after .*: no such model'
    says "$(journal)" 'exit code 3 after .*: no such model'
    got status
    has "$out" "no such model"
}

@test "an agent that runs out of time: the reason has the time and its last line" {
    agent a <<<'ok; echo waiting for the lock; sleep $NAP'
    team <<<'phases: [{name: one, agent: a, timeout: 1s}]'
    run_is 3
    like "$out" 'phase one timed out: no terminal line after 1\.[0-9] s: waiting for the lock'
}

@test "commands that fail: progress, summary, log and journal say which, how and after how long" {
    team <<END
phases:
  - name: one
    agent: exec
    commands:
      - {name: good, run: "true"}
      - {name: lint, run: "echo a; echo 'x.c:3: unused' >&2; exit 2"}
      - {name: slow, run: "echo begun; sleep $NAP", timeout: 1s}
  - {name: two, agent: exec, depends_on: [one], commands: [{name: b, run: 'echo \$(handoff.one.results[2].timed_out) > $T/late'}]}
END
    run_ok
    local summary='1 of 3 commands passed: lint failed with exit code 2 after [0-9.]+ s: x.c:3: unused; slow timed out after 1\.[0-9] s: begun'
    like "$out" "one +completed +$summary"
    like "$out" 'one +progress +lint failed with exit code 2 after [0-9.]+ s: x.c:3: unused'
    like "$(cat .cliq/signals/one.jsonl)" "summary\":\"$summary"
    like "$(cat "$(journal)")" "$summary"
    like "$(cat .cliq/channels/one--two/handoff.json)" "$summary"
    like "$(cat .cliq/run/logs/one.1.log)" 'cliq: slow timed out after 1\.[0-9] s: begun'
    is true "$(<"$T/late")"
    like "$out" 'two +completed +1 of 1 commands passed'
}

@test "a command with escalate_on_fail and a gate's commands say how they failed" {
    team <<'END'
phases:
  - {name: one, agent: exec, commands: [{name: lint, escalate_on_fail: true, run: "echo broken; exit 4"}]}
END
    run_is 3
    like "$out" 'command lint failed with exit code 4 after [0-9.]+ s: broken'
    AGENTS=
    team <<'END'
phases:
  - {name: one, agent: exec, commands: [{name: a, run: "true"}]}
  - {name: gate, type: gate, agent: checks, depends_on: [one], max_iterations: 1, commands: [{name: t, run: "echo 2 tests fail; exit 1"}, {name: u, run: "true"}]}
END
    run_is 3
    like "$out" '1 of 2 checks passed: t failed with exit code 1 after [0-9.]+ s: 2 tests fail'
}
