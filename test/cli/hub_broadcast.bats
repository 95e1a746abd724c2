#!/usr/bin/env bats
# cliq signal: broadcasts, delayed signals, and cliq watch.
load ../lib/cli
load ../lib/hub

@test "a broadcast goes to every inbox whose pattern matches, but never to its sender's" {
    got signal subscribe 'build:*:done' --as ruby
    succeeds
    is $'ruby\tbuild:*:done\ttrue' "$out"
    got signal subscribe 'build:*:done' --as ann --silent=false
    is $'ann\tbuild:*:done\tfalse' "$out"
    got signal subscribe 'build:*:done' --as ann # keeps it
    is $'ann\tbuild:*:done\tfalse' "$out"
    is 2 "$(cliq signal subscriptions | wc -l)"
    got signal generate build:web:done --data '{"ok":true}' --as ann
    succeeds
    like "$out" '^[a-z][a-z0-9]{23}$'
    cliq signal generate build:web:test --as ann >/dev/null
    is "signal:$out" "$(cliq inbox @ruby | cut -f1)"
    is "" "$(cliq inbox @ann)"
    got signal events
    succeeds
    is "build:web:done build:web:test" "$(cut -f2 "$T/out" | paste -sd' ')"
    got signal events --json --limit 1
    is build:web:test "$(field type <"$T/out")"
    is '{"type":"agent","id":"ann"}' "$(field source <"$T/out")"
    got signal unsubscribe 'build:*:done' --as ruby
    succeeds
    is "" "$(cliq inbox @ruby)"
    got signal unsubscribe 'build:*:done' --as ruby
    refused 4 "no subscription"
}

@test "sources: yourself as agent, webhook or process; only cliq itself is system" {
    cliq signal generate a --source webhook --as ci >/dev/null
    cliq signal generate b --source process --as ci >/dev/null
    is "webhook process" "$(cliq signal events --json | $PY -c 'import json,sys;print(*[x["source"]["type"] for x in json.load(sys.stdin)])')"
    got signal generate c --source system
    refused 7 "system"
    got signal generate c --source nonsense
    refused 2 "nonsense"
}

@test "a delayed signal is listed, replaced by its key, cancelled, delivered by the next write" {
    a=$(cliq signal schedule daily --at +1h --repeat-key k --data 1)
    b=$(cliq signal schedule daily --at 2099-01-01T00:00:00Z --repeat-key k)
    is "$b" "$(cliq signal delayed | cut -f1)"
    has "$(cliq signal delayed)" "2099-01-01T00:00:00.000Z"
    got signal cancel "$a"
    refused 4 "no such signal waits"
    got signal cancel --repeat-key k
    succeeds
    is 1 "$out"
    cliq signal schedule a --at +1h --repeat-key k >/dev/null
    cliq signal schedule b --at +1h --repeat-key k >/dev/null
    got signal cancel k --type a # an argument that is no id is a key
    succeeds
    is 1 "$out"
    got signal cancel k
    is 1 "$out"
    is "[]" "$(cliq signal delayed --json)"
    cliq signal schedule soon --at +300ms --data '{"n":1}' >/dev/null
    due() { cliq signal pump >"$T/pumped" && [ "$(<"$T/pumped")" = 1 ]; }
    until_true due
    is soon "$(cliq signal events --json | field type)"
    is "[]" "$(cliq signal delayed --json)"
    id=$(cliq signal schedule later --at 4102444800000)
    got signal cancel "$id" --json
    is 1 "$(field removed <"$T/out")"
}

@test "signal cancel TYPE cancels every delayed signal of that type, and no other" {
    cliq signal schedule report:daily --at +1h >/dev/null
    cliq signal schedule report:daily --at +2h >/dev/null
    cliq signal schedule report:weekly --at +1h >/dev/null
    got signal cancel report:daily
    succeeds
    is 2 "$out"
    is report:weekly "$(cliq signal delayed --json | field type)"
    got signal cancel --type report:weekly
    is 1 "$out"
    got signal cancel report:weekly
    refused 4 "no such signal waits"
}

@test "signal cancel takes the beginning or end of an id, as the table shows it" {
    id=$(cliq signal schedule daily --at +1h)
    cliq signal schedule daily --at +2h >/dev/null
    got signal cancel "${id:0:6}"
    refused 2 "is the beginning or the end of several delayed signals: "
    has "$err" "$id"
    got signal cancel "${id: -6}"
    succeeds
    is 1 "$(cliq signal delayed | wc -l)"
    lacks "$(cliq signal delayed)" "$id"
}

@test "a closed standard input is reported as such" {
    got emit sense - <&-
    refused 2 "standard input is closed"
    got emit --batch <&-
    refused 2 "standard input is closed"
    got emit sense - </
    refused 2 "Is a directory"
}

@test "only its sender cancels a delayed signal: another --as is refused, by id and by key" {
    id=$(cliq signal schedule daily --at +1h --repeat-key k --as ann)
    got signal cancel "$id" --as bob
    refused 7 "scheduled by ann"
    has "$err" "--as ann"
    got signal cancel k --as bob
    refused 7 "scheduled by ann"
    is "$id" "$(cliq signal delayed | cut -f1)"
    cliq signal schedule weekly --at +1h --repeat-key k --as bob >/dev/null
    got signal cancel k --as bob # bob's signal under that key
    is 1 "$out"
    is "$id" "$(cliq signal delayed | cut -f1)"
    got signal cancel "$id" --as ann
    is 1 "$out"
}

@test "signal watch prints matching signals as they come" {
    cliq signal generate build:old:done >/dev/null
    start_listening w signal watch 'build:*:done' --json
    cliq signal generate build:web:done --data 1 >/dev/null
    cliq signal generate build:web:failed >/dev/null
    cliq signal generate build:cli:done >/dev/null
    until_true has_lines "$T/w.out" 2
    kill -INT "$PID"
    ended w "$PID"
    code_is 130
    is "build:web:done build:cli:done" "$(while read -r l; do field type <<<"$l"; done <"$T/w.out" | paste -sd' ')"
    start_listening w signal watch --all
    until_true has_lines "$T/w.out" 4
    kill -INT "$PID"
    ended w "$PID"
    is build:old:done "$(head -1 "$T/w.out" | cut -f2)"
}

@test "signal watch tells of bad lines that come meanwhile, and not of what a crash leaves" {
    cliq signal generate a >/dev/null
    start_listening w signal watch
    printf '{"type":"torn\n' >>"$CLIQ_HOME/signals/events.jsonl"
    cliq signal generate b >/dev/null
    until_true has_lines "$T/w.out" 1
    is "" "$(<"$T/w.err")"
    printf 'garbage\n' >>"$CLIQ_HOME/signals/events.jsonl"
    cliq signal generate c >/dev/null 2>&1
    until_true has_lines "$T/w.err" 1
    is "cliq: warning: 1 bad line in events.jsonl passed over; cliq hub check tells which" "$(<"$T/w.err")"
    kill -INT "$PID"
    ended w "$PID"
}

@test "watch of a ring that does not exist yet waits for it, and names the near miss" {
    cliq ring add ops >/dev/null
    start_listening w watch --ring opps
    has "$(<"$T/w.err")" 'there is no ring "opps" yet; did you mean ops?'
    cliq ring add opps >/dev/null
    cliq emit alert no --to-ring ops >/dev/null
    cliq emit alert yes --to-ring opps >/dev/null
    until_true has_lines "$T/w.out" 1
    kill -INT "$PID"
    ended w "$PID"
}

@test "watch follows live, by filter, and from any earlier signal" {
    cliq emit alert early --urgency 0.9 >/dev/null
    start_listening w watch --type alert --min-urgency 0.5
    task no >/dev/null
    cliq emit alert low --urgency 0.1 >/dev/null
    id=$(cliq emit alert yes --urgency 0.8 --to-role r)
    until_true has_lines "$T/w.out" 1
    kill -INT "$PID"
    ended w "$PID"
    code_is 130
    is "$id"$'\talert\t0.8\t'"$(id -un)"$'\tr\tpending\t\tyes' "$out"
    start_listening w watch --since 1 --json
    until_true has_lines "$T/w.out" 3
    kill -TERM "$PID"
    ended w "$PID"
    is "no low yes" "$(while read -r l; do field content <<<"$l"; done <"$T/w.out" | paste -sd' ')"
    cliq ring add o >/dev/null
    for filter in "--tag t" "--role r" "--ring o" "--pattern a:*"; do
        start_listening w watch --since 0 $filter
        cliq emit a:b last --tag t --to-ring o >/dev/null
        cliq emit a:b last --tag t --from-role r >/dev/null
        until_true has_lines "$T/w.out" 1
        kill -INT "$PID"
        ended w "$PID"
    done
}

@test "a foreign line is a signal too" {
    task first >/dev/null
    start_listening w watch --json
    echo '{"type":"from:shell","data":{"n":1}}' >>"$(events)"
    until_true has_lines "$T/w.out" 1
    kill -INT "$PID"
    ended w "$PID"
    is from:shell "$(field signal_type <"$T/out")"
    is from:shell "$(cliq signal events --limit 1 --json | field type)"
}
