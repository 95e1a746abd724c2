# serve.bash - helpers for tests of `cliq serve`; load it after cli.bash. setup starts a server on a free
# port ($URL, $PORT, $SERVER), with an admin's key in $KEY; teardown ends it.

eval "lib_$(declare -f setup)"
eval "lib_$(declare -f teardown)"

setup() {
    lib_setup
    export CLIQ_HOME=$PWD/home
    mkdir -m 700 home
    boot
    KEY=$(cat home/admin.key)
}

teardown() {
    [ -z "${SERVER:-}" ] || kill -KILL "$SERVER" 2>/dev/null || true
    [ -z "${THIEF:-}" ] || kill -KILL "$THIEF" 2>/dev/null || true
    lib_teardown
}

# The server listens, or has ended.
is_up() {
    grep -q listening said || ! kill -0 "$SERVER" 2>/dev/null
}

has_ids() { # FILE N
    [ "$(grep -c "^data:" "$1")" = "$2" ]
}

# Starts the server on port $1 (default: any free one) and waits until it listens.
boot() {
    : >said
    "$CLIQ" serve --listen "127.0.0.1:${1:-0}" --access-log access.log "${@:2}" >said 2>errors 3>&- &
    SERVER=$!
    until_true is_up || { cat errors; return 1; }
    kill -0 "$SERVER"
    URL=$(sed -n 's/listening on //p' said | head -1)
    PORT=${URL##*:}
}

send() {
    curl -sS -X POST "$URL$1" -H "Authorization: Bearer ${3:-$KEY}" -H "Content-Type: application/json" -d "$2"
}

look() {
    curl -sS "$URL$1" -H "Authorization: Bearer ${2:-$KEY}"
}

json() {
    python3 -c "import json,sys; d=json.load(sys.stdin); print($1)"
}

key_of() {
    send /keys "{\"identity\":\"$1\"${2:+,\"scopes\":$2}}" | json 'd["data"]["key"]'
}

metric_is() { # NAME VALUE
    [ "$(look /metrics | sed -n "s/^cliq_$1 //p")" = "$2" ]
}
