/* identity add - make an identity, or change it. */
#include "cmd/hub_show.h"

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

static enum status
run(const struct args *a, struct err *e)
{
    static const struct hub_simple work = {
        .op = HUB_IDENTITY_ADD,
        .fields = fields,
        .words = { "id" },
        .text = "id",
    };

    return hub_run(&work, a, e);
}

const struct cmd cmd_identity_add = {
    .name = "identity add",
    .words = "ID",
    .min_words = 1,
    .max_words = 1,
    .brief = "make an identity, or change it",
    .about = "An identity needs no making to emit or claim on files; it does to be woken: --agent "
             "names\n"
             "the agent that is started in --dir when a signal arrives that is not silent.",
    .examples = "cliq identity add ruby --name Ruby --type agent",
    .opts = opts,
    .run = run,
};
