#!/usr/bin/env bats
# CliqClient of the SDKs for JavaScript and Python at a real server: every call, streams over servers that are
# killed, and workers of both beside those of the command line.
load ../lib/cli
load ../lib/hub
load ../lib/server

eval "base_$(declare -f setup)"
setup() {
    base_setup
    command -v node >/dev/null || skip "no node"
    boot
    cliq sdk install js . >/dev/null
    cliq sdk install python . >/dev/null
    cp "$ROOT"/test/sdk/hub.mjs "$ROOT"/test/sdk/hub.py .
    export CLIQ_URL=$URL CLIQ_KEY=$KEY
}
# Those of the command line work on the files.
cliq() { env -u CLIQ_URL -u CLIQ_KEY "$CLIQ" "$@"; }

@test "every call of CliqClient in JavaScript" {
    node hub.mjs calls
}

@test "every call of CliqClient in Python" {
    "$PY" hub.py calls
}

@test "a newcomer's mistakes with CliqClient are told at once, and fail no task silently" {
    node hub.mjs mistakes
    "$PY" hub.py mistakes
    got_from node hub.mjs unseen
    code_is 1
    has "$err" "CliqClientError"
    got_from "$PY" hub.py unseen
    has "$err" "Exception in thread cliq-subscription"
    has "$err" "KeyError: 'mine'"
}

@test "streams in JavaScript and Python over five kills of the server: no gap, no repeat" {
    local round before
    start js node hub.mjs listen "$T/js.heard"
    start py "$PY" hub.py listen "$T/py.heard"
    until_true grep -q opened "$T/js.out"
    until_true grep -q opened "$T/py.out"
    unset CLIQ_URL CLIQ_KEY
    emitters
    for round in 1 2 3 4 5; do
        before=$(wc -l <"$T/js.heard") other=$(wc -l <"$T/py.heard")
        until_true has_some "$T/js.heard" "$before"
        until_true has_some "$T/py.heard" "$other"
        shoot
        boot
    done
    quiet
    heard_all "$T/js.heard"
    heard_all "$T/py.heard"
    [ "$(wc -l <"$T/js.heard")" -gt 20 ]
    in_log | head -1 | cmp - <(head -1 "$T/js.heard")
    in_log | head -1 | cmp - <(head -1 "$T/py.heard")
    is 6 "$(grep -c opened "$T/js.out")"
}

@test "a call waits for a server that is started again" {
    shoot
    start js node hub.mjs calls
    local js=$PID
    boot
    ended js "$js"
    code_is 0
}

all_done() { [ "$(cat "$T"/*.out 2>/dev/null | wc -l)" -ge "$1" ]; }

@test "tasks that workers in JavaScript, Python and of the command line claim: each once" {
    local n=${SDK_TASKS:-2000} i pids=()
    seq "$n" | "$PY" -c '
import sys
from cliq_sdk import CliqClient
hub, tasks = CliqClient(), [{"signal_type": "task", "content": "task " + line.strip()} for line in sys.stdin]
for i in range(0, len(tasks), 500):
    hub.emit_batch(tasks[i:i + 500])'
    start js1 node hub.mjs work 3 && pids+=("$PID")
    start js2 node hub.mjs work 3 && pids+=("$PID")
    start py1 "$PY" hub.py work 3 && pids+=("$PID")
    start py2 "$PY" hub.py work 3 && pids+=("$PID")
    # the command line: two over HTTP, two on the files
    for i in 1 2 3 4; do
        cat >"cli$i.sh" <<'END'
while id=$("$CLIQ" claim); do
    "$CLIQ" status-of "$id" --json | sed -n 's/.*"content":"\(task [0-9]*\)".*/\1/p'
    "$CLIQ" ack "$id" >/dev/null
done
END
        if [ $((i % 2)) = 0 ]; then
            start "cli$i" env -u CLIQ_URL -u CLIQ_KEY CLIQ_IDENTITY="w$i" sh "cli$i.sh"
        else
            start "cli$i" sh "cli$i.sh"
        fi
    done
    BOUND=60 until_true all_done "$n"
    kill "${pids[@]}"
    for i in 0 1 2 3; do ended "$(sed "s/ .*//" <<<"$(echo js1 js2 py1 py2 | cut -d' ' -f$((i + 1)))")" "${pids[$i]}"; done
    is "$n" "$(cat "$T"/{js,py,cli}*.out | wc -l)"
    is "$(seq "$n" | sed 's/^/task /' | sort)" "$(cat "$T"/{js,py,cli}*.out | sort)"
    # every kind had its share
    for i in js py cli; do [ -n "$(cat "$T/$i"*.out)" ] || complain "none by $i"; done
    until_true is_acked "$n"
}
is_acked() { [ "$(cliq hub stats --json | "$PY" -c 'import json,sys; print(json.load(sys.stdin)["acked"])' 2>/dev/null || echo 0)" = "$1" ]; }
