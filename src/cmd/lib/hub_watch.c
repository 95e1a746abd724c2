#include "cmd/lib/hub_watch.h"

#include "base/clock.h"
#include "cmd/lib/interrupt.h"
#include "cmd/lib/message_show.h"

#include <inttypes.h>

enum { FLUSH_AT = 1 << 16 };

static void
on_news(void *ctx, const char *why)
{
    const struct hub_call *c = ctx;

    if (why)
        cmd_warn("the connection to %s is lost (%s); trying again", c->hub.url, why);
    else
        cmd_warn("connected to %s again; nothing was missed", c->hub.url);
}

static enum status
flush(struct buf *out, struct err *e)
{
    enum status s = out->len ? cmd_print(out, e) : ST_OK;

    buf_reset(out);
    return s;
}

static void
warn_of_reset(const struct subscription *f)
{
    cmd_warn("signals before %" PRIu64 " are gone that you may have seen, or not: the log was cut "
             "short, or old segments were deleted",
             f->seq + 1);
}

static void
show_signal(const struct hub_call *c, struct buf *to, const struct json *signal,
            const struct hub_column *columns, hub_watch_show *show)
{
    if (c->is_json) {
        show_json(to, signal, c->is_tty);
        buf_addc(to, '\n');
    } else if (c->is_tty && show) {
        show(to, signal);
    } else {
        hub_show_row(to, signal, columns, c->is_tty ? "  " : "\t");
    }
}

enum status
hub_watch(struct hub_call *c, const struct subscription_filter *want,
          const struct hub_column *columns, hub_watch_show *show, struct err *e)
{
    struct cancel stop = { .fd = { -1, -1 } };
    struct buf out = { 0 };
    struct subscription f;
    const struct json *signal;
    enum status s = subscription_open(&f, &c->hub, want, e);

    f.news = on_news;
    f.ctx = c;
    if (!s)
        s = interrupt_begin(&stop, e);
    c->hub.cancel = &stop;
    while (!s) {
        s = subscription_next(&f, out.len ? clock_mono_ms() : WAIT_FOREVER, &signal, e);
        if (!s && f.is_reset)
            warn_of_reset(&f);
        if (!s && (c->is_json || !f.is_reset))
            show_signal(c, &out, signal, columns, show);
        if (s == ST_TIMEOUT || out.len > FLUSH_AT) { /* nothing more for now */
            s = flush(&out, e);
            hub_call_warn_of_bad(c);
        }
    }
    subscription_close(&f);
    buf_release(&out);
    return interrupt_end(&stop, s, e);
}
