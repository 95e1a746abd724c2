#!/usr/bin/env bats
# Reviews over HTTP: listed, read and answered as the key's identity; an answer starts a run that
# sleeps.
load pipeline
load human
load ../lib/serve

# The status of an answer; its body in $T/answer.
answers() { # KEY VERDICT [BODY]
    curl -sS -o "$T/answer" -w '%{http_code}' -X POST "$URL/reviews/$ID/$2" -H "Authorization: Bearer $1" \
        -H "Content-Type: application/json" -d "${3:-{\}}"
}
code_of() { json 'd["error"]["code"]' <"$T/answer"; }
run_ended() { says .cliq/run/journal.jsonl '"ev":"end"'; }
is_asleep() { [ -e .cliq/run/asleep ] && flock -n .cliq/run/lock true; }
reads() { # KEY PATH: the status
    curl -sS -o "$T/answer" -w '%{http_code}' "$URL$2" -H "Authorization: Bearer $1"
}

@test "reviewers list, read and answer; the run that slept goes on" {
    human_team
    ANN=$(key_of ann) BOB=$(key_of bob) EVE=$(key_of eve)
    got run --headless --detach
    waits 1
    until_true is_asleep
    is "[('$ID', 'accept', 'open', '$PWD', ['ann', 'bob'])]" \
        "$(look /reviews "$ANN" | json '[(r["id"],r["gate"],r["state"],r["project"],r["reviewers"]) for r in d["data"]]')"
    is "[]" "$(look /reviews "$EVE" | json 'd["data"]')"
    is 1 "$(look /reviews | json 'len(d["data"])')" # an admin, once for both tasks
    is 0 "$(look '/reviews?state=approve' "$ANN" | json 'len(d["data"])')"
    is 400 "$(reads "$ANN" '/reviews?state=odd')"
    is 200 "$(reads "$ANN" "/reviews/$ID")"
    is "work.txt open" "$(json 'd["data"]["artifacts"][0]["path"], d["data"]["state"]' <"$T/answer" | tr -d "(),'")"
    echo other >work.txt
    is changed "$(look "/reviews/$ID" "$BOB" | json 'd["data"]["artifacts"][0]["change"]')"
    is 403 "$(reads "$EVE" "/reviews/$ID")"
    is 404 "$(reads "$ANN" /reviews/none-1-abc)"
    is 401 "$(reads cho_none "/reviews/$ID")"
    # who may not, and answers that cannot be
    is 403 "$(answers "$EVE" approve)"
    is AUTH_FORBIDDEN "$(code_of)"
    is 403 "$(answers "$KEY" approve)" # an admin is no reviewer
    is 400 "$(answers "$ANN" reject)"
    is VALIDATION_FIELD_REQUIRED "$(code_of)"
    is 400 "$(answers "$ANN" changes '{"comment":"x","to":"ship"}')"
    is REVIEW_INVALID "$(code_of)"
    is 400 "$(answers "$ANN" approve '{"comment":"x","too":"ship"}')"
    is 403 "$(answers "$(key_of ann '["emit","inbox"]')" approve)" # without the scope
    # changes to plan, then approve
    is 200 "$(answers "$ANN" changes '{"comment":"another plan","to":"plan"}')"
    is "changes started" "$(json 'd["data"]["state"]+" "+d["data"]["next"]' <"$T/answer")"
    is 409 "$(answers "$BOB" approve)"
    is REVIEW_ANSWERED "$(code_of)"
    waits 2
    until_true is_asleep
    is "plan.1 build.1 plan.2 build.2" "$(starts)"
    is 200 "$(answers "$BOB" approve)"
    until_true run_ended
    status_is COMPLETED
    is "ann:cancelled ann:done bob:cancelled bob:done" "$(tasks)"
    is "approve changes" "$(look /reviews "$ANN" | json '" ".join(r["state"] for r in d["data"])')"
}

@test "artifacts and the diff are read as they were, by reviewers only, and no other file is" {
    human_team
    ANN=$(key_of ann) EVE=$(key_of eve)
    git init -q . && git config user.email t@example.org && git config user.name t
    echo before >old.txt && git add old.txt && git commit -qm first
    odd=$'<b>\xe2\x80\xae &#? .txt'
    printf '\0\1\377<script>' >"$odd"
    truncate -s 17M large.txt
    ln -s /etc/passwd link.txt
    got run --headless --detach
    waits 1
    until_true is_asleep
    echo after >work.txt
    is 200 "$(reads "$ANN" "/reviews/$ID/file?path=work.txt")"
    is "work 1" "$(<"$T/answer")"
    is 200 "$(curl -sS -G -D "$T/headers" -o "$T/answer" -w '%{http_code}' "$URL/reviews/$ID/file" --data-urlencode "path=$odd" -H "Authorization: Bearer $ANN")"
    cmp "$odd" "$T/answer"
    has "$(tr -d '\r' <"$T/headers")" "Content-Type: application/octet-stream"
    has "$(tr -d '\r' <"$T/headers")" "X-Content-Type-Options: nosniff"
    is 200 "$(reads "$KEY" "/reviews/$ID/diff")"
    has "$(<"$T/answer")" "+work 1"
    # what is no artifact, or was not kept
    for path in large.txt link.txt old/../work.txt ../$ID.json /etc/passwd work.txt/; do
        is 404 "$(reads "$ANN" "/reviews/$ID/file?path=$path")"
    done
    is 400 "$(reads "$ANN" "/reviews/$ID/file")"
    is 400 "$(reads "$ANN" "/reviews/$ID/file?path=")"
    ln -sf /etc/passwd ".cliq/reviews/$ID/files/work.txt"
    is 400 "$(reads "$ANN" "/reviews/$ID/file?path=work.txt")"
    # who may not
    for what in "file?path=old.txt" diff; do
        is 403 "$(reads "$EVE" "/reviews/$ID/$what")"
        is 403 "$(reads "$(key_of ann '["emit","inbox","stream","audit"]')" "/reviews/$ID/$what")"
        is 401 "$(reads cho_none "/reviews/$ID/$what")"
        is 404 "$(reads "$ANN" "/reviews/none-1-abc/$what")"
    done
}

@test "a task that names a review which does not know it shows nothing" {
    human_team
    EVE=$(key_of eve)
    got run --headless --detach
    waits 1
    send /emit "{\"signal_type\":\"task\",\"to_identity\":\"eve\",\"tags\":[\"review\"],\"metadata\":{\"review\":\"$ID\",\"project\":\"$PWD\"}}" "$EVE" >/dev/null
    is "[]" "$(look /reviews "$EVE" | json 'd["data"]')"
    is 403 "$(answers "$EVE" approve)"
    sed -i "s/\"identity\": \"bob\"/\"identity\": \"eve\"/" ".cliq/reviews/$ID.json" # even then: not its task
    is "[]" "$(look /reviews "$EVE" | json 'd["data"]')"
}

@test "require all, an orchestrator that runs, and one that died: the answer tells what follows" {
    human_team "require: all"
    ANN=$(key_of ann) BOB=$(key_of bob)
    asks
    is 200 "$(answers "$ANN" approve '{"comment":"good"}')"
    is "open others" "$(json 'd["data"]["state"]+" "+d["data"]["next"]' <"$T/answer")"
    is "[(['ann', 'bob'], ['bob'])]" "$(look /reviews "$ANN" | json '[(r["reviewers"], r["awaits"]) for r in d["data"]]')"
    is 409 "$(answers "$ANN" approve)"
    is 200 "$(answers "$BOB" approve)"
    is "[[]]" "$(look /reviews "$ANN" | json '[r["awaits"] for r in d["data"]]')"
    is "approve runs" "$(json 'd["data"]["state"]+" "+d["data"]["next"]' <"$T/answer")"
    ended run "$RUN"
    code_is 0
    start_run again
    RUN=$PID
    until_true is_new
    waits 1
    kill -KILL "$RUN"
    until_true gone "$RUN"
    is 200 "$(answers "$ANN" reject '{"comment":"no"}')"
    is "reject resume" "$(json 'd["data"]["state"]+" "+d["data"]["next"]' <"$T/answer")"
    run_is 3 --resume
    has "$out" "ann rejected: no"
}
is_new() { [ "$(ls .cliq/reviews/*.json 2>/dev/null | wc -l)" = 0 ] || ! ls ".cliq/reviews/$ID.json" >/dev/null 2>&1; }
