#!/usr/bin/env bats
# Processes of our own agents that take one attempt after the other (src/run/crew.h).
load pipeline

setup_file() { [ "${EXECUTOR:-process}" = process ] || skip "in tmux each attempt has a process of its own"; }

process_of() { readlink ".cliq/run/attempts/$1"; }
pid_of() { local id; id=$(process_of "$1") && echo "${id%% *}"; }
# How many processes these attempts had. Who is given an attempt while its last one is not quite
# over has none to spare: then there are two of them.
processes() { local a; for a; do process_of "$a"; done | sort -u | wc -l; }

@test "exec phases one after the other share a process, and nothing else" {
    team <<'END'
phases:
  - {name: one, agent: exec, env: {COLOUR: red}, commands: [{name: go, run: "cd /; env | sort; pwd"}]}
  - {name: two, agent: exec, depends_on: [one], commands: [{name: go, run: "env | sort; pwd; ls -l /proc/self/fd | wc -l"}]}
  - {name: three, agent: exec, depends_on: [two], commands: [{name: go, run: "readlink /proc/self/fd/0; ls -l /proc/self/fd | wc -l"}]}
END
    run_ok
    [ "$(processes one.1 two.1 three.1)" -le 2 ]
    has "$(<.cliq/run/logs/one.1.log)" "COLOUR=red"
    lacks "$(<.cliq/run/logs/two.1.log)" "COLOUR="
    has "$(<.cliq/run/logs/two.1.log)" "CLIQ_PHASE=two"
    like "$(<.cliq/run/logs/two.1.log)" "CLIQ_ATTEMPT=[^ ]*/two.1"
    has "$(<.cliq/run/logs/two.1.log)" "$T/proj"
    lacks "$(<.cliq/run/logs/one.1.log)" "CLIQ_PHASE=two"
    has "$(<.cliq/run/logs/three.1.log)" /dev/null
    is "$(tail -n 1 .cliq/run/logs/two.1.log)" "$(tail -n 1 .cliq/run/logs/three.1.log)"
    gone "$(pid_of one.1)"
    gone "$(pid_of three.1)"
}

@test "who left something behind takes no other attempt, and what it left is stopped" {
    team <<END
phases:
  - {name: one, agent: exec, commands: [{name: go, run: "sleep $NAP >/dev/null 2>&1 &"}]}
  - {name: two, agent: exec, depends_on: [one], commands: [{name: go, run: "true"}]}
  - {name: three, agent: exec, depends_on: [two], commands: [{name: go, run: "true"}]}
END
    run_ok
    none_left
    [ "$(process_of one.1)" != "$(process_of two.1)" ]
    [ "$(process_of one.1)" != "$(process_of three.1)" ]
}

@test "a child that a command made for us is left behind, too" {
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
  - {name: three, agent: exec, depends_on: [two], commands: [{name: go, run: "true"}]}
END
    run_ok
    none_left
    [ "$(process_of one.1)" != "$(process_of two.1)" ]
    [ "$(process_of one.1)" != "$(process_of three.1)" ]
}

@test "a failed attempt is tried again, and an agent that died is another process then" {
    team <<'END'
phases:
  - {name: one, agent: exec, commands: [{name: go, run: "true"}]}
  - {name: two, agent: exec, depends_on: [one], retries: 1, commands: [{name: go, run: "[ -e killed ] || { touch killed; kill -9 $PPID; }"}]}
END
    run_ok
    [ "$(process_of two.1)" != "$(process_of two.2)" ]
}

@test "a killed orchestrator: who works finishes, and is not stopped for what it did before" {
    team <<END
phases:
  - {name: zero, agent: exec, commands: [{name: go, run: "true"}]}
  - {name: one, agent: exec, depends_on: [zero], commands: [{name: go, run: "true"}]}
  - {name: two, agent: exec, depends_on: [one], commands: [{name: go, run: "echo x >>$T/twice; read -r _ <$T/gate"}]}
  - {name: three, agent: exec, depends_on: [two], commands: [{name: go, run: "true"}]}
END
    hold gate
    start_run run
    until_true exists "$T/twice"
    [ "$(processes zero.1 one.1 two.1)" -le 2 ]
    kill -KILL "$PID"
    until_true gone "$PID"
    start_run again --resume
    until_true says "$T/again.out" resumed
    release gate
    ended again "$PID"
    code_is 0
    is x "$(<"$T/twice")"
    status_is COMPLETED
    is "two.1" "$(basename -a .cliq/run/attempts/two* | paste -sd' ')"
}

@test "a killed orchestrator: who waits for work ends, who works ends when it is done" {
    agent a <<<'ok; await gate; complete'
    team <<END
phases:
  - {name: one, agent: exec, commands: [{name: go, run: "true"}]}
  - {name: two, agent: a, depends_on: [one]}
END
    hold gate
    start_run run
    until_true says "$T/starts" two.1
    local idle
    idle=$(pid_of one.1)
    ! gone "$idle"
    kill -KILL "$PID"
    until_true gone "$PID"
    until_true gone "$idle"
    release gate
    until_true says .cliq/signals/two.jsonl complete
    run_ok --resume
}

@test "one that waits for work may be killed or stopped: the next attempt begins all the same" {
    local signal
    for signal in KILL STOP; do
        rm -rf "$T/proj/.cliq" "$T/starts" "$T/team/agents"
        AGENTS=''
        agent a <<<'ok; await gate; complete'
        team <<'END'
phases:
  - {name: one, agent: exec, commands: [{name: go, run: "true"}]}
  - {name: two, agent: a, depends_on: [one]}
  - {name: three, agent: exec, depends_on: [two], commands: [{name: go, run: "true"}]}
END
        hold gate
        start_run run
        until_true says "$T/starts" two.1
        kill -$signal "$(pid_of one.1)"
        release gate
        ended run "$PID"
        code_is 0
        status_is COMPLETED
        gone "$(pid_of one.1)"
    done
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
    [ "$(for i in .cliq/run/attempts/*; do readlink "$i"; done | sort -u | wc -l)" -le 10 ]
}

@test "gates and scripts stay, too" {
    team <<'END'
phases:
  - {name: one, agent: script, commands: [{name: go, run: "echo hello"}]}
  - {name: two, agent: script, depends_on: [one], commands: [{name: go, run: "cat; echo world"}]}
  - {name: gate, type: gate, agent: checks, depends_on: [two], max_iterations: 3, commands: [{name: third, run: "echo x >>tries; [ $(wc -l <tries) = 3 ]"}]}
END
    run_ok
    [ "$(processes one.1 two.1 two.2 two.3)" -le 2 ]
    [ "$(processes gate.1 gate.2 gate.3)" -le 2 ]
    has "$(json .cliq/channels/two--gate/handoff.json 'd["text"]')" world
}

@test "why an attempt failed stands in its own log, and in no other" {
    team <<'END'
phases:
  - {name: one, agent: script, retries: 1, commands: [{name: go, run: "exit 4$CLIQ_ATTEMPT_NUMBER"}]}
END
    run_is 3
    is "cliq: the command ended with exit code 41 and printed nothing" "$(<.cliq/run/logs/one.1.log)"
    is "cliq: the command ended with exit code 42 and printed nothing" "$(<.cliq/run/logs/one.2.log)"
}

# Waits for words from its socket: recvfrom, of x86_64 or arm64.
waits_for_work() { case $(<"/proc/$1/syscall") in "45 "* | "207 "*) ;; *) false ;; esac; }

@test "who is told to stop while it is begun is stopped" {
    # l begins, and the first attempt of a turns out to be over; so a is tried again, which cannot
    # be, and all is to be stopped.
    team <<END
phases:
  - {name: b, agent: exec, commands: [{name: go, run: "true"}]}
  - {name: k, agent: exec, depends_on: [b], commands: [{name: go, run: "read -r _ <$T/gk"}]}
  - {name: l, agent: exec, depends_on: [k], commands: [{name: go, run: "sleep $NAP"}]}
  - name: a
    agent: exec
    retries: 1
    depends_on: [b]
    when: "\$(handoff.b.total) == 1"
    commands:
      - name: go
        run: |
          cd "\$CLIQ_STATE_DIR" && rm channels/b--a/handoff.json && mkdir channels/b--a/handoff.json
          echo '{"version":1,"type":"phase","status":"error","error":"once"}' >>signals/a.jsonl
          read -r _ <$T/ga
END
    hold gk
    hold ga
    start_run run --fail-fast
    until_true says "$(journal)" '"due"'
    kill -STOP "$PID"
    release gk
    until_true says .cliq/signals/k.jsonl complete
    release ga
    until_true waits_for_work "$(pid_of a.1)"
    kill -CONT "$PID"
    ended run "$PID"
    code_is 3
    none_left
}

@test "what a command did to the process that runs it is not the next phase's" {
    team <<END
phases:
  - {name: a, agent: exec, commands: [{name: go, run: "renice -n 5 -p \$PPID >/dev/null"}]}
  - {name: b, agent: exec, depends_on: [a], commands: [{name: go, run: "nice >$T/nice; prlimit --pid \$PPID --nofile=99:99"}]}
  - {name: c, agent: exec, depends_on: [b], commands: [{name: go, run: "ulimit -n >$T/files"}]}
END
    run_ok
    is 0 "$(<"$T/nice")"
    is "$(ulimit -n)" "$(<"$T/files")"
}

@test "a process that waits, and is stopped, does not outlive its run" {
    team <<END
phases:
  - {name: a, agent: exec, commands: [{name: go, run: "echo \$PPID >$T/pid"}]}
  - {name: b, agent: script, depends_on: [a], commands: [{name: go, run: "read -r _ <$T/go || true; echo done"}]}
END
    hold go
    start_run run
    until_true says .cliq/signals/a.jsonl complete
    until_true waits_for_work "$(<"$T/pid")"
    kill -STOP "$(<"$T/pid")"
    kill -KILL "$PID"
    until_true gone "$(<"$T/pid")"
    release go
    run_ok --resume
}
