/*
 * project_list - the projects that this user ran: <config>/projects/<project>.json, one file each.
 *
 *     {"project":"cliq-a1b2c3","path":"/home/ann/shop"}
 *
 * A run notes its project when it begins, with the path as the user knows it ($PWD where that is
 * the same directory). Readers of all runs (GET /runs, the page) find the state directories by it.
 * A project that moved is noted again by its next run; one that is gone is left out.
 *
 * The list is a convenience: a run does not fail when it cannot be written.
 *
 * Tests: test/scenario/serve_runs.bats
 */
#ifndef CLIQ_RUN_PROJECT_LIST_H
#define CLIQ_RUN_PROJECT_LIST_H

#include "base/arena.h"
#include "context/state_dir.h"

struct project_list {
    struct project {
        const char *id, *path; /* "cliq-a1b2c3"; of the directory that has .cliq/ */
    } * projects;
    size_t n, cap;
    struct arena arena;
};

enum status project_list_note(const struct state_dir *f, const char *project, struct err *e);

/* All of them, in the order of their ids; none when nothing ran. Release it whatever is returned.
 */
enum status project_list_read(const char *config, struct project_list *l, struct err *e);
void project_list_release(struct project_list *l);

/* Opens the state directory of a project. ST_NOT_FOUND: not listed, or no longer there. */
enum status
project_list_open(const char *config, const char *project, struct state_dir *out, struct err *e);
/* The same, of the project that a run's id begins with. */
enum status
project_list_open_run(const char *config, const char *run, struct state_dir *out, struct err *e);

#endif
