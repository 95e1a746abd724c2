#!/usr/bin/env bats
# cliq serve, as its clients see it: curl, several at once, a server that is killed.
bats_require_minimum_version 1.5.0
load ../lib/cli
load ../lib/serve

@test "a page behind a reverse proxy with TLS may ask, and its streams are not buffered" {
    kill "$SERVER" && wait "$SERVER"
    boot 0 --host hub.example
    answers() { curl -s -o body -w '%{http_code}' --max-time 5 -X POST "$URL/emit" -H 'Host: hub.example' -H "Origin: $1" \
        -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' --data '{"signal_type":"note"}'; }
    is 200 "$(answers https://hub.example)"
    is 403 "$(answers https://other.example)"
    is 403 "$(answers "https://127.0.0.1:$PORT")"
    curl -s -N -D head -H "Authorization: Bearer $KEY" "$URL/signals/stream?since=0" 3>&- | grep -m 1 -q '^id:'
    grep -q '^X-Accel-Buffering: no' head
}

@test "several signals of one round reach both doors, each once and in order" {
    curl -sN "$URL/signals/stream?token=$KEY" >hub 3>&- &
    hub=$!
    curl -sN "$URL/v1/engine/events?token=$KEY" >engine 3>&- &
    engine=$!
    until_true grep -q connected hub
    until_true grep -q connected engine
    send /emit/batch '{"signals":[{"signal_type":"a:1"},{"signal_type":"a:2"},{"signal_type":"a:3"},{"signal_type":"a:4"}]}' >/dev/null
    until_true has_ids hub 4
    until_true has_ids engine 4
    kill -KILL "$hub" "$engine"
    is "a:1 a:2 a:3 a:4" "$(sed -n 's/^event: //p' hub | xargs)"
    is "a:1 a:2 a:3 a:4" "$(sed -n 's/^data: .*"type":"\(a:[0-9]\)".*/\1/p' engine | xargs)"
}

@test "the page's examples work as written" {
    send /roles '{"id":"reviewer","name":"reviewer"}' >/dev/null
    send /fills '{"identity":"admin","role":"reviewer"}' >/dev/null
    run -0 curl -sS -X POST "http://localhost:$PORT/emit" \
        -H "Authorization: Bearer $KEY" \
        -H "Content-Type: application/json" \
        -d '{
    "signal_type": "task",
    "content": "Review the latest deployment",
    "from_role": "coordinator",
    "to_role": "reviewer",
    "urgency": 0.8,
    "parent_id": "signal:root"
  }'
    id=$(json 'd["data"]["id"]' <<<"$output")
    [[ $id == signal:???????????????????????? ]]
    [ "$(json 'd["data"]["delivery_state"], d["data"]["task_status"], d["data"]["from_identity"]' <<<"$output")" = "pending open admin" ]
    run -0 curl -sS -X POST "http://localhost:$PORT/claim" \
        -H "Authorization: Bearer $KEY" \
        -H "Content-Type: application/json" \
        -d "{\"signal_id\":\"$id\"}"
    [ "$(json 'd["data"]["delivery_state"], d["data"]["task_status"]' <<<"$output")" = "leased claimed" ]
    run -0 curl -sS -X POST "http://localhost:$PORT/ack" \
        -H "Authorization: Bearer $KEY" \
        -H "Content-Type: application/json" \
        -d "{\"signal_id\":\"$id\"}"
    [ "$(json 'd["data"]["delivery_state"]' <<<"$output")" = acked ]
    run -0 curl -sS "http://localhost:$PORT/inbox/reviewer?view=history" -H "Authorization: Bearer $KEY"
    [ "$(json '[s["id"] for s in d["data"]]' <<<"$output")" = "['$id']" ]
    run -0 curl -sS "http://localhost:$PORT/inbox/@admin?view=history" -H "Authorization: Bearer $KEY"
    [ "$(json 'len(d["data"])' <<<"$output")" = 1 ]
    run -0 curl -sS "http://localhost:$PORT/thread/$id" -H "Authorization: Bearer $KEY"
    [ "$(json '[s["id"] for s in d["data"]]' <<<"$output")" = "['$id']" ]
}

@test "a signal for a role that does not exist: meta.warnings, or refused with strict" {
    send /roles '{"id":"reviewer","name":"reviewer"}' >/dev/null
    run -0 send /emit '{"signal_type":"task","to_role":"reviwer"}'
    [[ $(json 'd["meta"]["warnings"][0]' <<<"$output") == 'to_role: there is no role "reviwer" yet (did you mean reviewer?)'* ]]
    run -0 send /emit '{"signal_type":"task","to_role":"reviwer","strict":true}'
    [ "$(json 'd["error"]["code"]' <<<"$output")" = SIGNAL_EMIT_VALIDATION_FAILED ]
    # the server keeps the names that it found: of their kind only, and none that it did not find
    warned() { send /emit "{\"signal_type\":\"task\",$1}" | json 'len(d["meta"].get("warnings", []))'; }
    is 0 "$(warned '"to_role":"reviewer"')"
    is 0 "$(warned '"to_role":"reviewer"')"
    is 1 "$(warned '"to_ring":"reviewer"')"
    is 1 "$(warned '"to_identity":"reviewer"')"
    send /roles '{"id":"reviwer","name":"reviwer"}' >/dev/null
    is 0 "$(warned '"to_role":"reviwer"')"
}

@test "what would be misunderstood is refused: packed bodies, two keys, a second target, a ring of others" {
    ask() { curl -sS -o body -w '%{http_code}' "$URL$1" -H "Authorization: Bearer $KEY" "${@:2}" --max-time 5; }
    sends=(-H "Content-Type: application/json" -d '{"signal_type":"pulse"}')
    is 415 "$(ask /emit "${sends[@]}" -H "Content-Encoding: gzip")"
    has "$(<body)" "without Content-Encoding"
    is 200 "$(ask /emit "${sends[@]}" -H "Content-Encoding: Identity")"
    is 400 "$(ask /emit "${sends[@]}" -H "Authorization: Bearer other")"
    has "$(<body)" "two Authorization headers"
    like "$(json 'd["error"]["request_id"]' <body)" '^[0-9a-f]+-[0-9a-f]+$' # to be named in a report
    is 400 "$(ask '/inbox/reviewer?target=@admin')"
    has "$(<body)" "target stands in the path"
    is 400 "$(ask '/inbox/reviewer?frob=1')"
    has "$(<body)" frob
    # only the body of a request that has one is heard
    before=$(wc -l <home/signals/events.jsonl)
    is 400 "$(ask '/emit?to_role=dev&to_ring=ops' "${sends[@]}")"
    is "VALIDATION_INVALID_TYPE" "$(json 'd["error"]["code"]' <body)"
    has "$(<body)" "the query has to_role, to_ring, and only the body is heard here"
    is 400 "$(ask '/v1/engine/signals/generate?source=x' -H "Content-Type: application/json" -d '{"type":"a:b"}')"
    has "$(<body)" "the query has source"
    is 400 "$(ask '/signals/ticket?ring=ops' -X POST)"
    has "$(<body)" "the query has ring"
    is 400 "$(ask '/emit?a=%zz' "${sends[@]}")"
    is "$before" "$(wc -l <home/signals/events.jsonl)"
    is 200 "$(ask '/emit?' "${sends[@]}")"
    is 200 "$(ask '/emit?signal_type=pulse' -X POST)" # without a body the query is
    send /rings '{"id":"ops"}' >/dev/null
    curl -sN "$URL/signals/stream?ring=ops" -H "Authorization: Bearer $KEY" >ring 3>&- &
    until_true grep -q connected ring
    kill -KILL $!
    bob=$(key_of bob)
    is 403 "$(curl -sS -o body -w '%{http_code}' "$URL/signals/stream?ring=nosuch" -H "Authorization: Bearer $bob" --max-time 5)"
}

@test "a delayed signal is cancelled by its sender and by admins, by no other key" {
    ann=$(key_of ann) bob=$(key_of bob '["emit"]')
    later() { send /v1/engine/signals/delayed '{"type":"later","deliverAt":4102444800000,"repeatKey":"k"}' "$1" | json 'd["delayed"]["id"]'; }
    drop() { curl -sS -o said.json -w '%{http_code}' -X DELETE "$URL/v1/engine/signals/delayed?$1" -H "Authorization: Bearer $2"; }
    id=$(later "$ann")
    is 403 "$(drop "id=$id" "$bob")"
    has "$(<said.json)" "only its sender and admins can cancel it"
    is 403 "$(drop repeatKey=k "$bob")"
    is 1 "$(look /v1/engine/signals/delayed | json 'len(d["events"])')"
    is 200 "$(drop "id=$id" "$ann")"
    is 1 "$(json 'd["removed"]' <said.json)"
    id=$(later "$ann")
    is 200 "$(drop "id=$id" "$KEY")"
    is 0 "$(look /v1/engine/signals/delayed | json 'len(d["events"])')"
    is 200 "$(drop "id=$id" "$bob")" # nothing waits: nothing to refuse
    is 0 "$(json 'd["removed"]' <said.json)"
}

@test "the broadcast page's answers" {
    [ "$(send /v1/engine/signals/generate '{"type":"build:web:done","data":{"n":1}}' | json 'd["ok"], d["signal"]["type"]')" = "True build:web:done" ]
    [ "$(look '/v1/engine/signals/events?limit=10' | json '[e["type"] for e in d["events"]]')" = "['build:web:done']" ]
    for bad in 0 1001 abc; do
        run -0 curl -s -o body -w '%{http_code}' "$URL/v1/engine/signals/events?limit=$bad" -H "Authorization: Bearer $KEY"
        [ "$output" = 400 ]
        [ "$(cat body)" = '{"ok":false,"error":"Invalid query"}' ]
    done
    before=$(wc -l <home/signals/events.jsonl)
    [ "$(send /v1/engine/signals/generate '{"type":"a:*"}' | json 'd["ok"], d["error"]')" = 'False type must be segments without a *, which is for patterns, not "a:*"' ]
    [ "$(send /emit '{"signal_type":"a:*"}' | json 'd["error"]["code"]')" = SIGNAL_EMIT_INVALID_TYPE ]
    [ "$(send /v1/engine/signals/subscribe '{"pattern":"a:**:b"}' | json 'd["ok"], d["error"][-8:]')" = 'False "a:**:b"' ]
    for path in /signals/stream /v1/engine/events; do
        [ "$(curl -s -o body -w '%{http_code}' --max-time 5 "$URL$path?pattern=a:b*" -H "Authorization: Bearer $KEY")" = 400 ]
        grep -q 'alone between colons' body
    done
    [ "$(wc -l <home/signals/events.jsonl)" = "$before" ]
    [ "$(send /v1/engine/signals/subscribe '{"pattern":"build:*:done"}' | json 'd["ok"]')" = True ]
    [ "$(look /v1/engine/signals/subscriptions | json 'len(d["subscriptions"])')" = 1 ]
}

@test "every route refuses strangers before any effect" {
    weak=$(key_of weak '["stream"]')
    gone=$(key_of gone)
    id=$(look /keys | json '[k["id"] for k in d["data"] if k["identity"]=="gone"][0]')
    send /keys/revoke "{\"id\":\"$id\"}" >/dev/null
    look /health >/dev/null
    before=$(wc -l <home/signals/events.jsonl)
    curl -sS "$URL/openapi.json" >api.json
    python3 - >routes <<'PY'
import json, re
for path, ops in json.load(open("api.json"))["paths"].items():
    for method, op in ops.items():
        if op["security"]:
            path = path.replace("{target}", "dev").replace("{id}", "signal:x")
            print(method.upper(), re.sub(r"{[^}]*}", "x", path), op.get("x-scope"),
                  next(iter(op.get("requestBody", {}).get("content", {"application/json": 0}))))
PY
    [ "$(wc -l <routes)" -gt 35 ]
    ask() { curl -s -o body -w '%{http_code}' -X "$1" "$URL$2" -H "Content-Type: $type" "${@:3}" --data '{}' --max-time 5; }
    while read -r method path scope type; do
        is "401 $method $path" "$(ask "$method" "$path") $method $path"
        [ "$(ask "$method" "$path" -H 'Authorization: Bearer cho_wrong')" = 401 ]
        [ "$(ask "$method" "$path" -H "Authorization: Bearer $gone")" = 401 ]
        [[ "$scope" = @(stream|None) ]] || is "403 $method $path $scope" "$(ask "$method" "$path" -H "Authorization: Bearer $weak") $method $path $scope"
        [ "$(ask "$method" "$path" -H "Authorization: Bearer $KEY" -H 'Origin: http://evil.example')" = 403 ]
        [ "$(ask "$method" "$path" -H "Authorization: Bearer $KEY" -H "Host: evil.example:$PORT")" = 421 ]
    done <routes
    [ "$(wc -l <home/signals/events.jsonl)" = "$before" ]
    # no key in anything that was written, but for the one file that is there for it
    ! grep -rF "${KEY#cho_}" --exclude=admin.key --exclude=said home access.log errors
    ! grep -rF "${weak#cho_}" home access.log errors
}

@test "bad bodies are refused with the field's name, and nothing is stored" {
    before=$(wc -l <home/signals/events.jsonl)
    while IFS='|' read -r path body want part; do
        run -0 curl -s -o body -w '%{http_code}' -X POST "$URL$path" -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" -d "$body"
        [ "$output" = "$want" ] || { echo "$path $body: $output"; cat body; false; }
        grep -q "$part" body || { cat body; false; }
    done <<'TABLE'
/emit|{}|400|signal_type
/emit|{"signal_type":""}|400|signal_type
/emit|{"signal_type":7}|400|signal_type
/emit|{"signal_type":"task","urgency":2}|400|urgency
/emit|{"signal_type":"task","to_role":"a","to_ring":"b"}|400|to_
/emit|{"signal_type":"task","tags":"x"}|400|tags
/emit|{"signal_type"|400|JSON
/emit|[1]|400|object
/claim|{"signal_id":"signal:nope"}|404|SIGNAL_NOT_FOUND
/claim|{"lease_seconds":-1}|400|lease_seconds
/ack|{}|400|signal_id
/status|{"signal_id":"signal:nope","task_status":"done"}|404|SIGNAL_NOT_FOUND
/v1/engine/signals/generate|{"type":""}|400|Signal type is required
TABLE
    [ "$(wc -l <home/signals/events.jsonl)" = "$before" ]
}

@test "a first start that was cut short before the store had the key is gone on with" {
    kill -KILL "$SERVER"
    wait "$SERVER" || true
    rm -r home/signals # all but the file with the key, which comes first
    boot
    [ "$(cat home/admin.key)" = "$KEY" ]
    send /emit '{"signal_type":"sense"}' | grep -q '"id":"signal:'
    # half a key is none
    kill -KILL "$SERVER"
    wait "$SERVER" || true
    rm -r home/signals
    printf %.20s "$KEY" >home/admin.key
    boot
    ! grep -qxF "$KEY" home/admin.key
    KEY=$(cat home/admin.key)
    send /emit '{"signal_type":"sense"}' | grep -q '"id":"signal:'
}

@test "a first start makes an admin, though others have keys already" {
    export CLIQ_HOME=$PWD/other
    bob=$("$CLIQ" key create --identity bob --scope emit)
    kill -TERM "$SERVER"
    wait "$SERVER" || true
    boot
    look /keys "$(cat other/admin.key)" | grep -q '"identity":"bob"'
    send /emit '{"signal_type":"sense"}' "$bob" | grep -q '"id":"signal:'
}

@test "a revoked key stays revoked, also when it was the last one" {
    id=$("$CLIQ" key list | cut -f1)
    "$CLIQ" key revoke "$id" --url "$URL"
    kill -TERM "$SERVER"
    wait "$SERVER" || true
    boot
    grep -q 'made the identity admin' said
    ! grep -qxF "$KEY" home/admin.key said
    [ "$(curl -s -o body -w '%{http_code}' "$URL/signals/list" -H "Authorization: Bearer $KEY")" = 401 ]
    KEY=$(cat home/admin.key)
    look /signals/list | grep -q '"data"'
}

@test "an address that is none is told before anything is made" {
    CLIQ_HOME=$PWD/none run -2 "$CLIQ" serve --listen foo
    CLIQ_HOME=$PWD/none run -7 "$CLIQ" serve --listen 0.0.0.0:0
    has "$output" "--allow-elsewhere"
    [ ! -e none ]
    ! grep -q cho_ <<<"$output"
}

@test "what is wrong with a key of a request is told by the name that its sender gave it" {
    ask() { curl -sS -X POST "$URL$1" -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" "${@:3}" -d "$2" | json 'd["error"]["message"]'; }
    send /emit '{"signal_type":"a","dedup_key":"k"}' >/dev/null
    has "$(ask /emit '{"signal_type":"b","dedup_key":"k"}')" 'dedup_key: "k" was used for another request'
    has "$(ask /emit '{"signal_type":"b"}' -H "Idempotency-Key: k")" 'Idempotency-Key: "k" was used for another request'
    has "$(ask /claim '{}' -H "Idempotency-Key: k")" 'Idempotency-Key: "k" was used for another request'
    has "$(ask /claim '{}' -H "Idempotency-Key: $(printf 'x%.0s' {1..256})")" "Idempotency-Key must have 1 to 255 bytes, not 256"
}

@test "a stream replays without gap or repeat over a killed server" {
    for i in 1 2 3; do send /emit "{\"signal_type\":\"sense\",\"content\":\"$i\"}" >/dev/null; done
    curl -sN --max-time 20 "$URL/signals/stream?token=$KEY&since=0" >stream1 &
    reader=$!
    until_true has_ids stream1 3
    send /emit '{"signal_type":"sense","content":"4"}' >/dev/null
    until_true has_ids stream1 4
    kill -KILL "$SERVER"
    wait "$reader" || true
    last=$(sed -n 's/^id: //p' stream1 | tail -1)
    boot
    send /emit '{"signal_type":"sense","content":"5"}' >/dev/null
    curl -sN --max-time 20 "$URL/signals/stream" -H "Authorization: Bearer $KEY" -H "Last-Event-ID: $last" >stream2 &
    reader=$!
    until_true has_ids stream2 1
    kill "$reader"
    [ "$(sed -n 's/^data: //p' stream1 stream2 | json_lines)" = "1 2 3 4 5" ]
}

json_lines() {
    python3 -c 'import json,sys; print(*[json.loads(l)["content"] for l in sys.stdin])'
}

@test "what others append is told at once" {
    curl -sN --max-time 20 "$URL/signals/stream?token=$KEY" >stream &
    reader=$!
    until_true grep -q connected stream
    echo '{"type":"from:a:shell","data":1}' >>home/signals/events.jsonl
    until_true grep -q 'event: from:a:shell' stream
    kill "$reader"
}

@test "what others append right behind a request is told, too" {
    curl -sN --max-time 60 "$URL/signals/stream?token=$KEY" >stream &
    reader=$!
    until_true grep -q connected stream
    for i in $(seq 20); do
        send /emit '{"signal_type":"ours"}' >/dev/null
        echo "{\"type\":\"from:shell:$i\"}" >>home/signals/events.jsonl
        until_true grep -q "event: from:shell:$i\$" stream
    done
    is 20 "$(grep -c 'event: ours' stream)"
    kill "$reader"
}

@test "of sixteen clients each task is claimed by one" {
    for i in $(seq 5); do
        python3 -c 'import json; print(json.dumps({"signals":[{"signal_type":"task","content":str(i)} for i in range(40)]}))' >batch
        send /emit/batch @batch >/dev/null
    done
    for c in $(seq 16); do
        (
            while [ "$(send /claim '{"types":["task"]}' | tee -a "claims.$c" | json 'd["data"] is None')" = False ]; do
                echo >>"claims.$c"
            done
        ) &
        pids[c]=$!
    done
    wait "${pids[@]}"
    cat claims.* | grep -o '"id":"signal:[a-z0-9]*"' | sort >all
    [ "$(wc -l <all)" = 200 ]
    [ "$(sort -u all | wc -l)" = 200 ]
}

@test "requests of every kind that come together are all answered, and each counts once" {
    python3 - "$PORT" "$KEY" <<'PY'
import json, re, socket, sys, time
port, key = int(sys.argv[1]), sys.argv[2]

def ask(n, turn):
    """Most of them the server's loop does itself, as they come; others it must give away."""
    if n % 16 == 5:
        return "POST", "/roles", {"id": f"r{turn}-{n}", "name": "r"}
    if n % 16 == 9:
        return "POST", "/emit/batch", {"signals": [{"signal_type": "batch", "content": str(n)}] * 3}
    if n % 16 == 11:
        return "POST", "/emit", {"signal_type": "long", "content": "x" * 100000}
    if n % 16 == 13:
        return "GET", "/signals/list?limit=1", None
    return "POST", "/emit", {"signal_type": "one", "content": f"{turn} {n}"}

def read(s):
    got = b""
    while (end := got.find(b"\r\n\r\n")) < 0:
        got += s.recv(65536)
    length = int(re.search(rb"Content-Length: (\d+)", got)[1])
    while len(got) < end + 4 + length:
        got += s.recv(65536)
    assert got.startswith(b"HTTP/1.1 200 "), got[:300]
    return json.loads(got[end + 4:])["data"]

def send(s, method, path, body):
    text = json.dumps(body) if body else ""
    kind = "Content-Type: application/json\r\n" if body else ""
    s.sendall(f"{method} {path} HTTP/1.1\r\nHost: localhost:{port}\r\nAuthorization: Bearer {key}\r\n"
              f"{kind}Content-Length: {len(text)}\r\n\r\n{text}".encode())

socks = [socket.create_connection(("127.0.0.1", port)) for _ in range(48)]
said = []
for turn in range(25):
    for n, s in enumerate(socks):
        send(s, *ask(n, turn))
    for n, s in enumerate(socks):
        data, (_, path, body) = read(s), ask(n, turn)
        if path == "/emit":
            assert data["content"] == body["content"]
            said.append(data["id"])
        if path == "/emit/batch":
            said += [d["id"] for d in data]
# After one request the loop waits a moment for the other client's: another kind of it comes at any point of that.
one = {"signal_type": "one", "content": "1"}
for turn in range(300):
    for body in one, {"id": f"r{turn}", "name": "r"}:
        send(socks[0], "POST", "/emit", one)
        end = time.perf_counter_ns() + turn * 1000
        while time.perf_counter_ns() < end:
            pass
        send(socks[1], "POST", "/emit" if body is one else "/roles", body)
        said += [read(s)["id"] for s in socks[:2 if body is one else 1]]
        body is one or read(socks[1])
assert len(said) == len(set(said)) == 25 * (39 + 9) + 900
with open("said-ids", "w") as f:
    f.writelines(i.removeprefix("signal:") + "\n" for i in said)
PY
    sed -n 's/^{"id":"\([a-z0-9]*\)","type":.*/\1/p' home/signals/events.jsonl | sort >stored
    sort said-ids | diff - stored
    [ "$(look /roles | json 'len([r for r in d["data"] if r["id"].startswith("r")])')" = 375 ]
    "$CLIQ" hub check
}

@test "a claim waits for its task" {
    send /claim '{"wait_seconds":20}' >claimed &
    waiting=$!
    until_true metric_is claims_waiting 1
    send /emit '{"signal_type":"task","content":"late"}' >/dev/null
    wait "$waiting"
    [ "$(json 'd["data"]["content"]' <claimed)" = late ]
}

@test "a claim that waits is answered by whatever brings a task back, and by files that others write" {
    id=$(send /emit '{"signal_type":"task","content":"again"}' | json 'd["data"]["id"]')
    await() { # LEASE: a claim that is there when this returns
        send /claim "{\"wait_seconds\":20,\"lease_seconds\":$1}" >claimed &
        waiting=$!
        until_true metric_is claims_waiting 1
    }
    answered() {
        wait "$waiting"
        is "$id" "$(json 'd["data"]["id"]' <claimed)"
    }
    send /claim '{}' >/dev/null
    await 3
    send /emit '{"signal_type":"note"}' >/dev/null # not for it
    send /release "{\"signal_id\":\"$id\"}" >/dev/null
    answered
    await 600 # the lease of three seconds ends
    answered
    await 600
    send /fail "{\"signal_id\":\"$id\",\"retry_in\":1}" >/dev/null
    answered
    await 600
    "$CLIQ" release "$id" --as admin >/dev/null # with the files
    answered
    send /ack "{\"signal_id\":\"$id\"}" >/dev/null

    send /roles '{"id":"dev"}' >/dev/null
    id=$(send /emit '{"signal_type":"task","to_role":"dev"}' | json 'd["data"]["id"]')
    KEY=$(send /keys '{"identity":"bob"}' | json 'd["data"]["key"]') await 600
    send /fills '{"identity":"bob","role":"dev"}' >/dev/null
    answered
}

@test "nothing that was acknowledged is lost when the server is killed" {
    for round in 1 2 3 4 5; do
        for w in 1 2 3 4; do
            (
                i=0
                while r=$(send /emit "{\"signal_type\":\"pulse\",\"content\":\"$round.$w.$i\"}" 2>/dev/null) && [[ $r == *'"data"'* ]]; do
                    echo "$round.$w.$i" >>"acked.$w"
                    i=$((i + 1))
                done
            ) &
            pids[w]=$!
        done
        sleep "0.$((RANDOM % 4 + 2))"
        kill -KILL "$SERVER"
        wait "${pids[@]}" || true
        boot
    done
    python3 - <<'PY'
import glob, json
stored = [json.loads(l).get("content") for l in open("home/signals/events.jsonl") if l.endswith("}\n")]
stored = [c for c in stored if c]
acked = [l.strip() for f in glob.glob("acked.*") for l in open(f)]
assert acked, "nothing was acknowledged"
assert len(stored) == len(set(stored)), "something is there twice"
missing = set(acked) - set(stored)
assert not missing, missing
PY
    run -0 "$CLIQ" fsck home/signals/events.jsonl
}

@test "SIGTERM answers what was begun, tells streams, and leaves" {
    curl -sN --max-time 20 "$URL/signals/stream?token=$KEY" >stream &
    reader=$!
    until_true grep -q connected stream
    kill -TERM "$SERVER"
    wait "$SERVER"
    wait "$reader" || true
    grep -q 'come back with Last-Event-ID' stream
    SERVER=
}

@test "the key is the same after a restart, and the port can be had again" {
    kill -TERM "$SERVER"
    wait "$SERVER"
    boot "$PORT"
    ! grep -q 'made the identity' said
    [ "$(look /health | json 'd["status"]')" = ok ]
}

@test "a Unix socket serves too" {
    kill -TERM "$SERVER"
    wait "$SERVER"
    boot 0 --unix "$PWD/sock"
    [ "$(stat -c %a sock)" = 600 ]
    run -0 curl -sS --unix-socket sock "http://x/inbox/dev" -H "Authorization: Bearer $KEY"
    [ "$(json 'd["data"]' <<<"$output")" = '[]' ]
}

@test "the commands say the same over HTTP as on the files, with the key that serve left" {
    unset CLIQ_KEY
    id=$("$CLIQ" emit task -m "by hand" --url "$URL")
    run -0 "$CLIQ" claim --url "$URL"
    [ "$output" = "$id" ]
    run -4 "$CLIQ" claim --url "$URL"
    run -0 "$CLIQ" ack "$id" --url "$URL"
    run -0 "$CLIQ" thread "$id" --json --url "$URL"
    over_http=$output
    run -0 "$CLIQ" thread "$id" --json
    [ "$output" = "$over_http" ]
    run -0 "$CLIQ" signal generate a:b:c --url "$URL"
    run -0 "$CLIQ" signal events --json
    [[ $output == *'"type":"a:b:c"'* ]]
    CLIQ_KEY=cho_wrong run -7 "$CLIQ" emit task -m x --url "$URL"
}

is_refused() {
    [[ $(look /inbox/dev "$1") == *AUTH_REQUIRED* ]]
}

@test "streams go on when the index is deleted" {
    curl -sN --max-time 20 "$URL/signals/stream?token=$KEY" >stream &
    reader=$!
    until_true grep -q connected stream
    rm home/signals/index.db*
    send /emit '{"signal_type":"sense","content":"after"}' >/dev/null
    until_true grep -q 'event: sense' stream
    kill "$reader"
}

@test "a key that somebody else revoked is never taken again, not even for a moment" {
    is 200 "$($PY "$BATS_TEST_DIRNAME/revoke.py" "$CLIQ" "$PWD/home" "$URL" cli 200)"
    is 200 "$($PY "$BATS_TEST_DIRNAME/revoke.py" "$CLIQ" "$PWD/home" "$URL" line 200)"
}

@test "a key that a command revokes is refused by the running server" {
    key=$("$CLIQ" key create --identity ci)
    run -0 look /inbox/dev "$key"
    [[ $output == *'"data":[]'* ]]
    "$CLIQ" key revoke "$("$CLIQ" key list --json | json '[k["id"] for k in d if k["identity"]=="ci"][0]')"
    until_true is_refused "$key"
}

# key_id IDENTITY: of its key.
key_id() { "$CLIQ" key list --json | json "[k['id'] for k in d if k['identity']=='$1'][0]"; }

# revoke_by HOW ID: a command, a request, or a line that nobody has folded yet.
revoke_by() {
    case $1 in
    cli) "$CLIQ" key revoke "$2" ;;
    http) send /keys/revoke "{\"id\":\"$2\"}" ;;
    line) echo "{\"op\":\"revoke\",\"id\":\"$2\",\"by\":\"test\"}" >>home/signals/events.jsonl ;;
    esac >/dev/null
}

@test "a key that is revoked loses its streams and its tickets, however that is done" {
    curl -sN "$URL/signals/stream?token=$KEY" >other 3>&- &
    other=$!
    until_true grep -q connected other
    for how in cli http line; do
        key=$(key_of "by-$how")
        : >"$how.2"
        ticket() { send /signals/ticket '{}' "$key" | json 'd["data"]["ticket"]'; }
        curl -sN --max-time 20 "$URL/signals/stream?token=$key" >"$how" 3>&- &
        first=$!
        curl -sN --max-time 20 "$URL/v1/engine/events?ticket=$(ticket)" >"$how.2" 3>&- &
        second=$!
        until_true grep -q connected "$how"
        until_true grep -q connected "$how.2"
        unused=$(ticket)
        revoke_by $how "$(key_id "by-$how")"
        send /emit '{"signal_type":"secret"}' >/dev/null
        wait $first # not cut off: 0
        wait $second
        has "$(<"$how")" ": the key was revoked"
        has "$(<"$how.2")" ": the key was revoked"
        lacks "$(<"$how")" secret
        lacks "$(<"$how.2")" secret
        is 401 "$(curl -sS -o body -w '%{http_code}' --max-time 2 "$URL/signals/stream?ticket=$unused")"
    done
    until_true has_ids other 3
    kill "$other"
    key=$(key_of quiet) # and without anything else going on
    curl -sN --max-time 20 "$URL/signals/stream?token=$key" >stream 3>&- &
    first=$!
    until_true grep -q connected stream
    revoke_by line "$(key_id quiet)"
    wait $first
    has "$(<stream)" ": the key was revoked"
}

@test "a claim that waits does not outlive its key" {
    key=$(key_of worker)
    curl -sS -o body -w '%{http_code}' "$URL/claim" -H "Authorization: Bearer $key" -H "Content-Type: application/json" \
        -d '{"wait_seconds":30}' >code 3>&- &
    claim=$!
    until_true metric_is claims_waiting 1
    send /emit '{"signal_type":"note"}' >/dev/null # it is tried, and waits again
    until_true metric_is claims_waiting 1
    revoke_by cli "$(key_id worker)"
    wait $claim
    is 401 "$(<code)"
    has "$(<body)" AUTH_REQUIRED
    send /emit '{"signal_type":"task"}' >/dev/null
    is leased "$(send /claim '{}' | json 'd["data"]["delivery_state"]')"
}

@test "while another process has the lock, what does not write is answered" {
    send /emit '{"signal_type":"a"}' >/dev/null
    look /signals/list >/dev/null
    hold_log
    for path in /signals/list /inbox/@admin /roles; do is 200 "$(code_of "$path" "$KEY")"; done
    send /emit '{"signal_type":"b"}' >emitted 3>&- &
    emit=$!
    for _ in 1 2 3; do [ "$(curl -sS --max-time 2 "$URL/health" | json 'd["status"]')" = ok ]; done
    for path in /signals/list /inbox/@admin /roles /v1/engine/signals/delayed; do is 200 "$(code_of "$path" "$KEY")"; done
    is "" "$(cat emitted)"
    let_go_log
    wait "$emit"
    is b "$(json 'd["data"]["signal_type"]' <emitted)"
}

# code_of PATH KEY: the status of an answer, which has to come soon; its body is in body.
code_of() { curl -sS -o body -w '%{http_code}' --max-time 1 "$URL$1" -H "Authorization: Bearer $2"; }

@test "an index that is deleted under a server is made again, and holds nobody up meanwhile" {
    $PY -c 'import json; print(json.dumps({"signals": [{"signal_type": "a", "to_role": "r"}] * 1000}))' >many
    for _ in {1..100}; do send /emit/batch @many >/dev/null; done
    before=$(look '/inbox/r?limit=20')
    stranger=$(key_of stranger) # which the server has not looked up yet
    curl -sN "$URL/signals/stream?token=$KEY" >old 3>&- &
    old=$!
    until_true grep -q connected old

    hold_log # so that it cannot be made yet
    rm home/signals/index.db*
    is 503 "$(code_of /health "")"
    has "$(<body)" "the index of the store is being made"
    is 503 "$(code_of /inbox/r "$stranger")"
    has "$(<body)" STORE_UNAVAILABLE
    curl -sN "$URL/signals/stream?token=$KEY" >new 3>&- &
    new=$!
    until_true grep -q connected new
    is 503 "$(code_of /health "")"
    let_go_log

    is_made() { # each answer within a second, however long it takes
        code=$(code_of /health "") || { complain "not answered in time" || exit 1; }
        [ "$code" = 200 ]
    }
    until_true is_made
    is 200 "$(code_of /inbox/r "$stranger")"
    is "$(json 'd["data"]' <<<"$before")" "$(look '/inbox/r?limit=20' | json 'd["data"]')"
    CLIQ_HOME=$PWD/home "$CLIQ" emit sense -m after >/dev/null
    until_true grep -q 'event: sense' old
    until_true grep -q 'event: sense' new
    is 1 "$(grep -c 'event: ' old)"
    is 1 "$(grep -c 'event: ' new)"
    kill "$old" "$new"
    "$CLIQ" hub check
}

@test "a stream that is behind when the index is deleted misses nothing" {
    $PY -c 'import json; print(json.dumps({"signals": [{"signal_type": "a"}] * 1000}))' >many
    send /emit/batch @many >/dev/null
    hold_log
    rm home/signals/index.db*
    curl -sN "$URL/signals/stream?token=$KEY&since=0" >stream 3>&- &
    reader=$!
    until_true grep -q connected stream
    let_go_log
    until_true has_ids stream 1000 # nobody else asks for it to be made
    kill "$reader"
}

@test "an index that is garbled under a server is mended, and refuses no key" {
    send /emit '{"signal_type":"a","to_role":"r"}' >/dev/null
    key=$(key_of stranger) # which the server has not looked up yet
    for i in 1 2 3; do "$CLIQ" identity add "w$i" >/dev/null; done
    head -c 200000 /dev/urandom | dd of=home/signals/index.db conv=notrunc status=none
    mended() {
        code=$(curl -sS -o body -w '%{http_code}' "$URL/inbox/r" -H "Authorization: Bearer $key")
        [ "$code" != 401 ] || { cat body; exit 1; }
        [ "$code" = 200 ]
    }
    until_true mended
    is 1 "$(json 'len(d["data"])' <body)"
    "$CLIQ" hub check
}

@test "an index whose newest part was cut off under a server is mended" {
    for _ in 1 2 3; do send /emit '{"signal_type":"a"}' >/dev/null; done
    "$CLIQ" hub rebuild >/dev/null # so that the part has what others need
    for _ in 1 2; do send /emit '{"signal_type":"a"}' >/dev/null; done
    "$CLIQ" emit a x >/dev/null
    wal=home/signals/index.db-wal
    truncate -s $(($(stat -c %s $wal) / 2)) $wal
    stored() { # N: with a key, so that one that was stored and answered with 503 is not stored twice
        is 200 "$(curl -sS -o body -w '%{http_code}' -X POST "$URL/emit" -H "Authorization: Bearer $KEY" \
            -H "Idempotency-Key: $1" -H "Content-Type: application/json" -d '{"signal_type":"a"}')" 2>/dev/null
    }
    for n in 1 2 3; do until_true stored $n; done
    is 9 "$(look '/signals/list?type=a' | json 'len(d["data"])')"
    "$CLIQ" hub check
}

@test "the loop waits for no lock, though the log is replaced under it" {
    timeout 30 "$PY" - "$PORT" "$KEY" home/signals/events.jsonl <<'END'
import fcntl, http.client, os, shutil, sys, threading, time
port, key, log = sys.argv[1:]
head = {"Authorization": "Bearer " + key, "Content-Type": "application/json"}
over, begun = threading.Event(), threading.Semaphore(0)
def emit():
    c = http.client.HTTPConnection("127.0.0.1", int(port), timeout=30)
    while not over.is_set():
        c.request("POST", "/emit", '{"signal_type":"a"}', head)
        c.getresponse().read()
        begun.release()
writers = [threading.Thread(target=emit) for _ in range(16)]
for w in writers:
    w.start()
worst = 0
for turn in range(3):
    for _ in range(200):
        begun.acquire()
    shutil.copyfile(log, log + ".other")
    new = open(log + ".other", "r+b")
    fcntl.flock(new, fcntl.LOCK_EX)
    os.rename(log + ".other", log) # in the middle of rounds, so what is not in the copy is lost
    end = time.monotonic() + 1.5
    while time.monotonic() < end: # it is the others who must wait
        began = time.monotonic()
        c = http.client.HTTPConnection("127.0.0.1", int(port), timeout=30)
        c.request("GET", "/health")
        c.getresponse().read()
        c.close()
        worst = max(worst, time.monotonic() - began)
    new.close()
over.set()
for w in writers:
    w.join()
assert worst < 1, f"/health took {worst:.2f} s"
END
    "$CLIQ" hub check
}

# Another process has the lock of the log, until it is told.
hold_log() {
    mkfifo wait
    timeout 20 python3 -c '
import fcntl
f = open("home/signals/events.jsonl", "a"); fcntl.flock(f, fcntl.LOCK_EX); open("held", "w"); open("wait").read()' 3>&- &
    until_true test -e held
}
let_go_log() { : >wait; }

# acked N: so many emits are acknowledged, each of them.
acked() {
    for _ in $(seq "$1"); do
        [ "$(send /emit '{"signal_type":"a"}' | json 'd["data"]["signal_type"]')" = a ] || return 1
        N=$((N + 1))
    done
}

@test "an index that cannot be written is told, and streams go on by themselves when it can" {
    N=0
    curl -sN "$URL/signals/stream?token=$KEY" >stream 3>&- &
    reader=$!
    until_true grep -q connected stream
    acked 1
    until_true has_ids stream 1
    prlimit --pid "$SERVER" --fsize=65536:unlimited # room for the log, but not for the index's
    one_more_is_told() { # while it has room
        acked 1 && until_true is_told
    }
    is_told() { has_ids stream "$N" || [ "$(code_of /health "")" = 503 ]; }
    is_in_trouble() { one_more_is_told && [ "$(code_of /health "")" = 503 ]; }
    until_true is_in_trouble
    has "$(<body)" "the index is behind the log"
    lacks "$(<body)" "$PWD"
    acked 20
    told=$(grep -c "^data:" stream)
    [ "$told" -lt "$N" ]
    is "$N" "$(look '/signals/list?limit=100' | json 'len(d["data"])')"
    is 1 "$(grep -c 'the store cannot be written: the index is behind the log' errors)"
    is 503 "$(code_of /health "")"
    prlimit --pid "$SERVER" --fsize=unlimited
    until_true has_ids stream "$N" # nobody else writes, or asks
    until_true grep -q "the store can be written again" errors
    is 200 "$(code_of /health "")"
    kill "$reader"
    "$CLIQ" hub check
}

@test "a log that cannot be written is told, also when nobody writes, and so is its end" {
    N=0
    acked 1
    prlimit --pid "$SERVER" --fsize="$(wc -c <home/signals/events.jsonl)":unlimited
    send /emit '{"signal_type":"a"}' >refused
    has "$(<refused)" STORE_UNAVAILABLE
    is_in_trouble() { [ "$(code_of /health "")" = 503 ]; }
    until_true is_in_trouble
    has "$(<body)" "append to events.jsonl"
    prlimit --pid "$SERVER" --fsize=unlimited
    until_true grep -q "the store can be written again" errors
    is 200 "$(code_of /health "")"
    acked 1
}

@test "a stream that comes to a garbled page or row of the index goes on by itself" {
    $PY -c 'import json; print(json.dumps({"signals": [{"signal_type": "a", "content": f"number {i} " + 100 * "x"} for i in range(1000)]}))' >many
    send /emit/batch @many >/dev/null
    kill "$SERVER"
    wait "$SERVER"
    for how in page row; do # SQLite notices the one, but not the other
        garble_index "$how"
        boot
        curl -sN "$URL/signals/stream?token=$KEY&since=0" >stream 3>&- &
        reader=$!
        until_true has_ids stream 1000 # nobody writes
        kill "$reader"
        is 1000 "$(sed -n 's/^data: .*"content":"number \([0-9]*\) .*/\1/p' stream | sort -nu | wc -l)"
        kill "$SERVER"
        wait "$SERVER"
    done
    "$CLIQ" hub check
}

shows() { # N: so many delayed signals are in delayed.json
    [ "$(grep -c '"deliverAt"' home/signals/delayed.json)" = "$1" ]
}

@test "what is delayed is shown in a file, soon, at the server's end, and after a kill" {
    for i in 1 2 3; do
        send /v1/engine/signals/delayed "{\"type\":\"late:$i\",\"deliverAt\":\"+1d\"}" >/dev/null
    done
    until_true shows 3
    for i in 4 5; do
        send /v1/engine/signals/delayed "{\"type\":\"late:$i\",\"deliverAt\":\"+1d\"}" >/dev/null
    done
    kill "$SERVER"
    wait "$SERVER"
    shows 5
    boot
    for i in 6 7; do
        send /v1/engine/signals/delayed "{\"type\":\"late:$i\",\"deliverAt\":\"+1d\"}" >/dev/null
    done
    kill -KILL "$SERVER"
    wait "$SERVER" || true
    is 7 "$("$CLIQ" signal delayed | wc -l)"
    shows 7
}

@test "a wall clock that is set is noticed at once" {
    case ${BUILD:-} in *sanitize*) skip "nothing can be loaded before the sanitizer" ;; esac
    kill "$SERVER"
    wait "$SERVER"
    gcc -shared -fPIC -o clock.so "$BATS_TEST_DIRNAME/clock.c"
    mkfifo set
    echo 0 >ahead
    export CLOCK_AHEAD=$PWD/ahead CLOCK_SET=$PWD/set
    LD_PRELOAD=$PWD/clock.so boot
    send /v1/engine/signals/delayed '{"type":"late","deliverAt":"+2h"}' >/dev/null
    is 0 "$(grep -c '"op":"deliver"' home/signals/events.jsonl)"
    echo 7300 >ahead.new
    mv ahead.new ahead
    echo 1234567 >set
    until_true grep -q '"op":"deliver"' home/signals/events.jsonl
}

# garble_index page|row: where the 500th signal is. No server runs.
garble_index() {
    $PY - "$1" <<'PY'
import sqlite3, sys
path = "home/signals/index.db"
sqlite3.connect(path).execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
pages, size = open(path, "rb").read(), 8192
at = next(i for i in range(0, len(pages), size) if pages[i] == 13 and b"number 500 " in pages[i : i + size])
with open(path, "r+b") as f:
    f.seek(at if sys.argv[1] == "page" else pages.index(b"number 500 ", at))
    f.write(b"\x01" * 10)
PY
}
