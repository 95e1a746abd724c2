#!/usr/bin/env bats
# A room and an inbox of the hub: a role's work is a task there, and the answer goes back into the room.
load ../lib/cli
load ../lib/room

task_id() { cliq inbox reviewer --json | json 'd[-1]["id"] if d else ""'; }
has_task() { [ -n "$(task_id)" ]; }

@test "a reviewer works from an inbox: the message is a task, the answer is the verdict" {
    three_roles
    role qa <<<'exec "$CLIQ" room ask reviewer'
    cliq role add reviewer >/dev/null
    REF=EPIC-001 a_room room-001
    a_manager
    until_true has_task
    has "$(cliq inbox reviewer --json | json 'd[0]["content"]')" "did it"
    is "room-001 qa" "$(cliq inbox reviewer --json | json '"%(room)s %(role)s" % d[0]["metadata"]')"
    local first
    first=$(task_id)
    cliq emit answer $'No test.\nVERDICT: FAIL' --parent "$first" >/dev/null
    until_true has_lines "$T/starts" 4
    until_true eval '[ "$(cliq inbox reviewer --json | json "len(d)")" = 2 ]'
    cliq emit answer 'VERDICT: PASS' --parent "$(cliq inbox reviewer --json | json '[s["id"] for s in d if s["id"] != "'"$first"'"][0]')" >/dev/null
    ended manager "$PID"
    code_is 0
    is "task done review fail fix done pass" "$(types room-001)"
    has "$(cliq channel read --room room-001 --type fail | json 'd[0]["body"]')" "No test."
}

@test "a manager that is killed while an inbox is asked finds the answer, and asks once" {
    role engineer <<<'cat >/dev/null; echo fine'
    role qa <<<'exec "$CLIQ" room ask reviewer'
    cliq role add reviewer >/dev/null
    a_room room-001
    a_manager
    until_true has_task
    kill -TERM "$PID" # the process is stopped, and asked again
    ended manager "$PID"
    cliq emit answer 'VERDICT: PASS' --parent "$(task_id)" >/dev/null
    got room run
    code_is 0
    is 1 "$(cliq inbox reviewer --view history --json | json 'len(d)')"
}

@test "an agent plays a role over MCP: it sees which room waits for whom, and posts" {
    role engineer <<<'cat >/dev/null; echo fine'
    a_room room-001
    a_manager
    until_true told "waits for a person as qa"
    PYTHONPATH=$BATS_TEST_DIRNAME/../lib $PY - <<'PY'
from mcp_client import *
with Mcp("--as", "bob") as bob:
    ok, all = bob.tool("room_read")
    assert ok and [(r["room"], r["role"], r["player"]) for r in all["rooms"]] == [("room-001", "qa", "person")], all
    ok, one = bob.tool("room_read", room="room-001")
    assert ok and (one["state"], one["role"], len(one["messages"])) == ("review", "qa", 2), one
    ok, posted = bob.tool("room_post", room="room-001", **{"from": "qa", "to": "manager", "type": "pass", "ref": "room-001", "body": "fine"})
    assert ok and posted["id"].startswith("qa-pass-"), posted
PY
    ended manager "$PID"
    code_is 0
    is "task done pass" "$(types room-001)"
}
