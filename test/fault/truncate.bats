#!/usr/bin/env bats
# A channel truncated at any byte: the next message is readable, and so is every older
# one that is still whole.
load ../lib/cli

@test "truncated at every byte of its last three lines, a channel takes the next post" {
    local n
    n=$($PY "$BATS_TEST_DIRNAME/truncate.py" "$CLIQ" 10)
    [ "$n" -gt 300 ]
}

@test "a channel truncated to nothing is a new one" {
    conversation r
    : >.war-rooms/r/channel.jsonl
    post r fresh >/dev/null
    is fresh "$(bodies r)"
    is 1 "$(wc -l <.war-rooms/r/channel.jsonl)"
}

@test "zeros at the end, as some file systems leave after a power cut, cost nothing but themselves" {
    conversation r
    truncate -s +5000 .war-rooms/r/channel.jsonl
    post r after >/dev/null
    is "one two three four five after" "$(bodies r 2>/dev/null)"
    is "five after" "$(bodies r --last 2 2>/dev/null)"
}

@test "a torn line longer than any record costs nothing but itself" {
    conversation r
    { printf '{"body":"' && head -c 3000000 /dev/zero | tr '\0' x; } >>.war-rooms/r/channel.jsonl
    is "one two three four five" "$(bodies r)"
    post r after >/dev/null
    is "one two three four five after" "$(bodies r 2>/dev/null)"
    is "five after" "$(bodies r --last 2 2>/dev/null)"
}
