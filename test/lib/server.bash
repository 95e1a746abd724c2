# server.bash - helpers for tests that kill `cliq serve`; load it after cli.bash and hub.bash.
#
#   boot            starts the server, always on the same port, and waits until it listens: $URL, $KEY,
#                   $SERVER
#   shoot           kill -9, and waits until it has ended
#   emitters        starts two processes that emit until `quiet`: commands on files, and curl, whose
#                   failures are ignored while the server is dead
#   heard_all FILE  FILE has one line "SEQ ID" per signal that a client received: checks that they are
#                   those of the log from the first one on, without gaps or repeats, in order

PORT=0
boot() {
    : >"$T/said"
    "$CLIQ" serve --listen "127.0.0.1:$PORT" "$@" >"$T/said" 2>"$T/serve.err" 3>&- &
    SERVER=$!
    PIDS+=("$SERVER")
    until_true is_up || { cat "$T/serve.err"; return 1; }
    kill -0 "$SERVER" || { cat "$T/serve.err"; return 1; }
    URL=$(sed -n 's/^listening on \(http.*\)/\1/p' "$T/said" | head -1)
    PORT=${URL##*:}
    KEY=$(<"$CLIQ_HOME/admin.key")
}
is_up() { grep -q '^listening on http' "$T/said" || ! kill -0 "$SERVER" 2>/dev/null; }
shoot() {
    kill -KILL "$SERVER"
    wait "$SERVER" 2>/dev/null || true
}

emitters() {
    : >"$T/go"
    (n=0
        while [ -e "$T/go" ] && [ $((n++)) -lt 2000 ]; do
            "$CLIQ" emit "$((n % 2)).even" "file $n" >/dev/null || exit 1
        done) 3>&- &
    E1=$!
    (n=0
        while [ -e "$T/go" ] && [ $((n++)) -lt 2000 ]; do
            curl -sS -m 10 -X POST "$URL/emit" -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" \
                -d "{\"signal_type\":\"$((n % 2)).even\",\"content\":\"http $n\"}" >/dev/null 2>&1 || true
        done) 3>&- &
    E2=$!
    PIDS+=("$E1" "$E2")
}
quiet() {
    rm -f "$T/go"
    wait "$E1"
    wait "$E2"
}

# in_log [PATTERN]: "SEQ ID" of every signal in the log whose type matches; uses no code of cliq.
in_log() {
    "$PY" - "$CLIQ_HOME/signals/events.jsonl" "${1:-.}" <<'END'
import json, re, sys
for line in open(sys.argv[1], "rb"):
    try:
        v = json.loads(line)
    except ValueError:
        continue
    if "op" not in v and re.search(sys.argv[2], v["type"]):
        print(v["seq"], v["id"].replace("signal:", ""))
END
}
# signals_in_log: the number of signals.
signals_in_log() { in_log | wc -l; }
last_in_log() { in_log "${1:-.}" | tail -1; }
has_heard() { # FILE LINE
    [ "$(tail -n 1 "$1")" = "$2" ]
}
heard_all() { # FILE [PATTERN]
    local want
    want=$(last_in_log "${2:-.}")
    BOUND=40 until_true has_heard "$1" "$want" || { tail -n 3 "$1"; return 1; }
    in_log "${2:-.}" | sed -n "/^$(head -1 "$1")\$/,\$p" | diff - "$1" | head -20
    in_log "${2:-.}" | sed -n "/^$(head -1 "$1")\$/,\$p" | cmp - "$1"
}
has_some() { # FILE N: more than so many lines
    [ "$(wc -l <"$1" 2>/dev/null || echo 0)" -gt "$2" ]
}
