#include "cmd/lib/channel_listen.h"

#include "base/loop.h"
#include "base/sys.h"
#include "cmd/lib/message_show.h"

#include <signal.h>
#include <unistd.h>

struct session {
    const struct listen *l;
    struct loop *loop;
    struct log_tail tail;
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

static void
on_timeout(void *ctx)
{
    struct session *s = ctx;

    if (!s->is_over)
        end(s, err_set(s->e, ST_TIMEOUT, "no matching message in %s within %g s", s->l->room,
                       (double)s->l->timeout_ms / 1000));
}

/* Hands over what is there. */
static void
on_change(void *ctx)
{
    struct session *s = ctx;
    struct log_record rec;
    enum status st = ST_OK;

    while (!s->is_over && log_tail_next(&s->tail, &rec))
        if (message_matches(&s->l->filter, rec.json) &&
            (!s->l->heard(s->l->ctx, rec.json, &st, s->e) || st))
            end(s, st);
    if (!s->is_over)
        st = log_tail_status(&s->tail, s->e);
    if (!st && !s->is_over && s->l->caught_up)
        st = s->l->caught_up(s->l->ctx, s->e);
    if (st)
        end(s, st);
    show_bad_lines(s->l->room, s->tail.reader.bad - s->bad_said);
    s->bad_said = s->tail.reader.bad;
}

/* Told to go: what was posted before that is still handed over. */
static void
on_signal(void *ctx)
{
    on_change(ctx);
    struct session *s = ctx;

    s->e->text[0] = '\0'; /* the person knows why */
    end(s, ST_CANCELLED);
}

/* The reader of standard output is gone: end as SIGPIPE would have ended us. */
static void
on_reader_gone(void *ctx)
{
    (void)ctx;
    raise(SIGPIPE);
}

static bool
is_pipe(int fd)
{
    struct stat st;

    return sys->fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
}

/* Puts the reader behind the message that --after names. */
static enum status
skip_to(struct session *s, struct err *e)
{
    off_t at = -1;
    enum status st = s->tail.fd >= 0 ? channel_find_after(s->tail.fd, s->l->after, &at, e) : ST_OK;

    if (!st && at < 0)
        st = err_set(e, ST_NOT_FOUND, "no message with the id %s in %s", s->l->after, s->l->room);
    s->tail.reader.at = at;
    return st;
}

enum status
listen_run(const struct listen *l, struct err *e)
{
    struct session s = { .l = l, .tail = { .dir = -1, .fd = -1, .watch.fd = -1 }, .e = e };
    struct buf path = { 0 };
    int fd = -1;
    /* The tail waits for a name that is not there yet; one that is there is looked at
     * as `read` does: no link, no device. */
    enum status st = channel_open_read(l->room, &fd, e);

    if (fd >= 0)
        close(fd);
    if (!st)
        st = room_path(&path, l->room, e);
    if (!st)
        st = log_tail_open(&s.tail, path.p, ROOM_CHANNEL, false,
                           l->after ? LOG_FROM_START : l->from, e);
    if (!st && l->after)
        st = skip_to(&s, e);
    if (!st && !(s.loop = loop_new(e)))
        st = ST_IO;
    if (!st &&
        (!loop_on_readable(s.loop, log_tail_fd(&s.tail), on_change, &s, e) ||
         !loop_on_signal(s.loop, SIGINT, on_signal, &s, e) ||
         !loop_on_signal(s.loop, SIGTERM, on_signal, &s, e) ||
         (is_pipe(STDOUT_FILENO) &&
          !loop_on_readable(s.loop, STDOUT_FILENO, on_reader_gone, NULL, e)) ||
         (l->timeout_ms > 0 && !loop_after(s.loop, (uint64_t)l->timeout_ms, on_timeout, &s, e))))
        st = ST_IO;
    if (!st) {
        on_change(&s); /* messages that are there already */
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
