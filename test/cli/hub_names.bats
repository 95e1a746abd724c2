#!/usr/bin/env bats
# Names and ids as people write them: addressees that do not exist, shortened ids, what is open to
# anyone, what a terminal shows, and what completion offers.
load ../lib/cli
load ../lib/hub

on_terminal() { # COMMAND...: on a terminal of 80 columns, without colours
    script -qec "stty cols 80; NO_COLOR=1 $*" /dev/null </dev/null | tr -d '\r'
}

@test "a role, ring or identity that does not exist: done, with a warning and the near miss" {
    cliq role add reviewer >/dev/null
    got emit task x --to-role reviwer
    code_is 0
    has "$err" 'to_role: there is no role "reviwer" yet (did you mean reviewer?); the signal waits for it (cliq role add reviwer)'
    is "$out" "$(cliq inbox reviwer | cut -f1)"
    got emit task x --to-ring ops
    has "$err" 'to_ring: there is no ring "ops" yet; the signal waits for it (cliq ring add ops)'
    got emit task x --to-identity nobody
    has "$err" 'to_identity: there is no identity "nobody"'
    got emit task x --to-role reviewer
    is "" "$err"
    got emit task x --to-identity "$(id -un)"
    is "" "$err"
}

@test "emit --strict refuses one that does not exist, and stores nothing" {
    cliq role add reviewer >/dev/null
    lines=$(wc -l <"$(events)")
    got emit task x --to-role reviwer --strict
    refused 2 'there is no role "reviwer" (did you mean reviewer?)'
    is "$lines" "$(wc -l <"$(events)")"
    got emit task x --to-role reviewer --strict
    succeeds
}

@test "an empty inbox of a role that does not exist says so" {
    cliq role add reviewer >/dev/null
    got inbox reviwer
    code_is 0
    is "" "$out"
    has "$err" 'there is no role "reviwer" (did you mean reviewer?)'
    got inbox reviewer
    is "" "$err"
}

@test "a parent that no signal has: done, with a warning" {
    got emit sense x --parent nope
    code_is 0
    has "$err" "parent_id: there is no signal:nope yet; a thread of that name begins"
}

@test "a log that another program cut short is told once, with the lines that are gone" {
    task >/dev/null && task >/dev/null
    truncate -s 0 "$(events)"
    got signal list
    code_is 0
    is "cliq: warning: events.jsonl was cut short by another program: its lines 1 to 2 are gone" "$err"
    got signal list
    succeeds
}

@test "an admin may speak in any role, which then exists" {
    got emit sense x --from-role lead --as ann
    succeeds
    like "$(cliq role list)" '^lead'
}

@test "an unambiguous beginning or end of 6 characters is an id, for every command" {
    id=$(task --as ann)
    short=${id: -6} begin=${id:0:20}
    got thread "$short"
    is "$id" "$(cut -f1 <"$T/out")"
    got claim "$short" --as bob
    is "$id" "$(cut -f1 <"$T/out")"
    got extend "$begin" --as bob
    succeeds
    got status-of "$short" in_progress --as bob
    succeeds
    got emit sense reply --parent "$short" --json
    is "$id" "$(field parent_id <"$T/out")"
    got done "$short" --as bob
    succeeds
    got status-of "$short" --history
    succeeds
    got thread "${id: -5}"
    refused 4 "there is no signal:${id: -5}"
}

@test "a beginning that several signals have is refused, and they are named" {
    printf '%s\n' '{"id":"aaaabbbb1","type":"task","source":{"type":"process"},"createdAt":1}' \
        '{"id":"aaaabbbb2","type":"task","source":{"type":"process"},"createdAt":1}' >>"$(task >/dev/null; events)"
    got thread aaaabb
    refused 2 'id: "aaaabb" is the beginning or the end of several signals: signal:aaaabbbb1, signal:aaaabbbb2'
    got thread aaaabbbb2
    succeeds
}

@test "your own inbox tells apart what is open to anyone" {
    cliq emit task mine --to-identity ruby >/dev/null
    cliq emit task first >/dev/null && cliq emit task second >/dev/null
    cliq claim --as eve >/dev/null
    got inbox --as ruby
    is "mine" "$(cut -f8 <"$T/out")"
    is "cliq: 1 open task is addressed to nobody: cliq signal list --open-to-anyone" "$err"
    is "second" "$(cliq signal list --open-to-anyone | cut -f8)"
    got inbox --as ruby --json
    is "" "$err"
    on_terminal "'$CLIQ' inbox --as ruby" >"$T/tty"
    has "$(<"$T/tty")" "Open to anyone (cliq claim ID):"
    has "$(<"$T/tty")" "second"
}

@test "on a terminal: ids are shortened, rows fit 80 columns, times are relative, empty lists say so" {
    id=$(cliq emit task "$(printf 'word %.0s' {1..60})" --to-role a-role-with-a-rather-long-name-indeed 2>/dev/null)
    on_terminal "'$CLIQ' signal list" >"$T/tty"
    has "$(<"$T/tty")" "${id: -8}  task"
    lacks "$(<"$T/tty")" "$id"
    has "$(<"$T/tty")" "…"
    is 80 "$(LC_ALL=C.UTF-8 wc -L <"$T/tty")"
    on_terminal "'$CLIQ' signal events" >"$T/tty"
    has "$(<"$T/tty")" "just now"
    on_terminal "'$CLIQ' inbox nobody" >"$T/tty"
    has "$(<"$T/tty")" "nothing to show"
}

@test "on a terminal every time is relative: keys, claims, history" {
    cliq key create --identity bob --ttl 2h >/dev/null
    on_terminal "'$CLIQ' key list" >"$T/tty"
    like "$(<"$T/tty")" 'just now +[^ ]+ +in (2 h|1 h)'
    id=$(cliq emit task "Look at it")
    on_terminal "'$CLIQ' claim $id --as bob --lease 10m" >"$T/tty"
    like "$(<"$T/tty")" 'in (9|10) min'
    on_terminal "'$CLIQ' status-of $id --history" >"$T/tty"
    like "$(<"$T/tty")" 'just now +claim +bob'
    has "$(cliq status-of "$id" --history)" "$(date -u +%Y-%m-%dT)"
}

@test "a list that is empty for a role or ring that is not there says so, with the nearest" {
    cliq role add reviewer >/dev/null && cliq ring add ops >/dev/null
    got signal list --to-role reviewr
    is 'cliq: warning: to_role: there is no role "reviewr" (did you mean reviewer?)' "$err"
    got claim --role reviewr
    refused 4 "nothing to claim"
    has "$err" 'role: there is no role "reviewr" (did you mean reviewer?)'
    got claim --role reviewr --wait 0.1 # said when the wait begins
    refused 4 "nothing to claim"
    is 1 "$(grep -c 'role: there is no role "reviewr" (did you mean reviewer?)' "$T/err")"
    got signal list --to-ring opps
    is 'cliq: warning: to_ring: there is no ring "opps" (did you mean ops?)' "$err"
    got signal list --from-role reviewer
    is "" "$err"
}

@test "completion offers open ids, roles, rings and identities" {
    cliq role add reviewer >/dev/null && cliq ring add ops >/dev/null
    cliq identity add ruby >/dev/null
    id=$(cliq emit task "Look at it")
    is "${id: -8}"$'\ttask Look at it' "$(cliq complete -- claim "")"
    is "$id"$'\ttask Look at it' "$(cliq complete -- ack signal:)"
    is $'reviewer\trole' "$(cliq complete -- emit task x --to-role "")"
    is $'ops\tring' "$(cliq complete -- emit task x --to-ring "")"
    is $'ruby\tidentity' "$(cliq complete -- emit task x --to-identity ru)"
    is "" "$(cliq complete -- claim "${id: -8}" "")"
    is $'reviewer\trole' "$(cliq complete -- inbox "")"
    is $'reviewer\trole' "$(cliq complete -- role fill re)"
    is $'ops\tring' "$(cliq complete -- ring join "")"
}

@test "completion offers a task where it can be used: claimed ones to done, failed ones to requeue" {
    id=$(cliq emit task "Look at it")
    ends() { cliq complete -- "$@" "" | cut -f1; }
    is "" "$(ends done)"
    cliq claim "$id" >/dev/null
    for status in claimed in_progress blocked; do
        [ "$status" = claimed ] || cliq status-of "$id" "$status" >/dev/null
        for command in done extend release fail; do
            is "${id: -8}" "$(ends $command)"
        done
        is "" "$(ends claim)"
        is "${id: -8}" "$(ends thread)"
    done
    is "" "$(ends requeue)"
    cliq fail "$id" --error broken >/dev/null
    is "${id: -8}" "$(ends requeue)"
    is "" "$(ends done)"
}
