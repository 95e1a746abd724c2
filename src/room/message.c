#include "room/message.h"

#include "base/clock.h"
#include "base/id.h"
#include "base/path.h"
#include "base/suggest.h"
#include "base/sys.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *says;
} types[] = {
#define TYPE(name, says) { name, says },
#include "room/types.def"
#undef TYPE
};

enum { N_TYPES = sizeof types / sizeof *types };

const char *
message_type(size_t i, const char **says)
{
    if (i >= N_TYPES)
        return NULL;
    if (says)
        *says = types[i].says;
    return types[i].name;
}

enum status
message_check_type(const char *type, struct err *e)
{
    struct suggest near = { .word = type };
    struct buf list = { 0 };

    for (size_t i = 0; i < N_TYPES; i++)
        if (strcmp(types[i].name, type) == 0)
            return ST_OK;
    for (size_t i = 0; i < N_TYPES; i++) {
        suggest_try(&near, types[i].name);
        buf_addf(&list, "%s%s", i ? ", " : "", types[i].name);
    }
    err_set(e, ST_INVALID, "unknown message type \"%s\"%s%s%s; known types: %s", type,
            near.best ? " (did you mean \"" : "", near.best ? near.best : "",
            near.best ? "\"?)" : "", list.p ? list.p : "");
    buf_release(&list);
    return ST_INVALID;
}

static enum status
check_text(const char *what, const char *p, size_t len, struct err *e)
{
    size_t good = utf8_valid_len(p, len);

    if (good == len)
        return ST_OK;
    return err_set(e, ST_INVALID, "the %s is not UTF-8 text: byte %zu is 0x%02x", what, good + 1,
                   (unsigned char)p[good]);
}

enum status
message_check(const struct message *m, bool any_type, struct err *e)
{
    enum status s = path_check_name("sender (--from)", m->from, e);

    if (!s)
        s = path_check_name("recipient (--to)", m->to, e);
    if (!s)
        s = any_type ? path_check_name("message type", m->type, e) : message_check_type(m->type, e);
    if (!s && strlen(m->ref) > MESSAGE_REF_MAX)
        s = err_set(e, ST_INVALID, "the reference is longer than %d bytes", MESSAGE_REF_MAX);
    if (!s)
        s = check_text("reference", m->ref, strlen(m->ref), e);
    if (!s)
        s = check_text("body", m->body, m->body_len, e);
    return s;
}

static void
write_body(struct buf *to, const struct message *m, size_t max_body)
{
    if (m->body_len <= max_body) {
        json_key_strn(to, "body", m->body, m->body_len);
        return;
    }
    struct buf cut = { 0 };
    buf_add(&cut, m->body, utf8_cut(m->body, m->body_len, max_body));
    buf_addf(&cut, "\n[TRUNCATED: original %zu bytes, max %zu]", m->body_len, max_body);
    json_key_strn(to, "body", cut.p, cut.len);
    to->is_starved = to->is_starved || cut.is_starved;
    buf_release(&cut);
}

void
message_id(const struct message *m, char id[MESSAGE_ID_SIZE])
{
    snprintf(id, MESSAGE_ID_SIZE, "%s-%s-%" PRId64 "-%d", m->from, m->type, id_unique_ns(),
             (int)sys->getpid());
}

bool
message_write(struct buf *to, const struct message *m, size_t max_body, const char *id)
{
    char ts[CLOCK_ISO_SIZE];

    json_open(to, '{');
    json_key_int(to, "v", 1);
    json_key_str(to, "id", id);
    json_key_str(to, "ts", clock_iso(ts, clock_wall_ns(), 0));
    json_key_str(to, "from", m->from);
    json_key_str(to, "to", m->to);
    json_key_str(to, "type", m->type);
    json_key_str(to, "ref", m->ref);
    write_body(to, m, max_body);
    json_close(to, '}');
    return m->body_len > max_body;
}

bool
message_matches(const struct message_filter *f, const struct json *m)
{
    bool is_type = f->n_types == 0;

    for (size_t i = 0; i < f->n_types && !is_type; i++)
        is_type = json_eq(json_get(m, "type"), f->types[i]);
    return is_type && (!f->from || json_eq(json_get(m, "from"), f->from)) &&
           (!f->to || json_eq(json_get(m, "to"), f->to)) &&
           (!f->ref || json_eq(json_get(m, "ref"), f->ref));
}
