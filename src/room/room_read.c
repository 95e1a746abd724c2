/* room_read - the messages of a channel, from its begin or from its end. */
#include "room/room.h"

#include <stdlib.h>

static enum status
read_from(int fd, off_t at, const struct message_filter *f, channel_fn *fn, void *ctx,
          uint64_t *bad, struct err *e)
{
    struct log_reader r;
    struct log_record rec;
    enum status s = ST_OK;

    log_reader_init(&r, fd, at);
    while (!s && log_next(&r, &rec))
        if (message_matches(f, rec.json))
            s = fn(ctx, rec.json, e);
    if (!s)
        s = log_reader_status(&r, e);
    *bad = r.bad;
    log_reader_release(&r);
    return s;
}

/* Where the last n that match begin, newest first. */
struct places {
    off_t *at;
    size_t n, cap;
};

static enum status
add_place(struct places *p, off_t at, struct err *e)
{
    if (p->n == p->cap) {
        size_t cap = p->cap ? p->cap * 2 : 64;
        off_t *bigger = realloc(p->at, cap * sizeof *bigger);
        if (!bigger)
            return err_nomem(e);
        p->at = bigger;
        p->cap = cap;
    }
    p->at[p->n++] = at;
    return ST_OK;
}

static enum status
read_last(int fd, const struct channel_range *range, const struct message_filter *f, channel_fn *fn,
          void *ctx, uint64_t *bad, struct err *e)
{
    struct places places = { 0 };
    struct log_reader r;
    struct log_record rec;
    enum status s = ST_OK;

    log_reader_init(&r, fd, 0);
    while (!s && places.n < range->last && log_prev(&r, &rec) && rec.at >= range->from)
        if (message_matches(f, rec.json))
            s = add_place(&places, rec.at, e);
    if (!s)
        s = log_reader_status(&r, e);
    *bad = r.bad;
    for (size_t i = places.n; !s && i > 0; i--) {
        r.at = places.at[i - 1];
        s = log_next(&r, &rec) ? fn(ctx, rec.json, e) : log_reader_status(&r, e);
    }
    log_reader_release(&r);
    free(places.at);
    return s;
}

enum status
channel_read(int fd, const struct channel_range *range, const struct message_filter *f,
             channel_fn *fn, void *ctx, uint64_t *bad, struct err *e)
{
    return range->is_last ? read_last(fd, range, f, fn, ctx, bad, e)
                          : read_from(fd, range->from, f, fn, ctx, bad, e);
}

static enum status
keep_line(void *ctx, const struct json *m, struct err *e)
{
    struct buf *to = ctx;

    json_write(to, m);
    return buf_status(to, "the message", e);
}

enum status
channel_last(int fd, off_t from, const struct message_filter *f, struct buf *line, struct err *e)
{
    const struct channel_range last = { from, .is_last = true, .last = 1 };
    uint64_t bad;

    buf_reset(line);
    return channel_read(fd, &last, f, keep_line, line, &bad, e);
}
