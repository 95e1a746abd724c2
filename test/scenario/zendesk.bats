#!/usr/bin/env bats
# The connector zendesk in real runs, at test/services/zendesk.py.
load connectors

site() {
    service zendesk
    setting base_url "$URL"
    setting email ann@example.org
    setting api_token zd-t0ken
}

@test "a ticket, its comments and a search, to the last page" {
    site
    fetches get_ticket '{ name: t.json, ref: 42 }' \
        '{ name: c.json, ref: 42, action: get_comments }' '{ name: s.json, ref: "type:ticket a b", action: search }'
    works
    is "It fails" "$(handoff sources t.json subject)"
    is "$URL/agent/tickets/42" "$(handoff sources t.json url)"
    is 3 "$(handoff sources c.json count)"
    is "comment 2" "$(field .cliq/files/move/c.json 2 body)"
    is 5 "$(handoff sources s.json count)"
    is 6 "$(n_asked)"
    in_no_file zd-t0ken
}

@test "a search of more tickets than Zendesk gives ends there, and says so" {
    site
    fetches search '{ name: s.json, ref: many }' '{ name: few.json, ref: many, limit: 20 }'
    works
    is 1000 "$(handoff sources s.json count)"
    is 20 "$(handoff sources few.json count)"
    is 1 "$(signals | grep -c "there are more than 1000 items; these are the first 1000")"
}

@test "comments, a status and a new ticket" {
    site
    printf 'An answer, "quoted".\n' >a.md
    delivers add_comment '{ name: a, ref: 42, file: a.md }' '{ name: note, ref: 42, file: a.md, public: false }' \
        '{ name: s, ref: 42, action: update_status, status: solved }' \
        '{ name: new, action: create_ticket, subject: New, priority: low, tags: [x], file: a.md }'
    works
    is $'An answer, "quoted".\n' "$(asked_body 1 ticket comment body)"$'\n'
    is true "$(asked_body 1 ticket comment public)"
    is false "$(asked_body 2 ticket comment public)"
    is '{"ticket": {"status": "solved"}}' "$(asked_body 3)"
    is solved "$(handoff targets s status)"
    is 43 "$(handoff targets new id)"
    is '["x"]' "$(asked_body 4 ticket tags)"
}

@test "a ticket is created once, even when the answer was lost; a comment is not repeated" {
    site
    echo x >f
    printf '502\n' >"$T/faults"
    delivers create_ticket '{ name: new, subject: New, file: f }'
    works
    is "$(asked 1 headers idempotency-key)" "$(asked 2 headers idempotency-key)"
    printf '502\n' >"$T/faults"
    delivers add_comment '{ name: a, ref: 42, file: f }'
    fails "answered 502"
    is 3 "$(n_asked)"
}

@test "what zendesk refuses is told" {
    site
    delivers update_status '{ name: s, ref: 42, status: done }'
    fails "target s: $URL/api/v2/tickets/42.json answered 422: " RecordInvalid
    fetches get_ticket '{ name: t, ref: 7 }'
    fails "answered 404: " RecordNotFound
    delivers create_ticket '{ name: new, file: f }'
    fails "target new: it has no subject"
}
