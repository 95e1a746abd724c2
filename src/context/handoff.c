#include "context/handoff.h"

#include "base/path.h"
#include "context/state_dir.h"

#include <string.h>
#include <unistd.h>

const struct field handoff_fields[] = {
    { "version", "1", "1", "the version of this format" },
    { "phase_type", "standard, gate or team", "standard", "the type of the phase that wrote it" },
    { "phase", "a text", "from the channel's name", "the phase that wrote it" },
    { "agent", "a text", "\"\"", "the agent that wrote it" },
    { "data", "any JSON value", NULL, "for programs: $(handoff.PHASE.PATH) reads it" },
    { "text", "a text", NULL, "for people and models" },
    { 0 },
};

/* ---- the channel's directory ---- */

/*
 * The path to the parent may hold symbolic links, but the channel itself may not be one: agents and
 * cloned repositories can write where it is.
 */
static enum status
open_channel(const char *channel, bool create, int *fd, struct err *e)
{
    size_t n = strlen(channel);
    struct buf parent = { 0 };
    int dir = -1;

    while (n > 1 && channel[n - 1] == '/')
        n--;
    size_t slash = n;
    while (slash > 0 && channel[slash - 1] != '/')
        slash--;
    if (channel[0] != '/' || slash == n)
        return err_set(e, ST_INVALID, "bad channel \"%.200s\": it must be an absolute path",
                       channel);
    buf_add(&parent, channel, slash > 1 ? slash - 1 : 1);
    buf_addc(&parent, '\0');
    buf_add(&parent, channel + slash, n - slash);
    enum status s = buf_status(&parent, "the channel's path", e);
    if (!s)
        s = path_open_dir(parent.p, create, &dir, e);
    if (!s) {
        s = path_open_dir_at(dir, parent.p + strlen(parent.p) + 1, create, fd, e);
        close(dir);
    }
    buf_release(&parent);
    return s;
}

/* ---- writing ---- */

static void
write_envelope(struct buf *to, const struct handoff *h)
{
    _Alignas(16) char room[2048]; /* room for its few nodes: no allocation */
    struct arena a = { .at = room, .end = room + sizeof room };
    struct json *v = handoff_json(&a, h);

    if (v) {
        json_write_pretty(to, v, 0);
        buf_addc(to, '\n');
    } else {
        to->is_starved = true;
    }
    arena_release(&a);
}

enum status
handoff_write(const char *channel, const struct handoff *h, struct err *e)
{
    struct buf b = { 0 };
    int dir = -1;

    write_envelope(&b, h);
    enum status s = buf_status(&b, "the handoff", e);
    if (!s)
        s = open_channel(channel, true, &dir, e);
    if (!s)
        s = state_dir_replace_at(dir, "handoff.json", b.p, b.len, e);
    if (dir >= 0)
        close(dir);
    buf_release(&b);
    return s;
}

struct json *
handoff_json(struct arena *a, const struct handoff *h)
{
    struct json *v = json_new(a, JSON_OBJECT);
    struct json *all[6] = {
        json_new_int(a, 1),
        json_new_str(a, h->phase_type, strlen(h->phase_type)),
        json_new_str(a, h->phase, strlen(h->phase)),
        json_new_str(a, h->agent, strlen(h->agent)),
        h->data ? json_new(a, JSON_NULL) : NULL,
        h->text ? json_new_str(a, h->text, h->text_len) : NULL,
    };

    if (!v || !all[0] || !all[1] || !all[2] || !all[3] || (h->data && !all[4]) ||
        (h->text && !all[5]))
        return NULL;
    if (h->data) {
        *all[4] = *h->data; /* a new node: `data` may be part of another tree */
        all[4]->next = NULL;
    }
    for (size_t i = 0; i < 6; i++)
        json_set(v, handoff_fields[i].key, all[i]);
    return v;
}

/* ---- reading ---- */

/* A member that must be text without NUL when present; `fallback` when it is absent. */
static bool
get_name(struct arena *a, const struct json *root, const char *key, const char *fallback,
         const char **to)
{
    const struct json *v = json_get(root, key);

    *to = fallback;
    if (!v || json_is(v, JSON_NULL))
        return true;
    if (!json_is(v, JSON_STRING) || memchr(v->text.p, '\0', v->text.len))
        return false;
    *to = arena_dup(a, v->text.p, v->text.len);
    return *to != NULL;
}

/* The reason why this is not an envelope; NULL: it is one. */
static const char *
parse(struct arena *a, const struct json *root, const char *from, struct handoff *h)
{
    const struct json *version = json_get(root, "version"), *text = json_get(root, "text");
    int64_t v = 1;

    if (!json_is(root, JSON_OBJECT))
        return "an envelope is a JSON object";
    if (version && (!json_int(version, &v) || v != 1))
        return "version must be 1";
    if (!get_name(a, root, "phase_type", "standard", &h->phase_type))
        return "phase_type must be text";
    if (!get_name(a, root, "phase", from, &h->phase))
        return "phase must be text";
    if (!get_name(a, root, "agent", "", &h->agent))
        return "agent must be text";
    h->data = json_get(root, "data");
    if (json_is(h->data, JSON_NULL))
        h->data = NULL;
    if (text && !json_is(text, JSON_NULL)) {
        if (!json_is(text, JSON_STRING))
            return "text must be text";
        h->text = arena_dup(a, text->text.p, text->text.len);
        h->text_len = text->text.len;
        if (!h->text)
            return "no memory";
    }
    return NULL;
}

enum status
handoff_check(const struct json *doc, struct err *e)
{
    struct arena a = { 0 };
    struct handoff h;
    const char *why = parse(&a, doc, "", &h);

    arena_release(&a);
    return why ? err_set(e, ST_INVALID, "not a handoff: %s", why) : ST_OK;
}

/* "architect" of ".../architect--developer": the author of an envelope without a phase member. */
static const char *
writer_of(struct arena *a, const char *channel)
{
    size_t n = strlen(channel);

    while (n > 0 && channel[n - 1] == '/')
        n--;
    size_t start = n;
    while (start > 0 && channel[start - 1] != '/')
        start--;
    const char *name = channel + start, *dashes = strstr(name, "--");
    return arena_dup(a, name, dashes && dashes < channel + n ? (size_t)(dashes - name) : n - start);
}

enum status
handoff_read(struct arena *a, const char *channel, struct handoff *h, struct err *e)
{
    struct buf file = { 0 }, name = { 0 };
    struct json *root = NULL;
    const char *text = NULL, *from = writer_of(a, channel);
    int dir = -1;

    *h = (struct handoff){ .phase_type = "standard", .phase = "", .agent = "" };
    enum status s = open_channel(channel, false, &dir, e);
    if (!s)
        s = state_dir_read_at(dir, "handoff.json", &file, e);
    if (dir >= 0)
        close(dir);
    buf_addf(&name, "%s/handoff.json", channel);
    if (!s)
        s = buf_status(&name, "the path", e);
    if (!s && (!from || !(text = arena_dup(a, file.p, file.len))))
        s = err_nomem(e);
    if (!s)
        s = json_parse_named(a, name.p, text, file.len, &root, e);
    const char *why = s ? NULL : parse(a, root, from, h);
    if (why)
        s = err_set(e, ST_INVALID, "%s:1:1: not a handoff: %s", name.p, why);
    else if (s == ST_NOT_FOUND)
        err_say(e, "no handoff in %s", channel);
    buf_release(&file);
    buf_release(&name);
    return s;
}

void
handoff_render(struct buf *to, const struct handoff *h)
{
    if (h->data) {
        buf_adds(to, "```json\n");
        json_write_pretty(to, h->data, 0);
        buf_adds(to, "\n```\n");
    }
    if (h->data && h->text_len)
        buf_addc(to, '\n');
    if (h->text_len) {
        buf_add(to, h->text, h->text_len);
        if (h->text[h->text_len - 1] != '\n')
            buf_addc(to, '\n');
    }
}
