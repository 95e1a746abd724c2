/*
 * run_list - the runs of a project in one row each: `cliq runs`, GET /runs.
 *
 * A run that did not complete says nothing about how long the work takes: a row compares a
 * completed run with the median of the last five completed ones before it.
 *
 * Tests: test/scenario/pipeline_history.bats test/scenario/serve_runs.bats
 */
#ifndef CLIQ_RUN_RUN_LIST_H
#define CLIQ_RUN_RUN_LIST_H

#include "context/usage.h"
#include "run/history.h"

struct run_row {
    const struct history_run *run;
    char team[128];
    const char *state; /* NULL: it cannot be read */
    char reason[256];  /* why it ended so, or cannot be read */
    int64_t at_ms, ms; /* began, and was active for; at_ms 0: not known */
    size_t done, failed, n;
    bool is_completed;
    struct usage used; /* its texts are gone */
    bool has_median;
    int64_t median_ms;
};

struct run_list {
    struct history history;
    struct run_row *rows; /* newest first */
    size_t n;
    struct buf said; /* problems of their workflows, a line each */
};

/* Release it whatever is returned. */
enum status run_list_load(struct run_list *l, const struct state_dir *project, struct err *e);
void run_list_release(struct run_list *l);

/* Appends one row as a JSON object. With `project` and `path` those members, too. */
void
run_list_json(const struct run_row *row, const char *project, const char *path, struct buf *to);

#endif
