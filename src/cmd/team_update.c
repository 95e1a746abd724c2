/* team update - installed teams, fetched again from where they came. */
#include "base/term.h"
#include "cmd/cmd.h"
#include "cmd/lib/team_source.h"
#include "team/installed_teams.h"

#include <string.h>

static const struct opt opts[] = { { 0 } };

/* Says what became of the team; version NULL: it stays as it is, as `asked` it was installed in
 * that version. */
static enum status
tell(const char *name, const char *version, const char *was, const struct buf *asked, struct err *e)
{
    struct buf out = { 0 };

    buf_addf(&out, "%s: ", name);
    if (version) {
        term_escape(&out, version, strlen(version), false);
        buf_adds(&out, ", was ");
        term_escape(&out, was, strlen(was), false);
    } else {
        buf_adds(&out, "up to date");
        if (asked->len) {
            buf_adds(&out, " with ");
            term_escape(&out, asked->p, asked->len, false);
            buf_adds(&out, ", which was asked for when it was installed");
        }
    }
    buf_addc(&out, '\n');
    enum status s = cmd_print(&out, e);
    buf_release(&out);
    return s;
}

static enum status
check_name(const struct package_place *p, const char *name, struct err *e)
{
    const char *now = p->team.name ? p->team.name : "";

    if (strcmp(now, name) == 0 || (*now != '@' && strcmp(now, name + strlen("@local/")) == 0))
        return ST_OK;
    return err_set(e, ST_CONFLICT, "the team at its source is called %s now: install that", now);
}

static enum status
fetch_again(struct arena *a, const char *name, const struct package_source *from, struct err *e)
{
    struct package_place p = { .teams = -1, .lock = -1, .dir = -1 };
    struct team_ref ref;
    const char *was = NULL;
    enum status s = team_ref_parse(&ref, from->from, e);

    if (!s && ref.kind == TEAM_REF_NAME)
        s = err_set(e, ST_NOT_FOUND, "%s is not there any more", from->from);
    if (!s)
        s = team_source_open(&ref, &p, e);
    if (!s)
        s = check_name(&p, name, e);
    if (!s && from->sha256 && strcmp(from->sha256, p.sha256) == 0)
        s = tell(name, NULL, NULL, &ref.version, e);
    else if (!s && (s = package_place_install(&p, from->from, true, a, &was, e)) == ST_OK)
        s = tell(name, p.team.version ? p.team.version : "(no version)",
                 was && *was ? was : "(no version)", &ref.version, e);
    package_place_close(&p);
    team_ref_release(&ref);
    return s;
}

static enum status
update_one(const char *name, const char *dir, struct err *e)
{
    struct arena a = { 0 };
    struct package_source from;
    enum status s = package_source_read(&a, dir, &from, e);

    if (s == ST_NOT_FOUND)
        s = err_set(e, ST_NOT_FOUND,
                    "%s was not installed by cliq team install: it is not known from where it came",
                    name);
    if (!s && (s = fetch_again(&a, name, &from, e)) != ST_OK) {
        struct err why = *e;
        err_say(e, "%s, from %s: %s", name, from.from, why.text);
    }
    arena_release(&a);
    return s;
}

/* A team that cannot be updated does not keep the others from it. */
static enum status
update_all(struct err *e)
{
    struct arena a = { 0 };
    struct installed_team *v;
    struct err why;
    size_t n;
    enum status s = installed_teams_list(&a, &v, &n, e), worst = ST_OK;

    for (size_t i = 0; !s && i < n; i++) {
        enum status one = update_one(v[i].ref, v[i].dir, &why);
        if (one)
            cmd_warn("%s", why.text);
        if (one && !worst)
            worst = one;
    }
    if (!s && worst) {
        err_say(e, "not all teams could be updated");
        s = worst;
    }
    if (!s && n == 0)
        cmd_note("no team is installed");
    arena_release(&a);
    return s;
}

static enum status
run(const struct args *a, struct err *e)
{
    struct team_ref ref = { 0 };
    struct buf dir = { 0 };
    enum status s;

    if (!a->n_words)
        return update_all(e);
    s = team_ref_parse(&ref, a->words[0], e);
    if (!s && (ref.kind != TEAM_REF_NAME || ref.version.len))
        s = err_set(e, ST_INVALID, "name an installed team, like @scope/name: cliq team list");
    if (!s)
        s = installed_team_dir(ref.at.p, &dir, e);
    if (!s)
        s = update_one(ref.at.p, dir.p, e);
    team_ref_release(&ref);
    buf_release(&dir);
    return s;
}

const struct cmd cmd_team_update = {
    .name = "team update",
    .words = "[NAME]",
    .max_words = 1,
    .brief = "fetch installed teams again from where they came",
    .about = "Reads the directory, package, repository or hub that a team was installed from, and\n"
             "installs what is there now, if it is different. Without NAME: all teams. A project\n"
             "keeps what it assembled, and what is assembled anew must be trusted anew.",
    .examples = "cliq team update @acme/review\n"
                "cliq team update",
    .opts = opts,
    .run = run,
};
