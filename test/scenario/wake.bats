#!/usr/bin/env bats
# Signals start agents: once for many, one process at a time, nothing lost.
load ../lib/cli
load ../lib/hub

eval "$(declare -f teardown | sed '1s/teardown/cli_teardown/')"

# Supervisors and agents of this test, by the environment they were given.
woken_pids() {
    local f
    for f in $(grep -lz "^CLIQ_WAKE=" /proc/[0-9]*/environ 2>/dev/null); do
        ! grep -qzxF "CLIQ_HOME=$CLIQ_HOME" "$f" 2>/dev/null || cut -d/ -f3 <<<"$f"
    done
}
teardown() {
    local p
    for p in $(woken_pids); do kill -KILL "$p" 2>/dev/null; done
    cli_teardown
}

# helper < SH: installs the agent `helper`, which notes its start with the number of signals, and
# registers the identity ruby with it. Its message is in $T/message.<n>.
helper() {
    mkdir -p "$CLIQ_HOME/agents/helper" "$T/place"
    hold go
    printf '{"name":"helper","version":"1.0.0","description":"a helper","entry":"agent.sh","capabilities":["notify"]}\n' \
        >"$CLIQ_HOME/agents/helper/manifest.json"
    {
        printf '#!/bin/sh\nT=%s CLIQ=%s PY=%s\n' "$T" "$CLIQ" "$PY"
        cat <<'END'
await() { [ ! -p "$T/$1" ] || read -r _ 2>/dev/null <"$T/$1" || :; }
release() { [ ! -p "$T/$1" ] || { rm "$T/$1"; } <>"$T/$1"; }
cat >"$T/message.$$"
ids=$($PY -c 'import json,sys
print(" ".join(n["signal"]["type"] for n in json.load(open(sys.argv[1]))["payload"]["notifications"]))' "$T/message.$$")
echo "$ids" >>"$T/starts"
mv "$T/message.$$" "$T/message"
END
        cat
    } >"$CLIQ_HOME/agents/helper/agent.sh"
    chmod +x "$CLIQ_HOME/agents/helper/agent.sh"
    (cd "$T/place" && "$CLIQ" identity add ruby --agent helper --dir . >/dev/null)
}
loud() { "$CLIQ" signal subscribe "$1" --silent=false --as ruby >/dev/null; }
gen() { "$CLIQ" signal generate "$@" >/dev/null; }
starts() { wc -l <"$T/starts" 2>/dev/null || echo 0; }
# All that was given, one a line.
given() { tr ' ' '\n' <"$T/starts"; }
n_given() { [ -e "$T/starts" ] && given | grep -c . || echo 0; }
has_given() { [ "$(n_given)" -ge "$1" ]; }
has_started() { [ "$(starts)" -ge "$1" ]; }
asleep() { [ -z "$(woken_pids)" ]; }
# What the hub has of ruby's life.
life() { "$CLIQ" signal events --limit 1000 --json | $PY -c '
import json, sys
print(" ".join(e["type"].split(":")[2] for e in json.load(sys.stdin) if e["type"].startswith("agent:ruby:")))'; }
life_is() { [ "$(life)" = "$1" ]; }
# Agents that say this stay until release go: it is a pipe, and who comes later finds none.
HOLD='await go'
hold() { rm -f "$T/$1" && mkfifo "$T/$1"; }
release() { { rm "$T/$1"; } <>"$T/$1"; }

@test "a signal starts the agent of a loud subscription, in its directory, with a notify message" {
    helper <<<'pwd >"$T/pwd"; echo "$CLIQ_IDENTITY" >"$T/who"; echo hello'
    loud 'build:*:done'
    gen build:web:done --data '{"ok":true}' --as ci
    until_true has_started 1
    until_true asleep
    is "$T/place" "$(<"$T/pwd")"
    is ruby "$(<"$T/who")"
    is "1 notify helper $T/place" "$($PY -c 'import json,sys; d=json.load(open(sys.argv[1])); print(d["version"], d["type"], d["agent"], d["project_dir"])' "$T/message")"
    is "signal build:*:done build:web:done {'ok': True}" "$($PY -c 'import json,sys; n=json.load(open(sys.argv[1]))["payload"]["notifications"][0]; print(n["event"], n["pattern"], n["signal"]["type"], n["signal"]["data"])' "$T/message")"
    has "$(<"$CLIQ_HOME/wake/ruby/log")" hello
    is 1 "$(starts)"
}

@test "one start for a burst: a hundred signals in one batch" {
    helper <<<':'
    loud 'x:*'
    for i in $(seq 100); do printf '{"type":"x:%d","source":{"type":"process"}}\n' "$i"; done >>"$(events)"
    gen other # whoever writes next starts it
    until_true has_given 100
    until_true asleep
    is 1 "$(starts)"
    is 100 "$(given | sort -u | wc -l)"
}

@test "signals that come while it runs are given right after, in one batch" {
    helper <<<"$HOLD"
    loud 'x:*'
    gen x:1
    until_true has_started 1
    gen x:2
    gen x:3
    is 1 "$(starts)"
    release go
    until_true has_given 3
    until_true asleep
    is "x:1
x:2 x:3" "$(<"$T/starts")"
}

@test "a silent subscription starts nothing" {
    helper <<<':'
    "$CLIQ" signal subscribe 'x:*' --as ruby >/dev/null
    gen x:1
    "$CLIQ" signal pump >/dev/null
    is "" "$(woken_pids)"
    is 0 "$(starts)"
    # made loud, it is for what comes
    loud 'x:*'
    gen x:2
    until_true has_started 1
    is x:2 "$(given)"
}

@test "its own signals do not wake it, nor do those about it" {
    helper <<<'"$CLIQ" signal generate x:echo >/dev/null'
    loud 'x:*'
    loud 'agent:*:*'
    gen x:1
    until_true life_is "wake sleep"
    until_true asleep
    gen x:mine --as ruby
    is x:1 "$(given)"
    is "" "$(woken_pids)"
}

# Another identity for the same agent; each start writes $CLIQ_IDENTITY to $T/names.
agent_too() { (cd "$T/place" && "$CLIQ" identity add "$1" --agent helper --dir . >/dev/null); }

@test "two agents that listen for each other's sleep do not start each other for ever" {
    helper <<<'echo "$CLIQ_IDENTITY" >>"$T/names"'
    agent_too bob
    loud 'agent:*:sleep'
    loud 'x:*'
    "$CLIQ" signal subscribe 'agent:*:sleep' --silent=false --as bob >/dev/null
    gen x:1 # ruby, then bob because ruby sleeps; that bob sleeps wakes nothing
    until_true eval '[ "$(wc -l <"$T/names" 2>/dev/null)" = 2 ]'
    until_true grep -q "only such signals woke" "$CLIQ_HOME/wake/ruby/log"
    until_true asleep
    is "ruby bob" "$(paste -sd' ' "$T/names")"
    gen x:2 # and they are not deaf afterwards
    until_true eval '[ "$(wc -l <"$T/names")" = 4 ]'
    until_true asleep
    is "ruby bob ruby bob" "$(paste -sd' ' "$T/names")"
}

@test "a chain of wakes without a person or a task ends after 16, with one alert" {
    helper <<<'echo "$CLIQ_IDENTITY" >>"$T/names"; [ "$CLIQ_IDENTITY" = ruby ] && to=y || to=x; "$CLIQ" signal generate $to:again >/dev/null'
    agent_too bob
    loud 'x:*'
    "$CLIQ" signal subscribe 'y:*' --silent=false --as bob >/dev/null
    "$CLIQ" signal subscribe 'alert' --silent=false --as bob >/dev/null
    gen x:1
    until_true grep -q "wake each other in a loop" "$CLIQ_HOME/wake/ruby/log" "$CLIQ_HOME/wake/bob/log"
    until_true asleep
    is 17 "$(wc -l <"$T/names")" # the first, and a chain of 16
    is 1 "$("$CLIQ" signal list --type alert --json | $PY -c 'import json, sys; print(len(json.load(sys.stdin)))')"
    has "$("$CLIQ" signal list --type alert)" "start 17 of a chain"
    "$CLIQ" emit task again --to-identity ruby --as ann >/dev/null
    gen x:2 # a person goes on
    until_true eval '[ "$(wc -l <"$T/names")" -ge 18 ]'
}

@test "who unsubscribed before the delivery is not told" {
    helper <<<"$HOLD"
    loud 'x:*'
    gen x:1
    until_true has_started 1
    gen x:2
    "$CLIQ" signal unsubscribe 'x:*' --as ruby >/dev/null
    release go
    until_true asleep
    is x:1 "$(given)"
}

@test "two writers at once start one process" {
    helper <<<"$HOLD"
    loud 'x:*'
    local pids=()
    for i in 1 2 3 4; do
        start "w$i" "$CLIQ" signal generate "x:$i"
        pids+=("$PID")
    done
    for i in 0 1 2 3; do ended "w$((i + 1))" "${pids[i]}"; done
    until_true has_started 1
    is 1 "$(starts)"
    release go
    until_true has_given 4
    until_true asleep
    is "x:1 x:2 x:3 x:4" "$(given | sort | paste -sd' ')"
}

@test "a writer does not wait for the agent" {
    helper <<<"$HOLD"
    loud 'x:*'
    gen x:1 | cat # a pipe that the agent must not hold open
    until_true has_started 1
    release go
}

@test "wake, sleep, and idle later; a new wake takes the idle back" {
    helper <<<':'
    loud 'x:*'
    gen x:1
    until_true life_is "wake sleep"
    until_true asleep
    "$CLIQ" signal delayed --json >"$T/delayed"
    "$CLIQ" signal events --json >"$T/events"
    is "agent:ruby:idle lifecycle-idle system 60" "$($PY -c '
import json, sys
d, = json.load(open(sys.argv[1]))
slept, = [e["createdAt"] for e in json.load(open(sys.argv[2])) if e["type"] == "agent:ruby:sleep"]
print(d["type"], d["repeatKey"], d["source"]["type"], -(-(d["deliverAt"] - slept) // 10000) * 10)' "$T/delayed" "$T/events")"
    is "{'agentId': 'ruby', 'state': 'wake'}" "$("$CLIQ" signal events --json | $PY -c 'import json,sys; print([e["data"] for e in json.load(sys.stdin) if e["type"] == "agent:ruby:wake"][0])')"
    printf '%s\n' "$HOLD" >>"$CLIQ_HOME/agents/helper/agent.sh"
    gen x:2
    until_true has_started 2
    is "[]" "$("$CLIQ" signal delayed --json)"
    release go
}

@test "a delayed signal that is due wakes by pump, and nothing before" {
    helper <<<':'
    loud 'x:*'
    "$CLIQ" signal schedule x:later --at +1s >/dev/null
    is 0 "$(starts)"
    delivered() { "$CLIQ" signal pump >/dev/null && has_started 1; }
    until_true delivered
    is x:later "$(given)"
}

@test "readers start nobody" {
    helper <<<':'
    loud 'x:*'
    printf '{"type":"x:foreign","source":{"type":"process"}}\n' >>"$(events)"
    "$CLIQ" inbox @ruby >/dev/null
    "$CLIQ" signal events >/dev/null
    is "" "$(woken_pids)"
    is 0 "$(starts)"
    "$CLIQ" signal pump >/dev/null
    until_true has_started 1
}

@test "an agent that fails is told again, later, and not for ever" {
    helper <<<'[ "$(wc -l <"$T/starts")" -ge 3 ]'
    loud 'x:*'
    gen x:1
    until_true has_started 3
    until_true asleep
    is "x:1 x:1 x:1" "$(given | paste -sd' ')"
    has "$(<"$CLIQ_HOME/wake/ruby/log")" "exit code 1"
    gen x:2
    until_true has_started 4
    is x:2 "$(given | tail -n 1)"
}

@test "after five failures the signals are set aside, and stay in the inbox; later ones are not among them" {
    helper <<<'case " $ids " in *" x:1 "*) exit 1 ;; esac'
    loud 'x:*'
    gen x:1
    until_true has_started 2
    gen x:2
    BOUND=60 until_true says_aside
    until_true has_started 6
    until_true asleep
    is "x:1 x:1 x:1 x:1 x:1 x:2" "$(given | paste -sd' ')"
    has "$(<"$CLIQ_HOME/wake/ruby/log")" "1 signal is set aside"
    "$CLIQ" signal pump >/dev/null
    is "" "$(woken_pids)"
    has "$("$CLIQ" inbox @ruby --json)" x:1
}
says_aside() { grep -q "set aside" "$CLIQ_HOME/wake/ruby/log"; }

@test "kill -9 of the supervisor: the agent goes on alone, and what came is given after it" {
    helper <<<"$HOLD; "'printf "{\"version\":1,\"type\":\"notify\",\"status\":\"complete\"}\n" >>"$T/cliqrc/wake/ruby/_notify-helper-$($PY -c "import json,sys; print(json.load(open(sys.argv[1]))[\"payload\"][\"id\"])" "$T/message").jsonl"'
    loud 'x:*'
    gen x:1
    until_true has_started 1
    kill -KILL "$(<"$CLIQ_HOME/wake/ruby/lock")"
    gen x:2 # a new supervisor: it waits for the agent that runs
    release go
    until_true has_given 2
    until_true asleep
    is "x:1
x:2" "$(<"$T/starts")"
}

@test "kill -9 of the agent loses nothing" {
    helper <<<"[ -e \"\$T/second\" ] || { touch \"\$T/second\"; echo \$\$ >\"\$T/pid\"; $HOLD; }"
    loud 'x:*'
    gen x:1
    until_true test -s "$T/pid"
    kill -KILL "$(<"$T/pid")"
    until_true has_started 2
    until_true asleep
    is "x:1 x:1" "$(given | paste -sd' ')"
}

@test "kill -9 of both: the next writer gives it again" {
    helper <<<"[ -e \"\$T/second\" ] || { touch \"\$T/second\"; echo \$\$ >\"\$T/pid\"; $HOLD; }"
    loud 'x:*'
    gen x:1
    until_true test -s "$T/pid"
    kill -KILL "$(<"$CLIQ_HOME/wake/ruby/lock")" "$(<"$T/pid")"
    until_true asleep
    gen other
    until_true has_started 2
    is "x:1 x:1" "$(given | paste -sd' ')"
}

@test "an agent that is not there says so in its log; its signals wait until it is" {
    helper <<<':'
    loud 'x:*'
    mv "$CLIQ_HOME/agents/helper" "$T/elsewhere"
    gen x:1
    no_agent() { grep -q "helper" "$CLIQ_HOME/wake/ruby/log" 2>/dev/null; }
    until_true no_agent
    until_true asleep
    mv "$T/elsewhere" "$CLIQ_HOME/agents/helper"
    gen other
    until_true has_started 1
    is x:1 "$(given)"
}

@test "a directory that is none is refused" {
    got identity add ruby --agent helper --dir "$T/nowhere"
    refused 4 "nowhere"
    printf x >"$T/file"
    got identity add ruby --agent helper --dir "$T/file"
    refused 2 "no directory"
}

@test "a deleted index forgets nothing of what was given" {
    helper <<<':'
    loud 'x:*'
    gen x:1
    until_true life_is "wake sleep"
    until_true asleep
    rm "$CLIQ_HOME"/signals/index.db*
    gen other
    is "" "$(woken_pids)"
    is 1 "$(starts)"
    got hub check
    code_is 0
}

# ---- the server -----------------------------------------------------------------

serve() {
    start serve "$CLIQ" serve --listen 127.0.0.1:0
    until_true grep -q '^listening' "$T/serve.out"
    BASE=$(sed -n 's/^listening on //p' "$T/serve.out")
    SERVER=$PID
}
post() { # PATH JSON
    curl -sS --max-time 10 -X POST "$BASE$1" -H "Authorization: Bearer $(<"$CLIQ_HOME/admin.key")" \
        -H "Content-Type: application/json" -d "$2"
}

@test "through the server, too: a request, a foreign line and a delayed signal wake" {
    helper <<<':'
    loud 'x:*'
    serve
    post /v1/engine/signals/generate '{"type":"x:http"}' >/dev/null
    until_true has_given 1
    until_true asleep
    printf '{"type":"x:foreign","source":{"type":"process"}}\n' >>"$(events)"
    until_true has_given 2
    post /v1/engine/signals/delayed "{\"type\":\"x:later\",\"deliverAt\":$(($(date +%s%3N) + 300))}" >/dev/null
    until_true has_given 3
    until_true asleep
    is "x:http x:foreign x:later" "$(given | paste -sd' ')"
    is "" "$(ps --ppid "$SERVER" -o stat= | grep Z || true)"
}

@test "an identity that listens on a stream is awake: it gets the event, nothing is started" {
    helper <<<':'
    loud 'x:*'
    serve
    local key
    key=$("$CLIQ" key create --identity ruby)
    start stream curl -sSN "$BASE/signals/stream" -H "Authorization: Bearer $key"
    local stream=$PID
    until_true grep -q connected "$T/stream.out"
    post /v1/engine/signals/generate '{"type":"x:http"}' >/dev/null
    until_true grep -q x:http "$T/stream.out"
    gen x:file # a writer of files knows it by the lock
    until_true grep -q x:file "$T/stream.out"
    noted() { [ "$(grep -c '"op":"woken"' "$(events)")" -ge 1 ] && "$CLIQ" signal pump >/dev/null; }
    until_true noted
    is 0 "$(starts)"
    kill "$stream"
    until_true gone "$stream"
    released() { "$CLIQ" _wake ruby && flock -n "$CLIQ_HOME/wake/ruby/lock" true; }
    until_true released
    gen x:after
    until_true has_started 1
    has "$(given)" x:after
    lacks "$(given)" x:http
}

supervisor() { cat "$CLIQ_HOME/wake/ruby/lock" 2>/dev/null; }
another_than() { [ -n "$(supervisor)" ] && [ "$(supervisor)" != "$1" ] && kill -0 "$(supervisor)" 2>/dev/null; }

@test "kill -9 of supervisor and agent: a running server starts another, and nobody has to write" {
    helper <<<"[ -e \"\$T/second\" ] || { touch \"\$T/second\"; echo \$\$ >\"\$T/pid\"; $HOLD; }"
    loud 'x:*'
    serve
    post /v1/engine/signals/generate '{"type":"x:1"}' >/dev/null
    until_true test -s "$T/pid"
    kill -KILL "$(supervisor)" "$(<"$T/pid")"
    until_true has_started 2
    until_true asleep
    is "x:1 x:1" "$(given | paste -sd' ')"
    is "" "$(supervisor)" # it let go in order
}

@test "a supervisor that a command started is seen by the server, too; those that die in a row wait longer" {
    helper <<<"$HOLD"
    loud 'x:*'
    gen x:1
    until_true has_started 1
    serve
    local i first at
    for i in 1 2 3; do
        first=$(supervisor)
        at=$(date +%s%3N)
        kill -KILL "$first"
        until_true another_than "$first"
    done
    [ $(($(date +%s%3N) - at)) -ge 2000 ] || complain "the third one came after $(($(date +%s%3N) - at)) ms"
    release go
    until_true asleep
    has "$(<"$CLIQ_HOME/wake/ruby/log")" "an earlier supervisor died"
}

@test "a supervisor that left in order is not started again by a server, until there is something new" {
    helper <<<':'
    loud 'x:*'
    serve
    mv "$CLIQ_HOME/agents/helper" "$T/away"
    post /v1/engine/signals/generate '{"type":"x:1"}' >/dev/null
    until_true says_missing
    until_true asleep
    local n
    n=$(wc -l <"$CLIQ_HOME/wake/ruby/log")
    post /claim '{"role":"nobody","wait_seconds":1}' >/dev/null # a second in which nothing is written
    is "$n" "$(wc -l <"$CLIQ_HOME/wake/ruby/log")"
    mv "$T/away" "$CLIQ_HOME/agents/helper"
    post /v1/engine/signals/generate '{"type":"x:2"}' >/dev/null
    until_true has_given 2
    is "x:1 x:2" "$(<"$T/starts")"
}
says_missing() { grep -q helper "$CLIQ_HOME/wake/ruby/log"; }

# ---- runs -----------------------------------------------------------------------

@test "a run wakes who waits for it, and does not take the agent for its own" {
    helper <<<"$HOLD; touch \"\$T/finished\""
    mkdir -p "$T/team" "$T/proj"
    printf 'name: "@local/t"\ndescription: t\nphases: [{name: one, agent: exec, commands: [{name: c, run: "true"}]}]\n' >"$T/team/team.yml"
    cd "$T/proj"
    "$CLIQ" init >/dev/null
    "$CLIQ" assemble ../team >/dev/null
    "$CLIQ" signal subscribe "pipeline:$(<.cliq/cliq.id):*" --silent=false --as ruby >/dev/null
    got run --headless
    code_is 0
    until_true has_started 1
    release go
    until_true test -e "$T/finished"
    until_true has_given 2
}

@test "an agent of a run that writes a signal wakes another, which outlives the run" {
    helper <<<"release begun; $HOLD; touch \"\$T/finished\""
    hold begun
    loud 'x:*'
    mkdir -p "$T/team" "$T/proj"
    printf 'name: "@local/t"\ndescription: t\nphases: [{name: one, agent: exec, commands: [{name: c, run: "%s signal generate x:1; [ ! -p %s ] || read -r _ <%s || :"}]}]\n' \
        "$CLIQ" "$T/begun" "$T/begun" >"$T/team/team.yml"
    cd "$T/proj"
    "$CLIQ" init >/dev/null
    "$CLIQ" assemble ../team >/dev/null
    got run --headless
    code_is 0
    until_true has_started 1
    release go
    until_true test -e "$T/finished"
    until_true asleep
    is x:1 "$(given)"
}

# lib_program: $T/tell, a program with the library in it. It broadcasts its arguments, then tells its
# descriptors' and children's number.
lib_program() {
    cat >"$T/tell.c" <<'END'
#include <cliq.h>
#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
int
main(int argc, char **argv)
{
    cliq_error e = CLIQ_ERROR_INIT;
    cliq_hub *h;
    cliq_status s = cliq_hub_open(&h, NULL, &e);

    for (int i = 1; !s && i < argc; i++)
        s = cliq_generate(h, argv[i], NULL, NULL, &e);
    if (s)
        fprintf(stderr, "%s\n", e.text);
    else
        puts(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD ? "no child" : "a child");
    cliq_hub_close(h);
    return s;
}
END
    ${CC:-cc} -std=c11 -Wall -I"$ROOT/include" -o "$T/tell" "$T/tell.c" "$BIN/libcliq.so" -Wl,-rpath,"$BIN" ||
        skip "no compiler for the library as it is built"
}

@test "what is written through the library wakes, and leaves the program no child" {
    lib_program
    helper <<<"$HOLD"
    loud 'x:*'
    got_from env PATH="$BIN:$PATH" CLIQ_IDENTITY=ci "$T/tell" x:1
    is "no child" "$out"
    is "" "$err"
    until_true has_given 1
    until_true exists_lock
    # It is awake: what comes now is its supervisor's, and no program is run for it.
    mkdir "$T/bin"
    printf '#!/bin/sh\ntouch "%s/ran"\n' "$T" >"$T/bin/cliq"
    chmod +x "$T/bin/cliq"
    got_from env PATH="$T/bin:$PATH" CLIQ_IDENTITY=ci "$T/tell" x:2 y:1
    is "no child" "$out"
    [ ! -e "$T/ran" ]
    release go
    until_true has_given 2
    until_true asleep
    is "x:1 x:2" "$(given | paste -sd' ')"
}
exists_lock() { [ -s "$CLIQ_HOME/wake/ruby/lock" ]; }

@test "without the program on PATH the library writes all the same, and the next command wakes" {
    lib_program
    helper <<<':'
    loud 'x:*'
    got_from env PATH="$T/nowhere" CLIQ_IDENTITY=ci "$T/tell" x:1
    is "no child" "$out"
    is 0 "$code"
    is 0 "$(n_given)"
    gen other
    until_true has_given 1
    until_true asleep
    is x:1 "$(given)"
}
