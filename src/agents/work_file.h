/*
 * work_file - files that an agent asks us to write, kept inside its working directory.
 *
 * The path is walked from the working directory, one component at a time, and no symbolic link is
 * followed: the file is where its path says, or it is not written. A path with .., one outside of
 * the directory and one below the run's own directory (.cliq/, except .cliq/files/) are refused;
 * the sentence is for the model, so that it can choose another path.
 *
 * A file appears whole: temporary file in its directory, then rename. The mode of an existing file
 * stays; a new one has 0666 and the umask. Missing directories are made.
 *
 * Ownership: the struct owns two paths. Zero can be released.
 *
 * Tests: test/unit/test_work_file.c
 */
#ifndef CLIQ_AGENTS_WORK_FILE_H
#define CLIQ_AGENTS_WORK_FILE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct work_dir {
    char *given, *real;     /* absolute; real without links */
    const char *state_name; /* the run's directory in it, like ".cliq"; borrowed; NULL: none */
};

/* path is absolute. state_dir: the run's directory, absolute, or NULL; it outlives the struct. */
enum status
work_dir_open(struct work_dir *w, const char *path, const char *state_dir, struct err *e);
void work_dir_release(struct work_dir *w);

/* Does the path, which need not exist, lead to a place inside? Links are followed for the answer. A
 * relative path counts from the directory. */
bool work_dir_holds(const struct work_dir *w, const char *path);

/* ST_REFUSED: the path is outside, or no place to write to. ST_INVALID: it is not absolute. */
enum status
work_file_write(const struct work_dir *w, const char *path, const void *p, size_t n, struct err *e);
/* The same for any absolute path: links are followed, as the user may do. */
enum status work_file_write_anywhere(const char *path, const void *p, size_t n, struct err *e);

#endif
