/* team validate - everything that is wrong with a team, in one go. */
#include "base/term.h"
#include "cmd/cmd.h"
#include "cmd/lib/team_find.h"
#include "team/agent.h"
#include "team/agent_files.h"

#include <string.h>

static const struct opt opts[] = {
    { "json", OPT_FLAG, NULL, "print a JSON array of problems" },
    { 0 },
};

static void
count(struct buf *out, size_t n, const char *what)
{
    buf_addf(out, "%zu %s%s", n, what, n == 1 ? "" : "s");
}

static void
verdict(struct buf *out, const struct found_team *f)
{
    const struct problems *p = &f->problems;

    term_escape(out, f->file.p, f->file.len, false);
    buf_adds(out, p->errors ? ": not valid: " : ": valid: ");
    if (p->errors) {
        count(out, p->errors, "error");
    } else {
        term_escape(out, f->team.name, strlen(f->team.name), false);
        buf_adds(out, ", ");
        count(out, f->team.n_phases, "phase");
    }
    if (p->warnings) {
        buf_adds(out, ", ");
        count(out, p->warnings, "warning");
    }
    buf_addc(out, '\n');
}

/* Links below agents/, of the teams in it, too. */
static void
check_links(const struct team_subs *subs, struct problems *p)
{
    struct err why;

    for (size_t i = 0; i < subs->n; i++) {
        const struct team_sub *sub = subs->of[i];
        if (!sub || sub->dir < 0 || !sub->team.file)
            continue;
        if (agent_files_walk(sub->dir, NULL, NULL, &why))
            problem_error(p, (struct problem_at){ .file = sub->team.file }, "%s", why.text);
        check_links(&sub->subs, p);
    }
}

static enum status
run(const struct args *a, struct err *e)
{
    struct buf out = { 0 };
    struct found_team f;
    struct err why;
    enum status s = team_find(&f, a, e);

    if (!s)
        agent_check_here(&f.team, f.dir, &f.problems);
    if (!s && agent_files_walk(f.dir, NULL, NULL, &why))
        problem_error(&f.problems, (struct problem_at){ .file = f.file.p }, "%s", why.text);
    if (!s)
        check_links(&f.subs, &f.problems);
    if (!s && args_has(a, "json")) {
        problems_write_json(&out, &f.problems);
        buf_addc(&out, '\n');
    } else if (!s) {
        problems_write(&out, &f.problems);
        verdict(&out, &f);
    }
    if (!s)
        s = cmd_print(&out, e);
    if (!s && f.problems.errors > 0)
        s = ST_FAILED;
    team_find_release(&f);
    buf_release(&out);
    return s;
}

const struct cmd cmd_team_validate = {
    .name = "team validate",
    .words = "[DIR|FILE.tgz]",
    .max_words = 1,
    .brief = "check a team: every problem, with its line and column",
    .about =
        "Checks team.yml (or .cliq/workflow.yml), the role files and manifests: shapes, names,\n"
        "agents, dependencies, cycles, templates and how commands quote them, links below agents/\n"
        "(they must stay inside). All\n"
        "problems are printed in one go, as FILE:LINE:COLUMN: error|warning: MESSAGE.\n"
        "Programs that the team's own agents need and this machine has not are warnings.\n"
        "Nothing of the team is run. Of a package the files in it are named.\n"
        "\n"
        "The exit code is 0 when there is no error (warnings are fine), else 1.",
    .examples = "cliq team validate\n"
                "cliq team validate my-team\n"
                "cliq team validate acme-review-1.2.0.tgz\n"
                "cliq team validate --json my-team | jq -r '.[].message'",
    .opts = opts,
    .run = run,
};
