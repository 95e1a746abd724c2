#include "run/workflow.h"

enum status
workflow_check(struct workflow *w, const struct state_dir *f, struct err *e)
{
    enum status s = ST_OK;

    team_validate(&w->team, f->dir, f->state_dir, &w->problems);
    if (w->problems.errors) {
        problems_write(&w->said, &w->problems);
        s = err_set(e, ST_FAILED, "the workflow has %zu error%s", w->problems.errors,
                    w->problems.errors == 1 ? "" : "s");
    }
    return s;
}

/* A phase without a name is loaded, so that validation can report it. */
static bool
has_names(const struct team *t)
{
    size_t i = 0;

    while (i < t->n_phases && t->phases[i].name)
        i++;
    return i == t->n_phases;
}

enum status
workflow_load(struct workflow *w, const struct state_dir *f, struct err *e)
{
    *w = (struct workflow){ 0 };
    enum status s = team_load_file(&w->team, f->dir, "workflow.yml", &w->problems, e);

    if (s == ST_NOT_FOUND)
        return err_set(e, ST_NOT_FOUND, "nothing is assembled yet: cliq assemble TEAM");
    if (w->problems.errors || (!s && !has_names(&w->team)))
        s = workflow_check(w, f, e);
    return s;
}

void
workflow_release(struct workflow *w)
{
    team_release(&w->team);
    problems_release(&w->problems);
    buf_release(&w->said);
}
