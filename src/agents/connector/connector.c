/* connector - the agent of a connector: moves the phase's entries and hands on what was moved. */
#define _GNU_SOURCE /* memmem */
#include "agents/connector/connector.h"

#include "agents/agent_main.h"
#include "agents/connector/connectors.h"

#include <string.h>

static const struct connector *serving; /* one agent a process */

static enum status
send_handoff(struct connectors *w, struct err *e)
{
    struct context *c = w->c;
    struct json *data = connectors_data(w);
    struct buf text = { 0 };

    buf_addf(&text, "## %s\n\n%s", c->phase, w->text.p ? w->text.p : "");
    enum status s = data ? buf_status(&text, "the summary", e) : err_nomem(e);
    for (size_t i = 0; !s && i < c->n_targets; i++)
        s = context_send(c, c->targets[i].name, data, text.p, e);
    buf_release(&text);
    return s ? s : context_finalize_standard(c, e);
}

static enum status
handle(struct context *c, struct err *e)
{
    struct connectors w;

    if (c->is_gate)
        return err_set(e, ST_INVALID,
                       "phase %s is a gate, and the agent %s cannot judge: use checks, hug or a "
                       "model",
                       c->phase, serving->name);
    c->agent = serving->name;
    enum status s = connectors_open(&w, c, e);
    if (!s)
        s = connectors_fetch(&w, e);
    if (!s)
        s = connectors_deliver(&w, e);
    if (!s)
        s = send_handoff(&w, e);
    connectors_release(&w);
    return s;
}

/* Are the settings complete, and does the service accept them? */
static enum status
probe(struct context *c, struct buf *says, struct err *e)
{
    struct connection x = { .kind = serving, .c = c, .settings = c->settings };
    struct fetch_response r = { 0 };
    enum status s = serving->open ? serving->open(&x, e) : ST_OK;

    if (!s && serving->probe) {
        struct connection_request q = { .url = URL(&x, serving->probe), .is_once = true };
        s = connection_ask(&x, &q, &r, e);
        bool is_known = s && q.status == 403 && serving->denied &&
                        memmem(r.body.p, r.body.len, serving->denied, strlen(serving->denied));
        if (is_known)
            s = ST_OK;
        fetch_response_release(&r);
    }
    if (!s)
        buf_addf(says, "%s %s", serving->probe ? x.base_url : serving->name,
                 serving->probe ? "accepts the key" : "is ready");
    return s;
}

enum status
connector_run(const struct connector *kind, struct err *e)
{
    serving = kind;
    return agent_serve(
        &(struct agent_handlers){ .phase = handle, .notify = kind->notify, .test = probe }, e);
}
