#include "agents/agent.h"

#include "base/path.h"

#include <unistd.h>

enum { MESSAGE_MAX = 64 << 20 };

const struct opt agent_opts[] = { { 0 } };

/* A test message asks whether the agent works: we got here. */
static enum status
answer_test(struct context *c, struct err *e)
{
    struct json *result = json_new(c->arena, JSON_OBJECT);

    if (!result)
        return err_set(e, ST_IO, "out of memory");
    json_set(result, "passed", json_new(c->arena, JSON_TRUE));
    json_set(result, "message", json_new_str(c->arena, "ready", 5));
    return context_complete(c, result, e);
}

enum status
agent_run(agent_fn *handle, struct err *e)
{
    struct arena a = { 0 };
    struct buf text = BUF_MAX(MESSAGE_MAX);
    struct agent_message m;
    struct context c = { .frame.dir = -1, .signal_dir = -1 };
    bool is_built = false;
    enum status s = path_read_fd(STDIN_FILENO, "the message on standard input", &text, e);

    if (!s)
        s = agent_message_parse(&a, text.p ? text.p : "", text.len, &m, e);
    if (!s) {
        is_built = true;
        s = context_build(&a, &m, &c, e);
        if (!s)
            s = context_ack(&c, e);
        if (!s)
            s = c.phase ? handle(&c, e) : answer_test(&c, e);
        if (s && c.signal_dir >= 0)
            context_fail(&c, e->text, NULL);
    }
    if (is_built)
        context_release(&c);
    buf_release(&text);
    arena_release(&a);
    return s ? ST_FAILED : ST_OK;
}
