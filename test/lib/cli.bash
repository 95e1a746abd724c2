# cli.bash - helpers of all black-box tests: load it at the top of a .bats file.
#
# setup gives each test its own directory ($T; the working directory is $T/work),
# with HOME and CLIQ_HOME in it and WARROOMS_DIR unset. `start` starts background
# processes; teardown ends those that are left, by pid.
#
#   got ARGS...      runs cliq: $code, $out, $err (and $T/out, $T/err, byte for byte)
#   meekly ARGS...   the same, without root's right to ignore file modes
#   is, has, lacks   compare, and print both sides when they differ
#   until_true       polls a condition, with a limit; only where there is no event
bats_require_minimum_version 1.5.0

ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
case ${BUILD:-build} in
/*) BIN=${BUILD:-build} ;;
*) BIN=$ROOT/${BUILD:-build} ;;
esac
CLIQ=$BIN/cliq
PY=/usr/bin/python3
[ -x $PY ] || PY=python3
export BIN CLIQ PY PYTHONDONTWRITEBYTECODE=1

setup() {
    T=$BATS_TEST_TMPDIR
    export T HOME=$T/home CLIQ_HOME=$T/cliqrc
    # Clears variables of the caller that change cliq's behaviour.
    unset out err code # an $out exported by the caller would be exported to programs
    unset WARROOMS_DIR CLIQ_IDENTITY CLIQ_URL CLIQ_KEY NO_COLOR CLICOLOR_FORCE FORCE_COLOR COLUMNS MAKEFLAGS MFLAGS MAKELEVEL
    export TERM=xterm LC_ALL=C.UTF-8 TZ=UTC
    mkdir -p "$HOME" "$T/work"
    cd "$T/work" || exit
    PIDS=()
}

teardown() {
    local p
    for p in "${PIDS[@]}"; do
        kill -CONT "$p" 2>/dev/null && kill -KILL "$p" 2>/dev/null
    done
    wait
}

cliq() { "$CLIQ" "$@"; }

# Runs cliq with this test's standard input; always returns 0.
got() {
    code=0
    "$CLIQ" "$@" >"$T/out" 2>"$T/err" || code=$?
    slurp
}
# The same for any program.
got_from() {
    code=0
    "$@" >"$T/out" 2>"$T/err" || code=$?
    slurp
}
# meekly ARGS...: got without root's right to ignore file modes.
meekly() {
    local way=()
    [ "$(id -u)" != 0 ] || way=(setpriv "--bounding-set=-dac_override,-dac_read_search" --)
    got_from "${way[@]}" "$CLIQ" "$@"
}
slurp() {
    { out=$(<"$T/out") && err=$(<"$T/err"); } 2>/dev/null # a NUL byte would make bash complain
}

complain() {
    printf '%s\n' "$@" >&2
    [ -z "${code+x}" ] || printf 'exit code: %s\nstdout: %.2000s\nstderr: %.2000s\n' "$code" "$out" "$err" >&2
    return 1
}

is() { # WANT GOT
    [ "$1" = "$2" ] || complain "want: $1" "got:  $2"
}
has() { # TEXT PART
    case $1 in *"$2"*) ;; *) complain "missing: $2" "in:      ${1:0:2000}" ;; esac
}
lacks() { # TEXT PART
    case $1 in *"$2"*) complain "unwanted: $2" "in:       ${1:0:2000}" ;; esac
}
like() { # TEXT REGEX
    [[ $1 =~ $2 ]] || complain "want like: $2" "got:       $1"
}

# Checks of the last `got`.
code_is() { is "$1" "$code"; }
succeeds() { code_is 0 && is "" "$err"; }
# Refused: this exit code, an error message with these parts, nothing on standard output.
refused() { # CODE PART...
    code_is "$1" || return 1
    [ ! -s "$T/out" ] || complain "standard output is not empty" || return 1
    case $err in "cliq: "*) ;; *) complain "no error message on standard error" || return 1 ;; esac
    shift
    local part
    for part in "$@"; do has "$err" "$part" || return 1; done
}

# ---- rooms -------------------------------------------------------------------

# post ROOM BODY [FROM TO TYPE REF]: posts and prints the id.
post() {
    "$CLIQ" channel post --room "$1" --from "${3:-engineer}" --to "${4:-qa}" --type "${5:-done}" \
        --ref "${6:-EPIC-001}" --body "$2"
}
# Sets A_POST to the same command as an array, for got and start.
a_post() { # ROOM BODY [FROM TO TYPE REF]
    A_POST=(channel post --room "$1" --from "${3:-engineer}" --to "${4:-qa}" --type "${5:-done}"
        --ref "${6:-EPIC-001}" --body "$2")
}
channel() { printf '%s\n' "${WARROOMS_DIR:-.war-rooms}/$1/channel.jsonl"; }
# bodies ROOM [OPTIONS...]: the bodies that read finds, separated by a space.
bodies() {
    local room=$1
    shift
    "$CLIQ" channel read --room "$room" --jsonl "$@" | sed -n 's/.*"body":"\([^"]*\)".*/\1/p' | paste -sd' '
}
# Posts messages that differ for every filter.
conversation() { # ROOM
    post "$1" one manager engineer task EPIC-001 >"$T/id1"
    post "$1" two engineer qa done EPIC-001 >"$T/id2"
    post "$1" three qa engineer review EPIC-002 >"$T/id3"
    post "$1" four engineer qa done EPIC-002 >"$T/id4"
    post "$1" five qa manager pass EPIC-001 >"$T/id5"
}

# ---- processes ---------------------------------------------------------------

# start NAME PROGRAM ARGS...: runs it in the background and sets $PID; `ended NAME PID` waits for it.
start() {
    local name=$1
    shift
    "$@" >"$T/$name.out" 2>"$T/$name.err" 3>&- &
    PID=$!
    PIDS+=("$PID")
}
# Waits at most 20 s for the end of a process of `start`; sets $code, $out, $err.
ended() { # NAME PID
    local p
    if ! until_true gone "$2"; then
        kill -KILL "$2"
        echo "$1 ($2) did not end" >&2
        return 1
    fi
    code=0
    wait "$2" || code=$?
    for p in out err; do cp "$T/$1.$p" "$T/$p"; done
    slurp
}
# The process and all its threads have ended: one may still wait for the disk.
gone() { [ ! -e "/proc/$1" ] || [ "$(grep -cE '^(State:.Z|Threads:.1$)' "/proc/$1/status" 2>/dev/null)" = 2 ]; }

# until_true COMMAND...: polls until it succeeds, for at most $BOUND (20) seconds.
until_true() {
    local end=$((SECONDS + ${BOUND:-20}))
    until "$@"; do
        if ((SECONDS >= end)); then
            echo "never came true: $*" >&2
            return 1
        fi
        sleep 0.02
    done
}
# Is cliq waiting for events? It has an epoll or signal descriptor, and sleeps.
listening() { # PID
    gone "$1" && return # the caller checks how it ended
    ls -l "/proc/$1/fd" 2>/dev/null | grep -qE "eventpoll|signalfd" &&
        grep -q '^State:.S' "/proc/$1/status" &&
        grep -qE "poll|^0?$" "/proc/$1/wchan" 2>/dev/null
}
has_lines() { # FILE N
    [ "$(wc -l <"$1" 2>/dev/null || echo 0)" -ge "$2" ]
}
# start_listening NAME ARGS...: starts cliq ARGS in the background and waits until it waits for events.
start_listening() {
    start "$1" "$CLIQ" "${@:2}"
    until_true listening "$PID"
}
# Does a process wait for the flock on this file?
waits_for_lock() { # FILE
    grep -q -- "-> FLOCK .*:$(stat -c %i "$1") " /proc/locks
}
