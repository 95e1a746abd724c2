#!/usr/bin/env bats
# A log that another program cut short or damaged under those who follow it.
load ../lib/cli
load ../lib/serve

# The log without its last N lines.
cut_log() {
    local log=home/signals/events.jsonl
    truncate -s "$(head -n "-$1" $log | wc -c)" $log
}

@test "followers of a log that is cut short are told, and no number is used twice" {
    for i in 1 2 3; do send /emit '{"signal_type":"pulse","content":"'$i'"}' >last; done
    n=$(json 'd["data"]["sequence"]' <last)
    curl -sN "$URL/signals/stream?since=0" -H "Authorization: Bearer $KEY" >live 3>&- &
    PIDS+=($!)
    start_listening files watch --json
    until_true grep -q "^id: $n" live
    cut_log 2
    until_true grep -q '^event: reset' live
    is "data: {\"oldest\":1,\"cut\":$((n + 1))}" "$(grep -A1 '^event: reset' live | tail -1)"
    is "id: $((n + 1))" "$(grep -B1 '^event: reset' live | head -1)"
    until_true grep -q '"type":"reset"' "$T/files.out"
    has "$(<$T/files.out)" "\"sequence\":$((n + 1)),\"oldest\":1"
    has "$(<$T/files.err)" "signals before $((n + 2)) are gone"
    is $((n + 2)) "$(send /emit '{"signal_type":"pulse","content":"after"}' | json 'd["data"]["sequence"]')"
    until_true grep -q after live
    until_true grep -q after "$T/files.out"
    is 1 "$(grep -c '^event: reset' live)"

    # Whoever was away is told, too, at its place; whoever was told is not.
    curl -sN "$URL/signals/stream" -H "Last-Event-ID: $n" -H "Authorization: Bearer $KEY" >away 3>&- &
    PIDS+=($!)
    curl -sN "$URL/signals/stream" -H "Last-Event-ID: $((n + 1))" -H "Authorization: Bearer $KEY" >told 3>&- &
    PIDS+=($!)
    CLIQ_KEY=$KEY start_listening url watch --json --since "$n" --url "$URL"
    until_true grep -q after away
    until_true grep -q after told
    until_true grep -q after "$T/url.out"
    is "reset pulse" "$(sed -n 's/^event: //p' away | paste -sd' ')"
    is "pulse" "$(sed -n 's/^event: //p' told | paste -sd' ')"
    has "$(<$T/url.out)" '"type":"reset"'
    "$CLIQ" hub check
}

@test "bad lines of the log are told of once: by commands, the server, /metrics and /health" {
    send /emit '{"signal_type":"pulse"}' >/dev/null
    is 0 "$(look /health | json 'd["data"]["store"]["bad_lines"]')"
    printf 'garbage\n{"type":"torn\n{"type":"x"}x\n' >junk
    cat junk >>home/signals/events.jsonl # in one write
    is_told() { grep -q "2 bad lines in events.jsonl passed over; cliq hub check tells which" errors; }
    until_true is_told
    send /emit '{"signal_type":"pulse"}' >/dev/null
    is 1 "$(grep -c "bad line" errors)"
    is 2 "$(look /health | json 'd["data"]["store"]["bad_lines"]')"
    metric_is log_bad_lines 2
    got emit pulse
    code_is 0
    is "cliq: warning: 2 bad lines in events.jsonl passed over; cliq hub check tells which" "$err"
    got hub stats
    has "$out" "bad_lines	2"
    is 1 "$(grep -c "bad line" <<<"$err")"
    got signal list --json
    is 1 "$(grep -c "bad line" <<<"$err")"
}
