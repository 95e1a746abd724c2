/* signal watch - broadcasts as they come, by pattern. */
#include "cmd/hub_follow.h"
#include "cmd/hub_show.h"
#include "cmd/show.h"
#include "hub/event.h"
#include "hub/match.h"

#include <string.h>

enum { FLUSH_AT = 1 << 16 };

static const struct opt opts[] = {
    { "all", OPT_FLAG, NULL, "begin with the signals that are there already" },
    HUB_OPTS,
    { 0 },
};

struct signal_watch {
    struct hub_call *c;
    const struct args *a;
    struct arena arena; /* of one signal */
    struct buf out;
};

static bool
is_wanted(const struct args *a, const char *type)
{
    bool is_in = a->n_words == 0;

    for (size_t i = 0; i < a->n_words; i++)
        is_in = is_in || match_pattern(a->words[i], strlen(a->words[i]), type, strlen(type));
    return is_in;
}

static struct json *
copy(struct arena *a, const struct json *v)
{
    struct json *to = v ? json_new(a, v->type) : NULL;

    if (to) {
        *to = *v;
        to->next = NULL;
    }
    return to;
}

/* {id, type, source, data?, createdAt} */
static struct json *
broadcast(struct arena *a, const struct event *ev)
{
    struct json *to = json_new(a, JSON_OBJECT);

    if (to && ev->id)
        json_set(to, "id", json_new_str(a, ev->id, strlen(ev->id)));
    if (to) {
        json_set(to, "type", json_new_str(a, ev->type, strlen(ev->type)));
        json_set(to, "source", copy(a, ev->source));
        json_set(to, "data", copy(a, ev->data));
        json_set(to, "createdAt", json_new_int(a, ev->at));
    }
    return to;
}

static enum status
flush(struct signal_watch *w, struct err *e)
{
    enum status s = w->out.len ? cmd_print(&w->out, e) : ST_OK;

    buf_reset(&w->out);
    return s;
}

static enum status
heard(void *ctx, const struct log_record *rec, bool *is_over, struct err *e)
{
    static const char *const keys[] = { "@time:createdAt", "type", "@source", "id", "data" };
    struct signal_watch *w = ctx;
    struct event ev = { 0 };

    (void)is_over;
    arena_reset(&w->arena);
    if (!event_read(&ev, rec->json, &w->arena) || ev.kind != EV_SIGNAL || !is_wanted(w->a, ev.type))
        return ST_OK;
    const struct json *signal = broadcast(&w->arena, &ev);
    if (w->c->is_json) {
        show_json(&w->out, signal, w->c->is_tty);
    } else {
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
            buf_adds(&w->out, i == 0 ? "" : w->c->is_tty ? "  " : "\t");
            hub_show_cell(&w->out, signal, keys[i]);
        }
    }
    buf_addc(&w->out, '\n');
    return w->out.len > FLUSH_AT ? flush(w, e) : ST_OK;
}

static enum status
caught_up(void *ctx, bool *is_over, int64_t *wake_ms, struct err *e)
{
    (void)is_over;
    *wake_ms = -1;
    return flush(ctx, e);
}

static enum status
run(const struct args *a, struct err *e)
{
    struct hub_call c;
    struct signal_watch w = { .c = &c, .a = a };
    struct hub_follow f = { .call = &c,
                            .from = args_has(a, "all") ? LOG_FROM_START : LOG_FROM_END,
                            .timeout_ms = -1,
                            .heard = heard,
                            .caught_up = caught_up,
                            .ctx = &w };
    enum status s = hub_call_begin(&c, a, e);

    if (!s && c.url)
        s = err_set(e, ST_INVALID,
                    "cliq signal watch cannot follow a server yet: use curl -N -H \"Authorization: "
                    "Bearer $CLIQ_KEY\" %s/v1/engine/events, or watch the files without --url and "
                    "CLIQ_URL",
                    c.url);
    if (!s)
        s = hub_follow_run(&f, e);
    arena_release(&w.arena);
    buf_release(&w.out);
    hub_call_end(&c);
    return s;
}

const struct cmd cmd_signal_watch = {
    .name = "signal watch",
    .words = "[PATTERN]...",
    .max_words = SIZE_MAX,
    .brief = "print broadcasts as they come",
    .about =
        "Goes on until it is interrupted (exit code 130). With patterns only signals whose type\n"
        "matches one of them: * matches exactly one segment. It subscribes to nothing and wakes\n"
        "nobody.",
    .examples = "cliq signal watch\n"
                "cliq signal watch 'build:*:done' 'build:*:failed' --json",
    .opts = opts,
    .run = run,
};
