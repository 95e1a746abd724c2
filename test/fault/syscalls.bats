#!/usr/bin/env bats
# Fault injection with strace: every system call of a post fails, one at a time, in a new room, in an
# existing one, and behind a torn line. inject.py lists what must hold.
load ../lib/cli

export ASAN_OPTIONS=detect_leaks=0 # leak detection does not work under strace

may_trace() {
    command -v strace >/dev/null || skip "no strace here"
    strace -qq -o /dev/null true 2>/dev/null || skip "processes may not be traced here"
}

# inject AT_LEAST SYSCALL STATE [WHAT...]: at least AT_LEAST calls must fail.
inject() {
    local n
    may_trace
    n=$($PY "$BATS_TEST_DIRNAME/inject.py" "$CLIQ" "${@:2}")
    [ "$n" -ge "$1" ] || complain "only $n calls of $2 were made to fail ($3)"
}
everywhere() { # AT_LEAST_FRESH AT_LEAST_THERE SYSCALL [WHAT...]
    inject "$1" "$3" fresh "${@:4}"
    inject "$2" "$3" there "${@:4}"
    inject "$2" "$3" torn "${@:4}"
}

@test "openat may fail at any call, with any error" {
    everywhere 36 24 openat
}
@test "mkdirat may fail at any call, with any error" {
    inject 12 mkdirat fresh
}
@test "flock may fail at any call, with any error" {
    everywhere 12 12 flock
}
@test "fstat may fail at any call, with any error" {
    everywhere 6 6 statx,fstat,newfstatat
}
@test "pread64 may fail at any call, with any error" {
    inject 6 pread64 there
    inject 6 pread64 torn
}
@test "write may fail at any call, with any error" {
    everywhere 12 12 write
}
@test "lseek may fail at any call, with any error" {
    everywhere 6 6 lseek
}
@test "fdatasync may fail at any call, with any error" {
    everywhere 6 6 fdatasync
}
@test "fsync may fail at any call, with any error" {
    inject 18 fsync fresh
}
@test "getcwd may fail at any call, with any error" {
    everywhere 6 6 getcwd EIO ENOENT
}
@test "close may fail at any call, with any error" {
    everywhere 2 2 close EIO EINTR
}
@test "a short write is undone, whatever fails while it is" {
    inject 0 lseek short # these are not called: the case without a fault
    inject 6 ftruncate short
    inject 12 statx,fstat,newfstatat short
    inject 6 flock short
}

# Killed just before the call: between any two steps of a post.
@test "a post may be killed before any of its system calls" {
    local call
    for call in openat mkdirat fsync statx,fstat,newfstatat flock write lseek fdatasync close exit_group; do
        inject 1 $call fresh kill
    done
    for call in openat statx,fstat,newfstatat flock pread64 write lseek fdatasync close exit_group; do
        inject 1 $call there kill
        inject 1 $call torn kill
    done
}

@test "a failed write to standard output is exit 74, and the record stands" {
    may_trace
    post r first >/dev/null
    a_post r second
    got_from strace -f -qq -o "$T/trace" -e trace=write -e inject=write:error=EIO:when=2 "$CLIQ" "${A_POST[@]}"
    refused 74 "write to standard output: I"
    is "first second" "$(bodies r)"
}

@test "a failed sync is exit 74 and says that nobody knows" {
    may_trace
    post r first >/dev/null
    a_post r second
    got_from strace -f -qq -o "$T/trace" -e trace=fdatasync -e inject=fdatasync:error=EIO "$CLIQ" "${A_POST[@]}"
    refused 74 "sync channel.jsonl" "may or may not survive a crash"
}

@test "an id is printed only behind the sync: lock, write, sync, print" {
    may_trace
    post r first >/dev/null
    a_post r second
    got_from strace -f -qq -o "$T/trace" -e trace=flock,write,fdatasync "$CLIQ" "${A_POST[@]}"
    is "flock write fdatasync flock write" "$(sed 's/^[0-9]* *//; s/(.*//' "$T/trace" | paste -sd' ')"
    has "$(sed -n 2p "$T/trace")" '{\"v\":1,'
    has "$(sed -n 5p "$T/trace")" 'write(1, "engineer-done-'
}

@test "a read that fails in the middle is exit 74, not a shorter answer" {
    may_trace
    $PY -c 'print("{\"body\":\"%s\"}\n" % ("x" * 1000) * 200, end="")' >"$T/lines"
    mkdir -p .war-rooms/r
    cp "$T/lines" .war-rooms/r/channel.jsonl
    local n
    for n in 1 2 3; do
        got_from strace -f -qq -o "$T/trace" -e trace=pread64 -P "$PWD/.war-rooms/r/channel.jsonl" \
            -e inject=pread64:error=EIO:when=$n "$CLIQ" channel read --room r --jsonl
        code_is 74
        has "$err" "read the log: Input/output error"
    done
    got_from strace -f -qq -o "$T/trace" -e trace=pread64 -P "$PWD/.war-rooms/r/channel.jsonl" \
        -e inject=pread64:error=EIO:when=1 "$CLIQ" channel read --room r --last 1
    refused 74 "read the log: Input/output error"
}
