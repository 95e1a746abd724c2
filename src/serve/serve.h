/*
 * serve - the hub over HTTP: `cliq serve`.
 *
 * One thread with a loop does it all, except what must wait for the store: that is the worker's.
 *
 *     net/server -> dispatch -> route, admission, auth, rate
 *                       |-> job -> rounds -> hub_writer (or worker) -> reply
 *                       '-> stream           claim_waiters, presence, respawn: told after a commit
 *
 * The server holds nothing that is not in the store: it may be killed at any moment.
 *
 * Tests: test/scenario/serve*.bats test/scenario/hub_race.bats test/scenario/hub_checker.bats
 */
#ifndef CLIQ_SERVE_SERVE_H
#define CLIQ_SERVE_SERVE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct serve_options {
    const char *config;             /* the directory */
    const char *const *listen;      /* TCP addresses, NULL-ended; NULL: 127.0.0.1:3000 */
    const char *const *unix_paths;  /* NULL-ended or NULL */
    const char *const *extra_hosts; /* host names to accept besides our own */
    bool allows_elsewhere;          /* addresses that are not loopback */
    bool refuses_tokens;            /* ?token= is refused */
    const char *access_log;         /* a file; NULL: none; "-": standard error */
    unsigned keepalive_ms;          /* of streams; 0: 15 s */
    unsigned rate;                  /* requests a second that a key may make; 0: any number */
    unsigned burst;                 /* of them at once; 0: as many as in a second */
    unsigned streams_per_key;       /* 0: any number */
    void (*on_ready)(void);         /* called once it listens; may be NULL */
    const char *web_dir;            /* the page's files, instead of the embedded ones; or NULL */
    int64_t retention_ms;           /* old segments are dropped after this; 0: never */
};

/* Serves until SIGTERM or SIGINT. Prints its addresses, and at the first start where the admin key
 * is (admin_key.h). */
enum status serve_run(const struct serve_options *o, struct err *e);

#endif
