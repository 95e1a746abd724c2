/* project_health - the project's .cliq/: its files, who trusts them, and what runs left. */
#include "doctor/doctor.h"

#include "doctor/file_mode.h"
#include "doctor/stale_files.h"
#include "run/assemble.h"
#include "run/lockfile.h"
#include "run/run.h"
#include "run/sleeping.h"
#include "team/team_subs.h"
#include "team/trust.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const char *const dirs[] = { "roles", "channels", "signals", "files", "design" };

enum { N_DIRS = sizeof dirs / sizeof *dirs };

/* ---- files ---- */

static const char *
below(struct doctor *d, const char *name)
{
    return doctor_text(d, "%s%s%s", d->project.state_dir, *name ? "/" : "", name);
}

static void
look_at_id(struct doctor *d)
{
    struct buf id = { 0 };
    enum status s = state_dir_read(&d->project, "cliq.id", &id, NULL);
    size_t n = s || !id.p ? 0 : strcspn(id.p, "\n");
    bool is_good =
        n == 11 && strncmp(id.p, "cliq-", 5) == 0 && strspn(id.p + 5, "0123456789abcdef") == 6;

    if (s == ST_NOT_FOUND)
        doctor_add_mendable(d, DOCTOR_ERROR, "cliq.id", "cliq init", "it is missing");
    else if (!is_good)
        doctor_add(d, DOCTOR_ERROR, "cliq.id",
                   doctor_text(d, "rm %s && cliq init", below(d, "cliq.id")),
                   "it is damaged: it has to be cliq- and 6 hex digits");
    else
        doctor_add(d, DOCTOR_OK, "project", NULL, "%.*s in %s", (int)n, id.p,
                   d->project.project_dir);
    buf_release(&id);
}

static void
look_at_files(struct doctor *d)
{
    for (size_t i = 0; i < N_DIRS; i++)
        if (access(below(d, dirs[i]), F_OK) != 0)
            doctor_add_mendable(d, DOCTOR_WARNING, dirs[i], "cliq init",
                                "the directory .cliq/%s is missing", dirs[i]);
    if (access(below(d, ".gitignore"), F_OK) != 0)
        doctor_add_mendable(d, DOCTOR_WARNING, ".gitignore", "cliq init",
                            "it is missing: secrets in settings.json could get into version "
                            "control");
    file_mode_look(d, "directory", d->project.state_dir, DIR_OWN);
    file_mode_look(d, "settings.json", below(d, "settings.json"), FILE_PRIVATE);
    stale_files_look(d, d->project.state_dir);
    stale_files_look(d, below(d, "run"));
}

/* ---- the workflow ---- */

static void
look_at_workflow(struct doctor *d)
{
    struct team team = { 0 };
    struct team_subs subs = { 0 };
    struct problems problems = { 0 };
    struct err e;

    if (faccessat(d->project.dir, "workflow.yml", F_OK, AT_SYMLINK_NOFOLLOW) != 0) {
        doctor_add(d, DOCTOR_NOTE, "workflow", "cliq assemble TEAM", "nothing is assembled yet");
        return;
    }
    enum status s = team_load_file(&team, d->project.dir, "workflow.yml", &problems, &e);
    if (!s || s == ST_INVALID)
        team_validate(&team, d->project.dir, d->project.state_dir, &problems);
    if (!s)
        s = team_subs_load(&subs, &team, d->project.dir, d->project.state_dir, &problems, &e);
    const struct problem *first = problems.first;
    while (first && first->is_warning)
        first = first->next;
    if (problems.errors)
        doctor_add(d, DOCTOR_ERROR, "workflow",
                   doctor_text(d, "cliq team validate %s", below(d, "workflow.yml")),
                   "%zu error%s, the first: %s", problems.errors, problems.errors == 1 ? "" : "s",
                   first ? first->text : "");
    else if (s)
        doctor_add(d, DOCTOR_ERROR, "workflow", NULL, "%s", e.text);
    else
        doctor_add(d, DOCTOR_OK, "workflow", NULL, "%s, %zu phase%s", team.name ? team.name : "",
                   team.n_phases, team.n_phases == 1 ? "" : "s");
    team_subs_release(&subs);
    team_release(&team);
    problems_release(&problems);
    if (trust_check(d->project.dir, d->project.state_dir, NULL))
        doctor_add(
            d, DOCTOR_ERROR, "trust", doctor_text(d, "cliq team trust %s", d->project.state_dir),
            "you have not trusted this workflow and its agents, so nothing of it is started");
}

/* ---- runs ---- */

static void
look_at_runs(struct doctor *d)
{
    struct run_latest run;
    struct sleeping sleep;
    pid_t pid = lockfile_runner(&d->project);

    if (pid > 0) {
        doctor_add(d, DOCTOR_OK, "run", "cliq status", "a run is active (pid %d)", (int)pid);
        return;
    }
    enum status s = run_latest(&d->project, &run, NULL);
    size_t left = run_count_leftovers(&d->project);
    if (left)
        doctor_add(d, DOCTOR_ERROR, "processes", "cliq cancel",
                   "%zu process%s of a run whose orchestrator died still run%s", left,
                   left == 1 ? "" : "es", left == 1 ? "s" : "");
    if (s)
        return;
    if (!run.has_end && sleeping_read(&d->project, &sleep))
        doctor_add(d, DOCTOR_OK, "run", NULL, "%s sleeps until people answer: cliq review", run.id);
    else if (!run.has_end)
        doctor_add(d, DOCTOR_ERROR, "run", "cliq run --resume",
                   "the run %s was interrupted (cliq cancel ends it)", run.id);
    else
        doctor_add(d, DOCTOR_OK, "run", NULL, "the last one ended: %s", run_status_name(run.end));
}

void
project_health_look(struct doctor *d)
{
    if (d->refused)
        doctor_add(d, DOCTOR_WARNING, "project", NULL, "%s", d->refused);
    if (d->project.dir < 0)
        return;
    look_at_id(d);
    look_at_files(d);
    look_at_workflow(d);
    look_at_runs(d);
}

void
project_health_mend(struct doctor *d)
{
    bool is_new;

    if (d->project.dir < 0)
        return;
    file_mode_mend(d->project.state_dir, DIR_OWN);
    file_mode_mend(below(d, "settings.json"), FILE_PRIVATE);
    assemble_init(d->project.project_dir, &is_new, NULL);
    stale_files_mend(d->project.state_dir);
    stale_files_mend(below(d, "run"));
}
