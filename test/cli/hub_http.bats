#!/usr/bin/env bats
# The hub commands over HTTP.
load ../lib/cli
load ../lib/hub

@test "over HTTP: the same arguments, the documented request, the same output" {
    hub_server
    answers '200 {"data":{"id":"signal:abc","signal_type":"task"},"meta":{"request_id":"r"}}'
    got emit task "Review" --to-role dev --urgency 0.8
    succeeds
    is signal:abc "$out"
    is POST "$(asked 1 method)"
    is /emit "$(asked 1 path)"
    is '{"to_role":"dev","urgency":0.8,"signal_type":"task","content":"Review"}' "$(asked 1 body)"
    is "Bearer cho_test" "$(asked 1 headers | field authorization)"
    like "$(asked 1 headers | field idempotency-key)" '^[0-9a-f]{32}$'
    answers '200 {"data":[{"id":"signal:x","content":"hi"}],"meta":{"cursor":"c-1"}}'
    got inbox @ruby --type a --type b:c --limit 5 --include-snoozed
    code_is 0
    is $'signal:x\t\t\t\t\t\t\thi' "$out"
    has "$err" "--after c-1"
    is GET "$(asked 2 method)"
    is "/inbox/@ruby?type=a,b:c&limit=5&include_snoozed=true" "$(asked 2 path)"
    answers '200 {"data":[],"meta":{}}'
    got thread 'signal:a/b?c'
    is "/thread/signal:a%2Fb%3Fc" "$(asked 3 path)"
    answers '200 {"ok":true,"signal":{"id":"xyz","type":"a:b"}}'
    got signal generate a:b --data '{"n":1}' --json
    succeeds
    is '{"id":"xyz","type":"a:b"}' "$out"
    is /v1/engine/signals/generate "$(asked 4 path)"
    answers '200 {"ok":true,"removed":2}'
    got signal cancel --repeat-key 'k 1'
    is 2 "$out"
    is DELETE "$(asked 5 method)"
    is '/v1/engine/signals/delayed?repeatKey=k%201' "$(asked 5 path)"
    [ ! -e "$CLIQ_HOME/signals" ]
}

@test "over HTTP: a server's error becomes an exit code and a message" {
    hub_server
    local status code want
    while read -r status name want; do
        answers "$status {\"error\":{\"code\":\"$name\",\"message\":\"said so\",\"request_id\":\"r\"}}"
        got ack signal:x --url "$CLIQ_URL/"
        refused "$want" "said so"
    done <<'END'
400 VALIDATION_FIELD_REQUIRED 2
401 AUTH_REQUIRED 7
403 AUTH_FORBIDDEN 7
404 SIGNAL_NOT_FOUND 4
409 SIGNAL_CLAIM_CONFLICT 5
413 BODY_TOO_LARGE 2
421 WRONG_HOST 7
END
    answers '400 {"ok":false,"error":"Invalid query"}'
    got signal events
    refused 2 "Invalid query"
    answers '200 <html>'
    got signal events
    refused 74 "is it a cliq server?"
    answers '200 {"data":null,"meta":{}}'
    got claim
    refused 4 "nothing to claim"
}

@test "over HTTP: a failed emit is repeated with the same idempotency key; key create is not repeated" {
    hub_server
    answers '503 {"error":{"code":"STORE_UNAVAILABLE","message":"full"}}' '200 {"data":{"id":"signal:x"}}'
    got emit task x
    succeeds
    is 2 "$(wc -l <"$T/requests")"
    is "$(asked 1 headers | field idempotency-key)" "$(asked 2 headers | field idempotency-key)"
    answers 'x' 'x' '503 {"error":{"code":"STORE_UNAVAILABLE","message":"full"}}'
    got key create --identity x
    refused 74 "full" "try again"
    is 3 "$(wc -l <"$T/requests")"
}

@test "over HTTP: claim --wait asks again until its timeout" {
    hub_server
    answers '200 {"data":null,"meta":{"warnings":["no dev"]}}' '200 {"data":null,"meta":{}}' '200 {"data":null,"meta":{}}' \
        '200 {"data":{"id":"signal:x","claim_id":"c"},"meta":{}}'
    got claim --wait 90 --role dev
    code_is 0
    is signal:x "$out"
    has "$err" "no dev"
    is '{"role":"dev"}' "$(asked 1 body)" # at once: a wrong role is told before the wait
    is '{"role":"dev","wait_seconds":60}' "$(asked 2 body)"
    is 4 "$(wc -l <"$T/requests")"
}

@test "over HTTP: an unsupported command says what to do instead" {
    export CLIQ_URL=http://127.0.0.1:1 CLIQ_KEY=cho_x
    for words in "watch" "signal watch"; do
        got $words
        refused 74 "connect to 127.0.0.1:1: Connection refused"
    done
    for url in ftp://x http:// http://a@b 'http://a?b' http://a:x http://a:1:2 http://a:123456 unix:x 'http://[::1' 'http://a b'; do
        got inbox @x --url "$url"
        refused 2 "the server's URL" "$url"
    done
    for words in "hub check" "hub rebuild" "hub stats" "hub compact" "signal pump"; do
        got $words
        refused 2 "cliq $words works on the files" http://127.0.0.1:1
        CLIQ_KEY= got $words
        refused 2 "cliq $words works on the files"
        CLIQ_URL= got $words --url http://127.0.0.1:1 # an option that its help does not list
        refused 2 "unknown option --url"
    done
    got ack x --as bob
    refused 2 "leave --as away"
    got key create --identity x
    refused 74
    CLIQ_KEY=$'a\nb' got ack x
    refused 7 "not a key"
}
