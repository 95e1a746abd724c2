/*
 * email - tells people by mail, over SMTP.
 *
 *     agents.email.host      smtp.example.org
 *     agents.email.port      587; with tls: tls 465, with tls: none 25
 *     agents.email.tls       starttls, tls or none
 *     agents.email.user, password
 *     agents.email.from      cliq <cliq@example.org>; else the user, when that is an address
 *     agents.email.ca_file   certificates to trust, besides a public authority's
 *     agents.email.channels.ops.to     an address, or a list of them
 *
 * A password goes over an encrypted connection only, except to this machine. Without a connection,
 * and after an answer 4xx, it is tried again.
 */
#include "agents/connector/xml.h"
#include "agents/notify/delivery.h"
#include "agents/notify/mail.h"
#include "base/clock.h"
#include "cmd/cmd.h"
#include "net/smtp.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

enum { RECEIVERS_MAX = 50, PAUSE_MS = 1000, PORT_MAX = 65535 };

/* ---- settings ---- */

static const struct {
    const char *name;
    enum smtp_tls tls;
    unsigned port;
} ways[] = {
    { "starttls", SMTP_STARTTLS, 587 },
    { "tls", SMTP_TLS, 465 },
    { "none", SMTP_PLAIN, 25 },
};

static enum status
get_tls(const struct notice_delivery *d, struct smtp_server *s, struct err *e)
{
    const char *name = delivery_setting(d, "tls");
    size_t i = 0;

    if (!name)
        name = s->port == 465 ? "tls" : "starttls";
    while (i < 3 && strcmp(name, ways[i].name) != 0)
        i++;
    if (i == 3)
        return err_set(e, ST_INVALID, "agents.email.tls must be starttls, tls or none");
    s->tls = ways[i].tls;
    s->port = s->port ? s->port : ways[i].port;
    return ST_OK;
}

static bool
is_this_machine(const char *host)
{
    return strcmp(host, "localhost") == 0 || strcmp(host, "::1") == 0 ||
           strncmp(host, "127.", 4) == 0;
}

/* A name or an address: nothing that would be another part of a URL. */
static bool
is_host(const char *host)
{
    return !host[strspn(host,
                        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_:")];
}

static enum status
get_server(const struct notice_delivery *d, struct smtp_server *s, struct err *e)
{
    const char *port = delivery_setting(d, "port");
    char *end = NULL;
    unsigned long n = port ? strtoul(port, &end, 10) : 0;

    *s = (struct smtp_server){ .host = delivery_setting(d, "host"),
                               .user = delivery_setting(d, "user"),
                               .password = delivery_setting(d, "password"),
                               .ca_file = delivery_setting(d, "ca_file") };
    if (!s->host)
        return delivery_lacks_own(d, "host", e);
    if (!is_host(s->host))
        return err_set(e, ST_INVALID,
                       "agents.email.host must be the name of a server, like smtp.example.org");
    if (port && (*end || n < 1 || n > PORT_MAX))
        return err_set(e, ST_INVALID, "agents.email.port must be a number from 1 to %d", PORT_MAX);
    s->port = (unsigned)n;
    enum status st = get_tls(d, s, e);
    if (!st && s->user && !s->password)
        st = delivery_lacks_own(d, "password", e);
    if (!st && s->password && s->tls == SMTP_PLAIN && !is_this_machine(s->host))
        st = err_set(e, ST_INVALID,
                     "the password is not sent without encryption: cliq settings agents.email.tls "
                     "starttls");
    return st ? st : delivery_timeout(d, &s->timeout_ms, e);
}

static enum status
get_from(const struct notice_delivery *d, struct mail_address *from, struct err *e)
{
    const char *text = delivery_setting(d, "from"), *user = delivery_setting(d, "user");

    if (!text && user && strchr(user, '@'))
        text = user;
    if (!text)
        return delivery_lacks_own(d, "from", e);
    return mail_address_parse(d->c->arena, text, from)
               ? ST_OK
               : err_set(e, ST_INVALID,
                         "agents.email.from must be an address, like cliq <cliq@example.org>");
}

static enum status
add_receiver(const struct notice_delivery *d, const struct json *v, struct mail *m,
             struct mail_address *list, struct err *e)
{
    const char *text = json_dup_text(d->c->arena, v);

    if (m->n_to == RECEIVERS_MAX)
        return err_set(e, ST_INVALID, "agents.email.channels.%s.to has more than %d addresses",
                       d->name, RECEIVERS_MAX);
    if (!text || memchr(v->text.p, '\0', v->text.len) ||
        !mail_address_parse(d->c->arena, text, &list[m->n_to]))
        return err_set(e, ST_INVALID,
                       "agents.email.channels.%s.to must be an address like eve@example.org, or a "
                       "list of them",
                       d->name);
    m->n_to++;
    return ST_OK;
}

static enum status
get_receivers(const struct notice_delivery *d, struct mail *m, struct err *e)
{
    const struct json *to = json_get(d->to, "to");
    struct mail_address *list = arena_alloc(d->c->arena, RECEIVERS_MAX * sizeof *list);
    enum status s = ST_OK;

    if (!list)
        return err_nomem(e);
    m->to = list;
    m->n_to = 0;
    if (!to || (json_is(to, JSON_ARRAY) && !json_first(to)))
        return delivery_lacks(d, "to", e);
    if (!json_is(to, JSON_ARRAY))
        return add_receiver(d, to, m, list, e);
    json_each (v, to)
        if (!s)
            s = add_receiver(d, v, m, list, e);
    return s;
}

/* ---- the mail ---- */

static void
write_html(struct buf *to, const struct notice *n)
{
    buf_adds(to, "<!DOCTYPE html>\n<html><body style=\"font-family: sans-serif\">\n<h3>");
    xml_escape(to, n->title);
    buf_adds(to, "</h3>\n");
    if (n->message) {
        buf_adds(to, "<p style=\"white-space: pre-wrap\">");
        xml_escape(to, n->message);
        buf_adds(to, "</p>\n");
    }
    buf_adds(to, "<table cellpadding=\"3\">\n");
    for (size_t i = 0; i < n->n_rows; i++) {
        buf_adds(to, "<tr><th align=\"left\" valign=\"top\">");
        xml_escape(to, n->rows[i].label);
        buf_adds(to, "</th><td style=\"white-space: pre-wrap\">");
        xml_escape(to, n->rows[i].value);
        buf_adds(to, "</td></tr>\n");
    }
    buf_adds(to, "</table>\n");
    if (n->n_commands) {
        buf_adds(to, "<p>What to do, in <code>");
        xml_escape(to, n->project);
        buf_adds(to, "</code>:</p>\n<pre>");
        for (size_t i = 0; i < n->n_commands; i++) {
            xml_escape(to, n->commands[i]);
            buf_addc(to, '\n');
        }
        buf_adds(to, "</pre>\n");
    }
    buf_adds(to, "</body></html>\n");
}

static enum status
write_mail(struct buf *to, const struct notice_delivery *d, struct mail *m, struct err *e)
{
    struct buf text = { 0 }, html = { 0 };

    notice_write(&text, &d->notice);
    write_html(&html, &d->notice);
    enum status s = buf_status(&text, "the text", e);
    if (!s)
        s = buf_status(&html, "the text", e);
    m->subject = d->notice.title;
    m->id = d->id;
    m->at_s = clock_wall_ns() / 1000000000;
    m->text = text.p;
    m->html = html.p;
    if (!s)
        mail_write(to, m);
    buf_release(&text);
    buf_release(&html);
    return s ? s : buf_status(to, "the mail", e);
}

/* ---- delivery ---- */

static enum status
send_mail(const struct notice_delivery *d, struct smtp_server *server, const struct smtp_mail *mail,
          struct err *e)
{
    int64_t pause_ms = PAUSE_MS;

    for (unsigned tries = 1;; tries++, pause_ms *= 2) {
        bool is_temporary;
        enum status s = smtp_send(server, mail, &is_temporary, e);
        bool has_time = clock_mono_ms() + pause_ms < d->until_ms;
        if (!s || !is_temporary || tries == DELIVERY_TRIES || !has_time)
            return s;
        poll(NULL, 0, (int)pause_ms);
        struct err late;
        if (delivery_timeout(d, &server->timeout_ms, &late))
            return s;
    }
}

static enum status
deliver(struct notice_delivery *d, struct err *e)
{
    struct smtp_server server;
    struct mail m = { 0 };
    struct buf text = { 0 };
    enum status s = get_receivers(d, &m, e);

    if (!s)
        s = get_server(d, &server, e);
    if (!s)
        s = get_from(d, &m.from, e);
    const char **to = arena_alloc(d->c->arena, (m.n_to + 1) * sizeof *to);
    for (size_t i = 0; to && i < m.n_to; i++)
        to[i] = m.to[i].address;
    if (!s)
        s = to ? write_mail(&text, d, &m, e) : err_nomem(e);
    struct smtp_mail mail = {
        .from = m.from.address, .to = to, .n_to = m.n_to, .text = text.p, .len = text.len
    };
    if (!s)
        s = send_mail(d, &server, &mail, e);
    buf_release(&text);
    return s;
}

/* Logs in at the server; sends no mail. */
static enum status
test_channel(struct notice_delivery *d, struct buf *says, struct err *e)
{
    struct smtp_server server;
    struct mail m = { 0 };
    enum status s = get_receivers(d, &m, e);

    if (!s)
        s = get_server(d, &server, e);
    if (!s)
        s = get_from(d, &m.from, e);
    if (!s)
        s = smtp_greet(&server, e);
    buf_addf(says, " (%zu addresses)", m.n_to);
    return s;
}

static enum status
run(const struct args *a, struct err *e)
{
    (void)a;
    return delivery_serve(deliver, test_channel, e);
}

const struct cmd cmd_agent_email = {
    .name = "agent email",
    .brief = "the built-in agent that notifies people by mail",
    .about =
        "Reads an AgentMessage on standard input. A receiver email:ops is the channel ops of the\n"
        "settings: agents.email.channels.ops.to is an address or a list of them. agents.email has\n"
        "host, port, tls (starttls, tls or none), user, password, from and ca_file of the mail\n"
        "server.\n"
        "\n"
        "A mail has plain text and HTML. Without a connection, and after an answer 4xx, it is\n"
        "sent again for up to 25 s. A test message logs in at the server and sends nothing.",
    .examples = "cliq settings agents.email.host smtp.example.org\n"
                "cliq settings agents.email.password -\n"
                "cliq settings agents.email.channels.ops.to eve@example.org\n"
                "cliq settings notifications.on_escalate '[\"email:ops\"]'",
    .opts = agent_no_opts,
    .run = run,
};
