#include "agents/command_agent.h"

static enum status
end_gate(struct context *c, const struct command_results *r, struct err *e)
{
    struct context_verdict v = { .outcome = "PASS" };

    if (r->failed) {
        v.outcome = c->n_route_targets ? "ROUTE" : "ESCALATE";
        v.target = c->n_route_targets ? c->route_targets[0] : NULL;
    }
    v.comment = r->summary.p;
    c->check_results = r->list; /* for the handoff's data */
    return context_finalize_gate(c, &v, e);
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
