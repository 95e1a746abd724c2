/*
 * tree - removes what is in a directory, however deep. Links are removed, not followed.
 *
 * Tests: test/cli/team_install.bats test/scenario/pipeline_project.bats
 */
#ifndef CLIQ_BASE_TREE_H
#define CLIQ_BASE_TREE_H

#include "base/err.h"

#define TREE_DEPTH_MAX 64

/* Removes what is in the open directory, not the directory; `path` names it in errors. */
enum status tree_empty(int dir, const char *path, struct err *e);
/* Removes the directory `name` of `dir` with all that is in it. None is fine. */
enum status tree_remove(int dir, const char *name, struct err *e);

#endif
