#include "cmd/lib/standing.h"

#include "cmd/cmd.h"
#include "context/state_dir.h"
#include "run/lockfile.h"
#include "run/run.h"
#include "run/sleeping.h"

#include <fcntl.h>
#include <unistd.h>

enum standing {
    NO_PROJECT,
    NOT_ASSEMBLED,
    NO_REQUIREMENT,
    NOT_RUN,
    ACTIVE,
    ASLEEP,
    INTERRUPTED,
    DAMAGED,
    ENDED
};

/* The next command, and others that help. */
static const struct {
    const char *next, *more;
} steps[] = {
    [NO_PROJECT] = { "cliq init && cliq team new my-team && cliq assemble ./my-team",
                     "cliq doctor (what is missing here), cliq help tutorial (ten steps), cliq "
                     "help" },
    [NOT_ASSEMBLED] = { "cliq assemble ./my-team   (cliq team new my-team makes one)",
                        "cliq help tutorial (ten steps), cliq help team.yml, cliq doctor" },
    [NO_REQUIREMENT] = { "cliq req -m \"what the team has to do\"",
                         "cliq graph (the phases), cliq doctor (are their agents ready?)" },
    [NOT_RUN] = { "cliq run", "cliq run --dry-run (what it would do), cliq doctor" },
    [ACTIVE] = { "cliq status --watch", "cliq attach (its agents), cliq log, cliq cancel" },
    [ASLEEP] = { "cliq review   (an answer starts the run again)",
                 "cliq status, cliq log, cliq cancel (ends it)" },
    [INTERRUPTED] = { "cliq run --resume", "cliq status, cliq log, cliq cancel (ends it)" },
    [DAMAGED] = { "cliq run --force   (starts anew)",
                  "cliq status (which line of its journal is bad), cliq cancel (ends it)" },
    [ENDED] = { "cliq status   (how each phase ended, and what to do then)",
                "cliq log, cliq runs (earlier ones), cliq run (once more)" },
};

static bool
is_there(const struct state_dir *f, const char *name)
{
    return faccessat(f->dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static enum standing
find_standing(const struct state_dir *f, struct run_latest *run)
{
    struct sleeping sleep;

    if (f->dir < 0)
        return NO_PROJECT;
    if (!is_there(f, "workflow.yml"))
        return NOT_ASSEMBLED;
    if (lockfile_runner(f) > 0)
        return ACTIVE;
    if (run_latest(f, run, NULL) == ST_OK)
        return run->has_end               ? ENDED
               : sleeping_read(f, &sleep) ? ASLEEP
               : run->is_damaged          ? DAMAGED
                                          : INTERRUPTED;
    return is_there(f, "req_spec.md") ? NOT_RUN : NO_REQUIREMENT;
}

/* The first line: what is. */
static void
tell(struct buf *out, enum standing at, const struct state_dir *f, const struct run_latest *run)
{
    switch (at) {
    case NO_PROJECT:
        buf_adds(out, "cliq coordinates AI agents and people. There is no project here yet.\n");
        break;
    case NOT_ASSEMBLED:
        buf_addf(out, "The project %s has no team yet.\n", f->project_dir);
        break;
    case NO_REQUIREMENT:
        buf_addf(out, "The project %s has a team, and nothing to do yet.\n", f->project_dir);
        break;
    case NOT_RUN:
        buf_addf(out, "The project %s is ready to run.\n", f->project_dir);
        break;
    case ACTIVE:
        buf_addf(out, "A run is active in %s.\n", f->project_dir);
        break;
    case ASLEEP:
        buf_addf(out, "The run %s sleeps until people answer.\n", run->id);
        break;
    case INTERRUPTED:
        buf_addf(out, "The run %s was interrupted.\n", run->id);
        break;
    case DAMAGED:
        buf_addf(out, "The run %s was interrupted, and its journal is damaged.\n", run->id);
        break;
    case ENDED:
        buf_addf(out, "The last run ended: %s.\n", run_status_name(run->end));
        break;
    }
}

enum status
standing_print(struct err *e)
{
    struct state_dir f = { .dir = -1 };
    struct run_latest run = { 0 };
    struct buf out = { 0 };

    if (state_dir_find(&f, NULL)) /* another user's is none of ours */
        f.dir = -1;
    enum standing at = find_standing(&f, &run);
    tell(&out, at, &f, &run);
    buf_addf(&out, "Next: %s\nAlso: %s\n", steps[at].next, steps[at].more);
    enum status s = cmd_print(&out, e);
    state_dir_close(&f);
    buf_release(&out);
    return s;
}
