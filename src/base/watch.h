/*
 * watch - tells when something in a directory changed.
 *
 * A hint, never a log: after watch_fd became readable, call watch_drain and
 * look for yourself. So an overflowing inotify queue costs nothing. The
 * directory need not exist: until it does, its nearest existing ancestor is
 * watched. Where inotify cannot work (network file systems, no instances
 * left), the descriptor is a timer that says "look" every WATCH_POLL_MS.
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
    char *name;      /* the one file of it that counts; NULL: all do */
    bool is_writes;  /* only what is written counts */
    bool is_polling; /* fd is a timer */
    bool is_aimed;   /* it is the directory itself that is watched: */
    int wd;          /* by this inotify watch */
    int file_wd;     /* that of the file; -1: there is none */
    int last_wd;     /* they are numbered from 1 on */
    bool is_stopped;
};

enum status watch_open(struct watch *w, const char *path, struct err *e);
/* One file of the directory: what is written to others beside it does not wake us. */
enum status watch_open_file(struct watch *w, const char *path, const char *name, struct err *e);
/* Only what is written into its files, and files that are moved there: each event wakes us and
 * holds up the writer, and that a file was made or closed tells nothing more. What is written
 * through a mapping, or linked there, is not told. */
enum status watch_open_writes(struct watch *w, const char *path, struct err *e);
/* Nothing more is told. Closing waits for the kernel to forget what is watched, 15 ms and more;
 * one that was stopped some 5 ms before closes at once. */
void watch_stop(struct watch *w);
void watch_close(struct watch *w); /* safe on a zeroed struct with fd -1 */
/* Swallows what is readable on the descriptor; never blocks. */
void watch_drain(struct watch *w);
/* The same, and names each file to look at; NULL: any may have changed. */
typedef void watch_fn(void *ctx, const char *name);
void watch_drain_names(struct watch *w, watch_fn *fn, void *ctx);

#endif
