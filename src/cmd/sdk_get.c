/* sdk get - what the agent knows, one field at a time. */
#include "base/suggest.h"
#include "cmd/lib/sdk_session.h"

#include <inttypes.h>
#include <string.h>

static const struct opt opts[] = { { 0 } };

/* Appends a string as it is, other values as JSON. */
static enum status
add_value(struct buf *to, const struct json *v, const char *field, struct err *e)
{
    if (!v || json_is(v, JSON_NULL))
        return err_set(e, ST_NOT_FOUND, "the message has no %s", field);
    if (json_is(v, JSON_STRING))
        buf_add(to, v->text.p, v->text.len);
    else
        json_write(to, v);
    return ST_OK;
}

static enum status
add_text(struct buf *to, const char *text, const char *field, struct err *e)
{
    if (!text)
        return err_set(e, ST_NOT_FOUND, "the message has no %s", field);
    buf_adds(to, text);
    return ST_OK;
}

/* A key that looks like a path is found as a key first. */
static const struct json *
look(const struct json *root, const char *path)
{
    const struct json *v = *path ? json_get(root, path) : root;

    return v ? v : json_path(root, path);
}

static const struct context_input *
find_input(const struct context *c, const char *name, size_t n)
{
    for (size_t i = 0; i < c->n_inputs; i++) {
        const struct context_input *in = &c->inputs[i];
        if (in->is_there && ((strlen(in->channel) == n && !memcmp(in->channel, name, n)) ||
                             (strlen(in->from) == n && !memcmp(in->from, name, n))))
            return in;
    }
    return NULL;
}

/* input_text and input_envelopes: all, or those of one channel, or a value of it. */
static enum status
get_input(const struct context *c, bool is_text, const char *rest, const char *field,
          struct buf *to, struct err *e)
{
    size_t n = strcspn(rest, ".[");
    const struct context_input *in = find_input(c, rest, n);

    if (*rest && (!in || (is_text && rest[n])))
        return err_set(e, ST_NOT_FOUND, "there is no %s", field);
    if (*rest && is_text)
        return add_text(to, in->text, field, e);
    if (*rest)
        return add_value(to, look(in->envelope, rest + n + (rest[n] == '.')), field, e);
    if (is_text)
        return add_text(to, c->input_text, field, e);
    json_open(to, '{');
    for (size_t i = 0; i < c->n_inputs; i++)
        if (c->inputs[i].is_there)
            json_key_json(to, c->inputs[i].channel, c->inputs[i].envelope);
    json_close(to, '}');
    return ST_OK;
}

static enum status
get_docs(const struct context *c, const char *rest, const char *field, struct buf *to,
         struct err *e)
{
    for (size_t i = 0; i < c->n_design_docs; i++) {
        if (!*rest)
            buf_addf(to, "%s\n", c->design_docs[i].name);
        else if (strcmp(c->design_docs[i].name, rest) == 0)
            return c->design_docs[i].text
                       ? add_text(to, c->design_docs[i].text, field, e)
                       : err_set(e, ST_INVALID,
                                 "%s is not UTF-8 text, or larger than %zu MiB: read the file",
                                 c->design_docs[i].path, CONTEXT_DOC_MAX >> 20);
    }
    return *rest ? err_set(e, ST_NOT_FOUND, "there is no %s", field) : ST_OK;
}

/* Are the first n bytes of a field this name? */
static bool
is(const char *field, size_t n, const char *name)
{
    return strlen(name) == n && memcmp(field, name, n) == 0;
}

static enum status
get(struct sdk_session *k, const char *field, struct buf *to, struct err *e)
{
    struct context *c = &k->c;
    const struct json *payload = c->dispatch;
    const struct {
        const char *name, *value;
    } texts[] = {
        { "type", k->msg.type },
        { "agent", c->agent },
        { "phase", c->phase },
        { "phase_type", c->phase_type },
        { "role", c->phase ? c->role : NULL },
        { "req_spec", c->phase ? c->req_spec : NULL },
        { "task_board", c->board.text.p ? c->board.text.p
                        : c->phase      ? ""
                                        : NULL },
        { "instance_id", c->instance_id },
        { "team_name", c->team_name },
        { "req_key", c->req_key },
        { "project_dir", c->project_dir },
        { "work_dir", c->work_dir },
        { "state_dir", c->state_dir },
        { "signal_dir", k->msg.signal_dir },
        { "is_support", c->is_support ? "true" : "false" },
    };
    const struct {
        const char *name;
        const struct json *value;
    } trees[] = {
        { "message", k->msg.root },
        { "payload", payload },
        { "dispatch", payload },
        { "phase_config", c->phase_config },
        { "settings", c->settings },
        { "inputs", c->workflow_inputs },
        { "workflow_inputs", c->workflow_inputs },
        { "check_results", c->check_results },
        { "input_artifacts", k->msg.input_artifacts },
    };
    static const char *const others[] = {
        "input_text", "input_envelopes", "design_docs",   "targets",
        "prompt",     "iteration",       "route_targets", "max_iterations",
    };
    struct suggest near = { .word = field };

    if (strncmp(field, "metadata.", 9) == 0 &&
        (!strcmp(field + 9, "instance_id") || !strcmp(field + 9, "team_name") ||
         !strcmp(field + 9, "req_key")))
        field += 9;
    if (strncmp(field, "dispatch.phase_config", 21) == 0)
        field += 9; /* as the SDK's page spells it */
    size_t n = strcspn(field, ".[");
    const char *rest = field + n + (field[n] == '.');
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        suggest_try(&near, texts[i].name);
        if (strcmp(texts[i].name, field) == 0)
            return add_text(to, texts[i].value, field, e);
    }
    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++) {
        suggest_try(&near, trees[i].name);
        if (is(field, n, trees[i].name))
            return add_value(to, look(trees[i].value, rest), field, e);
    }
    if (is(field, n, "input_text"))
        return get_input(c, true, rest, field, to, e);
    if (is(field, n, "input_envelopes"))
        return get_input(c, false, rest, field, to, e);
    if (is(field, n, "design_docs"))
        return get_docs(c, rest, field, to, e);
    if (strcmp(field, "prompt") == 0)
        return c->phase ? context_prompt(c, to, e)
                        : err_set(e, ST_NOT_FOUND, "the message has no prompt");
    if (strcmp(field, "iteration") == 0 || strcmp(field, "max_iterations") == 0) {
        if (!c->is_gate)
            return err_set(e, ST_NOT_FOUND, "the message has no %s: it is for no gate", field);
        buf_addf(to, "%" PRId64, *field == 'i' ? c->iteration : c->max_iterations);
        return ST_OK;
    }
    if (strcmp(field, "targets") == 0) {
        for (size_t i = 0; i < c->n_targets; i++)
            buf_addf(to, "%s\n", c->targets[i].name);
        return ST_OK;
    }
    if (strcmp(field, "route_targets") == 0) {
        for (size_t i = 0; i < c->n_route_targets; i++)
            buf_addf(to, "%s\n", c->route_targets[i]);
        return ST_OK;
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        suggest_try(&near, others[i]);
    return near.best ? err_set(e, ST_INVALID, "unknown field \"%.100s\" (did you mean \"%s\"?)",
                               field, near.best)
                     : err_set(e, ST_INVALID,
                               "unknown field \"%.100s\": cliq sdk get --help has "
                               "them all",
                               field);
}

static enum status
run(const struct args *a, struct err *e)
{
    struct sdk_session k;
    struct buf out = { 0 };
    enum status s = sdk_open(&k, e);

    if (!s)
        s = get(&k, a->words[0], &out, e);
    if (!s && out.len && out.p[out.len - 1] != '\n')
        buf_addc(&out, '\n');
    if (!s)
        s = cmd_print(&out, e);
    sdk_close(&k);
    buf_release(&out);
    return s;
}

const struct cmd cmd_sdk_get = {
    .name = "sdk get",
    .words = "FIELD",
    .min_words = 1,
    .max_words = 1,
    .brief = "print what the agent knows: role, input_text, settings.x, ...",
    .about =
        "Texts: type, agent, phase, phase_type, role, req_spec, prompt, task_board, input_text,\n"
        "instance_id, team_name, req_key, project_dir, work_dir, state_dir, signal_dir,\n"
        "is_support, iteration, max_iterations; input_text.CHANNEL is the text of one handoff\n"
        "(CHANNEL: architect--developer, or its writer, architect).\n"
        "\n"
        "One a line: targets, route_targets, design_docs; design_docs.NAME is one of them.\n"
        "\n"
        "JSON, whole or the value at a path such as settings.channels.ops or\n"
        "payload.notifications[0].event: message, payload, dispatch (the same), settings,\n"
        "workflow_inputs, inputs (the same), check_results, input_artifacts, input_envelopes,\n"
        "input_envelopes.CHANNEL. A value that is a string is printed as it is. What is not\n"
        "there is exit code 4.",
    .examples = "cliq sdk get role\n"
                "key=$(cliq sdk get settings.api_key) || cliq sdk fail \"api_key is not set\"\n"
                "cliq sdk get check_results | jq -r '.[] | select(.pass | not) | .name'",
    .opts = opts,
    .run = run,
};
