#!/usr/bin/env bats
# A real EventSource (the npm package of that name, in node) over servers that are killed: it
# receives exactly the events in the log.
load ../lib/cli
load ../lib/hub
load ../lib/server

lib_setup=$(declare -f setup)
eval "base_$lib_setup"
setup() {
    base_setup
    command -v node >/dev/null || skip "no node"
    export NODE_PATH=/usr/share/nodejs # where Debian keeps them
    node -e 'require("eventsource")' 2>/dev/null ||
        skip "no eventsource for node: apt-get install node-eventsource"
    export CLIQ_IDENTITY=tester
}
listen() { # NAME PATH [TYPE...]
    start "$1" node "$BATS_TEST_DIRNAME/eventsource.cjs" "$URL$2" "$KEY" "$T/$1.heard" "${@:3}"
    until_true grep -q opened "$T/$1.out"
}
opened() { grep -c opened "$T/$1.out"; }
opened_again() { [ "$(opened "$1")" -gt "$2" ]; }

@test "an EventSource over five kills and restarts: no gap, no repeat" {
    boot
    listen hub /signals/stream 0.even 1.even
    listen broadcast /v1/engine/events
    listen filtered '/signals/stream?type=1.even' 0.even 1.even
    emitters
    for round in 1 2 3 4 5; do
        local before_hub=$(wc -l <"$T/hub.heard" || echo 0) n=$(opened hub) m=$(opened broadcast) k=$(opened filtered)
        until_true has_some "$T/hub.heard" "$before_hub"
        shoot
        boot
        until_true opened_again hub "$n"
        until_true opened_again broadcast "$m"
        until_true opened_again filtered "$k"
    done
    quiet
    heard_all "$T/hub.heard"
    heard_all "$T/broadcast.heard"
    heard_all "$T/filtered.heard" '^1'
    # and there were events to compare
    [ "$(wc -l <"$T/hub.heard")" -gt 20 ]
    in_log | head -1 | cmp - <(head -1 "$T/hub.heard")
}

@test "an EventSource that was cut off before its first signal misses nothing" {
    boot
    cliq emit 0.even before >/dev/null
    listen early /signals/stream 0.even 1.even
    shoot
    cliq emit 1.even "while nobody served" >/dev/null
    boot
    until_true opened_again early 1
    cliq emit 0.even after >/dev/null
    until_true has_heard "$T/early.heard" "$(last_in_log)"
    is "$(in_log | tail -n 2)" "$(<"$T/early.heard")"
}
