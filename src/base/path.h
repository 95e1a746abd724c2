/*
 * path - names from outside, and directories that they cannot leave.
 *
 * A name that came from a user, a message or a file becomes a path only
 * through these calls: checked against one alphabet, then opened below an
 * open directory with no symbolic link followed.
 *
 * Tests: test/unit/test_path.c
 */
#ifndef CLIQ_BASE_PATH_H
#define CLIQ_BASE_PATH_H

#include "base/buf.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#define PATH_NAME_MAX 64

/* [A-Za-z0-9._-]{1,64}, not starting with '.' or '-': rooms, roles, agents, identities. */
bool path_is_name(const char *s);
/* The same with a sentence; `what` is "room name". */
enum status path_check_name(const char *what, const char *s, struct err *e);

/* Opens the directory `path` (a path the user gave: links are followed), creating
 * it and its parents (0700) when asked. *fd is the caller's, close-on-exec.
 * ST_NOT_FOUND when it is not there. */
enum status path_open_dir(const char *path, bool create, int *fd, struct err *e);

/* The directory `name` in `dir`: a single component, no link followed. What was
 * created is durable: the parent is synced. */
enum status path_open_dir_at(int dir, const char *name, bool create, int *fd, struct err *e);

/* The whole regular file `path` (relative to `dir`) appended to `to`, whose ceiling
 * is the limit. ST_NOT_FOUND when there is none. */
enum status path_read_file(int dir, const char *path, struct buf *to, struct err *e);

/* What a failed open of the directory `name` in `dir` means, from errno, told with its path. */
enum status path_dir_failed(int dir, const char *name, struct err *e);
/* Where `name` in `dir` is, for sentences; name NULL: where dir itself is. What cannot be found
 * out is left away. Keeps errno. */
const char *path_told(int dir, const char *name, char to[PATH_MAX]);

/* ST_INVALID unless it is a regular file; the sentence tells what `what` is instead. */
enum status path_check_regular(const struct stat *st, const char *what, struct err *e);
/* What a failed open of `path` means, from errno: ST_NOT_FOUND; ST_INVALID that says what
 * stands there when it is of the wrong kind; else as err_sys. `what` names it in sentences. */
enum status path_open_failed(int dir, const char *path, const char *what, struct err *e);

/* The rest of what `fd` gives, a pipe or terminal too, appended to `to`, whose ceiling is
 * the limit. `what` names it in sentences: "the body on standard input". */
enum status path_read_fd(int fd, const char *what, struct buf *to, struct err *e);

/*
 * The nearest directory called `name` in the working directory or above it that
 * belongs to this user: projects are found from anywhere inside them, and a
 * directory that somebody else left in /tmp is not taken for one.
 * ST_NOT_FOUND when there is none. `to` receives the path.
 */
enum status path_find_up(const char *name, struct buf *to, struct err *e);

/* $CLIQ_HOME, else ~/.cliqrc. ST_INVALID when there is no home. */
enum status path_config(struct buf *to, struct err *e);

#endif
