/*
 * watch - change notification for a directory, by inotify or polling.
 *
 * When `fd` becomes readable, call watch_drain and then read the directory: an
 * event is only a hint, so a lost event (queue overflow) does no harm. The
 * directory need not exist: until it does, its nearest existing ancestor is
 * watched. Where inotify does not work (network file systems, no instances
 * left), `fd` is a timer that fires every WATCH_POLL_MS.
 *
 * Order of calls: one of the watch_open functions, then watch_drain after each
 * event, watch_close.
 *
 * Tests: test/unit/test_watch.c
 */
#ifndef CLIQ_BASE_WATCH_H
#define CLIQ_BASE_WATCH_H

#include "base/err.h"

#include <stdbool.h>

#define WATCH_POLL_MS 3000

struct watch {
    int fd;
    char *path;      /* the directory, as given; a copy */
    char *name;      /* the only file watched; NULL: all files */
    bool is_writes;  /* opened by watch_open_writes */
    bool is_polling; /* fd is a timer */
    bool is_aimed;   /* the directory itself is watched, not an ancestor */
    int wd;          /* inotify watch of the directory */
    int parent_wd;   /* inotify watch of its parent; -1: none */
    int file_wd;     /* inotify watch of the file; -1: none */
    int last_wd;     /* the highest watch descriptor; they count from 1 */
    bool is_stopped; /* by watch_stop */
};

enum status watch_open(struct watch *w, const char *path, struct err *e);
/* Watches one file of the directory: writes to other files cause no event. */
enum status watch_open_file(struct watch *w, const char *path, const char *name, struct err *e);
/* Watches only writes to files of the directory and files moved into it. Fewer events, because each
 * wakes this process and delays the writer. Writes through mmap and new hard links cause none. */
enum status watch_open_writes(struct watch *w, const char *path, struct err *e);
/* Ends the notification. watch_close waits 15 ms or more until the kernel has removed the watches;
 * after a watch_stop some 5 ms earlier it returns at once. */
void watch_stop(struct watch *w);
void watch_close(struct watch *w); /* safe on a zeroed struct with fd -1 */
/* Reads and discards the events; never blocks. */
void watch_drain(struct watch *w);
/* The same, and calls fn for each changed file; name NULL: any file may have changed. */
typedef void watch_fn(void *ctx, const char *name);
void watch_drain_names(struct watch *w, watch_fn *fn, void *ctx);

#endif
