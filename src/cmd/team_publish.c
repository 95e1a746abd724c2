/* team publish - a version of a team, for everyone who asks the hub. */
#include "cmd/cmd.h"
#include "cmd/lib/team_find.h"
#include "cmd/lib/team_hub.h"
#include "cmd/lib/team_source.h"
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
    enum status s = team_find_published(&f, a->n_words ? a->words[0] : ".", e);

    if (!s)
        s = team_find_tell(&f, "published", e);
    if (!s)
        s = f.is_package ? team_source_package(f.file.p, &bytes, e)
                         : package_pack(f.dir, &bytes, e);
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
    .words = "[DIR|FILE.tgz]",
    .max_words = 1,
    .brief = "publish a version of a team on the hub",
    .about =
        "Validates the team, packs it as team pack does (a package that team pack made is sent\n"
        "as it is), and sends it to the server of the setting hub.url (a cliq serve) with the key\n"
        "in CLIQ_KEY, else the setting hub.token; the key needs the scope teams. A published\n"
        "version never changes: a second time is exit code 5, and team version gives the next\n"
        "one. Who publishes a name first owns it.",
    .examples = "cliq team publish ./my-team\n"
                "cliq team publish acme-review-1.2.0.tgz\n"
                "cliq team version minor && cliq team publish",
    .opts = opts,
    .run = run,
};
