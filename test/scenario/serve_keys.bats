#!/usr/bin/env bats
# Keys of cliq serve, as an attacker sees them: a revoked key in a round that waits, the admin key on
# its way to a server, tickets.
bats_require_minimum_version 1.5.0
load ../lib/cli
load ../lib/serve

@test "a key that is revoked over HTTP writes nothing behind that, in the round that waits, too" {
    is "200 200 401 401 200 401" "$($PY "$BATS_TEST_DIRNAME/revoke_round.py" "$PWD/home" "$URL")"
}

@test "an inbox without a name is that of the key, whoever asks" {
    local -x CLIQ_URL=$URL CLIQ_KEY
    unset CLIQ_IDENTITY
    CLIQ_KEY=$(<home/admin.key)
    cliq emit note "for ruby" --to-identity ruby
    cliq identity add ruby
    CLIQ_KEY=$(cliq key create --identity ruby)
    has "$(cliq inbox)" "for ruby"
    is "$(cliq inbox @ruby)" "$(cliq inbox)"
}

listen_as() { # PORT [UID [late]]
    : >caught
    chmod 666 caught
    "$PY" "$BATS_TEST_DIRNAME/listen_as.py" "$1" caught "${@:2}" >port 2>thief.err 3>&- &
    THIEF=$!
    until_true test -s port || { cat thief.err; return 1; }
}

@test "the admin key goes to the store's own server, and to no other one" {
    unset CLIQ_KEY
    run -0 "$CLIQ" emit note -m x --url "$URL"
    run -0 "$CLIQ" emit note -m x --url "http://localhost:$PORT"
    listen_as 0
    for command in "emit note -m x" "inbox ruby" "watch" "claim --wait 1s"; do
        run -7 "$CLIQ" $command --url "http://127.0.0.1:$(<port)"
        has "$output" "CLIQ_KEY"
        has "$output" "not the server of"
    done
    [ ! -s caught ]
    CLIQ_KEY=cho_mine run "$CLIQ" emit note -m x --url "http://127.0.0.1:$(<port)"
    grep -q 'Bearer cho_mine' caught
    kill -KILL "$THIEF"
}

@test "another user's program on the server's port is not shown the admin key" {
    [ "$(id -u)" = 0 ] || skip "needs root, to be another user"
    unset CLIQ_KEY
    kill -KILL "$SERVER" # its serve.json stays
    wait "$SERVER" || true
    grep -q "127.0.0.1:$PORT" home/serve.json
    for how in "" late; do
        listen_as "$PORT" 65534 $how
        run -7 "$CLIQ" emit note -m x --url "$URL"
        has "$output" "belongs to user 65534"
        [ ! -s caught ]
        kill -KILL "$THIEF"
        wait "$THIEF" || true
        rm port
    done
}

@test "a server on a Unix socket is known by its path, and by its owner" {
    kill -TERM "$SERVER"
    wait "$SERVER"
    [ ! -e home/serve.json ]
    : >said
    "$CLIQ" serve --unix "$PWD/s" >said 2>errors 3>&- &
    SERVER=$!
    until_true is_up
    run -0 "$CLIQ" emit note -m x --url "unix:$PWD/s"
    ln -s "$PWD/s" link
    run -0 "$CLIQ" emit note -m x --url "unix:$PWD/link"
    sed -i 's/unix:[^"]*/unix:\/other/' home/serve.json
    run -7 "$CLIQ" emit note -m x --url "unix:$PWD/s"
    has "$output" "CLIQ_KEY"
}

@test "a start that finds its port in use makes no key" {
    CLIQ_HOME=$PWD/second run -5 "$CLIQ" serve --listen "127.0.0.1:$PORT"
    [ ! -e second/admin.key ]
    ! grep -q '"op":"key"' second/signals/events.jsonl
}

@test "the admin key is printed to a terminal only" {
    grep -q "its key is in $PWD/home/admin.key" said
    ! grep -q "$KEY" said errors
    CLIQ_HOME=$PWD/second "$PY" - "$CLIQ" >shown <<'END'
import os, pty, signal, sys
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], [sys.argv[1], "serve", "--listen", "127.0.0.1:0"])
text = b""
while b"listening" not in text:
    text += os.read(fd, 4096)
os.kill(pid, signal.SIGTERM)
os.waitpid(pid, 0)
print(text.decode().replace("\r", ""))
END
    grep -qxF "$(<second/admin.key)" shown
}

@test "a key that has expired is refused with its own sentence, and its stream ends" {
    made=$("$CLIQ" key create --identity guest --ttl 2s --json)
    guest=$(json 'd["key"]' <<<"$made")
    has "$made" '"expires_at":"20'
    is 200 "$(curl -s -o body -w '%{http_code}' "$URL/inbox/@" -H "Authorization: Bearer $guest")"
    curl -sN --max-time 20 "$URL/signals/stream" -H "Authorization: Bearer $guest" >stream 3>&- &
    PIDS+=($!)
    until_true grep -q connected stream
    is_refused() { [ "$(curl -s -o body -w '%{http_code}' "$URL/inbox/@" -H "Authorization: Bearer $guest")" = 401 ]; }
    until_true is_refused
    has "$(<body)" "the key has expired"
    is 401 "$(curl -s -o body -w '%{http_code}' -X POST "$URL/emit" -d '{"signal_type":"pulse"}' \
        -H "Content-Type: application/json" -H "Authorization: Bearer $guest")"
    has "$(<body)" "the key has expired"
    send /emit '{"signal_type":"secret"}' >/dev/null # whatever comes later is not told
    until_true grep -q "the key has expired" stream
    ! grep -q secret stream
    is 401 "$(curl -s -o body -w '%{http_code}' "$URL/inbox/@" -H "Authorization: Bearer ${guest%?????}aaaaa")"
    has "$(<body)" "the key is not known"
    row=$("$CLIQ" key list | grep guest)
    has "$row" "$(json 'd["expires_at"]' <<<"$made")"
    is None "$(look /keys | json '[k["expires_at"] for k in d["data"] if k["identity"] == "admin"][0]')"
    got key create --identity guest --ttl 0s
    refused 2 "ttl_seconds must be a whole number from 1"
}
