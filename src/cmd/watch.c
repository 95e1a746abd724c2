/* watch - signals as they come. */
#include "base/term.h"
#include "cmd/lib/hub_names.h"
#include "cmd/lib/hub_watch.h"

#include <unistd.h>

static const struct opt opts[] = {
    { "type", OPT_TEXT, "TYPE", "only signals of this type; may be repeated", .is_many = true },
    { "pattern", OPT_TEXT, "PATTERN", "only types that match, like 'build:*:done'" },
    { "min-urgency", OPT_TEXT, "N", "only signals at least this urgent" },
    { "tag", OPT_TEXT, "TAG", "only signals with one of these tags; may be repeated",
      .is_many = true },
    { "role", OPT_TEXT, "ROLE", "only signals from or to this role", .choose = "roles" },
    { "ring", OPT_TEXT, "RING", "only signals to this ring", .choose = "rings" },
    { "since", OPT_NUMBER, "SEQ", "begin behind the signal with this sequence; 0: with the first" },
    HUB_OPTS,
    { 0 },
};

/* For people: a head in bold, the content below it. */
static void
show_signal(struct buf *out, const struct json *signal)
{
    static const char *const keys[] = { "created_at", "@from", "@to", "signal_type", "id" };
    bool has_color = term_has_color(STDOUT_FILENO);

    buf_adds(out, has_color ? "\033[1m" : "");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        buf_adds(out, i == 0 ? "" : i == 2 ? " -> " : "  ");
        hub_show_cell(out, signal, keys[i]);
    }
    buf_adds(out, has_color ? "\033[0m\n    " : "\n    ");
    hub_show_cell(out, signal, "content");
    buf_addc(out, '\n');
}

static enum status
read_filter(struct hub_call *c, const struct args *a, struct subscription_filter *want,
            struct err *e)
{
    static const struct hub_field number[] = { { "min-urgency", "n", HF_NUMBER }, { 0 } };
    struct json *args;
    enum status s = hub_args(c, a, number, &args, e);

    struct signal_filter f = { .role = args_text(a, "role") };
    f.types.v = args_many(a, "type", &f.types.n);
    f.tags.v = args_many(a, "tag", &f.tags.n);
    f.patterns.v = args_many(a, "pattern", &f.patterns.n);
    f.rings.v = args_many(a, "ring", &f.rings.n);
    if (!s)
        json_double(json_get(args, "n"), &f.min_urgency);
    *want = (struct subscription_filter){ .filter = f,
                                          .has_since = args_has(a, "since"),
                                          .since = args_number(a, "since", 0) };
    if (!s && !(f.min_urgency >= 0 && f.min_urgency <= 1))
        s = err_set(e, ST_INVALID, "--min-urgency needs a number from 0 to 1, not \"%s\"",
                    args_text(a, "min-urgency"));
    return s;
}

/* A ring may be made later; a misspelt one never is. */
static void
check_rings(struct hub_call *c, const struct text_list *rings)
{
    const char *near;

    for (size_t i = 0; i < rings->n; i++)
        if (!hub_names_has(c, HUB_RINGS, rings->v[i], &near))
            cmd_warn("there is no ring \"%s\" yet%s%s%s", rings->v[i],
                     near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

static enum status
run(const struct args *a, struct err *e)
{
    struct hub_call c;
    struct subscription_filter want;
    enum status s = hub_call_begin(&c, a, e);

    if (!s)
        s = read_filter(&c, a, &want, e);
    if (!s)
        check_rings(&c, &want.filter.rings);
    if (!s)
        s = hub_watch(&c, &want, hub_signal_columns, show_signal, e);
    hub_call_end(&c);
    return s;
}

const struct cmd cmd_watch = {
    .name = "watch",
    .brief = "print signals as they come",
    .about =
        "Goes on until it is interrupted (exit code 130). Shows signals as cliq inbox does, from\n"
        "now on or, with --since, from any earlier one; --json prints one object a line.\n"
        "Nothing is polled: the log itself wakes it, or the server's event stream with --url. A\n"
        "server that is gone is waited for: from there on nothing is missed and nothing comes\n"
        "twice. Standard error tells of it.",
    .examples = "cliq watch\n"
                "cliq watch --type alert --min-urgency 0.8\n"
                "cliq watch --since 0 --json | jq -r .content\n"
                "cliq watch --url http://127.0.0.1:3000 --role reviewer",
    .opts = opts,
    .run = run,
};
