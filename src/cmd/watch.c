/* watch - signals as they come. */
#include "base/term.h"
#include "cmd/hub_follow.h"
#include "cmd/hub_show.h"
#include "cmd/show.h"
#include "hub/match.h"

#include <string.h>
#include <unistd.h>

enum { FLUSH_AT = 1 << 16 };

static const struct opt opts[] = {
    { "type", OPT_TEXT, "TYPE", "only signals of this type; may be repeated", .is_many = true },
    { "pattern", OPT_TEXT, "PATTERN", "only types that match, like 'build:*:done'" },
    { "min-urgency", OPT_TEXT, "N", "only signals at least this urgent" },
    { "tag", OPT_TEXT, "TAG", "only signals with one of these tags; may be repeated",
      .is_many = true },
    { "role", OPT_TEXT, "ROLE", "only signals from or to this role" },
    { "ring", OPT_TEXT, "RING", "only signals to this ring" },
    { "since", OPT_NUMBER, "SEQ", "begin behind the signal with this sequence; 0: with the first" },
    HUB_OPTS,
    { 0 },
};

struct watch_work {
    struct hub_call *c;
    const struct args *a;
    double min_urgency;
    uint64_t since;
    struct arena arena; /* of one signal */
    struct buf out;
    bool has_color;
};

static bool
is_one_of(const struct args *a, const char *opt, const struct json *v)
{
    size_t n;
    const char *const *texts = args_many(a, opt, &n);
    bool is_in = n == 0;

    for (size_t i = 0; i < n; i++)
        is_in = is_in || json_eq(v, texts[i]);
    return is_in;
}

static bool
is_wanted(const struct watch_work *w, const struct json *signal)
{
    const struct json *type = json_get(signal, "signal_type");
    const char *pattern = args_text(w->a, "pattern"), *role = args_text(w->a, "role"),
               *ring = args_text(w->a, "ring");
    double urgency = 0;
    bool has_tag = !args_has(w->a, "tag");

    json_each (tag, json_get(signal, "tags"))
        has_tag = has_tag || is_one_of(w->a, "tag", tag);
    json_double(json_get(signal, "urgency"), &urgency);
    return has_tag && is_one_of(w->a, "type", type) && urgency >= w->min_urgency &&
           (!pattern || (json_is(type, JSON_STRING) &&
                         match_pattern(pattern, strlen(pattern), type->text.p, type->text.len))) &&
           (!role || json_eq(json_get(signal, "to_role"), role) ||
            json_eq(json_get(signal, "from_role"), role)) &&
           (!ring || json_eq(json_get(signal, "to_ring"), ring));
}

/* For people: a head in bold, the content below it; otherwise a row like those of inbox. */
static void
show_signal(struct watch_work *w, const struct json *signal)
{
    static const char *const keys[] = { "created_at", "@from", "@to", "signal_type", "id" };
    struct buf *out = &w->out;

    if (w->c->is_json) {
        show_json(out, signal, w->c->is_tty);
        buf_addc(out, '\n');
        return;
    }
    if (!w->c->is_tty) {
        for (const struct hub_column *k = hub_signal_columns; k->head; k++) {
            buf_adds(out, k == hub_signal_columns ? "" : "\t");
            hub_show_cell(out, signal, k->key);
        }
        buf_addc(out, '\n');
        return;
    }
    buf_adds(out, w->has_color ? "\033[1m" : "");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        buf_adds(out, i == 0 ? "" : i == 2 ? " -> " : "  ");
        hub_show_cell(out, signal, keys[i]);
    }
    buf_adds(out, w->has_color ? "\033[0m\n    " : "\n    ");
    hub_show_cell(out, signal, "content");
    buf_addc(out, '\n');
}

static enum status
flush(struct watch_work *w, struct err *e)
{
    enum status s = w->out.len ? cmd_print(&w->out, e) : ST_OK;

    buf_reset(&w->out);
    return s;
}

static enum status
heard(void *ctx, const struct log_record *rec, bool *is_over, struct err *e)
{
    struct watch_work *w = ctx;

    (void)is_over;
    if (json_get(rec->json, "op") || rec->seq <= w->since)
        return ST_OK;
    arena_reset(&w->arena);
    const struct json *signal = hub_signal_json(w->c->hub, rec->seq, &w->arena);
    if (signal && is_wanted(w, signal))
        show_signal(w, signal);
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
watch(struct hub_call *c, const struct args *a, struct err *e)
{
    static const struct hub_field number[] = { { "min-urgency", "n", HF_NUMBER }, { 0 } };
    struct watch_work w = { .c = c,
                            .a = a,
                            .since = args_number(a, "since", 0),
                            .has_color = term_has_color(STDOUT_FILENO) };
    struct hub_follow f = { .call = c,
                            .from = args_has(a, "since") ? LOG_FROM_START : LOG_FROM_END,
                            .timeout_ms = -1,
                            .heard = heard,
                            .caught_up = caught_up,
                            .ctx = &w };
    struct hub_stats st;
    struct json *args;
    enum status s = hub_args(c, a, number, &args, e);

    if (!s)
        json_double(json_get(args, "n"), &w.min_urgency);
    if (!s)
        s = hub_call_files(c, "watch", e);
    if (!s && f.from == LOG_FROM_END) {
        s = hub_stats(c->hub, &st, e);
        f.next_seq = st.last_seq + 1;
    }
    if (!s)
        s = hub_follow_run(&f, e);
    arena_release(&w.arena);
    buf_release(&w.out);
    return s;
}

static enum status
run(const struct args *a, struct err *e)
{
    struct hub_call c;
    enum status s = hub_call_begin(&c, a, e);

    if (!s && c.url)
        s = err_set(e, ST_INVALID,
                    "cliq watch cannot follow a server yet: use curl -N -H \"Authorization: Bearer "
                    "$CLIQ_KEY\" %s/signals/stream, or watch the files without --url and CLIQ_URL",
                    c.url);
    if (!s)
        s = watch(&c, a, e);
    hub_call_end(&c);
    return s;
}

const struct cmd cmd_watch = {
    .name = "watch",
    .brief = "print signals as they come",
    .about =
        "Goes on until it is interrupted (exit code 130). Shows signals as cliq inbox does, from\n"
        "now on or, with --since, from any earlier one; --json prints one object a line.\n"
        "Nothing is polled: the log itself wakes it.",
    .examples = "cliq watch\n"
                "cliq watch --type alert --min-urgency 0.8\n"
                "cliq watch --since 0 --json | jq -r .content",
    .opts = opts,
    .run = run,
};
