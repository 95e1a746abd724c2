/* claim_wait - a claim that waits for a task: on files by following the log, at a server by long
 * polling. */
#include "base/clock.h"
#include "hubclient/hubclient.h"
#include "log/log.h"

#include <string.h>

enum { ROUND_S = 60 }; /* the longest wait of one request that a server accepts */

/* Can this line have made a task claimable? Trying only then keeps many waiting workers from
 * competing for the lock. */
static bool
may_be_claimable(const struct json *line)
{
    static const char *const ops[] = { "release", "expire", "retry", "requeue", "fill", "join" };
    const struct json *op = json_get(line, "op");

    for (size_t i = 0; op && i < sizeof ops / sizeof *ops; i++)
        if (json_eq(op, ops[i]))
            return true;
    return !op;
}

/* Reads new lines; sets *is_hope if a task may have become claimable. */
static enum status
listen(struct log_tail *t, bool *is_hope, struct err *e)
{
    struct log_record rec;

    while (log_tail_next(t, &rec))
        *is_hope = *is_hope || may_be_claimable(rec.json);
    return log_tail_status(t, e);
}

static int64_t
sooner(int64_t until_ms, int64_t in_ms)
{
    int64_t at = wait_until(in_ms);

    return at < until_ms ? at : until_ms;
}

static enum status
wait_on_files(struct hubclient *d, struct arena *a, const struct json *args, int64_t until_ms,
              struct hub_reply *reply, struct err *e)
{
    struct log_tail tail = { .dir = -1, .fd = -1, .watch.fd = -1 };
    struct buf path = { 0 };
    bool is_hope = true;
    enum status s = hubclient_files(d, e);

    buf_addf(&path, "%s/signals", d->config);
    if (!s)
        s = buf_status(&path, "the path", e);
    if (!s)
        s = log_tail_open(&tail, path.p, "events.jsonl", true, LOG_FROM_END, e);
    while (!s) {
        s = listen(&tail, &is_hope, e);
        if (!s && (is_hope || hub_due_in_ms(d->hub) == 0)) {
            arena_reset(a); /* bounds the memory of a long wait */
            if (wait_fd(-1, 0, 0, d->cancel, e) == ST_CANCELLED) {
                s = ST_CANCELLED; /* before it takes a task that nothing waits for */
                break;
            }
            s = hubclient_call(d, a, HUB_CLAIM, args, reply, e);
            if (s || reply->data)
                break;
            is_hope = false;
            continue; /* our own call may have written expired leases and retries */
        }
        if (!s)
            s = wait_fd(log_tail_fd(&tail), POLLIN, sooner(until_ms, hub_due_in_ms(d->hub)),
                        d->cancel, e);
        if (s == ST_TIMEOUT) {
            s = ST_OK;
            if (until_ms <= clock_mono_ms())
                break;
        }
    }
    log_tail_close(&tail);
    buf_release(&path);
    return s;
}

static enum status
wait_at_server(struct hubclient *d, struct arena *a, struct json *args, int64_t until_ms,
               struct hub_reply *reply, struct err *e)
{
    int64_t left = until_ms == WAIT_FOREVER ? WAIT_FOREVER : until_ms - clock_mono_ms();
    enum status s = ST_OK;

    while (!s && !reply->data && left > 0) {
        int64_t round = left / 1000 + (left % 1000 > 0);
        json_set(args, "wait_seconds", json_new_int(&d->arena, round < ROUND_S ? round : ROUND_S));
        arena_reset(a);
        s = hubclient_call(d, a, HUB_CLAIM, args, reply, e);
        left = until_ms == WAIT_FOREVER ? WAIT_FOREVER : until_ms - clock_mono_ms();
    }
    return s;
}

enum status
hubclient_claim(struct hubclient *d, struct arena *a, struct json *args, int64_t wait_ms,
                struct hub_reply *reply, struct err *e)
{
    int64_t until_ms = wait_until(wait_ms);

    *reply = (struct hub_reply){ 0 };
    return d->url ? wait_at_server(d, a, args, until_ms, reply, e)
                  : wait_on_files(d, a, args, until_ms, reply, e);
}
