#include "agents/review/review_give.h"

#include "agents/review/review_task.h"
#include "run/lockfile.h"
#include "run/run.h"

bool
review_is_over(const struct state_dir *f, const struct json *doc)
{
    struct run_latest run;
    struct err ignored;

    return run_latest(f, &run, &ignored) != ST_OK || run.has_end ||
           !json_eq(json_get(doc, "run"), run.id);
}

enum status
review_give(const struct state_dir *f, struct arena *a, const char *prefix,
            struct review_answer *given, struct json **doc, struct err *e)
{
    enum status s = review_find(f, a, prefix, doc, e);

    if (s)
        return s;
    const char *id = review_text(a, *doc, "id");
    if (review_is(*doc, "open") && review_is_over(f, *doc))
        return err_set(e, ST_CONFLICT, "%s can no longer be answered: its run has ended", id);
    s = review_answer(f, a, id, given, doc, e);
    if (!s && !review_is(*doc, "open") && !lockfile_is_held(f))
        review_task_close("hug", *doc); /* else the gate's agent does */
    return s;
}
