/* lease list - which files are leased, by whom, until when. */
#include "cmd/lib/lease_call.h"
#include "context/checkout.h"

static const struct opt opts[] = {
    { "all", OPT_FLAG, NULL, "of every project" },
    { "holder", OPT_TEXT, "IDENTITY", "of this identity" },
    HUB_OPTS,
    { 0 },
};

static const struct hub_field fields[] = {
    { "holder", "holder", HF_TEXT },
    { 0 },
};

/* The project of the working directory, and the path there. */
static enum status
add_place(struct hub_call *c, struct json *args, const char *word, struct err *e)
{
    struct checkout here;
    const char *path = NULL;
    enum status s = checkout_find(&here, ".", &c->hub.arena, e);

    if (!s && word)
        s = checkout_path(&here, ".", word, false, &c->hub.arena, &path, e);
    if (!s)
        s = hub_args_add(c, args, "project", here.project, e);
    return s ? s : hub_args_add(c, args, "path", path, e);
}

static enum status
run(const struct args *a, struct err *e)
{
    struct hub_call c;
    struct hub_reply reply;
    struct json *args;
    enum status s = hub_call_begin(&c, a, e);

    if (!s)
        s = hub_args(&c, a, fields, &args, e);
    if (!s && args_has(a, "all") && a->n_words)
        s = err_set(e, ST_INVALID, "--all is for every project, %s for a path of this one",
                    a->words[0]);
    if (!s && !args_has(a, "all"))
        s = add_place(&c, args, a->n_words ? a->words[0] : NULL, e);
    if (!s)
        s = hub_call(&c, HUB_LEASES, args, &reply, e);
    if (!s)
        s = hub_show_list(&c, reply.data, lease_columns, e);
    hub_call_end(&c);
    return s;
}

const struct cmd cmd_lease_list = {
    .name = "lease list",
    .words = "[PATH]",
    .max_words = 1,
    .brief = "which files are leased, by whom, until when",
    .about =
        "Lists the leases of this project. With a PATH only those that cover it, or that overlap\n"
        "it when it is a pattern or a directory.",
    .examples = "cliq lease list\n"
                "cliq lease list src/parser/lex.c\n"
                "cliq lease list --all --holder ruby --json",
    .opts = opts,
    .run = run,
};
