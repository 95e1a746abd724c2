/* team remove - an installed team goes. */
#include "cmd/cmd.h"
#include "team/installed_teams.h"
#include "team/package_store.h"
#include "team/team_ref.h"

static const struct opt opts[] = { { 0 } };

static enum status
run(const struct args *a, struct err *e)
{
    struct team_ref ref;
    struct buf dir = { 0 }, out = { 0 };
    enum status s = team_ref_parse(&ref, a->words[0], e);

    if (!s && (ref.kind != TEAM_REF_NAME || ref.version.len))
        s = err_set(e, ST_INVALID, "name an installed team, like @scope/name: cliq team list");
    if (!s)
        s = installed_team_dir(ref.at.p, &dir, e);
    if (!s)
        s = package_store_remove(ref.at.p, e);
    if (!s) {
        buf_addf(&out, "Removed %s\n", ref.at.p);
        s = cmd_print(&out, e);
    }
    team_ref_release(&ref);
    buf_release(&dir);
    buf_release(&out);
    return s;
}

const struct cmd cmd_team_remove = {
    .name = "team remove",
    .words = "NAME",
    .min_words = 1,
    .max_words = 1,
    .brief = "remove an installed team",
    .about = "Projects keep what they assembled from it.",
    .examples = "cliq team remove @acme/review",
    .opts = opts,
    .run = run,
};
