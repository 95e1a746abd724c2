#!/usr/bin/env bats
# cliq emit, and wrong input to every hub command.
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

@test "emit stores every option" {
    cliq role add lead >/dev/null
    cliq role fill lead ann >/dev/null
    cliq identity add ruby >/dev/null
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

@test "emit accepts type and content as words, as options, and from standard input" {
    is one "$(of "$(cliq emit pulse one)" content)"
    is two "$(of "$(cliq emit pulse -m two)" content)"
    is three "$(of "$(cliq emit --type pulse three)" content)"
    is four "$(of "$(cliq emit --type=pulse --message four)" content)"
    is $'five\nsix' "$(of "$(printf 'five\nsix' | cliq emit pulse -)" content)"
    is null "$(of "$(cliq emit pulse)" content)"
    is open "$(of "$(cliq emit build:it --task)" task_status)"
}

@test "emit hints at a type that is probably the content, or misspelt" {
    got emit "hello world"
    code_is 0
    like "$out" '^signal:'
    has "$err" 'did you mean cliq emit task "hello world"?'
    got emit tsk hello
    code_is 0
    has "$err" '"tsk" is a type of your own; did you mean task?'
    got emit build:done hello
    succeeds
    got emit task
    code_is 0
    has "$err" 'this task says nothing: cliq emit task "Review it", or - for standard input'
    got emit task --data '{"pr":42}'
    succeeds
    got emit ping
    succeeds
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

# ---- bad input -----------------------------------------------------------------------------------

@test "wrong input is refused with its name, and changes nothing" {
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
5|cannot go from open to done: claim it first|status-of $id done
5|cannot go from open to done: claim it first|done $id
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

@test "control bytes in signals of others are escaped" {
    cliq emit sense $'evil\x1b]0;title\a\nline\ttab' --to-role r >/dev/null
    got inbox r
    succeeds
    lacks "$out" $'\x1b'
    is 1 "$(wc -l <"$T/out")"
    is 8 "$(awk -F'\t' '{print NF}' "$T/out")"
}

@test "on a terminal the output is a table" {
    command -v script >/dev/null || skip "no script"
    task "Review it" --to-role r >/dev/null
    script -qec "stty cols 200; NO_COLOR=1 '$CLIQ' inbox r" /dev/null </dev/null >"$T/tty"
    has "$(<"$T/tty")" "ID "
    has "$(<"$T/tty")" "CONTENT"
    has "$(<"$T/tty")" "Review it"
}
