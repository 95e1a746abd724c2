#!/usr/bin/env bats
# The hub's store: check, rebuild, stats, compact, and a store that cannot be written.
load ../lib/cli
load ../lib/hub

# ---- the store ---------------------------------------------------------------------------------

@test "an unknown name is refused with the command that lists the known ones" {
    got role fill nobody bob
    refused 4 'no role "nobody"' "cliq role list" "cliq role add"
    got ring join nobody bob
    refused 4 'no ring "nobody"' "cliq ring list" "cliq ring add"
    got key revoke nobody
    refused 4 "no key nobody" "cliq key list"
    got ack signal:nobody
    refused 4 "no signal:nobody" "cliq signal list"
}

@test "check and stats rebuild a damaged index, and say so" {
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

@test "stats counts the signals of each state, also of an index that was made anew" {
    counts() { cliq hub stats --json | $PY -c 'import json,sys; s=json.load(sys.stdin); print(*[s[k] for k in ("signals","pending","leased","acked","failed","dead_letter","expired")])'; }
    is "0 0 0 0 0 0 0" "$(counts)"
    cliq signal generate a:b:c >/dev/null
    local id
    for _ in 1 2; do
        id=$(task done)
        cliq claim >/dev/null
        cliq ack "$id" >/dev/null
    done
    id=$(task fails)
    cliq claim >/dev/null
    cliq fail "$id" --retry-in 1h >/dev/null
    task claimed >/dev/null
    cliq claim >/dev/null
    id=$(task released)
    cliq claim >/dev/null
    cliq release "$id" >/dev/null
    task waits >/dev/null
    is "7 3 1 2 1 0 0" "$(counts)"
    cliq hub rebuild >/dev/null
    is "7 3 1 2 1 0 0" "$(counts)"
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

@test "check reports bad lines as fsck does, and stats counts the readable ones" {
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

@test "a read-only store can be read, and a write to it is refused" {
    export CLIQ_IDENTITY=ann
    cliq role add dev >/dev/null
    a=$(cliq emit task one --to-role dev)
    b=$(cliq emit sense two --parent "$a")
    cliq signal schedule later --at +1h --repeat-key k >/dev/null
    cliq signal subscribe 'a:*' >/dev/null
    commands=("signal list" "inbox dev" "thread $a" "status-of $a" "signal events" "signal delayed"
        "signal subscriptions" "role list" "key list" "hub stats")
    printf '{"type":"from:a:shell"}\n' >>"$(events)" # from now on the index is behind the log
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

@test "a failed write to the store is exit 74 and says what to do" {
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

# ---- the README ---------------------------------------------------------------------------

@test "the commands of the README's section run unchanged" {
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

@test "a store that others may write is refused, with the command that mends it" {
    cliq emit task one >/dev/null
    for what in "" /signals /signals/events.jsonl /signals/index.db; do
        for mode in g+w o+w; do
            chmod $mode "$CLIQ_HOME$what"
            for words in "emit task x" "signal list" "hub check" "serve --listen 127.0.0.1:0"; do
                got $words
                refused 7 "others may write $CLIQ_HOME$what (mode" ": chmod go-w $CLIQ_HOME$what"
            done
            eval "${err##*: }"
            got emit task y
            succeeds
        done
    done
    [ "$(id -u)" = 0 ] || skip "only root can make files of others"
    chown 12345 "$(events)"
    got emit task x
    refused 7 "$(events) belongs to another user (uid 12345)" "chown -R 0 $(events)"
    chown -R 12345 "$CLIQ_HOME"
    got signal list
    refused 7 "belongs to another user"
    chmod -R go+rX "$CLIQ_HOME"
    meekly signal list # what can only be read, may be read
    succeeds
}
