#include "cmd/hub_follow.h"

#include "base/loop.h"
#include "base/sys.h"

#include <inttypes.h>
#include <signal.h>
#include <unistd.h>

struct session {
    const struct hub_follow *f;
    struct loop *loop;
    struct log_tail tail;
    struct source *wake;
    uint64_t bad_said;
    enum status result;
    bool is_over;
    struct err *e;
};

static void
end(struct session *s, enum status result)
{
    if (!s->is_over) {
        s->is_over = true;
        s->result = result;
        loop_stop(s->loop);
    }
}

static void on_change(void *ctx);

static void
set_wake(struct session *s, int64_t ms)
{
    loop_drop(s->wake);
    s->wake = NULL;
    if (ms >= 0 && !(s->wake = loop_after(s->loop, (uint64_t)ms, on_change, s, s->e)))
        end(s, ST_IO);
}

static void
on_change(void *ctx)
{
    struct session *s = ctx;
    const struct hub_follow *f = s->f;
    struct log_record rec;
    enum status st = ST_OK;
    bool is_over = s->is_over;
    int64_t wake_ms = -1;

    while (!is_over && !st && log_tail_next(&s->tail, &rec))
        st = f->heard(f->ctx, &rec, &is_over, s->e);
    if (!st && !is_over)
        st = log_tail_status(&s->tail, s->e);
    if (!st && !is_over)
        st = f->caught_up(f->ctx, &is_over, &wake_ms, s->e);
    if (s->tail.reader.bad > s->bad_said)
        cmd_warn("%" PRIu64 " bad lines in the hub's log passed over; cliq fsck tells more",
                 s->tail.reader.bad - s->bad_said);
    s->bad_said = s->tail.reader.bad;
    if (st || is_over)
        end(s, st);
    else
        set_wake(s, wake_ms);
}

static void
on_timeout(void *ctx)
{
    struct session *s = ctx;

    end(s, err_set(s->e, ST_TIMEOUT, "nothing came within %g s", (double)s->f->timeout_ms / 1000));
}

static void
on_signal(void *ctx)
{
    struct session *s = ctx;

    s->e->text[0] = '\0'; /* the person knows why */
    end(s, ST_CANCELLED);
}

static void
on_reader_gone(void *ctx)
{
    (void)ctx;
    signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
}

static bool
is_pipe(int fd)
{
    struct stat st;

    return sys->fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
}

enum status
hub_follow_run(const struct hub_follow *f, struct err *e)
{
    struct session s = { .f = f, .tail = { .dir = -1, .fd = -1, .watch.fd = -1 }, .e = e };
    struct buf path = { 0 };

    buf_addf(&path, "%s/signals", f->call->config.p);
    enum status st = buf_status(&path, "the path", e);
    if (!st)
        st = log_tail_open(&s.tail, path.p, "events.jsonl", true, f->from, e);
    if (!st && f->next_seq)
        s.tail.reader.next_seq = f->next_seq;
    if (!st && !(s.loop = loop_new(e)))
        st = ST_IO;
    if (!st &&
        (!loop_on_readable(s.loop, log_tail_fd(&s.tail), on_change, &s, e) ||
         !loop_on_signal(s.loop, SIGINT, on_signal, &s, e) ||
         !loop_on_signal(s.loop, SIGTERM, on_signal, &s, e) ||
         (is_pipe(STDOUT_FILENO) &&
          !loop_on_readable(s.loop, STDOUT_FILENO, on_reader_gone, NULL, e)) ||
         (f->timeout_ms >= 0 && !loop_after(s.loop, (uint64_t)f->timeout_ms, on_timeout, &s, e))))
        st = ST_IO;
    if (!st) {
        on_change(&s); /* what is there already */
        if (!s.is_over)
            st = loop_run(s.loop, e);
        if (!st)
            st = s.result;
    }
    loop_free(s.loop);
    log_tail_close(&s.tail);
    buf_release(&path);
    return st;
}
