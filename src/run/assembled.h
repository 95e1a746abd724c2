/*
 * assembled - which directory the project's team was assembled from, and whether the team was
 * changed there since. Runs use the copy in .cliq/, so a change counts only after `cliq assemble`.
 *
 *     .cliq/run/assembled.json   {"from":"/home/eve/team","newest_ms":1795129104856}
 *
 * newest_ms is the newest time of a file of the team when it was assembled. A file that is older
 * now, or gone, is not noticed. Without the file, or the directory, nothing is known.
 *
 * Tests: test/scenario/pipeline_project.bats
 */
#ifndef CLIQ_RUN_ASSEMBLED_H
#define CLIQ_RUN_ASSEMBLED_H

#include "context/state_dir.h"

#include <stdint.h>

/* The newest time in the team's directory; 0: none. Looked up before the team is copied. */
int64_t assembled_newest(const char *dir);
/* Records it. dir NULL: the team came from elsewhere, and nothing is recorded. */
enum status
assembled_write(const struct state_dir *f, const char *dir, int64_t newest_ms, struct err *e);
/* Appends the path of a file that was changed, and `dir`; false: none is known to be. */
bool assembled_find_change(const struct state_dir *f, struct buf *path, struct buf *dir);

#endif
