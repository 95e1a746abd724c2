/* emit - one signal, or many, durable before the id is printed. */
#include "base/suggest.h"
#include "base/utf8.h"
#include "cmd/lib/hub_show.h"

#include <string.h>

static const struct opt opts[] = {
    { "type", OPT_TEXT, "TYPE", "what kind of signal, when TYPE does not stand as an argument" },
    { "message", OPT_TEXT, "TEXT", "the content, when it does not stand as an argument",
      .letter = 'm' },
    { "to-role", OPT_TEXT, "ROLE", "for identities that hold this role", .choose = "roles" },
    { "to-ring", OPT_TEXT, "RING", "for the members of this ring", .choose = "rings" },
    { "to-identity", OPT_TEXT, "ID", "for this identity", .choose = "identities" },
    { "from-role", OPT_TEXT, "ROLE", "in which role you speak; you must hold it",
      .choose = "roles" },
    { "urgency", OPT_TEXT, "N", "from 0 to 1, default 0.5; what is urgent is claimed first" },
    { "parent", OPT_TEXT, "ID", "the signal that this one answers" },
    { "tag", OPT_TEXT, "TAG", "a tag; may be repeated", .is_many = true },
    { "resource", OPT_TEXT, "KIND:REF",
      "what it is about, like artifact:report.pdf; may be repeated", .is_many = true },
    { "data", OPT_TEXT, "JSON", "data beside the content" },
    { "task", OPT_FLAG, NULL, "it can be claimed, whatever its type" },
    { "expires", OPT_TIME, "TIME",
      "after that long it cannot be claimed, and inboxes leave it out" },
    { "dedup-key", OPT_TEXT, "KEY", "the same key again within 24 h is the same signal" },
    { "strict", OPT_FLAG, NULL, "refuse a role, ring or identity that does not exist" },
    { "batch", OPT_FLAG, NULL, "signals from standard input, a JSON object a line; all or none" },
    HUB_OPTS,
    { 0 },
};

static const struct hub_field fields[] = {
    { "to-role", "to_role", HF_TEXT },
    { "to-ring", "to_ring", HF_TEXT },
    { "to-identity", "to_identity", HF_TEXT },
    { "from-role", "from_role", HF_TEXT },
    { "urgency", "urgency", HF_NUMBER },
    { "parent", "parent_id", HF_TEXT },
    { "tag", "tags", HF_TEXTS },
    { "data", "payload", HF_JSON },
    { "expires", "expires_at", HF_IN },
    { "dedup-key", "dedup_key", HF_TEXT },
    { "strict", "strict", HF_FLAG },
    { 0 },
};

/* "artifact:report.pdf", or the object itself. */
static enum status
make_resource(struct hub_call *c, const char *text, struct json **out, struct err *e)
{
    const char *colon = strchr(text, ':');
    enum status s = ST_OK;

    if (*text == '{')
        return json_parse_named(&c->hub.arena, "--resource", text, strlen(text), out, e);
    if (!colon || !colon[1])
        return err_set(e, ST_INVALID,
                       "--resource needs a kind and a name, like artifact:report.pdf, not \"%s\"",
                       text);
    const char *kind = arena_dup(&c->hub.arena, text, (size_t)(colon - text));
    *out = json_new(&c->hub.arena, JSON_OBJECT);
    if (!kind || !*out)
        return err_nomem(e);
    s = hub_args_add(c, *out, "kind", kind, e);
    return s ? s : hub_args_add(c, *out, "ref", colon + 1, e);
}

static enum status
add_resources(struct hub_call *c, const struct args *a, struct json *to, struct err *e)
{
    size_t n;
    const char *const *texts = args_many(a, "resource", &n);
    struct json *list = n ? json_new(&c->hub.arena, JSON_ARRAY) : NULL;
    enum status s = ST_OK;

    for (size_t i = 0; !s && i < n; i++) {
        struct json *v = NULL;
        s = make_resource(c, texts[i], &v, e);
        if (!s && list)
            json_add(list, v);
    }
    if (list)
        json_set(to, "resources", list);
    return s;
}

static enum status
add_content(struct hub_call *c, const char *text, struct json *to, struct err *e)
{
    size_t len = text ? strlen(text) : 0;
    enum status s = ST_OK;

    if (!text)
        return ST_OK;
    if (strcmp(text, "-") == 0)
        s = hub_read_stdin(c, "the content on standard input", &text, &len, e);
    if (!s && utf8_valid_len(text, len) < len)
        s = err_set(e, ST_INVALID, "the content is not UTF-8 (byte %zu)",
                    utf8_valid_len(text, len) + 1);
    if (!s)
        json_set(to, "content", json_new_str(&c->hub.arena, text, len));
    return s;
}

/* Which word is what: TYPE CONTENT, each only if its option does not say it. */
static enum status
read_words(const struct args *a, const char **type, const char **content, struct err *e)
{
    size_t i = 0;

    *type = args_text(a, "type");
    *content = args_text(a, "message");
    if (!*type && i < a->n_words)
        *type = a->words[i++];
    if (!*content && i < a->n_words)
        *content = a->words[i++];
    if (i < a->n_words)
        return err_set(e, ST_INVALID,
                       "\"%s\" is too much: the type and the content were given already",
                       a->words[i]);
    return *type ? ST_OK
                 : err_set(e, ST_INVALID,
                           "what kind of signal? Give a type, like: cliq emit task \"Review it\"");
}

/* Any word is a type, so a slip is not an error: a type with blanks is probably the content, and
 * one that is close to a canonical type probably misspelt. */
static void
hint_type(const char *type, const char *content)
{
    static const char *const canonical[] = { "pulse", "sense",    "task",     "query",
                                             "alert", "artifact", "proposal", "shift" };
    struct suggest near = { .word = type };

    if (!content && strchr(type, ' ')) {
        cmd_warn("\"%s\" is the type of this signal, which has no content; did you mean "
                 "cliq emit task \"%s\"?",
                 type, type);
        return;
    }
    for (size_t i = 0; i < sizeof canonical / sizeof *canonical; i++) {
        if (strcmp(type, canonical[i]) == 0)
            return;
        suggest_try(&near, canonical[i]);
    }
    if (near.best)
        cmd_warn("\"%s\" is a type of your own; did you mean %s?", type, near.best);
}

static enum status
emit_one(struct hub_call *c, const struct args *a, struct err *e)
{
    const char *type, *content;
    struct hub_reply reply;
    struct json *to;
    enum status s = read_words(a, &type, &content, e);

    if (!s)
        s = hub_args(c, a, fields, &to, e);
    if (!s)
        s = hub_args_add(c, to, "signal_type", type, e);
    if (!s)
        s = add_resources(c, a, to, e);
    if (!s && args_has(a, "task"))
        s = hub_args_add(c, to, "task_status", "open", e);
    if (!s)
        s = add_content(c, content, to, e);
    if (!s)
        s = hub_call(c, HUB_EMIT, to, &reply, e);
    if (!s)
        hint_type(type, content);
    if (!s && !content && strcmp(type, "task") == 0 && !args_has(a, "data") &&
        !args_has(a, "resource"))
        cmd_warn("this task says nothing: cliq emit task \"Review it\", or - for standard input");
    return s ? s : hub_show_text(c, json_get(reply.data, "id"), reply.data, e);
}

/* ---- a batch ---- */

static enum status
read_batch(struct hub_call *c, struct json *list, struct err *e)
{
    const char *text, *at, *newline;
    size_t len, line = 0;
    enum status s = hub_read_stdin(c, "the signals on standard input", &text, &len, e);
    struct json **link = &list->kids.first;

    for (at = text; !s && at < text + len; at = newline + 1) {
        size_t left = (size_t)(text + len - at);
        struct json *v;
        newline = memchr(at, '\n', left);
        newline = newline ? newline : text + len;
        line++;
        if (strspn(at, " \t\r") >= (size_t)(newline - at))
            continue;
        struct json_fault where;
        if (!json_parse(&c->hub.arena, at, (size_t)(newline - at), &v, &where)) {
            s = err_set(e, where.is_starved ? ST_IO : ST_INVALID, "standard input:%zu:%u: %s", line,
                        where.column, where.what);
            break;
        }
        *link = v;
        link = &v->next;
        list->kids.count++;
    }
    if (!s && !list->kids.count)
        s = err_set(e, ST_INVALID,
                    "no signals on standard input: give a JSON object a line, like "
                    "{\"signal_type\":\"task\",\"content\":\"Review it\"}");
    return s;
}

static enum status
emit_batch(struct hub_call *c, const struct args *a, struct err *e)
{
    static const struct hub_field dedup[] = { { "dedup-key", "dedup_key", HF_TEXT }, { 0 } };
    static const struct hub_column ids[] = { { "ID", "id" }, { 0 } };
    struct hub_reply reply;
    struct json *to, *list = json_new(&c->hub.arena, JSON_ARRAY);
    enum status s = ST_OK;

    for (const struct opt *o = opts; !s && strcmp(o->name, "dedup-key") != 0; o++)
        if (args_has(a, o->name))
            s = err_set(e, ST_INVALID,
                        "--batch takes everything from standard input: leave --%s "
                        "away",
                        o->name);
    if (!s && a->n_words)
        s = err_set(e, ST_INVALID, "--batch takes everything from standard input, not \"%s\"",
                    a->words[0]);
    if (!s && !list)
        s = err_nomem(e);
    if (!s)
        s = hub_args(c, a, dedup, &to, e);
    if (!s)
        s = read_batch(c, list, e);
    if (s)
        return s;
    json_set(to, "signals", list);
    s = hub_call(c, HUB_EMIT_BATCH, to, &reply, e);
    return s ? s : hub_show_list(c, reply.data, ids, e);
}

static enum status
run(const struct args *a, struct err *e)
{
    struct hub_call c;
    enum status s = hub_call_begin(&c, a, e);

    if (!s)
        s = args_has(a, "batch") ? emit_batch(&c, a, e) : emit_one(&c, a, e);
    hub_call_end(&c);
    return s;
}

const struct cmd cmd_emit = {
    .name = "emit",
    .words = "[TYPE] [CONTENT]",
    .max_words = 2,
    .brief = "emit a signal and print its id",
    .about =
        "The signal is on disk before its id is printed. TYPE is pulse, sense, task, query,\n"
        "alert, artifact, proposal, shift, or any other word without a *; tasks can be claimed. It "
        "is\n"
        "for a role, a ring, an identity, or for everyone. The content - reads standard input.\n"
        "\n"
        "The kinds of resources are artifact, workspace_item and workspace_revision.\n"
        "\n"
        "A signal of the same --dedup-key within 24 h is not made again: the first one's id is\n"
        "printed; with another content it is a conflict (exit code 5).\n"
        "\n"
        "--batch takes up to 1,000 signals, with the members that POST /emit takes, and prints\n"
        "an id a line. All of them together may take 32 MiB in the log, and standard input 64 MiB\n"
        "(1 MiB over HTTP); what is over that is refused as a whole.\n"
        "\n"
        "cliq-hub(7) tells what becomes of signals.",
    .examples = "cliq emit task \"Review PR 42\" --to-role reviewer --urgency 0.8\n"
                "cliq emit task \"Look at the alert\" --expires 1h\n"
                "git log -1 | cliq emit sense - --tag git\n"
                "cliq emit query -m \"What is the deploy status?\" --to-identity ruby\n"
                "jq -c .[] tasks.json | cliq emit --batch",
    .opts = opts,
    .run = run,
};
