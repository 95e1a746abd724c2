# hub.bash - helpers for tests of the hub's commands; load it after cli.bash.

events() { printf '%s\n' "$CLIQ_HOME/signals/events.jsonl"; }

# field NAME: a member of the JSON object on standard input, or of each element of an array.
field() {
    $PY -c '
import json, sys
v = json.load(sys.stdin)
for x in v if isinstance(v, list) else [v]:
    x = x[sys.argv[1]]
    print(x if isinstance(x, str) else json.dumps(x, separators=(",", ":")))' "$1"
}
# of ID NAME: a member of a signal.
of() { "$CLIQ" status-of "$1" --json | field "$2"; }
task() { "$CLIQ" emit task "${@:-work}"; }

# Starts a fake server and sets CLIQ_URL. It takes its responses from $T/answers, one "STATUS JSON" line
# per request (the last line repeats), and writes each request to $T/requests as a line of JSON.
hub_server() {
    cat >"$T/server.py" <<'PY'
import http.server, json, os
T = os.environ["T"]
n = 0

class H(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *a): pass
    def do(self):
        global n
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with open(T + "/requests", "a") as f:
            f.write(json.dumps({"method": self.command, "path": self.path,
                "headers": {k.lower(): v for k, v in self.headers.items()},
                "body": json.loads(body) if body else None}) + "\n")
        answers = open(T + "/answers").read().splitlines()
        status, text = answers[min(n, len(answers) - 1)].split(" ", 1)
        n += 1
        self.send_response(int(status))
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())
    do_GET = do_POST = do_DELETE = do

s = http.server.HTTPServer(("127.0.0.1", 0), H)
open(T + "/port.new", "w").write(str(s.server_address[1]))
os.rename(T + "/port.new", T + "/port")
s.serve_forever()
PY
    start server $PY "$T/server.py"
    until_true test -e "$T/port"
    export CLIQ_URL=http://127.0.0.1:$(<"$T/port") CLIQ_KEY=cho_test
}
answers() { printf '%s\n' "$@" >"$T/answers"; }
# asked N KEY: a member of the n-th request (from 1).
asked() { sed -n "$1p" "$T/requests" | field "$2"; }
