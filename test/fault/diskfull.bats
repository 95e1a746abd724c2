#!/usr/bin/env bats
# A full disk, a file size limit, missing permission, a busy lock: posts fail with a clear
# message, leave no partial line, and work again when the cause is gone.
load ../lib/cli

# fill_and_free: run it on a small file system that has a file "ballast". Three times, posts until
# the disk is full and then makes room.
fill_and_free() {
    local round ids=0 size
    for round in 1 2 3; do
        for size in 20000 3000 100; do # ever smaller: to the last block
            head -c $size /dev/zero | tr '\0' x >"$T/body"
            for ((n = 0; ; n++)); do
                [ $n -lt 5000 ] || complain "never full" || return 1
                got channel post --room r --from a --to b --type done --ref $((ids + 1)) --body - <"$T/body"
                [ "$code" = 0 ] || break
                ids=$((ids + 1))
                echo "$out" >>"$T/ids"
            done
            refused 74 "channel.jsonl" || return 1
            grep -qE "No space left|disk full" "$T/err" || complain "why?" || return 1
            # The acknowledged messages, and no others, are in the file.
            is "$ids" "$(wc -l <.war-rooms/r/channel.jsonl)" || return 1
            is "" "$(tail -c1 .war-rooms/r/channel.jsonl)" || return 1
        done
        truncate -s $((100000 * (3 - round))) ballast || return 1
        got channel post --room r --from a --to b --type done --ref $((ids + 1)) --body again
        succeeds || return 1
        ids=$((ids + 1))
        echo "$out" >>"$T/ids"
    done
    got channel read --room r --jsonl
    succeeds || return 1
    cmp <(sed 's/.*"id":"\([^"]*\)".*/\1/' "$T/out") "$T/ids" || return 1
    got fsck .war-rooms/r/channel.jsonl
    succeeds && has "$out" "clean: $ids records in $ids lines" && lacks "$out" note
}

# on_mount COMMAND: mounts a file system on $T/mnt with COMMAND (a function), in a new mount
# namespace that ends with the process, and runs fill_and_free there.
on_mount() {
    mkdir "$T/mnt"
    local own=(unshare --mount)
    [ "$(id -u)" = 0 ] || own=(unshare --user --map-root-user --mount)
    "${own[@]}" true 2>/dev/null || skip "no mount namespaces here"
    export -f "$1" fill_and_free got slurp complain refused code_is is has lacks succeeds
    "${own[@]}" bash -c '
        '"$1"' >"$T/why" 2>&1 || { echo "mount: $(<"$T/why")" >&2; exit 99; }
        cd "$T/mnt" && head -c 300000 /dev/zero >ballast && fill_and_free' || {
        local rc=$?
        [ $rc != 99 ] || skip "cannot mount: $(<"$T/why")"
        return $rc
    }
}
mount_tmpfs() { mount -t tmpfs -o size=1m cliq-test "$T/mnt"; }
mount_ext4() {
    truncate -s 4M "$T/image" && mkfs.ext4 -q -O ^has_journal -m 0 "$T/image" && mount -o loop "$T/image" "$T/mnt" &&
        head -c 2500000 /dev/zero >"$T/mnt/more"
}

@test "a full tmpfs: exit 74, all that was acknowledged is there and nothing else; room made, posting goes on" {
    on_mount mount_tmpfs
}

@test "a full ext4: exit 74, all that was acknowledged is there and nothing else; room made, posting goes on" {
    command -v mkfs.ext4 >/dev/null || skip "no mkfs.ext4 here"
    on_mount mount_ext4
}

@test "over a file size limit: exit 74, not death, and the line is taken back" {
    post r first >/dev/null
    local size
    size=$(wc -c <.war-rooms/r/channel.jsonl)
    head -c 20000 /dev/zero | tr '\0' x >"$T/body"
    (
        ulimit -f 8
        got channel post --room r --from a --to b --type done --ref x --body - <"$T/body"
        refused 74 "append to channel.jsonl: only $((8192 - size)) of" "bytes could be written"
    )
    is "$size" "$(wc -c <.war-rooms/r/channel.jsonl)"
    (
        ulimit -f 0
        a_post r never
        code=0
        said=$("$CLIQ" "${A_POST[@]}" 2>&1) || code=$?
        is 74 "$code"
        is "cliq: append to channel.jsonl: File too large" "$said"
    )
    is "$size" "$(wc -c <.war-rooms/r/channel.jsonl)"
    post r second >/dev/null
    is "first second" "$(bodies r)"
}

@test "no right to write: exit 7 and a reason" {
    post r first >/dev/null
    chmod 400 .war-rooms/r/channel.jsonl
    meekly channel post --room r --from a --to b --type done --ref x --body x
    refused 7 "channel.jsonl: Permission denied"
    is first "$(bodies r)"
}

# hold [LINE]: starts a Python process that holds the lock until it reads a line from $T/go. It
# writes the first half of LINE before, and the rest after that.
hold() {
    mkfifo "$T/go"
    exec 8<>"$T/go"
    start holder $PY -c 'import fcntl, sys
f = open(".war-rooms/r/channel.jsonl", "a")
fcntl.flock(f.fileno(), fcntl.LOCK_EX)
line = sys.argv[2] + "\n" if sys.argv[2] else ""
f.write(line[: len(line) // 2])
f.flush()
print("locked", flush=True)
open(sys.argv[1]).readline()
f.write(line[len(line) // 2 :])
f.flush()
fcntl.flock(f.fileno(), fcntl.LOCK_UN)' "$T/go" "${1:-}"
    until_true has_lines "$T/holder.out" 1
    HOLDER=$PID
}

@test "a lock held for more than 10 s: exit 74 naming the holder, and nothing is written" {
    post r first >/dev/null
    hold
    local begin=$SECONDS
    a_post r never
    start post "$CLIQ" "${A_POST[@]}"
    ended post "$PID"
    refused 74 "channel.jsonl has been locked by pid $HOLDER (python3" "for more than 10 s; nothing was written"
    [ $((SECONDS - begin)) -ge 9 ]
    is first "$(bodies r)" # reading takes no lock
    echo go >&8
    ended holder "$HOLDER"
    post r second >/dev/null
    is "first second" "$(bodies r)"
}

@test "a post waits for a stopped holder in the middle of a line, and both messages are whole" {
    post r first >/dev/null
    hold '{"v": 1, "id": "python-done-1-1", "body": "theirs"}'
    kill -STOP "$HOLDER"
    a_post r ours
    start post "$CLIQ" "${A_POST[@]}"
    local post=$PID
    until_true waits_for_lock .war-rooms/r/channel.jsonl
    is first "$(bodies r)"
    echo go >&8
    kill -CONT "$HOLDER"
    ended holder "$HOLDER"
    code_is 0
    ended post "$post"
    succeeds
    is "first theirs ours" "$(bodies r)"
}

@test "many posts that wait for one lock all come through when it is free" {
    post r first >/dev/null
    hold
    local i pids=()
    for i in 1 2 3 4 5 6 7 8; do
        a_post r "m$i"
        start "post$i" "$CLIQ" "${A_POST[@]}"
        pids+=("$PID")
    done
    until_true waits_for_lock .war-rooms/r/channel.jsonl
    echo go >&8
    for i in 1 2 3 4 5 6 7 8; do
        ended "post$i" "${pids[i - 1]}"
        succeeds
    done
    is "first m1 m2 m3 m4 m5 m6 m7 m8" "$(bodies r | tr ' ' '\n' | sort | paste -sd' ')"
}

@test "a lock that nobody keeps is not waited for: a holder that dies frees it" {
    post r first >/dev/null
    hold
    a_post r second
    start post "$CLIQ" "${A_POST[@]}"
    local post=$PID
    until_true waits_for_lock .war-rooms/r/channel.jsonl
    kill -KILL "$HOLDER"
    ended post "$post"
    succeeds
    is "first second" "$(bodies r)"
}

@test "a channel replaced while a post waits for its lock gets the message" {
    post r first >/dev/null
    hold
    a_post r second
    start post "$CLIQ" "${A_POST[@]}"
    local post=$PID
    until_true waits_for_lock .war-rooms/r/channel.jsonl
    echo '{"body":"replaced"}' >"$T/new"
    mv "$T/new" .war-rooms/r/channel.jsonl
    echo go >&8
    ended post "$post"
    succeeds
    is "replaced second" "$(bodies r)"
}
