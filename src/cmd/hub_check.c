/* hub check - does the index say what the log says? */
#include "base/json.h"
#include "base/term.h"
#include "cmd/lib/hub_call.h"

#include <inttypes.h>
#include <string.h>

static const struct opt opts[] = {
    HUB_FILES_OPTS,
    { 0 },
};

struct check_findings {
    struct buf out;
    bool is_json;
    uint64_t bad_lines, differences;
};

static void
tell(void *ctx, const struct hub_finding *f)
{
    struct check_findings *to = ctx;
    const char *level = f->is_note ? "note" : "error";

    if (f->file)
        to->bad_lines += !f->is_note;
    else
        to->differences += !f->is_note;
    if (to->is_json) {
        json_sep(&to->out);
        json_open(&to->out, '{');
        if (f->file) {
            json_key_str(&to->out, "file", f->file);
            json_key_int(&to->out, "line", (int64_t)f->line);
        }
        json_key_str(&to->out, "level", level);
        json_key_str(&to->out, "reason", f->reason);
        json_close(&to->out, '}');
        return;
    }
    if (f->file)
        buf_addf(&to->out, "%s:%" PRIu64 ": ", f->file, f->line);
    else
        buf_adds(&to->out, "index: ");
    buf_addf(&to->out, "%s: ", level);
    term_escape(&to->out, f->reason, strlen(f->reason), false);
    buf_addc(&to->out, '\n');
}

static void
add_verdict(struct check_findings *f)
{
    if (!f->bad_lines && !f->differences) {
        buf_adds(&f->out, "clean\n");
        return;
    }
    buf_adds(&f->out, "BAD:");
    if (f->bad_lines)
        buf_addf(&f->out, " %" PRIu64 " bad line%s, which every reader passes over%s", f->bad_lines,
                 f->bad_lines == 1 ? "" : "s", f->differences ? ";" : "");
    if (f->differences)
        buf_addf(&f->out, " %" PRIu64 " difference%s; cliq hub rebuild makes the index again",
                 f->differences, f->differences == 1 ? "" : "s");
    buf_addc(&f->out, '\n');
}

static enum status
check(struct hub_call *c, const struct args *a, struct err *e)
{
    (void)a;
    struct check_findings f = { .is_json = c->is_json };
    uint64_t problems = 0;

    c->bad_told = UINT64_MAX; /* we tell it ourselves */
    if (f.is_json)
        buf_adds(&f.out, "{\"findings\":[");
    enum status s = hub_check(c->hub.hub, tell, &f, &problems, e);
    if (f.is_json)
        buf_addf(&f.out,
                 "],\"bad_lines\":%" PRIu64 ",\"differences\":%" PRIu64 ",\"problems\":%" PRIu64
                 "}\n",
                 f.bad_lines, f.differences, problems);
    else
        add_verdict(&f);
    if (!s)
        s = cmd_print(&f.out, e);
    buf_release(&f.out);
    return s ? s : problems ? ST_FAILED : ST_OK;
}

static enum status
run(const struct args *a, struct err *e)
{
    return hub_run_files("hub check", check, a, e);
}

const struct cmd cmd_hub_check = {
    .name = "hub check",
    .brief = "check the hub's log and its index against each other",
    .about =
        "Reads the whole log and tells each line that is no record, with its number and the "
        "reason\n"
        "(as cliq fsck does); a fragment that a crash left behind is a note, not a problem. Then\n"
        "folds the log anew and compares the result with the index; tells each difference. "
        "Nothing\n"
        "is changed, but for an index that cannot be read at all, which is made anew first. "
        "Others\n"
        "may go on meanwhile: what they write is not looked at. Exit code 1: problems.",
    .examples = "cliq hub check\n"
                "cliq hub check --json | jq .bad_lines",
    .opts = opts,
    .run = run,
};
