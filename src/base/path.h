/*
 * path - checked names, and files opened below a directory.
 *
 * A name from a user, a message or a file is checked against one alphabet and
 * then opened relative to an open directory without following symbolic links,
 * so it cannot leave that directory.
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
/* The same with an error message; `what` is for example "room name". */
enum status path_check_name(const char *what, const char *s, struct err *e);

/* Opens the directory `path`, which the user gave: links are followed. `create` makes it and its
 * parents, mode 0700. The caller owns *fd, which is close-on-exec. ST_NOT_FOUND: no such
 * directory. */
enum status path_open_dir(const char *path, bool create, int *fd, struct err *e);

/* Opens the directory `name` in `dir`: a single component, no link followed. A created directory is
 * durable: the parent is synced. */
enum status path_open_dir_at(int dir, const char *name, bool create, int *fd, struct err *e);

/* Appends the regular file `path` (relative to `dir`) to `to`, up to the buf's limit.
 * ST_NOT_FOUND: no such file. */
enum status path_read_file(int dir, const char *path, struct buf *to, struct err *e);

/* Status and error message of a failed open of the directory `name` in `dir`, from errno. */
enum status path_dir_failed(int dir, const char *name, struct err *e);
/* The absolute path of `name` in `dir`, for error messages; name NULL: of dir itself. Returns
 * `name` when the path is unknown. Keeps errno. */
const char *path_told(int dir, const char *name, char to[PATH_MAX]);

/* ST_INVALID unless st is a regular file; the message names its type. `what` names the file. */
enum status path_check_regular(const struct stat *st, const char *what, struct err *e);
/* Status and error message of a failed open of `path`, from errno: ST_NOT_FOUND, ST_INVALID for a
 * file of the wrong type, else as err_sys. `what` names the file in the message. */
enum status path_open_failed(int dir, const char *path, const char *what, struct err *e);

/* Appends the rest of `fd` (a file, pipe or terminal) to `to`, up to the buf's limit. `what` names
 * it in the error message: "the body on standard input". */
enum status path_read_fd(int fd, const char *what, struct buf *to, struct err *e);

/*
 * Finds the nearest directory `name` in the working directory or above it, so
 * that commands work anywhere inside a project. Skips directories of other
 * users, for example in /tmp. `to` receives the path. ST_NOT_FOUND: none.
 */
enum status path_find_up(const char *name, struct buf *to, struct err *e);

/* The directory of cliq's own files: $CLIQ_HOME, else ~/.cliqrc. ST_INVALID: $HOME is not set. */
enum status path_config(struct buf *to, struct err *e);

#endif
