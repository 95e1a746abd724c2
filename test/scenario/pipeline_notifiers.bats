#!/usr/bin/env bats
# The built-in notifiers in a real run: Slack, a webhook and a mail server on 127.0.0.1.
load notifiers

# set_to KEY VALUE: the value on standard input, as people set a secret.
set_to() { printf '%s' "$2" | "$CLIQ" settings "$1" -; }

everywhere() { # the servers and their settings
    server smtp_server.py --auth PLAIN
    local smtp=$PORT
    server hook_server.py
    set_to agents.slack.channels.ops.webhook_url "$URL/services/SECRET-PATH/a"
    set_to agents.webhook.channels.ops.url "$URL/hook/SECRET-PATH/a"
    set_to agents.webhook.channels.ops.secret whsec_U0VDUkVULUtFWQ==
    set_to agents.email.host 127.0.0.1
    set_to agents.email.port "$smtp"
    set_to agents.email.tls none
    set_to agents.email.user eve
    set_to agents.email.password s3cret-pass
    set_to agents.email.from cliq@example.org
    set_to agents.email.channels.ops.to eve@example.org
}

@test "an escalated run tells Slack, a webhook and people by mail what to do; no secret is left behind" {
    agent a <<<'ok; fail "no disk"'
    team <<'END'
phases:
  - name: build
    agent: a
    notify: {on_fail: {agent: slack, channel: ops, subject: "$(phase) is broken"}}
END
    everywhere
    "$CLIQ" settings notifications.on_escalate '["slack:ops","webhook:ops","email:ops"]'
    run_is 3
    lacks "$("$CLIQ" status)" notify
    is 3 "$(requests)"
    local all
    all=$(sort "$T/requests")
    has "$all" '\"text\":\"build is broken'
    has "$all" '@local/test: the run needs a person'
    has "$all" 'cliq retry build (mend the cause first: cliq log build shows what it said)'
    has "$all" 'webhook-signature'
    has "$(<"$T/mails")" 'Subject: @local/test: the run needs a person'
    has "$(<"$T/mails")" '  cliq retry build (mend the cause first: cliq log build shows'
    # When the run is over, secrets are in the settings, which only this user reads, and nowhere else.
    is ".cliq/settings.json 600" \
        "$(grep -rlE 'SECRET-PATH|U0VDUkVU|s3cret' .cliq | xargs stat -c '%n %a')"
    lacks "$("$CLIQ" settings)" SECRET
    lacks "$("$CLIQ" settings)" s3cret
}

@test "a notification that cannot be delivered is in the log and in cliq status, and the run completes" {
    agent a <<<'ok; notify "{\"agent\":\"slack\",\"event\":\"hello\"}"; complete'
    team <<<'phases: [{name: one, agent: a}]'
    "$CLIQ" settings notifications.on_complete webhook:ops
    run_ok
    local want="notify slack failed (hello): slack does not know where channel default is: cliq settings agents.slack.channels.default.webhook_url -"
    has "$(<.cliq/orchestrator.log)" "$want"
    has "$("$CLIQ" status)" "$want"
    has "$("$CLIQ" status)" "notify webhook:ops failed (on_complete): webhook does not know where channel ops is"
    run_ok # a new run has a status of its own
    is 2 "$("$CLIQ" status | grep -c notify)"
}

@test "a notifier that its server keeps waiting does not hold up the run" {
    agent a <<<'ok; notify "{\"agent\":\"slack\",\"event\":\"hello\"}"; complete'
    team <<<'phases: [{name: one, agent: a}]'
    server hook_server.py
    set_to agents.slack.channels.default.webhook_url "$URL/services/slow"
    "$CLIQ" settings run.notify_timeout 1s
    run_ok
    has "$("$CLIQ" status)" "notify slack failed (hello): was killed by signal 15"
}
