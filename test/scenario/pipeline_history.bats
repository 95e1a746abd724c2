#!/usr/bin/env bats
# The runs before the present one: what is kept of them, and what shows them.
load pipeline

# A team whose two phases hand over, say something and pass a gate; `tag` is in all of it.
tagged_team() {
    echo first >"$T/tag"
    agent a <<'END'
ok
tag=$(cat "$T/tag")
echo "log of $tag"
progress "progress of $tag"
[ "$P" != one ] || hand two "{\"data\":{\"tag\":\"$tag\"}}"
[ ! -e "$T/bad" ] || { fail "bad $tag"; exit; }
complete
END
    agent judge <<<'ok; verdict PASS "" "verdict of $(cat "$T/tag")"'
    team <<'END'
phases:
  - {name: one, agent: a}
  - {name: two, agent: a, depends_on: [one]}
  - {name: gate, type: gate, agent: judge, depends_on: [two]}
END
}
id() { sed -n '1s/.*"run":"\([^"]*\)".*/\1/p' "${1:-.cliq}/run/journal.jsonl"; }
runs() { "$CLIQ" runs --json | $PY -c 'import json,sys; print(*[eval(sys.argv[1], r) for r in json.load(sys.stdin)])' "$1"; }
kept() { ls .cliq/runs | wc -l; }

@test "a run keeps its journal, logs, handoffs and verdicts when the next one begins" {
    tagged_team
    run_ok
    local first kept
    first=$(id) kept=.cliq/runs/$(id)
    cp -r .cliq "$T/then"
    echo second >"$T/tag"
    run_ok
    for file in run/journal.jsonl run/logs/one.1.log run/logs/two.1.log signals/one.jsonl signals/gate.jsonl \
        signals/_pipeline_status channels/one--two/handoff.json orchestrator.log workflow.yml; do
        cmp "$T/then/$file" "$kept/$file" || complain "$file is another one"
    done
    has "$(<"$kept/signals/gate.jsonl")" "verdict of first"
    has "$(<.cliq/channels/one--two/handoff.json)" second
    lacks "$(<.cliq/orchestrator.log)" "$first"
    is "$(id) $first" "$(runs run)"
    is "True False" "$(runs is_present)"
    is "" "$(find .cliq/runs -name '.new-*' -o -name '.old-*')"
}

@test "the files of a kept run are links: nothing is copied but what the user may edit" {
    tagged_team
    run_ok
    local journal log
    journal=$(stat -c %i .cliq/run/journal.jsonl) log=$(stat -c %i .cliq/run/logs/one.1.log)
    local first
    first=$(id)
    run_ok
    is "$journal $log" "$(stat -c %i ".cliq/runs/$first/run/journal.jsonl" ".cliq/runs/$first/run/logs/one.1.log" | paste -sd' ')"
}

@test "runs, status, log and graph show any run by the begin of its id" {
    tagged_team
    touch "$T/bad"
    run_is 3
    local first short
    first=$(id)
    rm "$T/bad"
    echo second >"$T/tag"
    sed -i 's/name: two/name: deux/; s/\[two\]/[deux]/' "$T/team/team.yml"
    sed -i 's/hand two/hand deux/' "$T/team/agents/a/agent.sh"
    assemble
    run_ok
    short=${first##*-}
    got status --run "$short"
    succeeds
    has "$out" "ESCALATED  $first"
    like "$out" "one +failed +1 .* a .*bad first"
    like "$out" "two +waiting"
    lacks "$out" "Next:" # retry and resume act on the present run
    got status --json --run "$first"
    has "$out" '"error":"bad first"'
    lacks "$out" '"next"'
    got log --run "$short"
    succeeds
    has "$out" "progress of first"
    lacks "$out" "progress of second"
    got log one --run "$short" -f # it has ended: nothing to wait for
    is "log of first" "$out"
    got graph --run "$short"
    has "$out" "[one: failed]"
    has "$out" "[two: waiting]"
    lacks "$out" deux
    for format in mermaid dot svg; do
        got graph --run "$short" --format $format
        has "$out" "one: failed"
    done
    got graph
    has "$out" "[deux]"
    got status --run "$(id)"
    has "$out" "COMPLETED"
    got runs
    has "$(sed -n 2p <<<"$out")" "$(id)"
    like "$(sed -n 2p <<<"$out")" " 20[0-9-]{8} +[0-9:]{8} +COMPLETED +[0-9.]+ m?s +3 of 3 done"
    like "$(sed -n 3p <<<"$out")" "ESCALATED .*0 of 3 done, 1 failed +phase one: agent error: bad first"
}

@test "completion offers phases, runs and settings, and nothing outside a project" {
    agent a <<<'ok; complete'
    team <<<'phases: [{name: build, agent: a}, {name: test, agent: a, depends_on: [build]}]'
    run_ok
    run_ok
    local ids
    ids=$(cliq runs --json | $PY -c 'import json,sys; print(*[r["run"] for r in json.load(sys.stdin)])')
    offers() { cliq complete -- "$@" | cut -f1 | paste -sd' '; }
    for words in log retry "run --from"; do
        is "build test" "$(offers $words "")"
        is "test" "$(offers $words te)"
    done
    for command in status log graph; do
        is "$ids" "$(offers $command --run cliq-)"
        is "$(sed 's/cliq-[0-9a-f]*-//g' <<<"$ids")" "$(offers $command --run "")"
        got $command --run "$(offers $command --run "" | cut -d' ' -f2)"
        code_is 0
    done
    is "run.command_timeout run.notify_timeout runs.keep" "$(offers settings run)"
    cd "$T"
    is "" "$(offers retry "")$(offers status --run "")"
}

@test "runs fits a terminal of 80 columns" {
    tagged_team
    run_ok
    run_ok # it has a CHANGE
    touch "$T/bad"
    run_is 3
    script -qec "stty cols 80; NO_COLOR=1 '$CLIQ' runs" /dev/null </dev/null >"$T/tty"
    has "$(<"$T/tty")" "$(id | sed 's/.*-//')  "
    like "$(sed -n 2p "$T/tty")" '  (just now|[0-9]+ s ago)  ESCALATED  [0-9.]+ m?s  +0 of 3 done  ' # whole, not cut
    like "$(sed -n 3p "$T/tty")" '  COMPLETED  [0-9.]+ m?s  +[+-][0-9]+ %  +3 of 3 done'
    is 0 "$(tr -d '\r' <"$T/tty" | grep -cE '^.{81,}')"
}

@test "an id that is none, or the begin of several, is refused with what to do" {
    tagged_team
    got runs
    succeeds
    has "$out" "nothing has run here yet: cliq run"
    got runs --json
    is "[]" "$out"
    run_ok
    run_ok
    got status --run nope
    code_is 4
    has "$err" "no run here has the id nope: cliq runs lists them"
    local near
    near=$(id)
    got log one --run "${near%?}x"
    code_is 4
    has "$err" "no run here has the id ${near%?}x (did you mean $near?): cliq runs lists them"
    got graph --run "$(sed 's/.*-//; s/.$/x/' <<<"$near")"
    code_is 4
    has "$err" "(did you mean ${near##*-}?)"
    got log --run cliq-
    code_is 2
    has "$err" "cliq- is the begin of 2 ids: $(id), "
    got graph --run ''
    code_is 2
    has "$err" "--run needs the id of a run"
}

@test "retry, --from and --resume go on with the same run; --force keeps the unfinished one" {
    killed_run
    local first
    first=$(id)
    release go
    run_ok --resume
    run_ok --from two
    got retry $HEADLESS three
    code_is 0
    is "$first" "$(id)"
    is "$first" "$(runs run)"
    has "$("$CLIQ" log)" resumed
    hold go
    rm "$T/pid"
    start_run run
    until_true exists "$T/pid"
    kill -KILL "$PID"
    until_true gone "$PID"
    local second
    second=$(id)
    is "INTERRUPTED COMPLETED" "$(runs status)"
    release go
    run_ok --force
    is "$(id) $second $first" "$(runs run)"
    is "COMPLETED INTERRUPTED COMPLETED" "$(runs status)"
}

@test "runs.keep says how many are kept, 20 by default; 0 keeps none" {
    team <<<'phases: [{name: one, agent: exec, commands: [{name: x, run: "true"}]}]'
    has "$(cliq settings --info runs.keep)" "a whole number, 0 or more"
    cliq settings runs.keep 2
    local i ids=()
    for i in 1 2 3 4; do
        run_ok
        ids=("$(id)" "${ids[@]}")
    done
    is "${ids[*]:0:3}" "$(runs run)"
    is 2 "$(kept)"
    cliq settings runs.keep 0
    run_ok
    is 0 "$(kept)"
    is "$(id)" "$(runs run)"
    got settings runs.keep -1
    code_is 2
    got settings runs.keep many
    has "$err" "a whole number, 0 or more"
}

@test "a run is compared with the median of the last five completed ones before it" {
    team <<<'phases: [{name: one, agent: exec, commands: [{name: x, run: "true"}]}]'
    local i took=(100 400 200 300 500 600)
    for i in 0 1 2 3 4 5; do
        run_ok
        $PY - "$STATE/run/journal.jsonl" "${took[i]}" <<'END'
import json, sys, datetime
path, ms = sys.argv[1], int(sys.argv[2])
lines = [json.loads(l) for l in open(path)]
at = datetime.datetime.fromisoformat(lines[0]["at"].replace("Z", "+00:00")) + datetime.timedelta(milliseconds=ms)
lines[-1]["at"] = at.strftime("%Y-%m-%dT%H:%M:%S.") + "%03dZ" % (at.microsecond // 1000)
open(path, "w").write("".join(json.dumps(l) + "\n" for l in lines))
END
    done
    is "600 500 300 200 400 100" "$(runs duration_ms)"
    got runs
    like "$(sed -n 2p <<<"$out")" "600 ms +\+100 % "
    like "$(sed -n 5p <<<"$out")" "200 ms +-20 % "
    like "$(sed -n 7p <<<"$out")" "100 ms +1 of 1 done"
}

@test "git sees nothing of runs/, in a project of an older version, too" {
    command -v git >/dev/null || skip "no git"
    tagged_team
    run_ok
    run_ok
    has "$(<.cliq/.gitignore)" "runs/"
    sed -i '/runs/d' .cliq/.gitignore
    git init -q .
    lacks "$(git status --short --untracked-files=all)" runs/
}

@test "a run whose journal cannot be read is kept under another name, and told as such" {
    tagged_team
    run_ok
    echo garbage >.cliq/run/journal.jsonl
    run_ok --force
    like "$(runs run)" "^$(id) unknown-[0-9a-f]+$"
    is "COMPLETED UNREADABLE" "$(runs status)"
}

@test "a run that cannot be kept is not overwritten" {
    tagged_team
    run_ok
    local first
    first=$(id)
    : >.cliq/runs
    got run $HEADLESS
    code_is 1
    has "$err" "the run before this one cannot be kept in $STATE/runs: "
    is "$first" "$(id)"
    rm .cliq/runs
    run_ok
    is "$(id) $first" "$(runs run)"
}

@test "log --follow goes on with the next run" {
    tagged_team
    run_ok
    start follow "$CLIQ" log -f
    until_true says "$T/follow.out" "COMPLETED in"
    run_ok
    until_true says "$T/follow.out" "started *$(id)"
    until_true eval '[ "$(grep -c "COMPLETED in" "$T/follow.out")" = 2 ]'
}

@test "a line with the date stands before the first event of a day" {
    tagged_team
    run_ok
    is "$(date -u +%F) (UTC)" "$(sed -n 1p .cliq/orchestrator.log)"
    # During the next run the clock is set to the next day.
    gcc -shared -fPIC -o "$T/clock.so" "$BATS_TEST_DIRNAME/clock.c"
    sed -i 's/^ok; verdict/echo 86400 >"$T\/ahead"; ok; verdict/' "$T/team/agents/judge/agent.sh"
    assemble
    CLOCK_AHEAD=$T/ahead CLOCK_SET=/dev/null LD_PRELOAD=$T/clock.so run_ok
    is "$(date -u -d tomorrow +%F) (UTC)" "$(sed -n '2,$s/^.*(UTC)$/&/p' .cliq/orchestrator.log)"
    is "$(date -u -d tomorrow +%F) (UTC)" "$(grep '(UTC)$' <<<"$out")"
    # Seen from the next day, status tells the date, too.
    CLOCK_AHEAD=$T/ahead CLOCK_SET=/dev/null LD_PRELOAD=$T/clock.so got status
    like "$out" "gate +done .*judge +$(date -u +%F) [0-9:]{8} "
}

@test "what stands in the place of the journal is a run that cannot be read" {
    tagged_team
    run_ok
    rm .cliq/run/journal.jsonl
    mkdir .cliq/run/journal.jsonl
    got runs
    succeeds
    has "$out" "UNREADABLE"
    has "$out" "journal.jsonl is a directory, not a regular file"
    got status
    code_is 2
    has "$err" "journal.jsonl is a directory, not a regular file"
}
