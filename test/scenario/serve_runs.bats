#!/usr/bin/env bats
# /runs: the runs of all projects over HTTP, read with the scope audit, acted on by admins.
bats_require_minimum_version 1.5.0
load pipeline
load ../lib/serve

# Two phases and a gate; `one` hands over to `two`, which fails while the file bad is there.
a_team() {
    agent a <<'END'
ok
echo "log of $P, attempt $N"
progress "working on $P"
[ "$P" != two ] || cp "$CLIQ_STATE_DIR/channels/one--two/handoff.json" "$T/read.$N"
[ "$P" != one ] || hand two '{"data":{"tag":"seven"},"text":"words"}'
[ ! -e "$T/bad" ] || [ "$P" != two ] || { fail "bad"; exit; }
complete
END
    team <<'END'
phases:
  - {name: one, agent: a}
  - {name: two, agent: a, depends_on: [one]}
  - {name: check, type: gate, agent: checks, depends_on: [two], commands: [{name: unit, run: "echo tested"}]}
END
}
id() { sed -n '1s/.*"run":"\([^"]*\)".*/\1/p' .cliq/run/journal.jsonl; }
answers() { curl -s -o answer -w '%{http_code}' "$@" -H "Authorization: Bearer ${ASKER:-$KEY}"; }
error() { json 'd["error"]["code"]' <answer; }

@test "the list has the runs of every project, newest first, with the path that the user knows" {
    a_team
    run_ok
    ln -s "$T/proj" "$T/link"
    cp -r "$T/proj" "$T/other" && rm -r "$T/other/.cliq/run" && echo cliq-0a0b0c >"$T/other/.cliq/cliq.id"
    cd "$T/link" && run_ok
    cd "$T/other" && "$CLIQ" team trust . >/dev/null && run_ok
    look /runs >list
    is "3 ['$T/other', '$T/link', '$T/link']" "$(json 'str(len(d["data"])) + " " + str([r["path"] for r in d["data"]])' <list)"
    is "COMPLETED 3 3 @local/test" "$(json '" ".join(str(d["data"][0][k]) for k in ("status","phases","done","team"))' <list)"
    is "[False, True]" "$(json 'sorted(r["is_present"] for r in d["data"] if r["path"].endswith("link"))' <list)"
    is 1 "$(look '/runs?project=cliq-0a0b0c' | json 'len(d["data"])')"
    is 0 "$(look '/runs?status=FAILED' | json 'len(d["data"])')"
    is 2 "$(look '/runs?limit=2' | json 'len(d["data"])')"
    cd "$T" && rm -r other
    is 2 "$(look /runs | json 'len(d["data"])')"
}

@test "a run is shown as cliq status --json, with its edges, its journal and the log of a phase" {
    a_team
    run_ok
    local run
    run=$(id)
    is "$("$CLIQ" status --json | json 'd')" "$(look "/runs/$run" | json 'd["data"]')"
    is "[['one', []], ['two', ['one']], ['check', ['two']]]" \
        "$(look "/runs/$run" | json '[[p["phase"], p["depends_on"]] for p in d["data"]["phases"]]')"
    is "begin end" "$(look "/runs/$run/journal" | json '" ".join((d["data"][0]["ev"], d["data"][-1]["ev"]))')"
    is "log of two, attempt 1" "$(look "/runs/$run/log?phase=two" | json 'd["data"]["text"].strip()')"
    is "two, attempt 1" "$(look "/runs/$run/log?phase=two&after=7" | json 'd["data"]["text"].strip()')"
    is "$(stat -c %s .cliq/run/logs/two.1.log)" "$(look "/runs/$run/log?phase=two" | json 'd["data"]["next"]')"
    has "$(look "/runs/$run/log" | json 'd["data"]["text"]')" "COMPLETED"
}

@test "a phase is shown with its handoffs and checks; what is no JSON is shown as text" {
    a_team
    run_ok
    local run
    run=$(id)
    look "/runs/$run/phases/two" >phase
    is "[None, ('seven', 'words')]" "$(json '[c["handoff"] and (c["handoff"]["data"]["tag"], c["handoff"]["text"]) for c in d["data"]["in"]]' <phase)"
    is "['check', 'one'] ['check']" "$(json 'str([c["from"] for c in d["data"]["in"]]) + " " + str([c["to"] for c in d["data"]["out"]])' <phase)"
    is "['two.1.log']" "$(json 'd["data"]["logs"]' <phase)"
    has "$(look "/runs/$run/phases/check")" tested
    echo '{half' >.cliq/channels/one--two/handoff.json
    is "{half" "$(look "/runs/$run/phases/two" | json 'd["data"]["in"][1]["handoff"].strip()')"
}

@test "a phase is retried with an edited handoff; the run goes on in the background" {
    a_team
    touch "$T/bad"
    run_is 3
    local run
    run=$(id)
    is 200 "$(answers -X POST "$URL/runs/$run/handoff" -H 'Content-Type: application/json' \
        -d '{"from":"one","to":"two","handoff":{"version":1,"phase":"one","data":{"tag":"eight"}}}')"
    has "$(<.cliq/channels/one--two/handoff.json)" eight
    rm "$T/bad"
    is 200 "$(answers -X POST "$URL/runs/$run/retry/two")"
    is_done() { grep -qs COMPLETED .cliq/signals/_pipeline_status; }
    until_true is_done
    has "$(<"$T/read.2")" eight
    is "one.1 two.1 two.2" "$(starts)"
}

@test "a running run is cancelled; a second cancel, and acting on history, are conflicts" {
    agent slow <<<'ok; touch "$T/began"; sleep "$NAP"'
    team <<<'phases: [{name: one, agent: slow}]'
    "$CLIQ" run --detach >/dev/null
    is_begun() { [ -e "$T/began" ]; }
    until_true is_begun
    local run
    run=$(id)
    is "RUNNING" "$(look "/runs/$run" | json 'd["data"]["status"]')"
    is 200 "$(answers -X POST "$URL/runs/$run/cancel")"
    is CANCELLED "$(<.cliq/signals/_pipeline_status)"
    is "CANCELLED" "$(look "/runs/$run" | json 'd["data"]["status"]')"
    is 0 "$(left | wc -w)"
    "$CLIQ" run --detach >/dev/null
    is 409 "$(answers -X POST "$URL/runs/$run/retry/one")"
    is RUN_CONFLICT "$(error)"
    "$CLIQ" cancel >/dev/null
}

@test "strangers, small keys and wrong names learn nothing and change nothing" {
    a_team
    run_ok
    local run small audit
    run=$(id)
    small=$(key_of ruby '["inbox","emit"]') audit=$(key_of anna '["audit"]')
    is 401 "$(curl -s -o /dev/null -w '%{http_code}' "$URL/runs")"
    is 403 "$(ASKER=$small answers "$URL/runs")"
    is 200 "$(ASKER=$audit answers "$URL/runs/$run")"
    is 403 "$(ASKER=$audit answers -X POST "$URL/runs/$run/retry/two")"
    is 404 "$(answers "$URL/runs/cliq-ffffff-18af03d2b7c9e1f0")"
    is RUN_NOT_FOUND "$(error)"
    is 404 "$(answers "$URL/runs/..-..-etc")"
    is 400 "$(answers "$URL/runs/..%2f..%2fetc")"
    is 400 "$(answers "$URL/runs/$run/phases/..%2fone")"
    is 404 "$(answers "$URL/runs/$run/phases/nothing")"
    is 404 "$(answers "$URL/runs/$run/log?phase=../one")"
    is 400 "$(answers "$URL/runs?limit=0")"
    is 400 "$(answers "$URL/runs?status=GOOD")"
    is 404 "$(answers -X POST "$URL/runs/$run/retry/nothing")"
    is 400 "$(answers -X POST "$URL/runs/$run/handoff" -H 'Content-Type: application/json' \
        -d '{"from":"one","to":"two","handoff":{"version":2}}')"
    is RUN_INVALID "$(error)"
    is 404 "$(answers -X POST "$URL/runs/$run/handoff" -H 'Content-Type: application/json' \
        -d '{"from":"../one","to":"two","handoff":{}}')"
    is 400 "$(answers -X POST "$URL/runs/$run/handoff" -H 'Content-Type: application/json' -d '{"from":"one","to":"two"}')"
    has "$(<.cliq/channels/one--two/handoff.json)" seven
}

@test "a phase of a team that is a phase is named by its way" {
    agent w <<'END'
ok
echo "log of $P"
complete
END
    mkdir -p "$T/team/teams/inner" "$T/team/roles" && cp -r "$T/team/agents" "$T/team/teams/inner/"
    echo "Build it." >"$T/team/roles/build.md"
    {
        printf 'name: "@local/inner"\ndescription: a team in a team\nagents:\n%s' "$AGENTS"
        echo 'phases: [{name: one, agent: w}, {name: two, agent: w, depends_on: [one]}]'
    } >"$T/team/teams/inner/team.yml"
    team <<<'phases: [{name: a, agent: w}, {name: build, type: team, team: ./teams/inner, depends_on: [a]}]'
    run_ok
    local run
    run=$(id)
    is "log of two" "$(look "/runs/$run/log?phase=build/two" | json 'd["data"]["text"].strip()')"
    is "two ['in', 'one']" "$(look "/runs/$run/phases/build%2Ftwo" | json 'd["data"]["phase"] + " " + str(sorted({c["from"] for c in d["data"]["in"]} | {"in"}))')"
    is "one two" "$(look "/runs/$run/journal?phase=build" | json '" ".join(e["phase"] for e in d["data"] if e["ev"] == "started")')"
    is 404 "$(answers "$URL/runs/$run/phases/a%2Ftwo")"
    is 404 "$(answers "$URL/runs/$run/phases/build%2Fnone")"
    is 404 "$(answers "$URL/runs/$run/journal?phase=a")"
    is 404 "$(answers "$URL/runs/$run/journal?phase=..%2Fbuild")"
    run_ok # the first is history now
    is "log of two" "$(look "/runs/$run/log?phase=build/two" | json 'd["data"]["text"].strip()')"
}
