/*
 * make_message - cliq_make_message of cliq.h: an AgentMessage for the tests of an agent.
 */
#include "sdk/sdk.h"

#include <stdlib.h>

/* "<project_dir>/.cliq/<rest>" in the arena; NULL: out of memory. */
static const char *
below(struct arena *a, const char *project_dir, const char *rest)
{
    struct buf b = { 0 };

    buf_addf(&b, "%s/.cliq/%s", project_dir, rest);
    const char *path = buf_failed(&b) ? NULL : arena_dup(a, b.p, b.len);
    buf_release(&b);
    return path;
}

/* The channels to the targets, names between blanks. False: out of memory. */
static bool
list_channels(struct arena *a, const cliq_agent_message *from, struct agent_message *m)
{
    const char *p = from->targets ? from->targets : "";

    m->handoff_dirs = arena_alloc(a, (strlen(p) / 2 + 1) * sizeof *m->handoff_dirs);
    if (!m->handoff_dirs)
        return false;
    for (size_t n; p += strspn(p, " "), (n = strcspn(p, " ")); p += n) {
        struct buf b = { 0 };
        buf_addf(&b, "channels/%s--%.*s", from->phase ? from->phase : "", (int)n, p);
        const char *dir = buf_failed(&b) ? NULL : below(a, from->project_dir, b.p);
        buf_release(&b);
        if (!dir)
            return false;
        m->handoff_dirs[m->n_handoff_dirs++] = dir;
    }
    return true;
}

static enum status
parse_object(struct arena *a, const char *what, const char *text, const struct json **out,
             struct err *e)
{
    struct json *v = NULL;
    enum status s = text ? json_parse_named(a, what, text, strlen(text), &v, e) : ST_OK;

    if (!s && v && !json_is(v, JSON_OBJECT))
        s = err_set(e, ST_INVALID, "%s:1:1: must be a JSON object", what);
    *out = v;
    return s;
}

static enum status
make(struct arena *a, const cliq_agent_message *from, struct buf *to, struct err *e)
{
    const char *type = from->type ? from->type : "phase";
    bool is_phase = strcmp(type, "phase") == 0;
    struct agent_message read, m = {
        .type = type,
        .agent = from->agent,
        .instance_id = from->instance_id ? from->instance_id : "test-1",
        .team_name = from->team_name,
        .req_key = from->req_key,
        .project_dir = from->project_dir,
        .work_dir = from->work_dir,
        .signal_dir = from->signal_dir ? from->signal_dir : below(a, from->project_dir, "signals"),
        .phase = from->phase,
        .phase_type = is_phase && !from->phase_type ? "standard" : from->phase_type,
    };
    const struct json *payload = NULL;
    enum status s = parse_object(a, "settings_json", from->settings_json, &m.settings, e);

    if (!s)
        s = parse_object(a, "payload_json", from->payload_json, &payload, e);
    if (s)
        return s;
    if (!m.signal_dir || !list_channels(a, from, &m))
        return err_nomem(e);
    agent_message_begin(to, &m);
    json_each (v, payload) {
        char *key = arena_dup(a, v->key, v->key_len);
        if (!key)
            return err_nomem(e);
        json_key_json(to, key, v);
    }
    s = agent_message_end(to, e);
    return s ? s : agent_message_parse(a, to->p, to->len, &read, e); /* it says what is wrong */
}

cliq_status
cliq_make_message(const cliq_agent_message *m, char **json, cliq_error *err)
{
    struct arena a = { 0 };
    struct buf text = { 0 };
    struct err e = { "" };

    if (json)
        *json = NULL;
    if (!m || !json || m->size < sizeof *m || !m->agent || !m->project_dir)
        return sdk_invalid(err, "cliq_make_message: agent, project_dir and json must be set, and "
                                "the message begun with CLIQ_AGENT_MESSAGE_INIT");
    enum status s = make(&a, m, &text, &e);
    if (!s && !(*json = strdup(text.p)))
        s = err_nomem(&e);
    buf_release(&text);
    arena_release(&a);
    return sdk_outcome(s, &e, err);
}
