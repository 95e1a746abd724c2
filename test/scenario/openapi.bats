#!/usr/bin/env bats
# /openapi.json: valid by an independent linter, the same routes as the server's, and answers of a
# running server that match its schemas.
bats_require_minimum_version 1.5.0
load ../lib/cli
load ../lib/serve

# A python with jsonschema: Debian's when the first on PATH has none.
checker() {
    local p
    for p in python3 /usr/bin/python3; do
        "$p" -c 'from jsonschema import Draft202012Validator' 2>/dev/null && echo "$p" && return
    done
    return 1
}

@test "an independent linter accepts the document" {
    linter=$BATS_TEST_DIRNAME/../../build/npm/node_modules/@seriousme/openapi-schema-validator/index.js
    [ -f "$linter" ] || skip "npm could not install the linter: tools/deps test"
    look /openapi.json >api.json
    lint() {
        node --input-type=module -e '
            const { Validator } = await import("file://" + process.argv[1]);
            const it = new Validator(), said = await it.validate(process.argv[2]);
            console.log(it.version, said.valid ? "valid" : JSON.stringify(said.errors));' "$(realpath "$linter")" "$1"
    }
    is "3.1 valid" "$(lint api.json)"
    sed 's/"operationId":"/"operationId":7,"x-was":"/' api.json >wrong.json # the linter does find errors
    has "$(lint wrong.json)" operationId
}

@test "each operation has a unique id, and each component is used" {
    look /openapi.json >api.json
    python3 - <<'PY'
import json
api = json.load(open("api.json"))
ids = [op["operationId"] for ops in api["paths"].values() for op in ops.values()]
assert len(ids) == len(set(ids))
# every component is referenced, and every reference exists
text = json.dumps(api)
used = {part.split('"')[0] for part in text.split('#/components/')[1:]}
said = {f"{kind}/{name}" for kind in ("schemas", "responses", "headers") for name in api["components"][kind]}
assert used <= said, used - said
unused = {s for s in said - used if not s.startswith("responses/")}
assert not unused, unused
PY
}

@test "the document's routes are exactly the server's" {
    look /openapi.json >api.json
    python3 - "$URL" "$KEY" <<'PY'
import json, re, sys, urllib.request, urllib.error
url, key = sys.argv[1:]
api = json.load(open("api.json"))
def ask(method, path):
    q = urllib.request.Request(url + path, method=method, headers={"Authorization": "Bearer " + key})
    try:
        with urllib.request.urlopen(q, timeout=10) as r:
            return r.status, "", r.headers
    except urllib.error.HTTPError as e:
        body = e.read()
        return e.code, json.loads(body)["error"] if body else "", e.headers
n = 0
for path, ops in api["paths"].items():
    real = path.replace("{target}", "dev").replace("{id}", "signal:x")
    real = real.replace("{scope}", "@acme").replace("{name}", "none").replace("{version}", "1.0.0").replace("{phase}", "build")
    status, error, headers = ask("PATCH", real)
    assert status == 405, (path, status)
    fits = [o for t, o in api["paths"].items() if re.fullmatch(re.sub(r"{[a-z]+}", "[^/]+", t), real)]
    want = {m for o in fits for m in o} # /signals/ticket is also a /signals/{id}
    assert {m.strip().lower() for m in headers["Allow"].split(",")} - {"head"} == want, (path, headers["Allow"])
    for method, op in ops.items():
        if "stream" in path or path == "/v1/engine/events":
            continue
        status, error, headers = ask(method.upper(), real)
        assert status != 405 and not (status == 404 and isinstance(error, dict) and error["code"] == "ROUTE_NOT_FOUND"), (method, path)
        assert str(status) in op["responses"], (method, path, status)
        n += 1
assert n > 35, n
status, error, headers = ask("GET", "/nothing")
assert status == 404 and error["code"] == "ROUTE_NOT_FOUND"
PY
}

@test "requests and answers match the document's schemas" {
    python=$(checker) || skip "python3-jsonschema is missing: tools/deps test"
    look /openapi.json >api.json
    { "$CLIQ" team new tour && "$CLIQ" init && "$CLIQ" assemble ./tour && "$CLIQ" req -m hello && "$CLIQ" run --headless; } >ran 2>&1
    "$python" - "$URL" "$KEY" <<'PY'
import json, sys, urllib.request, urllib.error
from jsonschema import Draft202012Validator
url, key = sys.argv[1:]
api = json.load(open("api.json"))
seen, statuses = set(), set()

def hold(value, schema, what):
    root = {"$ref": "#/it", "it": schema, "components": api["components"], "paths": api["paths"]}
    problems = [f"{list(p.absolute_path)}: {p.message}" for p in Draft202012Validator(root).iter_errors(value)]
    assert not problems, (what, problems, value)

def ask(method, template, path=None, body=None, want=200):
    op = api["paths"][template][method.lower()]
    headers = {"Authorization": "Bearer " + key, "Content-Type": "application/json"}
    if body is not None and want == 200:
        hold(body, op["requestBody"]["content"]["application/json"]["schema"], (template, "request"))
    q = urllib.request.Request(url + (path or template), method=method, headers=headers,
                               data=None if body is None else json.dumps(body).encode())
    try:
        r = urllib.request.urlopen(q, timeout=20)
        status, answer = r.status, json.load(r)
    except urllib.error.HTTPError as e:
        status, answer = e.code, json.load(e)
    assert status == want, (method, template, status, answer)
    response = op["responses"][str(status)]
    if "$ref" in response:
        response = api["components"]["responses"][response["$ref"].rsplit("/", 1)[1]]
    hold(answer, response["content"]["application/json"]["schema"], (method, template, status))
    seen.add((method, template)); statuses.add(status)
    return answer.get("data", answer)

ask("POST", "/roles", body={"id": "dev", "name": "Developer", "purpose": "writes"})
ask("POST", "/rings", body={"id": "ops"})
ask("POST", "/fills", body={"identity": "admin", "role": "dev"})
ask("POST", "/joins", body={"identity": "admin", "ring": "ops"})
ask("POST", "/identities", body={"id": "bob", "type": "human"})
ask("POST", "/hooks/claude", body={"hook_event_name": "Stop", "stop_hook_active": False})
for path in ("/roles", "/rings", "/identities", "/keys", "/health"):
    ask("GET", path)
made = ask("POST", "/keys", body={"identity": "ci", "scopes": ["emit", "inbox"]})
ask("POST", "/keys/revoke", body={"id": made["id"]})
full = {"signal_type": "task", "content": "x", "urgency": 0.8, "from_role": "dev", "to_role": "dev",
        "parent_id": "signal:root", "tags": ["a"], "resources": [{"kind": "artifact", "ref": "r"}],
        "attachments": ["old"], "metadata": {"m": 1}, "payload": [1]}
one = ask("POST", "/emit", body=full)
ask("POST", "/emit/batch", body={"signals": [full, {"signal_type": "pulse"}]})
assert ask("POST", "/claim", body={"signal_id": one["id"]})["claim_id"]
ask("POST", "/claim", body={"signal_id": one["id"]}, want=409)
ask("POST", "/extend", body={"signal_id": one["id"], "lease_seconds": 60})
ask("POST", "/status", body={"signal_id": one["id"], "task_status": "in_progress"})
ask("POST", "/fail", body={"signal_id": one["id"], "error": {"why": "disk"}, "retry_in": 3600})
ask("POST", "/requeue", body={"signal_id": one["id"]})
ask("POST", "/claim", body={"role": "dev", "types": ["task"]})
assert ask("POST", "/claim", body={"types": ["none"]}) is None
ask("POST", "/release", body={"signal_id": one["id"]})
ask("POST", "/ack", body={"signal_id": one["id"]})
for act in ("acknowledge", "resolve", "unsnooze"):
    ask("POST", f"/inbox/{act}", body={"signal_id": one["id"]})
ask("POST", "/inbox/snooze", body={"signal_id": one["id"], "until": "+1h"})
ask("GET", "/inbox/{target}", "/inbox/@admin?view=history&include_snoozed=true&limit=1&type=task,pulse")
ask("GET", "/inbox/{target}", "/inbox/dev?view=odd", want=400)
ask("GET", "/inbox/{target}", "/inbox/dev?viev=now", want=400)
ask("GET", "/thread/{id}", "/thread/" + one["id"])
ask("GET", "/signals/list", "/signals/list?delivery_state=acked,pending&min_urgency=0.1")
ask("GET", "/signals/{id}", "/signals/" + one["id"])
ask("GET", "/signals/{id}", "/signals/none", want=404)
ask("GET", "/signals/{id}/history", f"/signals/{one['id']}/history")
ask("POST", "/leases", body={"project": "p", "paths": ["src/**"], "ttl_seconds": 60, "reason": "why"})
ask("POST", "/leases", body={"project": "p", "paths": ["../x"]}, want=400)
ask("GET", "/leases", "/leases?project=p&path=src/a.c&others=false")
ask("POST", "/leases/release", body={"project": "p", "paths": ["src/**"]})
ask("POST", "/signals/ticket")
assert ask("POST", "/sign-in", body={"ticket": ask("POST", "/sign-in/ticket")["ticket"]})["key"] == key
ask("POST", "/sign-in", body={"ticket": "none"}, want=401)
assert ask("GET", "/whoami")["identity"] == "admin"
E = "/v1/engine/signals/"
ask("POST", E + "generate", body={"type": "a:b", "source": {"type": "webhook", "id": "gh"}, "data": {"n": 1}})
ask("POST", E + "generate", body={"type": " "}, want=400)
ask("POST", E + "generate", body={"type": "a", "dta": 1}, want=400)
ask("POST", E + "subscribe", body={"pattern": "a:*", "silent": False})
ask("GET", E + "subscriptions")
ask("POST", E + "unsubscribe", body={"pattern": "a:*"})
ask("POST", E + "delayed", body={"type": "later", "deliverAt": 4102444800000, "repeatKey": "k", "data": 1})
ask("GET", E + "delayed")
ask("DELETE", E + "delayed", E + "delayed?repeatKey=k")
ask("GET", E + "events", E + "events?limit=5")
ask("POST", "/emit", body={"signal_type": "x", "to_rol": "y"}, want=400)
ask("GET", "/teams", "/teams?query=x")
ask("GET", "/teams/{scope}/{name}", "/teams/@acme/none", want=404)
ask("GET", "/teams/{scope}/{name}/{version}", "/teams/@acme/none/1.0.0", want=404)
ask("GET", "/reviews", "/reviews?state=open")
ask("GET", "/reviews/{id}", "/reviews/none-1", want=404)
ask("GET", "/reviews/{id}/file", "/reviews/none-1/file?path=a", want=404)
ask("GET", "/reviews/{id}/diff", "/reviews/none-1/diff", want=404)
for verdict in ("approve", "changes", "reject"):
    ask("POST", "/reviews/{id}/" + verdict, "/reviews/none-1/" + verdict, body={"comment": "x"}, want=404)
info = {"name": "@acme/review", "version": "1.0.0", "description": "d", "phases": 3, "bytes": 1, "sha256": "0",
        "owner": "a", "published_by": "a", "published_at": "2026-11-17T09:00:00Z"}
hold([info], {"type": "array", "items": {"$ref": "#/components/schemas/Team"}}, "a team")
run = ask("GET", "/runs")[0]["run"]
phases = ask("GET", "/runs/{id}", "/runs/" + run)["phases"]
first, second = phases[0]["phase"], phases[1]["phase"]
ask("GET", "/runs/{id}", "/runs/cliq-000000-1", want=404)
ask("GET", "/runs/{id}/journal", f"/runs/{run}/journal")
page = ask("GET", "/runs/{id}/phases/{phase}", f"/runs/{run}/phases/{second}")
ask("GET", "/runs/{id}/log", f"/runs/{run}/log?phase={first}")
envelope = page["in"][0]["handoff"]
ask("POST", "/runs/{id}/handoff", f"/runs/{run}/handoff", {"from": first, "to": second, "handoff": envelope})
ask("POST", "/runs/{id}/retry/{phase}", f"/runs/{run}/retry/{first}")
ask("POST", "/runs/{id}/cancel", "/runs/cliq-000000-1/cancel", want=404)
ask("POST", "/runs/{id}/resume", "/runs/cliq-000000-1/resume", want=404)
project = ask("GET", "/runs")[0]["project"]
room = ask("POST", "/rooms", body={"room": "room-001", "task": "sign in", "roles": ["engineer", "qa"], "max_retries": 2, "project": project})
assert room["state"] == "pending" and room["lifecycle"]["version"] == 2
ask("POST", "/rooms", body={"room": "room-001", "task": "again", "project": project}, want=409)
ask("GET", "/rooms", "/rooms?project=" + project)
ask("GET", "/rooms/{id}", "/rooms/room-001")
ask("GET", "/rooms/{id}", "/rooms/none", want=404)
posted = ask("POST", "/rooms/{id}/messages", "/rooms/room-001/messages", body={"from": "engineer", "type": "progress", "body": "half"})
ask("GET", "/rooms/{id}/messages", "/rooms/room-001/messages?limit=5")
assert ask("GET", "/rooms/{id}/messages", "/rooms/room-001/messages?after=" + posted["id"]) == []
ask("POST", "/rooms/{id}/signoff", "/rooms/room-001/signoff", body={"from": "qa", "body": "fine"}, want=409)
every = {(m.upper(), p) for p, ops in api["paths"].items() for m in ops}
left = {p for m, p in every - seen if (m, p) != ("POST", "/teams")} # team_hub.bats publishes
assert left == {"/", "/web/{version}/{name}", "/metrics", "/openapi.json", "/mcp", "/signals/stream", "/v1/engine/events"}, left
PY
}

@test "streams refuse unknown filters" {
    run -0 curl -s -o body -w '%{http_code}' "$URL/signals/stream?tpye=alert" -H "Authorization: Bearer $KEY" --max-time 10
    [ "$output" = 400 ]
    [[ $(json 'd["error"]["message"]' <body) == *"did you mean type?" ]]
    run -0 curl -s -o body -w '%{http_code}' "$URL/signals/stream?min_urgency=2" -H "Authorization: Bearer $KEY" --max-time 10
    [ "$output" = 400 ]
    run -0 curl -s -o body -w '%{http_code}' "$URL/signals/stream?since=x" -H "Authorization: Bearer $KEY" --max-time 10
    [ "$output" = 400 ]
}
