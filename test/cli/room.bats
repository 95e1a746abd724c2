#!/usr/bin/env bats
# cliq room create, list, status, signoff, archive: rooms as directories that other tools read, too.
load ../lib/cli

field() { # FILE EXPRESSION
    $PY -c "import json,sys; d=json.load(open(sys.argv[1])); print($2)" "$1"
}
json() { $PY -c "import json,sys; d=json.load(sys.stdin); print($1)"; }
a_room() { cliq room create "${1:-room-001}" --ref "${2:-EPIC-001}" -m "${3:-Add a shell function}" "${@:4}" >/dev/null; }

@test "a new room has the layout of the page, its task in its channel, and is pending" {
    got room create room-001 --ref EPIC-001 -m $'A function add\nthat prints the sum' --roles engineer,security,qa --max-retries 2 --timeout 90s
    succeeds
    is "$PWD/.war-rooms/room-001" "$out"
    local r=.war-rooms/room-001
    is "pending 0 EPIC-001" "$(cat $r/status $r/retries $r/task-ref | paste -sd' ')"
    like "$(cat $r/state_changed_at)" '^[0-9]+$'
    is "('room-001', 'EPIC-001', 'A function add', 'engineer', 'epic', 2, 90)" \
        "$(field $r/config.json '(d["room_id"], d["task_ref"], d["assignment"]["title"], d["assignment"]["assigned_role"], d["assignment"]["type"], d["constraints"]["max_retries"], d["constraints"]["timeout_seconds"])')"
    is "['engineer', 'security', 'qa']" "$(field $r/config.json 'd["assignment"]["candidate_roles"]')"
    is "2 developing ['developing', 'optimize', 'review', 'review-2', 'triage', 'failed', 'passed', 'failed-final']" \
        "$(field $r/lifecycle.json 'd["version"], d["initial_state"], list(d["states"])' | tr -d "()" | sed "s/, 'developing', \[/ developing [/")"
    got channel read --room room-001
    is "('manager', 'engineer', 'task', 'EPIC-001')" "$(json 'tuple(d[0][k] for k in ("from","to","type","ref"))' <"$T/out")"
    has "$(json 'd[0]["body"]' <"$T/out")" "that prints the sum"
    like "$(cat $r/audit.log)" '^[0-9T:Z-]+ STATUS new -> pending$'
}

@test "an existing room, a bad name, bad roles and a missing task are refused, and leave nothing" {
    a_room
    got room create room-001 -m other
    refused 5 "exists already"
    got room create ../x -m other
    refused 2 "bad room name"
    got room create room-002 -m other --roles qa
    refused 2 "qa cannot review its own work"
    got room create room-002
    refused 2 "--task FILE, or -m TEXT"
    got room create room-002 -m " "
    refused 2 "the task of the room room-002 is empty"
    got room create room-002 --task nowhere.md
    refused 4 "nowhere.md"
    got room create room-002 -m x --depends-on room-002
    refused 2 "cannot depend on itself"
    printf '{"version":2}' >bad.json
    got room create room-002 -m x --lifecycle bad.json
    refused 2 "lifecycle.json"
    is "room-001" "$(ls -A .war-rooms | paste -sd' ')"
}

@test "the task comes from a file or from standard input" {
    printf '# Sign in\n\nWith a password.\n' >brief.md
    a_room room-001
    cliq room create room-002 --task brief.md >/dev/null
    cliq room create room-003 --task - <brief.md >/dev/null
    is "['Add a shell function', 'Sign in', 'Sign in']" "$(cliq room list --json | json '[r["title"] for r in d]')"
    has "$(cat .war-rooms/room-003/brief.md)" "With a password."
}

@test "a room that depends on one that is not there yet is made, with a warning; a reference is found" {
    got room create room-002 -m x --depends-on room-001
    code_is 0
    has "$err" "there is no room room-001 yet"
    a_room room-001 EPIC-001
    got room create room-003 -m x --depends-on EPIC-001
    succeeds
    is "['room-001'] ['room-001']" "$(cliq room status --json | json '"%s %s" % tuple(r["waits_for"] for r in d["rooms"][1:])')"
}

@test "list and status say what each room waits for" {
    a_room room-001
    a_room room-002 EPIC-002 Second --depends-on room-001
    got room list
    succeeds
    like "$out" 'room-002 +EPIC-002 +pending +0 of 3 +1 +room-001'
    got room status --json
    succeeds
    is "{'total': 2, 'pending': 2}" "$(json 'd["summary"]' <"$T/out")"
    is "[('ready', []), ('waiting', ['room-001'])]" "$(json '[(r["readiness"], r["waits_for"]) for r in d["rooms"]]' <"$T/out")"
    got room status room-01
    refused 4 "did you mean room-00"
}

@test "rooms are read in natural order; conversations without a config are no rooms" {
    local n
    for n in 10 2 1; do a_room "room-$n"; done
    post talk hello >/dev/null
    is "['room-1', 'room-2', 'room-10']" "$(cliq room list --json | json '[r["room"] for r in d]')"
    got room status talk
    refused 4 "conversation only"
}

@test "without rooms the list is empty, and says how to make one" {
    got room list
    code_is 0
    has "$err" "cliq room create"
    is "[]" "$(cliq room list --json)"
}

@test "sign-off is refused unless the room passed, and for a role that it has not" {
    a_room
    got room signoff room-001 --from qa -m "fine"
    refused 5 "state pending"
    echo passed >.war-rooms/room-001/status
    got room signoff room-001 --from painter -m "fine"
    refused 2 "no role painter"
    got room signoff room-001 --from qa -m "QA approves release."
    succeeds
    like "$out" '^qa-signoff-[0-9]+-[0-9]+$'
    is "['qa'] ['engineer']" "$(cliq room status room-001 --json | json 'str(d["signed"]) + " " + str(d["unsigned"])')"
    has "$(cat .war-rooms/RELEASE.md)" "Status: Draft"
    got room signoff room-001 --from engineer -m - --json <<<"Done."
    succeeds
    is "room-001 engineer" "$(json 'd["room"] + " " + d["from"]' <"$T/out")"
    is "$(json 'd["id"]' <"$T/out") 'Done.\n'" "$(cliq channel read --room room-001 --last 1 | json 'd[0]["id"] + " " + repr(d[0]["body"])')"
    has "$(cat .war-rooms/RELEASE.md)" "Status: Approved"
}

@test "an archived room keeps its files and is listed no more" {
    a_room
    got room archive room-001
    succeeds
    like "$out" '/\.war-rooms/\.archives/room-001-[0-9]{8}-[0-9]{6}$'
    [ -s "$out/channel.jsonl" ]
    is "[]" "$(cliq room list --json)"
    a_room # the name is free again
    got room archive room-001 --json
    succeeds
    [ -s "$(json 'd["path"]' <"$T/out")/channel.jsonl" ]
}

@test "a room that another tool made is read: its state is that of its files" {
    mkdir -p .war-rooms/room-009
    cd .war-rooms/room-009
    cat >config.json <<'END'
{"room_id": "room-009", "task_ref": "TASK-7", "plan_id": null, "depends_on": [], "created_at": "2026-04-03T11:19:34Z",
 "assignment": {"title": "Paint it", "description": "Paint it black", "assigned_role": "engineer", "candidate_roles": ["engineer", "qa"], "type": "task"},
 "goals": {"definition_of_done": ["black"], "acceptance_criteria": [], "quality_requirements": {"test_coverage_min": 80}},
 "constraints": {"max_retries": 3, "timeout_seconds": 900, "budget_tokens_max": 500000},
 "status": {"current": "review", "retries": 1, "started_at": null}}
END
    printf 'review\n' >status
    printf '1' >retries
    printf '1775215174\n' >state_changed_at
    printf '{"v": 1, "id": "engineer-done-1-2", "ts": "2026-04-03T11:19:34Z", "from": "engineer", "to": "qa", "type": "done", "ref": "TASK-7", "body": "fertig \\u00fc"}\nnot json\n{"from":"system","to":"all","type":"state_changed","ts":"2026-04-03T11:20:00.000001+00:00","ref":"review","body":""}\n' >channel.jsonl
    cd ../..
    got room status room-009 --json
    succeeds
    is "('review', 1, 'qa', 'person', 2, 1)" "$(json '(d["state"], d["retries"], d["role"], d["player"], d["messages"], d["bad_lines"])' <"$T/out")"
    got room status room-009
    has "$out" "a person as qa"
}

# room_of_the_original ROOM REF DEPENDS_ON CANDIDATES: as its PowerShell makes it, where a list of one may be a text,
# a role may have a suffix, and dependencies are references.
room_of_the_original() {
    mkdir -p ".war-rooms/$1/pids" ".war-rooms/$1/artifacts"
    cat >".war-rooms/$1/config.json" <<END
{"room_id": "$1", "task_ref": "$2", "plan_id": "p", "depends_on": $3, "created_at": "2026-04-03T11:19:34Z", "working_dir": null,
 "assignment": {"title": "Paint", "description": "Paint it", "assigned_role": "engineer:fe", "candidate_roles": $4, "type": "epic"},
 "goals": {"definition_of_done": null, "acceptance_criteria": "black", "quality_requirements": {"test_coverage_min": 80, "lint_clean": true}},
 "constraints": {"max_retries": 3, "timeout_seconds": 900, "budget_tokens_max": 500000},
 "status": {"current": "pending", "retries": 0, "started_at": null, "last_state_change": "2026-04-03T11:19:34Z"}}
END
    : >".war-rooms/$1/channel.jsonl"
    printf 'pending' >".war-rooms/$1/status"
    printf '0' >".war-rooms/$1/retries"
}

@test "rooms of the original with lists of one, suffixes of roles and dependencies by reference are read" {
    room_of_the_original room-000 PLAN-REVIEW null '"engineer:fe"'
    room_of_the_original room-001 EPIC-001 '"PLAN-REVIEW"' '["engineer:be", "qa"]'
    room_of_the_original room-002 EPIC-002 '["PLAN-REVIEW", "EPIC-001"]' '["manager", "engineer", "architect"]'
    got room status --json
    succeeds
    is "[('ready', []), ('waiting', ['room-000']), ('waiting', ['room-000', 'room-001'])]" "$(json '[(r["readiness"], r["waits_for"]) for r in d["rooms"]]' <"$T/out")"
    is "['engineer'] ['engineer', 'qa'] ['black']" "$(json '"%s %s %s" % (d["rooms"][0]["roles"], d["rooms"][1]["roles"], d["rooms"][0]["acceptance_criteria"])' <"$T/out")"
    has "$(cliq room graph)" "<- room-000, room-001"
}

@test "a room that the shell scripts of the original made has no config.json, and is read all the same" {
    mkdir -p .war-rooms/room-001/pids
    cd .war-rooms/room-001
    printf '# Task: TASK-001\n\nPaint it\n' >task.md
    echo qa-review >status
    echo 0 >retries
    echo TASK-001 >task-ref
    printf '{"v": 1, "id": "manager-task-1-1", "ts": "2026-03-11T11:19:34Z", "from": "manager", "to": "engineer", "type": "task", "ref": "TASK-001", "body": "Paint it"}\n' >channel.jsonl
    printf '{"v": 1, "id": "engineer-done-2-2", "ts": "2026-03-11T11:20:34Z", "from": "engineer", "to": "qa", "type": "done", "ref": "TASK-001", "body": "black"}\n' >>channel.jsonl
    cd ../..
    got room list --json
    succeeds
    is "TASK-001 qa-review" "$(json 'd[0]["ref"] + " " + d[0]["state"]' <"$T/out")"
    got room run --once # its channel says where it stands
    code_is 3
    is "review qa" "$(cliq room status room-001 --json | json 'd["state"] + " " + d["role"]')"
    post room-001 fine qa manager pass TASK-001 >/dev/null
    got room run --once
    code_is 0
}

@test "settings say what plays a role; both an agent and a command are refused" {
    mkdir .cliq
    a_room
    echo review >.war-rooms/room-001/status
    cliq settings roles.qa.command 'echo VERDICT: PASS' >/dev/null
    is "command" "$(cliq room status room-001 --json | json 'd["player"]')"
    cliq settings roles.qa.agent claude-code >/dev/null
    got room status room-001
    refused 2 "roles.qa.agent and roles.qa.command are both set"
}
