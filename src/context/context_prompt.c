/*
 * context_prompt - builds the prompt of a phase from its context.
 */
#include "context/context.h"

#include "context/prompt.h"

#include <string.h>

/* ".cliq/channels/a--b" when the path is below the project, else the whole path; then `end`. */
static const char *
shown_path(struct context *c, const char *path, const char *end)
{
    size_t n = strlen(c->project_dir), m = strlen(path), k = strlen(end);
    char *s = arena_alloc(c->arena, m + k + 1);

    if (!s)
        return NULL;
    bool is_below = n > 1 && !strncmp(path, c->project_dir, n) && path[n] == '/';
    size_t skip = is_below ? n + 1 : 0;
    memcpy(s, path + skip, m - skip);
    memcpy(s + m - skip, end, k + 1);
    return s;
}

static const char *
channel_path(struct context *c, const char *channel)
{
    struct buf b = { 0 };
    const char *path = NULL;

    buf_addf(&b, "%s/channels/%s", c->state.state_dir, channel);
    if (!buf_failed(&b))
        path = shown_path(c, b.p, "/");
    buf_release(&b);
    return path;
}

static const char *
text_of(struct context *c, const struct json *v)
{
    return json_is(v, JSON_STRING) ? arena_dup(c->arena, v->text.p, v->text.len) : "";
}

static bool
fill_checks(struct context *c, struct prompt_input *p)
{
    size_t n = c->check_results ? c->check_results->kids.count : 0;
    struct prompt_check *checks = n ? arena_alloc(c->arena, n * sizeof *checks) : NULL;

    if (n && !checks)
        return false;
    json_each (r, c->check_results) {
        struct prompt_check *k = &checks[p->n_checks++];
        int64_t code = 1;
        json_int(json_get(r, "exit_code"), &code);
        *k = (struct prompt_check){ .name = text_of(c, json_get(r, "name")),
                                    .output = text_of(c, json_get(r, "output")),
                                    .exit_code = (int)code };
        json_bool(json_get(r, "pass"), &k->is_pass);
        if (!k->name || !k->output)
            return false;
    }
    p->checks = checks;
    return true;
}

/* A document that is large, or no text, is only named. False: out of memory. */
static bool
fill_doc(struct context *c, const struct context_doc *from, struct prompt_doc *to)
{
    *to = (struct prompt_doc){ .name = from->name,
                               .text = from->size <= PROMPT_DOC_MAX ? from->text : NULL,
                               .path = shown_path(c, from->path, ""),
                               .size = from->size };
    return to->path;
}

/* What this phase handed over before a gate sent the work back. A model whose conversation goes on
 * (payload.session) knows it. NULL: nothing. False: out of memory. */
static bool
fill_previous(struct context *c, const char **to)
{
    const struct json *routed = json_get(c->dispatch, "is_routed");
    struct handoff before;
    struct buf text = { 0 };

    if (!json_is(routed, JSON_TRUE) || json_get(c->dispatch, "session") || !c->n_targets ||
        handoff_read(c->arena, c->targets[0].channel, &before, NULL))
        return true;
    handoff_render(&text, &before);
    *to = buf_failed(&text) ? NULL : arena_dup(c->arena, text.p ? text.p : "", text.len);
    buf_release(&text);
    return *to;
}

enum status
context_prompt(struct context *c, struct buf *to, struct err *e)
{
    return context_prompt_parts(c, to, to, e);
}

enum status
context_prompt_parts(struct context *c, struct buf *system, struct buf *to, struct err *e)
{
    struct prompt_input p = {
        .team = c->team_name,
        .phase = c->phase,
        .agent = c->agent,
        .role = c->role,
        .req_spec = c->req_spec,
        .board = c->board.text.p,
        .is_gate = c->is_gate,
        .route_targets = c->route_targets,
        .n_route_targets = c->n_route_targets,
        .iteration = (unsigned)c->iteration,
        .max_iterations = (unsigned)c->max_iterations,
    };

    if (!c->phase)
        return err_set(e, ST_INVALID, "a %s message has no prompt", c->msg->type);
    struct prompt_in *in = arena_alloc(c->arena, (c->n_inputs + 1) * sizeof *in);
    struct prompt_out *out = arena_alloc(c->arena, (c->n_targets + 1) * sizeof *out);
    size_t n_docs = c->n_design_docs + c->n_fetched;
    struct prompt_doc *docs = arena_alloc(c->arena, (n_docs + 1) * sizeof *docs);
    if (!in || !out || !docs || !fill_checks(c, &p) || !fill_previous(c, &p.previous))
        return err_nomem(e);
    for (size_t i = 0; i < c->n_inputs; i++) {
        const struct context_input *from = &c->inputs[i];
        if (from->is_route && !from->is_there)
            continue; /* no gate sent work through it */
        in[p.n_in] = (struct prompt_in){ channel_path(c, from->channel), from->from,
                                         from->instructions, from->is_there ? from->text : NULL };
        if (!in[p.n_in++].path)
            return err_nomem(e);
    }
    for (size_t i = 0; i < c->n_targets; i++) {
        const struct context_target *t = &c->targets[i];
        out[i] = (struct prompt_out){ shown_path(c, t->channel, "/"), t->name, t->instructions };
        if (!out[i].path)
            return err_nomem(e);
    }
    for (size_t i = 0; i < c->n_design_docs; i++)
        if (!fill_doc(c, &c->design_docs[i], &docs[i]))
            return err_nomem(e);
    for (size_t i = 0; i < c->n_fetched; i++)
        if (!fill_doc(c, &c->fetched[i], &docs[c->n_design_docs + i]))
            return err_nomem(e);
    p.in = in;
    p.out = out;
    p.n_out = c->n_targets;
    p.docs = docs;
    p.n_docs = c->n_design_docs;
    p.fetched = docs + c->n_design_docs;
    p.n_fetched = c->n_fetched;
    prompt_build_parts(system, to, &p);
    enum status s = buf_status(system, "the prompt", e);
    return s ? s : buf_status(to, "the prompt", e);
}
