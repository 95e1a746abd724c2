/* hub check - does the index say what the log says? */
#include "base/json.h"
#include "base/term.h"
#include "cmd/hub_call.h"

#include <inttypes.h>
#include <string.h>

static const struct opt opts[] = {
    HUB_OPTS,
    { 0 },
};

struct findings {
    struct buf out;
    bool is_json;
};

static void
tell(void *ctx, const char *problem)
{
    struct findings *f = ctx;

    if (f->is_json) {
        json_sep(&f->out);
        json_write_str(&f->out, problem, strlen(problem));
        return;
    }
    term_escape(&f->out, problem, strlen(problem), false);
    buf_addc(&f->out, '\n');
}

static enum status
check(struct hub_call *c, struct err *e)
{
    struct findings f = { .is_json = c->is_json };
    uint64_t problems = 0;

    if (f.is_json)
        buf_adds(&f.out, "{\"findings\":[");
    enum status s = hub_check(c->door.hub, tell, &f, &problems, e);
    if (f.is_json)
        buf_addf(&f.out, "],\"problems\":%" PRIu64 "}\n", problems);
    else
        buf_addf(&f.out,
                 problems ? "BAD: %" PRIu64 " problem%s; cliq hub rebuild makes the index "
                            "again\n"
                          : "clean\n",
                 problems, problems == 1 ? "" : "s");
    if (!s)
        s = cmd_print(&f.out, e);
    buf_release(&f.out);
    return s ? s : problems ? ST_FAILED : ST_OK;
}

static enum status
run(const struct args *a, struct err *e)
{
    struct hub_call c;
    enum status s = hub_call_begin(&c, a, e);

    if (!s)
        s = hub_call_files(&c, "hub check", e);
    if (!s)
        s = check(&c, e);
    hub_call_end(&c);
    return s;
}

const struct cmd cmd_hub_check = {
    .name = "hub check",
    .brief = "check the hub's log and its index against each other",
    .about =
        "Reads the whole log, folds it anew and compares the result with the index; tells each\n"
        "difference. Bad lines are told by cliq fsck. Nothing is changed. Exit code 1: problems.",
    .examples = "cliq hub check",
    .opts = opts,
    .run = run,
};
