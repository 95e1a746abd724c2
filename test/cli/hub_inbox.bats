#!/usr/bin/env bats
# cliq inbox, thread, list, and the identities, roles, rings and keys that decide what is shown.
load ../lib/cli
load ../lib/hub

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

@test "pages: the cursor on standard error continues, --all prints everything" {
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

@test "acknowledge, resolve and snooze apply to yourself only" {
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

@test "thread prints the whole thread from any of its ids" {
    a=$(cliq emit query root)
    b=$(cliq emit sense child --parent "$a")
    c=$(cliq emit sense grandchild --parent "$b")
    cliq emit sense stranger >/dev/null
    for id in "$a" "$b" "$c"; do
        is "root child grandchild" "$(cliq thread "$id" | cut -f8 | paste -sd' ')"
    done
    is "root child grandchild" "$(cliq thread "${a#signal:}" --json | field content | paste -sd' ')"
}

@test "list filters by sender, receiver, holder and status" {
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

@test "a key is shown once, stored as a hash, listed, revoked" {
    got key create --identity ci --scope emit --scope inbox
    succeeds
    like "$out" '^cho_[A-Za-z0-9_-]{43}$'
    lacks "$(cat "$CLIQ_HOME"/signals/*)" "${out#cho_}"
    got key list
    succeeds
    like "$out" $'^[a-z0-9]+\tci\temit inbox\t'
    id=${out%%$'\t'*}
    got key revoke "${id: -6}" # an end of it, as of every id
    succeeds
    is "" "$(cliq key list)"
    got key revoke nosuch
    refused 4 "no key"
    got key create --identity ci --json
    is "key identity scopes" "$($PY -c 'import json,sys;print(*json.load(sys.stdin))' <"$T/out")"
    has "$out" '"scopes":["emit","claim","ack","inbox","stream"'
    lacks "$out" '"admin"'
    lacks "$out" '"audit"'
}

@test "a key that could not be printed is revoked" {
    code=0
    "$CLIQ" key create --identity ci >/dev/full 2>"$T/err" || code=$?
    is 74 "$code"
    has "$(<"$T/err")" "revoked"
    is "[]" "$(cliq key list --json)"
    # the pipe's only reading end is closed before cliq starts
    mkfifo "$T/pipe"
    exec 7<>"$T/pipe" 8>"$T/pipe" 7<&-
    code=0
    "$CLIQ" key create --identity ci >&8 2>"$T/err" || code=$?
    exec 8>&-
    is 74 "$code"
    is "[]" "$(cliq key list --json)"
    like "$(cliq key create --identity ci)" '^cho_'
}
