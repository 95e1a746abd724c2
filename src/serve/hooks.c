#include "serve/hooks.h"

#include "hook/hook.h"
#include "hub/model/scope.h"

enum { LOCK_WAIT_MS = 150 };

static enum status
answer(struct file_call *c, struct err *e)
{
    const struct hook_options o = { .identity = c->identity,
                                    .client = agent_client_find("claude"),
                                    .config = c->config,
                                    .lock_wait_ms = LOCK_WAIT_MS };
    struct hook h;

    (void)e;
    enum status s = hook_begin(&h, &o, c->body->p ? c->body->p : "", c->body->len, &c->out, NULL);
    if (s || !c->out.len) {
        buf_reset(&c->out);
        buf_adds(&c->out, "{}\n");
    }
    hook_end(&h);
    return ST_OK;
}

const struct file_route hooks_routes[] = {
    { "POST", "/hooks/claude", "answer an event of Claude Code's HTTP hooks", SCOPE_INBOX,
      .type = "application/json", .noun = "HOOK", .takes_event = true, .run = answer },
    { 0 },
};
