#!/usr/bin/env bats
# The built-in agent slack: real messages, a server on 127.0.0.1 in Slack's place.
load notifiers

hook() { # NAME: the webhook of the channel ops
    SETTINGS='"channels":{"ops":{"webhook_url":"'$URL'/services/SECRET-PATH/'$1'"}}'
}
bot() { # TOKEN CHANNEL
    SETTINGS='"bot_token":"'$1'","base_url":"'$URL'/api","channels":{"ops":{"channel":"'$2'"}}'
}
FAILED='{"event":"on_fail","channel":"ops","phase_name":"build","reason":"no <disk> & no *hope*"}'

@test "a webhook gets blocks and the same as plain text" {
    server hook_server.py
    hook a
    tell slack "$FAILED"
    told
    is "POST /services/SECRET-PATH/a application/json; charset=utf-8" "$(sent 1 '" ".join([r["method"],r["path"],h["content-type"]])')"
    is "@local/x: phase build failed" "$(sent 1 'd["blocks"][0]["text"]["text"]')"
    is "header section section" "$(sent 1 '" ".join(x["type"] for x in d["blocks"])')"
    is "Project $T/proj Run run1 Phase build Why no &lt;disk&gt; &amp; no *hope*" \
        "$(sent 1 '" ".join(f["text"].replace("*\n"," ").replace("*","",1) for f in d["blocks"][1]["fields"])')"
    is "cliq log build
cliq status" "$(sent 1 'd["blocks"][2]["text"]["text"].split("```")[1]')"
    has "$(sent 1 'd["text"]')" "Why: no &lt;disk&gt; &amp; no *hope*"
    has "$(sent 1 'd["text"]')" "  cliq log build"
    is "True" "$(sent 1 '"channel" not in d and all(f["verbatim"] for f in d["blocks"][1]["fields"])')"
}

@test "the sender's own message and subject are shown; control characters are not" {
    server hook_server.py
    hook a
    tell slack '{"event":"deployed","subject":"Out\nnow","message":"line 1\nline\u001b[31m 2 <!channel>","url":"https://x/?a=1&b=2","nested":{"x":1}}'
    told # no channel: the only one
    is "Out now" "$(sent 1 'd["blocks"][0]["text"]["text"]')"
    is 'line 1
line\x1b[31m 2 &lt;!channel&gt;' "$(sent 1 'd["blocks"][1]["text"]["text"]')"
    has "$(sent 1 'd["text"]')" "url: https://x/?a=1&amp;b=2"
    lacks "$(sent 1 b)" nested
}

@test "after 429 it waits as long as Slack says, and tries again after 500" {
    server hook_server.py
    hook limited
    local began
    began=$(date +%s%3N)
    tell slack "$FAILED"
    told
    (($(date +%s%3N) - began >= 1000)) || complain "no pause"
    hook flaky
    tell slack "$FAILED"
    told
    is 4 "$(requests)"
}

@test "a pause that is too long, a removed webhook and a broken one are told without their secrets" {
    server hook_server.py
    hook patience
    tell slack "$FAILED"
    refuses "$URL/ answered 429 (too many requests), and wants a pause of 3600 s"
    hook removed
    tell slack "$FAILED"
    refuses "Slack says no_service: the webhook was removed: make a new one in Slack"
    hook broken
    tell slack "$FAILED"
    refuses "$URL/ answered 400"
    hook moved
    tell slack "$FAILED"
    refuses "answered 307 (a redirect, which is not followed"
    kill "$PID"
    until_true gone "$PID"
    hook a
    tell slack "$FAILED"
    refuses "POST $URL/: "
    lacks "$out$err$(cat "$T/proj/.cliq/signals/"*)" SECRET-PATH
}

@test "a bot's token posts to the channel's id, and Slack's ok is checked" {
    server hook_server.py
    bot xoxb-good C1
    tell slack "$FAILED"
    told
    is "/api/chat.postMessage C1 Bearer xoxb-good" "$(sent 1 '" ".join([r["path"],d["channel"],h["authorization"]])')"
    bot xoxb-good C2
    tell slack "$FAILED"
    refuses "Slack says channel_not_found: is the channel's id right, and is the bot in it?"
    bot xoxb-bad C1
    tell slack "$FAILED"
    refuses "Slack says invalid_auth: set a new token with cliq settings agents.slack.bot_token -"
    lacks "$err$signals" xoxb-bad
}

@test "a channel without settings is told with the command to run" {
    SETTINGS=
    tell slack "$FAILED"
    refuses "slack does not know where channel ops is: cliq settings agents.slack.channels.ops.webhook_url -"
    tell slack '{"event":"x","channel":null}'
    refuses "cliq settings agents.slack.channels.default.webhook_url -"
    SETTINGS='"channels":{"ops":{"webhook_url":"ftp://x"}}'
    tell slack "$FAILED"
    refuses "agents.slack.channels.ops.webhook_url must be a URL like https://host/path"
    SETTINGS='"bot_token":"xoxb-good","channels":{"ops":{}}'
    tell slack "$FAILED"
    refuses "cliq settings agents.slack.channels.ops.channel -"
}

@test "one notification that cannot be delivered does not keep the others back" {
    server hook_server.py
    hook a
    tell slack '{"event":"x","channel":"nobody"},'"$FAILED"
    refuses "channels.nobody.webhook_url" "(1 of 2 notifications were not delivered)"
    is 1 "$(requests)"
}

@test "a test message asks Slack who the token is, and sends nothing" {
    server hook_server.py
    bot xoxb-good C1
    probe slack
    code_is 0
    has "$signals" '"result":{"passed":true,"message":"ready: ops as cliq-bot in Acme"}'
    is /api/auth.test "$(sent 1 'r["path"]')"
    bot xoxb-bad C1
    probe slack
    has "$signals" '"result":{"passed":false,"message":"Slack says invalid_auth'
    hook a
    probe slack
    has "$signals" '"result":{"passed":true,"message":"ready: ops"}'
    is 2 "$(requests)"
    SETTINGS=
    probe slack
    has "$signals" '"passed":false,"message":"slack has no channels'
}
