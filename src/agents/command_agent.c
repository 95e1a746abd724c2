#include "agents/command_agent.h"

static enum status
end_gate(struct context *c, const struct command_results *r, struct err *e)
{
    struct context_verdict v = { .outcome = "PASS" };
    struct buf why = { 0 };
    size_t n = 0;

    buf_addf(&why, "%zu of %zu checks passed", r->total - r->failed, r->total);
    if (r->failed) {
        json_each (one, r->list) {
            const struct json *name = json_get(one, "name");
            if (!json_is(json_get(one, "pass"), JSON_TRUE))
                buf_addf(&why, "%s%.*s", n++ ? ", " : "; failed: ", (int)name->text.len,
                         name->text.p);
        }
        v.outcome = c->n_route_targets ? "ROUTE" : "ESCALATE";
        v.target = c->n_route_targets ? c->route_targets[0] : NULL;
    }
    v.comment = why.p;
    c->check_results = r->list; /* for the handoff's data */
    enum status s = buf_status(&why, "the verdict", e);
    if (!s)
        s = context_finalize_gate(c, &v, e);
    buf_release(&why);
    return s;
}

enum status
command_agent(struct context *c, command_end *end, struct err *e)
{
    struct command_results r;
    bool is_only = false;
    enum status s = command_results_run(c, &r, e);

    json_bool(json_get(c->dispatch, "checks_only"), &is_only);
    if (!s && is_only)
        s = context_complete(c, command_results_data(c, &r), e);
    else if (!s)
        s = c->is_gate ? end_gate(c, &r, e) : end(c, &r, e);
    command_results_release(&r);
    return s;
}
