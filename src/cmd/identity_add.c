/* identity add - make an identity, or change it. */
#include "cmd/lib/hub_show.h"
#include "wake/wake_supervisor.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct opt opts[] = {
    { "name", OPT_TEXT, "TEXT", "what people call it" },
    { "type", OPT_TEXT, "TYPE", "human or agent" },
    { "agent", OPT_TEXT, "NAME", "the agent to start when it is woken" },
    { "dir", OPT_TEXT, "DIR", "where that agent works" },
    HUB_OPTS,
    { 0 },
};

static const struct hub_field fields[] = {
    { "name", "name", HF_TEXT },
    { "type", "type", HF_TEXT },
    { "agent", "agent", HF_TEXT },
    { "dir", "dir", HF_TEXT },
    { 0 },
};

/* The agent is started from another directory, so its path becomes absolute. Over HTTP it is a path
 * of the server's, which we do not see. */
static enum status
make_whole(struct hub_call *c, struct json *args, const char *dir, struct err *e)
{
    char whole[PATH_MAX];
    struct stat st;

    if (c->hub.url)
        return ST_OK;
    if (!realpath(dir, whole) && errno == ENOENT)
        return err_set(e, ST_NOT_FOUND, "--dir %s is not there: make it first", dir);
    if (!realpath(dir, whole))
        return err_sys(e, "--dir %s", dir);
    if (stat(whole, &st) != 0 || !S_ISDIR(st.st_mode))
        return err_set(e, ST_INVALID, "--dir %s is no directory: an agent works in one", dir);
    const char *kept = arena_dup(&c->hub.arena, whole, strlen(whole));
    return kept ? hub_args_add(c, args, "dir", kept, e) : err_nomem(e);
}

/* The agent may be installed later, so an unknown name is only a warning. */
static void
warn_of_missing(struct hub_call *c, const struct json *identity)
{
    const char *agent = hub_text(c, json_get(identity, "agent"));
    const char *dir = hub_text(c, json_get(identity, "dir"));
    struct err why;

    if (agent && dir && wake_supervisor_check(agent, dir, &why))
        cmd_warn("signals will wait: %s", why.text);
}

static enum status
run(const struct args *a, struct err *e)
{
    struct hub_call c;
    struct hub_reply reply;
    struct json *args;
    const char *dir = args_text(a, "dir");
    enum status s = hub_call_begin(&c, a, e);

    if (!s)
        s = hub_args(&c, a, fields, &args, e);
    if (!s)
        s = hub_args_add(&c, args, "id", a->words[0], e);
    if (!s && dir)
        s = make_whole(&c, args, dir, e);
    if (!s)
        s = hub_call(&c, HUB_IDENTITY_ADD, args, &reply, e);
    if (!s)
        s = hub_show_text(&c, json_get(reply.data, "id"), reply.data, e);
    if (!s && !c.hub.url)
        warn_of_missing(&c, reply.data);
    hub_call_end(&c);
    return s;
}

const struct cmd cmd_identity_add = {
    .name = "identity add",
    .words = "ID",
    .min_words = 1,
    .max_words = 1,
    .brief = "make an identity, or change it",
    .about =
        "An identity needs no making to emit or claim on files; it does to be woken: --agent "
        "names\n"
        "the agent that is started in --dir when a signal arrives for a subscription of the "
        "identity\n"
        "that is not silent (cliq signal subscribe --silent=false). The agent is one of the "
        "project\n"
        "in that directory, or an installed one. It gets a notify message with all signals that\n"
        "wait, one process at a time; what it prints is in <config>/wake/ID/log. When it fails it "
        "is\n"
        "started again, after 1, 2, 4 and 8 seconds; then the signals only stay in its inbox.",
    .examples = "cliq identity add ruby --name Ruby --type agent\n"
                "cliq identity add ruby --agent helper --dir .",
    .opts = opts,
    .run = run,
};
