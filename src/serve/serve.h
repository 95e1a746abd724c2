/*
 * serve - the hub over HTTP: `cliq serve`.
 *
 * One thread with a loop answers; one more writes (worker.h). Every request passes the gate
 * (admission.h) before anything else; its route (route.h) says which operation it is; its answer
 * is put in an envelope (envelope.h). Streams have a file of their own (stream.h).
 *
 * The server holds nothing that is not in the store: it may be killed at any moment.
 */
#ifndef CLIQ_SERVE_SERVE_H
#define CLIQ_SERVE_SERVE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct serve_options {
    const char *config;             /* the directory */
    const char *const *listen;      /* TCP addresses, NULL-ended; NULL: 127.0.0.1:3000 */
    const char *const *unix_paths;  /* NULL-ended or NULL */
    const char *const *extra_hosts; /* names that requests may come for, besides our own */
    bool allows_elsewhere;          /* addresses that are not loopback */
    bool refuses_tokens;            /* ?token= is not taken */
    const char *access_log;         /* a file; NULL: none; "-": standard error */
    unsigned keepalive_ms;          /* of streams; 0: 15 s */
    unsigned rate;                  /* requests a second that a key may make; 0: any number */
    unsigned burst;                 /* of them at once; 0: as many as in a second */
};

/* Serves until SIGTERM or SIGINT. Says on standard output where it listens, and the key that
 * was made at the first start. */
enum status serve_run(const struct serve_options *o, struct err *e);

#endif
