/* signal cancel - takes back what waits for its time. */
#include "cmd/lib/hub_show.h"

static const struct opt opts[] = {
    { "repeat-key", OPT_TEXT, "KEY", "all that wait under this key" },
    { "type", OPT_TEXT, "TYPE", "all of this type; with a key only those under it" },
    HUB_OPTS,
    { 0 },
};

static const struct hub_field fields[] = {
    { "repeat-key", "repeatKey", HF_TEXT },
    { "type", "type", HF_TEXT },
    { 0 },
};

/* How many were cancelled. */
static enum status
cancel(struct hub_call *c, const struct json *args, struct hub_reply *reply, int64_t *n,
       struct err *e)
{
    enum status s = hub_call(c, HUB_CANCEL, args, reply, e);

    *n = 0;
    if (!s)
        json_int(json_get(reply->data, "removed"), n);
    return s;
}

/* A word is an id; when none waits with it, it is a key, and then a type. */
static enum status
cancel_word(struct hub_call *c, const struct args *a, const char *word, struct hub_reply *reply,
            int64_t *n, struct err *e)
{
    static const char *const keys[] = { "id", "repeatKey", "type" };
    bool has_key = args_has(a, "repeat-key"), has_type = args_has(a, "type");
    size_t n_keys = has_key ? 1 : has_type ? 2 : 3;
    enum status s = ST_OK;

    *n = 0;
    for (size_t i = 0; !s && !*n && i < n_keys; i++) {
        struct json *args;
        s = hub_args(c, a, fields, &args, e);
        if (!s)
            s = hub_args_add(c, args, keys[i], word, e);
        if (!s)
            s = cancel(c, args, reply, n, e);
    }
    return s;
}

static enum status
run(const struct args *a, struct err *e)
{
    struct hub_call c;
    struct hub_reply reply;
    struct json *args;
    int64_t n = 0;

    if (!a->n_words && !args_has(a, "repeat-key") && !args_has(a, "type"))
        return err_set(
            e, ST_INVALID,
            "which one? Give its id, its key or its type; cliq signal delayed lists them");
    enum status s = hub_call_begin(&c, a, e);
    if (!s && a->n_words) {
        s = cancel_word(&c, a, a->words[0], &reply, &n, e);
    } else if (!s) {
        s = hub_args(&c, a, fields, &args, e);
        if (!s)
            s = cancel(&c, args, &reply, &n, e);
    }
    if (!s && n == 0)
        s = err_set(e, ST_NOT_FOUND,
                    "no such signal waits; cliq signal delayed lists those that do");
    if (!s)
        s = hub_show_text(&c, json_get(reply.data, "removed"), reply.data, e);
    hub_call_end(&c);
    return s;
}

const struct cmd cmd_signal_cancel = {
    .name = "signal cancel",
    .words = "[ID|KEY|TYPE]",
    .max_words = 1,
    .brief = "cancel what was scheduled, by id, key or type",
    .about =
        "A word that is no id of a waiting signal is taken as a repeat key, and one that is no\n"
        "key as a type. Prints how many were cancelled. Only the identity that scheduled a\n"
        "signal can cancel it; with --url, admins can, too. Exit code 4: none waits; 7: it\n"
        "belongs to another identity.",
    .examples = "cliq signal cancel abc123\n"
                "cliq signal cancel daily\n"
                "cliq signal cancel report:daily\n"
                "cliq signal cancel --repeat-key daily --type report:daily",
    .opts = opts,
    .run = run,
};
