/* runs - the runs of this project, the present one and those before it. */
#include "base/clock.h"
#include "base/table.h"
#include "base/term.h"
#include "cmd/cmd.h"
#include "cmd/lib/workflow_tell.h"
#include "run/history.h"
#include "run/live_view.h"
#include "run/run_picture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COMPARED = 5 }; /* completed runs before, whose median duration a run is compared with */

static const struct opt opts[] = {
    { "json", OPT_FLAG, NULL, "print JSON" },
    { 0 },
};

/* One line of the list. */
struct runs_row {
    const struct history_run *run;
    const char *state; /* NULL: it cannot be read */
    char reason[256];  /* why it ended so, or cannot be read */
    int64_t at_ms, ms; /* began, and was active for; at_ms 0: not known */
    size_t done, failed, n;
    bool is_completed;
    struct usage used; /* its texts are gone */
    bool has_median;
    int64_t median_ms;
};

static void
look(const struct state_dir *project, struct runs_row *row)
{
    struct state_dir f;
    struct run_picture p;
    struct err e = { "" };
    bool is_present;
    enum status s = history_open(project, row->run->id, &f, &is_present, &e);

    if (!s) {
        s = run_picture_load(&p, &f, &e);
        if (!s) {
            const char *why = replay_reason(&p.replay);
            row->state = run_picture_state(&p);
            row->at_ms = p.replay.head.at_ms;
            row->ms = run_picture_ms(&p);
            row->used = run_picture_usage(&p);
            row->used.model = row->used.session_id = NULL;
            row->n = p.workflow.team.n_phases;
            row->is_completed = p.replay.head.has_end && p.replay.head.end == RUN_COMPLETED;
            snprintf(row->reason, sizeof row->reason, "%s", why ? why : "");
            for (size_t i = 0; i < row->n; i++) {
                row->done += replay_phase(&p.replay, i)->state == PS_DONE;
                row->failed += replay_phase(&p.replay, i)->state == PS_FAILED;
            }
        }
        workflow_tell(&p.workflow);
        run_picture_release(&p);
        state_dir_close(&f);
    }
    if (s)
        snprintf(row->reason, sizeof row->reason, "%.*s", (int)sizeof row->reason - 1, e.text);
}

static int
compare_ms(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

/* A run that did not complete says nothing about how long the work takes. */
static void
compare(struct runs_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int64_t ms[COMPARED] = { 0 };
        size_t k = 0;
        for (size_t j = i + 1; j < n && k < COMPARED; j++)
            if (rows[j].is_completed)
                ms[k++] = rows[j].ms;
        qsort(ms, k, sizeof *ms, compare_ms);
        rows[i].has_median = rows[i].is_completed && k > 0;
        if (k)
            rows[i].median_ms = k % 2 ? ms[k / 2] : (ms[k / 2 - 1] + ms[k / 2]) / 2;
    }
}

static double
change_of(const struct runs_row *row)
{
    return row->median_ms ? 100.0 * (double)(row->ms - row->median_ms) / (double)row->median_ms : 0;
}

static void
key_usage(struct buf *out, const struct usage *u)
{
    struct arena a = { 0 };

    if (!usage_is_zero(u))
        json_key_json(out, "usage", usage_json(&a, u));
    arena_release(&a);
}

static void
write_json(const struct runs_row *rows, size_t n, struct buf *out)
{
    char text[CLOCK_ISO_SIZE];

    json_open(out, '[');
    for (size_t i = 0; i < n; i++) {
        const struct runs_row *row = &rows[i];
        json_sep(out);
        json_open(out, '{');
        json_key_str(out, "run", row->run->id);
        json_key_bool(out, "is_present", row->run->is_present);
        if (row->at_ms)
            json_key_str(out, "started", clock_iso_ms(text, row->at_ms));
        json_key_str(out, "status", row->state ? row->state : "UNREADABLE");
        if (*row->reason)
            json_key_str(out, "reason", row->reason);
        if (row->state) {
            json_key_int(out, "duration_ms", row->ms);
            json_key_int(out, "phases", (int64_t)row->n);
            json_key_int(out, "done", (int64_t)row->done);
            json_key_int(out, "failed", (int64_t)row->failed);
        }
        if (row->has_median)
            json_key_int(out, "median_ms", row->median_ms);
        key_usage(out, &row->used);
        json_close(out, '}');
    }
    json_close(out, ']');
    buf_addc(out, '\n');
}

/* The columns that some lists do not have. */
struct runs_columns {
    bool is_tty; /* what all rows share leaves room for what differs */
    bool has_change, has_usage;
};

/* On a terminal without the project's part, which all of them share and --run does not need. */
static const char *
shown_id(const char *id, bool is_tty)
{
    const char *dash = is_tty ? strrchr(id, '-') : NULL;

    return dash && dash[1] ? dash + 1 : id;
}

static void
add_row(struct table *t, const struct runs_row *row, struct runs_columns has)
{
    char text[96];
    struct buf ms = { 0 };
    const char *state = row->state ? row->state : "UNREADABLE";
    const char *id = shown_id(row->run->id, has.is_tty);

    table_cell(t, id, strlen(id));
    if (row->at_ms)
        clock_iso_ms(text, row->at_ms);
    table_cell(t, text, row->at_ms ? 10 : 0); /* the date */
    table_cell(t, text + 11, !row->at_ms ? 0 : has.is_tty ? 5 : 8);
    table_cell(t, state, strlen(state));
    if (row->state)
        live_view_elapsed(&ms, row->ms);
    table_cell(t, ms.p ? ms.p : "", ms.len);
    int len = row->has_median ? snprintf(text, sizeof text, "%+.0f %%", change_of(row)) : 0;
    if (has.has_change)
        table_cell(t, text, (size_t)len);
    len = row->state ? snprintf(text, sizeof text, "%zu of %zu done", row->done, row->n) : 0;
    if (row->failed)
        len += snprintf(text + len, sizeof text - (size_t)len, ", %zu failed", row->failed);
    table_cell(t, text, (size_t)len);
    buf_reset(&ms);
    usage_show_short(&ms, &row->used);
    if (has.has_usage)
        table_cell(t, ms.p ? ms.p : "", ms.len);
    table_cell(t, row->reason, strlen(row->reason));
    buf_release(&ms);
}

static void
write_text(const struct runs_row *rows, size_t n, struct buf *out)
{
    static const char *const head[] = { "RUN",    "DATE",   "TIME", "OUTCOME", "TOOK",
                                        "CHANGE", "PHASES", "USED", "WHY" };
    enum { COLUMNS = sizeof head / sizeof *head, CHANGE = 5, USED = 7 };
    bool is_tty = term_is_tty(STDOUT_FILENO);
    struct runs_columns has = { .is_tty = is_tty, .has_change = !is_tty };

    for (size_t i = 0; i < n; i++) {
        has.has_change = has.has_change || rows[i].has_median;
        has.has_usage = has.has_usage || !usage_is_zero(&rows[i].used);
    }
    struct table t = { .columns = COLUMNS - !has.has_change - !has.has_usage };
    for (size_t i = 0; i < COLUMNS; i++)
        if ((has.has_change || i != CHANGE) && (has.has_usage || i != USED))
            table_cell(&t, head[i], strlen(head[i]));
    for (size_t i = 0; i < n; i++)
        add_row(&t, &rows[i], has);
    table_write(&t, out, is_tty ? term_width(STDOUT_FILENO) - 1 : 0, term_has_color(STDOUT_FILENO));
    table_release(&t);
}

static enum status
run(const struct args *a, struct err *e)
{
    struct state_dir f = { .dir = -1 };
    struct history h = { 0 };
    struct buf out = { 0 };
    struct runs_row *rows = NULL;
    enum status s = state_dir_find(&f, e);

    if (!s)
        s = history_list(&f, &h, e);
    if (!s && !(rows = calloc(h.n + 1, sizeof *rows)))
        s = err_nomem(e);
    for (size_t i = 0; !s && i < h.n; i++) {
        rows[i].run = &h.runs[i];
        look(&f, &rows[i]);
    }
    if (!s) {
        compare(rows, h.n);
        if (args_has(a, "json"))
            write_json(rows, h.n, &out);
        else if (h.n)
            write_text(rows, h.n, &out);
        else
            buf_adds(&out, "nothing has run here yet: cliq run\n");
        s = cmd_print(&out, e);
    }
    free(rows);
    history_release(&h);
    state_dir_close(&f);
    buf_release(&out);
    return s;
}

const struct cmd cmd_runs = {
    .name = "runs",
    .brief = "list the runs of this project, newest first",
    .about =
        "The first is the present run, the others are in .cliq/runs/, each with its journal, "
        "logs,\n"
        "handoffs, prompts and verdicts. A run goes there when the next one begins; the setting\n"
        "runs.keep says how many are kept (20). cliq retry, --from and --resume go on with the\n"
        "present run. cliq status, log and graph show an earlier run with --run ID, where ID is "
        "the\n"
        "begin of its id, with or without the project's part (cliq-a1b2c3-); on a terminal the\n"
        "list leaves that part out.\n"
        "\n"
        "USED is what its models cost, or their tokens where a price is not known.\n"
        "TOOK is the time in which the run was active. CHANGE compares it with the median of the\n"
        "last five completed runs before it. Times are UTC.",
    .examples = "cliq runs\n"
                "cliq runs --json\n"
                "cliq status --run 18af03d2\n"
                "cliq log build --run 18af03d2",
    .opts = opts,
    .run = run,
};
