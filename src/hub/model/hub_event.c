#include "hub/model/hub_event.h"

#include "base/utf8.h"

#include <string.h>

enum field_type { TEXT, ID, JSON, INT, FLAG };

/* Every member, in the order in which lines are written; `of` says for which lines. */
enum { SIGNALS = 1, OPS = 2, BOTH = 3 };

static const struct event_field {
    const char *key;
    unsigned char len, type, of;
    size_t at;
} fields[] = {
#define F(key, type, of, member)                                                                   \
    {                                                                                              \
        key, sizeof key - 1, type, of, offsetof(struct hub_event, member)                          \
    }
    F("id", ID, BOTH, id),
    F("signal", ID, OPS, signal),
    F("by", TEXT, OPS, by),
    F("at", INT, OPS, at),
    F("type", TEXT, BOTH, type),
    F("source", JSON, BOTH, source),
    F("data", JSON, BOTH, data),
    F("createdAt", INT, SIGNALS, at),
    F("content", JSON, SIGNALS, content),
    F("urgency", JSON, SIGNALS, urgency),
    F("from_role", TEXT, SIGNALS, from_role),
    F("from_identity", TEXT, SIGNALS, by),
    F("to_role", TEXT, SIGNALS, to_role),
    F("to_ring", TEXT, SIGNALS, to_ring),
    F("to_identity", TEXT, SIGNALS, to_identity),
    F("parent_id", ID, SIGNALS, parent),
    F("thread_id", ID, SIGNALS, thread),
    F("tags", JSON, SIGNALS, tags),
    F("resources", JSON, SIGNALS, resources),
    F("attachments", JSON, SIGNALS, attachments),
    F("metadata", JSON, SIGNALS, metadata),
    F("delayed", ID, SIGNALS, delayed),
    F("expires_at", INT, SIGNALS, expires_at),
    F("task_status", TEXT, BOTH, task_status),
    F("claim", TEXT, OPS, claim),
    F("until", INT, OPS, until),
    F("boot", TEXT, OPS, boot),
    F("boot_until", INT, OPS, boot_until),
    F("error", JSON, OPS, error),
    F("state", TEXT, OPS, state),
    F("pattern", TEXT, OPS, pattern),
    F("silent", FLAG, OPS, silent),
    F("deliverAt", INT, OPS, deliver_at),
    F("repeatKey", TEXT, OPS, repeat_key),
    F("identity", TEXT, OPS, identity),
    F("role", TEXT, OPS, role),
    F("ring", TEXT, OPS, ring),
    F("name", TEXT, OPS, name),
    F("purpose", TEXT, OPS, purpose),
    F("kind", TEXT, OPS, type_of),
    F("agent", TEXT, OPS, agent),
    F("dir", TEXT, OPS, dir),
    F("hash", TEXT, OPS, hash),
    F("scopes", JSON, OPS, scopes),
    F("from", INT, OPS, from),
    F("upto", INT, OPS, upto),
    F("project", TEXT, OPS, project),
    F("paths", JSON, OPS, paths),
    F("reason", TEXT, OPS, reason),
    F("dedup_key", TEXT, BOTH, dedup_key),
    F("dedup_hash", TEXT, BOTH, dedup_hash),
    F("dedup_lines", INT, BOTH, dedup_lines),
#undef F
};

enum { N_FIELDS = sizeof fields / sizeof *fields };

static const struct {
    const char *name, *needs;
} kinds[EV_KINDS] = {
    [EV_SIGNAL] = { "emit", "type" },
#define EVENT(id, op, needs) [EV_##id] = { op, needs },
#include "hub/model/events.def"
#undef EVENT
};

const char *
hub_event_name(enum hub_event_kind kind)
{
    return kinds[kind].name;
}

bool
hub_event_is_task(const struct hub_event *ev)
{
    return strcmp(ev->type, "task") == 0 ||
           (ev->task_status && strcmp(ev->task_status, "open") == 0);
}

const char *
hub_event_bare_id(const char *id)
{
    return strncmp(id, "signal:", 7) == 0 && id[7] ? id + 7 : id;
}

/* A member of the event: its type is the field's. */
#define MEMBER(ev, f) ((void *)((char *)(ev) + (f)->at))

static bool
is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The text without blanks around it; "" counts as absent. False without memory. */
static bool
read_text(const struct json *v, bool is_id, struct arena *scratch, const char **out)
{
    const char *p = v->text.p;
    size_t len = v->text.len;

    while (len && is_blank(p[len - 1]))
        len--;
    while (len && is_blank(*p)) {
        p++;
        len--;
    }
    if (!len || len > EVENT_TEXT_MAX || memchr(p, '\0', len))
        return true;
    const char *text = arena_dup(scratch, p, len);
    if (!text)
        return false;
    *out = is_id ? hub_event_bare_id(text) : text;
    return true;
}

static bool
read_field(struct hub_event *ev, const struct event_field *f, const struct json *v,
           struct arena *scratch)
{
    void *to = MEMBER(ev, f);
    bool is_on;

    switch (f->type) {
    case TEXT:
    case ID:
        return v->type != JSON_STRING || read_text(v, f->type == ID, scratch, to);
    case INT:
        if (!json_int(v, to) || *(int64_t *)to < 0)
            *(int64_t *)to = 0;
        return true;
    case FLAG:
        if (json_bool(v, &is_on))
            *(enum hub_event_flag *)to = is_on ? FLAG_YES : FLAG_NO;
        return true;
    default:
        if (v->type != JSON_NULL || strcmp(f->key, "data") == 0)
            *(const struct json **)to = v;
        return true;
    }
}

/* Is the member called `key` (len bytes of it) set? */
static bool
is_set(const struct hub_event *ev, const char *key, size_t len, unsigned of)
{
    for (size_t i = 0; i < N_FIELDS; i++)
        if ((fields[i].of & of) && fields[i].len == len && memcmp(fields[i].key, key, len) == 0)
            return *(const void **)MEMBER(ev, &fields[i]) != NULL;
    return false;
}

static bool
has_needs(const struct hub_event *ev, unsigned of)
{
    for (const char *p = kinds[ev->kind].needs; *p;) {
        size_t len = strcspn(p, " ");
        if (!is_set(ev, p, len, of))
            return false;
        p += len + (p[len] == ' ');
    }
    return true;
}

/* The field of the member v: usually one of the next, as lines are written in this order. */
static const struct event_field *
find_field(const struct json *v, unsigned of, size_t *next)
{
    for (size_t k = 0, i = *next; k < N_FIELDS; k++, i++) {
        if (i >= N_FIELDS)
            i = 0;
        if (fields[i].len == v->key_len && (fields[i].of & of) &&
            memcmp(fields[i].key, v->key, v->key_len) == 0) {
            *next = i + 1;
            return &fields[i];
        }
    }
    return NULL;
}

bool
hub_event_read(struct hub_event *ev, const struct json *line, struct arena *scratch)
{
    const struct json *op = json_get(line, "op");
    unsigned of = op ? OPS : SIGNALS;

    *ev = (struct hub_event){ .kind = op ? EV_NONE : EV_SIGNAL };
    for (int k = EV_SIGNAL + 1; op && k < EV_KINDS; k++)
        if (json_eq(op, kinds[k].name))
            ev->kind = (enum hub_event_kind)k;
    if (ev->kind == EV_NONE)
        return false;
    size_t next = 0;
    json_each (v, line) {
        const struct event_field *f = find_field(v, of, &next);
        if (f && !read_field(ev, f, v, scratch))
            return false;
    }
    return has_needs(ev, of);
}

bool
hub_event_parse(struct hub_event *ev, const char *text, size_t len, struct arena *scratch)
{
    struct json *line;

    return json_parse(scratch, text, len, &line, NULL) && hub_event_read(ev, line, scratch);
}

void
hub_event_write(struct buf *to, const struct hub_event *ev)
{
    unsigned of = ev->kind == EV_SIGNAL ? SIGNALS : OPS;

    json_open(to, '{');
    if (of == OPS)
        json_key_str(to, "op", kinds[ev->kind].name);
    for (size_t i = 0; i < N_FIELDS; i++) {
        const struct event_field *f = &fields[i];
        const void *from = MEMBER(ev, f);
        if (!(f->of & of))
            continue;
        if (f->type == TEXT || f->type == ID || f->type == JSON) {
            if (!*(const void *const *)from)
                continue; /* mostly */
            if (f->type == JSON)
                json_key_json(to, f->key, *(const struct json *const *)from);
            else
                json_key_str(to, f->key, *(const char *const *)from);
        } else if (f->type == INT && *(const int64_t *)from)
            json_key_int(to, f->key, *(const int64_t *)from);
        else if (f->type == FLAG && *(const enum hub_event_flag *)from)
            json_key_bool(to, f->key, *(const enum hub_event_flag *)from == FLAG_YES);
    }
    json_close(to, '}');
}

void
hub_event_line_id(char to[EVENT_ID_LEN + 1], uint64_t seq)
{
    to[EVENT_ID_LEN] = '\0';
    for (int i = EVENT_ID_LEN - 1; i > 0; i--, seq /= 10)
        to[i] = (char)('0' + seq % 10);
    to[0] = 'f';
}

/* ---- sources ---- */

static const char *const source_names[] = {
    [SOURCE_SYSTEM] = "system",
    [SOURCE_AGENT] = "agent",
    [SOURCE_WEBHOOK] = "webhook",
    [SOURCE_PROCESS] = "process",
};
enum { SOURCES = sizeof source_names / sizeof *source_names };

static enum status
check_source(struct signal_source *s, struct err *e)
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
    for (int kind = 0; kind < SOURCES; kind++)
        if (json_eq(v, source_names[kind])) {
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
    return check_source(out, e);
}

struct json *
signal_source_json(struct arena *a, const struct signal_source *s)
{
    struct json *v = json_new(a, JSON_OBJECT);
    struct json *type = json_new_str(a, source_names[s->kind], strlen(source_names[s->kind]));
    struct json *id = s->id.len ? json_new_str(a, s->id.p, s->id.len) : NULL;

    if (!v || !type || (s->id.len && !id))
        return NULL;
    json_set(v, "type", type);
    json_set(v, "id", id);
    return v;
}
