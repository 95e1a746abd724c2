#include "manager/manager_tell.h"

#include "base/sys.h"
#include "base/term.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SHOWN = 100 }; /* bytes of a body */

/* Written at once. When the reader is gone the work goes on. */
static void
say(struct manager_voice *v, struct buf *line)
{
    buf_addc(line, '\n');
    for (size_t at = 0; !v->is_mute && !buf_failed(line) && at < line->len;) {
        ssize_t n = SYS_RETRY(sys->write(STDOUT_FILENO, line->p + at, line->len - at));
        if (n <= 0)
            v->is_mute = true;
        else
            at += (size_t)n;
    }
    buf_release(line);
}

static void
begin(struct buf *to, const char *ev, const char *room)
{
    json_open(to, '{');
    json_key_str(to, "ev", ev);
    json_key_str(to, "room", room);
}

static void
add(struct buf *to, const struct json *v)
{
    if (json_is(v, JSON_STRING))
        term_escape(to, v->text.p, v->text.len, false);
}

void
manager_tell_message(struct manager_voice *v, const char *room, const struct json *m)
{
    struct buf line = { 0 };
    const struct json *body = json_get(m, "body");

    if (v->is_json) {
        begin(&line, "message", room);
        json_key_json(&line, "message", m);
        json_close(&line, '}');
    } else {
        buf_addf(&line, "%s  ", room);
        add(&line, json_get(m, "from"));
        buf_adds(&line, " -> ");
        add(&line, json_get(m, "to"));
        buf_adds(&line, "  ");
        add(&line, json_get(m, "type"));
        if (json_is(body, JSON_STRING) && body->text.len) {
            const char *nl = memchr(body->text.p, '\n', body->text.len);
            size_t n = nl ? (size_t)(nl - body->text.p) : body->text.len;
            buf_adds(&line, ": ");
            term_escape(&line, body->text.p, n < SHOWN ? n : SHOWN, false);
            if (n < body->text.len)
                buf_adds(&line, " …");
        }
    }
    say(v, &line);
}

void
manager_tell_start(struct manager_voice *v, const char *room, const char *state, const char *role,
                   const char *player, unsigned attempt)
{
    struct buf line = { 0 };

    if (v->is_json) {
        begin(&line, "start", room);
        json_key_str(&line, "state", state);
        json_key_str(&line, "role", role);
        json_key_str(&line, "player", player);
        json_key_int(&line, "attempt", attempt);
        json_close(&line, '}');
    } else {
        buf_addf(&line, "%s  %s starts (%s)", room, role, player);
        if (attempt > 1)
            buf_addf(&line, ", start %u", attempt);
    }
    say(v, &line);
}

void
manager_tell_move(struct manager_voice *v, const char *room, const char *from, const char *to,
                  unsigned retries)
{
    struct buf line = { 0 };

    if (v->is_json) {
        begin(&line, "move", room);
        json_key_str(&line, "from", from);
        json_key_str(&line, "to", to);
        json_key_int(&line, "retries", retries);
        json_close(&line, '}');
    } else {
        buf_addf(&line, "%s  %s -> %s", room, from, to);
    }
    say(v, &line);
}

void
manager_tell_waits(struct manager_voice *v, const char *room, const char *state, const char *role)
{
    struct buf line = { 0 };

    if (v->is_json) {
        begin(&line, "waits", room);
        json_key_str(&line, "state", state);
        json_key_str(&line, "role", role);
        json_close(&line, '}');
    } else {
        buf_addf(&line, "%s  waits for a person as %s (cliq room status %s)", room, role, room);
    }
    say(v, &line);
}

void
manager_tell_note(struct manager_voice *v, const char *room, const char *fmt, ...)
{
    struct buf line = { 0 };
    struct err text;
    va_list ap;

    va_start(ap, fmt);
    err_vsay(&text, fmt, ap);
    va_end(ap);
    if (v->is_json) {
        begin(&line, "note", room);
        json_key_str(&line, "text", text.text);
        json_close(&line, '}');
        say(v, &line);
    } else {
        fprintf(stderr, "cliq: %s%s%s\n", room ? room : "", room ? ": " : "", text.text);
    }
}

void
manager_tell_end(struct manager_voice *v, size_t total, size_t passed)
{
    struct buf line = { 0 };

    if (v->is_json) {
        begin(&line, "end", NULL);
        json_key_int(&line, "total", (int64_t)total);
        json_key_int(&line, "passed", (int64_t)passed);
        json_close(&line, '}');
    } else {
        buf_addf(&line, "%zu of %zu room%s passed", passed, total, total == 1 ? "" : "s");
    }
    say(v, &line);
}
