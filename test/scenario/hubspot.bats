#!/usr/bin/env bats
# The connector hubspot in real runs, at test/services/hubspot.py.
load connectors

crm() {
    service hubspot
    setting base_url "$URL"
    setting api_key pat-t0ken
}

@test "one record, a list and searches, to the last page" {
    crm
    fetches get '{ name: c.json, ref: contacts/101, properties: [ email ] }' '{ name: l.json, ref: contacts, action: list }' \
        '{ name: s.json, ref: contacts, action: search, query: example.org }' \
        '{ name: f.json, ref: contacts, action: search, filters: [ { propertyName: email, operator: EQ, value: p3@example.org } ] }'
    works
    is '{"email": "p1@example.org"}' "$(field .cliq/files/move/c.json properties)"
    is p1@example.org "$(handoff sources c.json email)"
    is 101 "$(handoff sources c.json id)"
    is 5 "$(handoff sources l.json count)"
    is 5 "$(handoff sources s.json count)"
    is 104 "$(field .cliq/files/move/s.json 4 id)"
    is 1 "$(handoff sources f.json count)"
    is 8 "$(n_asked)"
    in_no_file pat-t0ken
}

@test "records are created and updated, and get notes" {
    crm
    echo '{"properties":{"dealname":"Bigger"}}' >deal.json
    echo 'Called, "fine".' >n.md
    delivers create '{ name: new, ref: contacts, properties: { email: new@example.org } }' \
        '{ name: deal, ref: deals/7, action: update, file: deal.json }' '{ name: note, ref: contacts/101, action: add_note, file: n.md }'
    works
    is 905 "$(handoff targets new id)"
    is PATCH "$(asked 2 method)"
    is Bigger "$(asked_body 2 properties dealname)"
    is 'Called, "fine".' "$(asked_body 3 properties hs_note_body)"
    is 900 "$(handoff targets note id)"
}

@test "what hubspot refuses is told, and nothing is created twice" {
    crm
    delivers create '{ name: new, ref: contacts, properties: { email: p1@example.org } }'
    fails "target new: $URL/crm/v3/objects/contacts answered 409: " "Contact already exists"
    for ref in people/1 contacts/ contacts; do
        fetches get "{ name: x, ref: $ref }"
        fails "source x: its ref must"
    done
    delivers create '{ name: new, ref: contacts }'
    fails "target new: it has neither properties nor a file"
    rm "$T/requests"
    echo 502 >"$T/faults"
    delivers create '{ name: new, ref: contacts, properties: { email: x@example.org } }'
    fails "answered 502"
    is 1 "$(n_asked)"
    setting api_key other-t0ken
    fetches get '{ name: x, ref: contacts/101 }'
    fails "answered 401: " "; check the settings agents.hubspot.api_key"
    in_no_file other-t0ken
}
