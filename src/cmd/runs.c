/* runs - the runs of this project, the present one and those before it. */
#include "base/clock.h"
#include "base/table.h"
#include "base/term.h"
#include "cmd/cmd.h"
#include "run/live_view.h"
#include "run/run_list.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct opt opts[] = {
    { "json", OPT_FLAG, NULL, "print JSON" },
    { 0 },
};

static double
change_of(const struct run_row *row)
{
    return row->median_ms ? 100.0 * (double)(row->ms - row->median_ms) / (double)row->median_ms : 0;
}

static void
write_json(const struct run_list *l, struct buf *out)
{
    json_open(out, '[');
    for (size_t i = 0; i < l->n; i++) {
        json_sep(out);
        run_list_json(&l->rows[i], NULL, NULL, out);
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
add_row(struct table *t, const struct run_row *row, struct runs_columns has)
{
    char text[96];
    struct buf ms = { 0 };
    const char *state = row->state ? row->state : "UNREADABLE";
    const char *id = shown_id(row->run->id, has.is_tty);

    table_cell(t, id, strlen(id));
    *text = '\0';
    if (row->at_ms && has.is_tty)
        clock_near(text, row->at_ms, clock_wall_ns() / 1000000);
    else if (row->at_ms)
        clock_iso_ms(text, row->at_ms);
    table_cell(t, text, row->at_ms && !has.is_tty ? 10 : strlen(text)); /* the date */
    if (!has.is_tty)
        table_cell(t, *text ? text + 11 : "", *text ? 8 : 0);
    table_cell(t, state, strlen(state));
    if (row->state)
        live_view_elapsed(&ms, row->ms);
    table_cell(t, ms.p ? ms.p : "", ms.len);
    int len = row->has_median ? snprintf(text, sizeof text, "%+.0f %%", change_of(row)) : 0;
    if (has.has_change)
        table_cell(t, text, (size_t)len);
    len = row->state ? snprintf(text, sizeof text, "%zu of %zu done", row->done, row->n) : 0;
    if (row->failed && !has.is_tty) /* OUTCOME and WHY tell it, too */
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
write_text(const struct run_row *rows, size_t n, struct buf *out)
{
    bool is_tty = term_is_tty(STDOUT_FILENO);
    const char *const head[] = {
        "RUN", is_tty ? "BEGAN" : "DATE", "TIME", "OUTCOME", "TOOK", "CHANGE", "PHASES", "USED",
        "WHY"
    };
    enum { COLUMNS = sizeof head / sizeof *head, TIME = 2, CHANGE = 5, USED = 7 };
    struct runs_columns has = { .is_tty = is_tty, .has_change = !is_tty };

    for (size_t i = 0; i < n; i++) {
        has.has_change = has.has_change || rows[i].has_median;
        has.has_usage = has.has_usage || !usage_is_zero(&rows[i].used);
    }
    struct table t = { .columns = COLUMNS - is_tty - !has.has_change - !has.has_usage };
    for (size_t i = 0; i < COLUMNS; i++)
        if ((!is_tty || i != TIME) && (has.has_change || i != CHANGE) &&
            (has.has_usage || i != USED))
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
    struct run_list l = { 0 };
    struct buf out = { 0 };
    enum status s = state_dir_find(&f, e);

    if (!s)
        s = run_list_load(&l, &f, e);
    if (l.said.len)
        fputs(l.said.p, stderr);
    if (!s) {
        if (args_has(a, "json"))
            write_json(&l, &out);
        else if (l.n)
            write_text(l.rows, l.n, &out);
        else
            buf_adds(&out, "nothing has run here yet: cliq run\n");
        s = cmd_print(&out, e);
    }
    run_list_release(&l);
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
        "list leaves that part out, and BEGAN stands for DATE and TIME.\n"
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
