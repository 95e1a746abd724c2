/*
 * checkout - the project that a file belongs to, and its path there.
 *
 * Leases of files are about files of a project, not of a directory: two checkouts of one project
 * agree on what overlaps, and two projects never do. The nearest of these at or above a directory
 * names the project:
 *
 *     .git         git:example.org/team/web     its remote "origin", without scheme, user and .git;
 *                                               an origin on this machine is looked up there
 *                  git:/srv/web/.git            without a remote: the common git directory, which
 *                                               all worktrees share
 *     .cliq/cliq.id   cliq-a1b2c3               without a repository: the id of the cliq project
 *     (neither)    dir:/home/ann/notes          the directory itself
 *
 * Reads files only; starts no git.
 *
 *     struct checkout c;
 *     enum status s = checkout_find(&c, dir, &arena, e);
 *     if (!s)
 *         s = checkout_path(&c, dir, "src/main.c", &arena, &path, e);
 *
 * Tests: test/unit/test_checkout.c
 */
#ifndef CLIQ_CONTEXT_CHECKOUT_H
#define CLIQ_CONTEXT_CHECKOUT_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>

struct checkout {
    const char *project;
    const char *root; /* absolute, without links */
};

/* dir: absolute or relative; it must exist. */
enum status checkout_find(struct checkout *c, const char *dir, struct arena *a, struct err *e);

/* The path below the root, in the normal form of base/path_glob.h: the root is "**". `text`
 * is relative to dir, or absolute; links are followed as far as the path exists. A text that is a
 * file's name, and every text with is_literal, is escaped; else *, ?, [] and ** are a pattern. A
 * directory, and what ends with a /, means all that is below. ST_INVALID: outside the root. */
enum status checkout_path(const struct checkout *c, const char *dir, const char *text,
                          bool is_literal, struct arena *a, const char **out, struct err *e);

/* For a file that is to be written: the project of its directory, which need not exist yet, and its
 * path there. */
enum status checkout_of_file(struct checkout *c, const char *dir, const char *file, struct arena *a,
                             const char **path, struct err *e);

#endif
