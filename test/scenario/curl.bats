#!/usr/bin/env bats
# The built-in agent curl: real messages, a real server on 127.0.0.1.
load ../lib/cli

# The server writes each request to $T/requests, one JSON object a line.
server() {
    cat >"$T/server.py" <<'PY'
import base64, http.server, json, os, sys, threading
T = os.environ["T"]
count = {}
lock = threading.Lock()

class H(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *a): pass
    def say(self, status, body=b"", kind="text/plain", **head):
        self.send_response(status)
        if kind: self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for k, v in head.items(): self.send_header(k.replace("_", "-"), v)
        self.end_headers()
        if self.command != "HEAD": self.wfile.write(body)
    def do(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.split("?")[0]
        with lock:
            n = count[path] = count.get(path, 0) + 1
            with open(T + "/requests", "a") as f:
                f.write(json.dumps({"method": self.command, "path": self.path,
                    "headers": {k.lower(): v for k, v in self.headers.items()},
                    "body": body.decode("latin-1")}) + "\n")
        if path == "/json": self.say(200, b'{"b":1.50,"a":[1,{"c":null}]}', "application/json; charset=utf-8")
        elif path == "/problem": self.say(200, b'{"x":1}', "application/problem+json")
        elif path == "/notjson": self.say(200, b'{"b":1,}', "application/json")
        elif path == "/text": self.say(200, b'{"plain":  true}')
        elif path == "/binary": self.say(200, bytes(range(256)) * 300, "application/octet-stream")
        elif path == "/empty": self.say(204, kind=None)
        elif path == "/large": self.say(200, json.dumps(["x" * 70000]).encode(), "application/json")
        elif path == "/flaky": self.say(*((429, b"later") if n == 1 else (200, b"now")), Retry_After="1")
        elif path == "/broken": self.say(500, b"boom\x1b[31m " + str(n).encode() + b"y" * 500)
        elif path == "/missing": self.say(404, b"no such page")
        elif path == "/tofile": self.say(302, Location="file:///etc/passwd")
        elif path == "/loop": self.say(302, Location="/loop")
        elif path == "/hop": self.say(302, Location="/text")
        elif path == "/slow": threading.Event().wait(30)
        elif path == "/parrot": self.say(401, json.dumps(dict(self.headers)).encode(), "application/json")
        elif path == "/in": self.say(201, b"thanks")
        else: self.say(200, path.encode())
    do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = do_PATCH = do

s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), H)
s.daemon_threads = True
if len(sys.argv) > 1:
    import ssl
    c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    c.load_cert_chain(sys.argv[1], sys.argv[2])
    s.socket = c.wrap_socket(s.socket, server_side=True)
open(T + "/port.new", "w").write(str(s.server_address[1]))
os.rename(T + "/port.new", T + "/port")
s.serve_forever()
PY
    start server "$PY" "$T/server.py" "$@"
    until_true test -e "$T/port"
    URL=http://127.0.0.1:$(<"$T/port")
    P=$T/work
    mkdir -p .cliq/signals .cliq/channels
}

# agent FIELDS [SETTINGS] [TYPE]: `cliq agent curl` with a message whose payload has these fields.
agent() {
    rm -f .cliq/signals/fetch.jsonl
    printf '{"version":1,"type":"phase","agent":"curl","instance_id":"r1","project_dir":"%s",
        "work_dir":"%s","signal_dir":"%s/.cliq/signals","handoff_dirs":["%s/.cliq/channels/fetch--next"],
        "settings":{%s},"payload":{"phase_type":"%s","phase":"fetch",%s}}' \
        "$P" "$P" "$P" "$P" "${2:-}" "${3:-standard}" "$1" >"$T/message"
    got agent curl <"$T/message"
    signals=$(<.cliq/signals/fetch.jsonl)
}
# sources {...}: one source.
sources() { agent '"sources":['"$1"']' "${@:2}"; }
targets() { agent '"target_entries":['"$1"']' "${@:2}"; }
field() { "$PY" -c 'import json,sys
v=json.load(open(sys.argv[1]))
for k in sys.argv[2:]: v=v[k]
print(v if isinstance(v,str) else json.dumps(v))' "$@"; }
handoff() { field .cliq/channels/fetch--next/handoff.json "$@"; }
# asked N KEY...: these members of the N-th request (from 1).
asked() { sed -n "$1p" "$T/requests" >"$T/one"; field "$T/one" "${@:2}"; }
n_asked() { wc -l <"$T/requests"; }
completes() { code_is 0 && is "" "$err" && like "$signals" '"status":"complete"' && lacks "$signals" '"status":"error"'; }
# The phase failed: its error line has these parts, and there is no complete line.
fails() {
    code_is 1 || return 1
    lacks "$signals" '"status":"complete"' || return 1
    local part
    for part in "$@"; do has "$(tail -n1 .cliq/signals/fetch.jsonl)" "$part" || return 1; done
    has "$(tail -n1 .cliq/signals/fetch.jsonl)" '"status":"error"'
}

@test "a source is fetched into the phase's files, JSON pretty-printed" {
    server
    sources '{"name":"report.json","url":"'$URL'/json?x=1"}'
    completes
    printf '{\n  "b": 1.50,\n  "a": [\n    1,\n    {\n      "c": null\n    }\n  ]\n}\n' >"$T/want"
    cmp "$T/want" .cliq/files/fetch/report.json
    is "GET" "$(asked 1 method)"
    is "/json?x=1" "$(asked 1 path)"
    like "$(asked 1 headers user-agent)" '^cliq/[0-9]'
    is "source report.json: GET $URL/json: 200, 29 bytes" "$out"
    has "$signals" '"status":"progress","message":"source report.json: GET '
}

@test "curl marks its phase on the task board, but not when it failed" {
    server
    printf '# Task Board\n\n- [ ] fetch\n' >.cliq/task_board.md
    sources '{"name":"a","url":"'$URL'/missing"}'
    fails 404
    is "- [ ] fetch" "$(tail -n1 .cliq/task_board.md)"
    sources '{"name":"a","url":"'$URL'/text"}'
    completes
    is "- [x] fetch" "$(tail -n1 .cliq/task_board.md)"
}

@test "the handoff has url, file, status, bytes, type and small JSON" {
    server
    sources '{"name":"a","url":"'$URL'/json?x=1"},{"name":"b","url":"'$URL'/text"}'
    completes
    is "$URL/json?x=1" "$(handoff data sources a url)"
    is ".cliq/files/fetch/a" "$(handoff data sources a file)"
    is 200 "$(handoff data sources a status)"
    is 29 "$(handoff data sources a bytes)"
    is "application/json; charset=utf-8" "$(handoff data sources a content_type)"
    is '{"b": 1.5, "a": [1, {"c": null}]}' "$(handoff data sources a json)"
    lacks "$(handoff data sources b)" '"json"'
    is "{}" "$(handoff data targets)"
    has "$(handoff text)" "- source b: GET $URL/text: 200, 16 bytes"
    is "curl" "$(handoff agent)"
}

@test "large JSON stays out of the handoff" {
    server
    sources '{"name":"a","url":"'$URL'/large"}'
    completes
    is 70004 "$(handoff data sources a bytes)"
    lacks "$(handoff data sources a)" '"json"'
}

@test "an answer that is not JSON is stored byte for byte" {
    server
    sources '{"name":"bin","url":"'$URL'/binary"},{"name":"t","url":"'$URL'/text"},
        {"name":"bad","url":"'$URL'/notjson"},{"name":"none","url":"'$URL'/empty"},
        {"name":"p","url":"'$URL'/problem"}'
    completes
    "$PY" -c 'import sys; sys.stdout.buffer.write(bytes(range(256)) * 300)' | cmp - .cliq/files/fetch/bin
    is '{"plain":  true}' "$(<.cliq/files/fetch/t)"
    is '{"b":1,}' "$(<.cliq/files/fetch/bad)"
    [ -f .cliq/files/fetch/none ] && [ ! -s .cliq/files/fetch/none ]
    is 204 "$(handoff data sources none status)"
    is $'{\n  "x": 1\n}' "$(<.cliq/files/fetch/p)"
}

@test "a body is posted, with the JSON type when it is JSON" {
    server
    sources '{"name":"a","url":"'$URL'/x","body":"{\"q\": 1}"},
        {"name":"b","url":"'$URL'/x","body":"q=1"},
        {"name":"c","url":"'$URL'/x","body":{"q":[1]}},
        {"name":"d","url":"'$URL'/x","body":"{}","headers":{"content-type":"text/x"}}'
    completes
    is POST "$(asked 1 method)"
    is '{"q": 1}' "$(asked 1 body)"
    is application/json "$(asked 1 headers content-type)"
    is application/x-www-form-urlencoded "$(asked 2 headers content-type)"
    is '{"q":[1]}' "$(asked 3 body)"
    is text/x "$(asked 4 headers content-type)"
}

@test "the entry chooses headers and method" {
    server
    sources '{"name":"a","url":"'$URL'/x","headers":{"Authorization":"Bearer abc","X-N":5,"X-T":true}},
        {"name":"b","url":"'$URL'/x","method":"delete"},{"name":"c","url":"'$URL'/x","method":"PUT","body":"z"}'
    completes
    is "Bearer abc" "$(asked 1 headers authorization)"
    is 5 "$(asked 1 headers x-n)"
    is true "$(asked 1 headers x-t)"
    is DELETE "$(asked 2 method)"
    is PUT "$(asked 3 method)"
}

@test "429 is retried after Retry-After" {
    server
    local before=$EPOCHREALTIME
    sources '{"name":"a","url":"'$URL'/flaky"}'
    local after=$EPOCHREALTIME
    completes
    is now "$(<.cliq/files/fetch/a)"
    is 2 "$(n_asked)"
    ((${after/./} - ${before/./} >= 1000000))
    has "$out" "200, 3 bytes, 2 tries"
}

@test "500 three times fails the phase with the beginning of the answer, escaped" {
    server
    sources '{"name":"a","url":"'$URL'/broken"}'
    is 3 "$(n_asked)"
    fails "source a: $URL/broken answered 500 after 3 tries: boom" '\\x1b[31m 3yyy' 'yyy...'
    lacks "$signals" "$(printf 'y%.0s' {1..201})"
    [ ! -e .cliq/files/fetch/a ]
    [ ! -e .cliq/channels/fetch--next/handoff.json ]
}

@test "retry: false makes one try" {
    server
    sources '{"name":"a","url":"'$URL'/broken","retry":false}'
    is 1 "$(n_asked)"
    fails "source a: $URL/broken answered 500: boom"
}

@test "404 fails at once" {
    server
    sources '{"name":"a","url":"'$URL'/missing?token=hush"}'
    is 1 "$(n_asked)"
    fails "source a: $URL/missing answered 404: no such page"
    lacks "$signals" hush
}

@test "a refused connection fails after three tries" {
    server
    kill "$PID"
    until_true gone "$PID"
    sources '{"name":"a","url":"'$URL'/x"}'
    fails "source a: GET $URL/x: "
}

@test "redirects are followed, but neither forever nor to a file" {
    server
    sources '{"name":"a","url":"'$URL'/hop"}'
    completes
    has "$(<.cliq/files/fetch/a)" plain
    is "$URL/hop" "$(handoff data sources a url)"
    sources '{"name":"b","url":"'$URL'/loop"}'
    fails "source b: GET $URL/loop: more than 3 redirects"
    sources '{"name":"c","url":"'$URL'/tofile"}'
    fails "source c: GET $URL/tofile: the redirect is not followed: the URL scheme file is not supported"
    [ ! -e .cliq/files/fetch/c ]
}

@test "only http and https are accepted" {
    server
    for url in file:///etc/passwd ftp://127.0.0.1/x "$P" ""; do
        sources '{"name":"a","url":"'$url'"}'
        fails "source a: " "URL"
    done
}

@test "an untrusted certificate is refused" {
    command -v openssl >/dev/null || skip "no openssl"
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=127.0.0.1 \
        -addext subjectAltName=IP:127.0.0.1 -keyout "$T/key" -out "$T/cert" 2>/dev/null
    server "$T/cert" "$T/key"
    sources '{"name":"a","url":"'${URL/http:/https:}'/text","retry":false}'
    fails "source a: GET https://127.0.0.1:" certificate
    [ ! -e "$T/requests" ]
}

@test "settings limit the size and the time" {
    server
    sources '{"name":"a","url":"'$URL'/binary"}' '"max_bytes":1000'
    fails "source a: GET $URL/binary: the response is larger than 1000 bytes"
    sources '{"name":"a","url":"'$URL'/text"}' '"max_bytes":"16"'
    completes
    sources '{"name":"a","url":"'$URL'/slow"}' '"timeout":"200ms"'
    fails "source a: GET $URL/slow: no response within 0.2 s"
    sources '{"name":"a","url":"'$URL'/text"}' '"timeout":"soon"'
    fails "agents.curl.timeout must be a time"
    sources '{"name":"a","url":"'$URL'/text"}' '"max_bytes":-1'
    fails "agents.curl.max_bytes must be a number"
}

@test "secrets in headers are sent to the server and stored nowhere" {
    server
    sources '{"name":"a","url":"http://me:pass-word@'${URL#http://}'/parrot?key=query-word","headers":
        {"Authorization":"Bearer s3cr3t-token","X-Api-Key":"other-k3y","Accept":"text/x"}}'
    fails "answered 401" '***' 'text/x'
    is "Bearer s3cr3t-token" "$(asked 1 headers authorization)"
    sources '{"name":"a","url":"'$URL'/loop","headers":{"X":"s3cr3t-token"}}'
    fails redirects
    sources '{"name":"a","url":"'$URL'/text","headers":{"X":"s3cr3t-token\nEvil: other-k3y"}}'
    fails "the value of header X holds a line break"
    is 4 "$(grep -c '"/loop"' "$T/requests")"
    lacks "$(<"$T/requests")" '"evil"'
    sources '{"name":"a","url":"http://me:pass-word@'${URL#http://}'/text","headers":{"X":"s3cr3t-token"}}'
    completes
    # Neither the output nor a file in .cliq holds them.
    for word in s3cr3t-token other-k3y pass-word query-word; do
        lacks "$(cat "$T/out" "$T/err")" $word
        [ -z "$(grep -rl -e $word .cliq)" ] || complain "$word in $(grep -rl -e $word .cliq)"
    done
}

@test "a token that the answer repeats is masked" {
    server
    sources '{"name":"a","url":"'$URL'/parrot","headers":{"X-Key":"s3cr3t-token"}}'
    fails "***"
    lacks "$signals$out$err" s3cr3t
}

@test "names cannot leave the phase's files" {
    server
    for name in ../up a/../../up /etc/x . .. a//b 'a\u0007b' 'a\u0000b' ""; do
        sources '{"name":"'$name'","url":"'$URL'/text"}'
        fails name
    done
    [ ! -e "$T/requests" ]
    sources '{"name":"a/b.txt","url":"'$URL'/text"}'
    completes
    [ -f .cliq/files/fetch/a/b.txt ]
    ln -s "$T" .cliq/files/fetch/out
    sources '{"name":"out/x","url":"'$URL'/text"}'
    fails "not a directory"
    [ ! -e "$T/x" ]
}

@test "invalid entries are refused before any request" {
    server
    local ok='{"name":"ok","url":"'$URL'/text"}'
    sources "$ok,"'{"url":"'$URL'/x"}'
    fails "source number 2 has no name"
    sources "$ok,"'{"name":"x"}'
    fails "source x: it has no url"
    sources "$ok,$ok"
    fails "source ok: there are two of that name"
    sources "$ok,"'{"name":"x","url":["a"]}'
    fails "source x: its url must be a text"
    sources "$ok,"'{"name":"x","url":"u","headers":["a"]}'
    fails "source x: its headers must be a map"
    sources "$ok,"'{"name":"x","url":"u","headers":{"A":{"b":1}}}'
    fails "source x: its header A must be a text"
    targets '{"name":"x","url":"u"}'
    fails "target x: it has no file"
    agent '"sources":{}'
    fails "sources must be a list"
    agent '"model":"m"'
    fails "phase fetch has neither sources nor target_entries"
    [ ! -e "$T/requests" ]
}

@test "a target's file is sent" {
    server
    mkdir -p .cliq/files/build out
    printf '{"a":1}' >.cliq/files/build/r.json
    printf 'a,b\n' >out/t.csv
    "$PY" -c 'import sys; sys.stdout.buffer.write(bytes(range(256)))' >out/blob
    echo hi >out/n.txt
    targets '{"name":"j","file":"files/build/r.json","url":"'$URL'/in?k=1"},
        {"name":"c","file":"out/t.csv","url":"'$URL'/in","method":"PUT","mode":"append"},
        {"name":"b","file":"'$P'/out/blob","url":"'$URL'/in"},
        {"name":"t","file":"out/n.txt","url":"'$URL'/in","headers":{"Content-Type":"x/y"}},
        {"name":"s","file":".cliq/files/build/r.json","url":"'$URL'/in"}'
    completes
    is POST "$(asked 1 method)"
    is '{"a":1}' "$(asked 1 body)"
    is application/json "$(asked 1 headers content-type)"
    is PUT "$(asked 2 method)"
    like "$(asked 2 headers content-type)" ^text/csv
    has "$signals" "target c: mode append means nothing over HTTP"
    is application/octet-stream "$(asked 3 headers content-type)"
    is true "$("$PY" -c 'import json,os
r = json.loads(open(os.environ["T"] + "/requests").readlines()[2])
print("true" if r["body"].encode("latin-1") == bytes(range(256)) else r)')"
    is x/y "$(asked 4 headers content-type)"
    is '{"a":1}' "$(asked 5 body)"
    is "$URL/in?k=1" "$(handoff data targets j url)"
    is 201 "$(handoff data targets j status)"
    is 7 "$(handoff data targets j bytes)"
    has "$(handoff text)" "- target b: POST $URL/in: 201, 256 bytes"
}

@test "files outside the work directory and files with keys are not sent" {
    server
    echo hush >"$T/outside"
    echo hush >in
    ln -s "$T/outside" link
    ln -s "$T" dir
    mkdir -p .cliq/run/messages
    echo '{}' >.cliq/settings.json
    cp .cliq/settings.json .cliq/run/messages/m.json
    for file in ../outside "$T/outside" /etc/passwd a/../../outside files/../../../outside link dir/outside \
        ./in "$P/../outside" .cliq/settings.json .cliq/run/messages/m.json "$P/.cliq/settings.json" nowhere ""; do
        targets '{"name":"x","file":"'"$file"'","url":"'$URL'/in"}'
        fails "target x: "
    done
    [ ! -e "$T/requests" ]
}

@test "sources come before targets, which may send them on" {
    server
    agent '"sources":[{"name":"a","url":"'$URL'/text"}],
        "target_entries":[{"name":"b","file":"files/fetch/a","url":"'$URL'/in"}]'
    completes
    is '{"plain":  true}' "$(asked 2 body)"
    is 200 "$(handoff data sources a status)"
    is 201 "$(handoff data targets b status)"
}

@test "an action does only sources or only targets" {
    server
    echo x >f
    local both='"sources":[{"name":"a","url":"'$URL'/text"}],"target_entries":[{"name":"b","file":"f","url":"'$URL'/in"}]'
    agent '"action":"get",'"$both"
    completes
    is /text "$(asked 1 path)"
    is 1 "$(n_asked)"
    agent '"action":"put",'"$both"
    completes
    is /in "$(asked 2 path)"
    is 2 "$(n_asked)"
    agent '"action":"search",'"$both"
    fails "the agent curl knows the actions get and put"
    agent '"action":"put","sources":[{"name":"a","url":"'$URL'/text"}]'
    fails "there is nothing to put"
}

@test "a target that is refused fails the phase" {
    server
    echo x >f
    targets '{"name":"b","file":"f","url":"'$URL'/missing"}'
    fails "target b: $URL/missing answered 404: no such page"
}

@test "a gate with the agent curl is refused" {
    server
    agent '"sources":[{"name":"a","url":"'$URL'/text"}],"route_targets":[]' '' gate
    fails "phase fetch is a gate, and the agent curl cannot judge"
    [ ! -e "$T/requests" ]
}

@test "proxies of the environment are not used" {
    server
    export http_proxy=http://127.0.0.1:1 HTTP_PROXY=http://127.0.0.1:1 ALL_PROXY=http://127.0.0.1:1
    sources '{"name":"a","url":"'$URL'/text"}'
    completes
}

@test "a test message is answered" {
    server
    printf '{"version":1,"type":"test","agent":"curl","instance_id":"i","signal_dir":"%s/.cliq/signals"}' "$P" >"$T/message"
    got agent curl <"$T/message"
    succeeds
    has "$(cat .cliq/signals/_test-curl-i.jsonl)" '"passed":true'
}

@test "in a pipeline: templates are expanded, and the next phase gets the answer" {
    server
    rm -rf .cliq
    mkdir t
    cat >t/team.yml <<YML
name: "@local/t"
inputs:
  - { name: topic }
workflow:
  phases:
    - name: fetch
      agent: curl
      sources:
        - name: answer.json
          url: "$URL/json?about=\$(inputs.topic)"
          headers: { X-Topic: "\$(inputs.topic)" }
        - { name: post, url: "$URL/x", body: '{"about":"\$(inputs.topic)"}' }
    - name: use
      agent: exec
      depends_on: [fetch]
      commands:
        - { name: see, run: 'cat \$(handoff.fetch.sources.post.file) > seen; echo \$(handoff.fetch.sources.post.status) >> seen' }
    - name: deliver
      agent: curl
      depends_on: [use, fetch]
      target_entries:
        - { name: back, file: "\$(handoff.fetch.sources.post.file)", url: "$URL/in" }
YML
    got init
    got assemble ./t
    code_is 0
    got req -m "Do it." --input "topic=black tea"
    code_is 0
    got run --headless
    code_is 0
    like "$(asked 1 path)" "^/json.about=black(%20|[+])tea$"
    is "black tea" "$(asked 1 headers x-topic)"
    is '{"about":"black tea"}' "$(asked 2 body)"
    is $'/x200' "$(tr -d '\n' <seen)"
    is /x "$(asked 3 body)"
}

# linked ARGS...: runs cliq; $files lists the files that the dynamic linker loaded.
linked() {
    rm -f "$T"/linker.*
    LD_DEBUG=files LD_DEBUG_OUTPUT=$T/linker "$@"
    files=$(cat "$T"/linker.*)
    has "$files" "calling init: "
}

@test "libcurl is loaded by the commands that need it, and by no other" {
    server
    local command
    for command in version help "channel rooms" "emit note hello" "agent --help" "agent curl --help"; do
        linked got $command
        succeeds
        lacks "$files" libcurl
    done
    linked sources '{"name":"a","url":"'$URL'/text"}'
    completes
    has "$files" "file=libcurl.so.4"
}

@test "without libcurl the phase fails and says what to install; so does a hub at https://" {
    server
    mkdir "$T/no-libcurl"
    : >"$T/no-libcurl/libcurl.so.4" # found first, and not a library
    export LD_LIBRARY_PATH=$T/no-libcurl
    sources '{"name":"a","url":"'$URL'/text"}'
    fails "libcurl.so.4" "apt-get install libcurl4"
    [ ! -e "$T/requests" ]
    for command in "status-of signal:x" watch; do # watch must not reconnect for ever
        CLIQ_KEY=k got $command --url https://127.0.0.1:9
        refused 74 "libcurl.so.4" "apt-get install libcurl4"
    done
    got version # needs no libcurl
    succeeds
}
