#!/usr/bin/env bats
# The library's hub calls from outside: the example programs, on files and at a server
# that is killed; the size of linked programs.
load ../lib/cli
load ../lib/hub
load ../lib/server

WORKER=$BIN/examples/hub_worker
LISTEN=$BIN/examples/hub_listen

state() { "$CLIQ" status-of "$1" --json | field "$2"; }
is_state() { [ "$(state "$1" delivery_state 2>/dev/null)" = "$2" ]; }

worker() { # NAME COMMAND
    start "$1" "$WORKER" dev "$2"
}
works() { # ack, release and fail of the worker, at CLIQ_URL or on files
    cliq role add dev >/dev/null
    cliq role fill dev "$1" >/dev/null
    local good bad
    CLIQ_IDENTITY=$1 worker w 'read -r what; echo "$what $CLIQ_TASK" >>"$T/worked"; case $what in good) ;; bad) exit 3 ;; back) exit 75 ;; esac'
    local pid=$PID
    good=$(cliq emit task good --to-role dev)
    until_true is_state "$good" acked
    bad=$(cliq emit task bad --to-role dev)
    BOUND=60 until_true grep -q "bad $bad" "$T/worked"
    until_true is_state "$bad" failed
    has "$(cliq status-of "$bad" --history --json)" "exit code 3"
    grep -q "good $good" "$T/worked"
    kill -TERM "$pid"
    ended w "$pid"
    code_is 0
}

@test "the worker claims, works, acks and fails, on files" {
    works ruby
}

@test "the worker does the same at a server" {
    boot
    cliq identity add ruby >/dev/null
    cliq role add dev >/dev/null
    CLIQ_KEY=$(cliq key create --identity ruby --json | field key) CLIQ_URL=$URL WORKER=$WORKER
    key=$CLIQ_KEY
    unset CLIQ_KEY CLIQ_URL
    worker() { CLIQ_URL=$URL CLIQ_KEY=$key start "$1" "$WORKER" dev "$2"; }
    works ruby
}

@test "a worker that gets SIGTERM finishes its task first" {
    cliq role add dev >/dev/null
    mkfifo "$T/gate"
    CLIQ_IDENTITY=ruby worker w 'cat >/dev/null; echo begun >>"$T/begun"; read -r x <"$T/gate"'
    cliq role fill dev ruby >/dev/null
    id=$(cliq emit task long --to-role dev)
    until_true test -s "$T/begun"
    kill -TERM "$PID"
    until_true is_state "$id" leased
    echo go >"$T/gate"
    ended w "$PID"
    code_is 0
    is acked "$(state "$id" delivery_state)"
}

@test "forty tasks, four workers, a server killed three times: each task is done and acked" {
    boot
    cliq role add dev >/dev/null
    local i n
    for i in 1 2 3 4; do
        cliq role fill dev "w$i" >/dev/null
        key=$(cliq key create --identity "w$i" --json | field key)
        # A server that is down longer than a call's retries ends a worker; it is restarted.
        CLIQ_URL=$URL CLIQ_KEY=$key start "w$i" sh -c 'while [ ! -e "$T/over" ]; do "$0" dev "$1" && exit; done' \
            "$WORKER" 'read -r n; echo "$n" >>"$T/done"'
    done
    for n in $(seq 40); do
        cliq emit task "$n" --to-role dev >/dev/null
        case $n in 10 | 20 | 30)
            until_true has_some "$T/done" $((n / 3))
            shoot
            boot
            ;;
        esac
    done
    BOUND=90 until_true all_acked
    : >"$T/over"
    is "$(seq 40)" "$(sort -nu "$T/done")" # none is lost; a lost ack may repeat one
}
all_acked() { [ "$(cliq signal list --type task --delivery-state acked --all --json | field id | wc -l)" = 40 ]; }

@test "the listener prints a pattern's signals and the inbox, on files and at a server" {
    boot
    key=$(cliq key create --identity eve --json | field key)
    for way in files server; do
        export CLIQ_IDENTITY=eve
        [ $way = files ] || export CLIQ_URL=$URL CLIQ_KEY=$key
        start pattern "$LISTEN" 'build:*:done'
        pattern=$PID
        start inbox "$LISTEN" -
        inbox=$PID
        unset CLIQ_URL CLIQ_KEY CLIQ_IDENTITY
        until_true grep -q listening "$T/pattern.err"
        until_true grep -q listening "$T/inbox.err"
        cliq signal generate build:web:done --data 1 >/dev/null
        cliq emit note "for eve" --to-identity eve >/dev/null
        cliq emit note "for all" >/dev/null
        cliq signal generate build:web:failed >/dev/null
        cliq emit note "for eve again" --to-identity eve >/dev/null
        until_true has_lines "$T/inbox.out" 2
        until_true has_lines "$T/pattern.out" 1
        is build:web:done "$(field signal_type <"$T/pattern.out")"
        is "for eve for eve again" "$(while read -r l; do field content <<<"$l"; done <"$T/inbox.out" | paste -sd' ')"
        kill -INT "$pattern" "$inbox"
        ended pattern "$pattern"
        code_is 0
        ended inbox "$inbox"
        code_is 0
        has "$err" "the last was $(tail -n 1 "$T/inbox.out" | field sequence)"
    done
}

# An event loop that reads its input from $T/in and listens to x:*.
looping() {
    mkfifo "$T/in"
    exec 7<>"$T/in" # child processes must not inherit it: its end ends the loop
    start loop bash -c 'exec "$1" "x:*" <"$2" 7>&-' _ "$BIN/examples/hub_poll" "$T/in"
    loop=$PID
}
has_said() { [ "$(tail -n 1 "$T/loop.out")" = "$1" ]; }
ticks() { local t; read -ra t < <(cut -d' ' -f14,15 "/proc/$loop/stat"); echo $((t[0] + t[1])); }
is_idle() { # it waits in poll; a busy loop would take a hundred ticks
    local before
    before=$(ticks)
    "$CLIQ" claim --role nobody --wait 1 >/dev/null 2>&1 || true # a second
    [ $(($(ticks) - before)) -lt 20 ] || complain "it runs on: $before ticks, then $(ticks)"
}

@test "an event loop gets signals and its other input, on files" {
    looping
    echo one >&7
    until_true has_said "input one"
    cliq emit x:1 first >/dev/null
    until_true has_said "signal x:1 first"
    cliq emit y other >/dev/null
    echo two >&7
    until_true has_said "input two"
    for i in $(seq 20); do printf '{"type":"x:%d","source":{"type":"process"}}\n' "$i"; done >>"$(events)"
    until_true has_said "signal x:20 "
    is_idle
    exec 7>&-
    ended loop "$loop"
    code_is 0
    is 23 "$(wc -l <"$T/loop.out")"
}

@test "an event loop gets signals over restarts of a server, from the same descriptor" {
    boot
    export CLIQ_URL=$URL CLIQ_KEY=$KEY
    looping
    unset CLIQ_URL CLIQ_KEY
    echo one >&7
    until_true has_said "input one"
    cliq emit x:1 first >/dev/null
    until_true has_said "signal x:1 first"
    for i in 2 3; do
        shoot
        cliq emit x:$i down >/dev/null
        echo "$i" >&7
        until_true has_said "input $i" # the loop is not blocked
        boot 7>&-
        until_true has_said "signal x:$i down"
    done
    is_idle
    cliq emit x:4 last >/dev/null
    until_true has_said "signal x:4 last"
    exec 7>&-
    ended loop "$loop"
    code_is 0
    is 7 "$(wc -l <"$T/loop.out")"
}

@test "cliq_next over three kills and restarts: no gap, no repeat" {
    boot
    CLIQ_URL=$URL CLIQ_KEY=$KEY start l "$LISTEN" '*' 0
    local pid=$PID n=0
    emitters
    for round in 1 2 3; do
        until_true has_some "$T/l.out" "$n"
        shoot
        boot
        n=$(wc -l <"$T/l.out")
    done
    quiet
    BOUND=40 until_true heard_it_all
    kill -INT "$pid"
    ended l "$pid"
    code_is 0
    heard_all "$T/l.heard"
    in_log | head -1 | cmp - <(head -1 "$T/l.heard")
}
heard_it_all() {
    "$PY" -c '
import json, sys
for l in open(sys.argv[1]):
    v = json.loads(l)
    print(v["sequence"], v["id"].replace("signal:", ""))' "$T/l.out" >"$T/l.heard" && has_heard "$T/l.heard" "$(last_in_log)"
}

@test "a static program that does not call the hub links no SQLite; one that does links the libraries of pkg-config" {
    [ "${BIN##*/}" = build ] || skip "the plain build only"
    command -v pkg-config >/dev/null || skip "no pkg-config"
    make -s -C "$ROOT" -o "$BIN/flags" BUILD="${BUILD:-build}" DESTDIR="$T/root" PREFIX=/usr install >/dev/null
    export PKG_CONFIG_PATH=$T/root/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=
    is "-lcliq -lpthread" "$(pkg-config --static --libs cliq | tr ' ' '\n' | grep -E '^-l' | paste -sd' ')"
    has "$(pkg-config --static --libs cliq-hub)" -lsqlite3
    has "$(pkg-config --static --libs cliq-hub)" -lsodium
    lacks "$(pkg-config --libs cliq-hub)" -lsqlite3
    local inc="-I$T/root/usr/include" lib="$T/root/usr/lib/libcliq.a"
    gcc $inc -o "$T/channel" "$ROOT/examples/channel.c" "$lib" -lpthread
    lacks "$(ldd "$T/channel")" sqlite
    got_from gcc $inc -o "$T/worker" "$ROOT/examples/hub_worker.c" "$lib" -lpthread
    code_is 1
    grep -q sqlite3_ "$T/err"
    gcc $inc -o "$T/worker" "$ROOT/examples/hub_worker.c" "$lib" $(pkg-config --static --libs cliq-hub | tr ' ' '\n' | grep -vE '^-lcliq$|^-L')
    gcc $inc -o "$T/shared" "$ROOT/examples/hub_worker.c" -L"$T/root/usr/lib" -lcliq
    # A program may define names that the library also uses inside.
    printf '%s\n' '#include <cliq.h>' 'int fetch = 7, sys = 8; int buf_add(void) { return 9; } int hubclient_open(void) { return 1; }' \
        'int main(void) { cliq_hub *h = 0; return cliq_hub_open(&h, 0, 0) ? 1 : (cliq_hub_close(h), fetch + sys + buf_add() + hubclient_open() - 25); }' >"$T/names.c"
    gcc $inc -o "$T/names" "$T/names.c" "$lib" -lsqlite3 -lsodium -lpthread
    "$T/names"
    gcc $inc -o "$T/names" "$T/names.c" -L"$T/root/usr/lib" -lcliq
    LD_LIBRARY_PATH=$T/root/usr/lib "$T/names"
}
