/* team publish - a version of a team, for everyone who asks the hub. */
#include "cmd/cmd.h"
#include "cmd/lib/team_find.h"
#include "cmd/lib/team_hub.h"
#include "team/package.h"

static const struct opt opts[] = {
    { "json", OPT_FLAG, NULL, "print JSON" },
    { 0 },
};

static enum status
run(const struct args *a, struct err *e)
{
    struct found_team f = { .dir = -1 };
    struct buf bytes = BUF_MAX(PACKAGE_PACKED_MAX), out = { 0 };
    struct arena arena = { 0 };
    const struct json *team = NULL;
    enum status s = team_find_own(&f, a->n_words ? a->words[0] : ".", e);

    if (!s)
        s = team_find_tell(&f, "published", e);
    if (!s)
        s = package_pack(f.dir, &bytes, e);
    if (!s)
        s = team_hub_publish(&arena, &bytes, &team, e);
    if (!s && args_has(a, "json")) {
        json_write(&out, team);
        buf_addc(&out, '\n');
    } else if (!s) {
        buf_addf(&out, "Published %s %s: cliq team install hub://%s@%s\n", f.team.name,
                 f.team.version, f.team.name, f.team.version);
    }
    if (!s)
        s = cmd_print(&out, e);
    team_find_release(&f);
    arena_release(&arena);
    buf_release(&bytes);
    buf_release(&out);
    return s;
}

const struct cmd cmd_team_publish = {
    .name = "team publish",
    .words = "[DIR]",
    .max_words = 1,
    .brief = "publish a version of a team on the hub",
    .about = "Validates and packs the team as team pack does, and sends it to the server of the "
             "setting\n"
             "hub.url (a cliq serve) with the key in CLIQ_KEY, else the setting hub.token; the key "
             "needs\n"
             "the scope teams. A published version never changes: a second time is exit code 5, "
             "and team\n"
             "version gives the next one. Who publishes a name first owns it.",
    .examples = "cliq team publish ./my-team\n"
                "cliq team version minor && cliq team publish",
    .opts = opts,
    .run = run,
};
