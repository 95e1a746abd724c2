#!/usr/bin/env bats
# cliq mcp: every tool, resource and prompt over standard input and output, in both eras.
load ../lib/cli
load ../lib/hub

# The rest of the test is Python, with the client of test/lib/mcp_client.py.
py() { PYTHONPATH=$BATS_TEST_DIRNAME/../lib $PY - "$@"; }

@test "both eras are served by one process, decided for each request" {
    py <<'PY'
from mcp_client import *
with Mcp("--as", "ruby") as m:
    for version in "2025-06-18", "2025-11-25":
        r = m.handshake(version)
        assert r["protocolVersion"] == version and r["serverInfo"]["name"] == "cliq", r
        assert r["capabilities"]["resources"]["subscribe"] is True and "resultType" not in r
    assert m.handshake("1999-01-01")["protocolVersion"] == "2025-11-25"
    assert m.call("ping") == {}
    d = m.call("server/discover", modern=True)
    assert d["supportedVersions"] == ["2026-07-28"] and d["resultType"] == "complete", d
    assert d["ttlMs"] > 0 and d["cacheScope"] == "public"
    assert d["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "cliq"
    legacy, modern = m.call("tools/list"), m.call("tools/list", modern=True)
    assert legacy["tools"] == modern["tools"] and "ttlMs" in modern and "ttlMs" not in legacy
    assert m.error("ping", modern=True)["code"] == -32601  # went with the handshake
    wrong = m.error("tools/list", {"_meta": {"io.modelcontextprotocol/protocolVersion": "1900-01-01"}})
    assert wrong["code"] == -32022 and wrong["data"] == {"supported": ["2026-07-28"], "requested": "1900-01-01"}
    bare = m.error("tools/list", {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}})
    assert bare["code"] == -32602 and "clientCapabilities" in bare["message"], bare
PY
}

@test "the tool list has the broadcast page's three with exactly its arguments, and fits 10 kB" {
    py <<'PY'
from mcp_client import *
with Mcp() as m:
    tools = {t["name"]: t for t in m.call("tools/list")["tools"]}
    takes = {n: set(t["inputSchema"]["properties"]) for n, t in tools.items()}
    assert takes["generate_signal"] == {"type", "source", "data"}, takes
    assert takes["signal_subscribe"] == {"pattern", "silent", "agentId"}
    assert takes["signal_unsubscribe"] == {"pattern", "agentId"}
    assert takes["room_post"] == {"room", "from", "to", "type", "ref", "body"}
    for name in "emit inbox claim ack fail thread room_read pipeline_status handoff review lease".split():
        assert name in tools, name
    for t in tools.values():
        assert t["inputSchema"]["additionalProperties"] is False and t["description"]
        reads = t["name"] in "inbox thread room_read pipeline_status handoff".split()
        hints = {"readOnlyHint": True} if reads else {"destructiveHint": False, "openWorldHint": False}
        assert t.get("annotations") == (None if t["name"] == "review" else hints), t
    assert len(json.dumps(list(tools.values()), separators=(",", ":"))) <= 10000
PY
}

@test "a task goes from one agent to another: emit, inbox, claim, ack; a message is answered in its thread" {
    py <<'PY'
from mcp_client import *
with Mcp("--as", "ann") as ann, Mcp("--as", "bob") as bob:
    ok, task = ann.tool("emit", signal_type="task", content="Review it", to_identity="bob", urgency=0.9)
    assert ok and task["from_identity"] == "ann" and task["task_status"] == "open", task
    assert None not in task.values() and [] not in task.values()  # what says nothing is left out
    ok, box = bob.tool("inbox")
    assert ok and [s["id"] for s in box["signals"]] == [task["id"]], box
    ok, got = bob.tool("claim", wait_seconds=5)
    assert ok and got["id"] == task["id"] and got["claim_id"], got
    ok, why = ann.tool("ack", signal_id=task["id"], task_status="done")
    assert not ok and "claimed by bob" in why, why
    ok, done = bob.tool("ack", signal_id=task["id"], claim_id=got["claim_id"], task_status="done")
    assert ok and done["task_status"] == "done" and done["delivery_state"] == "acked", done
    ok, again = bob.tool("ack", signal_id=task["id"], task_status="done")
    assert ok, again
    bob.tool("emit", signal_type="sense", content="Done", parent_id=task["id"])
    ok, thread = ann.tool("thread", id=task["id"])
    assert [s["signal_type"] for s in thread["signals"]] == ["task", "sense"], thread
    ok, nothing = bob.tool("claim")
    assert ok and nothing is None
    ok, task = ann.tool("emit", signal_type="task", to_identity="bob")
    bob.tool("claim", signal_id=task["id"])
    ok, failed = bob.tool("fail", signal_id=task["id"], error="no network", retry_in=3600)
    assert ok and failed["delivery_state"] == "failed", failed
PY
}

@test "broadcasts: generate_signal, signal_subscribe and signal_unsubscribe answer as the page says" {
    py <<'PY'
from mcp_client import *
with Mcp("--as", "ann") as ann, Mcp("--as", "bob") as bob:
    ok, sub = bob.tool("signal_subscribe", pattern="build:*:done")
    assert sub == {"summary": "Subscribed to build:*:done", "agentId": "bob", "pattern": "build:*:done", "silent": True}, sub
    ok, sig = ann.tool("generate_signal", type="build:web:done", data={"ok": True})
    assert sig["signalType"] == "build:web:done" and sig["source"] == "agent:ann" and len(sig["signalId"]) == 24, sig
    ok, box = bob.tool("inbox")
    assert box["signals"][0]["payload"] == {"ok": True}, box
    ok, un = bob.tool("signal_unsubscribe", pattern="build:*:done")
    assert un["removed"] is True and un["agentId"] == "bob", un
    ok, un = bob.tool("signal_unsubscribe", pattern="build:*:done")
    assert ok and un["removed"] is False
    ok, why = ann.tool("generate_signal", type="x", source={"type": "system"})
    assert not ok and "system" in why, why
PY
}

@test "a wrong argument is refused with a sentence that a model can act on, and nothing is stored" {
    py <<'PY'
from mcp_client import *
with Mcp("--as", "ann") as m:
    for tool, args, says in [
        ("emit", {"signal_type": "task", "urgenci": 1}, "urgenci is not known to emit; did you mean urgency?"),
        ("emit", {"content": "x"}, "emit needs signal_type: what it is"),
        ("emit", {"signal_type": "task", "urgency": "high"}, 'urgency must be a number from 0 to 1, not "high"'),
        ("emit", {"signal_type": "task", "to_role": "a b"}, "must be a name of 1 to 64"),
        ("inbox", {"view": "new"}, 'view must be one of now, recent, history, stale, not "new"'),
        ("claim", {"wait_seconds": 61}, "wait_seconds must be a whole number from 0 to 60"),
        ("ack", {"signal_id": "x", "task_status": "finished"}, 'task_status must be one of done'),
        ("ack", {"signal_id": "signal:none"}, "no signal"),
        ("room_post", {"room": "r", "to": "qa", "type": "shout", "ref": "E", "body": "b"}, "type must be one of task, done"),
        ("room_post", {"room": "../r", "to": "qa", "type": "done", "ref": "E", "body": "b"}, "room must be a name"),
        ("room_post", {"room": "r", "to": "qa", "type": "done", "body": "b"}, "room_post needs ref"),
        ("room_read", {"room": "none"}, "there is no room none yet"),
        ("room_read", {"room": "none", "last": 0}, "last must be a whole number from 1 to 200"),
        ("review", {"verdict": "approve"}, "review needs id"),
        ("review", {"id": "a", "verdict": "reject"}, "say why in text"),
        ("pipeline_status", {}, "cliq init"),
    ]:
        ok, why = m.tool(tool, **args)
        assert not ok and says in why, (tool, args, why)
    assert "did you mean emit" in m.error("tools/call", {"name": "emitt"})["message"]
    assert m.error("tools/call", {"name": "emit", "arguments": []})["code"] == -32602
    ok, box = m.tool("inbox", target="@ann", view="history")
    assert box == {"signals": []}, box
PY
    [ ! -e .war-rooms ]
}

@test "a claim that waits tells progress, gets the task when it comes, and can be cancelled" {
    py <<'PY'
from mcp_client import *
with Mcp("--as", "bob") as bob, Mcp("--as", "ann") as ann:
    bob.handshake()
    wait = bob.ask("tools/call", {"name": "claim", "arguments": {"wait_seconds": 60}, "_meta": {"progressToken": "p1"}})
    p = bob.notification("notifications/progress")
    assert p["progressToken"] == "p1" and p["progress"] >= 1 and p["total"] == 60, p
    ok, box = bob.tool("inbox")  # others are answered meanwhile
    assert ok
    ok, task = ann.tool("emit", signal_type="task", to_identity="bob")
    got = bob.answer(wait)
    assert json.loads(got["result"]["content"][0]["text"])["id"] == task["id"]
    wait = bob.ask("tools/call", {"name": "claim", "arguments": {"wait_seconds": 60}})
    bob.say({"method": "notifications/cancelled", "params": {"requestId": wait}})
    bob.call("ping")  # it has heard of it
    ok, next = ann.tool("emit", signal_type="task", to_identity="bob")
    after = bob.answer(bob.ask("ping"))
    assert after["id"] > wait
    ok, got = bob.tool("claim", signal_id=next["id"])  # the cancelled one did not take it
    assert ok, got
    assert not [m for m in bob.told if m.get("id") == wait]  # nor was it answered
    bob.ask("tools/call", {"name": "claim", "arguments": {"wait_seconds": 60}})  # the end ends it
PY
}

@test "resources are listed, read, and tell when they change, in both eras" {
    py <<'PY'
from mcp_client import *
with Mcp("--as", "bob") as bob, Mcp("--as", "ann") as ann:
    bob.handshake()
    ann.tool("room_post", room="room-001", to="qa", type="done", ref="E-1", body="one", **{"from": "engineer"})
    uris = [r["uri"] for r in bob.call("resources/list")["resources"]]
    assert uris == ["inbox://bob", "room://room-001"], uris
    templates = bob.call("resources/templates/list")["resourceTemplates"]
    assert [t["uriTemplate"] for t in templates] == ["inbox://{identity}", "room://{room}", "handoff://{project}/{from}--{to}"]
    room = json.loads(bob.call("resources/read", {"uri": "room://room-001"})["contents"][0]["text"])
    assert [x["body"] for x in room["messages"]] == ["one"]
    assert bob.error("resources/read", {"uri": "room://../x"})["code"] == -32002
    assert bob.error("resources/read", {"uri": "file:///etc/passwd"}, modern=True)["code"] == -32602
    assert bob.call("resources/subscribe", {"uri": "inbox://bob"}) == {}
    assert bob.call("resources/subscribe", {"uri": "room://room-001"}) == {}
    ann.tool("emit", signal_type="pulse", to_identity="bob")
    assert bob.notification("notifications/resources/updated") == {"uri": "inbox://bob"}
    ann.tool("room_post", room="room-001", to="qa", type="done", ref="E-1", body="two")
    assert bob.notification("notifications/resources/updated") == {"uri": "room://room-001"}
    bob.call("resources/unsubscribe", {"uri": "room://room-001"})
    # modern: one request for all, its id on every notification
    want = {"notifications": {"resourceSubscriptions": ["room://room-001", "nonsense://x"], "toolsListChanged": True}}
    listen = bob.ask("subscriptions/listen", want, modern=True)
    ack = bob.notification("notifications/subscriptions/acknowledged")
    key = "io.modelcontextprotocol/subscriptionId"
    assert ack["_meta"][key] == listen and ack["notifications"] == {"resourceSubscriptions": ["room://room-001"]}, ack
    ann.tool("room_post", room="room-001", to="qa", type="done", ref="E-1", body="three")
    told = bob.notification("notifications/resources/updated")
    assert told["uri"] == "room://room-001" and told["_meta"][key] == listen, (told, bob.told)
    bob.say({"method": "notifications/cancelled", "params": {"requestId": listen}})
    bob.call("ping")  # it has heard of it
    ann.tool("room_post", room="room-001", to="qa", type="done", ref="E-1", body="four")
    ann.tool("emit", signal_type="pulse", to_identity="bob")
    assert bob.notification("notifications/resources/updated") == {"uri": "inbox://bob"}  # and no room before it
PY
}

@test "a list longer than a page has a cursor" {
    for i in $(seq -w 1 60); do mkdir -p ".war-rooms/room-0$i"; : >".war-rooms/room-0$i/channel.jsonl"; done
    py <<'PY'
from mcp_client import *
with Mcp("--as", "bob") as bob:
    one = bob.call("resources/list")
    two = bob.call("resources/list", {"cursor": one["nextCursor"]})
    assert len(one["resources"]) == 50 and len(two["resources"]) == 11 and "nextCursor" not in two
    assert bob.error("resources/list", {"cursor": "x"})["code"] == -32602
    for i in range(25):
        bob.tool("emit", signal_type="pulse", content=str(i), to_identity="bob")
    ok, one = bob.tool("inbox", limit=20)
    ok, two = bob.tool("inbox", limit=20, after=one["cursor"])
    assert len(one["signals"]) == 20 and len(two["signals"]) == 5 and "cursor" not in two
    for i in range(3):
        bob.tool("room_post", room="talk", to="qa", type="progress", ref="E", body=str(i))
    ok, first = bob.tool("room_read", room="talk", last=1)
    assert [x["body"] for x in first["messages"]] == ["2"]
    ok, all = bob.tool("room_read", room="talk")
    ok, rest = bob.tool("room_read", room="talk", after=all["messages"][0]["id"], last=1)
    assert [x["body"] for x in rest["messages"]] == ["1"] and rest["more"] is True, rest
PY
}

@test "a pipeline: its status, its handoffs as tool, resource and prompt, and a review answered by an agent" {
    mkdir -p team/roles
    cat >team/team.yml <<'YML'
name: "@local/try"
description: a gate that an agent decides
phases:
  - { name: build, agent: exec, commands: [ { name: one, run: "true" } ] }
  - { name: accept, type: gate, agent: hug, depends_on: [build], review: { reviewer: [bob] } }
YML
    "$CLIQ" init >said 2>&1 && "$CLIQ" assemble ./team >said 2>&1 && "$CLIQ" req -m "Do it" >said
    start run "$CLIQ" run --headless
    run=$PID
    until_true has_review
    py <<'PY'
from mcp_client import *
with Mcp("--as", "bob") as bob, Mcp("--as", "eve") as eve:
    ok, run = bob.tool("pipeline_status")
    assert ok and run["status"] == "RUNNING" and [p["phase"] for p in run["phases"]] == ["build", "accept"], run
    ok, hands = bob.tool("handoff")
    assert [(h["from"], h["to"]) for h in hands["handoffs"]] == [("build", "accept")], hands
    uri = hands["handoffs"][0]["uri"]
    assert uri in [r["uri"] for r in bob.call("resources/list")["resources"]]
    envelope = json.loads(bob.call("resources/read", {"uri": uri})["contents"][0]["text"])
    assert envelope == hands["handoffs"][0]["handoff"]
    prompt = bob.call("prompts/get", {"name": "handoff", "arguments": {"to": "accept"}})
    assert '"phase":"build"' in prompt["messages"][0]["content"]["text"]
    ok, why = bob.tool("handoff", to="nobody")
    assert not ok and "no handoff to nobody" in why
    ok, reviews = bob.tool("review")
    review = reviews["reviews"][0]
    assert review["state"] == "open" and review["is_yours"] is True, reviews
    ok, why = eve.tool("review", id=review["id"], verdict="approve")
    assert not ok and "eve" in why, why
    ok, doc = bob.tool("review", id=review["id"], verdict="approve", text="fine")
    assert ok and doc["state"] == "approve", doc
PY
    ended run "$run"
    "$CLIQ" status --json | field status | grep -x COMPLETED
}
has_review() { ls .cliq/reviews/*.json 2>/dev/null | grep -q .; }

@test "who the agent is: --as, CLIQ_IDENTITY, the phase of a run, else its client and directory" {
    mkdir -p "$T/my shop"
    py "$T/my shop" <<'PY'
import sys
from mcp_client import *
def who(m):
    return m.tool("emit", signal_type="pulse")[1]["from_identity"]
with Mcp("--as", "ruby", env={"CLIQ_IDENTITY": "ann", "CLIQ_PHASE": "build"}) as m:
    assert who(m) == "ruby"
with Mcp(env={"CLIQ_IDENTITY": "ann", "CLIQ_PHASE": "build"}) as m:
    assert who(m) == "ann"
with Mcp(env={"CLIQ_PHASE": "build"}) as m:
    assert who(m) == "build"
with Mcp(cwd=sys.argv[1]) as m:
    m.handshake(name="Claude Code/2")
    assert who(m) == "claude-my-shop", who(m)  # whatever it calls itself exactly
    assert m.tool("emit", modern=True, signal_type="pulse")[1]["from_identity"] == "test-client-my-shop"
PY
    got mcp --as "a b"
    refused 2 'identity "a b"'
}

@test "the same tools over HTTP: CLIQ_URL and CLIQ_KEY, the key says who" {
    "$CLIQ" serve --listen 127.0.0.1:0 >said 2>errors 3>&- &
    PIDS+=($!)
    until_true grep -q listening said
    url=$(sed -n 's/listening on //p' said | head -1)
    key=$("$CLIQ" key create --identity ruby --json | field key)
    CLIQ_URL=$url CLIQ_KEY=$key CLIQ_IDENTITY=ruby py <<'PY'
from mcp_client import *
with Mcp() as m:
    ok, s = m.tool("emit", signal_type="task", content="x", to_identity="ruby")
    assert ok and s["from_identity"] == "ruby", s
    ok, box = m.tool("inbox")
    assert [x["id"] for x in box["signals"]] == [s["id"]]
    assert m.call("resources/subscribe", {"uri": "inbox://ruby"}) == {}
    ok, got = m.tool("claim", wait_seconds=5)
    assert got["id"] == s["id"]
    wait = m.ask("tools/call", {"name": "claim", "arguments": {"wait_seconds": 30}})
    ok, s = m.tool("emit", signal_type="task", to_identity="ruby")
    assert json.loads(m.answer(wait)["result"]["content"][0]["text"])["id"] == s["id"]
    assert m.notification("notifications/resources/updated") == {"uri": "inbox://ruby"}
    ok, why = m.tool("ack", signal_id="signal:none")
    assert not ok and "no signal" in why, why
PY
    # without a name of its own the agent is, in files as well, who the key says
    CLIQ_URL=$url CLIQ_KEY=$key py <<'PY'
from mcp_client import *
with Mcp() as m:
    m.handshake(name="codex")
    assert [r["uri"] for r in m.call("resources/list")["resources"]] == ["inbox://ruby"]
    m.tool("room_post", room="talk", to="qa", type="done", ref="E", body="hi")
    ok, got = m.tool("room_read", room="talk")
    assert got["messages"][0]["from"] == "ruby", got
PY
}

@test "room_read without a room lists those that carry a task, and those that are only talked in" {
    py <<'PY'
from mcp_client import *
cliq = os.environ["CLIQ"]
subprocess.run([cliq, "room", "create", "room-001", "--ref", "TASK-1", "-m", "Build it"], check=True, capture_output=True)
with Mcp("--as", "ann") as m:
    m.tool("room_post", room="talk", to="qa", type="progress", ref="E", body="hi")
    ok, got = m.tool("room_read")
    assert ok and [r["room"] for r in got["rooms"]] == ["room-001", "talk"], got
    assert got["rooms"][0]["state"] and got["rooms"][1] == {"room": "talk"}, got
PY
}

@test "a store that was moved away while the server runs is found again" {
    py <<'PY'
from mcp_client import *
home = os.environ["CLIQ_HOME"]
with Mcp("--as", "ann") as m:
    assert m.tool("emit", signal_type="pulse", to_identity="ann")[0]
    os.rename(home, home + ".old")
    ok, why = m.tool("emit", signal_type="pulse", content="lost?", to_identity="ann")
    if not ok:  # said once
        ok, s = m.tool("emit", signal_type="pulse", content="new", to_identity="ann")
    assert ok and os.path.exists(home + "/signals/events.jsonl"), s
    ok, box = m.tool("inbox")
    assert ok and len(box["signals"]) == 1, box
PY
}

@test "a megabyte in a message is stored, more than the limit is refused, and the server goes on" {
    py <<'PY'
from mcp_client import *
with Mcp("--as", "ann") as m:
    ok, s = m.tool("emit", signal_type="pulse", content="x" * 1000000, to_identity="ann")
    assert ok and len(s["content"]) == 1000000
    ok, why = m.tool("emit", signal_type="pulse", content="x" * 2000000)
    assert not ok and "the limit is" in why, why[:300]
    m.raw('{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":"' + "y" * (17 << 20) + '"}}')
    assert m.take()["error"]["code"] == -32600
    assert m.call("ping") == {}
PY
}

@test "lease: files as the agent sees them, of the checkout it works in; a refusal names the holder" {
    mkdir -p "$T/shop/src" && git init -q "$T/shop" && git -C "$T/shop" remote add origin https://example.org/team/shop.git
    py "$T/shop" <<'PY'
import sys
from mcp_client import *
with Mcp("--as", "ann", cwd=sys.argv[1] + "/src") as ann, Mcp("--as", "bob", cwd=sys.argv[1]) as bob:
    ok, got = ann.tool("lease", action="take", paths=["main.c", sys.argv[1] + "/doc/"], ttl_seconds=60, reason="parser")
    assert ok and [l["path"] for l in got["leases"]] == ["src/main.c", "doc/**"], got
    assert got["leases"][0]["project"] == "git:example.org/team/shop" and got["leases"][0]["holder"] == "ann", got
    ok, why = bob.tool("lease", action="take", paths=["src/*.c"])
    assert not ok and "leased by ann until" in why and "parser" in why, why
    ok, got = bob.tool("lease", action="list")
    assert len(got["leases"]) == 2, got
    ok, got = bob.tool("lease", action="list", paths=["doc/x.md"])
    assert [l["path"] for l in got["leases"]] == ["doc/**"], got
    ok, got = bob.tool("lease", action="list", project="git:example.org/other")
    assert ok and got["leases"] == [], got
    ok, got = ann.tool("lease", action="release", paths=["main.c"])
    assert ok and len(got["leases"]) == 1, got
    ok, got = ann.tool("lease", action="release")
    assert ok and len(got["leases"]) == 1, got
    for args, says in [({"paths": ["a"]}, "lease needs action"), ({"action": "steal"}, "take, release, list"),
                       ({"action": "take"}, "paths"), ({"action": "take", "paths": ["../../x"]}, "outside"),
                       ({"action": "take", "paths": "a"}, "paths must be a list"), ({"action": "take", "paths": [1]}, "paths must be a list"),
                       ({"action": "release", "ttl_seconds": 3}, "ttl_seconds"), ({"action": "list", "paths": ["a", "b"]}, "one path"),
                       ({"action": "take", "paths": ["a"], "ttl_seconds": 0}, "ttl_seconds must be"),
                       ({"action": "take", "paths": ["a"], "project": 7}, "project must be")]:
        ok, why = bob.tool("lease", **args)
        assert not ok and says in why, (args, why)
PY
}
