#!/usr/bin/env bats
# The agents that notify people, with other makers' servers and clients (tools/deps agents): a mail server, the
# verifier of Standard Webhooks, and Slack's own clients, which also show that our server in Slack's place is faithful.
load ../scenario/notifiers

CLIENTS=${CLIQ_AGENTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/cliq-agents}/clients/node_modules
export CLIENTS

node_says() { # JS ARGS...: runs a module with `need`, which requires a client
    printf '%s\n' "import { createRequire } from 'node:module'; import fs from 'node:fs'
        const need = createRequire(process.env.CLIENTS + '/'), args = process.argv.slice(2)" "$1" >"$T/says.mjs"
    node "$T/says.mjs" "${@:2}"
}
FAILED='{"event":"on_fail","channel":"ops","phase_name":"bäu","reason":"no <disk> & no *hope*\n.\n..x"}'

@test "smtp-server takes our mail over STARTTLS, with AUTH PLAIN and LOGIN" {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=127.0.0.1 \
        -addext subjectAltName=IP:127.0.0.1 -keyout "$T/key" -out "$T/cert" 2>/dev/null
    local mechanism
    for mechanism in PLAIN LOGIN; do
        rm -f "$T/port" "$T/mails"
        start smtp node "$ROOT/test/agents/smtp.mjs" "$T" "$T/cert" "$T/key" $mechanism
        until_true test -e "$T/port"
        SETTINGS='"host":"127.0.0.1","port":'$(<"$T/port")',"user":"eve","password":"s3cret-pass","ca_file":"'$T'/cert",
            "from":"cliq@example.org","channels":{"ops":{"to":["eve@example.org","bob@example.org"]}}'
        tell email "$FAILED"
        told
        is "cliq@example.org eve@example.org bob@example.org $mechanism True" "$($PY -c 'import json,sys
m = json.load(open(sys.argv[1])); print(m["from"], *m["to"], m["auth"], m["tls"])' "$T/mails")"
        is "no <disk> & no *hope*|.|..x" "$($PY -c 'import email,email.policy,json,sys
p = email.message_from_string(json.load(open(sys.argv[1]))["text"], policy=email.policy.default)
t = p.get_body(("plain",)).get_content().splitlines(); i = [n for n, l in enumerate(t) if l.startswith("Why: ")][0]
print("|".join(t[i:i+3])[5:])' "$T/mails")"
        SETTINGS=${SETTINGS/s3cret-pass/wrong-pass}
        tell email "$FAILED"
        refuses "Login denied"
    done
}

@test "standardwebhooks accepts our signature, and no other body" {
    server hook_server.py
    local secret=whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
    SETTINGS='"channels":{"ops":{"url":"'$URL'/hook","secret":"'$secret' whsec_bmV3"}}'
    tell webhook "$FAILED"
    told
    is "on_fail bäu no" "$(node_says '
        const { Webhook } = need("standardwebhooks"), r = JSON.parse(fs.readFileSync(args[0]))
        const event = new Webhook(args[1]).verify(r.body, r.headers)
        let other = "yes"
        try { new Webhook(args[1]).verify(r.body + " ", r.headers) } catch { other = "no" }
        console.log(event.type, event.data.phase_name, other)' "$T/requests" $secret)"
}

@test "Slack's clients and our agent send the same to the server in Slack's place" {
    server hook_server.py
    SETTINGS='"channels":{"ops":{"webhook_url":"'$URL'/services/a"}}'
    tell slack "$FAILED"
    told
    SETTINGS='"bot_token":"xoxb-good","base_url":"'$URL'/api","channels":{"ops":{"channel":"C1"}}'
    tell slack "$FAILED"
    told
    is "ok cliq-bot Acme 1.2 channel_not_found invalid_auth" "$(node_says '
        const { IncomingWebhook } = need("@slack/webhook"), { WebClient, LogLevel } = need("@slack/web-api")
        const [ours, url] = [fs.readFileSync(args[0], "utf8").split("\n"), args[1]]
        const hook = JSON.parse(JSON.parse(ours[0]).body), post = JSON.parse(JSON.parse(ours[1]).body)
        const options = { slackApiUrl: url + "/api/", logLevel: LogLevel.ERROR, retryConfig: { retries: 0 } }
        const good = new WebClient("xoxb-good", options), bad = new WebClient("xoxb-bad", options)
        const failure = (call) => call.then(() => "none", (e) => e.data.error)
        console.log((await new IncomingWebhook(url + "/services/a").send(hook)).text,
            ...(({ user, team }) => [user, team])(await good.auth.test()), (await good.chat.postMessage(post)).ts,
            await failure(good.chat.postMessage({ ...post, channel: "C2" })), await failure(bad.auth.test()))' "$T/requests" "$URL")"
    # The webhook's client posts what our agent posts, byte for byte as JSON.
    is "True" "$($PY -c 'import json,sys,urllib.parse
r = [json.loads(l) for l in open(sys.argv[1])]
form = dict(urllib.parse.parse_qsl(r[4]["body"])); ours = json.loads(r[1]["body"])
print(json.loads(r[0]["body"]) == json.loads(r[2]["body"]) and form["text"] == ours["text"]
      and json.loads(form["blocks"]) == ours["blocks"] and r[4]["headers"]["authorization"] == r[1]["headers"]["authorization"])' "$T/requests")"
}
