#!/usr/bin/env bats
# What a server does with those who ask too often, and what it writes down about requests.
bats_require_minimum_version 1.5.0
load ../lib/cli
load ../lib/serve

again() { # OPTIONS...
    kill -TERM "$SERVER"
    wait "$SERVER"
    boot 0 "$@"
}

# ask KEY PATH [CURL OPTIONS]: the status; headers in $T/head, the body in $T/body.
ask() {
    curl -s -D "$T/head" -o "$T/body" -w '%{http_code}' "$URL$2" -H "Authorization: Bearer $1" "${@:3}"
}
emit() { ask "$1" /emit -H 'Content-Type: application/json' -d '{"signal_type":"pulse"}'; }
header() { tr -d '\r' <"$T/head" | sed -n "s/^$1: //Ip"; }

@test "a key that asks too often is told when to come back, and nothing is done for it" {
    a=$(key_of ann)
    b=$(key_of bob)
    again --rate 1 --burst 5
    before=$(wc -l <home/signals/events.jsonl)
    for i in 1 2 3 4 5 6 7 8 9 10 11 12; do emit "$a"; echo; done >codes
    grep -qx 429 codes
    again_refused() { emit "$a" >>codes; echo >>codes; [ "$(tail -n 1 codes)" = 429 ]; }
    until_true again_refused # one may be served again by now
    like "$(header Retry-After)" '^[1-9][0-9]*$'
    [ "$(json 'd["error"]["code"]' <"$T/body")" = RATE_LIMITED ]
    [ "$(json 'd["error"]["request_id"]' <"$T/body")" = "$(header X-Request-Id)" ]
    is $((before + $(grep -cx 200 codes))) "$(wc -l <home/signals/events.jsonl)"
    [ "$(emit "$b")" = 200 ] # everyone has their own
    served() { [ "$(emit "$a")" = 200 ]; }
    until_true served # and time brings more
}

@test "those without a known key share one limit" {
    again --rate 1 --burst 3
    for i in 1 2 3 4 5 6 7 8; do ask "cho_guess$i" /inbox/dev; echo; done >codes
    grep -qx 401 codes
    grep -qx 429 codes
    [ "$(ask "$KEY" /inbox/dev)" = 200 ]
    for i in 1 2 3 4 5 6; do curl -s -o /dev/null -w '%{http_code}\n' "$URL/health"; done >codes
    grep -qx 429 codes
}

@test "a ticket that came too early is not used up" {
    again --rate 1 --burst 3
    ticket=$(send /signals/ticket '{}' | json 'd["data"]["ticket"]')
    until [ "$(ask "$KEY" /roles)" = 429 ]; do :; done
    [ "$(curl -s -o /dev/null -w '%{http_code}' "$URL/signals/stream?ticket=$ticket")" = 429 ]
    opened() { [ "$(curl -s -o /dev/null -w '%{http_code}' --max-time 1 "$URL/signals/stream?ticket=$ticket")" = 200 ]; }
    until_true opened
}

@test "without --rate nothing is limited, and a bad one is refused" {
    for i in $(seq 60); do emit "$KEY"; echo; done >codes
    [ "$(sort -u codes)" = 200 ]
    got serve --listen 127.0.0.1:0 --rate 0
    refused 2 "--rate must be from 1 to 1000000, not 0"
    got serve --listen 127.0.0.1:0 --rate many
    refused 2 "--rate"
    got serve --listen 127.0.0.1:0 --burst 5
    refused 2 "--burst needs --rate"
}

@test "what is no HTTP is answered with its id in the header and the body, and is in the access log" {
    : >access.log
    long=$(printf 'x%.0s' {1..70000})
    for request in "NOISE" "GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost" "GET / HTTP/9.9" "GET /$long HTTP/1.1" \
        "POST /emit HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999"; do
        exec 5<>"/dev/tcp/127.0.0.1/$PORT"
        printf "$request\r\n\r\n" >&5
        timeout 20 cat <&5 >"$T/answer"
        exec 5>&-
        sed '/^\r$/,$d' "$T/answer" >"$T/head"
        sed '1,/^\r$/d' "$T/answer" >"$T/body"
        status=$(awk 'NR == 1 { print $2 }' "$T/head")
        like "$status" '^(4|5)[0-9][0-9]$'
        id=$(header X-Request-Id)
        like "$id" '^[0-9a-f]+-[0-9a-f]+$'
        is "$id" "$(json 'd["error"]["request_id"]' <"$T/body")"
        is application/json "$(header Content-Type)"
        asked="- -" # what stands in a head that is wrong is not to be believed
        case $request in POST*) asked="POST /emit" ;; esac
        like "$(grep " $id " access.log)" "^20[0-9T:.-]+Z $id 127.0.0.1:[0-9]+ $asked $status\$"
    done
    is 5 "$(wc -l <access.log)"
}

@test "the access log tells each request once, with its id and its true outcome, and no secret" {
    : >access.log
    key=$(key_of ann)
    ticket=$(send /signals/ticket '{}' | json 'd["data"]["ticket"]')
    curl -sN --max-time 20 -D "$T/stream.head" "$URL/signals/stream?ticket=$ticket" >stream 3>&- &
    PIDS+=($!)
    until_true grep -q connected stream
    [ "$(ask "$KEY" "/signals/signal:none?token=$key")" = 404 ]
    id=$(header X-Request-Id)
    [ "$(json 'd["error"]["request_id"]' <"$T/body")" = "$id" ]
    like "$(grep " $id " access.log)" "^20[0-9T:.-]+Z $id 127.0.0.1:[0-9]+ GET /signals/signal:none 404$"
    for path in /health /openapi.json /metrics / /nowhere /roles; do
        ask "$key" "$path?token=$key" >/dev/null
        id=$(header X-Request-Id)
        is 1 "$(grep -c " $id .* GET $path " access.log)"
    done
    [ "$(ask cho_wrong /roles)" = 401 ]
    like "$(grep " $(header X-Request-Id) " access.log)" ' GET /roles 401$'
    grep -q ' GET /signals/stream 200$' access.log
    id=$(tr -d '\r' <"$T/stream.head" | sed -n 's/^X-Request-Id: //Ip')
    is 1 "$(grep -c " $id " access.log)"
    is "$(cut -d' ' -f2 access.log | sort | uniq -d)" "" # no id twice
    ! grep -F -e "${key#cho_}" -e "${KEY#cho_}" -e "$ticket" -e cho_ access.log errors
}

@test "who does not read the access log holds the server up no more" {
    kill "$SERVER"
    until_true gone "$SERVER"
    mkfifo fifo
    exec 7<>fifo # nobody reads it
    "$CLIQ" serve --listen 127.0.0.1:0 --access-log - >said2 2>fifo 3>&- 7>&- &
    SERVER=$!
    until_true grep -q listening said2
    URL=$(sed -n 's/^listening on //p' said2)
    $PY - "$URL" <<'PY'
import http.client, sys
c = http.client.HTTPConnection(sys.argv[1].split("//")[1], timeout=5)
for i in range(2000):  # more than a pipe takes
    c.request("GET", "/" + "x" * 60)
    c.getresponse().read()
PY
    kill "$SERVER"
    until_true gone "$SERVER"
    exec 7>&-
}

@test "an answer that there is no memory for is a 503 with the usual envelope, never half of one" {
    ! grep -qE '__(a|t)san_init' "$CLIQ" || skip "sanitizers take memory as they like"
    "$PY" - "$PORT" "$KEY" "$SERVER" <<'END'
import json, re, resource, socket, sys

port, key, pid = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
MB = 1 << 20

def ask(method, path, body=None):
    s = socket.create_connection(("127.0.0.1", port))
    s.settimeout(30)
    text = json.dumps(body) if body else ""
    kind = "Content-Type: application/json\r\n" if body else ""
    s.sendall((f"{method} {path} HTTP/1.0\r\nHost: localhost:{port}\r\nAuthorization: Bearer {key}\r\n"
               f"{kind}Content-Length: {len(text)}\r\n\r\n{text}").encode())
    parts = []
    while part := s.recv(MB):
        parts.append(part)
    head, _, body = b"".join(parts).partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)

def size():
    return int(re.search(r"VmSize:\s+(\d+)", open(f"/proc/{pid}/status").read())[1]) * 1024

def limit(n):
    resource.prlimit(pid, resource.RLIMIT_AS, (n, resource.RLIM_INFINITY))

for i in range(20):
    assert ask("POST", "/emit", {"signal_type": "note", "content": "x" * 500000})[0] == 200
now, seen = size(), set()
for more in range(0, 64 * MB, MB):
    limit(now + more)
    status, said = ask("GET", "/signals/list?limit=20")
    seen.add(status)
    if status == 200:
        assert len(said["data"]) == 20
    else:
        assert (status, said["error"]["code"]) == (503, "STORE_UNAVAILABLE"), said
        assert "memory" in said["error"]["message"], said
limit(resource.RLIM_INFINITY)
assert seen == {200, 503}, seen
assert ask("GET", "/signals/list?limit=20")[0] == 200
END
}

# boot_with_files N: starts the server again, with N open files at most.
boot_with_files() {
    kill -TERM "$SERVER"
    wait "$SERVER"
    : >said
    (ulimit -n "$1"; exec "$CLIQ" serve --listen 127.0.0.1:0 >said 2>errors 3>&-) &
    SERVER=$!
    until_true is_up || { cat errors; false; }
    URL=$(sed -n 's/listening on //p' said | head -1)
}

@test "the server raises its limit of open files, and not that of others" {
    kill -TERM "$SERVER"
    wait "$SERVER"
    ulimit -Sn 80
    hard=$(ulimit -Hn)
    boot
    want=$((hard < 65536 ? hard : 65536))
    is "$want" "$(awk '/^Max open files/ { print $4 }' "/proc/$SERVER/limits")"
}

@test "at the limit of open files connections are refused with a word, but not /health and admins" {
    a=$(key_of ann)
    boot_with_files 160
    is "12 200 200 503 200" "$($PY "$BATS_TEST_DIRNAME/crowd.py" "$URL" "$a" "$KEY" 160)"
    is 1 "$(grep -c 'connections are open' errors)"
    has "$(<errors)" "limit of open files (160)"
}

@test "a crowd of connections that send nothing does not keep /health and admins away" {
    boot_with_files 160
    $PY - "$URL" "$KEY" <<'END'
import http.client, socket, sys, urllib.parse
at, key = urllib.parse.urlparse(sys.argv[1]), sys.argv[2]
crowd = []
def ask(path, headers={}):
    c = http.client.HTTPConnection(at.hostname, at.port, timeout=20)
    c.request("GET", path, headers=headers)
    return c.getresponse().status
for _ in range(20):
    crowd += [socket.create_connection((at.hostname, at.port)) for _ in range(40)]
    assert ask("/health") == 200
    assert ask("/signals/list", {"Authorization": f"Bearer {key}"}) == 200
for s in crowd:
    s.settimeout(20)
words = [s.recv(1000) for s in crowd[200:300]]  # those that gave way before the last ones came
assert any(b"SERVER_BUSY" in w for w in words), words
END
}

@test "a limit of open files that is too low for a server is told" {
    run -2 bash -c 'ulimit -n 40; exec "$0" serve --listen 127.0.0.1:0' "$CLIQ"
    has "$output" "ulimit -n"
}

@test "SIGTERM ends the server soon, though streams are open and nobody reads one of them" {
    curl -sN "$URL/signals/stream?token=$KEY" >stream 3>&- &
    reader=$!
    until_true grep -q connected stream
    exec 5<>"/dev/tcp/127.0.0.1/$PORT"
    printf 'GET /signals/stream HTTP/1.1\r\nHost: localhost:%s\r\nAuthorization: Bearer %s\r\n\r\n' "$PORT" "$KEY" >&5
    until_true metric_is stream_clients 2
    begun=$(date +%s%N)
    kill -TERM "$SERVER"
    wait "$SERVER"
    took=$((($(date +%s%N) - begun) / 1000000))
    exec 5>&-
    wait "$reader" || true
    [ "$took" -lt 500 ] || { echo "took $took ms"; false; }
}

@test "an identity has 64 unused tickets at most, and takes none from others" {
    other=$(key_of other)
    first=$(send /signals/ticket '{}' | json 'd["data"]["ticket"]')
    for _ in {2..64}; do send /signals/ticket '{}' >last; done
    json 'd["data"]["ticket"]' <last
    code=$(curl -s -o body -w '%{http_code}' -X POST "$URL/signals/ticket" -H "Authorization: Bearer $KEY")
    is 429 "$code"
    has "$(<body)" "admin has 64 tickets that were not used"
    send /signals/ticket '{}' "$other" | json 'd["data"]["ticket"]'
    is 401 "$(curl -s -o /dev/null -w '%{http_code}' "$URL/signals/stream?ticket=${first%?}x")"
    curl -sN --max-time 20 "$URL/signals/stream?ticket=$first" >stream 3>&- &
    PIDS+=($!)
    until_true grep -q connected stream
    send /signals/ticket '{}' | json 'd["data"]["ticket"]' # one is used: there is room for one
}

@test "the setting hub.streams_per_key limits the streams of a key" {
    kill "$SERVER"
    wait "$SERVER"
    "$CLIQ" settings --global hub.streams_per_key 2
    boot
    other=$(key_of other)
    for i in 1 2; do
        curl -sN --max-time 20 "$URL/signals/stream" -H "Authorization: Bearer $KEY" >stream.$i 3>&- &
        LAST=$!
        PIDS+=($LAST)
        until_true grep -q connected stream.$i
    done
    is 429 "$(curl -s -o body -w '%{http_code}' --max-time 5 "$URL/v1/engine/events" -H "Authorization: Bearer $KEY")"
    has "$(<body)" "2 streams open"
    curl -sN --max-time 20 "$URL/signals/stream" -H "Authorization: Bearer $other" >stream.3 3>&- &
    PIDS+=($!)
    until_true grep -q connected stream.3
    kill "$LAST"
    again() { curl -sN --max-time 1 "$URL/signals/stream" -H "Authorization: Bearer $KEY" | grep -q connected; }
    until_true again
}
