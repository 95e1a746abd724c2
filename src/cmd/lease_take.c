/* lease take - files that only the caller may write for a while. */
#include "cmd/lib/lease_call.h"

static const struct opt opts[] = {
    { "ttl", OPT_TIME, "TIME", "how long they are yours; default 30m" },
    { "reason", OPT_TEXT, "TEXT", "what for; those who want to write them see it" },
    HUB_OPTS,
    { 0 },
};

static const struct hub_field fields[] = {
    { "ttl", "ttl_seconds", HF_SECONDS },
    { "reason", "reason", HF_TEXT },
    { 0 },
};

static enum status
run(const struct args *a, struct err *e)
{
    return lease_call(a, HUB_LEASE_TAKE, fields, e);
}

const struct cmd cmd_lease_take = {
    .name = "lease take",
    .words = "PATH...",
    .min_words = 1,
    .max_words = 100,
    .brief = "lease files, so that other agents do not write them",
    .about =
        "A PATH is a file, a directory (with everything below it; write dir/ for one that is to "
        "be\n"
        "made) or a pattern: * and ? within one name, [a-z], and ** for any number of "
        "directories.\n"
        "It need not exist. All paths are leased, or none: exit code 5 says which one overlaps a\n"
        "lease of another identity, whose, and until when.\n"
        "\n"
        "A lease belongs to a project: a git repository, known by its remote \"origin\", else the\n"
        "nearest .cliq directory. All checkouts of a project on all machines of a hub share its\n"
        "leases. It ends by itself after --ttl; taking it again makes it longer, cliq lease\n"
        "release ends it.\n"
        "\n"
        "A lease is a promise. Clients with hooks (cliq install) and agents that speak ACP refuse\n"
        "a write against it; cliq lease guard refuses a commit.",
    .examples = "cliq lease take src/parser/ 'test/**/*.c' --ttl 1h --reason \"new parser\"\n"
                "cliq lease take README.md --as ruby",
    .opts = opts,
    .run = run,
};
