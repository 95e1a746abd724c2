#include "hub/model/signal_source.h"

#include "base/utf8.h"

static const char *const names[] = {
    [SOURCE_SYSTEM] = "system",
    [SOURCE_AGENT] = "agent",
    [SOURCE_WEBHOOK] = "webhook",
    [SOURCE_PROCESS] = "process",
};
enum { KINDS = sizeof names / sizeof *names };

static enum status
check(struct signal_source *s, struct err *e)
{
    s->id = text_trim(s->id);
    if (s->kind == SOURCE_AGENT && !s->id.len)
        return err_set(e, ST_INVALID, "Agent signal source id is required");
    if (s->kind == SOURCE_SYSTEM && s->id.len)
        return err_set(e, ST_INVALID, "System signal source has no id");
    if (s->id.len && utf8_valid_len(s->id.p, s->id.len) != s->id.len)
        return err_set(e, ST_INVALID, "Signal source id is not UTF-8");
    return ST_OK;
}

enum status
signal_source_read_kind(const struct json *v, enum signal_source_kind *out, struct err *e)
{
    if (!json_is(v, JSON_STRING))
        return err_set(e, ST_INVALID, "Signal source type is required");
    for (int kind = 0; kind < KINDS; kind++)
        if (json_eq(v, names[kind])) {
            *out = (enum signal_source_kind)kind;
            return ST_OK;
        }
    return err_set(e, ST_INVALID, "Unsupported signal source type: %.*s",
                   (int)utf8_cut(v->text.p, v->text.len, 64), v->text.p);
}

enum status
signal_source_read(const struct json *v, struct signal_source *out, struct err *e)
{
    const struct json *id = json_get(v, "id");

    *out = (struct signal_source){ 0 };
    if (!v)
        return ST_OK;
    if (!json_is(v, JSON_OBJECT))
        return err_set(e, ST_INVALID, "Signal source must be an object");
    enum status s = signal_source_read_kind(json_get(v, "type"), &out->kind, e);
    if (s)
        return s;
    json_each (member, v)
        if (member != id && member != json_get(v, "type"))
            return err_set(e, ST_INVALID, "Signal source has an unknown key: %.*s",
                           (int)utf8_cut(member->key, member->key_len, 64), member->key);
    if (id && !json_is(id, JSON_STRING))
        return err_set(e, ST_INVALID, "Signal source id must be a string");
    if (id)
        out->id = (struct text){ id->text.p, id->text.len };
    return check(out, e);
}

struct json *
signal_source_json(struct arena *a, const struct signal_source *s)
{
    struct json *v = json_new(a, JSON_OBJECT);
    struct json *type = json_new_str(a, names[s->kind], strlen(names[s->kind]));
    struct json *id = s->id.len ? json_new_str(a, s->id.p, s->id.len) : NULL;

    if (!v || !type || (s->id.len && !id))
        return NULL;
    json_set(v, "type", type);
    json_set(v, "id", id);
    return v;
}
