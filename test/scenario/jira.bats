#!/usr/bin/env bats
# The connector jira in real runs, at test/services/jira.py.
load connectors

site() {
    service jira
    setting base_url "$URL/"
    setting email ann@example.org
    setting api_token jira-t0ken
}

@test "an issue becomes a file, and its members data" {
    site
    fetches get_issue '{ name: issue.json, ref: PROJ-1 }'
    works
    is "It fails: PROJ-1" "$(field .cliq/files/move/issue.json fields summary)"
    is "It fails: PROJ-1" "$(handoff sources issue.json summary)"
    is Open "$(handoff sources issue.json status)"
    is "$URL/browse/PROJ-1" "$(handoff sources issue.json url)"
    is $'First\nline\n- one' "$(handoff sources issue.json description)"
    in_no_file jira-t0ken "$(printf 'ann@example.org:jira-t0ken' | base64)"
}

@test "comments and searches are read to their last page, or to the limit" {
    site
    phase <<'END'
action: get_comments
sources:
  - { name: comments.json, ref: PROJ-1 }
  - { name: all.json, ref: "project = PROJ ORDER BY created", action: search }
  - { name: three.json, ref: "project = PROJ", action: search, limit: 3, fields: [summary] }
END
    works
    is 5 "$(handoff sources comments.json count)"
    is 104 "$(field .cliq/files/move/comments.json 4 id)"
    is 5 "$(handoff sources all.json count)"
    is PROJ-5 "$(field .cliq/files/move/all.json 4 key)"
    is "project = PROJ ORDER BY created" "$(asked_body 4 jql)"
    is "at 2" "$(asked_body 5 nextPageToken)"
    is 3 "$(handoff sources three.json count)"
    is '["summary"]' "$(asked_body 7 fields)"
    is 8 "$(n_asked)"
}

@test "a comment, a transition by either name, and a new issue" {
    site
    printf 'One "quoted" line\nand a second.\n\n\nA new paragraph, <b>.\n' >text.md
    phase <<'END'
action: add_comment
target_entries:
  - { name: note, ref: PROJ-1, file: text.md }
  - { name: begin, ref: PROJ-1, action: transition, to: start WORK }
  - { name: done, ref: PROJ-1, action: transition, to: Done }
  - { name: bug, ref: PROJ, action: create_issue, summary: It fails, issue_type: Bug, labels: [a], file: text.md }
END
    works
    is '[{"type": "text", "text": "One \"quoted\" line"}, {"type": "hardBreak"}, {"type": "text", "text": "and a second."}]' \
        "$(asked_body 1 body content 0 content)"
    is "A new paragraph, <b>." "$(asked_body 1 body content 1 content 0 text)"
    is "$URL/browse/PROJ-1?focusedCommentId=900" "$(handoff targets note url)"
    is "In Progress" "$(handoff targets begin status)"
    is Close "$(handoff targets done transition)"
    is PROJ-2 "$(handoff targets bug key)"
    is '["a"]' "$(asked_body 6 fields labels)"
    has "$(signals)" '"message":"target done: jira transition PROJ-1"'
}

@test "what jira refuses is told, and comments are not written twice" {
    site
    echo x >f
    fetches get_issue '{ name: i, ref: PROJ-9 }'
    fails "source i: $URL/rest/api/3/issue/PROJ-9 answered 404: " "Issue does not exist"
    delivers transition '{ name: t, ref: PROJ-1, to: Reopen }'
    fails "target t: PROJ-1 has no transition to Reopen now; these are: Start work, Close"
    fetches get_comments '{ name: i, ref: .. }'
    fails "source i: its ref must not end in . or .."
    rm "$T/requests"
    echo 502 >"$T/faults"
    delivers add_comment '{ name: c, ref: PROJ-1, file: f }'
    fails "answered 502"
    is 1 "$(n_asked)"
    printf '429 1\n429 0\n' >"$T/faults"
    delivers add_comment '{ name: c, ref: PROJ-1, file: f }'
    works
    is 4 "$(n_asked)"
    setting api_token other-t0ken
    fetches get_issue '{ name: i, ref: PROJ-1 }'
    fails "answered 401: " "Client must be authenticated" "; check the settings agents.jira.email and agents.jira.api_token"
    in_no_file other-t0ken
}

@test "a missing setting is told with the command that sets it" {
    service jira
    fetches get_issue '{ name: i, ref: PROJ-1 }'
    has "$err$(signals)" base_url
    [ ! -e "$T/requests" ]
}

@test "a test message asks the service whether the key is good" {
    site
    message() {
        printf '{"version":1,"type":"test","agent":"jira","instance_id":"t1","project_dir":"%s","work_dir":"%s",
            "signal_dir":"%s","settings":{"base_url":"%s","email":"ann@example.org","api_token":"%s"},"payload":{}}' \
            "$PWD" "$PWD" "$PWD/.cliq/signals" "$URL" "$1"
    }
    got agent jira < <(message jira-t0ken)
    code_is 0
    has "$(cat .cliq/signals/_test-jira-t1.jsonl)" "$URL accepts the key"
    rm .cliq/signals/_test-*
    got agent jira < <(message other-t0ken)
    has "$(cat .cliq/signals/_test-jira-t1.jsonl)" '"passed":false'
    lacks "$(cat .cliq/signals/_test-jira-t1.jsonl)" other-t0ken
}

@test "a notification becomes a comment of its channel's issue" {
    site
    tell() {
        printf '{"version":1,"type":"notify","agent":"jira","instance_id":"n1","team_name":"@local/x","project_dir":"%s","signal_dir":"%s",
            "settings":{"base_url":"%s","email":"ann@example.org","api_token":"jira-t0ken","channels":{"ops":{%s}}},
            "payload":{"id":"n1","notifications":[{"event":"on_fail","channel":"ops","phase_name":"build","reason":"no disk"}]}}' \
            "$PWD" "$PWD/.cliq/signals" "$URL" "$1" >"$T/message"
        got agent jira <"$T/message"
    }
    tell '"issue":"PROJ-1"'
    code_is 0
    is POST "$(asked 1 method)"
    is /rest/api/3/issue/PROJ-1/comment "$(asked 1 path)"
    has "$(asked 1 body)" "no disk"
    tell ''
    code_is 1
    has "$err" channels.ops.issue
    tell '"issue":"PROJ-9"'
    code_is 1
    has "$err" 404
    in_no_file jira-t0ken
}
