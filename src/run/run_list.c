#include "run/run_list.h"

#include "base/clock.h"
#include "base/json.h"
#include "run/run_picture.h"

#include <stdio.h>
#include <stdlib.h>

enum { COMPARED = 5 }; /* completed runs before, whose median duration a run is compared with */

static void
fill(struct run_row *row, const struct run_picture *p)
{
    const char *why = replay_reason(&p->replay), *team = p->replay.head.team;

    row->state = run_picture_state(p);
    row->at_ms = p->replay.head.at_ms;
    row->ms = run_picture_ms(p);
    row->used = run_picture_usage(p);
    row->used.model = row->used.session_id = NULL;
    row->n = p->workflow.team.n_phases;
    row->is_completed = p->replay.head.has_end && p->replay.head.end == RUN_COMPLETED;
    snprintf(row->reason, sizeof row->reason, "%s", why ? why : "");
    snprintf(row->team, sizeof row->team, "%s", team ? team : "");
    for (size_t i = 0; i < row->n; i++) {
        row->done += replay_phase(&p->replay, i)->state == PS_DONE;
        row->failed += replay_phase(&p->replay, i)->state == PS_FAILED;
    }
}

static void
look(const struct state_dir *project, struct run_row *row, struct buf *said)
{
    struct state_dir f;
    struct run_picture p;
    struct err e = { "" };
    bool is_present;
    enum status s = history_open(project, row->run->id, &f, &is_present, &e);

    if (!s) {
        s = run_picture_load(&p, &f, &e);
        if (!s)
            fill(row, &p);
        buf_add(said, p.workflow.said.p, p.workflow.said.len);
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

static void
compare(struct run_row *rows, size_t n)
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

enum status
run_list_load(struct run_list *l, const struct state_dir *project, struct err *e)
{
    *l = (struct run_list){ 0 };
    enum status s = history_list(project, &l->history, e);
    if (!s && !(l->rows = calloc(l->history.n + 1, sizeof *l->rows)))
        s = err_nomem(e);
    for (size_t i = 0; !s && i < l->history.n; i++) {
        l->rows[i].run = &l->history.runs[i];
        look(project, &l->rows[i], &l->said);
        l->n++;
    }
    if (!s)
        compare(l->rows, l->n);
    return s;
}

void
run_list_release(struct run_list *l)
{
    free(l->rows);
    history_release(&l->history);
    buf_release(&l->said);
    *l = (struct run_list){ 0 };
}

void
run_list_json(const struct run_row *row, const char *project, const char *path, struct buf *to)
{
    char text[CLOCK_ISO_SIZE];

    json_open(to, '{');
    json_key_str(to, "run", row->run->id);
    if (project) {
        json_key_str(to, "project", project);
        json_key_str(to, "path", path);
    }
    if (*row->team)
        json_key_str(to, "team", row->team);
    json_key_bool(to, "is_present", row->run->is_present);
    if (row->at_ms)
        json_key_str(to, "started", clock_iso_ms(text, row->at_ms));
    json_key_str(to, "status", row->state ? row->state : "UNREADABLE");
    if (*row->reason)
        json_key_str(to, "reason", row->reason);
    if (row->state) {
        json_key_int(to, "duration_ms", row->ms);
        json_key_int(to, "phases", (int64_t)row->n);
        json_key_int(to, "done", (int64_t)row->done);
        json_key_int(to, "failed", (int64_t)row->failed);
    }
    if (row->has_median)
        json_key_int(to, "median_ms", row->median_ms);
    usage_key_json(to, "usage", &row->used);
    json_close(to, '}');
}
