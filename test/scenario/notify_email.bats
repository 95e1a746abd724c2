#!/usr/bin/env bats
# The built-in agent email: a mail server on 127.0.0.1 that speaks STARTTLS, TLS and AUTH.
load notifiers

certificate() {
    command -v openssl >/dev/null || skip "no openssl"
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=127.0.0.1 \
        -addext subjectAltName=IP:127.0.0.1 -keyout "$T/key" -out "$T/cert" 2>/dev/null
}
mailer() { # SETTINGS: besides host, port, from and the channel ops
    SETTINGS='"host":"127.0.0.1","port":'$PORT',"from":"Clíq <cliq@example.org>",
        "channels":{"ops":{"to":["eve@example.org","Bob <bob@example.org>"]}}'${1:+,$1}
}
FAILED='{"event":"on_fail","channel":"ops","phase_name":"build","reason":"no <disk>\n.\n.. dots"}'
# mail N EXPRESSION: of the N-th mail m, parsed as p, with the bodies text and html.
mail() {
    sed -n "$1p" "$T/mails" | $PY -c '
import email, email.policy, json, sys
m = json.loads(sys.stdin.read()); raw = m["text"]
p = email.message_from_string(raw, policy=email.policy.default)
text, html = (p.get_body((k,)).get_content().replace("\r", "") for k in ("plain", "html"))
print(eval(sys.argv[1]))' "$2"
}
no_mail() { [ ! -e "$T/mails" ]; }

@test "a mail has plain text and HTML, over STARTTLS and with AUTH PLAIN" {
    certificate
    server smtp_server.py --cert "$T/cert" "$T/key" --auth PLAIN
    mailer '"user":"eve","password":"s3cret-pass","ca_file":"'$T'/cert"'
    tell email "$FAILED"
    told
    is "<cliq@example.org> <eve@example.org> <bob@example.org> PLAIN True" "$(mail 1 '" ".join([m["from"],*m["to"],m["auth"],str(m["tls"])])')"
    is "Clíq <cliq@example.org>|eve@example.org, Bob <bob@example.org>|@local/x: phase build failed" "$(mail 1 '"|".join([p["from"],p["to"],p["subject"]])')"
    is "multipart/alternative 1.0 auto-generated" "$(mail 1 '" ".join([p.get_content_type(),p["mime-version"],p["auto-submitted"]])')"
    like "$(mail 1 'p["message-id"]')" '^<[0-9a-f]{32}@example.org>$'
    (($(date +%s) - $(mail 1 'int(p["date"].datetime.timestamp())') < 60))
    is "@local/x: phase build failed

Project: $T/proj
Run: run1
Phase: build
Why: no <disk>
.
.. dots

What to do, in $T/proj:
  cliq log build
  cliq status" "$(mail 1 'text.rstrip()')"
    has "$(mail 1 html)" "no &lt;disk&gt;"
    has "$(mail 1 html)" "cliq log build"
    is "True" "$(mail 1 'max(len(l) for l in raw.split("\r\n")) <= 78 and "\n" not in raw.replace("\r\n", "")')"
}

@test "TLS from the first byte, and AUTH LOGIN" {
    certificate
    server smtp_server.py --cert "$T/cert" "$T/key" --tls --auth LOGIN
    mailer '"tls":"tls","user":"eve","password":"s3cret-pass","ca_file":"'$T'/cert"'
    tell email "$FAILED"
    told
    is "LOGIN True" "$(mail 1 'm["auth"] + " " + str(m["tls"])')"
}

@test "without encryption nothing but EHLO is said, and an unknown certificate is refused" {
    certificate
    server smtp_server.py --auth PLAIN
    mailer '"user":"eve","password":"s3cret-pass"'
    tell email "$FAILED"
    refuses "127.0.0.1:$PORT: " "it does not offer STARTTLS"
    is "EHLO" "$(cut -c1-4 "$T/talk" | grep -v QUIT | sort -u)"
    server smtp_server.py --cert "$T/cert" "$T/key"
    mailer
    tell email "$FAILED"
    refuses "certificate"
    no_mail
}

@test "a wrong password is told without it, although the server repeats it" {
    server smtp_server.py --auth LOGIN
    mailer '"tls":"none","user":"eve","password":"wrong-pass-word"'
    tell email "$FAILED"
    refuses "127.0.0.1:$PORT: Login denied"
    lacks "$err$signals" wrong-pass
    mailer '"tls":"none","user":"eve","password":"s3cret-pass","host":"mail.example.org"'
    SETTINGS=${SETTINGS/'"host":"127.0.0.1",'/}
    tell email "$FAILED"
    refuses "the password is not sent without encryption"
    no_mail
}

@test "no text can add a header or a receiver" {
    server smtp_server.py
    mailer '"tls":"none"'
    tell email '{"event":"x","channel":"ops","subject":"a\r\nBcc: evil@example.org\r\n\r\nbody","message":"m\r\n.\r\nMAIL FROM:<evil@example.org>"}'
    told
    is "None <eve@example.org> <bob@example.org>" "$(mail 1 '" ".join([str(p["bcc"]),*m["to"]])')"
    has "$(mail 1 'p["subject"]')" "Bcc: evil@example.org"
    is 1 "$(wc -l <"$T/mails")"
    SETTINGS=${SETTINGS/eve@example.org/eve@example.org>\\r\\nRCPT TO:<evil@example.org}
    tell email "$FAILED"
    refuses "agents.email.channels.ops.to must be an address"
}

@test "a busy server is asked again, one that refuses is not" {
    server smtp_server.py --busy 1
    mailer '"tls":"none"'
    tell email "$FAILED"
    told
    is 2 "$(grep -c DATA "$T/talk")"
    SETTINGS=${SETTINGS/eve@/nobody@}
    tell email "$FAILED"
    refuses "127.0.0.1:$PORT: not every receiver was accepted; the others have the mail (550 5.1.1 no such person)"
    is "<bob@example.org>" "$(mail 2 '" ".join(m["to"])')"
    SETTINGS=${SETTINGS/bob@/nobody@}
    tell email "$FAILED"
    refuses "RCPT failed: 550" "(550 5.1.1 no such person)"
    is 2 "$(wc -l <"$T/mails")"
}

@test "a silent server is given up in time" {
    server smtp_server.py --silent
    mailer '"tls":"none","timeout":"1s"'
    probe email
    has "$signals" '"passed":false,"message":"127.0.0.1:'
}

@test "missing and wrong settings are told with the command to run" {
    local part want
    while IFS='|' read -r part want; do
        SETTINGS=$part
        tell email "$FAILED"
        refuses "$want" || return 1
    done <<'END2'
"channels":{"ops":{}}|cliq settings agents.email.channels.ops.to -
"channels":{"ops":{"to":"eve@x"}}|email has no host: cliq settings agents.email.host -
"channels":{"ops":{"to":"eve"}}|agents.email.channels.ops.to must be an address like eve@example.org
"host":"h","channels":{"ops":{"to":"eve@x"}}|cliq settings agents.email.from -
"host":"h/x","channels":{"ops":{"to":"eve@x"}}|agents.email.host must be the name of a server
"host":"h","port":70000,"channels":{"ops":{"to":"eve@x"}}|agents.email.port must be a number from 1 to 65535
"host":"h","tls":"yes","channels":{"ops":{"to":"eve@x"}}|agents.email.tls must be starttls, tls or none
"host":"h","user":"eve","channels":{"ops":{"to":"eve@x"}}|cliq settings agents.email.password -
END2
}

@test "a test message logs in and sends nothing" {
    server smtp_server.py --auth PLAIN
    mailer '"tls":"none","user":"eve","password":"s3cret-pass"'
    probe email
    has "$signals" '"passed":true,"message":"ready: ops (2 addresses)"'
    has "$(<"$T/talk")" "AUTH PLAIN"
    lacks "$(<"$T/talk")" MAIL
    mailer '"tls":"none","user":"eve","password":"wrong"'
    probe email
    has "$signals" '"passed":false,"message":"127.0.0.1:'$PORT': Login denied'
}
