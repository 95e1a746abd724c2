/*
 * watch_group - change notification for many files with one descriptor.
 *
 * base/watch.h watches one directory, with an inotify instance of its own; a user has 128 of them.
 * A group needs one for all of its files. When `fd` becomes readable, call watch_group_drain and
 * look at the files that it names: an event is only a hint. Where inotify does not work (network
 * file systems, no instances left), `fd` is a timer that fires every WATCH_POLL_MS, and every file
 * may have changed.
 *
 * A file that is replaced or removed is told once more; then it must be added again.
 *
 * Tests: test/unit/test_watch_group.c
 */
#ifndef CLIQ_BASE_WATCH_GROUP_H
#define CLIQ_BASE_WATCH_GROUP_H

#include "base/err.h"

#include <stdbool.h>

#define WATCH_GROUP_ANY (-1) /* any file may have changed */

struct watch_group {
    int fd;
    bool is_polling; /* fd is a timer */
};

enum status watch_group_open(struct watch_group *g, struct err *e);
void watch_group_close(struct watch_group *g); /* safe on a zeroed struct with fd -1, and twice */

/* Watches writes to a file, or (is_dir) files that come into or leave a directory. *id names it in
 * watch_group_drain; WATCH_GROUP_ANY where the group polls. */
enum status
watch_group_add(struct watch_group *g, const char *path, bool is_dir, int *id, struct err *e);
/* Ends the watch of a file. */
void watch_group_drop(struct watch_group *g, int id);
/* Takes the events, and calls fn for each file that changed, maybe more than once, or once with
 * WATCH_GROUP_ANY. Never blocks. */
void watch_group_drain(struct watch_group *g, void (*fn)(void *ctx, int id), void *ctx);

#endif
