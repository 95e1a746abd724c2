#!/usr/bin/env bats
# Under valgrind: no error, no leak, no descriptor lost, however a command ends.
load ../lib/cli

may_valgrind() {
    command -v valgrind >/dev/null || skip "no valgrind here"
    ! grep -q __asan_init "$CLIQ" || skip "the address sanitizer and valgrind do not mix"
}

# clean CODE ARGS...: cliq ARGS under valgrind; with this exit code and without a report.
clean() {
    local want=$1
    shift
    may_valgrind
    got_from valgrind -q --error-exitcode=99 --leak-check=full --show-leak-kinds=all --errors-for-leak-kinds=all \
        --track-fds=yes --log-file="$T/valgrind" "$CLIQ" "$@"
    # Descriptors of bats and valgrind do not count.
    [ "$code" = "$want" ] &&
        ! sed -n '/Open /{N;/inherited from parent/d;p}' "$T/valgrind" | grep . >&2 ||
        complain "want exit code $want" "$(<"$T/valgrind")"
}

some_channel() {
    conversation r
    printf 'bad\n{"body":"caf\\u00e9","x":[1,{"y":null}]}\n{"tor' >>.war-rooms/r/channel.jsonl
}

@test "valgrind reports a leak and a lost descriptor" {
    printf '#include <fcntl.h>\n#include <stdlib.h>\nint main(void) { open("/dev/null", 0); return malloc(3) == 0; }\n' >"$T/leak.c"
    gcc -o "$T/leak" "$T/leak.c"
    CLIQ=$T/leak
    run clean 0
    [ "$status" -ne 0 ]
    has "$output" "definitely lost"
    has "$output" "Open file descriptor 3"
}

@test "post is clean: new room, existing room, standard input, truncated body, torn tail" {
    clean 0 channel post --room r --from a --to b --type done --ref x --body hello
    clean 0 channel post --room r --from a --to b --type mine --any-type --ref x --body hello
    head -c 70000 /dev/zero | tr '\0' x >"$T/body"
    clean 0 channel post --room r --from a --to b --type done --ref x --body - <"$T/body"
    printf '{"torn' >>.war-rooms/r/channel.jsonl
    echo '{"channel":{"max_message_size_bytes":100}}' >.war-rooms/config.json
    clean 0 channel post --room r --from a --to b --type done --ref x --body hello
}

@test "post is clean when it is refused" {
    clean 2 channel post --room .. --from a --to b --type done --ref x --body hello
    clean 2 channel post --room r --from a --to b --type doen --ref x --body hello
    clean 2 channel post --room r --from a --to b --type done --ref x
    printf 'a\xff' >"$T/body"
    clean 2 channel post --room r --from a --to b --type done --ref x --body - <"$T/body"
    mkdir -p .war-rooms/l
    echo '{"channel":{"max_message_size_bytes":0}}' >.war-rooms/config.json
    clean 2 channel post --room r --from a --to b --type done --ref x --body hello
    rm .war-rooms/config.json
    ln -s nowhere .war-rooms/l/channel.jsonl
    clean 2 channel post --room l --from a --to b --type done --ref x --body hello
}

@test "read is clean in all forms" {
    some_channel
    clean 0 channel read --room r
    clean 0 channel read --room r --jsonl
    clean 0 channel read --room r --text
    clean 0 channel read --room nowhere
}

@test "read is clean with every filter" {
    some_channel
    clean 0 channel read --room r --type done --type pass --from engineer --to qa --ref EPIC-001
    clean 0 channel read --room r --last 2
    clean 0 channel read --room r --last 100 --text
    clean 0 channel read --room r --after "$(<"$T/id2")" --last 1 --jsonl
    clean 0 channel read --room r --after nothing
}

@test "read is clean when it fails" {
    some_channel
    clean 2 channel read --room a/b
    clean 2 channel read --room r --json --text
    ln -s r .war-rooms/l
    clean 2 channel read --room l
}

@test "wait is clean: a match, a timeout, a wrong id, a refusal" {
    some_channel
    clean 0 channel wait --room r --any
    clean 0 channel wait --room r --after "$(<"$T/id2")" --type pass
    clean 6 channel wait --room r --timeout 0.01
    clean 6 channel wait --room nowhere --timeout 0.01
    clean 4 channel wait --room r --after nothing
    clean 2 channel wait --room r --type doen
}

@test "wait and follow are clean when a signal ends them" {
    may_valgrind
    some_channel
    local command
    for command in wait "follow --all"; do
        rm -f "$T/valgrind"
        (clean 130 channel $command --room r) 3>&- &
        local job=$!
        PIDS+=($job)
        until_true [ -e "$T/valgrind" ]
        # The program is a child of the subshell.
        until_true pgrep -P "$job" >/dev/null
        local pid
        pid=$(pgrep -P "$job")
        until_true listening "$pid"
        kill -INT "$pid"
        wait "$job"
    done
}

@test "rooms is clean, with and without rooms" {
    clean 0 channel rooms
    some_channel
    mkdir .war-rooms/empty .war-rooms/bad
    ln -s nowhere .war-rooms/bad/channel.jsonl
    clean 0 channel rooms
    clean 0 channel rooms --text
}

@test "fsck is clean: good file, bad file, JSON, missing file" {
    some_channel
    clean 1 fsck .war-rooms/r/channel.jsonl
    clean 1 fsck --json .war-rooms/r/channel.jsonl .war-rooms/r/channel.jsonl
    clean 4 fsck nowhere
    clean 2 fsck .
}

@test "help, version, completion and wrong usage are clean" {
    clean 0 help
    clean 0 help --scdoc channel read
    clean 0 channel post --help
    clean 0 version
    clean 0 completion zsh
    clean 0 complete -- channel read --type ""
    clean 2 chanel
    clean 2 help nothing
    clean 2 channel read --no-such
    clean 0
}
