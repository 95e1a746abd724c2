# notifiers.bash - the built-in agents that notify people: load it at the top of a notify_*.bats.
#
#   server FILE.py ARGS...     starts a server of test/scenario; its port is $PORT then
#   tell AGENT NOTIFICATION    `cliq agent AGENT` with a notify message; the channels and other
#                              settings are $SETTINGS, members of an object
#   probe AGENT                the same with a test message
#   told, refuses PART...      how the last one ended
#   sent N EXPRESSION          of the N-th request r (body: b, the JSON in it: d)
load ../scenario/pipeline

server() {
    rm -f "$T/port"
    start server "$PY" "$ROOT/test/scenario/$1" "${@:2}"
    until_true test -e "$T/port"
    PORT=$(<"$T/port")
    URL=http://127.0.0.1:$PORT
}

message() { # AGENT TYPE PAYLOAD
    mkdir -p "$T/proj/.cliq/signals"
    rm -f "$T/proj/.cliq/signals/"_*
    printf '{"version":1,"type":"%s","agent":"%s","instance_id":"cliq-1","team_name":"@local/x","project_dir":"%s",
        "signal_dir":"%s/.cliq/signals","settings":{%s},"payload":{"id":"n1",%s}}' \
        "$2" "$1" "$T/proj" "$T/proj" "${SETTINGS:-}" "$3" >"$T/message"
    CLIQ_ATTEMPT=${ATTEMPT-run1/n1} CLIQ_RUN_ID=run1 got agent "$1" <"$T/message"
    signals=$(cat "$T/proj/.cliq/signals/"_*)
}
tell() { message "$1" notify "\"notifications\":[$2]"; }
probe() { message "$1" test '"x":1'; }
told() { code_is 0 && is "" "$err" && has "$signals" '"status":"complete"'; }
refuses() { # PART...: in the error line and on standard error
    local part
    code_is 1 || return 1
    for part in "$@"; do has "$err" "$part" && has "$signals" "$part" || return 1; done
    has "$signals" '"status":"error"'
}
requests() { [ ! -e "$T/requests" ] || wc -l <"$T/requests"; }
sent() {
    sed -n "$1p" "$T/requests" | $PY -c '
import base64, hashlib, hmac, json, sys
r = json.loads(sys.stdin.read()); b = r["body"]; d = json.loads(b); h = r["headers"]
print(eval(sys.argv[1]))' "$2"
}
