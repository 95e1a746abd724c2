/* sdk send - handoffs for the phases behind this one. */
#include "cmd/lib/sdk_session.h"

#include <string.h>

static const struct opt opts[] = {
    { "to", OPT_TEXT, "TARGET", "the phase it is for; without: every target", .is_many = true },
    { "data", OPT_TEXT, "JSON|-|@FILE", "an object for programs; @FILE reads a file" },
    { 0 },
};

static bool
is_target(const struct context *c, const char *name)
{
    for (size_t i = 0; i < c->n_targets; i++)
        if (strcmp(c->targets[i].name, name) == 0)
            return true;
    return false;
}

static enum status
send_to(struct sdk_session *k, const char *target, const struct json *data, const char *text,
        struct err *e)
{
    enum status s = context_send(&k->c, target, data, text, e);

    return s ? s : sdk_note_sent(k, target, e);
}

static enum status
send_all(struct sdk_session *k, const struct args *a, const struct json *data, const char *text,
         struct err *e)
{
    size_t n;
    const char *const *to = args_many(a, "to", &n);
    enum status s = ST_OK;

    if (!k->c.phase)
        return err_set(e, ST_INVALID, "send: a %s message has no phase", k->msg.type);
    /* a wrong name among them: none is sent, and context_send says what is right */
    for (size_t i = 0; i < n; i++)
        if (!is_target(&k->c, to[i]))
            return context_send(&k->c, to[i], data, text, e);
    for (size_t i = 0; !s && i < n; i++)
        s = send_to(k, to[i], data, text, e);
    for (size_t i = 0; !s && !n && i < k->c.n_targets; i++)
        s = send_to(k, k->c.targets[i].name, data, text, e);
    return s;
}

static enum status
run(const struct args *a, struct err *e)
{
    struct sdk_session k;
    struct buf text = { 0 };
    const struct json *data = NULL;
    const char *word = a->n_words ? a->words[0] : NULL, *json = args_text(a, "data");
    enum status s = sdk_open(&k, e);

    if (!s && !word && !json)
        s = err_set(e, ST_INVALID, "nothing to send: give a TEXT, --data JSON or both");
    if (!s && word && json && !strcmp(word, "-") && !strcmp(json, "-"))
        s = err_set(e, ST_INVALID, "TEXT and --data cannot both be standard input");
    if (!s)
        s = sdk_json_arg(&k, json, "--data", true, &data, e);
    if (!s && word)
        s = sdk_text_arg(word, "the text", &text, e);
    if (!s)
        s = send_all(&k, a, data, word ? text.p : NULL, e);
    buf_release(&text);
    sdk_close(&k);
    return s;
}

const struct cmd cmd_sdk_send = {
    .name = "sdk send",
    .words = "[TEXT|-]",
    .max_words = 1,
    .brief = "write the handoff for the phases behind this one",
    .about = "Writes handoff.json into the channel of each target, at once: text for people and\n"
             "models, data for programs, or both. Without --to every target gets it; a phase\n"
             "without targets sends nothing, which is fine.",
    .examples = "cliq sdk send \"Implementation complete. All tests pass.\"\n"
                "make report | cliq sdk send --to reviewer -\n"
                "cliq sdk send --to reviewer --data '{\"coverage\":94.2}' \"12 tests pass\"",
    .opts = opts,
    .run = run,
};
