#!/usr/bin/env bats
# The hub under load while things break: what was acknowledged is there, exactly once and in order,
# and the index says what the log says. The programs are in test/checker, in another language than
# cliq and without a line of it; each says at its top what it does.
#
# Short by default. The full counts: HUB_KILLS=200 HUB_TASKS=10000 test/run test/scenario/hub_checker.bats
load ../lib/cli

export ASAN_OPTIONS=detect_leaks=0 # where it is built in: it cannot work under strace

KILLS=${HUB_KILLS:-20}
TASKS=${HUB_TASKS:-1000}

# checker PROGRAM ARGS...: runs it; its line of numbers goes to the test's output.
checker() {
    local code=0
    mkdir -p "$T/store"
    $PY "$BATS_TEST_DIRNAME/../checker/$1.py" "$CLIQ" "$T/store" "${@:2}" >"$T/said" 2>"$T/why" || code=$?
    [ $code != 77 ] || skip "so many files may not be open here, or processes not be traced"
    [ $code = 0 ] || complain "$(tail -c 3000 "$T/why")" || return 1
    sed 's/^/# /' "$T/said" >&3
    has "$(<"$T/said")" '"verdict": "good"'
}
# At least so many of these, by the numbers of the last checker.
at_least() { # N NAME
    local n
    n=$($PY -c 'import json,sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$T/said" "$2")
    [ "$n" -ge "$1" ] || complain "$2: only $n"
}
# on_small_disk PROGRAM ARGS...: the same with the store on a file system of 5 MB, which goes away
# with the process.
on_small_disk() {
    local own=(unshare --mount)
    [ "$(id -u)" = 0 ] || own=(unshare --user --map-root-user --mount)
    mkdir -p "$T/store/config"
    "${own[@]}" mount -t tmpfs -o size=5m cliq-test "$T/store/config" 2>"$T/why" || skip "cannot mount: $(<"$T/why")"
    export -f checker has complain
    export T CLIQ PY BATS_TEST_DIRNAME
    "${own[@]}" bash -c 'mount -t tmpfs -o size=5m cliq-test "$T/store/config" && chmod 700 "$T/store/config" && checker "$@"' _ "$@"
}

@test "the server is killed again and again: acknowledged = present, once, in order" {
    checker storm --http 16 --kills "$KILLS"
    at_least "$KILLS" kills
    at_least $((10 * KILLS)) acked
}

@test "the power fails again and again: acknowledged = present, once, in order" {
    checker storm --http 16 --kills "$KILLS" --cut
    at_least "$KILLS" kills
    at_least $((100 * KILLS)) lost_bytes # the log lacked them, and they came back
}

@test "commands are killed while they emit: what they printed is there, once" {
    checker storm --http 2 --cli 8 --kill-cli $((5 * KILLS))
    at_least $((5 * KILLS)) cli_killed
    at_least 1 cli_survived
    $PY "$BATS_TEST_DIRNAME/../checker/plant.py" "$T/store" # and the checker would have seen it
}

@test "server and commands are killed while the log is rotated" {
    checker storm --http 12 --cli 6 --kills "$KILLS" --kill-cli "$KILLS" --rotate
    at_least 2 segments
}

@test "a full disk: refused with 503, nothing acknowledged is lost, and it goes on when there is room" {
    on_small_disk storm --http 8 --cli 2 --full "$T/store/config/ballast" 5
    at_least 1 refused
}

@test "what comes due on a full disk waits quietly, and comes once when there is room" {
    on_small_disk due "$T/store/config/ballast"
}

@test "64 clients and 32 processes race for tasks: nothing is claimed twice, nothing is left" {
    checker race "$TASKS"
}

@test "2,000 streams at once: each gets every signal in order, and what it missed when it comes back" {
    checker streams many 2000 20
}

@test "streams that nobody reads cost a bounded queue each, and go on without a gap" {
    checker streams slow 20
}

@test "a read of the index that fails is no gap in any stream" {
    checker streams failing 10
}

@test "1,000 requests that never end are ended, and others do not wait for them" {
    checker streams slowloris 1000
}
