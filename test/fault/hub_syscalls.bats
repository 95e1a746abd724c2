#!/usr/bin/env bats
# Fault injection with strace: system calls on the hub's files fail one at a time, in the log (append)
# and in the index (apply). hub_inject.py lists what must hold. By default a sample of all calls;
# HUB_SYSCALLS=all tests every one.
load ../lib/cli

export ASAN_OPTIONS=detect_leaks=0 # leak detection does not work under strace

# inject AT_LEAST emit|claim|compact STATE SYSCALL WHAT...: at least AT_LEAST calls must fail.
inject() {
    local n
    command -v strace >/dev/null || skip "no strace here"
    strace -qq -o /dev/null true 2>/dev/null || skip "processes may not be traced here"
    n=$($PY "$BATS_TEST_DIRNAME/hub_inject.py" "$CLIQ" "${@:2}")
    [ "$n" -ge "$1" ] || complain "only $n calls of $4 were made to fail ($2, $3)"
}

@test "append: an emit whose write, sync or lock fails is told so, and is there or not" {
    inject 3 emit there write EIO ENOSPC kill
    inject 2 emit there fdatasync EIO kill
    inject 4 emit there flock EIO kill
}
@test "append: a claim likewise, with one winner in any case" {
    inject 3 claim there write EIO ENOSPC kill
    inject 2 claim there fdatasync EIO kill
}
@test "apply: an index that cannot be written costs nothing that is in the log" {
    inject 7 emit there pwrite64 ENOSPC
    inject 7 claim there pwrite64 kill
    inject 3 emit there ftruncate EIO ENOSPC kill
}
@test "apply: what others wrote is folded at the next try" {
    inject 7 emit behind pwrite64 kill
    inject 7 claim behind pread64 EIO
}
@test "apply: an index that is made again may fail at any point" {
    inject 9 emit lost pwrite64 EIO kill
    inject 7 claim lost fdatasync,unlink,renameat EIO kill
}
@test "the first command of all may fail at any point" {
    inject 4 emit fresh mkdirat ENOSPC kill
    inject 7 emit fresh openat EMFILE
}
@test "compact: whoever is killed or fails at any point has dropped all that goes, or nothing" {
    inject 6 compact segments fsync EIO kill
    inject 4 compact segments renameat EIO kill
    inject 4 compact segments unlink EIO kill
    inject 6 compact segments unlinkat EIO kill
    inject 6 compact segments openat,write kill
    inject 6 compact segments write,pwrite64 ENOSPC
}
@test "compact: the same once more, when something is kept already" {
    inject 3 compact again fsync kill
    inject 2 compact again renameat kill
    inject 3 compact again unlinkat kill
}
