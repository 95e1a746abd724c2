/* team install - a package into the installed teams. */
#include "base/term.h"
#include "cmd/cmd.h"
#include "cmd/lib/team_source.h"

#include <string.h>

static const struct opt opts[] = {
    { "force", OPT_FLAG, NULL, "install again what is installed in this version" },
    { "json", OPT_FLAG, NULL, "print JSON" },
    { 0 },
};

static void
tell(struct buf *out, const struct package_place *p, const char *was, bool is_json)
{
    const struct team *t = &p->team;

    if (is_json) {
        json_open(out, '{');
        json_key_str(out, "name", t->name);
        json_key_str(out, "version", t->version);
        json_key_str(out, "was", was);
        json_key_str(out, "sha256", p->sha256);
        json_close(out, '}');
        buf_addc(out, '\n');
        return;
    }
    buf_addf(out, "Installed %s", t->name);
    if (t->version) {
        buf_addc(out, ' ');
        term_escape(out, t->version, strlen(t->version), false);
    }
    if (was && *was) {
        buf_adds(out, ", was ");
        term_escape(out, was, strlen(was), false);
    }
    buf_addf(out, " (sha256 %.16s...). Next: cliq assemble %s\n", p->sha256, t->name);
}

static enum status
run(const struct args *a, struct err *e)
{
    struct package_place p = { .teams = -1, .lock = -1, .dir = -1 };
    struct team_ref ref;
    struct arena arena = { 0 };
    struct buf from = { 0 }, out = { 0 };
    const char *was = NULL;
    enum status s = team_ref_parse(&ref, a->words[0], e);

    if (!s && ref.kind == TEAM_REF_NAME)
        s = err_set(
            e, ST_INVALID,
            "%s names no source: cliq team install hub://%s installs it from the hub, and a "
            "directory is named by a path, like ./%s",
            a->words[0], ref.at.p, a->words[0]);
    if (!s)
        s = team_source_name(&ref, a->words[0], &from, e);
    if (!s)
        s = team_source_open(&ref, &p, e);
    if (!s)
        s = package_place_install(&p, from.p, args_has(a, "force"), &arena, &was, e);
    if (!s) {
        tell(&out, &p, was, args_has(a, "json"));
        s = cmd_print(&out, e);
    }
    package_place_close(&p);
    team_ref_release(&ref);
    arena_release(&arena);
    buf_release(&from);
    buf_release(&out);
    return s;
}

const struct cmd cmd_team_install = {
    .name = "team install",
    .words = "REF",
    .min_words = 1,
    .max_words = 1,
    .brief = "install a team, for any project of yours",
    .about =
        "REF is a directory, a .tgz of team pack, hub://@scope/name for the hub of the setting\n"
        "hub.url (@1.2 or @1.2.3 behind it asks for that version), or the URL of a git "
        "repository,\n"
        "with #BRANCH or #TAG behind it if wanted. The team is checked and goes to\n"
        "~/.cliqrc/teams/@scope/name, all of it or nothing; an older version is replaced. The "
        "same\n"
        "version again is exit code 5 without --force.\n"
        "\n"
        "A package from elsewhere may hold files, directories and links that stay inside agents/,\n"
        "at most 10 MiB packed and 50 MiB unpacked; anything else is refused (exit code 7). "
        "Nothing\n"
        "of it is run: cliq run refuses until you have trusted what was assembled.",
    .examples = "cliq team install ./my-team\n"
                "cliq team install acme-review-1.2.0.tgz\n"
                "cliq team install hub://@acme/review@1.2\n"
                "cliq team install https://github.com/acme/review.git#v1.2.0",
    .opts = opts,
    .run = run,
};
