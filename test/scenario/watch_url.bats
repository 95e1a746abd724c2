#!/usr/bin/env bats
# watch and signal watch at a server: the same output as on files, over restarts of the server.
load ../lib/cli
load ../lib/hub
load ../lib/server

eval "base_$(declare -f setup)"
setup() {
    base_setup
    boot
}
# watching NAME ARGS...: starts a watch in the background and waits until it is connected.
watching() {
    start "$1" "$CLIQ" "${@:2}"
    until_true listening "$PID"
}
stopped() { # NAME PID
    kill -INT "$2"
    ended "$1" "$2"
    code_is 130
}
ids() { # FILE of --json lines: "SEQ ID"
    "$PY" -c '
import json, sys
for l in open(sys.argv[1]):
    v = json.loads(l)
    print(v["sequence"], v["id"].replace("signal:", ""))' "$1"
}
heard_ids() { ids "$T/w.out" >"$T/w.heard" 2>/dev/null && has_heard "$T/w.heard" "$(last_in_log)"; }

@test "watch --url has the same options and the same output as on files" {
    cliq role add r >/dev/null
    cliq ring add o >/dev/null
    cliq role fill r "$(id -un)" >/dev/null
    cliq emit alert early --urgency 0.9 --tag t >/dev/null
    cliq emit a:b ring --to-ring o >/dev/null
    cliq emit a:c,d comma --to-role r --urgency 0.2 >/dev/null
    cliq signal generate a:b --data '{"n":1}' >/dev/null
    cliq emit last last --urgency 1 --tag t --to-ring o --from-role r >/dev/null
    local flags
    for flags in "" "--json" "--type alert --type last" "--type a:c,d --type last" "--pattern a:* --json" "--min-urgency 0.9" "--tag t" "--role r" "--ring o"; do
        local files pid
        watching f watch --since 0 $flags
        pid=$PID
        watching u watch --url "$URL" --since 0 $flags
        until_true cmp -s "$T/f.out" "$T/u.out"
        until_true has_lines "$T/u.out" 1
        stopped u "$PID"
        stopped f "$pid"
        is "$(<"$T/f.out")" "$(<"$T/u.out")"
    done
    for flags in "--all" "--all --json" "--all a:*" "--all a:* last --json"; do
        watching f signal watch $flags
        pid=$PID
        CLIQ_URL=$URL watching u signal watch $flags
        until_true has_lines "$T/f.out" 2
        until_true cmp -s "$T/f.out" "$T/u.out"
        stopped u "$PID"
        stopped f "$pid"
    done
}

@test "by default watch prints no earlier signals and every new one" {
    cliq emit note before >/dev/null
    watching w watch --url "$URL" --json
    id=$(cliq emit note after)
    until_true has_lines "$T/w.out" 1
    stopped w "$PID"
    is "$id" "$(field id <"$T/w.out")"
}

@test "watch over five kills and restarts: no gap, no repeat, and each one is reported" {
    watching w watch --url "$URL" --json
    local pid=$PID n=0
    emitters
    for round in 1 2 3 4 5; do
        until_true has_some "$T/w.out" "$n"
        shoot
        until_true has_lost "$round"
        boot
        until_true has_found "$round"
        n=$(wc -l <"$T/w.out")
    done
    quiet
    BOUND=40 until_true heard_ids
    stopped w "$pid"
    heard_all "$T/w.heard"
    [ "$(wc -l <"$T/w.heard")" -gt 10 ]
    has "$(<"$T/w.err")" "the connection to $URL is lost"
    has "$(<"$T/w.err")" "trying again"
    has "$(<"$T/w.err")" "connected to $URL again"
    is 10 "$(wc -l <"$T/w.err")" # two lines for each kill, whatever the number of tries
}
has_lost() { [ "$(grep -c 'is lost' "$T/w.err")" = "$1" ]; }
has_found() { [ "$(grep -c 'again; nothing was missed' "$T/w.err")" = "$1" ]; }

@test "a watch that was cut off before its first signal misses nothing" {
    cliq emit note before >/dev/null
    watching w signal watch --url "$URL" --json
    shoot
    until_true has_lost 1
    id=$(cliq emit note "while nobody served")
    boot
    until_true has_lines "$T/w.out" 1
    stopped w "$PID"
    is "${id#signal:}" "$(field id <"$T/w.out")"
}

@test "watch waits for a server that stops, and ends when the server refuses" {
    watching w watch --url "$URL"
    kill -TERM "$SERVER"
    until_true has_lost 1
    boot
    until_true has_found 1
    kill -0 "$PID"
    # a revoked key ends the stream; the next one is refused, which ends the watch
    key=$(cliq key create --identity weak --scope stream --json | field key)
    CLIQ_KEY=$key watching v watch --url "$URL"
    cliq key revoke "$(cliq key list --json | "$PY" -c 'import json, sys
print([k["id"] for k in json.load(sys.stdin) if k["identity"] == "weak"][0])')" >/dev/null
    ended v "$PID"
    code_is 7
    has "$err" "cliq: "
}

@test "a refused watch ends at once with the reason" {
    CLIQ_KEY=cho_wrong got watch --url "$URL"
    refused 7 "CLIQ_KEY"
    key=$(cliq key create --identity weak --scope emit --json | field key)
    CLIQ_KEY=$key got watch --url "$URL"
    refused 7 "scope"
    got watch --url "$URL" --min-urgency 7
    refused 2 "--min-urgency" 7
    cliq ring add secret >/dev/null
    key=$(cliq key create --identity outsider --json | field key)
    CLIQ_KEY=$key got watch --url "$URL" --ring secret
    refused 7 "secret"
    shoot
    got watch --url "$URL"
    refused 74 "Connection refused"
}

@test "a closed output pipe ends the watch" {
    watching w watch --url "$URL"
    stopped w "$PID"
    mkfifo "$T/pipe"
    "$CLIQ" watch --url "$URL" >"$T/pipe" 2>"$T/p.err" 3>&- &
    local pid=$!
    PIDS+=("$pid")
    exec 4<"$T/pipe"
    until_true listening "$pid"
    exec 4<&-
    until_true gone "$pid"
    code=0
    wait "$pid" || code=$?
    is 141 "$code"
}

@test "watch works over a Unix socket" {
    shoot
    PORT=0 boot --unix "$T/socket"
    CLIQ_URL=unix:$T/socket watching w watch --json
    CLIQ_URL=unix:$T/socket cliq emit note "through the socket" >/dev/null
    until_true has_lines "$T/w.out" 1
    stopped w "$PID"
    is "through the socket" "$(field content <"$T/w.out")"
    CLIQ_URL=unix:$T/nothing got inbox @x
    refused 74 "$T/nothing" "No such file"
}

@test "https: an untrusted certificate is refused" {
    command -v openssl >/dev/null || skip "no openssl"
    openssl req -x509 -newkey rsa:2048 -nodes -keyout "$T/k.pem" -out "$T/c.pem" -days 2 -subj /CN=localhost \
        -addext subjectAltName=DNS:localhost,IP:127.0.0.1 2>/dev/null
    cat >"$T/tls.py" <<'PY'
import http.server, os, ssl
T = os.environ["T"]
s = http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
c.load_cert_chain(T + "/c.pem", T + "/k.pem")
s.socket = c.wrap_socket(s.socket, server_side=True)
open(T + "/tls.new", "w").write(str(s.server_address[1]))
os.rename(T + "/tls.new", T + "/tls.port")
s.serve_forever()
PY
    start tls "$PY" "$T/tls.py"
    until_true test -e "$T/tls.port"
    export CLIQ_KEY=cho_x
    for words in "watch" "emit note x" "signal watch"; do
        got $words --url "https://127.0.0.1:$(<"$T/tls.port")"
        refused 74 "127.0.0.1:$(<"$T/tls.port")" "certificate"
    done
}
