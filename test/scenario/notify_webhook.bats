#!/usr/bin/env bats
# The built-in agent webhook: Standard Webhooks, checked with Python's own HMAC.
load notifiers

SECRET=whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
hook() { # NAME [SECRET]
    SETTINGS='"channels":{"ops":{"url":"'$URL'/hook/PATH/'$1'"'${2:+',"secret":"'$2'"'}'}}'
}
DONE='{"event":"on_complete","channel":"ops","outcome":"COMPLETED","next":null}'
# signature_of SECRET N: what the N-th request's signature must be.
signature_of() {
    sent "$2" '"v1," + base64.b64encode(hmac.new(base64.b64decode("'"${1#whsec_}"'"), (h["webhook-id"]+"."+h["webhook-timestamp"]+"."+b).encode(), hashlib.sha256).digest()).decode()'
}

@test "the document is signed as Standard Webhooks says" {
    server hook_server.py
    hook a $SECRET
    tell webhook "$DONE"
    told
    is "POST /hook/PATH/a application/json" "$(sent 1 '" ".join([r["method"],r["path"],h["content-type"]])')"
    is "$(signature_of $SECRET 1)" "$(sent 1 'h["webhook-signature"]')"
    like "$(sent 1 'h["webhook-id"]')" '^msg_[0-9a-f]{32}$'
    (($(date +%s) - $(sent 1 'h["webhook-timestamp"]') < 60))
    is "type timestamp data" "$(sent 1 '" ".join(d)')"
    is "on_complete" "$(sent 1 'd["type"]')"
    like "$(sent 1 'd["timestamp"]')" '^20[0-9-]+T[0-9:.]+Z$'
    is "@local/x|$T/proj|run1|@local/x: the run is complete|COMPLETED" \
        "$(sent 1 '"|".join(d["data"][k] for k in ["team","project_dir","run","title","outcome"])')"
}

@test "two secrets make two signatures, none makes none" {
    server hook_server.py
    hook a "$SECRET whsec_c2Vjb25k"
    tell webhook "$DONE"
    told
    is "$(signature_of $SECRET 1) $(signature_of whsec_c2Vjb25k 1)" "$(sent 1 'h["webhook-signature"]')"
    hook a
    tell webhook "$DONE"
    told
    is "None" "$(sent 2 'h.get("webhook-signature")')"
}

@test "each try has the same id, another run another one" {
    server hook_server.py
    hook flaky $SECRET
    tell webhook "$DONE"
    told
    is "$(sent 1 'h["webhook-id"]')" "$(sent 2 'h["webhook-id"]')"
    ATTEMPT=run2/n1 tell webhook "$DONE"
    [ "$(sent 1 'h["webhook-id"]')" != "$(sent 3 'h["webhook-id"]')" ]
}

@test "410 turns the channel off until its URL changes" {
    server hook_server.py
    hook gone
    tell webhook "$DONE"
    refuses "channel ops is off, since its receiver answered 410 (gone): set another agents.webhook.channels.ops.url, or delete the files in .cliq/webhooks-off/"
    tell webhook "$DONE"
    refuses "channel ops is off"
    is 1 "$(requests)"
    hook a
    tell webhook "$DONE"
    told
}

@test "other answers, silence and bad settings are failures that keep secrets" {
    server hook_server.py
    hook broken $SECRET
    tell webhook "$DONE"
    refuses "$URL/ answered 400"
    hook moved $SECRET
    tell webhook "$DONE"
    refuses "$URL/ answered 307"
    hook slow $SECRET
    SETTINGS='"timeout":"1s",'$SETTINGS
    tell webhook "$DONE"
    refuses "POST $URL/: no response within 1 s"
    hook a whsec_no-base64
    tell webhook "$DONE"
    refuses "agents.webhook.channels.ops.secret must be whsec_ and base64"
    hook a plain-secret
    tell webhook "$DONE"
    refuses "agents.webhook.channels.ops.secret must be whsec_ and base64"
    SETTINGS='"channels":{"ops":{}}'
    tell webhook "$DONE"
    refuses "cliq settings agents.webhook.channels.ops.url -"
    lacks "$(cat "$T/proj/.cliq/signals/"*)" PATH
    is 3 "$(requests)"
}

@test "an identity with the agent webhook posts the signals it subscribes to" {
    server hook_server.py
    mkdir -p "$T/proj" && cd "$T/proj"
    echo "$URL/hook/a" | "$CLIQ" settings --global agents.webhook.channels.ops.url -
    "$CLIQ" identity add oncall --agent webhook --dir . >/dev/null
    "$CLIQ" signal subscribe 'build:*:done' --silent=false --as oncall >/dev/null
    "$CLIQ" signal generate build:web:done --data '{"ok":true}' --as ci >/dev/null
    until_true test -s "$T/requests"
    is "build:web:done True" "$(sent 1 'd["type"] + " " + str(d["data"]["signal"]["data"]["ok"])')"
}

@test "a test message only looks at the settings" {
    server hook_server.py
    hook a
    probe webhook
    has "$signals" '"passed":true,"message":"ready: ops (unsigned)"'
    SETTINGS='"channels":{"ops":{"url":"not a url"}}'
    probe webhook
    has "$signals" '"passed":false,"message":"agents.webhook.channels.ops.url must be a URL'
    is "" "$(requests)"
}
