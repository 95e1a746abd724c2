#!/usr/bin/env bats
# Signals, tasks, inboxes and broadcasts through the commands, on files and over HTTP.
load ../lib/cli
load ../lib/hub

# ---- emit -----------------------------------------------------------------------------

@test "emit prints an id once the signal is on disk" {
    got emit task "Review PR 42"
    succeeds
    like "$out" '^signal:[a-z][a-z0-9]{23}$'
    has "$(<"$(events)")" "\"id\":\"${out#signal:}\""
    got fsck "$(events)"
    succeeds
    is "700 600" "$(stat -c %a "$CLIQ_HOME/signals" "$(events)" | paste -sd' ')"
}

@test "emit keeps everything it is told" {
    cliq role add lead >/dev/null
    cliq role fill lead ann >/dev/null
    root=$(task --as ann)
    got emit --json --as ann query "is it done?" --to-identity ruby --from-role lead --urgency 0.8 \
        --parent "$root" --tag a --tag b --resource artifact:report.pdf \
        --resource '{"kind":"workspace_item","ref":"w","rev":2}' --data '{"n":1}'
    succeeds
    is query "$(field signal_type <"$T/out")"
    is "is it done?" "$(field content <"$T/out")"
    is 0.8 "$(field urgency <"$T/out")"
    is ann "$(field from_identity <"$T/out")"
    is lead "$(field from_role <"$T/out")"
    is ruby "$(field to_identity <"$T/out")"
    is "$root" "$(field parent_id <"$T/out")"
    is "$root" "$(field thread_id <"$T/out")"
    is '["a","b"]' "$(field tags <"$T/out")"
    is '[{"kind":"artifact","ref":"report.pdf"},{"kind":"workspace_item","ref":"w","rev":2}]' "$(field resources <"$T/out")"
    is '{"n":1}' "$(field payload <"$T/out")"
    is null "$(field task_status <"$T/out")"
    is pending "$(field delivery_state <"$T/out")"
}

@test "emit takes type and content as words, as options, and from standard input" {
    is one "$(of "$(cliq emit pulse one)" content)"
    is two "$(of "$(cliq emit pulse -m two)" content)"
    is three "$(of "$(cliq emit --type pulse three)" content)"
    is four "$(of "$(cliq emit --type=pulse --message four)" content)"
    is $'five\nsix' "$(of "$(printf 'five\nsix' | cliq emit pulse -)" content)"
    is null "$(of "$(cliq emit pulse)" content)"
    is open "$(of "$(cliq emit build:it --task)" task_status)"
}

@test "emit with the same key is the same signal; with another content a conflict" {
    a=$(task "once" --dedup-key k)
    is "$a" "$(task "once" --dedup-key k)"
    got emit task "other" --dedup-key k
    refused 5 "dedup_key"
    is 1 "$(grep -c '"type":"task"' "$(events)")"
}

@test "emit --batch: all or none, ids in order" {
    printf '{"signal_type":"task","content":"%s"}\n' a b "" c >"$T/in"
    got emit --batch <"$T/in"
    succeeds
    is 4 "$(wc -l <"$T/out")"
    is "a b  c" "$(while read -r id; do of "$id" content; done <"$T/out" | paste -sd' ')"
    lines=$(wc -l <"$(events)")
    printf '{"signal_type":"task"}\n\n{"signal_type":""}\n' >"$T/in"
    got emit --batch <"$T/in"
    refused 2 "signals[1].signal_type"
    printf '{"signal_type":"task"}\n{"signal_type":\n' >"$T/in"
    got emit --batch <"$T/in"
    refused 2 "standard input:2:"
    got emit --batch </dev/null
    refused 2 "no signals on standard input"
    got emit --batch --urgency 1 </dev/null
    refused 2 "leave --urgency away"
    got emit --batch task </dev/null
    refused 2 'not "task"'
    is "$lines" "$(wc -l <"$(events)")"
}

# ---- claims ------------------------------------------------------------------------------

@test "the life of a task: claim, status, ack" {
    id=$(task "Review" --to-role reviewer)
    got claim "$id" --as bob
    succeeds
    is "$id" "$out"
    is "bob leased claimed" "$(for k in claimed_by delivery_state task_status; do of "$id" $k; done | paste -sd' ')"
    got claim "$id" --as eve
    refused 5 "claimed by bob" "cliq status-of ID"
    got status-of "$id"
    succeeds
    is claimed "$out"
    got status-of "$id" in_progress --as bob
    succeeds
    is "$id"$'\tleased\tin_progress' "$out"
    got status-of "$id" done --as eve
    refused 5 "claimed by bob"
    got ack "$id" --as eve
    refused 5 "claimed by bob"
    got ack "$id" --as bob
    succeeds
    is "$id"$'\tacked\tin_progress' "$out"
    got ack "$id" --as bob # again is fine
    succeeds
    got claim "$id" --as bob
    refused 5 "cannot be claimed" "status-of"
    got status-of "$id" --history
    succeeds
    is "emit claim status ack" "$(cut -f2 "$T/out" | paste -sd' ')"
    is "$(id -un) bob bob bob" "$(cut -f3 "$T/out" | paste -sd' ')"
    got status-of "$id" --history --json
    is "emit claim status ack" "$(field op <"$T/out" | paste -sd' ')"
}

@test "a long history is told whole, and is the same when the index is made again" {
    id=$(task)
    cliq claim "$id" --as bob >/dev/null
    local i
    for i in 1 2 3 4 5 6 7 8 9; do
        cliq extend "$id" --as bob >/dev/null
        cliq status-of "$id" "$([ $((i % 2)) = 1 ] && echo in_progress || echo blocked)" --as bob >/dev/null
    done
    cliq release "$id" --as bob >/dev/null
    cliq claim "$id" --as bob >/dev/null
    cliq fail "$id" --as bob --error "$(printf 'x%.0s' {1..5000})" >/dev/null # long enough alone
    cliq status-of "$id" --history --json >"$T/before"
    is "emit claim $(printf 'extend status %.0s' {1..9})release claim fail" "$(field op <"$T/before" | paste -sd' ')"
    is "$(field sequence <"$T/before")" "$(field sequence <"$T/before" | sort -n)"
    got hub check
    succeeds
    cliq hub rebuild >/dev/null
    is "$(cat "$T/before")" "$(cliq status-of "$id" --history --json)"
    got hub check
    succeeds
}

@test "claim next takes the most urgent, then the oldest, of those for you" {
    cliq role add dev >/dev/null
    cliq role fill dev bob >/dev/null
    a=$(task a)
    b=$(task b --urgency 0.9 --to-role dev)
    c=$(task c --urgency 0.9 --to-identity bob)
    task d --urgency 1 --to-identity eve >/dev/null
    e=$(cliq emit build --task)
    cliq emit alert "no task" --urgency 1 >/dev/null
    is "$e" "$(cliq claim --as bob --type build --type deploy)"
    is "$b" "$(cliq claim --as bob)"
    is "$c" "$(cliq claim --as bob)"
    is "$a" "$(cliq claim --as bob)"
    got claim --as bob
    refused 4 "nothing to claim" "--wait"
    f=$(task f --to-role dev)
    got claim --role qa --as bob
    refused 4 "nothing to claim"
    is "$f" "$(cliq claim --role dev --as bob)"
}

@test "claim --json has the whole task and its claim_id, which guards what follows" {
    id=$(task)
    claim=$(cliq claim --as bob --json --lease 1h | field claim_id)
    got extend "$id" --as bob --claim-id nonsense
    refused 5 "no longer the claim" "claim it again"
    got extend "$id" --as bob --claim-id "$claim" --lease 2h
    succeeds
    left=$($PY -c 'import sys,datetime as d;print(round((d.datetime.fromisoformat(sys.argv[1].replace("Z","+00:00"))-d.datetime.now(d.timezone.utc)).total_seconds()/60))' "$(of "$id" claim_expires_at)")
    is 120 "$left"
    got release "$id" --as bob --claim-id "$claim"
    succeeds
    is "$id"$'\tpending\topen' "$out"
    got ack "$id" --as bob --claim-id "$claim"
    refused 5
}

@test "two who claim one task: exactly one wins, the other is told so" {
    local i a b
    for i in 1 2 3 4 5; do
        id=$(task "$i")
        start a "$CLIQ" claim "$id" --as ann
        a=$PID
        start b "$CLIQ" claim "$id" --as bob
        b=$PID
        ended a "$a" && a=$code
        ended b "$b" && b=$code
        case "$a$b" in
        05) is ann "$(of "$id" claimed_by)" ;;
        50) is bob "$(of "$id" claimed_by)" ;;
        *) complain "exit codes $a and $b" ;;
        esac
    done
}

@test "a lease that ends gives the task to others, and its old holder is told" {
    id=$(task)
    cliq claim "$id" --as bob --lease 1 >/dev/null
    got claim --as eve --wait 20
    succeeds
    is "$id" "$out"
    is 1 "$(of "$id" delivery_count)"
    got ack "$id" --as bob
    refused 5 "claimed by eve"
    is "emit claim expire claim" "$(cliq status-of "$id" --history | cut -f2 | paste -sd' ')"
}

@test "fail: tried again, five times, then a dead letter; requeue brings it back" {
    id=$(task)
    local i
    for i in 1 2 3 4 5; do
        cliq claim "$id" --as bob >/dev/null
        got fail "$id" --as bob --error "no $i" --retry-in 0
        succeeds
    done
    is "$id"$'\tdead_letter\topen' "$out"
    is "$id" "$(cliq signal list --delivery-state dead_letter | cut -f1)"
    is "no 1,no 5" "$(cliq status-of "$id" --history --json | $PY -c 'import json,sys;e=[x["error"] for x in json.load(sys.stdin) if x["op"]=="fail"];print(e[0]+","+e[-1])')"
    got claim "$id"
    refused 5
    got requeue "$id"
    succeeds
    is "$id"$'\tpending\topen' "$out"
    is "$id" "$(cliq claim)"
    got requeue "$id"
    refused 5 "is leased"
}

@test "fail --retry-in: not before its time" {
    id=$(task)
    cliq claim "$id" >/dev/null
    got fail "$id" --retry-in 1h
    is "$id"$'\tfailed\topen' "$out"
    got claim
    refused 4
}

@test "claim --wait is woken by the signal, and by nothing else" {
    start_listening w claim --as bob --role dev --wait 60
    task other --to-identity eve >/dev/null
    id=$(task it --to-role dev)
    ended w "$PID"
    succeeds
    is "$id" "$out"
    is bob "$(of "$id" claimed_by)"
}

@test "claim --wait is woken by a release" {
    id=$(task)
    cliq claim "$id" --as ann >/dev/null
    start_listening w claim --as bob --wait 60
    cliq release "$id" --as ann >/dev/null
    ended w "$PID"
    is "$id" "$out"
}

@test "claim --wait that comes to nothing is exit 4; interrupted, 130" {
    got claim --wait 50ms
    refused 4 "nothing to claim"
    start_listening w claim --wait 60
    kill -INT "$PID"
    ended w "$PID"
    code_is 130
    is "" "$err"
}

@test "a claim that nobody could be told of is given back" {
    [ -e /dev/full ] || skip "no /dev/full"
    id=$(task)
    code=0
    "$CLIQ" claim --as bob >/dev/full 2>"$T/err" || code=$?
    code_is 74
    is "pending open" "$(of "$id" delivery_state) $(of "$id" task_status)"
}

# ---- inbox, thread, list -------------------------------------------------------------------

@test "the inbox: of a role, of an identity, of yourself; by urgency, then age" {
    cliq role add dev >/dev/null && cliq role fill dev ruby >/dev/null
    cliq ring add ops >/dev/null && cliq ring join ops ruby >/dev/null
    a=$(cliq emit sense a --to-role dev)
    b=$(cliq emit sense b --to-ring ops --urgency 0.9)
    c=$(cliq emit sense c --to-identity ruby)
    cliq emit sense d --to-identity eve >/dev/null
    ids() { cut -f8 | paste -sd' '; }
    is "a" "$(cliq inbox dev | ids)"
    is "b a c" "$(cliq inbox @ruby | ids)"
    is "b a c" "$(cliq inbox --as ruby | ids)"
    is "b a c" "$(CLIQ_IDENTITY=ruby cliq inbox | ids)"
    is "" "$(cliq inbox nobody)"
    is "[]" "$(cliq inbox nobody --json)"
    is "$b"$'\tsense\t0.9\t'"$(id -un)"$'\t+ops\tpending\t\tb' "$(cliq inbox @ruby | head -1)"
}

@test "every filter of the inbox" {
    cliq emit sense one --to-role r --urgency 0.2 --tag x >/dev/null
    cliq emit alert two --to-role r --urgency 0.9 >/dev/null
    id=$(task three --to-role r)
    cliq claim "$id" --as bob >/dev/null
    ids() { cut -f8 | paste -sd' '; }
    is "two three one" "$(cliq inbox r | ids)"
    is "two" "$(cliq inbox r --type alert | ids)"
    is "two three" "$(cliq inbox r --type alert --type task | ids)"
    is "two three" "$(cliq inbox r --min-urgency 0.5 | ids)"
    is "three" "$(cliq inbox r --delivery-state leased | ids)"
    is "one" "$(cliq inbox r --project-tag x | ids)"
    is "three two one" "$(cliq inbox r --view history | ids)"
    is "three two one" "$(cliq inbox r --view recent | ids)"
    is "" "$(cliq inbox r --view stale | ids)"
    is "two three one" "$(cliq inbox r --receipt-state unread | ids)"
    is "" "$(cliq inbox r --receipt-state resolved | ids)"
}

@test "pages: the cursor on standard error goes on, --all has everything" {
    printf '{"signal_type":"sense","content":"%s","to_role":"r"}\n' {1..7} | cliq emit --batch >/dev/null
    got inbox r --limit 3
    code_is 0
    is "1 2 3" "$(cut -f8 "$T/out" | paste -sd' ')"
    like "$err" '^cliq: there is more: --after [A-Za-z0-9_-]+, or --all$'
    cursor=${err#*--after } && cursor=${cursor%,*}
    got inbox r --limit 4 --after "$cursor"
    succeeds
    is "4 5 6 7" "$(cut -f8 "$T/out" | paste -sd' ')"
    got inbox r --limit 2 --all
    succeeds
    is "1 2 3 4 5 6 7" "$(cut -f8 "$T/out" | paste -sd' ')"
    got signal list --all --json --limit 2
    succeeds
    is "7 6 5 4 3 2 1" "$(field content <"$T/out" | paste -sd' ')"
}

@test "acknowledge, resolve, snooze: for yourself only" {
    id=$(cliq emit sense x --to-role r)
    got inbox --as ann --acknowledge "$id"
    succeeds
    is "$id"$'\tacknowledged\t' "$out"
    is "$id" "$(cliq inbox r --as ann --receipt-state acknowledged | cut -f1)"
    is "" "$(cliq inbox r --as bob --receipt-state acknowledged)"
    got inbox --as ann --snooze "$id" --until +2h
    succeeds
    is "" "$(cliq inbox r --as ann)"
    is "$id" "$(cliq inbox r --as ann --include-snoozed | cut -f1)"
    is "$id" "$(cliq inbox r --as bob | cut -f1)"
    got inbox --as ann --unsnooze "$id"
    is "$id" "$(cliq inbox r --as ann | cut -f1)"
    got inbox --as ann --resolve "$id" --json
    succeeds
    is resolved "$(field receipt_state <"$T/out")"
    is "" "$(cliq inbox r --as ann)"
    is "$id" "$(cliq inbox r --as ann --include-resolved | cut -f1)"
    is pending "$(of "$id" delivery_state)"
}

@test "a thread, from any of its ids" {
    a=$(cliq emit query root)
    b=$(cliq emit sense child --parent "$a")
    c=$(cliq emit sense grandchild --parent "$b")
    cliq emit sense stranger >/dev/null
    for id in "$a" "$b" "$c"; do
        is "root child grandchild" "$(cliq thread "$id" | cut -f8 | paste -sd' ')"
    done
    is "root child grandchild" "$(cliq thread "${a#signal:}" --json | field content | paste -sd' ')"
}

@test "list by who and what" {
    task a --to-role dev --as ann >/dev/null
    b=$(task b --to-identity bob --as ann)
    cliq emit alert c --to-ring ops --as eve >/dev/null
    cliq claim "$b" --as bob >/dev/null
    names() { cut -f8 | paste -sd' '; }
    is "c b a" "$(cliq signal list | names)"
    is "b a" "$(cliq signal list --from-identity ann | names)"
    is "a" "$(cliq signal list --to-role dev | names)"
    is "b" "$(cliq signal list --to-identity bob | names)"
    is "c" "$(cliq signal list --to-ring ops | names)"
    is "b" "$(cliq signal list --claimed-by bob | names)"
    is "a" "$(cliq signal list --task-status open | names)"
}

# ---- broadcast -----------------------------------------------------------------------------

@test "a broadcast comes to the inbox of those whose pattern matches, but never to its sender" {
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

@test "sources: yourself as agent, webhook or process; system is cliq's own" {
    cliq signal generate a --source webhook --as ci >/dev/null
    cliq signal generate b --source process --as ci >/dev/null
    is "webhook process" "$(cliq signal events --json | $PY -c 'import json,sys;print(*[x["source"]["type"] for x in json.load(sys.stdin)])')"
    got signal generate c --source system
    refused 7 "system"
    got signal generate c --source nonsense
    refused 2 "nonsense"
}

@test "delayed: listed, replaced by its key, cancelled, delivered by whoever writes" {
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
    got signal cancel k --type a # what is no id is a key
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

@test "a closed standard input is told as that" {
    got emit sense - <&-
    refused 2 "standard input is closed"
    got emit --batch <&-
    refused 2 "standard input is closed"
    got emit sense - </
    refused 2 "Is a directory"
}

@test "a key that could not be printed does not count" {
    code=0
    "$CLIQ" key create --identity ci >/dev/full 2>"$T/err" || code=$?
    is 74 "$code"
    has "$(<"$T/err")" "revoked"
    is "[]" "$(cliq key list --json)"
    # a reader that is gone: the pipe's only reading end is closed before cliq starts
    mkfifo "$T/pipe"
    exec 7<>"$T/pipe" 8>"$T/pipe" 7<&-
    code=0
    "$CLIQ" key create --identity ci >&8 2>"$T/err" || code=$?
    exec 8>&-
    is 74 "$code"
    is "[]" "$(cliq key list --json)"
    like "$(cliq key create --identity ci)" '^cho_'
}

@test "what waits is cancelled by its sender only: another --as is refused, by id and by key" {
    id=$(cliq signal schedule daily --at +1h --repeat-key k --as ann)
    got signal cancel "$id" --as bob
    refused 7 "scheduled by ann"
    has "$err" "--as ann"
    got signal cancel k --as bob
    refused 7 "scheduled by ann"
    is "$id" "$(cliq signal delayed | cut -f1)"
    cliq signal schedule weekly --at +1h --repeat-key k --as bob >/dev/null
    got signal cancel k --as bob # of those under the key, bob's
    is 1 "$out"
    is "$id" "$(cliq signal delayed | cut -f1)"
    got signal cancel "$id" --as ann
    is 1 "$out"
}

@test "signal watch prints what matches, as it comes" {
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

@test "watch of a ring that is not there says so" {
    cliq ring add ops >/dev/null
    got_from timeout 20 "$CLIQ" watch --ring opps
    refused 4 'ring: there is no ring "opps"'
    start_listening w watch --ring ops
    cliq emit alert yes --to-ring ops >/dev/null
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

@test "a foreign line is a signal, too" {
    task first >/dev/null
    start_listening w watch --json
    echo '{"type":"from:shell","data":{"n":1}}' >>"$(events)"
    until_true has_lines "$T/w.out" 1
    kill -INT "$PID"
    ended w "$PID"
    is from:shell "$(field signal_type <"$T/out")"
    is from:shell "$(cliq signal events --limit 1 --json | field type)"
}

# ---- people and keys -------------------------------------------------------------------------

@test "identities, roles and rings" {
    got identity add ruby --name "Ruby R" --type agent --agent exec --dir /tmp
    succeeds
    is ruby "$out"
    got role add reviewer --name Reviewer --purpose "Reviews changes"
    is reviewer "$out"
    got role fill reviewer ruby
    succeeds
    is $'reviewer\truby' "$out"
    got role fill reviewer --as me
    is $'reviewer\tme' "$out"
    got ring add ops
    got ring join ops --as me
    is $'ops\tme' "$out"
    got role fill nosuch
    refused 4 'no role "nosuch"'
    got ring join nosuch
    refused 4 'no ring "nosuch"'
    got role list
    succeeds
    is $'reviewer\tReviewer\tme ruby\tReviews changes' "$out"
    is "ops" "$(cliq ring list --json | field id)"
    got identity list --json
    is "me ruby" "$(field id <"$T/out" | paste -sd' ')"
    is '["reviewer"]' "$(field roles <"$T/out" | tail -1)"
}

@test "from_role must be held, once the role is made" {
    cliq role add lead >/dev/null
    got emit sense x --from-role lead --as bob
    refused 2 "does not hold the role" "cliq role fill"
    cliq role fill lead bob >/dev/null
    got emit sense x --from-role lead --as bob
    succeeds
}

@test "keys: shown once, kept as a hash, listed, revoked" {
    got key create --identity ci --scope emit --scope inbox
    succeeds
    like "$out" '^cho_[A-Za-z0-9_-]{43}$'
    lacks "$(cat "$CLIQ_HOME"/signals/*)" "${out#cho_}"
    got key list
    succeeds
    like "$out" $'^[a-z0-9]+\tci\temit inbox\t'
    id=${out%%$'\t'*}
    got key revoke "$id"
    succeeds
    is "" "$(cliq key list)"
    got key revoke nosuch
    refused 4 "no key"
    got key create --identity ci --json
    is '["key", "identity", "scopes"] ["emit", "claim", "ack", "inbox", "stream"]' \
        "$($PY -c 'import json,sys;v=json.load(sys.stdin);print(json.dumps(list(v)),json.dumps(v["scopes"]))' <"$T/out")"
}

# ---- the store ---------------------------------------------------------------------------------

@test "what is not there: the hint names the command that lists it" {
    got role fill nobody bob
    refused 4 'no role "nobody"' "cliq role list" "cliq role add"
    got ring join nobody bob
    refused 4 'no ring "nobody"' "cliq ring list" "cliq ring add"
    got key revoke nobody
    refused 4 "no key nobody" "cliq key list"
    got ack signal:nobody
    refused 4 "no signal:nobody" "cliq signal list"
}

@test "check and stats make an index anew that is damaged, and say so" {
    for _ in $(seq 300); do echo '{"signal_type":"task","content":"of some length, so that there are many pages of it"}'; done | cliq emit --batch >/dev/null
    spoil() {
        $PY -c '
import os, sys
f = os.open(sys.argv[1], os.O_WRONLY)
for page in range(5, os.fstat(f).st_size // 4096):
    os.pwrite(f, os.urandom(4096), page * 4096)' "$CLIQ_HOME/signals/index.db"
    }
    spoil
    got hub check
    succeeds
    is "index: note: it was damaged, and is made anew
clean" "$out"
    got hub check
    is clean "$out"
    spoil
    got hub stats
    succeeds
    has "$out" "300"
}

@test "check, rebuild, stats, compact" {
    task a >/dev/null
    cliq claim >/dev/null
    got hub check
    succeeds
    is clean "$out"
    got hub stats --json
    is "1 1 2" "$(for k in signals leased last_seq; do field $k <"$T/out"; done | paste -sd' ')"
    got hub stats
    has "$out" $'leased\t1'
    rm "$CLIQ_HOME"/signals/index.db*
    is 1 "$(cliq signal list --task-status claimed | wc -l)"
    got hub rebuild
    succeeds
    is "2 events, 1 signals" "$out"
    got hub compact
    succeeds
    is "0 bytes dropped" "$out"
    got hub compact --json
    is 0 "$(field dropped_bytes <"$T/out")"
}

@test "check tells bad lines as fsck does, and stats count what can be read" {
    task a >/dev/null
    printf 'rubbish\n{"type":"from:a:shell"}\n{"type":"x","seq":9,"crc":"00000000"}\n{"op":"cla\n' >>"$(events)"
    task b >/dev/null
    got fsck --json "$(events)"
    fsck=$($PY -c 'import json,sys; r=json.load(sys.stdin)[0]; print(r["problems"], r["records"], *[(f["line"],f["level"],f["reason"]) for f in r["findings"]])' <"$T/out")
    got hub check --json
    code_is 1
    is "$fsck" "$($PY -c 'import json,sys; r=json.load(sys.stdin); print(r["problems"], sys.argv[1], *[(f["line"],f["level"],f["reason"]) for f in r["findings"]])' "$(cliq hub stats --json | field events)" <"$T/out")"
    is "2 0" "$(for k in bad_lines differences; do field $k <"$T/out"; done | paste -sd' ')"
    got hub check
    code_is 1
    has "$out" "events.jsonl:2: error: "
    has "$out" "events.jsonl:4: error: "
    has "$out" "events.jsonl:5: note: "
    has "$out" "BAD: 2 bad lines, which every reader passes over"
    is "" "$err"
    lacks "$out" "rebuild"
    is 3 "$(cliq hub stats --json | field signals)"
}

@test "a store that may be read but not written can be read, and says so when written to" {
    export CLIQ_IDENTITY=ann
    cliq role add dev >/dev/null
    a=$(cliq emit task one --to-role dev)
    b=$(cliq emit sense two --parent "$a")
    cliq signal schedule later --at +1h --repeat-key k >/dev/null
    cliq signal subscribe 'a:*' >/dev/null
    commands=("signal list" "inbox dev" "thread $a" "status-of $a" "signal events" "signal delayed"
        "signal subscriptions" "role list" "key list" "hub stats")
    printf '{"type":"from:a:shell"}\n' >>"$(events)" # the index there lags behind from now on
    chmod -R a-w "$CLIQ_HOME"
    meekly signal list --json
    succeeds
    is "from:a:shell sense task" "$(field signal_type <"$T/out" | paste -sd' ')"
    for words in "${commands[@]}"; do
        meekly $words --json
        succeeds || complain "(the words were: $words)"
        [ -s "$T/out" ]
    done
    meekly thread "$a" --json
    is "$a $b" "$(field id <"$T/out" | paste -sd' ')"
    meekly hub check
    succeeds
    is clean "$out"
    for words in "emit task x" "claim" "ack $a" "signal generate a:b" "hub rebuild" "hub compact --older-than 1h"; do
        meekly $words
        refused 7 "$CLIQ_HOME/signals may be read by you, but not written" || complain "(the words were: $words)"
    done
    is "" "$(find "$CLIQ_HOME" -newer "$(events)" -type f)"
    chmod -R u+w "$CLIQ_HOME"
    got claim "$a"
    is "$a" "$out"
}

@test "a store that cannot be written: exit 74, and what to do" {
    CLIQ_HOME=/proc/nothing got emit task x
    code_is 74
    mkdir -p "$CLIQ_HOME" && : >"$CLIQ_HOME/signals"
    got emit task x
    [ "$code" -ne 0 ]
    case $err in "cliq: "*) ;; *) complain "no sentence" ;; esac
    rm "$CLIQ_HOME/signals"
    task a >/dev/null
    bytes=$(stat -c %s "$(events)")
    (
        ulimit -f 8 # the index does not fit either
        got emit task "$(printf '%4000s' x)"
        refused 74 "index.db"
    )
    is "$bytes" "$(stat -c %s "$(events)")"
    got emit task after
    succeeds
}

# ---- bad input -----------------------------------------------------------------------------------

@test "what is wrong is refused with its name, and changes nothing" {
    id=$(task a)
    before=$(wc -l <"$(events)")
    while IFS='|' read -r want part words; do
        eval "got $words" </dev/null
        refused "$want" "$part" || complain "(the words were: $words)"
    done <<END
2|Give a type|emit
2|too much|emit task one -m two
2|too much|emit --type task -m one two
2|signal_type|emit ''
2|signal_type|emit '  '
2|--urgency needs a number|emit task x --urgency high
2|urgency must be a number from 0 to 1|emit task x --urgency 1.5
2|at most one of them|emit task x --to-role a --to-identity b
2|to_role must be a name|emit task x --to-role 'a b'
2|must be a name|emit task x --to-ring ../x
2|--data|emit task x --data '{'
2|quotes|emit task x --data plain
2|--resource needs a kind|emit task x --resource report
2|resources[0].kind|emit task x --resource picture:x
2|--tag is not UTF-8 (byte 2)|emit task x --tag $'a\xff'
2|not UTF-8|emit task $'\xff'
2|bad identity|emit task x --as 'a b'
2|bad identity|emit task x --as ..
2|needs a time|claim --lease soon
2|whole seconds|claim --lease 0.5
2|lease_seconds must be|claim --lease 0
2|leave it away|claim $id --wait 1
2|leave it away|claim $id --role dev
2|role must be a name|claim --role 'a b'
4|no signal:nosuch|claim signal:nosuch
4|no signal:nosuch|ack nosuch
4|no signal:nosuch|thread nosuch
4|no signal:nosuch|status-of nosuch
4|no signal:nosuch|status-of nosuch --history
4|no signal:nosuch|inbox --resolve nosuch
2|signal_id|ack ''
5|not claimed by you|extend $id
5|not claimed by you|release $id
5|not claimed by you|fail $id
5|only what is dead_letter|requeue $id
2|task_status must be one of|status-of $id finished
5|cannot go from open to done|status-of $id done
2|choose one|status-of $id done --history
2|which one?|status-of $id --claim-id c
2|view must be one of|inbox r --view later
2|receipt_state must be one of|inbox r --receipt-state lost
2|delivery_state must be one of|inbox r --delivery-state gone
2|limit must be a whole number|inbox r --limit 0
2|limit must be a whole number|inbox r --limit 101
2|--limit needs a whole number|inbox r --limit many
2|after must be|inbox r --after nonsense
2|min_urgency must be a number|inbox r --min-urgency 7
2|target must be|inbox 'a b'
2|needs --until|inbox --snooze $id
2|in the future|inbox --snooze $id --until 2001-01-01T00:00:00Z
2|--until|inbox --snooze $id --until tomorrow
2|--until is for --snooze|inbox --until +1h
2|choose one|inbox --resolve $id --acknowledge $id
2|leave "dev" away|inbox dev --resolve $id
2|leave it away|inbox --resolve $id --view now
2|Signal type is required|signal generate ''
2|pattern|signal subscribe ' '
2|not "a:**:b"|signal subscribe a:**:b
2|not "a:b*"|signal watch a:c a:b*
2|not "**"|watch --pattern **
2|type must be segments without a *|signal generate a:*
2|type must be segments without a *|signal schedule a:* --at +1h
2|signal_type must be segments without a *|emit * text
2|true or false|signal subscribe a --silent=maybe
2|--at|signal schedule a --at soon
2|--at|signal schedule a --at -5
2|which one?|signal cancel
2|--limit must be from 1 to 1000, not 0|signal events --limit 0
2|--limit must be from 1 to 1000, not 1001|signal events --limit 1001
2|--source must be agent, webhook or process, not "frob"|signal generate a --source frob
2|--source must be agent, webhook or process|signal schedule a --at +1h --source frob
2|scopes must be one of|key create --identity x --scope root
2|identity must be a name|key create --identity 'a b'
2|id must be a name|role add 'a/b'
2|id must be a name|ring add .x
2|id must be a text|identity add ''
2|http://|inbox --url ftp://x
2|no ?|inbox --url http://x/?a
7|no key|inbox --url http://127.0.0.1:1
END
    is "$before" "$(wc -l <"$(events)")"
}

@test "what comes from others cannot speak to the terminal" {
    cliq emit sense $'evil\x1b]0;title\a\nline\ttab' --to-role r >/dev/null
    got inbox r
    succeeds
    lacks "$out" $'\x1b'
    is 1 "$(wc -l <"$T/out")"
    is 8 "$(awk -F'\t' '{print NF}' "$T/out")"
}

@test "on a terminal there is a table" {
    command -v script >/dev/null || skip "no script"
    task "Review it" --to-role r >/dev/null
    script -qec "stty cols 200; NO_COLOR=1 '$CLIQ' inbox r" /dev/null </dev/null >"$T/tty"
    has "$(<"$T/tty")" "ID "
    has "$(<"$T/tty")" "CONTENT"
    has "$(<"$T/tty")" "Review it"
}

# ---- over HTTP -------------------------------------------------------------------------------------

@test "over HTTP: the same words, the request of the table, the same output" {
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

@test "over HTTP: what a server says becomes an exit code and a sentence" {
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

@test "over HTTP: a lost answer is asked for again under the same key; a key is never made twice" {
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

@test "over HTTP: claim --wait asks again until its time is over" {
    hub_server
    answers '200 {"data":null,"meta":{}}' '200 {"data":null,"meta":{}}' '200 {"data":{"id":"signal:x","claim_id":"c"},"meta":{}}'
    got claim --wait 90 --role dev
    succeeds
    is signal:x "$out"
    is '{"role":"dev","wait_seconds":60}' "$(asked 1 body)"
    is 3 "$(wc -l <"$T/requests")"
}

@test "over HTTP: what cannot be done says what to do" {
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
    got inbox
    refused 2 "whose inbox?"
    got key create --identity x
    refused 74
    CLIQ_KEY=$'a\nb' got ack x
    refused 7 "not a key"
}

# ---- what the README says ---------------------------------------------------------------------------

@test "the commands of the README's section run as they stand there" {
    sed -n '/^## Signals and tasks/,/^## More/p' "$ROOT/README.md" | sed -n '/^```sh$/,/^```$/p' | grep -v '^```' >"$T/readme.sh"
    [ "$(wc -l <"$T/readme.sh")" -ge 10 ]
    PATH=$BIN:$PATH got_from bash -euo pipefail "$T/readme.sh"
    code_is 0
    is "" "$err"
    has "$out" "Review PR 42"
    has "$out" "build:web:done"
    has "$out" "clean"
}

@test "commands alone keep the index's write-ahead log small" {
    for ((i = 0; i < 120; i++)); do
        "$CLIQ" emit pulse x >/dev/null
    done
    [ "$(stat -c %s "$CLIQ_HOME/signals/index.db-wal")" -lt 1000000 ]
    for ((i = 0; i < 1000; i++)); do
        echo '{"signal_type":"pulse"}'
    done | "$CLIQ" emit --batch >/dev/null
    "$CLIQ" hub rebuild
    [ "$(stat -c %s "$CLIQ_HOME/signals/index.db-wal")" -lt 1000000 ]
    "$CLIQ" hub check
}
