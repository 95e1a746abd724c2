/* serve_impl - what the files of the server share. */
#ifndef CLIQ_SERVE_SERVE_IMPL_H
#define CLIQ_SERVE_SERVE_IMPL_H

#include "base/async_out.h"
#include "base/watch.h"
#include "serve/admission.h"
#include "serve/batch_window.h"
#include "serve/envelope.h"
#include "serve/rate.h"
#include "serve/revoke_watch.h"
#include "serve/serve.h"
#include "serve/stream.h"
#include "serve/worker.h"

#include <stdio.h>

#define SERVE_HOSTS     64
#define SERVE_TICKETS   1024
#define SERVE_KEYS      256
#define SERVE_KEY_SIZE  64
#define REQUEST_ID_SIZE 32
#define TICKET_MS       60000

/* Good for one stream, for a minute. */
struct ticket {
    char text[33], identity[65], key[SERVE_KEY_SIZE]; /* the id of the key it was made with */
    bool is_admin;
    uint64_t who; /* that key, in `rates` */
    int64_t until_ms;
};

/* A key that was looked up. Forgotten when any key changes. */
struct known_key {
    char text[SERVE_KEY_SIZE], identity[65], id[SERVE_KEY_SIZE];
    unsigned scopes;
};

/* Claims that wait (claim_waiters.h), those that were tried first in front. */
struct claim_waiters {
    struct job *first, *last;
    size_t n;
};

struct serve {
    const struct serve_options *o;
    struct loop *loop;
    struct http_server *http;
    struct hub *writer; /* the worker's */
    struct hub *reader; /* the loop's */
    struct worker *worker;
    struct streams *streams;
    struct watch watch;                       /* of the log's directory */
    struct loop_source *watching;             /* of that, */
    struct loop_source *lull;                 /* which is paused until then (lull.h) */
    void (*on_lull)(void *ctx, bool is_over); /* is told then */
    bool has_given;                           /* a round, since the lull was last waited for */
    bool wants_awake;                         /* agents are looked for at its end */
    struct job *spare;                        /* jobs that were freed (job.h), */
    size_t n_spare;                           /* so many */
    struct buf body;                          /* of the answer that is being made */
    struct round *round;                      /* gathering */
    bool wants_look;                          /* somebody else may have written */
    bool wants_check;                         /* something changed while the worker worked */
    struct worker_news news;
    uint64_t looked_at; /* the last line when we looked what is new in the index */
    int log_dir;
    int clock; /* told when the wall clock is set; -1: then it is seen a minute later */
    struct known_key *keys;           /* SERVE_KEYS of them, by a hash of their text */
    struct revoke_watch revoke_watch; /* which the index may still have */
    uint64_t revoked_until;           /* news.commits by which it has not */
    struct claim_waiters claim_waiters;
    struct presence *presence;     /* identities that listen */
    struct respawn *respawns;      /* supervisors of agents that live */
    struct loop_source *settle;    /* of what the loop did itself */
    struct batch_window window;    /* of few requests, which the loop does itself */
    struct loop_source *gathering; /* for one more turn */
    size_t gathered;               /* requests of this round in the turn before */
    char host_texts[SERVE_HOSTS][176];
    const char *hosts[SERVE_HOSTS + 1];
    size_t n_hosts;
    struct admission_rules rules;
    struct ticket tickets[SERVE_TICKETS];
    size_t next_ticket;
    struct rate_rule rate;
    struct rates rates;
    char id_prefix[9];
    uint64_t n_ids;
    uint64_t answers[6];   /* by hundreds */
    uint64_t limited;      /* of those: 429 */
    struct buf last_words; /* without memory (reply.h) */
    bool has_access;
    struct async_out access; /* its log */
    bool is_access_told;     /* that it cannot be written */
    bool is_stopping;
};

#define SERVE_NO_KEY "the key is not known, or was revoked"

#endif
