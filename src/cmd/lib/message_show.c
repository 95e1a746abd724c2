#include "cmd/lib/message_show.h"

#include "base/path.h"
#include "base/suggest.h"
#include "base/term.h"
#include "base/utf8.h"
#include "hub/model/time_arg.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum status
show_filter(const struct args *a, struct message_filter *f, struct err *e)
{
    enum status s = ST_OK;

    *f = (struct message_filter){ .from = args_text(a, "from"),
                                  .to = args_text(a, "to"),
                                  .ref = args_text(a, "ref") };
    f->types = args_many(a, "type", &f->n_types);
    for (size_t i = 0; !s && i < f->n_types && !args_has(a, "any-type"); i++)
        s = message_check_type(f->types[i], e);
    return s;
}

void
show_init(struct message_show *s, enum show_form form)
{
    *s = (struct message_show){ .form = form, .table = { .columns = 6 } };
    s->has_color = term_has_color(STDOUT_FILENO);
    s->is_tty = term_is_tty(STDOUT_FILENO);
    if (form == SHOW_TABLE) {
        static const char *const head[] = { "TIME", "FROM", "TO", "TYPE", "REF", "BODY" };
        for (size_t i = 0; i < 6; i++)
            table_cell(&s->table, head[i], strlen(head[i]));
    }
}

/* The text of a string member, "" when there is none. */
static const char *
text_of(const struct json *message, const char *key, size_t *len)
{
    const struct json *v = json_get(message, key);

    *len = json_is(v, JSON_STRING) ? v->text.len : 0;
    return *len ? v->text.p : "";
}

bool
show_near(char to[CLOCK_ISO_SIZE], const char *iso, size_t len)
{
    int64_t ms, now_ms = clock_wall_ns() / 1000000;

    if (len >= CLOCK_ISO_SIZE)
        return false;
    memcpy(to, iso, len);
    to[len] = '\0';
    return time_arg_parse(to, now_ms, &ms, NULL) == ST_OK && clock_near(to, ms, now_ms);
}

static void
show_row(struct message_show *s, const struct json *m)
{
    static const char *const keys[] = { "ts", "from", "to", "type", "ref", "body" };
    char near[CLOCK_ISO_SIZE];

    for (size_t i = 0; i < 6; i++) {
        size_t len;
        const char *p = text_of(m, keys[i], &len);
        if (i == 0 && s->is_tty && show_near(near, p, len))
            table_cell(&s->table, near, strlen(near));
        else
            table_cell(&s->table, p, len);
    }
}

/* A head line in bold, the body indented below it. */
static void
show_talk(struct message_show *s, const struct json *m)
{
    static const char *const keys[] = { "ts", "from", "to", "type", "ref" };
    static const char *const before[] = { "", "  ", " -> ", "  ", "  " };
    struct buf body = { 0 };
    size_t len;

    buf_adds(&s->out, s->has_color ? "\033[1m" : "");
    for (size_t i = 0; i < 5; i++) {
        const char *p = text_of(m, keys[i], &len);
        buf_adds(&s->out, before[i]);
        term_escape(&s->out, p, len, false);
    }
    buf_adds(&s->out, s->has_color ? "\033[0m\n" : "\n");
    const char *p = text_of(m, "body", &len);
    if (len && p[len - 1] == '\n') /* what echo and editors end a text with is no line of its own */
        len--;
    term_escape(&body, p, len, true);
    for (char *rest = body.p, *line; rest && (line = strsep(&rest, "\n"));)
        buf_addf(&s->out, "    %s\n", line);
    buf_release(&body);
}

void
show_json(struct buf *to, const struct json *v, bool is_tty)
{
    struct buf text = { 0 }, shown = { 0 };

    if (!is_tty) {
        json_write(to, v);
        return;
    }
    json_write(&text, v);
    for (size_t i = 0, n; i < text.len && !buf_failed(&text); i += n) {
        n = utf8_char(text.p + i, text.len - i);
        buf_reset(&shown);
        term_escape(&shown, text.p + i, n, false);
        if (n > 1 && shown.len && shown.p[0] == '\\')
            buf_addf(to, "\\u%04x", (unsigned)utf8_decode(text.p + i, n));
        else
            buf_add(to, text.p + i, n);
    }
    to->is_starved = to->is_starved || text.is_starved || shown.is_starved;
    buf_release(&text);
    buf_release(&shown);
}

void
show_message(struct message_show *s, const struct json *m)
{
    switch (s->form) {
    case SHOW_ARRAY:
        buf_adds(&s->out, s->n ? ",\n " : "[");
        show_json(&s->out, m, s->is_tty);
        break;
    case SHOW_LINES:
        show_json(&s->out, m, s->is_tty);
        buf_addc(&s->out, '\n');
        break;
    case SHOW_TABLE:
        show_row(s, m);
        break;
    case SHOW_TALK:
        show_talk(s, m);
        break;
    }
    s->n++;
}

enum status
show_flush(struct message_show *s, bool is_end, struct err *e)
{
    if (is_end && s->form == SHOW_ARRAY)
        buf_adds(&s->out, s->n ? "]\n" : "[]\n");
    if (is_end && s->form == SHOW_TABLE && s->n)
        table_write(&s->table, &s->out, s->is_tty ? term_width(STDOUT_FILENO) : 0, s->has_color);
    enum status st = cmd_print(&s->out, e);
    buf_reset(&s->out);
    return st;
}

void
show_release(struct message_show *s)
{
    buf_release(&s->out);
    table_release(&s->table);
}

void
show_nothing(const char *room, bool is_there)
{
    struct suggest near = { .word = room };
    struct buf base = { 0 };
    char best[NAME_MAX + 1];
    DIR *d = !is_there && room_base(&base, NULL) == ST_OK ? opendir(base.p) : NULL;

    for (struct dirent *f; d && (f = readdir(d));) {
        if (!path_is_name(f->d_name) || f->d_type != DT_DIR)
            continue;
        suggest_try(&near, f->d_name);
        if (near.best == f->d_name)
            near.best = strcpy(best, f->d_name);
    }
    if (d)
        closedir(d);
    buf_release(&base);
    if (is_there)
        fprintf(stderr, "cliq: nothing to show\n");
    else
        fprintf(stderr, "cliq: nothing to show: there is no room \"%s\"%s%s%s\n", room,
                near.best ? " (did you mean " : "", near.best ? near.best : "",
                near.best ? "?)" : "");
}

void
show_bad_lines(const char *room, uint64_t n)
{
    if (n)
        cmd_warn("%" PRIu64 " bad line%s in the channel of %s passed over; cliq fsck tells more", n,
                 n == 1 ? "" : "s", room);
}
