#!/bin/sh
# A manager, an engineer and a reviewer: three processes that only
# share one war-room channel complete a task together.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
cliq=${CLIQ:-$here/build/cliq}
work=$(mktemp -d "${TMPDIR:-/tmp}/cliq-demo.XXXXXX")
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
export WARROOMS_DIR="$work/.war-rooms"
cd "$work"

say() { "$cliq" channel post --room room-001 --ref EPIC-001 "$@" >/dev/null; }
wait_for() { "$cliq" channel wait --room room-001 --any --timeout 30 "$@"; }

# The engineer waits for a task, does it, and repairs it on a fix message.
engineer() {
    wait_for --type task --to engineer >/dev/null
    printf 'add() { echo $(($1 - $2)); }\n' >add.sh
    say --from engineer --to qa --type done --body "add.sh written: add A B prints the sum"
    wait_for --type fix --to engineer >/dev/null
    printf 'add() { echo $(($1 + $2)); }\n' >add.sh
    say --from engineer --to qa --type done --body "fixed: it subtracted"
}

# The reviewer runs the written code after each done message.
qa() {
    done_id=$(wait_for --type done --to qa | sed 's/.*"id":"\([^"]*\)".*/\1/')
    while :; do
        got=$(sh -c '. ./add.sh; add 2 3')
        if [ "$got" = 5 ]; then
            say --from qa --to manager --type pass --body "add 2 3 = 5. All acceptance criteria met."
            return
        fi
        say --from qa --to manager --type fail --body "add 2 3 = $got, expected 5"
        done_id=$(wait_for --after "$done_id" --type done --to qa | sed 's/.*"id":"\([^"]*\)".*/\1/')
    done
}

# The manager posts the task, answers a fail with a fix, and ends at the pass.
manager() {
    say --from manager --to engineer --type task --body "Write add.sh: a shell function add A B that prints A + B"
    wait_for --type fail --to manager >/dev/null
    say --from manager --to engineer --type fix --body "QA found issues: see the last fail"
    wait_for --type pass --to manager >/dev/null
}

echo "A war-room with three agents (their messages as they are posted):"
echo
"$cliq" channel follow --room room-001 --all --text & follower=$!
qa & q=$!
engineer & e=$!
manager
wait $q $e
kill $follower 2>/dev/null || true
wait $follower 2>/dev/null || true

echo
echo "The same, as the file everyone can read ($WARROOMS_DIR/room-001/channel.jsonl):"
cut -c1-150 "$WARROOMS_DIR/room-001/channel.jsonl"
echo
echo "\$ cliq channel read --room room-001 --type pass --last 1"
"$cliq" channel read --room room-001 --type pass --last 1
echo
echo "\$ cliq fsck .war-rooms/room-001/channel.jsonl"
"$cliq" fsck .war-rooms/room-001/channel.jsonl
echo
echo "Now try it yourself: build/cliq help"
