/* key create - a key for HTTP, shown this once. */
#include "cmd/lib/hub_show.h"

#include <signal.h>

static const struct opt opts[] = {
    { "identity", OPT_TEXT, "ID", "whose key it is; made when it is new", .is_required = true },
    { "scope", OPT_TEXT, "SCOPE",
      "what it allows; may be repeated; default all but audit and admin", .is_many = true },
    { "ttl", OPT_TIME, "TIME", "it expires after that long: 12h, 30d; default: never" },
    HUB_OPTS,
    { 0 },
};

static const struct hub_field fields[] = {
    { "identity", "identity", HF_TEXT },
    { "scope", "scopes", HF_TEXTS },
    { "ttl", "ttl_seconds", HF_SECONDS },
    { 0 },
};

/* {"key","identity","scopes","expires_at"?}: all that the key's owner needs. */
static enum status
show(struct hub_call *c, const struct json *made, struct err *e)
{
    static const char *const keys[] = { "key", "identity", "scopes", "expires_at" };
    struct json *to = json_new(&c->hub.arena, JSON_OBJECT);

    for (size_t i = 0; to && i < sizeof keys / sizeof *keys; i++) {
        const struct json *v = json_get(made, keys[i]);
        bool is_shown = v && (i < 3 || v->type != JSON_NULL);
        struct json *copy = is_shown ? json_new(&c->hub.arena, v->type) : NULL;
        if (copy) {
            *copy = *v;
            copy->next = NULL;
            json_set(to, keys[i], copy);
        }
    }
    if (!to)
        return err_nomem(e);
    return hub_show_text(c, json_get(made, "key"), to, e);
}

/* Revokes a key that could not be printed, and adds that to the error. */
static void
take_back(struct hub_call *c, const struct json *made, struct err *e)
{
    const char *id = hub_text(c, json_get(made, "id"));
    struct json *args = json_new(&c->hub.arena, JSON_OBJECT);
    struct hub_reply reply;
    struct err why, first = *e;

    if (!id || !args || hub_args_add(c, args, "id", id, &why) ||
        hub_call(c, HUB_KEY_REVOKE, args, &reply, &why))
        err_say(e, "%s; the key counts all the same: cliq key revoke %s", first.text,
                id ? id : "its id");
    else
        err_say(e, "%s; the key could not be shown, so it was revoked", first.text);
}

static enum status
run(const struct args *a, struct err *e)
{
    struct hub_call c;
    struct hub_reply reply;
    struct json *args;
    enum status s = hub_call_begin(&c, a, e);

    signal(SIGPIPE, SIG_IGN); /* a reader that is gone is a failure to tell, too */
    if (!s)
        s = hub_args(&c, a, fields, &args, e);
    if (!s)
        s = hub_call(&c, HUB_KEY_CREATE, args, &reply, e);
    if (!s && (s = show(&c, reply.data, e)))
        take_back(&c, reply.data, e);
    hub_call_end(&c);
    return s;
}

const struct cmd cmd_key_create = {
    .name = "key create",
    .brief = "make a key for an identity and print it, this once",
    .about =
        "Only a hash of it is kept. It goes into CLIQ_KEY, or behind \"Authorization: Bearer\".\n"
        "A server that runs over the same files takes it at once. If it cannot be printed, it is\n"
        "revoked.\n"
        "\n"
        "Scopes: emit, claim, ack, inbox, stream, teams, review; audit, which reads every signal\n"
        "whomever it is for; and admin, which implies all.",
    .examples = "cliq key create --identity ruby\n"
                "CLIQ_KEY=$(cliq key create --identity ci --scope emit)\n"
                "cliq key create --identity guest --ttl 30d",
    .opts = opts,
    .run = run,
};
