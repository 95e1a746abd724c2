/*
 * agent_files - walks everything below a team's agents/ directory: what is copied to a project, and
 * what trust covers.
 *
 *     agents/analyst/index.js                          a file
 *     agents/analyst/node_modules/.bin/tsc             a link that stays inside agents/: kept
 *     agents/analyst/venv/bin/python -> /usr/bin/...   a link that leads out: refused
 *
 * Package managers make links, so a team may have them. A link that stays inside agents/ means the
 * same in every copy of agents/. One that leads out would mean another file on another machine, and
 * trust could not cover that file. Devices, sockets and pipes are refused, too.
 *
 * The walk opens each name relative to an open directory and follows no link, so it never leaves
 * agents/. Where a link leads is resolved component by component, as the kernel would do it.
 *
 * Tests: test/unit/test_agent_files.c test/scenario/pipeline_links.bats
 */
#ifndef CLIQ_TEAM_AGENT_FILES_H
#define CLIQ_TEAM_AGENT_FILES_H

#include "base/err.h"

#include <sys/stat.h>

#define AGENT_FILES_DEPTH_MAX 64

enum agent_file_kind { AGENT_FILE_DIR, AGENT_FILE_TEXT, AGENT_FILE_LINK };

struct agent_file {
    enum agent_file_kind kind;
    const char *path;   /* "agents/analyst/index.js", relative to the team */
    int fd;             /* of a file, open for reading; else -1. The walk closes it */
    const char *target; /* of a link, as written; else NULL */
    struct stat st;
};

/* A status other than ST_OK ends the walk. */
typedef enum status agent_file_fn(void *ctx, const struct agent_file *f, struct err *e);

/* Calls fn (NULL: only look) for each entry of agents/ in `dir`, sorted by name, a directory before
 * what is in it. No agents/ is fine. ST_REFUSED names a link that leads out or an entry that is
 * neither file, directory nor link. */
enum status agent_files_walk(int dir, agent_file_fn *fn, void *ctx, struct err *e);

#endif
