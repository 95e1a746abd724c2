#include "agents/agent.h"

#include "base/path.h"

#include <string.h>
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

/* The built-in agents that have phases deliver no notifications. */
static enum status
answer(agent_fn *handle, struct context *c, struct err *e)
{
    if (c->phase)
        return handle(c, e);
    if (strcmp(c->msg->type, "test") == 0)
        return answer_test(c, e);
    return err_set(e, ST_FAILED, "agent %s has no handler for %s", c->agent, c->msg->type);
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
        s = context_open(&a, &m, &c, e);
        /* the ack says that the message arrived; what is wrong with the frame comes after it */
        enum status ack = c.signal_dir >= 0 ? context_ack(&c, s ? NULL : e) : ST_OK;
        if (!s)
            s = ack;
        if (!s)
            s = answer(handle, &c, e);
        if (s && c.signal_dir >= 0)
            context_fail(&c, e->text, NULL);
    }
    if (is_built)
        context_release(&c);
    buf_release(&text);
    arena_release(&a);
    return s ? ST_FAILED : ST_OK;
}
