#!/usr/bin/env bats
# Gates that people decide: a review is made, its reviewers are told, one answer decides, and all of
# it survives the death of any process.
load pipeline
load human

@test "approve passes the gate; the review told what there is to decide" {
    human_team
    asks
    until_true says "$T/told" hug_review
    is "hug_review ann accept $ID ann" "$(head -1 "$T/told" | $PY -c 'import json,sys; n=json.loads(sys.stdin.readline())["payload"]["notifications"][0]; print(n["event"], n["channel"], n["phase_name"], n["review_id"], n["reviewer"])')"
    has "$("$CLIQ" inbox @ann)" "Review gate accept of @local/test: cliq review show $ID"
    has "$("$CLIQ" inbox @bob)" "$ID"
    got status
    like "$out" "Review $ID: waits for ann, bob since [0-9:]{8}, until [0-9]{4}-[0-9-]{5} [0-9:]{8}: cliq review show $ID"
    like "$out" "Waits for: accept \\(agent hug, [0-9.]+ m?s\\)"
    has "$("$CLIQ" status --json)" "\"reviews\":[{\"id\":\"$ID\",\"gate\":\"accept\",\"state\":\"open\",\"reviewers\":[\"ann\",\"bob\"]"
    got review
    succeeds
    like "$out" "$ID +accept +open +ann, bob"
    # artifacts stay as they were
    is "work 1" "$(<".cliq/reviews/$ID/files/work.txt")"
    got review show accept
    succeeds
    has "$out" "work.txt  7 bytes"
    lacks "$out" "changed since"
    echo other >work.txt
    has "$("$CLIQ" review show accept)" "work.txt  7 bytes  (changed since)"
    is "changed" "$(review 'd["artifacts"][0]["change"]')"
    is "work 1" "$(<".cliq/reviews/$ID/files/work.txt")"

    got review approve "$ID" --as ann -m "well done"
    succeeds
    ended run "$RUN"
    code_is 0
    has "$out" "PASS: ann approved: well done"
    is "plan.1 build.1 ship.1" "$(starts)"
    is "ann" "$(tail -1 .cliq/signals/accept.jsonl | $PY -c 'import json,sys; print(json.loads(sys.stdin.readline())["result"]["reviewer"])')"
    is "ann:done bob:cancelled" "$(tasks)"
    has "$("$CLIQ" status)" "Review $ID: approve by ann"
}

@test "an answer is refused: of strangers, twice, of unknown reviews, without a reason" {
    human_team
    asks
    got review approve "$ID" --as eve
    refused 7 "eve is no reviewer here" "ann and bob" "--as NAME"
    got review approve acept --as ann
    refused 4 "there is no review acept (did you mean accept?)"
    got review reject "$ID" --as ann
    refused 2 "say why"
    got review changes "$ID" --as ann --to biuld -m x
    refused 2 "cannot send the work back to biuld (did you mean build?)"
    got review aprove "$ID"
    refused 2 "did you mean approve?"
    is "[]" "$(review 'd.get("answers", [])')"
    CLIQ_IDENTITY=bob got review reject accept -m "never"
    succeeds
    got review approve "$ID" --as ann
    refused 5 "was answered already: reject by bob"
    ended run "$RUN"
    code_is 3
    has "$out" "gate accept escalated: bob rejected: never"
    status_is ESCALATED
    is "ann:cancelled bob:done" "$(tasks)"
}

@test "of many answers at once one wins" {
    human_team
    asks
    local i
    for i in 1 2 3 4 5 6; do
        start "a$i" "$CLIQ" review approve "$ID" --as "$([ $((i % 2)) = 0 ] && echo ann || echo bob)" -m "$i"
    done
    ended run "$RUN"
    code_is 0
    is 1 "$(review 'len(d["answers"])')"
    for i in 1 2 3 4 5 6; do
        ended "a$i" "${PIDS[$i]}"
        echo "$code" >>"$T/codes"
    done
    is "0 5 5 5 5 5" "$(sort "$T/codes" | paste -sd' ')"
}

@test "changes route to the nearest phase, or to the one that --to names" {
    human_team
    asks
    "$CLIQ" review changes "$ID" --as bob -m "more work"
    waits 2
    is "2" "$(review 'd["iteration"]')"
    is "work 2" "$(<".cliq/reviews/$ID/files/work.txt")"
    has "$(<.cliq/channels/accept--build/handoff.json)" "bob asks for changes: more work"
    is "plan.1 build.1 build.2" "$(starts)"
    "$CLIQ" review changes "$ID" --as ann --to plan -m "another plan"
    waits 3
    is "plan.1 build.1 build.2 plan.2 build.3" "$(starts)"
    "$CLIQ" review approve "$ID" --as ann
    ended run "$RUN"
    code_is 0
}

@test "require all: every reviewer approves, the first change decides" {
    human_team "require: all"
    asks
    got review approve "$ID" --as ann
    succeeds
    has "$out" "The other reviewers have to answer, too"
    got review approve "$ID" --as ann
    refused 5 "ann has answered already"
    "$CLIQ" review changes "$ID" --as bob -m "not yet"
    waits 2
    "$CLIQ" review approve "$ID" --as bob -m "yes"
    "$CLIQ" review approve "$ID" --as ann
    ended run "$RUN"
    code_is 0
    has "$out" "PASS: bob approved: yes; ann approved"
}

@test "who has answered is awaited no longer, and not reminded" {
    human_team "require: all, timeout: 1h, remind_every: 300ms"
    sed -i 's/"herald:ann", bob/"herald:ann", "herald:bob"/' "$T/team/team.yml"
    assemble
    asks
    "$CLIQ" review approve "$ID" --as ann
    local before
    before=$(reminders ann) # and one that is on its way
    like "$("$CLIQ" status)" "Review $ID: waits for bob since"
    is "ann,bob bob" "$("$CLIQ" status --json | $PY -c 'import json,sys; r=json.load(sys.stdin)["reviews"][0]; print(",".join(r["reviewers"]), ",".join(r["awaits"]))')"
    until_true reminded bob $((before + 4))
    [ "$(reminders ann)" -le $((before + 1)) ] || complain "ann was reminded $before times, and then $(reminders ann)"
    has "$(<.cliq/signals/accept.jsonl)" "waits for bob: cliq review show"
    "$CLIQ" review approve "$ID" --as bob
    ended run "$RUN"
    code_is 0
}
reminders() { grep -s hug_reminder "$T/told" | grep -c "\"channel\":\"$1\"" || true; }
reminded() { [ "$(reminders "$1")" -ge "$2" ]; }

@test "without an answer the reviewers are reminded, then the gate escalates" {
    human_team "timeout: 1500ms, remind_every: 500ms"
    asks
    ended run "$RUN"
    code_is 3
    has "$out" "gate accept escalated: review $ID expired: no answer from ann, bob"
    has "$(<"$T/told")" '"event":"hug_reminder"'
    got review approve "$ID" --as ann
    refused 5 "is expired: it can no longer be answered"
    is "ann:cancelled bob:cancelled" "$(tasks)"
}

@test "the orchestrator is killed while it waits: resume goes on with the same review, and asks nobody twice" {
    human_team
    asks
    until_true says "$T/told" hug_review
    kill -KILL "$RUN"
    until_true gone "$RUN"
    rm "$T/told"
    start_run again --resume
    RUN=$PID
    until_true says .cliq/orchestrator.log resumed
    is "$ID.json" "$(cd .cliq/reviews && echo *.json)"
    "$CLIQ" review approve "$ID" --as ann
    ended again "$RUN"
    code_is 0
    is "plan.1 build.1 ship.1" "$(starts)"
    is "ann:done bob:cancelled" "$(tasks)"
    [ ! -e "$T/told" ]
}

@test "an answer that is given while nothing runs counts when the run is resumed" {
    human_team
    asks
    kill -KILL "$RUN" $(hug_pids)
    until_true gone "$RUN"
    got review approve "$ID" --as bob -m fine
    succeeds
    has "$out" "cliq run --resume"
    is "ann:cancelled bob:done" "$(tasks)"
    run_ok --resume
    has "$out" "PASS: bob approved: fine"
    is "ann:cancelled bob:done" "$(tasks)"
}

@test "an agent that is killed before it has told anybody is started again" {
    human_team
    mkdir -m 700 -p .cliq/reviews
    exec {held}>.cliq/reviews/.lock
    flock "$held" # it cannot note that it told
    start_run run {held}>&-
    RUN=$PID
    until_true waits_for_lock .cliq/reviews/.lock
    kill -KILL $(hug_pids)
    exec {held}>&-
    waits 1
    "$CLIQ" review approve "$ID" --as ann
    ended run "$RUN"
    code_is 0
    has "$out" "its process was killed, and is started again"
    is "$ID.json" "$(cd .cliq/reviews && echo *.json)"
}

@test "cancel ends the review; a retry asks anew, and the history keeps both" {
    human_team
    asks
    local first=$ID run
    "$CLIQ" cancel
    ended run "$RUN"
    code_is 130
    is "ann:cancelled bob:cancelled" "$(tasks)"
    got review approve "$first" --as ann
    refused 5 "is cancelled"
    start again "$CLIQ" retry $HEADLESS accept
    RUN=$PID
    waits 2
    "$CLIQ" review approve "$ID" --as ann
    ended again "$RUN"
    code_is 0
    run=$("$CLIQ" runs --json | $PY -c 'import json,sys; print(json.load(sys.stdin)[0]["run"])')
    start_run new
    RUN=$PID
    until_true is_cleared "$first"
    waits 1
    has "$("$CLIQ" status --run "$run")" "Review $first: cancelled"
    lacks "$("$CLIQ" review)" "$first"
    is "work 1" "$(<".cliq/runs/$run/reviews/$first/files/work.txt")"
    "$CLIQ" review reject "$ID" --as ann -m no
    ended new "$RUN"
}

is_cleared() { [ ! -e ".cliq/reviews/$1.json" ]; }

@test "cancel after both were killed leaves nothing to answer" {
    human_team
    asks
    kill -KILL "$RUN" $(hug_pids)
    until_true gone "$RUN"
    has "$("$CLIQ" inbox @ann)" "$ID"
    "$CLIQ" cancel
    is "ann:cancelled bob:cancelled" "$(tasks)"
    has "$("$CLIQ" status)" "Review $ID: cancelled"
    got review approve "$ID" --as ann
    refused 5 "is cancelled"
}

@test "artifacts are files that match, of any depth; links are not followed, large ones not copied" {
    team <<'END'
phases:
  - name: accept
    type: gate
    agent: hug
    review: {reviewer: ann, artifacts: ["docs/**/*.md", src, "./l*", "../*", none, big]}
END
    mkdir -p docs/deep/er src/.git
    touch docs/a.md docs/deep/er/b.md docs/c.txt src/x.c src/.git/y .hidden
    ln -s /etc/passwd link
    ln -s /etc src/etc
    truncate -s 17M big
    start_run run
    RUN=$PID
    until_true says .cliq/signals/accept.jsonl "waits for ann"
    ID=$(cd .cliq/reviews && echo accept-1-*.json)
    ID=${ID%.json}
    is "docs/a.md docs/deep/er/b.md src/x.c big" "$(review '" ".join(a["path"] for a in d["artifacts"])')"
    is "./l* ../* none" "$(review '" ".join(d["unmatched"])')"
    is "./docs/a.md ./docs/deep/er/b.md ./src/x.c" "$(cd ".cliq/reviews/$ID/files" && find . -type f | sort | paste -sd' ')"
    has "$("$CLIQ" review show "$ID")" "big  17825792 bytes  (not copied, too large)"
    got review changes "$ID" --as ann -m x
    refused 2 "has no phase that it could send the work back to"
    "$CLIQ" review approve "$ID" --as ann
    ended run "$RUN"
    code_is 0
}

@test "a review that was damaged is named, and not made anew" {
    human_team
    asks
    kill -KILL "$RUN" $(hug_pids)
    until_true gone "$RUN"
    sed -i 's/"state": "open"/"state": open/' ".cliq/reviews/$ID.json"
    got review show "$ID"
    refused 2 "$ID.json:"
    run_is 3 --resume
    has "$out" "phase accept: agent error: $ID.json:"
}

@test "a git repository shows what changed since the run began, new files too" {
    human_team
    git init -q . && git config user.email t@example.org && git config user.name t
    echo before >old.txt && git add old.txt && git commit -qm first
    asks
    got review show --diff accept
    succeeds
    has "$out" "+work 1"
    has "$out" "new file mode"
    is "?? work.txt" "$(git status --short | grep work)" # the repository's own index is as it was
    "$CLIQ" review approve "$ID" --as ann
    ended run "$RUN"
    code_is 0
}

@test "trouble with the hub is no trouble of the run" {
    human_team
    mkdir -p "$CLIQ_HOME/signals/events.jsonl" # a directory in the log's place
    start_run run
    RUN=$PID
    until_true says .cliq/signals/accept.jsonl "waits for ann, bob"
    "$CLIQ" review approve accept --as ann
    ended run "$RUN"
    code_is 0
    has "$(cat .cliq/run/logs/accept.1.log)" "no task in the hub"
}

@test "while a review waits no agent runs, and its readers do not wake the orchestrator" {
    human_team
    asks
    until_true listening "$RUN"
    until_true no_hug
    local before
    before=$(grep ctxt "/proc/$RUN/status")
    got review
    got review show accept
    is "$before" "$(grep ctxt "/proc/$RUN/status")"
    "$CLIQ" review approve "$ID" --as ann
    ended run "$RUN"
    code_is 0
}

no_hug() { [ -z "$(hug_pids)" ]; }

@test "a review of another project is found by its id, and --all lists them" {
    human_team
    asks
    cd "$T"
    got review
    refused 4 "cliq review --all"
    got review --all --as ann
    succeeds
    like "$out" "$ID +accept +open .* $T/proj"
    got review --all --as eve
    has "$out" "no review is for eve"
    got review show "$ID" --as ann
    succeeds
    has "$out" "work.txt  7 bytes"
    got review approve "$ID" --as eve
    refused 7 "eve is no reviewer of $ID"
    got review approve nothing-1-abc --as ann
    refused 4 "there is no review nothing-1-abc"
    got review approve "$ID" --as ann
    succeeds
    ended run "$RUN"
    code_is 0
}
