#!/usr/bin/env bats
# One table of operations makes commands, HTTP routes with /openapi.json, and tools: they agree.
load ../lib/cli
load ../lib/serve

@test "for each operation that they share, help, /openapi.json and tool take the same arguments" {
    look /openapi.json >api.json
    PYTHONPATH=$BATS_TEST_DIRNAME/../lib $PY - <<'PY'
import re
from mcp_client import *
api = json.load(open("api.json"))
with Mcp() as m:
    tools = {t["name"]: t["inputSchema"] for t in m.call("tools/list")["tools"]}
# tool: the route, the command, and the options of the command that have another name than the field
shared = {
    "generate_signal": ("post", "/v1/engine/signals/generate", "signal generate", {"type": "TYPE"}),
    "signal_subscribe": ("post", "/v1/engine/signals/subscribe", "signal subscribe", {"pattern": "PATTERN", "agentId": "--as"}),
    "signal_unsubscribe": ("post", "/v1/engine/signals/unsubscribe", "signal unsubscribe", {"pattern": "PATTERN", "agentId": "--as"}),
    "emit": ("post", "/emit", "emit", {"signal_type": "--type", "content": "--message", "parent_id": "--parent", "tags": "--tag",
             "resources": "--resource", "payload": "--data", "task_status": "--task", "expires_at": "--expires", "metadata": None}),
    "inbox": ("get", "/inbox/{target}", "inbox", {"target": "@IDENTITY", "receipt_state": "--receipt", "after": "--all"}),
    "claim": ("post", "/claim", "claim", {"signal_id": "[ID]", "types": "--type", "lease_seconds": "--lease", "wait_seconds": "--wait"}),
    "ack": ("post", "/ack", "ack", {"signal_id": "ID", "task_status": None}),
    "fail": ("post", "/fail", "fail", {"signal_id": "ID"}),
    "thread": ("get", "/thread/{id}", "thread", {"id": "ID"}),
}
for tool, (method, path, command, names) in shared.items():
    op, mine = api["paths"][path][method], tools[tool]
    http = {p["name"]: {**p["schema"], "description": p["description"]} for p in op["parameters"] if p["in"] != "header"}
    required = {p["name"] for p in op["parameters"] if p.get("required")}
    if "requestBody" in op:
        body = op["requestBody"]["content"]["application/json"]["schema"]
        http, required = body["properties"], set(body["required"])
    for name, schema in mine["properties"].items():
        if (tool, name) == ("ack", "task_status"):
            continue  # the tool does POST /status as well
        assert name in http, (tool, name)
        for key, value in schema.items():  # what the tool says, the route says, too
            assert key in ("anyOf", "items") or http[name].get(key) == value, (tool, name, key, value, http[name])
    given = {"target"} if tool == "inbox" else set()
    assert set(mine["required"]) == required - given, (tool, mine["required"], required)
    help = subprocess.run([os.environ["CLIQ"], *command.split(), "--help"], capture_output=True, text=True).stdout
    for name in mine["properties"]:
        option = names.get(name, "--" + name.replace("_", "-"))
        assert option is None or option in help, (tool, name, option)
PY
}
