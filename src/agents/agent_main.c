#include "agents/agent_main.h"

#include "base/path.h"
#include "base/sys.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

enum { MESSAGE_MAX = 64 << 20 };

const struct opt agent_no_opts[] = { { 0 } };

/* {"passed":true,"message":"ready"} */
static enum status
answer_test(agent_test_fn *test, struct context *c, struct err *e)
{
    struct json *result = json_new(c->arena, JSON_OBJECT);
    struct buf says = { 0 };
    struct err why = { "" };
    enum status s = test ? test(c, &says, &why) : ST_OK;
    const char *message = s ? why.text : says.p ? says.p : "ready";

    bool ok = result &&
              json_set(result, "passed", json_new(c->arena, s ? JSON_FALSE : JSON_TRUE)) &&
              json_set(result, "message", json_new_copy(c->arena, message, strlen(message)));
    buf_release(&says);
    return ok ? context_complete(c, result, e) : err_nomem(e);
}

static enum status
answer(const struct agent_handlers *h, struct context *c, struct err *e)
{
    bool is_test = !c->phase && strcmp(c->msg->type, "test") == 0;
    agent_fn *handle = c->phase ? h->phase : h->notify;

    if (is_test)
        return answer_test(h->test, c, e);
    return handle ? handle(c, e)
                  : err_set(e, ST_FAILED, "agent %s has no handler for %s", c->agent, c->msg->type);
}

/* The memory of an attempt. It is static and not released before the process exits: releasing it
 * would only delay the exit. */
static struct {
    struct arena arena;
    struct buf text;
    struct agent_message msg;
    struct context context;
    _Alignas(16) char room[8192]; /* the arena's first block */
    char message[4096];           /* most messages fit */
} own;

/* Reads the message: *text of *len bytes. A message longer than own.message is in own.text. */
static enum status
read_message(const char **text, size_t *len, struct err *e)
{
    static const char what[] = "the message on standard input";
    size_t n = 0;
    ssize_t got;

    while ((got = SYS_RETRY(sys->read(STDIN_FILENO, own.message + n, sizeof own.message - n))) > 0)
        n += (size_t)got;
    if (got < 0)
        return err_sys(e, "read %s", what);
    *text = own.message;
    *len = n;
    if (n < sizeof own.message)
        return ST_OK;
    own.text.max = MESSAGE_MAX;
    buf_add(&own.text, own.message, n);
    enum status s = path_read_fd(STDIN_FILENO, what, &own.text, e);
    *text = own.text.p;
    *len = own.text.len;
    return s;
}

static enum status
run(const struct agent_handlers *h, bool acks_first, struct err *e)
{
    struct context *c = &own.context;
    const char *text;
    size_t len;
    enum status s = read_message(&text, &len, e);

    own.arena = (struct arena){ .at = own.room, .end = own.room + sizeof own.room };
    if (!s)
        s = agent_message_parse(&own.arena, text, len, &own.msg, e);
    if (s)
        return ST_FAILED;
    s = context_open(&own.arena, &own.msg, c, e);
    /* the ack says that the message arrived; errors in the state directory are reported after it */
    c->owes_ack = c->signal_dir >= 0;
    c->is_ticking = true;
    if (!s && acks_first)
        s = context_ack(c, e);
    if (!s)
        s = answer(h, c, e);
    if (s && c->signal_dir >= 0)
        context_fail(c, e->text, NULL);
    sched_yield(); /* the orchestrator waits for the last line: it goes first */
    return s ? ST_FAILED : ST_OK;
}

enum status
agent_serve(const struct agent_handlers *h, struct err *e)
{
    return run(h, true, e);
}

enum status
agent_run(agent_fn *handle, struct err *e)
{
    return run(&(struct agent_handlers){ .phase = handle }, true, e);
}

enum status
agent_run_at_once(agent_fn *handle, struct err *e)
{
    return run(&(struct agent_handlers){ .phase = handle }, false, e);
}
