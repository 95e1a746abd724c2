#!/usr/bin/env bats
# The page over HTTP, without a browser: its files, their headers, the way of a key into a browser. What
# people see is tested in test/web.
bats_require_minimum_version 1.5.0
load ../lib/cli
load ../lib/serve

html() { rm -f body; curl -sS -D head -o body "$URL/" -H 'Accept: text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' "$@"; }
header() { tr -d '\r' <head | sed -n "s/^$1: //Ip"; }
sign_in() { curl -sS -o answer -w '%{http_code}' -X POST "$URL/sign-in" -H 'Content-Type: application/json' -d "$1"; }

@test "the page names its files by their version; a browser keeps them, and asks for the page itself" {
    html
    has "$(<body)" '<!doctype html>'
    is "no-cache" "$(header Cache-Control)"
    etag=$(header ETag)
    html -H "If-None-Match: $etag"
    has "$(head -1 head)" 304
    [ ! -s body ]
    html
    paths=$(grep -o '"/web/[^"]*"' body | tr -d '"')
    [ "$(wc -l <<<"$paths")" -gt 10 ]
    while read -r path; do
        curl -sS -D head -o plain "$URL$path"
        has "$(head -1 head)" 200
        is "public, max-age=31536000, immutable" "$(header Cache-Control)"
        like "$(header Content-Type)" '^text/(css|javascript); charset=utf-8$'
        is nosniff "$(header X-Content-Type-Options)"
        curl -sS -D head -o packed -H 'Accept-Encoding: gzip, br' "$URL$path"
        is gzip "$(header Content-Encoding)"
        gunzip <packed | cmp - plain
    done <<<"$paths"
    for file in "$ROOT"/web/*.js; do # each module of the page comes with it
        [ "${file##*/}" = app.js ] || has "$paths" "/${file##*/}"
    done
    is 404 "$(curl -s -o /dev/null -w '%{http_code}' "$URL/web/000000000000/app.js")"
    lacks "$(curl -s --path-as-is "$URL/web/x/..%2f..%2fadmin.key")" cho_
}

@test "nothing but its own scripts can run in the page, and no frame holds it" {
    html
    csp=$(header Content-Security-Policy)
    has "$csp" "default-src 'none'"
    has "$csp" "script-src 'self'"
    has "$csp" "frame-ancestors 'none'"
    has "$csp" "base-uri 'none'"
    lacks "$csp" unsafe
    is no-referrer "$(header Referrer-Policy)"
    lacks "$(<body)" '<style'
    lacks "$(<body)" ' style='
    is 0 "$(grep -cE '<script[^>]*>[^<]' body)"
    is "" "$(grep -oE '(src|href)="(https?:)?//[^"]*' body)"
    ! grep -nE 'innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|srcdoc' "$ROOT"/web/*.js | grep -v 'No other module sets'
}

@test "the whole page is small" {
    n=$(cat "$ROOT"/web/* | gzip -9 | wc -c)
    [ "$n" -le 120000 ] || complain "$n bytes"
    sum=0
    for f in "$ROOT"/web/*; do sum=$((sum + $(gzip -9nc "$f" | wc -c))); done
    [ "$sum" -le 120000 ] || complain "$sum bytes in files"
}

@test "a link on another site leads to the page, and to nothing else; programs get a few lines of text" {
    is 200 "$(curl -s -o /dev/null -w '%{http_code}' "$URL/" -H 'Sec-Fetch-Site: cross-site' -H 'Accept: text/html')"
    is 403 "$(curl -s -o /dev/null -w '%{http_code}' "$URL/whoami" -H 'Sec-Fetch-Site: cross-site' -H "Authorization: Bearer $KEY")"
    is 403 "$(curl -s -o /dev/null -w '%{http_code}' "$URL/" -H 'Origin: http://evil.example' -H 'Accept: text/html')"
    has "$(curl -s "$URL/")" "GET /openapi.json"
}

@test "--web-dir serves the files as they are now, and no others" {
    kill "$SERVER" && wait "$SERVER" || true
    mkdir dir && echo '<p>one' >dir/index.html && echo 'let x' >dir/app.js && echo secret >other.js
    ln -s ../other.js dir/link.js
    boot 0 --web-dir dir
    html
    is '<p>one' "$(<body)"
    echo '<p>two' >dir/index.html
    html
    is '<p>two' "$(<body)"
    is "let x" "$(curl -s "$URL/web/any/app.js")"
    is no-store "$(html; header Cache-Control)"
    for name in link.js none.js .hidden.js app.txt; do
        is 404 "$(curl -s -o /dev/null -w '%{http_code}' "$URL/web/x/$name")"
    done
    lacks "$(curl -s --path-as-is "$URL/web/x/..%2fother.js")" secret
    lacks "$(curl -s --path-as-is "$URL/web/x/../other.js")" secret
}

@test "whoami tells the scopes of any key" {
    small=$(key_of ruby '["emit"]')
    is "admin ['admin']" "$(look /whoami | json 'd["data"]["identity"] + " " + str(d["data"]["scopes"])')"
    is "ruby ['emit']" "$(look /whoami "$small" | json 'd["data"]["identity"] + " " + str(d["data"]["scopes"])')"
    is 401 "$(curl -s -o /dev/null -w '%{http_code}' "$URL/whoami")"
    is "$(look /health | json 'd["sequence"]')" "$(look /whoami | json 'd["data"]["sequence"]')"
}

@test "a ticket hands over its own key, once; a stream's ticket hands over nothing" {
    small=$(key_of ruby '["emit"]')
    ticket=$(send /sign-in/ticket '{}' "$small" | json 'd["data"]["ticket"]')
    # it opens no stream
    is 401 "$(curl -s -o /dev/null -w '%{http_code}' --max-time 2 "$URL/signals/stream?ticket=$ticket")"
    is 200 "$(sign_in "{\"ticket\":\"$ticket\"}")"
    is "$small" "$(json 'd["data"]["key"]' <answer)"
    is 401 "$(sign_in "{\"ticket\":\"$ticket\"}")"
    stream=$(send /signals/ticket '{}' | json 'd["data"]["ticket"]')
    is 401 "$(sign_in "{\"ticket\":\"$stream\"}")"
    is 401 "$(sign_in '{"ticket":""}')"
    is 401 "$(sign_in '{"ticket":"00000000000000000000000000000000"}')"
    is 400 "$(sign_in '{"ticket":7}')"
    is 400 "$(sign_in '{"ticket":"x","more":1}')"
    is 400 "$(sign_in '{}')"
    is 415 "$(curl -s -o /dev/null -w '%{http_code}' -X POST "$URL/sign-in" -H 'Content-Type: text/plain' -d '{"ticket":"x"}')"
    is 401 "$(curl -s -o /dev/null -w '%{http_code}' -X POST "$URL/sign-in/ticket")"
    ! grep -F "$ticket" access.log errors
}

@test "a ticket ends with its key" {
    made=$(send /keys '{"identity":"ruby"}')
    ticket=$(send /sign-in/ticket '{}' "$(json 'd["data"]["key"]' <<<"$made")" | json 'd["data"]["ticket"]')
    "$CLIQ" key revoke "$(json 'd["data"]["id"]' <<<"$made")" # by another process
    is 401 "$(sign_in "{\"ticket\":\"$ticket\"}")"
}

@test "a stream tells of other changes, when it is asked to" {
    curl -sN "$URL/signals/stream?changes=true" -H "Authorization: Bearer $KEY" >with 3>&- &
    PIDS+=($!)
    curl -sN "$URL/signals/stream" -H "Authorization: Bearer $KEY" >without 3>&- &
    PIDS+=($!)
    connected() { grep -q connected with && grep -q connected without; }
    until_true connected
    id=$(send /emit '{"signal_type":"task"}' | json 'd["data"]["id"]')
    until_true grep -q "$id" with
    send /claim "{\"signal_id\":\"$id\"}" >/dev/null
    until_true grep -q '^event: changed' with
    second=$(send /emit '{"signal_type":"pulse"}' | json 'd["data"]["id"]')
    until_true grep -q "$second" without
    lacks "$(<without)" changed
}

@test "cliq web: a server that runs is used; without one it becomes it, and opens the page when it listens" {
    got web --print --as ann
    like "$out" "^$URL/#ticket=[0-9a-f]{32}$"
    is 200 "$(sign_in "{\"ticket\":\"${out##*=}\"}")"
    ANN=$(json 'd["data"]["key"]' <answer)
    is "ann ['admin']" "$(look /whoami "$ANN" | json 'd["data"]["identity"] + " " + str(d["data"]["scopes"])')"
    mkdir bin && printf '#!/bin/sh\necho "$1" >%s/opened\n' "$PWD" >bin/xdg-open && chmod +x bin/xdg-open
    DISPLAY=:9 PATH=$PWD/bin:$PATH got web --as ann
    is "opened $URL/ in the browser" "$out"
    is_open() { [ -s opened ]; }
    until_true is_open
    like "$(<opened)" "^$URL/#ticket="
    kill "$SERVER" && wait "$SERVER" || true
    mkdir -m 700 fresh
    CLIQ_HOME=$PWD/fresh start web "$CLIQ" web --print --listen 127.0.0.1:0 --as ann
    is_told() { grep -q ticket= "$T/web.out"; }
    until_true is_told
    URL=$(sed -n 's/#ticket.*//p' "$T/web.out" | tail -1) URL=${URL%/}
    is 200 "$(sign_in "{\"ticket\":\"$(sed -n 's/.*#ticket=//p' "$T/web.out")\"}")"
    kill -TERM "$PID"
    ended web "$PID"
    code_is 0
}

@test "cliq web at a server elsewhere hands over the key in CLIQ_KEY; without one it says what to do" {
    key=$(key_of ruby '["inbox"]')
    CLIQ_URL=$URL CLIQ_KEY=$key got web --print
    is 200 "$(sign_in "{\"ticket\":\"${out##*=}\"}")"
    is "$key" "$(json 'd["data"]["key"]' <answer)"
    CLIQ_HOME=$T/none got web --url "$URL" --print
    refused 7 "set CLIQ_KEY"
    CLIQ_URL=$URL CLIQ_KEY=cho_wrong got web --print
    refused 7 ticket
    got serve --open tab
    refused 2 "--open must be browser or print, not tab"
}
